-- A list in order is made first and sorted then.
SELECT ARRAY_AGG("f"."literal" ORDER BY "f"."literal") FROM "f"
-- becomes
SELECT
  LIST_SORT(ARRAY_AGG("f"."literal"))
FROM "f"

-- Any other list stays as it is.
SELECT ARRAY_AGG("f"."literal") FROM "f"
-- becomes
SELECT
  ARRAY_AGG("f"."literal")
FROM "f"
