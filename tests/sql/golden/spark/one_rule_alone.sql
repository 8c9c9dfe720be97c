-- convention: definition
-- shown: the rule alone
-- p(X, Y) <- q(X, Z), r(Z, Y).
-- incompatible p, s.

WITH `rule_body_1` AS (
  SELECT
    0 AS `body`,
    2 /* q */ AS `l0`,
    5 /* r, reversed */ AS `l1`
), `rule_head_1` AS (
  SELECT
    0 AS `rule`,
    0 AS `body`,
    0 /* p */ AS `literal`
), `matches_0` AS (
  SELECT
    `b`.`body` AS `body`,
    `f0`.`a0` AS `v0`,
    `f1`.`a0` AS `v1`,
    COUNT(*) AS `n`
  FROM `rule_body_1` AS `b`
  JOIN `__rulescore__fact_2` AS `f0`
    ON `f0`.`literal` = `b`.`l0`
  JOIN `__rulescore__fact_2` AS `f1`
    ON `f1`.`literal` = `b`.`l1` AND `f1`.`a1` = `f0`.`a1`
  GROUP BY
    `b`.`body`,
    `f0`.`a0`,
    `f1`.`a0`
), `claims_1` AS (
  SELECT
    `h`.`rule`,
    `h`.`literal` AS `head`,
    `m`.`v0` AS `t0`,
    `m`.`v1` AS `t1`,
    `m`.`n`
  FROM `matches_0` AS `m`
  JOIN `rule_head_1` AS `h`
    ON `h`.`body` = `m`.`body`
), `asked_1` AS (
  SELECT DISTINCT
    `k`.`head`,
    `k`.`t0`,
    `k`.`t1`
  FROM `claims_1` AS `k`
), `refuted_1` AS (
  SELECT
    `u`.`head`,
    `u`.`t0`,
    `u`.`t1`,
    MAX(`u`.`via`) AS `via`
  FROM (
    SELECT
      `q`.`head` AS `head`,
      `q`.`t0` AS `t0`,
      `q`.`t1` AS `t1`,
      0 AS `via`
    FROM `asked_1` AS `q`
    JOIN `__rulescore__opposes` AS `c`
      ON `c`.`head` = `q`.`head`
    JOIN `__rulescore__fact_2` AS `g0`
      ON `g0`.`literal` = `c`.`l0` AND `g0`.`a0` = `q`.`t0` AND `g0`.`a1` = `q`.`t1`
  ) AS u
  GROUP BY
    `u`.`head`,
    `u`.`t0`,
    `u`.`t1`
)
SELECT
  `j`.`rule`,
  SUM(`j`.`n` * `j`.`confirmed`) AS `confirmed`,
  SUM(`j`.`n` * `j`.`refuted`) AS `refuted`,
  SUM(`j`.`n` * GREATEST(`j`.`confirmed`, `j`.`refuted`)) AS `evaluable`
FROM (
  SELECT
    `k`.`rule`,
    `k`.`n`,
    CASE WHEN NOT (
      `f`.`literal` IS NULL
    ) THEN 1 ELSE 0 END AS `confirmed`,
    CASE WHEN NOT (
      `r`.`head` IS NULL
    ) THEN 1 ELSE 0 END AS `refuted`
  FROM `claims_1` AS `k`
  LEFT JOIN `__rulescore__fact_2` AS `f`
    ON `f`.`literal` = `k`.`head` AND `f`.`a0` = `k`.`t0` AND `f`.`a1` = `k`.`t1`
  LEFT JOIN `refuted_1` AS `r`
    ON `r`.`head` = `k`.`head` AND `r`.`t0` = `k`.`t0` AND `r`.`t1` = `k`.`t1`
) AS j
WHERE
  GREATEST(`j`.`confirmed`, `j`.`refuted`) > 0
GROUP BY
  `j`.`rule`
