-- steps of one name, in two parts of a statement
WITH found AS MATERIALIZED (WITH rows AS (SELECT 1 AS "n") SELECT * FROM "rows"), rows AS (SELECT 2 AS "n") SELECT * FROM "rows" AS "r" CROSS JOIN "found" AS "f"
-- becomes
WITH `rows_0` AS (
  SELECT
    1 AS `n`
), `found_1` AS (
  SELECT
    *
  FROM `rows_0`
), `rows_1` AS (
  SELECT
    2 AS `n`
)
SELECT
  *
FROM `rows_1` AS `r`
CROSS JOIN `found_1` AS `f`
