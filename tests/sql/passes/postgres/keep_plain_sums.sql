-- of a sum of doubles that is asked whether it is infinite the sum remains
SELECT CASE WHEN ABS(SUM("r"."v")) < 1 THEN typed('double', SUM("r"."v")) ELSE 0 END AS "v" FROM "t" AS "r"
-- becomes
SELECT
  SUM("r"."v") AS "v"
FROM "t" AS "r"

-- sums of whole numbers, and other cases, remain as they are
SELECT CASE WHEN TRUE THEN SUM("r"."n") ELSE 0 END AS "n", CASE WHEN TRUE THEN typed('double', SUM("r"."v")) END AS "v" FROM "t" AS "r"
-- becomes
SELECT
  CASE WHEN TRUE THEN SUM("r"."n") ELSE 0 END AS "n",
  CASE WHEN TRUE THEN SUM("r"."v") END AS "v"
FROM "t" AS "r"
