-- by the collation that knows them all, and ß has a capital
SELECT LOWER("r"."v") AS "low", UPPER("r"."v" || 'ß') AS "high" FROM "t" AS "r"
-- becomes
SELECT
  (
    LOWER("r"."v" COLLATE "pg_c_utf8") COLLATE "C"
  ) AS "low",
  (
    REPLACE(UPPER((
      "r"."v" || 'ß'
    ) COLLATE "pg_c_utf8"), 'ß', 'ẞ') COLLATE "C"
  ) AS "high"
FROM "t" AS "r"
