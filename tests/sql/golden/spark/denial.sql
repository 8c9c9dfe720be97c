-- convention: definition
-- shown: over the data
-- false <- p(X, Y), q(Y, X), X != Y.

WITH `matches_0` AS (
  SELECT
    `b`.`body` AS `body`,
    COUNT(*) AS `n`
  FROM `__rulescore__body_0` AS `b`
  JOIN `__rulescore__fact_2` AS `f0`
    ON `f0`.`literal` = `b`.`l0`
  JOIN `__rulescore__fact_2` AS `f1`
    ON `f1`.`literal` = `b`.`l1` AND `f1`.`a0` = `f0`.`a0` AND `f1`.`a1` = `f0`.`a1`
  WHERE
    `f0`.`a0` <> `f0`.`a1`
  GROUP BY
    `b`.`body`
), `claims_1` AS (
  SELECT
    `h`.`rule`,
    `h`.`literal` AS `head`,
    `m`.`n`
  FROM `matches_0` AS `m`
  JOIN `__rulescore__head_0` AS `h`
    ON `h`.`body` = `m`.`body`
)
SELECT
  `k`.`rule`,
  0 AS `confirmed`,
  SUM(`k`.`n`) AS `refuted`,
  SUM(`k`.`n`) AS `evaluable`
FROM `claims_1` AS `k`
GROUP BY
  `k`.`rule`
