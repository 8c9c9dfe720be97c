-- convention: definition
-- shown: predictions
-- U <= 2 * avg(V : sale(zip: Z, unit: V)) <- sale(id: A, zip: Z, unit: U).

SELECT
  CAST(0 AS INT) AS "rule",
  "j"."prediction",
  CAST(COALESCE(SUM("j"."confirmed"), 0) AS BIGINT) AS "confirmed",
  CAST(COALESCE(SUM("j"."refuted"), 0) AS BIGINT) AS "refuted",
  CAST(COALESCE(SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS "evaluable"
FROM (
  WITH standing AS MATERIALIZED (
    SELECT
      "t0"."prediction" AS "prediction",
      "t0"."c0" AS "v0",
      "t0"."c3" AS "v1",
      "t0"."c2" AS "v2"
    FROM "__rulescore__table_0_predicted" AS "t0"
    WHERE
      NOT "t0"."c0" IS NULL AND NOT "t0"."c3" IS NULL AND NOT "t0"."c2" IS NULL
  ), measured AS MATERIALIZED (
    SELECT
      "k"."prediction",
      "k"."o0",
      "k"."inside",
      "k"."after0",
      "k"."before0",
      CASE
        WHEN ABS(CAST(2 AS DOUBLE PRECISION) * "k"."after0") < CAST('Infinity' AS DOUBLE PRECISION)
        THEN CAST(2 AS DOUBLE PRECISION) * "k"."after0"
      END AS "computed_after0",
      CASE
        WHEN ABS(CAST(2 AS DOUBLE PRECISION) * "k"."before0") < CAST('Infinity' AS DOUBLE PRECISION)
        THEN CAST(2 AS DOUBLE PRECISION) * "k"."before0"
      END AS "computed_before0"
    FROM (
      SELECT
        "k"."prediction",
        "k"."o0",
        "k"."inside",
        "k"."after0",
        (
          CASE
            WHEN "__rulescore__aggregate_0"."k0" IS NULL
            THEN (
              NULL
            ) / CAST(NULLIF(0, 0) AS DOUBLE PRECISION)
            ELSE "__rulescore__aggregate_0"."value"
          END
        ) AS "before0"
      FROM (
        SELECT
          "k"."prediction",
          "k"."o0",
          "k"."inside",
          (
            SUM("t4"."c2")
          ) / CAST(NULLIF(COUNT("t4"."c2"), 0) AS DOUBLE PRECISION) AS "after0"
        FROM (
          SELECT
            "u"."prediction",
            "u"."o0",
            MAX("u"."inside") AS "inside"
          FROM (
            SELECT
              "t3"."prediction" AS "prediction",
              "t1"."o0" AS "o0",
              1 AS "inside"
            FROM (
              SELECT DISTINCT
                "t2"."c3" AS "o0"
              FROM "__rulescore__table_0_observed" AS "t2"
              WHERE
                NOT "t2"."c0" IS NULL AND NOT "t2"."c3" IS NULL AND NOT "t2"."c2" IS NULL
            ) AS t1
            JOIN "__rulescore__table_0_predicted" AS "t3"
              ON NOT "t3"."c0" IS NULL AND "t3"."c3" = "t1"."o0" AND NOT "t3"."c2" IS NULL
            UNION ALL
            SELECT
              "g"."prediction" AS "prediction",
              "g"."v1" AS "o0",
              0 AS "inside"
            FROM "standing" AS "g"
          ) AS u
          GROUP BY
            "u"."prediction",
            "u"."o0"
        ) AS k
        LEFT JOIN (
          SELECT
            CAST(NULL AS INT) AS "prediction",
            "o"."c0",
            "o"."c3",
            "o"."c2"
          FROM "__rulescore__table_0_observed" AS "o"
          UNION ALL
          SELECT
            "p"."prediction",
            "p"."c0",
            "p"."c3",
            "p"."c2"
          FROM "__rulescore__table_0_predicted" AS "p"
        ) AS t4
          ON (
            "t4"."prediction" IS NULL OR "t4"."prediction" = "k"."prediction"
          )
          AND NOT "t4"."c0" IS NULL
          AND "t4"."c3" = "k"."o0"
          AND NOT "t4"."c2" IS NULL
        GROUP BY
          "k"."prediction",
          "k"."o0",
          "k"."inside"
      ) AS k
      LEFT JOIN (
        SELECT
          "t5"."c3" AS "k0",
          (
            SUM("t5"."c2")
          ) / CAST(NULLIF(COUNT("t5"."c2"), 0) AS DOUBLE PRECISION) AS "value"
        FROM "__rulescore__table_0_observed" AS "t5"
        WHERE
          NOT "t5"."c0" IS NULL AND NOT "t5"."c2" IS NULL
        GROUP BY
          "t5"."c3"
      ) AS "__rulescore__aggregate_0"
        ON "__rulescore__aggregate_0"."k0" = "k"."o0"
    ) AS k
  )
  SELECT
    "g"."prediction",
    "g"."v0",
    "g"."v1",
    "g"."v2",
    CASE WHEN "g"."v2" <= "k"."computed_after0" THEN 1 ELSE 0 END AS "confirmed",
    CASE WHEN NOT (
      "g"."v2" <= "k"."computed_after0"
    ) THEN 1 ELSE 0 END AS "refuted"
  FROM (
    SELECT
      "s"."prediction",
      "s"."v0",
      "s"."v1",
      "s"."v2"
    FROM "standing" AS "s"
    UNION ALL
    SELECT
      "k"."prediction" AS "prediction",
      "t6"."c0" AS "v0",
      "k"."o0" AS "v1",
      "t6"."c2" AS "v2"
    FROM "measured" AS "k"
    JOIN "__rulescore__table_0_observed" AS "t6"
      ON NOT "t6"."c0" IS NULL AND "t6"."c3" = "k"."o0" AND NOT "t6"."c2" IS NULL
    WHERE
      "k"."inside" = 1
      AND (
        (
          "t6"."c2" <= "k"."computed_after0"
        ) IS DISTINCT FROM (
          "t6"."c2" <= "k"."computed_before0"
        )
      )
  ) AS g
  JOIN "measured" AS "k"
    ON "k"."prediction" = "g"."prediction" AND "k"."o0" = "g"."v1"
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
