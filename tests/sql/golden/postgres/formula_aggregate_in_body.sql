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
  WITH standing AS MATERIALIZED (
    SELECT
      "t0"."prediction" AS "prediction",
      "t0"."a0" AS "v0"
    FROM "__rulescore__predicted_relation_6" AS "t0"
  ), measured AS MATERIALIZED (
    SELECT
      "k"."prediction",
      "k"."o0",
      "k"."inside",
      "__rulescore__aggregate_1"."value" AS "after0",
      "__rulescore__aggregate_0"."value" AS "before0"
    FROM (
      SELECT
        "u"."prediction",
        "u"."o0",
        MAX("u"."inside") AS "inside"
      FROM (
        SELECT
          "t6"."prediction" AS "prediction",
          "t4"."o0" AS "o0",
          1 AS "inside"
        FROM (
          SELECT DISTINCT
            "t5"."a0" AS "o0"
          FROM "__rulescore__observed_relation_5" AS "t5"
        ) AS t4
        JOIN "__rulescore__predicted_relation_2" AS "t6"
          ON "t6"."a0" = "t4"."o0"
        UNION ALL
        SELECT
          "t10"."prediction" AS "prediction",
          "t7"."o0" AS "o0",
          1 AS "inside"
        FROM (
          SELECT DISTINCT
            "t8"."a0" AS "o0"
          FROM "__rulescore__observed_relation_5" AS "t8"
        ) AS t7
        JOIN "__rulescore__observed_relation_1" AS "t9"
          ON "t9"."a0" = "t7"."o0"
        JOIN "__rulescore__predicted_relation_4" AS "t10"
          ON "t10"."a0" = "t9"."a1" AND "t10"."a1" = "t7"."o0"
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
          "t13"."prediction" AS "prediction",
          "t11"."o0" AS "o0",
          1 AS "inside"
        FROM (
          SELECT DISTINCT
            "t12"."a0" AS "o0"
          FROM "__rulescore__observed_relation_5" AS "t12"
        ) AS t11
        JOIN "__rulescore__predicted_relation_4" AS "t13"
          ON "t13"."a1" = "t11"."o0"
        UNION ALL
        SELECT
          "t17"."prediction" AS "prediction",
          "t14"."o0" AS "o0",
          1 AS "inside"
        FROM (
          SELECT DISTINCT
            "t15"."a0" AS "o0"
          FROM "__rulescore__observed_relation_5" AS "t15"
        ) AS t14
        JOIN "__rulescore__observed_relation_3" AS "t16"
          ON "t16"."a1" = "t14"."o0"
        JOIN "__rulescore__predicted_relation_2" AS "t17"
          ON "t17"."a0" = "t14"."o0" AND "t17"."a1" = "t16"."a0"
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
          "g"."prediction" AS "prediction",
          "g"."v0" AS "o0",
          0 AS "inside"
        FROM "standing" AS "g"
      ) AS u
      GROUP BY
        "u"."prediction",
        "u"."o0"
    ) AS k
    LEFT JOIN LATERAL (
      SELECT
        COUNT(DISTINCT "t23"."value") AS "value"
      FROM (
        SELECT
          "t21"."a1" AS "v0",
          "t21"."a1" AS "value"
        FROM "__rulescore__observed_relation_1" AS "t21"
        WHERE
          "t21"."a0" = "k"."o0"
        UNION
        SELECT
          "t22"."a0" AS "v0",
          "t22"."a0" AS "value"
        FROM "__rulescore__observed_relation_3" AS "t22"
        WHERE
          "t22"."a1" = "k"."o0"
      ) AS t23
    ) AS "__rulescore__aggregate_0"
      ON TRUE
    LEFT JOIN LATERAL (
      SELECT
        COUNT(DISTINCT "t20"."value") AS "value"
      FROM (
        SELECT
          "t18"."a1" AS "v0",
          "t18"."a1" AS "value"
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
        ) AS t18
        WHERE
          (
            "t18"."prediction" IS NULL OR "t18"."prediction" = "k"."prediction"
          )
          AND "t18"."a0" = "k"."o0"
        UNION
        SELECT
          "t19"."a0" AS "v0",
          "t19"."a0" AS "value"
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
        ) AS t19
        WHERE
          (
            "t19"."prediction" IS NULL OR "t19"."prediction" = "k"."prediction"
          )
          AND "t19"."a1" = "k"."o0"
      ) AS t20
    ) AS "__rulescore__aggregate_1"
      ON TRUE
  )
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
        "s"."prediction",
        "s"."v0"
      FROM "standing" AS "s"
      UNION ALL
      SELECT
        "k"."prediction" AS "prediction",
        "k"."o0" AS "v0"
      FROM "measured" AS "k"
      JOIN "__rulescore__observed_relation_5" AS "t24"
        ON "t24"."a0" = "k"."o0"
      WHERE
        "k"."inside" = 1
        AND (
          CASE WHEN "k"."before0" > 1 THEN 1 ELSE 0 END = 0
        )
        AND "k"."after0" > 1
    ) AS u
  ) AS g
  JOIN "measured" AS "k"
    ON "k"."prediction" = "g"."prediction" AND "k"."o0" = "g"."v0"
  WHERE
    "k"."after0" > 1
) AS j
GROUP BY
  "j"."prediction"
HAVING
  SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END) > 0
