"""What somebody else can put into a schema that others search: a function, an operator, a type under the name of every one that the
server has, so that whatever is looked up there is found there."""

from __future__ import annotations

from enum import StrEnum

from servers.database import Database


class Harm(StrEnum):
    """What those functions do if they run."""

    FAIL = "RAISE EXCEPTION 'a function of somebody else ran';"
    LIE = "RETURN NULL;"


# What takes or gives types that only the server's own functions may have is left out.
_FUNCTIONS = """
DO LANGUAGE plpgsql $do$
DECLARE one record;
BEGIN
    FOR one IN
        SELECT p.proname AS name, pg_get_function_identity_arguments(p.oid) AS taken, pg_get_function_result(p.oid) AS given
        FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
    LOOP
        BEGIN
            EXECUTE format($f$CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS $b$BEGIN {harm} END$b$$f$,
                           one.name, one.taken, one.given);
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
    END LOOP;
    FOR one IN
        SELECT o.oprname AS name, o.oprleft::regtype::text AS l, o.oprright::regtype::text AS r, p.proname AS run
        FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
        WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b'
    LOOP
        BEGIN
            EXECUTE format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.%I)',
                           one.name, one.l, one.r, one.run);
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
    END LOOP;
END $do$
"""

# The server's own take any number of arguments, or any type: these fit better, and are found behind `pg_catalog`, too.
_BETTER = ("concat_ws(text, text, text)", "concat_ws(text, text)", "concat(text, text)", "format(text, text)")

_AGGREGATED = ("integer", "bigint", "numeric", "double precision", "text", "boolean", "date")
_AGGREGATES = ("count", "sum", "min", "max", "avg", "bool_or", "bool_and", "array_agg", "every")

# Names of types that are looked up, as opposed to words of the language.
_TYPES = ("text", "date", "uuid", "int4", "int8", "float8", "bool", "name", "oid")

# Tables of the server's names, and of names that this package gives to its own.
_TABLES = ("pg_class", "pg_namespace", "pg_settings", "__rulescore__raw_observed_2", "__rulescore__answer", "__rulescore__fact_2")


def plant(database: Database, harm: Harm) -> None:
    """Fill the schema `public`, which everybody searches by default."""
    better = [f"CREATE FUNCTION public.{one} RETURNS text LANGUAGE plpgsql AS $$BEGIN {harm} END$$" for one in _BETTER]
    database.run(
        _FUNCTIONS.replace("{harm}", harm),
        *better,
        *(statement for kind in ("", *_AGGREGATED) for statement in _aggregates(kind, harm)),
        *(f"CREATE TABLE public.{name} (predicate text, a0 text, a1 text)" for name in _TABLES),
        *(f"CREATE DOMAIN public.{name} AS pg_catalog.{name} CHECK (VALUE IS NULL)" for name in _TYPES),
        # These know no letters but those of English.
        *(f'CREATE COLLATION public."{name}" (PROVIDER = libc, LOCALE = "C")' for name in ("pg_c_utf8", "und-x-icu")),
    )


def _aggregates(kind: str, harm: Harm) -> list[str]:
    """Aggregates of one argument of a type, or of none."""
    taken, name = (f", {kind}", kind) if kind else ("", "*")
    step = f"CREATE FUNCTION public.step(int{taken}) RETURNS int LANGUAGE plpgsql AS $$BEGIN {harm} END$$"
    made = (f"CREATE AGGREGATE public.{one}({name}) (SFUNC = public.step, STYPE = int)" for one in _AGGREGATES)
    return [step, *(made if kind else [next(made)])]
