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
        "t0"."prediction" AS "prediction",
        "t0"."a0" AS "v0"
      FROM "__rulescore__predicted_relation_6" AS "t0"
      WHERE
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
                "t14"."prediction" IS NULL OR "t14"."prediction" = "t0"."prediction"
              )
              AND "t14"."a0" = "t0"."a0"
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
                "t15"."prediction" IS NULL OR "t15"."prediction" = "t0"."prediction"
              )
              AND "t15"."a1" = "t0"."a0"
          ) AS t16
        ) > 1
      UNION ALL
      SELECT
        "t2"."prediction" AS "prediction",
        "t1"."a0" AS "v0"
      FROM "__rulescore__observed_relation_5" AS "t1"
      JOIN "__rulescore__predicted_relation_2" AS "t2"
        ON "t2"."a0" = "t1"."a0"
      WHERE
        (
          SELECT
            COUNT(DISTINCT "t19"."value")
          FROM (
            SELECT
              "t17"."a1" AS "v0",
              "t17"."a1" AS "value"
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
            ) AS t17
            WHERE
              (
                "t17"."prediction" IS NULL OR "t17"."prediction" = "t2"."prediction"
              )
              AND "t17"."a0" = "t1"."a0"
            UNION
            SELECT
              "t18"."a0" AS "v0",
              "t18"."a0" AS "value"
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
            ) AS t18
            WHERE
              (
                "t18"."prediction" IS NULL OR "t18"."prediction" = "t2"."prediction"
              )
              AND "t18"."a1" = "t1"."a0"
          ) AS t19
        ) > 1
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
        AND (
          SELECT
            COUNT(DISTINCT "t22"."value")
          FROM (
            SELECT
              "t20"."a1" AS "v0",
              "t20"."a1" AS "value"
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
            ) AS t20
            WHERE
              (
                "t20"."prediction" IS NULL OR "t20"."prediction" = "t5"."prediction"
              )
              AND "t20"."a0" = "t3"."a0"
            UNION
            SELECT
              "t21"."a0" AS "v0",
              "t21"."a0" AS "value"
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
            ) AS t21
            WHERE
              (
                "t21"."prediction" IS NULL OR "t21"."prediction" = "t5"."prediction"
              )
              AND "t21"."a1" = "t3"."a0"
          ) AS t22
        ) > 1
      UNION ALL
      SELECT
        "t7"."prediction" AS "prediction",
        "t6"."a0" AS "v0"
      FROM "__rulescore__observed_relation_5" AS "t6"
      JOIN "__rulescore__predicted_relation_4" AS "t7"
        ON "t7"."a1" = "t6"."a0"
      WHERE
        (
          SELECT
            COUNT(DISTINCT "t25"."value")
          FROM (
            SELECT
              "t23"."a1" AS "v0",
              "t23"."a1" AS "value"
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
            ) AS t23
            WHERE
              (
                "t23"."prediction" IS NULL OR "t23"."prediction" = "t7"."prediction"
              )
              AND "t23"."a0" = "t6"."a0"
            UNION
            SELECT
              "t24"."a0" AS "v0",
              "t24"."a0" AS "value"
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
            ) AS t24
            WHERE
              (
                "t24"."prediction" IS NULL OR "t24"."prediction" = "t7"."prediction"
              )
              AND "t24"."a1" = "t6"."a0"
          ) AS t25
        ) > 1
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
        AND (
          SELECT
            COUNT(DISTINCT "t28"."value")
          FROM (
            SELECT
              "t26"."a1" AS "v0",
              "t26"."a1" AS "value"
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
            ) AS t26
            WHERE
              (
                "t26"."prediction" IS NULL OR "t26"."prediction" = "t10"."prediction"
              )
              AND "t26"."a0" = "t8"."a0"
            UNION
            SELECT
              "t27"."a0" AS "v0",
              "t27"."a0" AS "value"
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
            ) AS t27
            WHERE
              (
                "t27"."prediction" IS NULL OR "t27"."prediction" = "t10"."prediction"
              )
              AND "t27"."a1" = "t8"."a0"
          ) AS t28
        ) > 1
    ) AS u
  ) AS g
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
