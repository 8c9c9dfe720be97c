-- convention: definition
-- shown: over the data
-- p(X, W) <- q(X, Y), r(Y, Z), s(Z, W).
-- incompatible p, s.

WITH `walked_1_0` AS (
  SELECT
    `s`.`start`,
    `f`.`a0` AS `x`,
    `f`.`a1` AS `b`,
    1 AS `n`
  FROM `__rulescore__start_0` AS `s`
  JOIN `__rulescore__fact_2` AS `f`
    ON `f`.`literal` = `s`.`l0`
  JOIN `__rulescore__reach` AS `r`
    ON `r`.`a0` = `f`.`a0`
  WHERE
    `s`.`piece` = 0
), `walked_2_0` AS (
  SELECT
    `w`.`start` AS `start`,
    `w`.`x` AS `x`,
    `f`.`a1` AS `b`,
    COUNT(*) AS `n`
  FROM `walked_1_0` AS `w`
  JOIN `__rulescore__start_0` AS `s`
    ON `s`.`start` = `w`.`start`
  JOIN `__rulescore__fact_2` AS `f`
    ON `f`.`literal` = `s`.`l1` AND `f`.`a0` = `w`.`b`
  GROUP BY
    `w`.`start`,
    `w`.`x`,
    `f`.`a1`
), `ended_0` AS (
  SELECT
    `e`.`body`,
    `e`.`literal`,
    `e`.`turned`,
    `w`.`x`,
    `w`.`b`,
    `w`.`n`,
    `d`.`n` <= `r`.`n` AS `onward`
  FROM `walked_2_0` AS `w`
  JOIN `__rulescore__end_0` AS `e`
    ON `e`.`start` = `w`.`start`
  JOIN `__rulescore__degree` AS `d`
    ON `d`.`literal` = `e`.`literal` AND `d`.`a0` = `w`.`b`
  JOIN `__rulescore__reach` AS `r`
    ON `r`.`a0` = `w`.`x`
), `met_0` AS (
  SELECT
    `u`.`body` AS `body`,
    `u`.`turned` AS `turned`,
    `u`.`signature` AS `signature`,
    SUM(`u`.`n`) AS `n`
  FROM (
    SELECT
      `e`.`body`,
      `e`.`turned`,
      `e`.`n`,
      `t`.`signature`
    FROM `ended_0` AS `e`
    JOIN `__rulescore__fact_2` AS `f`
      ON `f`.`literal` = `e`.`literal` AND `f`.`a0` = `e`.`b`
    JOIN `__rulescore__tuple_2` AS `t`
      ON `t`.`a0` = `e`.`x` AND `t`.`a1` = `f`.`a1` AND `t`.`signature` > 0
    WHERE
      `e`.`onward`
    UNION ALL
    SELECT
      `e`.`body`,
      `e`.`turned`,
      `e`.`n`,
      `t`.`signature`
    FROM `ended_0` AS `e`
    JOIN `__rulescore__tuple_2` AS `t`
      ON `t`.`a0` = `e`.`x` AND `t`.`signature` > 0
    JOIN `__rulescore__fact_2` AS `f`
      ON `f`.`literal` = `e`.`literal` AND `f`.`a0` = `e`.`b` AND `f`.`a1` = `t`.`a1`
    WHERE
      NOT `e`.`onward`
  ) AS u
  GROUP BY
    `u`.`body`,
    `u`.`turned`,
    `u`.`signature`
), `located_0` AS (
  SELECT
    `h`.`rule`,
    `h`.`literal` AS `head`,
    CASE WHEN `m`.`turned` = 1 THEN `i`.`inverse` ELSE `m`.`signature` END AS `signature`,
    `m`.`n`
  FROM `met_0` AS `m`
  JOIN `__rulescore__inverse_signature` AS `i`
    ON `i`.`signature` = `m`.`signature`
  JOIN `__rulescore__head_0` AS `h`
    ON `h`.`body` = `m`.`body`
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
  SUM(`l`.`n` * `v`.`confirmed`) AS `confirmed`,
  SUM(`l`.`n` * `v`.`refuted`) AS `refuted`,
  SUM(`l`.`n` * `v`.`evaluable`) AS `evaluable`
FROM `located_0` AS `l`
JOIN `verdict_0` AS `v`
  ON `v`.`head` = `l`.`head` AND `v`.`signature` = `l`.`signature`
GROUP BY
  `l`.`rule`
