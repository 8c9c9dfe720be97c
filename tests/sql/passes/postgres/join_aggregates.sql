-- an aggregate asked for by equations is computed for all groups; over nothing a count is 0, all else missing
SELECT "g"."v0", (SELECT SUM("t"."c1") / NULLIF(COUNT("t"."c1"), 0) FROM "facts" AS "t" WHERE NOT "t"."c0" IS NULL AND "t"."c2" = "g"."v0") AS "m0" FROM "rows" AS "g"
-- becomes
SELECT
  "g"."v0",
  (
    CASE
      WHEN "__rulescore__aggregate_0"."k0" IS NULL
      THEN CAST(NULL AS DOUBLE PRECISION) / NULLIF(0, 0)
      ELSE "__rulescore__aggregate_0"."value"
    END
  ) AS "m0"
FROM "rows" AS "g"
LEFT JOIN (
  SELECT
    "t"."c2" AS "k0",
    CAST(SUM("t"."c1") AS DOUBLE PRECISION) / NULLIF(COUNT("t"."c1"), 0) AS "value"
  FROM "facts" AS "t"
  WHERE
    NOT "t"."c0" IS NULL
  GROUP BY
    "t"."c2"
) AS "__rulescore__aggregate_0"
  ON "__rulescore__aggregate_0"."k0" = "g"."v0"

-- so it is where a condition asks for it
SELECT 1 FROM "rows" AS "g" WHERE "g"."v1" <= (SELECT MAX("t"."c1") FROM "facts" AS "t" WHERE "g"."v0" = "t"."c2")
-- becomes
SELECT
  1
FROM "rows" AS "g"
LEFT JOIN (
  SELECT
    "t"."c2" AS "k0",
    MAX("t"."c1") AS "value"
  FROM "facts" AS "t"
  GROUP BY
    "t"."c2"
) AS "__rulescore__aggregate_0"
  ON "__rulescore__aggregate_0"."k0" = "g"."v0"
WHERE
  "g"."v1" <= "__rulescore__aggregate_0"."value"

-- a condition within reads the query's own column if an equation says that it has the same value
SELECT (SELECT COUNT(DISTINCT "p"."c1") FROM "predicted" AS "p" WHERE "p"."prediction" = "k"."prediction" AND "p"."c2" = "k"."o0" AND NOT EXISTS(SELECT 1 FROM "facts" AS "t" WHERE "t"."c2" = "k"."o0" AND "t"."c1" = "p"."c1")) AS "m0" FROM "measured" AS "k"
-- becomes
SELECT
  (
    CASE
      WHEN "__rulescore__aggregate_0"."k0" IS NULL
      THEN 0
      ELSE "__rulescore__aggregate_0"."value"
    END
  ) AS "m0"
FROM "measured" AS "k"
LEFT JOIN (
  SELECT
    "p"."prediction" AS "k0",
    "p"."c2" AS "k1",
    COUNT(DISTINCT "p"."c1") AS "value"
  FROM "predicted" AS "p"
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM "facts" AS "t"
      WHERE
        "t"."c2" = "p"."c2" AND "t"."c1" = "p"."c1"
    )
  GROUP BY
    "p"."prediction",
    "p"."c2"
) AS "__rulescore__aggregate_0"
  ON "__rulescore__aggregate_0"."k0" = "k"."prediction"
  AND "__rulescore__aggregate_0"."k1" = "k"."o0"

-- asked for in another way, it is computed once for all values that the rows have
SELECT (SELECT COUNT(*) FROM "facts" AS "t" WHERE "t"."c1" < "g"."v0") AS "m0" FROM "rows" AS "g"
-- becomes
SELECT
  "__rulescore__aggregate_0"."value" AS "m0"
FROM "rows" AS "g"
LEFT JOIN LATERAL (
  SELECT
    COUNT(*) AS "value"
  FROM "facts" AS "t"
  WHERE
    "t"."c1" < "g"."v0"
) AS "__rulescore__aggregate_0"
  ON TRUE

-- a query that depends on nothing around it stays
SELECT (SELECT COUNT(*) FROM "facts" AS "t") AS "m0" FROM "rows" AS "g"
-- becomes
SELECT
  (
    SELECT
      COUNT(*)
    FROM "facts" AS "t"
  ) AS "m0"
FROM "rows" AS "g"

-- so does one about groups of rows
SELECT "g"."v0", (SELECT COUNT(*) FROM "facts" AS "t" WHERE "t"."c1" = "g"."v0") AS "m0" FROM "rows" AS "g" GROUP BY "g"."v0"
-- becomes
SELECT
  "g"."v0",
  (
    SELECT
      COUNT(*)
    FROM "facts" AS "t"
    WHERE
      "t"."c1" = "g"."v0"
  ) AS "m0"
FROM "rows" AS "g"
GROUP BY
  "g"."v0"

-- and one that also depends on rows further out
SELECT 1 FROM "rows" AS "g" WHERE EXISTS(SELECT 1 FROM "others" AS "o" WHERE "o"."x" = (SELECT COUNT(*) FROM "facts" AS "t" WHERE "t"."c1" = "g"."v0" AND "t"."c2" = "o"."y"))
-- becomes
SELECT
  1
FROM "rows" AS "g"
WHERE
  EXISTS(
    SELECT
      1
    FROM "others" AS "o"
    WHERE
      "o"."x" = (
        SELECT
          COUNT(*)
        FROM "facts" AS "t"
        WHERE
          "t"."c1" = "g"."v0" AND "t"."c2" = "o"."y"
      )
  )

-- an equation with a constant makes no groups
SELECT (SELECT COUNT(*) FROM "facts" AS "t" WHERE 'a' = "g"."v0") AS "m0" FROM "rows" AS "g"
-- becomes
SELECT
  "__rulescore__aggregate_0"."value" AS "m0"
FROM "rows" AS "g"
LEFT JOIN LATERAL (
  SELECT
    COUNT(*) AS "value"
  FROM "facts" AS "t"
  WHERE
    'a' = "g"."v0"
) AS "__rulescore__aggregate_0"
  ON TRUE

-- nor do rows that depend on others themselves
SELECT (SELECT COUNT(*) FROM (SELECT "t"."c0" FROM "facts" AS "t" WHERE "t"."c2" = "g"."v0") AS "u") AS "m0" FROM "rows" AS "g"
-- becomes
SELECT
  "__rulescore__aggregate_0"."value" AS "m0"
FROM "rows" AS "g"
LEFT JOIN LATERAL (
  SELECT
    COUNT(*) AS "value"
  FROM (
    SELECT
      "t"."c0"
    FROM "facts" AS "t"
    WHERE
      "t"."c2" = "g"."v0"
  ) AS "u"
) AS "__rulescore__aggregate_0"
  ON TRUE
