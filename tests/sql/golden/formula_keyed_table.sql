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
  SELECT
    "g"."prediction",
    "g"."v0",
    "g"."v1",
    "g"."v2",
    CASE
      WHEN "g"."v2" <= (
        CASE
          WHEN ABS(CAST(2 AS DOUBLE) * "g"."m0") < CAST('Infinity' AS DOUBLE)
          THEN CAST(2 AS DOUBLE) * "g"."m0"
        END
      )
      THEN 1
      ELSE 0
    END AS "confirmed",
    CASE
      WHEN NOT (
        "g"."v2" <= (
          CASE
            WHEN ABS(CAST(2 AS DOUBLE) * "g"."m0") < CAST('Infinity' AS DOUBLE)
            THEN CAST(2 AS DOUBLE) * "g"."m0"
          END
        )
      )
      THEN 1
      ELSE 0
    END AS "refuted"
  FROM (
    SELECT
      "g"."prediction",
      "g"."v0",
      "g"."v1",
      "g"."v2",
      (
        SELECT
          (
            CASE
              WHEN ABS(SUM("t3"."c2")) < CAST('Infinity' AS DOUBLE)
              THEN SUM("t3"."c2")
              ELSE CASE
                WHEN ABS(SUM("t3"."c2" * CAST('5.421010862427522e-20' AS DOUBLE))) < CAST('9.7453140114e+288' AS DOUBLE)
                THEN SUM("t3"."c2" * CAST('5.421010862427522e-20' AS DOUBLE)) * CAST('1.8446744073709552e+19' AS DOUBLE)
              END
            END
          ) / CAST(NULLIF(COUNT("t3"."c2"), 0) AS DOUBLE)
        FROM (
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
        ) AS t3
        WHERE
          (
            "t3"."prediction" IS NULL OR "t3"."prediction" = "g"."prediction"
          )
          AND NOT "t3"."c0" IS NULL
          AND "t3"."c3" = "g"."v1"
          AND NOT "t3"."c2" IS NULL
      ) AS "m0"
    FROM (
      SELECT
        "t0"."prediction" AS "prediction",
        "t0"."c0" AS "v0",
        "t0"."c3" AS "v1",
        "t0"."c2" AS "v2"
      FROM "__rulescore__table_0_predicted" AS "t0"
      WHERE
        NOT "t0"."c0" IS NULL AND NOT "t0"."c3" IS NULL AND NOT "t0"."c2" IS NULL
      UNION ALL
      SELECT
        "t2"."prediction" AS "prediction",
        "t1"."c0" AS "v0",
        "t1"."c3" AS "v1",
        "t1"."c2" AS "v2"
      FROM "__rulescore__table_0_observed" AS "t1"
      JOIN "__rulescore__table_0_predicted" AS "t2"
        ON NOT "t2"."c0" IS NULL AND "t2"."c3" = "t1"."c3" AND NOT "t2"."c2" IS NULL
      WHERE
        NOT "t1"."c0" IS NULL AND NOT "t1"."c3" IS NULL AND NOT "t1"."c2" IS NULL
    ) AS g
  ) AS g
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
