-- convention: definition
-- shown: predictions
-- count(Y : p(X, Y)) <= 2 <- t(X).

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
      "t0"."a0" AS "v0"
    FROM "__rulescore__predicted_relation_4" AS "t0"
  ), measured AS MATERIALIZED (
    SELECT
      "k"."prediction",
      "k"."o0",
      "k"."inside",
      "k"."after0",
      (
        CASE
          WHEN "__rulescore__aggregate_0"."k0" IS NULL
          THEN 0
          ELSE "__rulescore__aggregate_0"."value"
        END
      ) AS "before0"
    FROM (
      SELECT
        "k"."prediction",
        "k"."o0",
        "k"."inside",
        COUNT("t4"."a0") AS "after0"
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
              "t2"."a0" AS "o0"
            FROM "__rulescore__observed_relation_3" AS "t2"
          ) AS t1
          JOIN "__rulescore__predicted_relation_2" AS "t3"
            ON "t3"."a0" = "t1"."o0"
          UNION ALL
          SELECT
            "g"."prediction" AS "prediction",
            "g"."v0" AS "o0",
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
          "o"."a0",
          "o"."a1"
        FROM "__rulescore__observed_relation_1" AS "o"
        UNION ALL
        SELECT
          "p"."prediction",
          "p"."a0",
          "p"."a1"
        FROM "__rulescore__predicted_relation_2" AS "p"
        WHERE
          "p"."observed" = 0
      ) AS t4
        ON (
          "t4"."prediction" IS NULL OR "t4"."prediction" = "k"."prediction"
        )
        AND "t4"."a0" = "k"."o0"
      GROUP BY
        "k"."prediction",
        "k"."o0",
        "k"."inside"
    ) AS k
    LEFT JOIN (
      SELECT
        "t5"."a0" AS "k0",
        COUNT(*) AS "value"
      FROM "__rulescore__observed_relation_1" AS "t5"
      GROUP BY
        "t5"."a0"
    ) AS "__rulescore__aggregate_0"
      ON "__rulescore__aggregate_0"."k0" = "k"."o0"
  )
  SELECT
    "g"."prediction",
    "g"."v0",
    CASE WHEN "k"."after0" <= 2 THEN 1 ELSE 0 END AS "confirmed",
    CASE WHEN NOT (
      "k"."after0" <= 2
    ) THEN 1 ELSE 0 END AS "refuted"
  FROM (
    SELECT DISTINCT
      "u"."prediction",
      "u"."v0"
    FROM (
      SELECT
        "s"."prediction",
        "s"."v0"
      FROM "standing" AS "s"
      UNION ALL
      SELECT
        "k"."prediction" AS "prediction",
        "k"."o0" AS "v0"
      FROM "measured" AS "k"
      JOIN "__rulescore__observed_relation_3" AS "t6"
        ON "t6"."a0" = "k"."o0"
      WHERE
        "k"."inside" = 1
        AND (
          (
            "k"."after0" <= 2
          ) IS DISTINCT FROM (
            "k"."before0" <= 2
          )
        )
    ) AS u
  ) AS g
  JOIN "measured" AS "k"
    ON "k"."prediction" = "g"."prediction" AND "k"."o0" = "g"."v0"
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
