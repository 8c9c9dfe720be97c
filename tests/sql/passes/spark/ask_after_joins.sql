-- queries among the conditions of a join are asked of what is joined
SELECT 1 AS "one" FROM "rows" AS "g" JOIN "facts" AS "f" ON "f"."a0" = "g"."v0" AND EXISTS(SELECT 1 FROM "facts" AS "h" WHERE "h"."a0" = "f"."a1") WHERE "g"."v1" = 2
-- becomes
SELECT
  1 AS `one`
FROM `rows` AS `g`
JOIN `facts` AS `f`
  ON `f`.`a0` = `g`.`v0`
WHERE
  `g`.`v1` = 2
  AND EXISTS(
    SELECT
      1
    FROM `facts` AS `h`
    WHERE
      `h`.`a0` = `f`.`a1`
  )

-- a join that keeps rows without a partner cannot
SELECT 1 AS "one" FROM "rows" AS "g" LEFT JOIN "facts" AS "f" ON EXISTS(SELECT 1 FROM "facts" AS "h" WHERE "h"."a0" = "f"."a1")
-- becomes
SELECT
  1 AS `one`
FROM `rows` AS `g`
LEFT JOIN `facts` AS `f`
  ON EXISTS(
    SELECT
      1
    FROM `facts` AS `h`
    WHERE
      `h`.`a0` = `f`.`a1`
  )
