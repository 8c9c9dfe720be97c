-- a double is written as Python writes it, a whole one with all its digits
SELECT __rulescore__double_text("r"."v") AS "v" FROM "t" AS "r"
-- becomes
SELECT
  CASE
    WHEN "r"."v" = FLOOR("r"."v")
    AND ABS("r"."v") < CAST('9.223372036854776e+18' AS DOUBLE PRECISION)
    THEN CAST(CAST("r"."v" AS BIGINT) AS TEXT) COLLATE "C"
    WHEN "r"."v" = FLOOR("r"."v")
    THEN CAST(TRUNC(
      CAST(CAST("r"."v" / POWER(
        CAST('2.0' AS DOUBLE PRECISION),
        (
          CAST(FLOOR(LN(ABS("r"."v")) / LN(CAST('2.0' AS DOUBLE PRECISION))) AS INT) - 55
        )
      ) AS BIGINT) AS DECIMAL) * POWER(
        CAST(2 AS DECIMAL),
        (
          CAST(FLOOR(LN(ABS("r"."v")) / LN(CAST('2.0' AS DOUBLE PRECISION))) AS INT) - 55
        )
      )
    ) AS TEXT) COLLATE "C"
    WHEN ABS("r"."v") >= CAST('1000000000000000.0' AS DOUBLE PRECISION)
    THEN CAST(CAST(CAST("r"."v" AS TEXT) COLLATE "C" AS DECIMAL) AS TEXT) COLLATE "C"
    ELSE CAST("r"."v" AS TEXT) COLLATE "C"
  END AS "v"
FROM "t" AS "r"

-- a decimal is the whole number that it is, or the nearest double
SELECT __rulescore__decimal_text("r"."v") AS "v" FROM "t" AS "r"
-- becomes
SELECT
  CASE
    WHEN "r"."v" = TRUNC("r"."v")
    THEN CAST(TRUNC("r"."v") AS TEXT) COLLATE "C"
    ELSE CASE
      WHEN CAST("r"."v" AS DOUBLE PRECISION) = FLOOR(CAST("r"."v" AS DOUBLE PRECISION))
      AND ABS(CAST("r"."v" AS DOUBLE PRECISION)) < CAST('9.223372036854776e+18' AS DOUBLE PRECISION)
      THEN CAST(CAST(CAST("r"."v" AS DOUBLE PRECISION) AS BIGINT) AS TEXT) COLLATE "C"
      WHEN CAST("r"."v" AS DOUBLE PRECISION) = FLOOR(CAST("r"."v" AS DOUBLE PRECISION))
      THEN CAST(TRUNC(
        CAST(CAST(CAST("r"."v" AS DOUBLE PRECISION) / POWER(
          CAST('2.0' AS DOUBLE PRECISION),
          (
            CAST(FLOOR(LN(ABS(CAST("r"."v" AS DOUBLE PRECISION))) / LN(CAST('2.0' AS DOUBLE PRECISION))) AS INT) - 55
          )
        ) AS BIGINT) AS DECIMAL) * POWER(
          CAST(2 AS DECIMAL),
          (
            CAST(FLOOR(LN(ABS(CAST("r"."v" AS DOUBLE PRECISION))) / LN(CAST('2.0' AS DOUBLE PRECISION))) AS INT) - 55
          )
        )
      ) AS TEXT) COLLATE "C"
      WHEN ABS(CAST("r"."v" AS DOUBLE PRECISION)) >= CAST('1000000000000000.0' AS DOUBLE PRECISION)
      THEN CAST(CAST(CAST(CAST("r"."v" AS DOUBLE PRECISION) AS TEXT) COLLATE "C" AS DECIMAL) AS TEXT) COLLATE "C"
      ELSE CAST(CAST("r"."v" AS DOUBLE PRECISION) AS TEXT) COLLATE "C"
    END
  END AS "v"
FROM "t" AS "r"

-- a timestamp outside the years 1 to 9999 is missing
SELECT __rulescore__microseconds("r"."v") AS "v" FROM "t" AS "r"
-- becomes
SELECT
  CASE
    WHEN (
      EXTRACT(EPOCH FROM "r"."v") * 1000000
    ) BETWEEN (
      -62135596800000000
    ) AND 253402300799999999
    THEN CAST(EXTRACT(EPOCH FROM "r"."v") * 1000000 AS BIGINT)
    ELSE NULL
  END AS "v"
FROM "t" AS "r"

-- functions of other names are left alone
SELECT floor_of("r"."v") AS "v" FROM "t" AS "r"
-- becomes
SELECT
  FLOOR_OF("r"."v") AS "v"
FROM "t" AS "r"
