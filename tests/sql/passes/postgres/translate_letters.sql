-- letter by letter, if there are any but those of ASCII
SELECT LOWER("r"."v") AS "low", UPPER("r"."v" || 'ß') AS "high" FROM "t" AS "r"
-- becomes
SELECT
  (
    (
      (
        SELECT
          CASE
            WHEN OCTET_LENGTH("d"."x") = CHAR_LENGTH("d"."x")
            THEN LOWER("d"."x" COLLATE "C")
            ELSE TRANSLATE("d"."x", 'ABCDEFGH…', 'abcdefgh…')
          END
        FROM (
          SELECT
            "r"."v" AS "x"
          OFFSET 0
        ) AS d
      )
    ) COLLATE "C"
  ) AS "low",
  (
    (
      (
        SELECT
          CASE
            WHEN OCTET_LENGTH("d"."x") = CHAR_LENGTH("d"."x")
            THEN UPPER("d"."x" COLLATE "C")
            ELSE TRANSLATE("d"."x", 'abcdefgh…', 'ABCDEFGH…')
          END
        FROM (
          SELECT
            "r"."v" || 'ß' AS "x"
          OFFSET 0
        ) AS d
      )
    ) COLLATE "C"
  ) AS "high"
FROM "t" AS "r"
