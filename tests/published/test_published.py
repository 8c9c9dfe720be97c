"""The published layout: what `rulescore load` writes, and the published queries that run on it."""

from __future__ import annotations

import datetime
import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import psycopg
import pytest

import rulescore
from kinship import make_kinship, make_predictions
from rulescore.arguments.project import stored_facts
from rulescore.arguments.python import make_setting
from rulescore.engines.base import connect
from rulescore.errors import EngineError, InputError
from rulescore.published.layout import WrittenSchema, write_published
from rulescore.published.statements import MOST_BYTES, table_names
from rulescore.scoring.results import Counts
from rulescore.session.session import Session
from rulescore.setting.model import PublishedFacts, Setting
from rulescore.setting.options import EngineOptions
from servers.database import Database
from servers.postgres import Server
from servers.relay import relayed
from shared_data import shared
from test_family import PREDICATES, RATES, chosen_rules, rule

Facts = Mapping[str, list[tuple[Any, ...]]]


def load(database: Database, setting: Setting, schema: str = "rulescore", *, again: bool = False) -> WrittenSchema:
    engine = connect(EngineOptions(database.address))
    try:
        return write_published(engine, setting, schema, replace=again)
    finally:
        engine.close()


def published_counts(database: Database, session: Session) -> dict[tuple[str, str | None], Counts]:
    """Confirmed and refuted groundings of every rule over the data and under every model: the sums of the published queries."""
    found: defaultdict[tuple[str, str | None], list[int]] = defaultdict(lambda: [0, 0])
    with psycopg.connect(database.reader) as connection:
        for info in session.rules:
            for query, statement in session.published_statements(info.name, "rulescore"):
                ((count,),) = connection.execute(statement.encode()).fetchall()
                found[info.name, query.model][not query.confirms] += count
    return {where: Counts(confirmed, refuted, confirmed + refuted) for where, (confirmed, refuted) in found.items()}


def appendix_counts(setting: Setting) -> dict[tuple[str, str | None], Counts]:
    with Session(setting) as session:
        results = session.evaluate().rule_results
    return {(one.info.name, None): one.dataset for one in results} | {
        (one.info.name, model): result.counts for one in results for model, result in one.models.items()
    }


def assert_agree(database: Database, setting: Setting) -> dict[tuple[str, str | None], Counts]:
    """The published queries give the counts of the appendix, with zeros where they have no table to ask."""
    load(database, setting, again=True)
    wanted = appendix_counts(setting)
    with Session(setting) as session:
        found = published_counts(database, session)
    assert {where: found.get(where, Counts(0, 0, 0)) for where in wanted} == wanted
    return wanted


def appendix(facts: Any, predictions: Any, rules: str) -> Setting:
    return make_setting(facts, predictions, [rules], convention="appendix")


def test_the_published_queries_count_every_family_rule_as_the_appendix_does(database: Database) -> None:
    rules = chosen_rules()
    predictions = {"compgcn": shared("predictions/family-compgcn.tsv.gz"), "transe": shared("predictions/family-transe.tsv.gz")}
    wanted = assert_agree(database, appendix(shared("family/train.txt"), predictions, rules))
    assert len(wanted) == 37 * 3
    assert sum(counts.refuted > 0 for counts in wanted.values()) > 37


def test_the_published_queries_count_the_rules_of_a_generated_family_as_the_appendix_does(database: Database) -> None:
    """Three models of a family that is made up, and the nine rules that the published one contradicts."""
    kinship = make_kinship(random.Random(1))
    rules = "\n".join([*map(rule, RATES), f"incompatible {', '.join(PREDICATES)}."])
    answers = make_predictions(kinship, random.Random(2))
    wanted = assert_agree(database, appendix(list(kinship.observed), answers, rules))
    assert len(wanted) == len(RATES) * 4
    assert sum(counts.refuted > 0 for counts in wanted.values()) > len(RATES)


