-- convention: definition
-- shown: predictions
-- false <- q(X, Y), not (p(X, Y) and not s(Y, _)).

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
    CASE WHEN (
      FALSE
    ) THEN 1 ELSE 0 END AS "confirmed",
    CASE WHEN (
      TRUE
    ) THEN 1 ELSE 0 END AS "refuted"
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
        NOT (
          (
            (
              EXISTS(
                SELECT
                  1
                FROM "__rulescore__observed_relation_1" AS "t9"
                WHERE
                  "t9"."a0" = "t0"."a0" AND "t9"."a1" = "t0"."a1"
              )
              OR EXISTS(
                SELECT
                  1
                FROM "__rulescore__predicted_relation_2" AS "t10"
                WHERE
                  "t10"."prediction" = "t0"."prediction"
                  AND "t10"."a0" = "t0"."a0"
                  AND "t10"."a1" = "t0"."a1"
              )
            )
            AND NOT (
              (
                EXISTS(
                  SELECT
                    1
                  FROM "__rulescore__observed_relation_5" AS "t11"
                  WHERE
                    "t11"."a0" = "t0"."a1"
                )
                OR EXISTS(
                  SELECT
                    1
                  FROM "__rulescore__predicted_relation_6" AS "t12"
                  WHERE
                    "t12"."prediction" = "t0"."prediction" AND "t12"."a0" = "t0"."a1"
                )
              )
            )
          )
        )
      UNION ALL
      SELECT
        "t2"."prediction" AS "prediction",
        "t1"."a0" AS "v0",
        "t1"."a1" AS "v1"
      FROM "__rulescore__observed_relation_3" AS "t1"
      JOIN "__rulescore__predicted_relation_2" AS "t2"
        ON "t2"."a0" = "t1"."a0" AND "t2"."a1" = "t1"."a1"
      WHERE
        NOT (
          (
            (
              EXISTS(
                SELECT
                  1
                FROM "__rulescore__observed_relation_1" AS "t13"
                WHERE
                  "t13"."a0" = "t1"."a0" AND "t13"."a1" = "t1"."a1"
              )
              OR EXISTS(
                SELECT
                  1
                FROM "__rulescore__predicted_relation_2" AS "t14"
                WHERE
                  "t14"."prediction" = "t2"."prediction"
                  AND "t14"."a0" = "t1"."a0"
                  AND "t14"."a1" = "t1"."a1"
              )
            )
            AND NOT (
              (
                EXISTS(
                  SELECT
                    1
                  FROM "__rulescore__observed_relation_5" AS "t15"
                  WHERE
                    "t15"."a0" = "t1"."a1"
                )
                OR EXISTS(
                  SELECT
                    1
                  FROM "__rulescore__predicted_relation_6" AS "t16"
                  WHERE
                    "t16"."prediction" = "t2"."prediction" AND "t16"."a0" = "t1"."a1"
                )
              )
            )
          )
        )
      UNION ALL
      SELECT
        "t4"."prediction" AS "prediction",
        "t3"."a0" AS "v0",
        "t3"."a1" AS "v1"
      FROM "__rulescore__observed_relation_3" AS "t3"
      JOIN "__rulescore__predicted_relation_6" AS "t4"
        ON "t4"."a0" = "t3"."a1"
      WHERE
        NOT (
          (
            (
              EXISTS(
                SELECT
                  1
                FROM "__rulescore__observed_relation_1" AS "t17"
                WHERE
                  "t17"."a0" = "t3"."a0" AND "t17"."a1" = "t3"."a1"
              )
              OR EXISTS(
                SELECT
                  1
                FROM "__rulescore__predicted_relation_2" AS "t18"
                WHERE
                  "t18"."prediction" = "t4"."prediction"
                  AND "t18"."a0" = "t3"."a0"
                  AND "t18"."a1" = "t3"."a1"
              )
            )
            AND NOT (
              (
                EXISTS(
                  SELECT
                    1
                  FROM "__rulescore__observed_relation_5" AS "t19"
                  WHERE
                    "t19"."a0" = "t3"."a1"
                )
                OR EXISTS(
                  SELECT
                    1
                  FROM "__rulescore__predicted_relation_6" AS "t20"
                  WHERE
                    "t20"."prediction" = "t4"."prediction" AND "t20"."a0" = "t3"."a1"
                )
              )
            )
          )
        )
    ) AS u
  ) AS g
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
