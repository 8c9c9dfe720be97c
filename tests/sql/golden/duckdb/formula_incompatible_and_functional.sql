-- convention: definition
-- shown: over the data
-- p(X, Y) and t(X) <- q(X, Y).
-- functional p(X -> Y).
-- incompatible p(X, Y), s(Y, X).

-- __rulescore__observed_relation_1 holds the observed rows of p
-- __rulescore__observed_relation_3 holds the observed rows of q
-- __rulescore__observed_relation_5 holds the observed rows of s
-- __rulescore__observed_relation_7 holds the observed rows of t
SELECT
  CAST(0 AS INT) AS "rule",
  CAST(COALESCE(SUM("j"."confirmed"), 0) AS BIGINT) AS "confirmed",
  CAST(COALESCE(SUM("j"."refuted"), 0) AS BIGINT) AS "refuted",
  CAST(COALESCE(SUM(CASE WHEN "j"."confirmed" = 1 OR "j"."refuted" = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS "evaluable"
FROM (
  SELECT
    "g"."v0",
    "g"."v1",
    CASE
      WHEN (
        EXISTS(
          SELECT
            1
          FROM "__rulescore__observed_relation_1" AS "t1"
          WHERE
            "t1"."a0" = "g"."v0" AND "t1"."a1" = "g"."v1"
        )
        AND EXISTS(
          SELECT
            1
          FROM "__rulescore__observed_relation_7" AS "t2"
          WHERE
            "t2"."a0" = "g"."v0"
        )
      )
      THEN 1
      ELSE 0
    END AS "confirmed",
    CASE
      WHEN (
        (
          (
            EXISTS(
              SELECT
                1
              FROM "__rulescore__observed_relation_1" AS "t3"
              WHERE
                "t3"."a0" = "g"."v0" AND "g"."v1" <> "t3"."a1"
            )
          )
          OR EXISTS(
            SELECT
              1
            FROM "__rulescore__observed_relation_5" AS "t4"
            WHERE
              "t4"."a0" = "g"."v1" AND "t4"."a1" = "g"."v0"
          )
        )
        OR (
          FALSE
        )
      )
      THEN 1
      ELSE 0
    END AS "refuted"
  FROM (
    SELECT
      "t0"."a0" AS "v0",
      "t0"."a1" AS "v1"
    FROM "__rulescore__observed_relation_3" AS "t0"
  ) AS g
) AS j
