-- convention: definition
-- shown: predictions
-- near(X, Y) <- p(X, Y), not near(Y, X).

SELECT
  CAST(0 AS INT) AS `rule`,
  `j`.`prediction`,
  CAST(COALESCE(SUM(`j`.`confirmed`), 0) AS BIGINT) AS `confirmed`,
  CAST(COALESCE(SUM(`j`.`refuted`), 0) AS BIGINT) AS `refuted`,
  CAST(COALESCE(SUM(CASE WHEN `j`.`confirmed` = 1 OR `j`.`refuted` = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS `evaluable`
FROM (
  SELECT
    `g`.`prediction`,
    `g`.`v0`,
    `g`.`v1`,
    CASE
      WHEN (
        CASE
          WHEN (`g`.`v0`, `g`.`v1`) IN (
            SELECT
              `t3`.`a0`,
              `t3`.`a1`
            FROM `__rulescore__answers_1` AS `t3`
            WHERE
              NOT `t3`.`a0` IS NULL AND NOT `t3`.`a1` IS NULL AND `t3`.`answer`
          )
          THEN TRUE
          WHEN (`g`.`v0`, `g`.`v1`) IN (
            SELECT
              `t3`.`a0`,
              `t3`.`a1`
            FROM `__rulescore__answers_1` AS `t3`
            WHERE
              NOT `t3`.`a0` IS NULL AND NOT `t3`.`a1` IS NULL AND NOT `t3`.`answer`
          )
          THEN FALSE
        END
      )
      THEN 1
      ELSE 0
    END AS `confirmed`,
    CASE
      WHEN NOT (
        (
          CASE
            WHEN (`g`.`v0`, `g`.`v1`) IN (
              SELECT
                `t4`.`a0`,
                `t4`.`a1`
              FROM `__rulescore__answers_1` AS `t4`
              WHERE
                NOT `t4`.`a0` IS NULL AND NOT `t4`.`a1` IS NULL AND `t4`.`answer`
            )
            THEN TRUE
            WHEN (`g`.`v0`, `g`.`v1`) IN (
              SELECT
                `t4`.`a0`,
                `t4`.`a1`
              FROM `__rulescore__answers_1` AS `t4`
              WHERE
                NOT `t4`.`a0` IS NULL AND NOT `t4`.`a1` IS NULL AND NOT `t4`.`answer`
            )
            THEN FALSE
          END
        )
      )
      THEN 1
      ELSE 0
    END AS `refuted`
  FROM (
    SELECT
      `t0`.`prediction` AS `prediction`,
      `t0`.`a0` AS `v0`,
      `t0`.`a1` AS `v1`
    FROM `__rulescore__predicted_relation_2` AS `t0`
    WHERE
      NOT (
        (
          CASE
            WHEN (`t0`.`a1`, `t0`.`a0`) IN (
              SELECT
                `t2`.`a0`,
                `t2`.`a1`
              FROM `__rulescore__answers_1` AS `t2`
              WHERE
                NOT `t2`.`a0` IS NULL AND NOT `t2`.`a1` IS NULL AND `t2`.`answer`
            )
            THEN TRUE
            WHEN (`t0`.`a1`, `t0`.`a0`) IN (
              SELECT
                `t2`.`a0`,
                `t2`.`a1`
              FROM `__rulescore__answers_1` AS `t2`
              WHERE
                NOT `t2`.`a0` IS NULL AND NOT `t2`.`a1` IS NULL AND NOT `t2`.`answer`
            )
            THEN FALSE
          END
        )
      )
  ) AS g
) AS j
GROUP BY
  `j`.`prediction`
HAVING
  SUM(CASE WHEN `j`.`confirmed` = 1 OR `j`.`refuted` = 1 THEN 1 ELSE 0 END) > 0
