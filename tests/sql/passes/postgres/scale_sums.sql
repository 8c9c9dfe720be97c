-- sums of doubles are added up in a smaller scale
SELECT typed('double', SUM("r"."v")) AS "v", SUM("r"."n") AS "n" FROM "t" AS "r"
-- becomes
SELECT
  (
    CASE
      WHEN ABS(SUM("r"."v" * CAST('5.421010862427522e-20' AS DOUBLE PRECISION))) < CAST('9.7453140114e+288' AS DOUBLE PRECISION)
      THEN SUM("r"."v" * CAST('5.421010862427522e-20' AS DOUBLE PRECISION)) * CAST('1.8446744073709552e+19' AS DOUBLE PRECISION)
    END
  ) AS "v",
  SUM("r"."n") AS "n"
FROM "t" AS "r"
