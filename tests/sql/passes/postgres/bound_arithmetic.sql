-- sums leave the range only between two very large numbers
SELECT typed('double', "r"."v" + "r"."w") AS "v" FROM "t" AS "r"
-- becomes
SELECT
  (
    SELECT
      CASE
        WHEN LEAST(ABS("d"."x"), ABS("d"."y")) > CAST('1e+200' AS DOUBLE PRECISION)
        AND GREATEST(ABS("d"."x"), ABS("d"."y")) < CAST('Infinity' AS DOUBLE PRECISION)
        THEN CASE
          WHEN ABS(
            "d"."x" / CAST('4.0' AS DOUBLE PRECISION) + "d"."y" / CAST('4.0' AS DOUBLE PRECISION)
          ) >= CAST('4.49423283715579e+307' AS DOUBLE PRECISION)
          THEN SIGN("d"."x") * CAST('Infinity' AS DOUBLE PRECISION)
          ELSE "d"."x" + "d"."y"
        END
        ELSE "d"."x" + "d"."y"
      END
    FROM (
      SELECT
        "r"."v" AS "x",
        "r"."w" AS "y"
      OFFSET 0
    ) AS d
  ) AS "v"
FROM "t" AS "r"

-- products and quotients do when the logarithms of their sides add up to its ends
SELECT typed('double', "r"."v" * "r"."w") AS "v" FROM "t" AS "r"
-- becomes
SELECT
  (
    SELECT
      CASE
        WHEN "d"."x" = 0
        OR ABS("d"."x") >= CAST('Infinity' AS DOUBLE PRECISION)
        OR "d"."y" = 0
        OR ABS("d"."y") >= CAST('Infinity' AS DOUBLE PRECISION)
        THEN "d"."x" * "d"."y"
        ELSE CASE
          WHEN LN(ABS("d"."x")) + LN(ABS("d"."y")) > CAST('709.7827128' AS DOUBLE PRECISION)
          THEN SIGN("d"."x") * SIGN("d"."y") * CAST('Infinity' AS DOUBLE PRECISION)
          WHEN LN(ABS("d"."x")) + LN(ABS("d"."y")) < CAST('-745.1332191' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          ELSE "d"."x" * "d"."y"
        END
      END
    FROM (
      SELECT
        "r"."v" AS "x",
        "r"."w" AS "y"
      OFFSET 0
    ) AS d
  ) AS "v"
FROM "t" AS "r"

-- so do powers and the exponential function, which are always of doubles
SELECT POWER("r"."v", 2) AS "p", EXP("r"."v") AS "e" FROM "t" AS "r"
-- becomes
SELECT
  (
    SELECT
      CASE
        WHEN "d"."x" = 0
        OR ABS("d"."x") >= CAST('Infinity' AS DOUBLE PRECISION)
        OR "d"."y" = 0
        OR ABS("d"."y") >= CAST('Infinity' AS DOUBLE PRECISION)
        OR ABS("d"."x") = 1
        THEN POWER("d"."x", "d"."y")
        WHEN ABS("d"."y") > CAST('1e+20' AS DOUBLE PRECISION)
        THEN CASE
          WHEN (
            ABS("d"."x") > CAST('1.0' AS DOUBLE PRECISION)
          ) = (
            "d"."y" > 0
          )
          THEN CASE
            WHEN "d"."x" < 0
            AND FLOOR("d"."y" / CAST('2.0' AS DOUBLE PRECISION)) <> "d"."y" / CAST('2.0' AS DOUBLE PRECISION)
            THEN -CAST('Infinity' AS DOUBLE PRECISION)
            ELSE CAST('Infinity' AS DOUBLE PRECISION)
          END
          ELSE CAST('0.0' AS DOUBLE PRECISION)
        END
        ELSE CASE
          WHEN LN(ABS("d"."x")) * "d"."y" > CAST('709.7827128' AS DOUBLE PRECISION)
          THEN CASE
            WHEN "d"."x" < 0
            AND FLOOR("d"."y" / CAST('2.0' AS DOUBLE PRECISION)) <> "d"."y" / CAST('2.0' AS DOUBLE PRECISION)
            THEN -CAST('Infinity' AS DOUBLE PRECISION)
            ELSE CAST('Infinity' AS DOUBLE PRECISION)
          END
          WHEN LN(ABS("d"."x")) * "d"."y" < CAST('-745.1332191' AS DOUBLE PRECISION)
          THEN CAST('0.0' AS DOUBLE PRECISION)
          ELSE POWER("d"."x", "d"."y")
        END
      END
    FROM (
      SELECT
        "r"."v" AS "x",
        2 AS "y"
      OFFSET 0
    ) AS d
  ) AS "p",
  (
    SELECT
      CASE
        WHEN "d"."x" > CAST('709.7827128' AS DOUBLE PRECISION)
        THEN CAST('Infinity' AS DOUBLE PRECISION)
        WHEN "d"."x" < CAST('-745.1332191' AS DOUBLE PRECISION)
        THEN CAST('0.0' AS DOUBLE PRECISION)
        ELSE EXP("d"."x")
      END
    FROM (
      SELECT
        "r"."v" AS "x"
      OFFSET 0
    ) AS d
  ) AS "e"
FROM "t" AS "r"

-- arithmetic of whole numbers is none of it
SELECT "r"."n" + 1 AS "n" FROM "t" AS "r"
-- becomes
SELECT
  "r"."n" + 1 AS "n"
FROM "t" AS "r"
