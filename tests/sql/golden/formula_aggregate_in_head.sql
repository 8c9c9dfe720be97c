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
  SELECT
    "g"."prediction",
    "g"."v0",
    CASE WHEN "g"."m0" <= 2 THEN 1 ELSE 0 END AS "confirmed",
    CASE WHEN NOT (
      "g"."m0" <= 2
    ) THEN 1 ELSE 0 END AS "refuted"
  FROM (
    SELECT
      "g"."prediction",
      "g"."v0",
      (
        SELECT
          COUNT(*)
        FROM (
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
        ) AS t3
        WHERE
          (
            "t3"."prediction" IS NULL OR "t3"."prediction" = "g"."prediction"
          )
          AND "t3"."a0" = "g"."v0"
      ) AS "m0"
    FROM (
      SELECT DISTINCT
        "u"."prediction",
        "u"."v0"
      FROM (
        SELECT
          "t0"."prediction" AS "prediction",
          "t0"."a0" AS "v0"
        FROM "__rulescore__predicted_relation_4" AS "t0"
        UNION ALL
        SELECT
          "t2"."prediction" AS "prediction",
          "t1"."a0" AS "v0"
        FROM "__rulescore__observed_relation_3" AS "t1"
        JOIN "__rulescore__predicted_relation_2" AS "t2"
          ON "t2"."a0" = "t1"."a0"
      ) AS u
    ) AS g
  ) AS g
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
