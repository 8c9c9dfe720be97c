-- convention: definition
-- shown: over the data
-- p(X, "a") <- q("b", X).
-- incompatible p, s.

WITH `matches_0` AS (
  SELECT
    `b`.`body` AS `body`,
    `f0`.`a0` AS `v0`,
    1 AS `n`
  FROM `__rulescore__body_0` AS `b`
  JOIN `__rulescore__fact_2` AS `f0`
    ON `f0`.`literal` = `b`.`l0` AND `f0`.`a1` = `b`.`c0`
), `claims_1` AS (
  SELECT
    `h`.`rule`,
    `h`.`literal` AS `head`,
    `m`.`v0` AS `t0`,
    `h`.`h0` AS `t1`,
    `m`.`n`
  FROM `matches_0` AS `m`
  JOIN `__rulescore__head_0` AS `h`
    ON `h`.`body` = `m`.`body`
), `located_2` AS (
  SELECT
    `k`.`rule` AS `rule`,
    `k`.`head` AS `head`,
    `t`.`signature` AS `signature`,
    SUM(`k`.`n`) AS `n`
  FROM `claims_1` AS `k`
  JOIN `__rulescore__tuple_2` AS `t`
    ON `t`.`a0` = `k`.`t0` AND `t`.`a1` = `k`.`t1`
  GROUP BY
    `k`.`rule`,
    `k`.`head`,
    `t`.`signature`
), `verdict_2` AS (
  SELECT
    `e`.`head`,
    `e`.`signature`,
    CAST(MAX(`e`.`c`) AS INT) AS `confirmed`,
    CAST(MAX(`e`.`v`) AS INT) AS `refuted`,
    CAST(1 AS INT) AS `evaluable`
  FROM (
    SELECT
      `p`.`head`,
      `p`.`signature`,
      CASE WHEN `m`.`literal` = `p`.`head` THEN 1 ELSE 0 END AS `c`,
      CASE WHEN NOT (
        `o`.`head` IS NULL
      ) THEN 1 ELSE 0 END AS `v`
    FROM (
      SELECT DISTINCT
        `l`.`head`,
        `l`.`signature`
      FROM `located_2` AS `l`
    ) AS p
    JOIN `__rulescore__member` AS `m`
      ON `m`.`signature` = `p`.`signature`
    LEFT JOIN `__rulescore__opposes` AS `o`
      ON `o`.`head` = `p`.`head` AND `o`.`l0` = `m`.`literal`
  ) AS e
  WHERE
    `e`.`c` = 1 OR `e`.`v` = 1
  GROUP BY
    `e`.`head`,
    `e`.`signature`
)
SELECT
  `l`.`rule`,
  SUM(`l`.`n` * `v`.`confirmed`) AS `confirmed`,
  SUM(`l`.`n` * `v`.`refuted`) AS `refuted`,
  SUM(`l`.`n` * `v`.`evaluable`) AS `evaluable`
FROM `located_2` AS `l`
JOIN `verdict_2` AS `v`
  ON `v`.`head` = `l`.`head` AND `v`.`signature` = `l`.`signature`
GROUP BY
  `l`.`rule`
