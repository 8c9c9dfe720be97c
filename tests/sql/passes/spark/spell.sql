-- whole numbers as doubles
SELECT FLOOR("r"."v") AS "floor", call('CEIL', "r"."v") AS "ceil", call('TRUNC', "r"."v") AS "trunc" FROM "t" AS "r"
-- becomes
SELECT
  (
    RINT(`r`.`v`) - CASE
      WHEN RINT(`r`.`v`) > (
        `r`.`v`
      )
      THEN CAST(1 AS DOUBLE)
      ELSE CAST(0 AS DOUBLE)
    END
  ) AS `floor`,
  -(
    (
      RINT(-(
        `r`.`v`
      )) - CASE
        WHEN RINT(-(
          `r`.`v`
        )) > (
          -(
            `r`.`v`
          )
        )
        THEN CAST(1 AS DOUBLE)
        ELSE CAST(0 AS DOUBLE)
      END
    )
  ) AS `ceil`,
  SIGN(`r`.`v`) * (
    RINT(ABS(`r`.`v`)) - CASE
      WHEN RINT(ABS(`r`.`v`)) > (
        ABS(`r`.`v`)
      )
      THEN CAST(1 AS DOUBLE)
      ELSE CAST(0 AS DOUBLE)
    END
  ) AS `trunc`
FROM `t` AS `r`

-- the days between two dates, and a date some days later
SELECT typed('int', "r"."to" - "r"."from") AS "days", typed('date', "r"."from" + CAST(7 AS INT)) AS "later" FROM "t" AS "r"
-- becomes
SELECT
  (
    CAST(UNIX_DATE(`r`.`to`) AS BIGINT) - CAST(UNIX_DATE(`r`.`from`) AS BIGINT)
  ) AS `days`,
  DATE_FROM_UNIX_DATE(
    CAST(CAST(UNIX_DATE(`r`.`from`) AS BIGINT) + CAST(CAST(7 AS INT) AS BIGINT) AS INT)
  ) AS `later`
FROM `t` AS `r`

-- other differences remain as they are
SELECT "r"."n" - 1 AS "n" FROM "t" AS "r"
-- becomes
SELECT
  `r`.`n` - 1 AS `n`
FROM `t` AS `r`

-- a timestamp without a zone by its parts, and one with a zone
SELECT __rulescore__microseconds("r"."v") AS "clock", __rulescore__microseconds(typed('timestamptz', "r"."w")) AS "instant" FROM "t" AS "r"
-- becomes
SELECT
  CASE
    WHEN (
      CAST(UNIX_DATE(CAST(`r`.`v` AS DATE)) AS BIGINT) * 86400000000 + CAST(CAST(EXTRACT(HOUR FROM `r`.`v`) AS DECIMAL(8, 6)) * 3600000000 AS BIGINT) + CAST(CAST(EXTRACT(MINUTE FROM `r`.`v`) AS DECIMAL(8, 6)) * 60000000 AS BIGINT) + CAST(CAST(EXTRACT(SECOND FROM `r`.`v`) AS DECIMAL(8, 6)) * 1000000 AS BIGINT)
    ) BETWEEN (
      -62135596800000000
    ) AND 253402300799999999
    THEN CAST(UNIX_DATE(CAST(`r`.`v` AS DATE)) AS BIGINT) * 86400000000 + CAST(CAST(EXTRACT(HOUR FROM `r`.`v`) AS DECIMAL(8, 6)) * 3600000000 AS BIGINT) + CAST(CAST(EXTRACT(MINUTE FROM `r`.`v`) AS DECIMAL(8, 6)) * 60000000 AS BIGINT) + CAST(CAST(EXTRACT(SECOND FROM `r`.`v`) AS DECIMAL(8, 6)) * 1000000 AS BIGINT)
  END AS `clock`,
  CASE
    WHEN (
      UNIX_MICROS(`r`.`w`)
    ) BETWEEN (
      -62135596800000000
    ) AND 253402300799999999
    THEN UNIX_MICROS(`r`.`w`)
  END AS `instant`
FROM `t` AS `r`