SHAPES = """
p(X, Y) <- q(X, Y).
p(X, Y) <- q(Y, X).
s(X, Y) <- p(X, Z), q(Z, Y).
q(X, X) <- p(X, Y), one(Y).
p(X, "a") <- q(X, Y), q(X, Y).
p("a", X) <- q(X, _), s(_, X).
one(X) <- p(X, X), other(X).
p(X, Y) <- s(X, Y), one(X), other(Y).
three(X, Y, Z) <- p(X, Y), q(Y, Z).
s(X, Y) <- three(X, Y, Z), lonely(Z).
incompatible p, q, s.
incompatible p(X, Y), p(Y, X).
incompatible q(X, Y), s(Y, X).
incompatible q(X, Y), p(Y, X).
incompatible one, other.
incompatible three(X, Y, Z), four(Z, X, Y).
"""
ARITIES = {"p": 2, "q": 2, "s": 2, "one": 1, "other": 1, "three": 3, "four": 3}


def random_facts(chooser: random.Random, most: int) -> Facts:
    def row(arity: int) -> tuple[str, ...]:
        return tuple(chooser.choice("abcd") for _ in range(arity))

    found = {name: [row(arity) for _ in range(chooser.randint(0, most))] for name, arity in ARITIES.items()}
    return {name: rows for name, rows in found.items() if rows}


@pytest.mark.parametrize("seed", range(3))
def test_the_published_queries_count_rules_of_every_shape_as_the_appendix_does(database: Database, seed: int) -> None:
    """Constants, repeated variables, predicates of any arity, predictions that are observed, heads opposed both ways."""
    chooser = random.Random(seed)
    models = {name: random_facts(chooser, 6) or {"p": [("a", "b")]} for name in ("first", "it's")}
    wanted = assert_agree(database, appendix({"p": [("a", "a")], **random_facts(chooser, 9)}, models, SHAPES))
    assert any(counts.refuted for counts in wanted.values())


def test_the_published_queries_run_on_a_layout_of_the_users_own(database: Database) -> None:
    """With other tags, and numbers as they are."""
    database.run("CREATE SCHEMA kg")
    facts = {"p": [(1, 2), (2, 3)], "q": [(1, 2), (3, 1), (2, 5)], "s": [(3, 1), (2, 5)]}
    for name, rows in facts.items():
        values = ", ".join(f"({one}, {two}, {7 + (one + two) % 2}, NULL)" for one, two in rows)
        database.run(
            f"CREATE TABLE kg.{name} (subject int, object int, tag int, model text)",
            f"INSERT INTO kg.{name} VALUES {values}, (4, 5, 0, 'm'), (5, 6, 3, 'm')",
        )
    rules = "r: p(X, Y) <- q(X, Y).\nof_two: p(2, Y) <- q(2, Y).\nincompatible p, s."
    layout = PublishedFacts("kg", observed=(7, 8), predicted=(0,))
    setting = make_setting(layout, None, [rules], convention="appendix", engine=database.reader)
    wanted = appendix_counts(setting)
    with Session(setting) as session:
        assert published_counts(database, session) == wanted
    assert wanted["r", None] == Counts(1, 2, 3)


def test_the_model_condition_stands_in_parentheses(database: Database) -> None:
    with Session(appendix({"p": [("a", "b")], "q": [("a", "b")]}, {"m": {"q": [("c", "d")]}}, "r: p(X, Y) <- q(X, Y).")) as session:
        statements = [statement for query, statement in session.published_statements("r", "kg") if query.model == "m"]
    (statement,) = statements
    words = " ".join(statement.split())
    assert '"kg"."q" AS "t0"' in words
    assert 'AND ( ( "t0"."tag" = 1 AND "t0"."model" = \'m\' AND "t1"."tag" = 0 ) OR (' in words


