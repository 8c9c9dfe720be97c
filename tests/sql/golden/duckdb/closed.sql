-- convention: definition
-- shown: prediction at body atom 1
-- p(X, Y) <- q(X, Y).
-- closed p.

WITH claims AS MATERIALIZED (
  WITH matches AS (
    SELECT
      "b"."body" AS "body",
      "f0"."prediction" AS "prediction",
      "f0"."literal" AS "own",
      "f0"."a0" AS "o0",
      "f0"."a1" AS "o1",
      "f0"."a0" AS "v0",
      "f0"."a1" AS "v1",
      COUNT(*) AS "n"
    FROM "__rulescore__candidate_2" AS "f0"
    JOIN "__rulescore__body_0" AS "b"
      ON "f0"."literal" = "b"."l0"
    GROUP BY
      "b"."body",
      "f0"."prediction",
      "f0"."literal",
      "f0"."a0",
      "f0"."a1",
      "f0"."a0",
      "f0"."a1"
  )
  SELECT
    "h"."rule",
    "h"."literal" AS "head",
    "m"."prediction",
    "m"."own",
    "m"."o0",
    "m"."o1",
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
    "k"."t1",
    "k"."prediction"
  FROM "claims" AS "k"
), refuted AS MATERIALIZED (
  SELECT
    "u"."head",
    "u"."t0",
    "u"."t1",
    "u"."prediction",
    MAX("u"."via") AS "via"
  FROM (
    SELECT
      "q"."head" AS "head",
      "q"."t0" AS "t0",
      "q"."t1" AS "t1",
      "q"."prediction" AS "prediction",
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
      "q"."prediction" AS "prediction",
      1 AS "via"
    FROM "asked" AS "q"
    JOIN "__rulescore__opposes" AS "c"
      ON "c"."head" = "q"."head"
    JOIN "__rulescore__candidate_2" AS "g0"
      ON "g0"."literal" = "c"."l0"
      AND "g0"."a0" = "q"."t0"
      AND "g0"."a1" = "q"."t1"
      AND "g0"."prediction" = "q"."prediction"
    UNION ALL
    SELECT
      "q"."head" AS "head",
      "q"."t0" AS "t0",
      "q"."t1" AS "t1",
      "q"."prediction" AS "prediction",
      0 AS "via"
    FROM "asked" AS "q"
    JOIN "__rulescore__condition_0_0" AS "c"
      ON "c"."head" = "q"."head"
    WHERE
      NOT (
        EXISTS(
          SELECT
            1
          FROM "__rulescore__fact_2" AS "x"
          WHERE
            "x"."literal" = "c"."l0" AND "x"."a0" = "q"."t0" AND "x"."a1" = "q"."t1"
        )
      )
      AND NOT (
        EXISTS(
          SELECT
            1
          FROM "__rulescore__candidate_2" AS "x"
          WHERE
            "x"."literal" = "c"."l0"
            AND "x"."a0" = "q"."t0"
            AND "x"."a1" = "q"."t1"
            AND "x"."prediction" = "q"."prediction"
        )
      )
  ) AS u
  GROUP BY
    "u"."head",
    "u"."t0",
    "u"."t1",
    "u"."prediction"
)
SELECT
  "j"."rule",
  "j"."prediction",
  SUM("j"."n" * "j"."confirmed") AS "confirmed",
  SUM("j"."n" * "j"."refuted") AS "refuted",
  SUM("j"."n" * GREATEST("j"."confirmed", "j"."refuted")) AS "evaluable"
FROM (
  SELECT
    "k"."rule",
    "k"."prediction",
    "k"."n",
    CASE
      WHEN NOT (
        "f"."literal" IS NULL
      )
      OR (
        (
          (
            "k"."o0" = "k"."t0" AND "k"."o1" = "k"."t1"
          ) AND "k"."own" = "k"."head"
        )
        OR (
          (
            "k"."o0" = "k"."t1" AND "k"."o1" = "k"."t0"
          )
          AND (
            "k"."own" + 1 - 2 * (
              "k"."own" % 2
            )
          ) = "k"."head"
        )
      )
      THEN 1
      ELSE 0
    END AS "confirmed",
    CASE WHEN NOT (
      "r"."head" IS NULL
    ) THEN 1 ELSE 0 END AS "refuted"
  FROM "claims" AS "k"
  LEFT JOIN "__rulescore__fact_2" AS "f"
    ON "f"."literal" = "k"."head" AND "f"."a0" = "k"."t0" AND "f"."a1" = "k"."t1"
  LEFT JOIN "refuted" AS "r"
    ON "r"."head" = "k"."head"
    AND "r"."t0" = "k"."t0"
    AND "r"."t1" = "k"."t1"
    AND "r"."prediction" = "k"."prediction"
) AS j
WHERE
  GREATEST("j"."confirmed", "j"."refuted") > 0
GROUP BY
  "j"."rule",
  "j"."prediction"
