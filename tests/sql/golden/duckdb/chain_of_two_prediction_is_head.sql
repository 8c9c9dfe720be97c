-- convention: definition
-- shown: prediction is the head
-- p(X, Y) <- q(X, Z), r(Z, Y).
-- incompatible p, s.

WITH placed AS MATERIALIZED (
  SELECT
    "c"."prediction",
    "c"."literal",
    "c"."a0",
    "c"."a1",
    "s"."turned",
    "s"."near",
    "s"."far",
    "s"."walked",
    "h"."rule",
    CASE WHEN "s"."turned" = 1 THEN "c"."a1" ELSE "c"."a0" END AS "far_end",
    CASE WHEN "s"."turned" = 1 THEN "c"."a0" ELSE "c"."a1" END AS "y"
  FROM "__rulescore__candidate_2" AS "c"
  JOIN "__rulescore__head_0" AS "h"
    ON "h"."literal" = "c"."literal"
  JOIN "__rulescore__seat_0" AS "s"
    ON "s"."body" = "h"."body" AND "s"."first" = -1
  WHERE
    "s"."piece" = 1
), wanted AS MATERIALIZED (
  SELECT
    "p"."rule",
    "p"."prediction",
    "p"."literal",
    "p"."a0",
    "p"."a1",
    "p"."far",
    "p"."walked",
    "p"."far_end",
    "p"."y"
  FROM "placed" AS "p"
  JOIN "__rulescore__half_paths_0" AS "a"
    ON "a"."half" = "p"."walked" AND "a"."c" = "p"."far_end"
  JOIN "__rulescore__half_paths_0" AS "b"
    ON "b"."half" = "p"."near" AND "b"."c" = "p"."y"
  WHERE
    "a"."n" < "b"."n" OR (
      "a"."n" = "b"."n" AND "p"."turned" = 0
    )
), ends AS MATERIALIZED (
  SELECT DISTINCT
    "e"."half",
    "e"."c"
  FROM (
    SELECT
      "p"."far" AS "half",
      "p"."far_end" AS "c"
    FROM "wanted" AS "p"
  ) AS e
), walked_1 AS MATERIALIZED (
  SELECT
    "n"."start" AS "start",
    "n"."c" AS "c",
    "f"."a1" AS "b",
    COUNT(*) AS "n"
  FROM (
    SELECT DISTINCT
      "p"."start",
      "p"."parent",
      "p"."literal",
      "e"."c"
    FROM "ends" AS "e"
    JOIN "__rulescore__half_part_0" AS "p"
      ON "p"."half" = "e"."half" AND "p"."depth" = 1
  ) AS n
  JOIN "__rulescore__fact_2" AS "f"
    ON "f"."literal" = "n"."literal" AND "f"."a0" = "n"."c"
  GROUP BY
    "n"."start",
    "n"."c",
    "f"."a1"
), walk AS MATERIALIZED (
  SELECT DISTINCT
    "h"."start",
    "e"."c" AS "c",
    "e"."c" AS "b",
    1 AS "n"
  FROM "ends" AS "e"
  JOIN "__rulescore__half_0" AS "h"
    ON "h"."half" = "e"."half"
  WHERE
    "h"."length" = 1
  UNION ALL
  SELECT
    "w"."start",
    "w"."c",
    "w"."b",
    "w"."n"
  FROM "walked_1" AS "w"
), found AS MATERIALIZED (
  SELECT
    "a"."far" AS "far",
    "a"."far_end" AS "far_end",
    "a"."y" AS "y",
    SUM("w"."n") AS "n"
  FROM (
    SELECT DISTINCT
      "a"."far",
      "a"."far_end",
      "a"."y"
    FROM "wanted" AS "a"
  ) AS a
  JOIN "__rulescore__half_0" AS "h"
    ON "h"."half" = "a"."far"
  JOIN "__rulescore__fact_2" AS "f"
    ON "f"."literal" = "h"."back" AND "f"."a0" = "a"."y"
  JOIN "walk" AS "w"
    ON "w"."start" = "h"."start" AND "w"."c" = "a"."far_end" AND "w"."b" = "f"."a1"
  GROUP BY
    "a"."far",
    "a"."far_end",
    "a"."y"
), located AS MATERIALIZED (
  SELECT
    "a"."rule",
    "a"."prediction",
    "g"."n",
    "a"."literal" AS "head",
    "a"."literal" AS "reading0",
    CASE
      WHEN "a"."a0" = "a"."a1"
      THEN (
        "a"."literal" + 1 - 2 * (
          "a"."literal" % 2
        )
      )
    END AS "reading1",
    "t"."signature"
  FROM "wanted" AS "a"
  JOIN "found" AS "g"
    ON "g"."far" = "a"."far" AND "g"."far_end" = "a"."far_end" AND "g"."y" = "a"."y"
  JOIN "__rulescore__tuple_2" AS "t"
    ON "t"."a0" = "a"."a0" AND "t"."a1" = "a"."a1"
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