def test_only_rules_of_horn_form_have_published_queries() -> None:
    rules = "no: false <- p(X, Y), q(X, Y).\nfine: p(X, Y) <- q(X, Y)."
    with Session(make_setting({"p": [("a", "b")], "q": [("a", "b")]}, None, [rules])) as session:
        assert session.published_statements("fine", "kg")
        with pytest.raises(InputError, match="its head is `false`"):
            session.published_statements("no", "kg")


def test_what_is_loaded_is_read_back_as_it_was(database: Database) -> None:
    """Numbers, dates and truths stay apart from the texts that look like them, and predictions from facts."""
    day = datetime.date(2024, 5, 31)
    facts: Facts = {
        "of": [("a", 1), ("a", "1"), ("a", 1.5), ("b", day), ("b", "2024-05-31"), ("c", True), ("c", "\x01n1"), ("c", 10**30)],
        "Of": [("x", "y")],
        "also": [(1, "a"), (1.5, "a"), (day, "b"), (True, "c")],
    }
    models: dict[str, Facts] = {"m": {"also": [("1", "a"), (10**30, "c")], "of": [("a", 1)]}, "n": {"Of": [("y", "x")]}}
    rules = "back: also(Y, X) <- of(X, Y).\nsame: of(X, Y) <- also(Y, X).\nincompatible of(X, Y), also(Y, X)."
    load(database, make_setting(facts, models, []))
    wanted = rulescore.score(facts, models, rules)
    found = rulescore.score(PublishedFacts("rulescore"), None, rules, engine=database.reader)
    assert found.rule_results == wanted.rule_results
    assert found.summary == wanted.summary
    assert sorted(map(str, found.contributions.to_pylist())) == sorted(map(str, wanted.contributions.to_pylist()))


def test_rows_say_what_they_are(database: Database) -> None:
    written = load(database, make_setting({"wife": [("a", "b"), ("a", "b"), ("c", "d")]}, {"m": {"wife": [("a", "b")]}}, []), "kg")
    assert [(one.of, one.table, one.observed, one.predicted, one.hidden) for one in written.tables] == [("wife", "wife", 2, 1, 0)]
    assert database.rows("SELECT * FROM kg.wife ORDER BY tag, subject") == [
        ("a", "b", 0, None),
        ("c", "d", 0, None),
        ("a", "b", 1, "m"),
    ]
    assert database.rows("SELECT * FROM kg.rulescore_names") == [("wife", "predicate", "wife")]


def test_long_names_and_names_that_differ_in_case_do_not_collide(database: Database) -> None:
    names = ["Wife", "wife", "wife_2", "rulescore_names", "é" * 40, "é" * 41, "x" * 100, "x" * 101, 'q"t', "a.b"]
    facts: Facts = {name: [(name, str(i))] for i, name in enumerate(names)}
    written = load(database, make_setting(facts, None, []))
    tables = {one.of: one.table for one in written.tables}
    assert len({table.casefold() for table in tables.values()}) == len(names)
    assert all(len(table.encode()) <= MOST_BYTES for table in tables.values())
    assert tables["Wife"] == "Wife"
    found = rulescore.audit(PublishedFacts("rulescore"), "Wife(X, Y) <- wife(X, Y).", engine=database.reader)
    assert found.summary.facts == len(names)


def test_constants_that_no_index_can_hold_are_loaded_without_one(database: Database) -> None:
    chooser = random.Random(1)
    long = "".join(chooser.choice("abcdefghijklmnop") + chr(chooser.randint(300, 3000)) for _ in range(4000))
    facts: Facts = {"text": [("a", long)], "wide": [tuple(map(str, range(40)))], "short": [("a", "b" * 900)]}
    load(database, make_setting(facts, None, []))
    found = rulescore.audit(PublishedFacts("rulescore"), "text(X, Y) <- text(X, Y).", engine=database.reader)
    assert (found.summary.facts, found.rule_results[0].dataset.confirmed) == (3, 1)
    indexed = "SELECT tablename::text, count(*)::int FROM pg_indexes WHERE schemaname = 'rulescore' GROUP BY 1"
    assert database.rows(indexed) == [("short", 2)]


