-- convention: definition
-- shown: predictions
-- false <- t(X), count_distinct(Y : p(X, Y) or q(Y, X)) > 1.

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
    CASE WHEN (
      FALSE
    ) THEN 1 ELSE 0 END AS "confirmed",
    CASE WHEN (
      TRUE
    ) THEN 1 ELSE 0 END AS "refuted"
  FROM (
    SELECT DISTINCT
      "u"."prediction",
      "u"."v0"
    FROM (
      SELECT
        "g"."prediction",
        "g"."v0"
      FROM (
        SELECT
          "g"."prediction",
          "g"."v0",
          (
            SELECT
              COUNT(DISTINCT "t16"."value")
            FROM (
              SELECT
                "t14"."a1" AS "v0",
                "t14"."a1" AS "value"
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
              ) AS t14
              WHERE
                (
                  "t14"."prediction" IS NULL OR "t14"."prediction" = "g"."prediction"
                )
                AND "t14"."a0" = "g"."v0"
              UNION
              SELECT
                "t15"."a0" AS "v0",
                "t15"."a0" AS "value"
              FROM (
                SELECT
                  CAST(NULL AS INT) AS "prediction",
                  "o"."a0",
                  "o"."a1"
                FROM "__rulescore__observed_relation_3" AS "o"
                UNION ALL
                SELECT
                  "p"."prediction",
                  "p"."a0",
                  "p"."a1"
                FROM "__rulescore__predicted_relation_4" AS "p"
                WHERE
                  "p"."observed" = 0
              ) AS t15
              WHERE
                (
                  "t15"."prediction" IS NULL OR "t15"."prediction" = "g"."prediction"
                )
                AND "t15"."a1" = "g"."v0"
            ) AS t16
          ) AS "m0"
        FROM (
          SELECT DISTINCT
            "u"."prediction",
            "u"."v0"
          FROM (
            SELECT
              "t0"."prediction" AS "prediction",
              "t0"."a0" AS "v0"
            FROM "__rulescore__predicted_relation_6" AS "t0"
            UNION ALL
            SELECT
              "t2"."prediction" AS "prediction",
              "t1"."a0" AS "v0"
            FROM "__rulescore__observed_relation_5" AS "t1"
            JOIN "__rulescore__predicted_relation_2" AS "t2"
              ON "t2"."a0" = "t1"."a0"
            UNION ALL
            SELECT
              "t5"."prediction" AS "prediction",
              "t3"."a0" AS "v0"
            FROM "__rulescore__observed_relation_5" AS "t3"
            JOIN "__rulescore__observed_relation_1" AS "t4"
              ON "t4"."a0" = "t3"."a0"
            JOIN "__rulescore__predicted_relation_4" AS "t5"
              ON "t5"."a0" = "t4"."a1" AND "t5"."a1" = "t3"."a0"
            WHERE
              (
                (
                  TRUE
                ) OR (
                  TRUE
                )
              )
            UNION ALL
            SELECT
              "t7"."prediction" AS "prediction",
              "t6"."a0" AS "v0"
            FROM "__rulescore__observed_relation_5" AS "t6"
            JOIN "__rulescore__predicted_relation_4" AS "t7"
              ON "t7"."a1" = "t6"."a0"
            UNION ALL
            SELECT
              "t10"."prediction" AS "prediction",
              "t8"."a0" AS "v0"
            FROM "__rulescore__observed_relation_5" AS "t8"
            JOIN "__rulescore__observed_relation_3" AS "t9"
              ON "t9"."a1" = "t8"."a0"
            JOIN "__rulescore__predicted_relation_2" AS "t10"
              ON "t10"."a0" = "t8"."a0" AND "t10"."a1" = "t9"."a0"
            WHERE
              (
                (
                  TRUE
                ) OR (
                  TRUE
                )
              )
          ) AS u
        ) AS g
      ) AS g
      WHERE
        "g"."m0" > 1
    ) AS u
  ) AS g
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
