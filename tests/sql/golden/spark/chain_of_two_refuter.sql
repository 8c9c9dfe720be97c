-- convention: appendix
-- shown: prediction is the incompatible fact
-- p(X, Y) <- q(X, Z), r(Z, Y).
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
  JOIN `__rulescore__predicted_reach` AS `r`
    ON `r`.`a0` = `f`.`a0`
  WHERE
    `s`.`piece` = 0 AND `f`.`a0` <> `f`.`a1`
), `ended_0` AS (
  SELECT
    `e`.`body`,
    `e`.`literal`,
    `e`.`turned`,
    `w`.`x`,
    `w`.`b`,
    `w`.`n`,
    `d`.`n` <= `r`.`n` AS `onward`
  FROM `walked_1_0` AS `w`
  JOIN `__rulescore__end_0` AS `e`
    ON `e`.`start` = `w`.`start`
  JOIN `__rulescore__degree` AS `d`
    ON `d`.`literal` = `e`.`literal` AND `d`.`a0` = `w`.`b`
  JOIN `__rulescore__predicted_reach` AS `r`
    ON `r`.`a0` = `w`.`x`
), `met_0` AS (
  SELECT
    `u`.`body` AS `body`,
    `u`.`turned` AS `turned`,
    `u`.`prediction` AS `prediction`,
    `u`.`literal` AS `literal`,
    SUM(`u`.`n`) AS `n`
  FROM (
    SELECT
      `e`.`body`,
      `e`.`turned`,
      `e`.`n`,
      `t`.`prediction`,
      `t`.`literal`
    FROM `ended_0` AS `e`
    JOIN `__rulescore__fact_2` AS `f`
      ON `f`.`literal` = `e`.`literal` AND `f`.`a0` = `e`.`b`
    JOIN `__rulescore__candidate_2` AS `t`
      ON `t`.`a0` = `e`.`x` AND `t`.`a1` = `f`.`a1`
    WHERE
      `e`.`onward` AND `f`.`a1` <> `e`.`x` AND `f`.`a1` <> `e`.`b`
    UNION ALL
    SELECT
      `e`.`body`,
      `e`.`turned`,
      `e`.`n`,
      `t`.`prediction`,
      `t`.`literal`
    FROM `ended_0` AS `e`
    JOIN `__rulescore__candidate_2` AS `t`
      ON `t`.`a0` = `e`.`x`
    JOIN `__rulescore__fact_2` AS `f`
      ON `f`.`literal` = `e`.`literal` AND `f`.`a0` = `e`.`b` AND `f`.`a1` = `t`.`a1`
    WHERE
      NOT `e`.`onward` AND `t`.`a1` <> `e`.`x` AND `t`.`a1` <> `e`.`b`
  ) AS u
  GROUP BY
    `u`.`body`,
    `u`.`turned`,
    `u`.`prediction`,
    `u`.`literal`
), `claims_0` AS (
  SELECT
    `h`.`rule`,
    `m`.`prediction`,
    `m`.`n`
  FROM `met_0` AS `m`
  JOIN `__rulescore__head_0` AS `h`
    ON `h`.`body` = `m`.`body`
  JOIN `__rulescore__opposes` AS `o`
    ON `o`.`head` = `h`.`literal`
    AND `o`.`l0` = CASE
      WHEN `m`.`turned` = 1
      THEN (
        `m`.`literal` + 1 - 2 * (
          `m`.`literal` % 2
        )
      )
      ELSE `m`.`literal`
    END
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
