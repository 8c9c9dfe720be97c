"""Nothing runs on a PostgreSQL server that others have put into schemas which the session searches, and no number depends on it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from urllib.parse import quote

import psycopg
import pyarrow as pa
import pytest

import rulescore
from rulescore.arguments.project import stored_facts
from rulescore.arguments.python import make_setting
from rulescore.engines.base import connect
from rulescore.errors import EngineError, InputError
from rulescore.published.layout import write_published
from rulescore.session.session import Session
from rulescore.setting.model import PublishedFacts
from rulescore.setting.options import EngineOptions
from servers.database import Database
from servers.hostile_schema import Harm, plant

FACTS = {
    "sister": [("ann", "bob"), ("dora", "bob"), ("ann", "dora")],
    "father": [("bob", "carl"), ("bob", "eve"), ("ann", "dora"), ("ÉMILE", "eve")],
    "aunt": [("ann", "carl")],
    "age": [("ann", 50), ("bob", 30), ("carl", 7)],
}
PREDICTIONS = {"first": {"aunt": [("ann", "eve"), ("dora", "carl")]}, "second": {"father": [("ann", "eve")]}}
RULES = """
aunt: aunt(X, Y) <- sister(X, Z), father(Z, Y).
turned: father(X, Y) <- sister(X, Y).
older: A > B + 1 or lower(X) = "ann" <- father(X, Y), age(X, A), age(Y, B).
letters: aunt(X, Y) <- father(X, Y), lower(X) = "émile".
many: count(Z: sister(X, Z)) < 2 <- sister(X, Y), length(X) > 3.
incompatible aunt, father, sister.
"""
COUNTED = rulescore.SqlRule(
    "counted", "SELECT NULL AS prediction, length(a0) = 3 AS confirmed, lower(a0) <> 'ann' AS refuted FROM observed_sister"
)
PATHS = ['"$user",public', "public,pg_catalog", "public,pg_temp,pg_catalog"]


@pytest.fixture(params=list(Harm), ids=lambda harm: harm.name)
def hostile(request: pytest.FixtureRequest, database: Database) -> Database:
    database.run(
        "CREATE SCHEMA kg",
        "CREATE TABLE kg.fact (head text, relation text, tail text)",
        "CREATE TABLE kg.answer (head text, relation text, tail text, model text)",
        "CREATE TABLE kg.sale (id int PRIMARY KEY, zip varchar(9), price numeric(9, 2), sold date, split text)",
        "INSERT INTO kg.sale VALUES (1, 'a', 100, '2020-01-01', 'train'), (2, 'a', 150.5, '2020-02-01', 'train'), "
        "(3, 'b', 90, '2021-01-01', 'train'), (4, 'a', 120, '2022-01-01', 'test')",
    )
    with psycopg.connect(database.address) as connection, connection.cursor() as cursor:
        facts = [(x, p, str(y)) for p, rows in FACTS.items() for x, y in rows if p != "age"]
        cursor.executemany("INSERT INTO kg.fact VALUES (%s, %s, %s)", facts)
        answers = [(x, p, y, m) for m, found in PREDICTIONS.items() for p, rows in found.items() for x, y in rows]
        cursor.executemany("INSERT INTO kg.answer VALUES (%s, %s, %s, %s)", answers)
    plant(database, request.param)
    return database


def addresses(database: Database, path: str) -> list[str]:
    """Of a superuser and of a reader who search a path."""
    given = f"&options={quote(f'-c search_path={path}')}"
    return [database.address + given, database.reader + given]


def results(found: rulescore.Result) -> list[object]:
    return [*found.rule_results, *found.model_results]


def answered(address: str, call: str) -> object:
    """What a call answers in a session that searches as the role does; the words of the error that it raises."""
    with psycopg.connect(address) as connection:
        try:
            return connection.execute(f"SELECT {call}".encode()).fetchall()[0][0]
        except psycopg.errors.RaiseException as error:
            return error.diag.message_primary


def test_what_is_planted_would_be_found(hostile: Database) -> None:
    """Else the tests below show nothing."""
    assert hostile.number("SELECT count(*)::int FROM pg_proc WHERE pronamespace = 'public'::regnamespace") > 2000
    assert hostile.number("SELECT count(*)::int FROM pg_operator WHERE oprnamespace = 'public'::regnamespace") > 600
    everything, default = addresses(hostile, "public,pg_catalog")[1], hostile.reader
    calls = ("length('a'::pg_catalog.text)", "'a'::pg_catalog.text = 'a'", "count(*)", "set_config('jit', 'off', false)")
    for address, call in [*((everything, call) for call in calls), (default, "concat_ws('-', 'a'::text, 'b'::text)")]:
        assert answered(address, call) in (None, "a function of somebody else ran")


@pytest.mark.parametrize("path", PATHS)
def test_numbers_are_the_same(hostile: Database, path: str) -> None:
    wanted = rulescore.score(FACTS, PREDICTIONS, RULES, sql_rules=[COUNTED])
    for address in addresses(hostile, path):
        assert results(rulescore.score(FACTS, PREDICTIONS, RULES, sql_rules=[COUNTED], engine=address)) == results(wanted)


def test_the_path_of_a_role_is_no_other(hostile: Database) -> None:
    hostile.run(f"ALTER ROLE {hostile.role} SET search_path = public, pg_catalog")
    wanted = rulescore.score(FACTS, PREDICTIONS, RULES, sql_rules=[COUNTED])
    assert results(rulescore.score(FACTS, PREDICTIONS, RULES, sql_rules=[COUNTED], engine=hostile.reader)) == results(wanted)


@pytest.mark.parametrize("path", ["public,pg_catalog,kg", "kg,public,pg_catalog"])
def test_tables_are_read_in_place_under_the_names_that_the_path_gives_them(hostile: Database, path: str) -> None:
    facts = {name: rows for name, rows in FACTS.items() if name != "age"}
    rules = 'aunt: aunt(X, Y) <- sister(X, Z), father(Z, Y), lower(X) != "x".\nincompatible aunt, father, sister.'
    wanted = rulescore.score(facts, PREDICTIONS, rules)
    for address in addresses(hostile, path):
        answers = {model: stored_facts("answer", model=model) for model in PREDICTIONS}
        assert results(rulescore.score(stored_facts("fact"), answers, rules, engine=address)) == results(wanted)


def test_tables_with_keys_are_read_in_place(hostile: Database) -> None:
    rules = """
    near: abs(P - Q) < 60 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B.
    later: D < 2022-06-01 <- sale(id: A, sold: D), upper(Z) = "A", sale(id: A, zip: Z).
    """

    def scored(address: str) -> list[object]:
        table = rulescore.Table(table="kg.sale", key="id", target="price", hidden={"column": "split", "values": ["test"]})
        return results(rulescore.score(None, {"m": {"sale": {4: 155.0}}}, rules, tables={"sale": table}, engine=address))

    rows = pa.table(
        {
            "id": [1, 2, 3, 4],
            "zip": ["a", "a", "b", "a"],
            "price": [100.0, 150.5, 90.0, 120.0],
            "sold": [date(2020, 1, 1), date(2020, 2, 1), date(2021, 1, 1), date(2022, 1, 1)],
            "split": ["train", "train", "train", "test"],
        }
    )
    table = rulescore.Table(rows=rows, key="id", target="price", hidden={"column": "split", "values": ["test"]})
    wanted = results(rulescore.score(None, {"m": {"sale": {4: 155.0}}}, rules, tables={"sale": table}))
    for address in addresses(hostile, "public,pg_catalog"):
        assert scored(address) == wanted


def test_what_is_loaded_and_read_back_is_the_same(hostile: Database) -> None:
    """As a superuser, whose rights others would most like to have."""
    wanted = rulescore.score(FACTS, PREDICTIONS, RULES)
    owner, reader = addresses(hostile, "public,pg_catalog")
    for again in (False, True):
        engine = connect(EngineOptions(url=owner))
        try:
            write_published(engine, make_setting(FACTS, PREDICTIONS, []), "published", replace=again)
        finally:
            engine.close()
    for address in (owner, reader):
        assert results(rulescore.score(PublishedFacts("published"), None, RULES, engine=address)) == results(wanted)
    with Session(make_setting(PublishedFacts("published"), None, RULES, engine=reader)) as session:
        queries = session.published_statements("aunt", "published")
    with psycopg.connect(reader) as connection:
        connection.execute("SET search_path = pg_catalog")
        counts = {(query.model, query.confirms): connection.execute(text.encode()).fetchall()[0][0] for query, text in queries}
    assert counts[None, True] == 1


def test_listing_and_explaining_run_nothing_of_others_either(hostile: Database) -> None:
    def listed(session: Session) -> list[object]:
        models = (None, *PREDICTIONS)
        return [session.violations(rule=None, model=model, prediction=None, limit=50).total for model in models]

    with Session(make_setting(FACTS, PREDICTIONS, RULES, sql_rules=[COUNTED])) as session:
        wanted = listed(session), session.incompatibilities()
    for address in addresses(hostile, "public,pg_catalog"):
        with Session(make_setting(FACTS, PREDICTIONS, RULES, sql_rules=[COUNTED], engine=address, timeout=60)) as session:
            assert all(session.plan_of(session.statement(rule.name)) for rule in session.rules)
            assert session.explain()
            assert (listed(session), session.incompatibilities()) == wanted


def test_a_type_that_only_has_the_name_of_a_plain_one_is_refused(database: Database) -> None:
    database.run(
        "CREATE TYPE public.int8 AS (a text, b text)",
        "CREATE TABLE t (head text, relation text, tail public.int8)",
        "INSERT INTO t VALUES ('a', 'p', ROW('b', 'c')::public.int8)",
    )
    with pytest.raises(InputError, match="is of type int8"):
        rulescore.audit(stored_facts("t"), "p(X, Y) <- p(Y, X).", engine=database.reader)


def test_rules_in_sql_name_tables_of_the_database_with_their_schema(database: Database) -> None:
    database.run("CREATE TABLE public.known (who text)", "INSERT INTO known VALUES ('ann')")
    statement = "SELECT NULL AS prediction, a0 IN (SELECT who FROM {}) AS confirmed, false AS refuted FROM observed_sister"

    def confirmed(table: str) -> int:
        rule = rulescore.SqlRule("known", statement.format(table))
        return rulescore.audit(FACTS, "", sql_rules=[rule], engine=database.reader).rule_results[0].dataset.confirmed

    assert confirmed("public.known") == 2
    with pytest.raises(InputError, match="E293") as error:
        confirmed("known")
    assert "a table of the database itself is named with its schema: `public.sale`" in error.value.problems[0].helps


@pytest.fixture
def cast(database: Database) -> Database:
    """Tables of an enumeration that a function of somebody else turns into text, plain and behind a domain."""
    database.run(
        "CREATE TYPE public.kind AS ENUM ('a', 'b')",
        "CREATE FUNCTION public.lie(public.kind) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'the cast ran'; END$$",
        "CREATE CAST (public.kind AS text) WITH FUNCTION public.lie(public.kind) AS IMPLICIT",
        "CREATE DOMAIN public.wrapped AS public.kind",
        "CREATE TYPE public.pair AS (a text, b text)",
        "CREATE FUNCTION public.lie(public.pair) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'the cast ran'; END$$",
        "CREATE CAST (public.pair AS text) WITH FUNCTION public.lie(public.pair)",
    )
    for name, kind, value in (("plain", "kind", "'a'"), ("domain", "wrapped", "'a'"), ("fields", "pair", "ROW('a', 'b')")):
        database.run(
            f"CREATE SCHEMA published_{name}",
            f"CREATE TABLE published_{name}.p (subject text, object text, tag public.{kind}, model text)",
            f"INSERT INTO published_{name}.p VALUES ('x', 'y', {value}, 'm')",
            f"CREATE TABLE {name} (head text, relation text, tail public.{kind})",
            f"INSERT INTO {name} VALUES ('x', 'p', {value})",
            f"CREATE TABLE {name}_model (head text, relation text, tail text, model public.{kind})",
            f"INSERT INTO {name}_model VALUES ('x', 'p', 'y', {value})",
            f"CREATE TABLE {name}_sale (id int PRIMARY KEY, price float8, kind public.{kind})",
            f"INSERT INTO {name}_sale VALUES (1, 2.5, {value})",
        )
    return database


@pytest.mark.parametrize("name", ["plain", "domain", "fields"])
def test_casts_of_others_are_never_run(cast: Database, name: str) -> None:
    """A column that somebody else's function would turn into text is refused wherever it is read: their type, their cast."""
    rules = "p(X, Y) <- p(Y, X)."
    sale = {"sale": rulescore.Table(table=f"public.{name}_sale", key="id")}
    turned = stored_facts(name, columns={"relation": "tail", "head": "head", "tail": "relation"})
    answers = {"a": stored_facts(f"{name}_model", model="a")}
    reads: dict[str, Callable[[str], object]] = {
        "argument": lambda engine: rulescore.audit(stored_facts(name), rules, engine=engine),
        "relation": lambda engine: rulescore.audit(turned, rules, engine=engine),
        "model": lambda engine: rulescore.score({"p": [("x", "y")]}, answers, rules, engine=engine),
        "column": lambda engine: rulescore.audit(None, 'K != "c" <- sale(id: A, kind: K).', tables=sale, engine=engine),
        "tag": lambda engine: rulescore.audit(PublishedFacts(f"published_{name}"), rules, engine=engine),
    }
    for address in (cast.address, cast.reader):
        assert {what: refusal(read, address) for what, read in reads.items()} == dict.fromkeys(reads, "E321")
        # What is not read does no harm.
        assert rulescore.audit(None, "P > 0 <- sale(id: A, price: P).", tables=sale, engine=address).rule_results


