-- convention: appendix
-- shown: prediction is the incompatible fact
-- p(X, Y) <- q(X, Y).
-- incompatible p, s.

WITH `claims_0` AS (
  SELECT
    `h`.`rule` AS `rule`,
    `h`.`literal` AS `head`,
    `p`.`prediction` AS `prediction`,
    `p`.`literal` AS `own`,
    `p`.`a0` AS `o0`,
    `p`.`a1` AS `o1`,
    `p`.`a0` AS `t0`,
    `p`.`a1` AS `t1`,
    COUNT(*) AS `n`
  FROM `__rulescore__candidate_2` AS `p`
  JOIN `__rulescore__fact_2` AS `f0`
    ON `f0`.`a0` = `p`.`a0` AND `f0`.`a1` = `p`.`a1`
  JOIN `__rulescore__body_0` AS `b`
    ON `f0`.`literal` = `b`.`l0`
  JOIN `__rulescore__head_0` AS `h`
    ON `b`.`body` = `h`.`body`
  JOIN `__rulescore__opposes` AS `o`
    ON `o`.`l0` = `p`.`literal` AND `h`.`literal` = `o`.`head`
  WHERE
    `p`.`a0` <> `p`.`a1`
  GROUP BY
    `h`.`rule`,
    `h`.`literal`,
    `p`.`prediction`,
    `p`.`literal`,
    `p`.`a0`,
    `p`.`a1`,
    `p`.`a0`,
    `p`.`a1`
)
SELECT
  `k`.`rule`,
  `k`.`prediction`,
  0 AS `confirmed`,
  SUM(`k`.`n`) AS `refuted`,
  SUM(`k`.`n`) AS `evaluable`
FROM `claims_0` AS `k`
GROUP BY
  `k`.`rule`,
  `k`.`prediction`
