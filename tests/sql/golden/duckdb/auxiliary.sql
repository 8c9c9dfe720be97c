-- convention: definition
-- shown: over the data
-- p(X, Y) <- q(X, Y).
-- refute p(X, Y) <- s(X, Z), not t(Z), Y != Z.

WITH claims AS MATERIALIZED (
  WITH matches AS (
    SELECT
      "b"."body" AS "body",
      "f0"."a0" AS "v0",
      "f0"."a1" AS "v1",
      1 AS "n"
    FROM "__rulescore__body_0" AS "b"
    JOIN "__rulescore__fact_2" AS "f0"
      ON "f0"."literal" = "b"."l0"
  )
  SELECT
    "h"."rule",
    "h"."literal" AS "head",
    "m"."v0" AS "t0",
    "m"."v1" AS "t1",
    "m"."n"
  FROM "matches" AS "m"
  JOIN "__rulescore__head_0" AS "h"
    ON "h"."body" = "m"."body"
), asked AS MATERIALIZED (
  SELECT DISTINCT
    "k"."head",
    "k"."t0",
    "k"."t1"
  FROM "claims" AS "k"
), refuted AS MATERIALIZED (
  SELECT
    "u"."head",
    "u"."t0",
    "u"."t1",
    MAX("u"."via") AS "via"
  FROM (
    SELECT
      "q"."head" AS "head",
      "q"."t0" AS "t0",
      "q"."t1" AS "t1",
      0 AS "via"
    FROM "asked" AS "q"
    JOIN "__rulescore__opposes" AS "c"
      ON "c"."head" = "q"."head"
    JOIN "__rulescore__fact_2" AS "g0"
      ON "g0"."literal" = "c"."l0" AND "g0"."a0" = "q"."t0" AND "g0"."a1" = "q"."t1"
    UNION ALL
    SELECT
      "q"."head" AS "head",
      "q"."t0" AS "t0",
      "q"."t1" AS "t1",
      0 AS "via"
    FROM "asked" AS "q"
    JOIN "__rulescore__condition_0_0" AS "c"
      ON "c"."head" = "q"."head"
    JOIN "__rulescore__fact_2" AS "g0"
      ON "g0"."literal" = "c"."l0" AND "g0"."a0" = "q"."t0"
    WHERE
      "q"."t1" <> "g0"."a1"
      AND NOT (
        EXISTS(
          SELECT
            1
          FROM "__rulescore__fact_1" AS "x"
          WHERE
            "x"."literal" = "c"."l1" AND "x"."a0" = "g0"."a1"
        )
      )
  ) AS u
  GROUP BY
    "u"."head",
    "u"."t0",
    "u"."t1"
)
SELECT
  "j"."rule",
  SUM("j"."n" * "j"."confirmed") AS "confirmed",
  SUM("j"."n" * "j"."refuted") AS "refuted",
  SUM("j"."n" * GREATEST("j"."confirmed", "j"."refuted")) AS "evaluable"
FROM (
  SELECT
    "k"."rule",
    "k"."n",
    CASE WHEN NOT (
      "f"."literal" IS NULL
    ) THEN 1 ELSE 0 END AS "confirmed",
    CASE WHEN NOT (
      "r"."head" IS NULL
    ) THEN 1 ELSE 0 END AS "refuted"
  FROM "claims" AS "k"
  LEFT JOIN "__rulescore__fact_2" AS "f"
    ON "f"."literal" = "k"."head" AND "f"."a0" = "k"."t0" AND "f"."a1" = "k"."t1"
  LEFT JOIN "refuted" AS "r"
    ON "r"."head" = "k"."head" AND "r"."t0" = "k"."t0" AND "r"."t1" = "k"."t1"
) AS j
WHERE
  GREATEST("j"."confirmed", "j"."refuted") > 0
GROUP BY
  "j"."rule"
