-- convention: definition
-- shown: prediction in the body
-- p(X, Y) <- q(X, Z), r(Z, Y).
-- incompatible p, s.

WITH placed AS MATERIALIZED (
  SELECT
    "v"."prediction",
    "v"."observed",
    "v"."n",
    "s"."body",
    "s"."turned",
    "s"."near",
    "s"."far",
    CASE WHEN "s"."turned" = 1 THEN "v"."v" ELSE "v"."u" END AS "near_end",
    CASE WHEN "s"."turned" = 1 THEN "v"."u" ELSE "v"."v" END AS "far_end"
  FROM "__rulescore__span_0" AS "v"
  JOIN "__rulescore__seat_0" AS "s"
    ON "s"."body" = "v"."body" AND "s"."first" = "v"."first" AND "s"."last" = "v"."last"
  WHERE
    "s"."piece" = 0
), chosen AS MATERIALIZED (
  SELECT
    "p"."prediction",
    "p"."observed",
    "p"."n",
    "p"."body",
    "p"."turned",
    "p"."near",
    "p"."far",
    "p"."near_end",
    "p"."far_end",
    "p"."far" AS "walked",
    "b"."n" AS "far_n"
  FROM "placed" AS "p"
  LEFT JOIN "__rulescore__half_paths_0" AS "a"
    ON "a"."half" = "p"."near" AND "a"."c" = "p"."near_end"
  JOIN "__rulescore__half_paths_0" AS "b"
    ON "b"."half" = "p"."far" AND "b"."c" = "p"."far_end"
  WHERE
    "p"."near" = -1
    OR (
      "a"."n" < "b"."n" OR (
        "a"."n" = "b"."n" AND "p"."turned" = 0
      )
    )
), ends AS MATERIALIZED (
  SELECT DISTINCT
    "e"."half",
    "e"."c"
  FROM (
    SELECT
      "p"."near" AS "half",
      "p"."near_end" AS "c"
    FROM "chosen" AS "p"
    UNION ALL
    SELECT
      "p"."far" AS "half",
      "p"."far_end" AS "c"
    FROM "chosen" AS "p"
  ) AS e
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
), reached AS MATERIALIZED (
  SELECT
    "z"."prediction",
    "z"."observed",
    "z"."body",
    "z"."turned",
    "z"."far",
    "z"."far_end",
    "z"."far_n",
    "z"."x",
    "z"."n",
    "z"."far_n" <= COALESCE("r"."n", 0) AS "onward"
  FROM (
    SELECT
      "p"."prediction",
      "p"."observed",
      "p"."body",
      "p"."turned",
      "p"."far",
      "p"."far_end",
      "p"."far_n",
      "p"."near_end" AS "x",
      "p"."n"
    FROM "chosen" AS "p"
    WHERE
      "p"."near" = -1
    UNION ALL
    SELECT
      "p"."prediction" AS "prediction",
      "p"."observed" AS "observed",
      "p"."body" AS "body",
      "p"."turned" AS "turned",
      "p"."far" AS "far",
      "p"."far_end" AS "far_end",
      "p"."far_n" AS "far_n",
      "f"."a1" AS "x",
      SUM("p"."n" * "w"."n") AS "n"
    FROM "chosen" AS "p"
    JOIN "__rulescore__half_0" AS "h"
      ON "h"."half" = "p"."near"
    JOIN "walk" AS "w"
      ON "w"."start" = "h"."start" AND "w"."c" = "p"."near_end"
    JOIN "__rulescore__fact_2" AS "f"
      ON "f"."literal" = "h"."literal" AND "f"."a0" = "w"."b"
    GROUP BY
      "p"."prediction",
      "p"."observed",
      "p"."body",
      "p"."turned",
      "p"."far",
      "p"."far_end",
      "p"."far_n",
      "f"."a1"
  ) AS z
  LEFT JOIN "__rulescore__reach" AS "r"
    ON "r"."a0" = "z"."x"
), wanted AS MATERIALIZED (
  SELECT
    "z"."prediction",
    "z"."observed",
    "z"."body",
    "z"."turned",
    "z"."x",
    "t"."a1" AS "y",
    "t"."signature",
    "z"."n" AS "n",
    "z"."far",
    "z"."far_end"
  FROM "reached" AS "z"
  JOIN "__rulescore__tuple_2" AS "t"
    ON "t"."a0" = "z"."x" AND "t"."signature" > 0
  WHERE
    NOT "z"."onward"
  UNION ALL
  SELECT
    "z"."prediction",
    "z"."observed",
    "z"."body",
    "z"."turned",
    "z"."x",
    "t"."a1" AS "y",
    "t"."signature",
    "z"."n" AS "n",
    "z"."far",
    "z"."far_end"
  FROM "reached" AS "z"
  JOIN "__rulescore__candidate_2" AS "c"
    ON "c"."prediction" = "z"."prediction"
    AND "c"."a0" = "z"."x"
    AND (
      "c"."a0" <> "c"."a1" OR "c"."literal" % 2 = 0
    )
  JOIN "__rulescore__tuple_2" AS "t"
    ON "t"."a0" = "c"."a0" AND "t"."a1" = "c"."a1" AND "t"."signature" = 0
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
), met AS MATERIALIZED (
  SELECT
    "m"."body" AS "body",
    "m"."prediction" AS "prediction",
    CASE WHEN "m"."turned" = 1 THEN COALESCE("i"."inverse", 0) ELSE "m"."signature" END AS "signature",
    "m"."observed" AS "observed",
    CASE
      WHEN "c"."a0" = CASE WHEN "m"."turned" = 1 THEN "m"."y" ELSE "m"."x" END
      AND "c"."a1" = CASE WHEN "m"."turned" = 1 THEN "m"."x" ELSE "m"."y" END
      THEN "c"."literal"
    END AS "reading0",
    CASE
      WHEN "c"."a0" = CASE WHEN "m"."turned" = 1 THEN "m"."x" ELSE "m"."y" END
      AND "c"."a1" = CASE WHEN "m"."turned" = 1 THEN "m"."y" ELSE "m"."x" END
      THEN (
        "c"."literal" + 1 - 2 * (
          "c"."literal" % 2
        )
      )
    END AS "reading1",
    SUM("m"."n") AS "n"
  FROM (
    SELECT
      "z"."prediction",
      "z"."observed",
      "z"."body",
      "z"."turned",
      "z"."x",
      "f"."a1" AS "y",
      "t"."signature",
      "z"."n" * "w"."n" AS "n"
    FROM "reached" AS "z"
    JOIN "__rulescore__half_0" AS "h"
      ON "h"."half" = "z"."far"
    JOIN "walk" AS "w"
      ON "w"."start" = "h"."start" AND "w"."c" = "z"."far_end"
    JOIN "__rulescore__fact_2" AS "f"
      ON "f"."literal" = "h"."literal" AND "f"."a0" = "w"."b"
    JOIN "__rulescore__tuple_2" AS "t"
      ON "t"."a0" = "z"."x" AND "t"."a1" = "f"."a1" AND "t"."signature" > 0
    WHERE
      "z"."onward"
    UNION ALL
    SELECT
      "a"."prediction",
      "a"."observed",
      "a"."body",
      "a"."turned",
      "a"."x",
      "a"."y",
      "a"."signature",
      "a"."n" * "g"."n" AS "n"
    FROM "wanted" AS "a"
    JOIN "found" AS "g"
      ON "g"."far" = "a"."far" AND "g"."far_end" = "a"."far_end" AND "g"."y" = "a"."y"
    UNION ALL
    SELECT
      "p"."prediction",
      "p"."observed",
      "p"."body",
      "p"."turned",
      "p"."near_end" AS "x",
      "p"."far_end" AS "y",
      "t"."signature",
      "p"."n"
    FROM "placed" AS "p"
    JOIN "__rulescore__tuple_2" AS "t"
      ON "t"."a0" = "p"."near_end" AND "t"."a1" = "p"."far_end"
    WHERE
      "p"."far" = -1
  ) AS m
  LEFT JOIN "__rulescore__inverse_signature" AS "i"
    ON "i"."signature" = "m"."signature"
  JOIN "__rulescore__candidate_2" AS "c"
    ON "c"."prediction" = "m"."prediction" AND "c"."literal" % 2 = 0
  GROUP BY
    "m"."body",
    "m"."prediction",
    CASE WHEN "m"."turned" = 1 THEN COALESCE("i"."inverse", 0) ELSE "m"."signature" END,
    "m"."observed",
    CASE
      WHEN "c"."a0" = CASE WHEN "m"."turned" = 1 THEN "m"."y" ELSE "m"."x" END
      AND "c"."a1" = CASE WHEN "m"."turned" = 1 THEN "m"."x" ELSE "m"."y" END
      THEN "c"."literal"
    END,
    CASE
      WHEN "c"."a0" = CASE WHEN "m"."turned" = 1 THEN "m"."x" ELSE "m"."y" END
      AND "c"."a1" = CASE WHEN "m"."turned" = 1 THEN "m"."y" ELSE "m"."x" END
      THEN (
        "c"."literal" + 1 - 2 * (
          "c"."literal" % 2
        )
      )
    END
  HAVING
    SUM("m"."n") <> 0
), located AS MATERIALIZED (
  SELECT
    "h"."rule",
    "h"."literal" AS "head",
    "m"."prediction",
    "m"."signature",
    "m"."reading0",
    "m"."reading1",
    "m"."n"
  FROM "met" AS "m"
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
