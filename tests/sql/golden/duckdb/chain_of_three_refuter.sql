-- convention: appendix
-- shown: prediction is the incompatible fact
-- p(X, W) <- q(X, Y), r(Y, Z), s(Z, W).
-- incompatible p, s.

WITH walked_1 AS MATERIALIZED (
  SELECT
    "s"."start",
    "f"."a0" AS "x",
    "f"."a1" AS "b",
    1 AS "n"
  FROM "__rulescore__start_0" AS "s"
  JOIN "__rulescore__fact_2" AS "f"
    ON "f"."literal" = "s"."l0"
  JOIN "__rulescore__predicted_reach" AS "r"
    ON "r"."a0" = "f"."a0"
  WHERE
    "s"."piece" = 0 AND "f"."a0" <> "f"."a1"
), walked_2 AS MATERIALIZED (
  SELECT
    "w"."start",
    "w"."x",
    "w"."b" AS "p1",
    "f"."a1" AS "b",
    1 AS "n"
  FROM "walked_1" AS "w"
  JOIN "__rulescore__start_0" AS "s"
    ON "s"."start" = "w"."start"
  JOIN "__rulescore__fact_2" AS "f"
    ON "f"."literal" = "s"."l1" AND "f"."a0" = "w"."b"
  WHERE
    "f"."a1" <> "w"."x" AND "f"."a1" <> "w"."b"
), ended AS MATERIALIZED (
  SELECT
    "e"."body",
    "e"."literal",
    "e"."turned",
    "w"."x",
    "w"."p1",
    "w"."b",
    "w"."n",
    "d"."n" <= "r"."n" AS "onward"
  FROM "walked_2" AS "w"
  JOIN "__rulescore__end_0" AS "e"
    ON "e"."start" = "w"."start"
  JOIN "__rulescore__degree" AS "d"
    ON "d"."literal" = "e"."literal" AND "d"."a0" = "w"."b"
  JOIN "__rulescore__predicted_reach" AS "r"
    ON "r"."a0" = "w"."x"
), met AS MATERIALIZED (
  SELECT
    "u"."body" AS "body",
    "u"."turned" AS "turned",
    "u"."prediction" AS "prediction",
    "u"."literal" AS "literal",
    SUM("u"."n") AS "n"
  FROM (
    SELECT
      "e"."body",
      "e"."turned",
      "e"."n",
      "t"."prediction",
      "t"."literal"
    FROM "ended" AS "e"
    JOIN "__rulescore__fact_2" AS "f"
      ON "f"."literal" = "e"."literal" AND "f"."a0" = "e"."b"
    JOIN "__rulescore__candidate_2" AS "t"
      ON "t"."a0" = "e"."x" AND "t"."a1" = "f"."a1"
    WHERE
      "e"."onward"
      AND "f"."a1" <> "e"."x"
      AND "f"."a1" <> "e"."p1"
      AND "f"."a1" <> "e"."b"
    UNION ALL
    SELECT
      "e"."body",
      "e"."turned",
      "e"."n",
      "t"."prediction",
      "t"."literal"
    FROM "ended" AS "e"
    JOIN "__rulescore__candidate_2" AS "t"
      ON "t"."a0" = "e"."x"
    JOIN "__rulescore__fact_2" AS "f"
      ON "f"."literal" = "e"."literal" AND "f"."a0" = "e"."b" AND "f"."a1" = "t"."a1"
    WHERE
      NOT "e"."onward"
      AND "t"."a1" <> "e"."x"
      AND "t"."a1" <> "e"."p1"
      AND "t"."a1" <> "e"."b"
  ) AS u
  GROUP BY
    "u"."body",
    "u"."turned",
    "u"."prediction",
    "u"."literal"
), claims AS (
  SELECT
    "h"."rule",
    "m"."prediction",
    "m"."n"
  FROM "met" AS "m"
  JOIN "__rulescore__head_0" AS "h"
    ON "h"."body" = "m"."body"
  JOIN "__rulescore__opposes" AS "o"
    ON "o"."head" = "h"."literal"
    AND "o"."l0" = CASE
      WHEN "m"."turned" = 1
      THEN (
        "m"."literal" + 1 - 2 * (
          "m"."literal" % 2
        )
      )
      ELSE "m"."literal"
    END
)
SELECT
  "k"."rule",
  "k"."prediction",
  0 AS "confirmed",
  SUM("k"."n") AS "refuted",
  SUM("k"."n") AS "evaluable"
FROM "claims" AS "k"
GROUP BY
  "k"."rule",
  "k"."prediction"