def test_a_predicate_may_be_named_like_an_index_or_have_no_name(database: Database) -> None:
    facts: Facts = {name: [("a", "b")] for name in ("wife", "wife_subject_object_idx", "wife_object_subject_idx", "")}
    written = load(database, make_setting(facts, None, []))
    assert {one.of: one.table for one in written.tables} == {**{name: name for name in facts}, "": "_2"}
    assert rulescore.audit(PublishedFacts("rulescore"), "wife(X, Y) <- wife(X, Y).", engine=database.reader).summary.facts == 4


def test_names_are_those_wanted_unless_taken() -> None:
    assert table_names(["Wife", "wife", "wife_2", "RULESCORE_names"]) == ["Wife", "wife_2", "wife_2_2", "RULESCORE_names_2"]
    assert table_names(["x" * 64, "x" * 65]) == ["x" * 61 + "_2", "x" * 61 + "_3"]


SETTING = make_setting({"wife": [("a", "b")]}, None, [])


def test_existing_tables_are_refused_and_stay(database: Database) -> None:
    database.run("CREATE SCHEMA kg", "CREATE TABLE kg.wife (mine int)", "INSERT INTO kg.wife VALUES (1)")
    before = database.state()
    for again in (False, True):
        with pytest.raises(InputError, match="`wife` already") as error:
            load(database, SETTING, "kg", again=again)
        assert [problem.code for problem in error.value.problems] == ["E603"]
    assert database.state() == before


def test_only_what_was_made_here_is_replaced(database: Database) -> None:
    other = replace(SETTING, observed=make_setting({"husband": [("a", "b")]}, None, []).observed)
    database.run("CREATE SCHEMA kg", "CREATE TABLE kg.mine (x int)")
    load(database, SETTING, "kg")
    with pytest.raises(InputError, match="--replace"):
        load(database, SETTING, "kg")
    load(database, other, "kg", again=True)
    tables = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'kg' ORDER BY 1"
    assert database.rows(tables) == [("husband",), ("mine",), ("rulescore_names",)]


@pytest.mark.parametrize("path", ["public,pg_temp", "", "pg_catalog,public"])
def test_tables_of_ours_come_before_those_of_the_user_whatever_the_search_path(database: Database, path: str) -> None:
    """Whatever their names: nothing is written into them, and nothing is read from them."""
    database.run(
        "CREATE TABLE public.__rulescore__raw_observed_2 (predicate text, a0 text, a1 text)",
        "CREATE TABLE public.observed_wife (a0 text, a1 text)",
        "CREATE TABLE public.fact (head text, relation text, tail text)",
        "INSERT INTO public.fact VALUES ('a', 'p', 'b')",
    )
    before = database.state()
    address = f"{database.address}&options=-c%20search_path%3D{path}"
    load(replace(database, address=address), SETTING, "kg")
    assert [row for row in database.state() if row[0] == "public"] == before
    assert database.number("SELECT count(*)::int FROM public.__rulescore__raw_observed_2") == 0
    counted = rulescore.SqlRule("given", "SELECT NULL AS prediction, true AS confirmed, false AS refuted FROM observed_wife")
    found = rulescore.audit({"wife": [("a", "b")]}, "", sql_rules=[counted], engine=address)
    assert found.rule_results[0].dataset.confirmed == 1
    table = "public.fact" if path == "" else "fact"
    assert rulescore.audit(stored_facts(table), "p(X, Y) <- p(Y, X).", engine=address).summary.facts == 1


def test_a_load_that_fails_leaves_nothing(database: Database) -> None:
    """A view stands on a table that is to be replaced: nothing is dropped, nothing is written."""
    load(database, SETTING)
    database.run("CREATE VIEW public.wives AS SELECT subject FROM rulescore.wife")
    before = database.state()
    with pytest.raises(EngineError, match="is unchanged"):
        load(database, make_setting({"wife": [("c", "d")], "other": [("c", "d")]}, None, []), again=True)
    assert database.state() == before


