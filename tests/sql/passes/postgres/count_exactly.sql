-- different values are counted, not nearly counted
SELECT APPROX_COUNT_DISTINCT("f"."a0") AS "a0" FROM "t" AS "f"
-- becomes
SELECT
  COUNT(DISTINCT "f"."a0") AS "a0"
FROM "t" AS "f"
