-- convention: definition
-- shown: predictions
-- not p(X, Y) <- q(X, Y), X != Y.
-- incompatible p, r.

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
        EXISTS(
          SELECT
            1
          FROM "__rulescore__observed_relation_5" AS "t3"
          WHERE
            "t3"."a0" = "g"."v0" AND "t3"."a1" = "g"."v1"
        )
      )
      THEN 1
      ELSE 0
    END AS "confirmed",
    CASE
      WHEN (
        EXISTS(
          SELECT
            1
          FROM "__rulescore__observed_relation_1" AS "t4"
          WHERE
            "t4"."a0" = "g"."v0" AND "t4"."a1" = "g"."v1"
        )
        OR EXISTS(
          SELECT
            1
          FROM "__rulescore__predicted_relation_2" AS "t5"
          WHERE
            "t5"."prediction" = "g"."prediction"
            AND "t5"."a0" = "g"."v0"
            AND "t5"."a1" = "g"."v1"
        )
      )
      THEN 1
      ELSE 0
    END AS "refuted"
  FROM (
    SELECT DISTINCT
      "u"."prediction",
      "u"."v0",
      "u"."v1"
    FROM (
      SELECT
        "t0"."prediction" AS "prediction",
        "t0"."a0" AS "v0",
        "t0"."a1" AS "v1"
      FROM "__rulescore__predicted_relation_4" AS "t0"
      WHERE
        "t0"."a0" <> "t0"."a1"
      UNION ALL
      SELECT
        "t2"."prediction" AS "prediction",
        "t1"."a0" AS "v0",
        "t1"."a1" AS "v1"
      FROM "__rulescore__observed_relation_3" AS "t1"
      JOIN "__rulescore__predicted_relation_2" AS "t2"
        ON "t2"."a0" = "t1"."a0" AND "t2"."a1" = "t1"."a1"
      WHERE
        "t1"."a0" <> "t1"."a1"
    ) AS u
  ) AS g
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