def test_a_load_whose_end_is_not_heard_says_that_it_is_not_known(postgres: Server, database: Database) -> None:
    with relayed(postgres, b"COMMIT", hang_up=True) as relay:
        lost = replace(database, address=relay.address(database.address))
        with pytest.raises(EngineError, match=r"not known whether schema `kg` was written.*`--replace`") as error:
            load(lost, SETTING, "kg")
    assert "nothing is left behind" not in str(error.value)
    assert "is unchanged" not in str(error.value)
    assert database.number("SELECT count(*)::int FROM kg.wife") == 1
    load(database, SETTING, "kg", again=True)


def test_a_load_that_is_refused_at_its_end_leaves_nothing(database: Database) -> None:
    """A constraint may be looked at as late as that."""
    database.run(
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.made VALUES (1); END $$",
        "CREATE TABLE public.made (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)",
        "INSERT INTO public.made VALUES (1)",
        "CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION refuse()",
    )
    before = database.state()
    with pytest.raises(EngineError, match=r"is unchanged: .*duplicate key"):
        load(database, SETTING, "kg")
    assert database.state() == before


def test_a_role_that_may_not_write_is_told_so(database: Database) -> None:
    engine = connect(EngineOptions(database.reader))
    try:
        with pytest.raises(EngineError, match="permission denied"):
            write_published(engine, SETTING, "rulescore")
    finally:
        engine.close()


@pytest.mark.parametrize("schema", ["", "pg_mine", "pg_catalog", "information_schema", "x" * 64])
def test_a_schema_needs_a_name_that_can_be_one(database: Database, schema: str) -> None:
    with pytest.raises(InputError) as error:
        load(database, SETTING, schema)
    assert [problem.code for problem in error.value.problems] == ["E402"]


def test_an_engine_without_a_database_cannot_be_loaded() -> None:
    engine = connect(EngineOptions())
    try:
        with pytest.raises(InputError) as error:
            write_published(engine, SETTING, "rulescore")
    finally:
        engine.close()
    assert [problem.code for problem in error.value.problems] == ["E347"]


def test_negative_facts_are_left_out_with_a_warning(database: Database) -> None:
    written = load(database, make_setting({"p": [("a", "b")]}, None, [], negatives={"p": [("c", "d")]}))
    assert [warning.code for warning in written.warnings] == ["W153"]
    assert database.number("SELECT count(*)::int FROM rulescore.p") == 1


def test_tables_with_keys_get_a_table_of_predictions_beside_them(database: Database) -> None:
    """Hidden rows have the tag 2; what was written can be read as hidden ids and as predictions."""
    database.run(
        "CREATE TABLE sale (id int PRIMARY KEY, price float8, split text)",
        "INSERT INTO sale VALUES (1, 10, 'train'), (2, 20, 'train'), (3, 30, 'test'), (4, NULL, 'test')",
    )
    before = database.state()
    table = rulescore.Table(table="sale", key="id", target="price", hidden={"column": "split", "values": ["test"]})
    setting = make_setting(None, {"m": {3: 25.0}, "n": {3: 1.0, 4: 2.0}}, [], tables={"sale": table})
    written = load(database, setting)
    assert [(one.of, one.table, one.predicted, one.hidden) for one in written.tables] == [("sale", "sale_predictions", 3, 2)]
    assert database.rows("SELECT * FROM rulescore.sale_predictions ORDER BY tag, model, id") == [
        (3, 25.0, 1, "m"),
        (3, 1.0, 1, "n"),
        (4, 2.0, 1, "n"),
        (3, None, 2, None),
        (4, None, 2, None),
    ]
    assert [row for row in database.state() if row[0] == "public"] == before
