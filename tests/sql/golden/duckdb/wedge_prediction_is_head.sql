-- convention: definition
-- shown: prediction is the head
-- p(X, Y) <- q(X, Z), r(Z, Y).
-- incompatible p, s.

SELECT
  "j"."rule",
  "j"."prediction",
  SUM("j"."n" * "j"."confirmed") AS "confirmed",
  SUM("j"."n" * "j"."refuted") AS "refuted",
  SUM("j"."n" * GREATEST("j"."confirmed", "j"."refuted")) AS "evaluable"
FROM (
  WITH first AS MATERIALIZED (
    SELECT
      "m"."signature",
      "d"."l0" AS "literal"
    FROM (
      SELECT DISTINCT
        "b"."l0"
      FROM "__rulescore__body_0" AS "b"
    ) AS d
    JOIN "__rulescore__member" AS "m"
      ON "m"."literal" = "d"."l0"
  ), second AS MATERIALIZED (
    SELECT
      "m"."signature",
      "d"."l1" AS "literal"
    FROM (
      SELECT DISTINCT
        "b"."l1"
      FROM "__rulescore__body_0" AS "b"
    ) AS d
    JOIN "__rulescore__member" AS "m"
      ON "m"."literal" = "d"."l1"
  ), paths AS MATERIALIZED (
    SELECT
      "b"."body",
      "k"."a0",
      "k"."a1",
      SUM("k"."n") AS "n"
    FROM "__rulescore__spoke" AS "k"
    JOIN "first" AS "x"
      ON "x"."signature" = "k"."s0"
    JOIN "second" AS "y"
      ON "y"."signature" = "k"."s1"
    JOIN "__rulescore__body_0" AS "b"
      ON "b"."l0" = "x"."literal" AND "b"."l1" = "y"."literal"
    GROUP BY
      "b"."body",
      "k"."a0",
      "k"."a1"
  ), located AS MATERIALIZED (
    SELECT
      "h"."rule",
      "p"."prediction",
      "h"."literal" AS "head",
      "t"."signature",
      "k"."n",
      CASE
        WHEN "p"."a0" = "p"."a1"
        THEN (
          "p"."literal" + 1 - 2 * (
            "p"."literal" % 2
          )
        )
      END AS "reading"
    FROM "paths" AS "k"
    JOIN "__rulescore__candidate_2" AS "p"
      ON "k"."a0" = "p"."a0" AND "k"."a1" = "p"."a1"
    JOIN "__rulescore__head_0" AS "h"
      ON "h"."body" = "k"."body" AND "h"."literal" = "p"."literal"
    JOIN "__rulescore__tuple_2" AS "t"
      ON "t"."a0" = "p"."a0" AND "t"."a1" = "p"."a1"
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
    "l"."prediction",
    "l"."n",
    1 AS "confirmed",
    CASE WHEN "v"."refuted" = 1 OR NOT (
      "o"."head" IS NULL
    ) THEN 1 ELSE 0 END AS "refuted"
  FROM "located" AS "l"
  LEFT JOIN "verdict" AS "v"
    ON "v"."head" = "l"."head" AND "v"."signature" = "l"."signature"
  LEFT JOIN "__rulescore__opposes" AS "o"
    ON "o"."head" = "l"."head" AND "o"."l0" = "l"."reading"
) AS j
WHERE
  GREATEST("j"."confirmed", "j"."refuted") > 0
GROUP BY
  "j"."rule",
  "j"."prediction"
