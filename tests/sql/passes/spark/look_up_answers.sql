-- true, false or, for what was not asked, unknown
SELECT (SELECT "a"."answer" FROM "__rulescore__answers_1" AS "a" WHERE "a"."a0" = "g"."v0" AND "a"."a1" = "g"."v1") AS "said" FROM "rows" AS "g"
-- becomes
SELECT
  CASE
    WHEN (`g`.`v0`, `g`.`v1`) IN (
      SELECT
        `a`.`a0`,
        `a`.`a1`
      FROM `__rulescore__answers_1` AS `a`
      WHERE
        NOT `a`.`a0` IS NULL AND NOT `a`.`a1` IS NULL AND `a`.`answer`
    )
    THEN TRUE
    WHEN (`g`.`v0`, `g`.`v1`) IN (
      SELECT
        `a`.`a0`,
        `a`.`a1`
      FROM `__rulescore__answers_1` AS `a`
      WHERE
        NOT `a`.`a0` IS NULL AND NOT `a`.`a1` IS NULL AND NOT `a`.`answer`
    )
    THEN FALSE
  END AS `said`
FROM `rows` AS `g`

-- of one argument, within a condition
SELECT 1 AS "one" FROM "rows" AS "g" WHERE NOT ((SELECT "a"."answer" FROM "__rulescore__answers_1" AS "a" WHERE "a"."a0" = "g"."v0"))
-- becomes
SELECT
  1 AS `one`
FROM `rows` AS `g`
WHERE
  NOT (
    CASE
      WHEN `g`.`v0` IN (
        SELECT
          `a`.`a0`
        FROM `__rulescore__answers_1` AS `a`
        WHERE
          NOT `a`.`a0` IS NULL AND `a`.`answer`
      )
      THEN TRUE
      WHEN `g`.`v0` IN (
        SELECT
          `a`.`a0`
        FROM `__rulescore__answers_1` AS `a`
        WHERE
          NOT `a`.`a0` IS NULL AND NOT `a`.`answer`
      )
      THEN FALSE
    END
  )

-- other queries, and other tables, remain as they are
SELECT (SELECT "m"."n" FROM "measured" AS "m" WHERE "m"."a0" = "g"."v0") AS "n" FROM "rows" AS "g" JOIN "__rulescore__answer" AS "x" ON "x"."id" = "g"."v0"
-- becomes
SELECT
  (
    SELECT
      `m`.`n`
    FROM `measured` AS `m`
    WHERE
      `m`.`a0` = `g`.`v0`
  ) AS `n`
FROM `rows` AS `g`
JOIN `__rulescore__answer` AS `x`
  ON `x`.`id` = `g`.`v0`
