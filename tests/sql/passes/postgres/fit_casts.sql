-- whether a number fits is asked before it is cast
SELECT TRY_CAST("r"."v" * 2 AS BIGINT) AS "v" FROM "t" AS "r"
-- becomes
SELECT
  (
    SELECT
      CASE
        WHEN "d"."x" >= -9223372036854775808 AND "d"."x" < 9223372036854775808
        THEN CAST("d"."x" AS BIGINT)
      END
    FROM (
      SELECT
        "r"."v" * 2 AS "x"
      OFFSET 0
    ) AS d
  ) AS "v"
FROM "t" AS "r"

-- other casts are plain ones
SELECT TRY_CAST("r"."v" AS DATE) AS "v" FROM "t" AS "r"
-- becomes
SELECT
  CAST("r"."v" AS DATE) AS "v"
FROM "t" AS "r"

-- one within the other
SELECT TRY_CAST(TRY_CAST("r"."v" AS DOUBLE) AS BIGINT) AS "v" FROM "t" AS "r"
-- becomes
SELECT
  (
    SELECT
      CASE
        WHEN "d"."x" >= -9223372036854775808 AND "d"."x" < 9223372036854775808
        THEN CAST("d"."x" AS BIGINT)
      END
    FROM (
      SELECT
        CAST("r"."v" AS DOUBLE PRECISION) AS "x"
      OFFSET 0
    ) AS d
  ) AS "v"
FROM "t" AS "r"
