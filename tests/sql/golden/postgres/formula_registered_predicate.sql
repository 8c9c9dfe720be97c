-- convention: definition
-- shown: predictions
-- near(X, Y) <- p(X, Y), not near(Y, X).

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
    CASE
      WHEN (
        (
          SELECT
            "t3"."answer"
          FROM "__rulescore__answers_1" AS "t3"
          WHERE
            "t3"."a0" = "g"."v0" AND "t3"."a1" = "g"."v1"
        )
      )
      THEN 1
      ELSE 0
    END AS "confirmed",
    CASE
      WHEN NOT (
        (
          (
            SELECT
              "t4"."answer"
            FROM "__rulescore__answers_1" AS "t4"
            WHERE
              "t4"."a0" = "g"."v0" AND "t4"."a1" = "g"."v1"
          )
        )
      )
      THEN 1
      ELSE 0
    END AS "refuted"
  FROM (
    SELECT
      "t0"."prediction" AS "prediction",
      "t0"."a0" AS "v0",
      "t0"."a1" AS "v1"
    FROM "__rulescore__predicted_relation_2" AS "t0"
    WHERE
      NOT (
        (
          (
            SELECT
              "t2"."answer"
            FROM "__rulescore__answers_1" AS "t2"
            WHERE
              "t2"."a0" = "t0"."a1" AND "t2"."a1" = "t0"."a0"
          )
        )
      )
  ) AS g
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
