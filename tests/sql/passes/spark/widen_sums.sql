-- counts and products of counts in 128 bits, sums of doubles as they are
SELECT SUM("r"."n") AS "n", SUM("r"."n" * "r"."m") AS "nm", typed('double', SUM("r"."v")) AS "v" FROM "t" AS "r"
-- becomes
SELECT
  SUM(CAST(`r`.`n` AS DECIMAL(38, 0))) AS `n`,
  SUM(CAST(`r`.`n` AS DECIMAL(38, 0)) * `r`.`m`) AS `nm`,
  SUM(`r`.`v`) AS `v`
FROM `t` AS `r`
