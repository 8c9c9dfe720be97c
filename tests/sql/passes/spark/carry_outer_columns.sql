-- the column of the outermost query is brought along by the query between
SELECT 1 AS "one" FROM "rows" AS "g" WHERE EXISTS(SELECT 1 FROM "facts" AS "f" WHERE "f"."a0" = "g"."v0" AND EXISTS(SELECT 1 FROM "facts" AS "h" WHERE "h"."a0" = "f"."a1" AND "h"."a1" = "g"."v1"))
-- becomes
SELECT
  1 AS `one`
FROM `rows` AS `g`
WHERE
  EXISTS(
    SELECT
      1
    FROM (
      SELECT
        *,
        `g`.`v1` AS `__rulescore__outer_0`
      FROM `facts` AS `f`
    ) AS f
    WHERE
      `f`.`a0` = `g`.`v0`
      AND EXISTS(
        SELECT
          1
        FROM `facts` AS `h`
        WHERE
          `h`.`a0` = `f`.`a1` AND `h`.`a1` = `f`.`__rulescore__outer_0`
      )
  )

-- through three queries, one after the other
SELECT 1 AS "one" FROM "rows" AS "g" WHERE EXISTS(SELECT 1 FROM "facts" AS "f" WHERE EXISTS(SELECT 1 FROM "facts" AS "h" WHERE EXISTS(SELECT 1 FROM "facts" AS "i" WHERE "i"."a0" = "g"."v0")))
-- becomes
SELECT
  1 AS `one`
FROM `rows` AS `g`
WHERE
  EXISTS(
    SELECT
      1
    FROM (
      SELECT
        *,
        `g`.`v0` AS `__rulescore__outer_1`
      FROM `facts` AS `f`
    ) AS f
    WHERE
      EXISTS(
        SELECT
          1
        FROM (
          SELECT
            *,
            `f`.`__rulescore__outer_1` AS `__rulescore__outer_0`
          FROM `facts` AS `h`
        ) AS h
        WHERE
          EXISTS(
            SELECT
              1
            FROM `facts` AS `i`
            WHERE
              `i`.`a0` = `h`.`__rulescore__outer_0`
          )
      )
  )

-- a query in whose rows the column is asked for, and one value instead of a condition
SELECT (SELECT SUM("f"."n") FROM (SELECT "o"."n" FROM "facts" AS "o" WHERE NOT (EXISTS(SELECT 1 FROM "facts" AS "h" WHERE "h"."a0" = "g"."v0"))) AS f) AS "n" FROM "rows" AS "g"
-- becomes
SELECT
  (
    SELECT
      SUM(`f`.`n`)
    FROM (
      SELECT
        `o`.`n`
      FROM (
        SELECT
          *,
          `g`.`v0` AS `__rulescore__outer_0`
        FROM `facts` AS `o`
      ) AS o
      WHERE
        NOT (
          EXISTS(
            SELECT
              1
            FROM `facts` AS `h`
            WHERE
              `h`.`a0` = `o`.`__rulescore__outer_0`
          )
        )
    ) AS f
  ) AS `n`
FROM `rows` AS `g`

-- a condition that sees the query around it is left alone
SELECT 1 AS "one" FROM "rows" AS "g" WHERE EXISTS(SELECT 1 FROM "facts" AS "f" WHERE "f"."a0" = "g"."v0")
-- becomes
SELECT
  1 AS `one`
FROM `rows` AS `g`
WHERE
  EXISTS(
    SELECT
      1
    FROM `facts` AS `f`
    WHERE
      `f`.`a0` = `g`.`v0`
  )