def refusal(read: Callable[[str], object], address: str) -> str | None:
    """The code of the problem, if there is one."""
    try:
        read(address)
    except InputError as error:
        (problem,) = error.problems
        return problem.code
    return None


WRITES = {
    "insert": "public.writes()",
    "sequence": "nextval('public.counted') > 0",
    "read_write": "set_config('transaction_read_only', 'off', false) = 'off'",
}


@pytest.mark.parametrize("view", ["observed_sister", "predicted_aunt"])
@pytest.mark.parametrize("condition", WRITES.values(), ids=WRITES)
def test_rules_in_sql_write_nothing(database: Database, condition: str, view: str) -> None:
    """Over predictions as over the data, as a role that may write."""
    database.run(
        "CREATE TABLE public.log (word text)",
        "CREATE SEQUENCE public.counted",
        "CREATE FUNCTION public.writes() RETURNS boolean LANGUAGE plpgsql AS "
        "$$BEGIN INSERT INTO public.log VALUES ('written'); RETURN true; END$$",
    )
    number = "prediction" if view == "predicted_aunt" else "NULL"
    rule = rulescore.SqlRule("writes", f"SELECT {number} AS prediction, {condition} AS confirmed, false AS refuted FROM {view}")
    with pytest.raises(EngineError, match=r"read-only|read-write"):
        rulescore.score(FACTS, PREDICTIONS, "", sql_rules=[rule], engine=database.address)
    assert database.rows("SELECT is_called FROM public.counted") == [(False,)]


@pytest.mark.parametrize("view", ["observed_sister", "predicted_aunt"])
def test_what_a_rule_in_sql_sets_lasts_no_longer_than_its_statement(hostile: Database, view: str) -> None:
    number = "prediction" if view == "predicted_aunt" else "NULL"
    text = f"SELECT {number} AS prediction, {{}} IS NOT NULL AS confirmed, false AS refuted FROM {view}"
    first = rulescore.SqlRule("first", text.format("set_config('search_path', 'public, pg_catalog, pg_temp', false)"))
    harmless = rulescore.SqlRule("first", text.format("1"))
    wanted = rulescore.score(FACTS, PREDICTIONS, RULES, sql_rules=[harmless, COUNTED], engine=hostile.address)
    found = rulescore.score(FACTS, PREDICTIONS, RULES, sql_rules=[first, COUNTED], engine=hostile.address)
    assert [one.dataset for one in found.rule_results] == [one.dataset for one in wanted.rule_results]
    assert found.model_results == wanted.model_results
