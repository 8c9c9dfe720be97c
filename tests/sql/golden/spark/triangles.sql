-- convention: definition
-- shown: over the data
-- p(X, Y) <- q(X, Z), r(Z, Y).
-- incompatible p, s.

WITH `sides_0` AS (
  SELECT
    `t`.`uv`,
    `t`.`uw`,
    `t`.`vw`,
    `t`.`u_is_v`,
    `t`.`v_is_w`,
    `t`.`n`,
    `i_uv`.`inverse` AS `-uv`,
    `i_uw`.`inverse` AS `-uw`,
    `i_vw`.`inverse` AS `-vw`
  FROM `__rulescore__triangle` AS `t`
  JOIN `__rulescore__inverse_signature` AS `i_uv`
    ON `i_uv`.`signature` = `t`.`uv`
  JOIN `__rulescore__inverse_signature` AS `i_uw`
    ON `i_uw`.`signature` = `t`.`uw`
  JOIN `__rulescore__inverse_signature` AS `i_vw`
    ON `i_vw`.`signature` = `t`.`vw`
), `placed_0` AS (
  SELECT
    `s`.`uw` AS `xz`,
    `s`.`vw` AS `yz`,
    `s`.`uv` AS `xy`,
    `s`.`n`,
    CASE WHEN `s`.`u_is_v` + `s`.`v_is_w` = 0 THEN `s`.`n` ELSE 0 END AS `apart`
  FROM `sides_0` AS `s`
  UNION ALL
  SELECT
    `s`.`uv` AS `xz`,
    `s`.`-vw` AS `yz`,
    `s`.`uw` AS `xy`,
    `s`.`n`,
    CASE WHEN `s`.`u_is_v` + `s`.`v_is_w` = 0 THEN `s`.`n` ELSE 0 END AS `apart`
  FROM `sides_0` AS `s`
  WHERE
    `s`.`v_is_w` = 0
  UNION ALL
  SELECT
    `s`.`vw` AS `xz`,
    `s`.`uw` AS `yz`,
    `s`.`-uv` AS `xy`,
    `s`.`n`,
    CASE WHEN `s`.`u_is_v` + `s`.`v_is_w` = 0 THEN `s`.`n` ELSE 0 END AS `apart`
  FROM `sides_0` AS `s`
  WHERE
    `s`.`u_is_v` = 0
  UNION ALL
  SELECT
    `s`.`-uv` AS `xz`,
    `s`.`-uw` AS `yz`,
    `s`.`vw` AS `xy`,
    `s`.`n`,
    CASE WHEN `s`.`u_is_v` + `s`.`v_is_w` = 0 THEN `s`.`n` ELSE 0 END AS `apart`
  FROM `sides_0` AS `s`
  WHERE
    `s`.`u_is_v` = 0
  UNION ALL
  SELECT
    `s`.`-vw` AS `xz`,
    `s`.`uv` AS `yz`,
    `s`.`-uw` AS `xy`,
    `s`.`n`,
    CASE WHEN `s`.`u_is_v` + `s`.`v_is_w` = 0 THEN `s`.`n` ELSE 0 END AS `apart`
  FROM `sides_0` AS `s`
  WHERE
    `s`.`v_is_w` = 0
  UNION ALL
  SELECT
    `s`.`-uw` AS `xz`,
    `s`.`-uv` AS `yz`,
    `s`.`-vw` AS `xy`,
    `s`.`n`,
    CASE WHEN `s`.`u_is_v` + `s`.`v_is_w` = 0 THEN `s`.`n` ELSE 0 END AS `apart`
  FROM `sides_0` AS `s`
  WHERE
    `s`.`u_is_v` = 0 AND `s`.`v_is_w` = 0
), `first_0` AS (
  SELECT
    `m`.`signature`,
    `d`.`l0` AS `literal`
  FROM (
    SELECT DISTINCT
      `b`.`l0`
    FROM `__rulescore__body_0` AS `b`
  ) AS d
  JOIN `__rulescore__member` AS `m`
    ON `m`.`literal` = `d`.`l0`
), `second_0` AS (
  SELECT
    `m`.`signature`,
    `d`.`l1` AS `literal`
  FROM (
    SELECT DISTINCT
      `b`.`l1`
    FROM `__rulescore__body_0` AS `b`
  ) AS d
  JOIN `__rulescore__member` AS `m`
    ON `m`.`literal` = `d`.`l1`
), `counted_0` AS (
  SELECT
    `b`.`body`,
    `p`.`xy` AS `signature`,
    SUM(`p`.`n`) AS `n`
  FROM `placed_0` AS `p`
  JOIN `first_0` AS `x`
    ON `x`.`signature` = `p`.`xz`
  JOIN `second_0` AS `y`
    ON `y`.`signature` = `p`.`yz`
  JOIN `__rulescore__body_0` AS `b`
    ON `b`.`l0` = `x`.`literal` AND `b`.`l1` = `y`.`literal`
  GROUP BY
    `b`.`body`,
    `p`.`xy`
), `located_0` AS (
  SELECT
    `h`.`rule`,
    `h`.`literal` AS `head`,
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
  SUM(`l`.`n` * `v`.`confirmed`) AS `confirmed`,
  SUM(`l`.`n` * `v`.`refuted`) AS `refuted`,
  SUM(`l`.`n` * `v`.`evaluable`) AS `evaluable`
FROM `located_0` AS `l`
JOIN `verdict_0` AS `v`
  ON `v`.`head` = `l`.`head` AND `v`.`signature` = `l`.`signature`
GROUP BY
  `l`.`rule`
