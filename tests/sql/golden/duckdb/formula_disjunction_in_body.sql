-- convention: definition
-- shown: predictions
-- t(X) <- (p(X, Y) or q(Y, X)), X != a.
-- closed t.

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
          FROM "__rulescore__observed_relation_5" AS "t10"
          WHERE
            "t10"."a0" = "g"."v0"
        )
        OR EXISTS(
          SELECT
            1
          FROM "__rulescore__predicted_relation_6" AS "t11"
          WHERE
            "t11"."prediction" = "g"."prediction" AND "t11"."a0" = "g"."v0"
        )
      )
      THEN 1
      ELSE 0
    END AS "confirmed",
    CASE
      WHEN (
        NOT (
          (
            EXISTS(
              SELECT
                1
              FROM "__rulescore__observed_relation_5" AS "t12"
              WHERE
                "t12"."a0" = "g"."v0"
            )
            OR EXISTS(
              SELECT
                1
              FROM "__rulescore__predicted_relation_6" AS "t13"
              WHERE
                "t13"."prediction" = "g"."prediction" AND "t13"."a0" = "g"."v0"
            )
          )
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
      FROM "__rulescore__predicted_relation_2" AS "t0"
      WHERE
        "t0"."a0" <> 'a'
      UNION ALL
      SELECT
        "t2"."prediction" AS "prediction",
        "t1"."a0" AS "v0",
        "t1"."a1" AS "v1"
      FROM "__rulescore__observed_relation_1" AS "t1"
      JOIN "__rulescore__predicted_relation_4" AS "t2"
        ON "t2"."a0" = "t1"."a1" AND "t2"."a1" = "t1"."a0"
      WHERE
        "t1"."a0" <> 'a'
      UNION ALL
      SELECT
        "t4"."prediction" AS "prediction",
        "t3"."a0" AS "v0",
        "t3"."a1" AS "v1"
      FROM "__rulescore__observed_relation_1" AS "t3"
      JOIN "__rulescore__predicted_relation_6" AS "t4"
        ON "t4"."a0" = "t3"."a0"
      WHERE
        "t3"."a0" <> 'a'
      UNION ALL
      SELECT
        "t5"."prediction" AS "prediction",
        "t5"."a1" AS "v0",
        "t5"."a0" AS "v1"
      FROM "__rulescore__predicted_relation_4" AS "t5"
      WHERE
        "t5"."a1" <> 'a'
      UNION ALL
      SELECT
        "t7"."prediction" AS "prediction",
        "t6"."a1" AS "v0",
        "t6"."a0" AS "v1"
      FROM "__rulescore__observed_relation_3" AS "t6"
      JOIN "__rulescore__predicted_relation_2" AS "t7"
        ON "t7"."a0" = "t6"."a1" AND "t7"."a1" = "t6"."a0"
      WHERE
        "t6"."a1" <> 'a'
      UNION ALL
      SELECT
        "t9"."prediction" AS "prediction",
        "t8"."a1" AS "v0",
        "t8"."a0" AS "v1"
      FROM "__rulescore__observed_relation_3" AS "t8"
      JOIN "__rulescore__predicted_relation_6" AS "t9"
        ON "t9"."a0" = "t8"."a1"
      WHERE
        "t8"."a1" <> 'a'
    ) AS u
  ) AS g
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
