-- convention: definition
-- shown: prediction at body atom 1
-- p(X, Y) <- q(X, Z), r(Z, Y).
-- incompatible p, s.

WITH `others_0` AS (
  SELECT
    `m`.`signature`,
    `d`.`l1` AS `literal`
  FROM (
    SELECT DISTINCT
      `b`.`l1`
    FROM `__rulescore__body_0` AS `b`
  ) AS d
  JOIN `__rulescore__member` AS `m`
    ON `m`.`literal` = (
      `d`.`l1` + 1 - 2 * (
        `d`.`l1` % 2
      )
    )
), `counted_0` AS (
  SELECT
    `b`.`body`,
    `p`.`prediction`,
    `k`.`s0` AS `signature`,
    SUM(`k`.`n`) AS `n`
  FROM `__rulescore__candidate_2` AS `p`
  JOIN `__rulescore__spoke` AS `k`
    ON `k`.`a0` = `p`.`a0` AND `k`.`a1` = `p`.`a1`
  JOIN `others_0` AS `o`
    ON `o`.`signature` = `k`.`s1`
  JOIN `__rulescore__body_0` AS `b`
    ON `b`.`l0` = `p`.`literal` AND `b`.`l1` = `o`.`literal`
  GROUP BY
    `b`.`body`,
    `p`.`prediction`,
    `k`.`s0`
), `located_0` AS (
  SELECT
    `h`.`rule`,
    `h`.`literal` AS `head`,
    `c`.`prediction`,
    `c`.`signature`,
    `c`.`n`
  FROM `counted_0` AS `c`
  JOIN `__rulescore__head_0` AS `h`
    ON `h`.`body` = `c`.`body`
), `verdict_0` AS (
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
      FROM `located_0` AS `l`
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
  `l`.`prediction`,
  SUM(`l`.`n` * `v`.`confirmed`) AS `confirmed`,
  SUM(`l`.`n` * `v`.`refuted`) AS `refuted`,
  SUM(`l`.`n` * `v`.`evaluable`) AS `evaluable`
FROM `located_0` AS `l`
JOIN `verdict_0` AS `v`
  ON `v`.`head` = `l`.`head` AND `v`.`signature` = `l`.`signature`
GROUP BY
  `l`.`rule`,
  `l`.`prediction`
