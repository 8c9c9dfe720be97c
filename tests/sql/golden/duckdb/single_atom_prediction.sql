-- convention: definition
-- shown: prediction at body atom 1
-- p(X, Y) <- q(Y, X).
-- incompatible p, s.

WITH located AS MATERIALIZED (
  WITH counted AS MATERIALIZED (
    SELECT
      "b"."body" AS "body",
      "t"."signature" AS "signature",
      "f0"."prediction" AS "prediction",
      CASE WHEN "f0"."a0" = "f0"."a0" AND "f0"."a1" = "f0"."a1" THEN "f0"."literal" END AS "reading0",
      CASE
        WHEN "f0"."a0" = "f0"."a1" AND "f0"."a1" = "f0"."a0"
        THEN (
          "f0"."literal" + 1 - 2 * (
            "f0"."literal" % 2
          )
        )
      END AS "reading1",
      COUNT(*) AS "n"
    FROM "__rulescore__candidate_2" AS "f0"
    JOIN "__rulescore__body_0" AS "b"
      ON "f0"."literal" = "b"."l0"
    JOIN "__rulescore__tuple_2" AS "t"
      ON "t"."a0" = "f0"."a0" AND "t"."a1" = "f0"."a1"
    GROUP BY
      "b"."body",
      "t"."signature",
      "f0"."prediction",
      CASE WHEN "f0"."a0" = "f0"."a0" AND "f0"."a1" = "f0"."a1" THEN "f0"."literal" END,
      CASE
        WHEN "f0"."a0" = "f0"."a1" AND "f0"."a1" = "f0"."a0"
        THEN (
          "f0"."literal" + 1 - 2 * (
            "f0"."literal" % 2
          )
        )
      END
  )
  SELECT
    "h"."rule",
    "h"."literal" AS "head",
    "m"."signature",
    "m"."prediction",
    "m"."reading0",
    "m"."reading1",
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
  "j"."rule",
  "j"."prediction",
  SUM("j"."n" * "j"."confirmed") AS "confirmed",
  SUM("j"."n" * "j"."refuted") AS "refuted",
  SUM("j"."n" * GREATEST("j"."confirmed", "j"."refuted")) AS "evaluable"
FROM (
  SELECT
    "l"."rule",
    "l"."prediction",
    "l"."n",
    CASE
      WHEN "v"."confirmed" = 1
      OR (
        "l"."reading0" = "l"."head" OR "l"."reading1" = "l"."head"
      )
      THEN 1
      ELSE 0
    END AS "confirmed",
    CASE
      WHEN "v"."refuted" = 1
      OR NOT (
        "p0"."head" IS NULL
      )
      OR NOT (
        "p1"."head" IS NULL
      )
      THEN 1
      ELSE 0
    END AS "refuted"
  FROM "located" AS "l"
  LEFT JOIN "verdict" AS "v"
    ON "v"."head" = "l"."head" AND "v"."signature" = "l"."signature"
  LEFT JOIN "__rulescore__opposes" AS "p0"
    ON "p0"."head" = "l"."head" AND "p0"."l0" = "l"."reading0"
  LEFT JOIN "__rulescore__opposes" AS "p1"
    ON "p1"."head" = "l"."head" AND "p1"."l0" = "l"."reading1"
) AS j
WHERE
  GREATEST("j"."confirmed", "j"."refuted") > 0
GROUP BY
  "j"."rule",
  "j"."prediction"
