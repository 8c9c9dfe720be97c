-- convention: definition
-- shown: over the data
-- p(X, Y) <- q(Y, X).
-- s(X, Y) <- q(X, Y).
-- incompatible p, s.

WITH located AS MATERIALIZED (
  WITH counted AS MATERIALIZED (
    SELECT
      "b"."body" AS "body",
      "t"."signature" AS "signature",
      COUNT(*) AS "n"
    FROM "__rulescore__body_0" AS "b"
    JOIN "__rulescore__fact_2" AS "f0"
      ON "f0"."literal" = "b"."l0"
    JOIN "__rulescore__tuple_2" AS "t"
      ON "t"."a0" = "f0"."a0" AND "t"."a1" = "f0"."a1"
    GROUP BY
      "b"."body",
      "t"."signature"
  )
  SELECT
    "h"."rule",
    "h"."literal" AS "head",
    "m"."signature",
    "m"."n"
  FROM "counted" AS "m"
  JOIN "__rulescore__head_0" AS "h"
    ON "h"."body" = "m"."body"
), verdict AS MATERIALIZED (
  SELECT
    "e"."head",
    "e"."signature",
    CAST(MAX("e"."c") AS INT) AS "confirmed",
    CAST(MAX("e"."v") AS INT) AS "refuted",
    CAST(1 AS INT) AS "evaluable"
  FROM (
    SELECT
      "p"."head",
      "p"."signature",
      CASE WHEN "m"."literal" = "p"."head" THEN 1 ELSE 0 END AS "c",
      CASE WHEN NOT (
        "o"."head" IS NULL
      ) THEN 1 ELSE 0 END AS "v"
    FROM (
      SELECT DISTINCT
        "l"."head",
        "l"."signature"
      FROM "located" AS "l"
    ) AS p
    JOIN "__rulescore__member" AS "m"
      ON "m"."signature" = "p"."signature"
    LEFT JOIN "__rulescore__opposes" AS "o"
      ON "o"."head" = "p"."head" AND "o"."l0" = "m"."literal"
  ) AS e
  WHERE
    "e"."c" = 1 OR "e"."v" = 1
  GROUP BY
    "e"."head",
    "e"."signature"
)
SELECT
  "l"."rule",
  SUM("l"."n" * "v"."confirmed") AS "confirmed",
  SUM("l"."n" * "v"."refuted") AS "refuted",
  SUM("l"."n" * "v"."evaluable") AS "evaluable"
FROM "located" AS "l"
JOIN "verdict" AS "v"
  ON "v"."head" = "l"."head" AND "v"."signature" = "l"."signature"
GROUP BY
  "l"."rule"