-- a double is written as Python writes it
SELECT __rulescore__double_text("r"."v") AS "v" FROM "t" AS "r"
-- becomes
SELECT
  CASE
    WHEN `r`.`v` = RINT(`r`.`v`)
    AND ABS(`r`.`v`) < CAST('9.223372036854776e+18' AS DOUBLE)
    THEN CAST(CAST(`r`.`v` AS BIGINT) AS STRING)
    WHEN `r`.`v` = RINT(`r`.`v`)
    THEN REFLECT(
      'org.apache.commons.lang3.math.NumberUtils',
      'createBigInteger',
      CONCAT(
        CASE WHEN `r`.`v` < 0 THEN '-0x' ELSE '0x' END,
        HEX(
          CAST(ABS(`r`.`v`) / POWER(CAST('16.0' AS DOUBLE), CAST((
            LOG2(ABS(`r`.`v`)) - 55
          ) / 4 AS INT)) AS BIGINT)
        ),
        REPEAT('0', CAST((
          LOG2(ABS(`r`.`v`)) - 55
        ) / 4 AS INT))
      )
    )
    WHEN ABS(`r`.`v`) >= CAST('0.0001' AS DOUBLE)
    THEN TRIM(TRAILING '0' FROM CAST(CAST(REFLECT('com.fasterxml.jackson.core.io.NumberOutput', 'toString', `r`.`v`, TRUE) AS DECIMAL(38, 22)) AS STRING))
    WHEN ABS(`r`.`v`) < CAST('1e-300' AS DOUBLE)
    AND CAST(FORMAT_STRING('%.0e', `r`.`v`) AS DOUBLE) = `r`.`v`
    THEN FORMAT_STRING('%.0e', `r`.`v`)
    ELSE REGEXP_REPLACE(
      LOWER(
        REPLACE(
          REFLECT('com.fasterxml.jackson.core.io.NumberOutput', 'toString', `r`.`v`, TRUE),
          '.0E',
          'E'
        )
      ),
      'e-([0-9])$',
      'e-0$1'
    )
  END AS `v`
FROM `t` AS `r`

-- a decimal is the whole number that it is, or the nearest double
SELECT __rulescore__decimal_text("r"."v") AS "v" FROM "t" AS "r"
-- becomes
SELECT
  CASE
    WHEN RLIKE(CAST(`r`.`v` AS STRING), '^-?[0-9]+([.]0*)?$')
    THEN REGEXP_REPLACE(CAST(`r`.`v` AS STRING), '[.]0*$', '')
    ELSE CASE
      WHEN CAST(CAST(`r`.`v` AS STRING) AS DOUBLE) = RINT(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE))
      AND ABS(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE)) < CAST('9.223372036854776e+18' AS DOUBLE)
      THEN CAST(CAST(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE) AS BIGINT) AS STRING)
      WHEN CAST(CAST(`r`.`v` AS STRING) AS DOUBLE) = RINT(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE))
      THEN REFLECT(
        'org.apache.commons.lang3.math.NumberUtils',
        'createBigInteger',
        CONCAT(
          CASE WHEN CAST(CAST(`r`.`v` AS STRING) AS DOUBLE) < 0 THEN '-0x' ELSE '0x' END,
          HEX(
            CAST(ABS(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE)) / POWER(
              CAST('16.0' AS DOUBLE),
              CAST((
                LOG2(ABS(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE))) - 55
              ) / 4 AS INT)
            ) AS BIGINT)
          ),
          REPEAT(
            '0',
            CAST((
              LOG2(ABS(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE))) - 55
            ) / 4 AS INT)
          )
        )
      )
      WHEN ABS(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE)) >= CAST('0.0001' AS DOUBLE)
      THEN TRIM(TRAILING '0' FROM CAST(CAST(REFLECT(
        'com.fasterxml.jackson.core.io.NumberOutput',
        'toString',
        CAST(CAST(`r`.`v` AS STRING) AS DOUBLE),
        TRUE
      ) AS DECIMAL(38, 22)) AS STRING))
      WHEN ABS(CAST(CAST(`r`.`v` AS STRING) AS DOUBLE)) < CAST('1e-300' AS DOUBLE)
      AND CAST(FORMAT_STRING('%.0e', CAST(CAST(`r`.`v` AS STRING) AS DOUBLE)) AS DOUBLE) = CAST(CAST(`r`.`v` AS STRING) AS DOUBLE)
      THEN FORMAT_STRING('%.0e', CAST(CAST(`r`.`v` AS STRING) AS DOUBLE))
      ELSE REGEXP_REPLACE(
        LOWER(
          REPLACE(
            REFLECT(
              'com.fasterxml.jackson.core.io.NumberOutput',
              'toString',
              CAST(CAST(`r`.`v` AS STRING) AS DOUBLE),
              TRUE
            ),
            '.0E',
            'E'
          )
        ),
        'e-([0-9])$',
        'e-0$1'
      )
    END
  END AS `v`
FROM `t` AS `r`

-- letters, casts that may fail, and collations
SELECT LOWER("r"."v") AS "low", TRY_CAST("r"."v" AS BIGINT) AS "n", "r"."v" COLLATE "C" AS "c" FROM "t" AS "r"
-- becomes
SELECT
  CASE
    WHEN OCTET_LENGTH(`r`.`v`) = CHAR_LENGTH(`r`.`v`)
    THEN LOWER(`r`.`v`)
    ELSE TRANSLATE(`r`.`v`, 'ABCDEFGH…', 'abcdefgh…')
  END AS `low`,
  TRY_CAST(`r`.`v` AS BIGINT) AS `n`,
  `r`.`v` AS `c`
FROM `t` AS `r`

-- a list in the order of its values, and its values as rows
SELECT ARRAY_AGG("r"."v" ORDER BY "r"."v") AS "all" FROM "t" AS "r"
-- becomes
SELECT
  SORT_ARRAY(COLLECT_LIST(`r`.`v`)) AS `all`
FROM `t` AS `r`
