-- convention: definition
-- shown: over the data
-- length(X) <= length(Y) + 1 <- p(X, Y), not t(Y).

-- __rulescore__observed_relation_1 holds the observed rows of p
-- __rulescore__observed_relation_3 holds the observed rows of t
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
      WHEN CAST(LENGTH("g"."v0") AS BIGINT) <= (
        CAST(LENGTH("g"."v1") AS BIGINT) + 1
      )
      THEN 1
      ELSE 0
    END AS "confirmed",
    CASE
      WHEN NOT (
        CAST(LENGTH("g"."v0") AS BIGINT) <= (
          CAST(LENGTH("g"."v1") AS BIGINT) + 1
        )
      )
      THEN 1
      ELSE 0
    END AS "refuted"
  FROM (
    SELECT
      "t0"."a0" AS "v0",
      "t0"."a1" AS "v1"
    FROM "__rulescore__observed_relation_1" AS "t0"
    WHERE
      NOT (
        EXISTS(
          SELECT
            1
          FROM "__rulescore__observed_relation_3" AS "t2"
          WHERE
            "t2"."a0" = "t0"."a1"
        )
      )
  ) AS g
) AS j
