"""The user's own tables are read where they are, and stay as they are."""

from __future__ import annotations

import datetime
import math
import struct
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulescore
from rulescore.arguments.project import load_project, stored_facts
from rulescore.engines.base import connect
from rulescore.errors import InputError
from rulescore.loading.stored import observed_in_place
from rulescore.postgres.server import PostgresCatalogue
from rulescore.readers.columns import decimal_value
from rulescore.session.session import Session
from rulescore.setting.model import FactTable, PublishedFacts
from rulescore.setting.options import EngineOptions
from rulescore.values import key_of
from servers.database import Database, own_database
from servers.postgres import Server

RULES = """
aunt: aunt(X, Y) <- sister(X, Z), father(Z, Y).
turned: father(X, Y) <- sister(X, Y).
incompatible aunt, father, sister.
"""
FACTS = {
    "sister": [("ann", "bob"), ("dora", "bob"), ("ann", "dora")],
    "father": [("bob", "carl"), ("bob", "eve"), ("ann", "dora")],
    "aunt": [("ann", "carl")],
}
PREDICTIONS = {
    "first": {"aunt": [("ann", "eve"), ("dora", "carl")]},
    "second": {"father": [("ann", "eve")], "aunt": [("ann", "carl")]},
}


def triples(facts: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str, str]]:
    return [(head, predicate, tail) for predicate, rows in facts.items() for head, tail in rows]


def insert(database: Database, table: str, rows: list[tuple[object, ...]]) -> None:
    with psycopg.connect(database.address) as connection, connection.cursor() as cursor:
        marks = ", ".join(["%s"] * len(rows[0]))
        cursor.executemany(f"INSERT INTO {table} VALUES ({marks})".encode(), rows)


def project(folder: Path, database: str, text: str) -> rulescore.Result:
    """The evaluation of a project file whose engine is a database."""
    (folder / "family.rules").write_text(RULES)
    path = folder / "rulescore.toml"
    path.write_text(f'rules = "family.rules"\n{text}\n[engine]\nurl = "{database}"\n')
    with Session(load_project(path, trusted=True).setting) as session:
        return session.evaluate()


def expected() -> rulescore.Result:
    return rulescore.score(FACTS, PREDICTIONS, RULES)


def assert_same(found: rulescore.Result, wanted: rulescore.Result) -> None:
    counts = [(result.info.name, result.dataset, {m: r.counts for m, r in result.models.items()}) for result in found.rule_results]
    assert counts == [
        (result.info.name, result.dataset, {m: r.counts for m, r in result.models.items()}) for result in wanted.rule_results
    ]
    assert found.summary == wanted.summary
    assert [one.predictions for one in found.model_results] == [one.predictions for one in wanted.model_results]


def make_triples(database: Database) -> None:
    database.run(
        "CREATE SCHEMA kg",
        "CREATE TABLE kg.fact (head text, relation text, tail text)",
        "CREATE TABLE kg.answer (head text, relation text, tail text, model text)",
    )
    insert(database, "kg.fact", [*triples(FACTS), triples(FACTS)[0]])
    insert(database, "kg.answer", [(*row, model) for model, facts in PREDICTIONS.items() for row in triples(facts)])


TRIPLES = """
[[facts]]
database_table = "kg.fact"
[predictions.first]
database_table = "kg.answer"
[predictions.second]
database_table = "kg.answer"
"""


def test_a_table_of_triples_counts_as_the_same_rows_from_memory(database: Database, tmp_path: Path) -> None:
    make_triples(database)
    wanted = rulescore.score([*triples(FACTS), triples(FACTS)[0]], {m: triples(f) for m, f in PREDICTIONS.items()}, RULES)
    found = project(tmp_path, database.address, TRIPLES)
    assert_same(found, wanted)
    assert [one.code for one in found.warnings] == [one.code for one in wanted.warnings]


def test_select_and_temp_are_enough_and_nothing_changes(database: Database, tmp_path: Path) -> None:
    make_triples(database)
    before = database.state()
    with pytest.raises(psycopg.errors.InsufficientPrivilege), psycopg.connect(database.reader) as connection:
        connection.execute("INSERT INTO kg.fact VALUES ('a', 'b', 'c')")
    assert project(tmp_path, database.reader, TRIPLES).rule_results == project(tmp_path, database.address, TRIPLES).rule_results
    assert database.state() == before


def test_the_state_that_tests_compare_sees_every_row(database: Database) -> None:
    database.run("CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)")
    before = database.state()
    for change in (
        "UPDATE t SET a = 2",
        "INSERT INTO t VALUES (2)",
        "COMMENT ON TABLE t IS 'mine'",
        "CREATE VIEW v AS SELECT a FROM t",
    ):
        database.run(change)
        assert database.state() != before
        before = database.state()


def test_a_role_whose_transactions_are_read_only_by_default_is_enough_too(database: Database, tmp_path: Path) -> None:
    make_triples(database)
    database.run(f"ALTER ROLE {database.role} SET default_transaction_read_only = on")
    assert_same(project(tmp_path, database.reader, TRIPLES), project(tmp_path, database.address, TRIPLES))


def test_reading_takes_no_lock_that_hinders_writing(database: Database) -> None:
    make_triples(database)
    setting = rulescore.arguments.python.make_setting(stored_facts("kg.fact"), None, [RULES], engine=database.reader)
    with Session(setting):
        held = "SELECT DISTINCT mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname IN ('fact', 'answer')"
        assert database.rows(held) == [("AccessShareLock",)]
        database.run("SET lock_timeout = '5s'", "INSERT INTO kg.fact VALUES ('x', 'aunt', 'y')")


def test_one_state_of_the_database_is_read(database: Database) -> None:
    """What others write while an evaluation runs is not seen by it."""
    make_triples(database)
    engine = connect(EngineOptions(database.reader))
    try:
        assert observed_in_place(engine, stored_facts("kg.fact")).rows == 8
        database.run("INSERT INTO kg.fact VALUES ('x', 'aunt', 'y')")
        assert observed_in_place(engine, stored_facts("kg.fact")).rows == 8
    finally:
        engine.close()


def make_ids(database: Database) -> None:
    """Triples whose columns have names that are none of a triple's."""
    database.run("CREATE SCHEMA kg", "CREATE TABLE kg.kg_triples (subject_id text, kind text, object_id text)")
    insert(database, "kg.kg_triples", triples(FACTS))


COLUMNS = '{ head = "subject_id", relation = "kind", tail = "object_id" }'


def test_a_table_of_three_columns_is_no_predicate_unless_something_says_so(database: Database, tmp_path: Path) -> None:
    make_ids(database)
    facts = '[[facts]]\ndatabase_table = "kg.kg_triples"\n'
    with pytest.raises(InputError) as raised:
        project(tmp_path, database.reader, facts)
    (problem,) = raised.value.problems
    assert (problem.code, problem.notes[1]) == ("E328", "the columns are `subject_id`, `kind`, `object_id`")
    assert problem.notes[0].startswith("the first row was read as `kg_triples(")
    assert f"`columns = {COLUMNS}`" in problem.helps[0]
    found = project(tmp_path, database.reader, f"{facts}columns = {COLUMNS}\n")
    assert [one.dataset for one in found.rule_results] == [one.dataset for one in rulescore.audit(FACTS, RULES).rule_results]
    assert project(tmp_path, database.reader, f'{facts}layout = "predicate"\n').summary.predicates == 1


@pytest.mark.parametrize("names", ["subj, pred, obj", "source, type, target", '":START_ID", ":TYPE", ":END_ID"'])
def test_usual_names_of_columns_are_those_of_triples(database: Database, names: str) -> None:
    database.run(f"CREATE TABLE kin ({', '.join(f'{name} text' for name in names.split(', '))})")
    insert(database, "kin", triples(FACTS))
    found = rulescore.audit(stored_facts("kin"), RULES, engine=database.reader)
    assert [one.dataset for one in found.rule_results] == [one.dataset for one in rulescore.audit(FACTS, RULES).rule_results]


def test_a_header_that_became_a_row_is_a_warning(database: Database) -> None:
    database.run("CREATE TABLE kin (head text, relation text, tail text)")
    insert(database, "kin", [*triples(FACTS), ("subject", "predicate", "object")])
    found = rulescore.audit(stored_facts("kin"), RULES, engine=database.reader)
    assert [one.message for one in found.warnings if one.code == "W325"] == [
        "a row may be a header: nothing else mentions `predicate`"
    ]
    declared = rulescore.audit(stored_facts("kin"), f"{RULES}\npredicate predicate/2.", engine=database.reader)
    assert not [one for one in declared.warnings if one.code == "W325"]


def test_predictions_of_what_nothing_knows_are_refused_with_a_row(database: Database) -> None:
    make_ids(database)
    database.run("CREATE TABLE kg.turned (head text, relation text, tail text)")
    insert(database, "kg.turned", [("ann", "eve", "aunt"), ("dora", "carl", "aunt")])
    for table, shown in (("kg.kg_triples", "kg_triples("), ("kg.turned", "")):
        with pytest.raises(InputError) as raised:
            rulescore.score(FACTS, {"m": stored_facts(table, model="m")}, RULES, engine=database.reader)
        (problem,) = raised.value.problems
        assert (problem.code, problem.place.name) == ("E328", table)
        assert problem.notes[0].startswith(f"the first row was read as `{shown}")


def test_a_table_for_each_predicate(database: Database, tmp_path: Path) -> None:
    """Views, quoted names, columns in another order and columns of any name are tables of facts too."""
    database.run(
        "CREATE SCHEMA kg",
        'CREATE TABLE kg.sister (subject text, "object" text)',
        'CREATE TABLE kg."Fathers of" (child varchar(20), parent varchar(20), since int)',
        "CREATE TABLE kg.raw (a text, b text)",
        "CREATE VIEW kg.aunt AS SELECT b AS tail, a AS head FROM kg.raw",
        "CREATE TABLE kg.answer (head text, relation text, tail text, model text)",
    )
    insert(database, "kg.sister", [tuple(row) for row in FACTS["sister"]])
    insert(database, 'kg."Fathers of"', [(child, parent, 1) for parent, child in FACTS["father"]])
    insert(database, "kg.raw", [tuple(row) for row in FACTS["aunt"]])
    insert(database, "kg.answer", [(*row, model) for model, facts in PREDICTIONS.items() for row in triples(facts)])
    text = """
[[facts]]
database_predicates = { sister = "kg.sister", aunt = "kg.aunt" }
[[facts]]
database_predicates = { father = "kg.Fathers of" }
columns = { arguments = ["parent", "child"] }
[predictions.first]
database_table = "kg.answer"
[predictions.second]
database_table = "kg.answer"
"""
    assert_same(project(tmp_path, database.reader, text), expected())


def test_files_and_tables_are_one_set_of_facts(database: Database, tmp_path: Path) -> None:
    database.run("CREATE TABLE aunt (head text, tail text)", "INSERT INTO aunt VALUES ('ann', 'carl'), ('ann', 'carl')")
    rest = [row for row in triples(FACTS) if row[1] != "aunt"]
    (tmp_path / "rest.tsv").write_text("".join("\t".join(row) + "\n" for row in rest))
    found = project(tmp_path, database.reader, '[[facts]]\npath = "rest.tsv"\n[[facts]]\ndatabase_predicates = { aunt = "aunt" }')
    wanted = expected()
    assert [result.dataset for result in found.rule_results] == [result.dataset for result in wanted.rule_results]
    assert (found.summary.facts, found.summary.fact_duplicates) == (7, 1)


def make_published(database: Database, schema: str = "kg") -> None:
    database.run(f"CREATE SCHEMA {schema}")
    for predicate in FACTS:
        database.run(f"CREATE TABLE {schema}.{predicate} (subject text, object text, tag int, model text)")
        rows: list[tuple[object, ...]] = [(*row, 0, None) for row in FACTS[predicate]]
        rows += [(*row, 1, model) for model, facts in PREDICTIONS.items() for row in facts.get(predicate, ())]
        insert(database, f"{schema}.{predicate}", [*rows, ("held", "out", 2, None)])


def test_the_published_layout_brings_its_own_models(database: Database, tmp_path: Path) -> None:
    make_published(database)
    database.run("CREATE TABLE kg.unrelated (x int)")
    found = project(tmp_path, database.reader, '[[facts]]\ndatabase_schema = "kg"')
    assert_same(found, expected())
    assert [warning.code for warning in found.warnings] == ["W204"]


def test_negative_facts_are_read_in_place(database: Database, tmp_path: Path) -> None:
    make_triples(database)
    database.run("CREATE TABLE denied (head text, tail text)", "INSERT INTO denied VALUES ('ann', 'eve'), ('ann', 'carl')")
    found = project(tmp_path, database.reader, f'{TRIPLES}\n[[negatives]]\ndatabase_predicates = {{ aunt = "denied" }}')
    wanted = rulescore.score(FACTS, PREDICTIONS, RULES, negatives={"aunt": [("ann", "eve"), ("ann", "carl")]})
    assert found.rule_results[0].dataset == wanted.rule_results[0].dataset
    assert (found.summary.negatives, found.summary.negatives_observed) == (2, 1)


def test_tags_may_have_other_numbers(database: Database, tmp_path: Path) -> None:
    make_published(database)
    for predicate in FACTS:
        database.run(f"UPDATE kg.{predicate} SET tag = 7 WHERE tag = 0", f"UPDATE kg.{predicate} SET tag = 0 WHERE tag = 1")
    text = '[[facts]]\ndatabase_schema = "kg"\ntags = { observed = [7, 8], predicted = 0 }'
    assert_same(project(tmp_path, database.reader, text), expected())


def test_predictions_are_the_best_of_each_query(database: Database) -> None:
    database.run(
        "CREATE TABLE answer (head text, relation text, tail text, query int, score real)",
        "INSERT INTO answer VALUES ('a', 'p', 'b', 1, 0.5), ('a', 'p', 'c', 1, 0.75), ('a', 'p', 'd', 1, 0.5)",
        "INSERT INTO answer VALUES ('e', 'p', 'f', 2, 0)",
        "CREATE TABLE ranked (head text, relation text, tail text, rank int)",
        "INSERT INTO ranked VALUES ('a', 'p', 'b', 1), ('a', 'p', 'c', 2), ('a', 'p', 'd', 3)",
    )
    for table, top_k, kept in (("answer", None, 2), ("answer", 2, 3), ("ranked", None, 1), ("ranked", 2, 2)):
        found = rulescore.score(
            {"p": [("x", "y")]},
            {"m": stored_facts(table, model="m")},
            "p(X, Y) <- p(Y, X). closed p.",
            top_k=top_k,
            engine=database.reader,
        )
        (model,) = found.model_results
        assert (model.predictions.rows, model.predictions.kept) == (4 if table == "answer" else 3, kept)
        assert model.predictions.queries == (2 if table == "answer" else kept)


def test_a_model_that_a_table_does_not_have_is_refused_with_those_it_has(database: Database, tmp_path: Path) -> None:
    make_triples(database)
    with pytest.raises(InputError, match="did you mean `first`") as error:
        project(tmp_path, database.reader, TRIPLES.replace("predictions.first", "predictions.frist"))
    assert codes(error) == ["E304"]
    assert "models in its column `model` are `first`, `second`" in str(error.value)


def test_a_model_need_not_be_in_every_table_of_its_predictions(database: Database) -> None:
    database.run(
        "CREATE TABLE p (head text, tail text, model text)",
        "CREATE TABLE q (head text, tail text, model text)",
        "INSERT INTO p VALUES ('a', 'b', 'm')",
        "INSERT INTO q VALUES ('a', 'b', 'n')",
    )
    answers = [stored_facts(one, model="m", predicate=one) for one in ("p", "q")]
    found = rulescore.score({"p": [("x", "y")]}, {"m": answers}, "p(X, Y) <- p(Y, X). closed p.", engine=database.reader)
    assert found.model_results[0].predictions.rows == 1
    with pytest.raises(InputError, match="there are no predictions of `m`"):
        rulescore.score({"p": [("x", "y")]}, {"m": answers[1]}, "p(X, Y) <- p(Y, X). closed p.", engine=database.reader)


@pytest.mark.parametrize(("column", "name"), [('"Model" text', "7"), ("model int", "7"), ("model char(5)", "7")])
def test_the_column_of_models_is_found_and_compared_whatever_its_case_and_type(
    database: Database, tmp_path: Path, column: str, name: str
) -> None:
    make_sales(database)
    database.run(
        f'CREATE TABLE answer ("Head" text, "Relation" text, "Tail" text, {column})',
        f"INSERT INTO answer VALUES ('a', 'p', 'b', {name}), ('a', 'p', 'c', 8)",
        f"CREATE TABLE answers (id int, prediction float8, {column})",
        f"INSERT INTO answers VALUES (4, 105.5, {name}), (5, 60, 8)",
    )
    found = rulescore.score(
        {"p": [("x", "y")]}, {name: stored_facts("answer", model=name)}, "p(X, Y) <- p(Y, X). closed p.", engine=database.reader
    )
    assert found.model_results[0].predictions.rows == 1
    held_out = '{ table = "held_out" }'
    of_table = sales(tmp_path, database, held_out, "answers", name)
    assert (of_table.model_results[0].predictions.rows, of_table.model_results[0].predictions.kept) == (1, 1)
    with pytest.raises(InputError, match=r"there are no predictions of `ridge`.*\n.*\n.* are `7`, `8`") as error:
        sales(tmp_path, database, held_out, "answers", "ridge")
    assert codes(error) == ["E304"]


@pytest.mark.parametrize("tags", [{"observed": (5,)}, {"predicted": (5,)}, {"observed": (2,), "predicted": (3,)}])
def test_tags_that_no_row_has_are_refused(database: Database, tags: dict[str, tuple[int, ...]]) -> None:
    make_published(database)
    with pytest.raises(InputError, match="tags of its rows are `0`, `1`, `2`") as error:
        rulescore.audit(PublishedFacts("kg", **tags), RULES, engine=database.reader)
    assert codes(error) == ["E923"]


def test_a_schema_may_hold_facts_alone_or_predictions_alone(database: Database) -> None:
    make_published(database)
    for predicate in FACTS:
        database.run(f"DELETE FROM kg.{predicate} WHERE tag = 0")
    assert rulescore.score(PublishedFacts("kg"), None, RULES, engine=database.reader).model_results
    for predicate in FACTS:
        database.run(f"UPDATE kg.{predicate} SET tag = 0")
    assert not rulescore.audit(PublishedFacts("kg"), RULES, engine=database.reader).model_results


def test_a_tag_is_a_number_however_it_is_written(database: Database) -> None:
    make_published(database)
    for predicate, kind in zip(FACTS, ("numeric(3, 1)", "text", "float8"), strict=True):
        database.run(f"ALTER TABLE kg.{predicate} ALTER tag TYPE {kind}")
    assert_same(rulescore.score(PublishedFacts("kg"), None, RULES, engine=database.reader), expected())


def encode(connection: psycopg.Connection, kind: str, values: list[object]) -> list[str]:
    """The keys that statements give to values of a type of the database."""
    from rulescore.postgres.dialect import POSTGRES
    from rulescore.sql.dialect import text
    from rulescore.sql.query import select
    from rulescore.sql.stored import STORED_TYPES, StoredFacts

    facts = StoredFacts(("pg_temp", "typed"), ("v",), {"v": STORED_TYPES[kind]})
    query = select(key=facts.key("v")).order_by(facts.row().n)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMP TABLE typed (n int, v {kind})".encode())
        cursor.executemany("INSERT INTO typed VALUES (%s, %s)", list(enumerate(values)))
        cursor.execute(text(facts.rows(query), POSTGRES).encode())
        found = [row[0] for row in cursor.fetchall()]
        cursor.execute("DROP TABLE typed")
    return found


decimals = st.decimals(-(10**40), 10**40, allow_nan=False, allow_infinity=False, places=5)
finite = st.floats(allow_nan=False, allow_infinity=False)
bits = st.integers(0, 2**64 - 1).map(lambda n: struct.unpack("d", struct.pack("Q", n))[0]).filter(math.isfinite)
texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=5)


@pytest.fixture(scope="module")
def connection(postgres: Server) -> object:
    with own_database(postgres) as found, psycopg.connect(found.reader) as opened:
        yield opened


@given(values=st.lists(st.one_of(finite, bits, st.integers(-(10**17), 10**17).map(lambda n: n / 10)), min_size=1))
def test_floats_have_the_keys_that_python_gives_them(connection: psycopg.Connection, values: list[float]) -> None:
    assert encode(connection, "float8", list(values)) == [key_of(value) for value in values]


@given(values=st.lists(decimals, min_size=1))
def test_decimals_have_the_keys_that_python_gives_them(connection: psycopg.Connection, values: list[Decimal]) -> None:
    assert encode(connection, "numeric", list(values)) == [key_of(decimal_value(value)) for value in values]


@given(values=st.lists(st.one_of(texts, texts.map(lambda text: f"\x01{text}")), min_size=1))
def test_texts_have_the_keys_that_python_gives_them(connection: psycopg.Connection, values: list[str]) -> None:
    assert encode(connection, "text", list(values)) == [key_of(value) for value in values]


@given(values=st.lists(st.dates(), min_size=1))
def test_dates_have_the_keys_that_python_gives_them(connection: psycopg.Connection, values: list[datetime.date]) -> None:
    assert encode(connection, "date", list(values)) == [key_of(value) for value in values]


@given(values=st.lists(st.datetimes(), min_size=1))
def test_date_times_have_the_keys_that_python_gives_them(connection: psycopg.Connection, values: list[datetime.datetime]) -> None:
    instants = [value.replace(tzinfo=datetime.UTC) for value in values]
    for zone in ("UTC", "America/St_Johns"):
        connection.execute(f"SET TimeZone = '{zone}'")
        assert encode(connection, "timestamp", list(values)) == [key_of(value) for value in values]
        assert encode(connection, "timestamptz", list(instants)) == [key_of(value) for value in instants]


@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), truths=st.lists(st.booleans(), min_size=1))
def test_whole_numbers_and_truths_have_the_keys_that_python_gives_them(
    connection: psycopg.Connection, values: list[int], truths: list[bool]
) -> None:
    assert encode(connection, "int8", list(values)) == [key_of(value) for value in values]
    assert encode(connection, "bool", list(truths)) == [key_of(value) for value in truths]


def test_columns_of_every_type_meet_the_constants_of_rules(database: Database) -> None:
    """A uuid and a word of an enumeration are text, a domain is what it is made of, and letters of any collation are themselves."""
    database.run(
        "CREATE TYPE colour AS ENUM ('red', 'blue')",
        "CREATE DOMAIN amount AS numeric(10, 2)",
        "CREATE DOMAIN price AS amount",
        "CREATE DOMAIN paint AS colour",
        'CREATE TABLE thing (id uuid, c paint, p price, n smallint, r real, d timestamptz, t char(5), word text COLLATE "POSIX")',
        "INSERT INTO thing SELECT '00000000-0000-0000-0000-000000000001', 'red', 2.50, 3, 0.5, '2024-05-31 00:00+00', 'ab', w "
        "FROM (VALUES ('x'), ('X')) AS words (w)",
    )
    rule = (
        'p(W, I) <- thing(I, "red", 2.5, 3, 0.5, 2024-05-31T02:00:00+02:00, "ab", W), '
        'thing("00000000-0000-0000-0000-000000000001", _, _, _, _, _, _, W).'
    )
    facts = stored_facts("thing", predicate="thing")
    found = rulescore.audit(
        [facts, stored_facts("thing", predicate="p", columns={"arguments": ["word", "id"]})], rule, engine=database.reader
    )
    assert found.rule_results[0].dataset.confirmed == 2
    assert found.summary.facts == 4


def codes(error: pytest.ExceptionInfo[InputError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


@pytest.mark.parametrize(
    ("kind", "value", "code", "word"),
    [
        ("text", "NULL", "E312", "`tail` of `bad` is missing in 2 rows"),
        ("float8", "'NaN'", "E314", "`tail` of `bad` is not a constant in 2 rows"),
        ("numeric", "'NaN'", "E314", "`tail` of `bad` is not a constant in 2 rows"),
        ("timestamp", "'-infinity'", "E314", "`tail` of `bad` is in no year from 1 to 9999 in 2 rows"),
        ("timestamptz", "'10000-01-01 00:00+00'", "E314", "`tail` of `bad` is in no year from 1 to 9999 in 2 rows"),
        ("timestamp", "'0001-01-01 00:00 BC'", "E314", "`tail` of `bad` is in no year from 1 to 9999 in 2 rows"),
        ("date", "'infinity'", "E314", "`tail` of `bad` is in no year from 1 to 9999 in 2 rows"),
        ("point", "'(1, 2)'", "E321", "column `tail` of `bad` is of type point"),
        ("text[]", "'{a}'", "E321", "column `tail` of `bad` is of type _text"),
    ],
)
def test_rows_that_are_no_facts_are_refused(database: Database, kind: str, value: str, code: str, word: str) -> None:
    database.run(f"CREATE TABLE bad (head text, tail {kind})", f"INSERT INTO bad VALUES ('a', {value}), ('b', {value})")
    with pytest.raises(InputError) as error:
        rulescore.audit(stored_facts("bad", predicate="p"), "p(X, Y) <- p(Y, X). closed p.", engine=database.reader)
    assert codes(error) == [code]
    assert word in str(error.value)


def test_a_table_that_is_not_there_is_told_with_one_that_is(database: Database) -> None:
    database.run("CREATE TABLE facts (head text, relation text, tail text)")
    for name in ("fact", "public.fact", "Facts"):
        with pytest.raises(InputError, match="did you mean `") as error:
            rulescore.audit(stored_facts(name), RULES, engine=database.reader)
        assert codes(error) == ["E337"]


@pytest.mark.parametrize(
    "section",
    [
        '[facts]\ndatabase_table = "nowhere"',
        '[facts]\n[facts.database_predicates]\np = "fact"\nq = "nowhere"',
        '[facts]\ndatabase_table = "fact"\n[predictions.m]\ndatabase_table = "nowhere"',
        '[tables.sale]\nkey = "id"\ntarget = "price"\ntable = "nowhere"',
        '[tables.sale]\nkey = "id"\ntarget = "price"\ntable = "sale"\nhidden = { table = "nowhere" }',
        '[tables.sale]\nkey = "id"\ntarget = "price"\ntable = "sale"\n[predictions.m]\ndatabase_table = "nowhere"',
    ],
)
def test_a_table_that_is_not_there_is_told_with_the_line_that_names_it(database: Database, tmp_path: Path, section: str) -> None:
    database.run("CREATE TABLE fact (head text, relation text, tail text)", "CREATE TABLE sale (id int, price float8)")
    text = f'{section}\n[rules]\ntext = "p(X, Y) <- p(Y, X). closed p."\n[engine]\nurl = "{database.reader}"\n'
    (tmp_path / "rulescore.toml").write_text(text)
    with pytest.raises(InputError) as error, Session(load_project(tmp_path / "rulescore.toml", trusted=True).setting):
        pass
    places = [problem.place for problem in error.value.problems if problem.code == "E337"]
    assert [place.line for place in places if place is not None] == [text[: text.index("nowhere")].count("\n") + 1]


def test_dots_in_names_never_lead_to_another_table(database: Database) -> None:
    columns = "(subject text, object text, tag int, model text)"
    database.run(
        "CREATE SCHEMA a",
        'CREATE SCHEMA "a.b"',
        f'CREATE TABLE a."b.c" {columns}',
        f'CREATE TABLE "a.b".c {columns}',
        "INSERT INTO \"a.b\".c VALUES ('x', 'y', 0, NULL)",
        f"CREATE TABLE a.d {columns}",
        "INSERT INTO a.d VALUES ('x', 'y', 0, NULL)",
    )
    rules = "r: c(X, Y) <- c(Y, X)."
    assert rulescore.audit(PublishedFacts("a.b"), rules, engine=database.reader).summary.facts == 1
    assert rulescore.audit(PublishedFacts("a"), "d(X, Y) <- d(Y, X).", engine=database.reader).summary.facts == 1
    with pytest.raises(InputError, match=r"`a.b.c` may be `b.c` of schema `a` and `c` of schema `a.b`") as error:
        rulescore.audit(stored_facts("a.b.c", predicate="c"), rules, engine=database.reader)
    assert codes(error) == ["E337"]


def test_a_table_that_may_not_be_read_is_told_apart(database: Database) -> None:
    database.run("CREATE TABLE secret (head text, relation text, tail text)", "REVOKE ALL ON secret FROM PUBLIC")
    database.run(f"REVOKE ALL ON secret FROM {database.role}")
    with pytest.raises(InputError, match="may not read `secret`") as error:
        rulescore.audit(stored_facts("secret"), RULES, engine=database.reader)
    assert codes(error) == ["E337"]


def test_an_engine_without_a_database_says_so() -> None:
    with pytest.raises(InputError) as error:
        rulescore.audit(stored_facts("kg.fact"), RULES)
    assert codes(error) == ["E347"]


def test_a_schema_that_is_not_published_is_refused(database: Database) -> None:
    database.run("CREATE SCHEMA kg", "CREATE SCHEMA other", "CREATE TABLE kg.p (subject text, object text)")
    for schema in ("kg", "no"):
        with pytest.raises(InputError) as error:
            rulescore.audit(PublishedFacts(schema), RULES, engine=database.reader)
        assert codes(error) == ["E923"]


def test_a_published_prediction_needs_its_model(database: Database) -> None:
    make_published(database)
    database.run("INSERT INTO kg.aunt VALUES ('a', 'b', 1, NULL)")
    with pytest.raises(InputError, match=r"kg\.aunt. has predictions whose .model. is missing") as error:
        rulescore.audit(PublishedFacts("kg"), RULES, engine=database.reader)
    assert codes(error) == ["E923"]


SALES = """
near: abs(P - Q) < 20 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B.
cheap: P < 100.5 <- sale(id: A, price: P, sold: D), D >= 2024-01-01.
"""
ROWS = [
    (1, "a", 100.0, datetime.date(2024, 1, 1), "train"),
    (2, "a", 110.0, datetime.date(2024, 2, 1), "train"),
    (3, "b", 90.0, datetime.date(2023, 1, 1), "train"),
    (4, "a", None, datetime.date(2024, 3, 1), "test"),
    (5, "b", 500.0, datetime.date(2024, 3, 1), "test"),
]


def make_sales(database: Database) -> None:
    database.run(
        "CREATE TABLE sale (id int PRIMARY KEY, zip char(3), price numeric(10, 2), sold date, split text, place point)",
        "CREATE TABLE predicted (id int, prediction numeric, model text)",
        "CREATE TABLE held_out (sale int)",
        "INSERT INTO held_out VALUES (4), (5)",
        "INSERT INTO predicted VALUES (4, 105.5, 'ridge'), (5, 60, 'ridge'), (4, 1, 'other')",
    )
    insert(database, "sale (id, zip, price, sold, split)", ROWS)


@pytest.mark.parametrize("hidden", ['{ column = "split", values = ["test"] }', '{ table = "held_out" }', '{ where = "id >= 4" }'])
def test_tables_with_keys_are_read_in_place(database: Database, tmp_path: Path, hidden: str) -> None:
    make_sales(database)
    before = database.state()
    names = ("id", "zip", "price", "sold", "split")
    rows = [dict(zip(names, row, strict=True)) for row in ROWS]
    table = rulescore.Table(rows, key="id", target="price", hidden={"column": "split", "values": ["test"]})
    wanted = rulescore.score(None, {"ridge": {4: 105.5, 5: 60.0}}, SALES, tables={"sale": table})
    found = sales(tmp_path, database, hidden, "predicted", "ridge")
    assert_same(found, wanted)
    assert found.rule_results[0].models["ridge"].counts.evaluable > 0
    assert database.state() == before


def test_texts_of_tables_with_keys_compare_whatever_their_collations(database: Database, tmp_path: Path) -> None:
    """The server itself would not know which collation to compare them by."""
    database.run(
        'CREATE TABLE word (id text COLLATE "POSIX", next text COLLATE "ucs_basic", held boolean)',
        "INSERT INTO word VALUES ('a', 'B', false), ('c', 'd', false), ('e', 'x', true)",
        'CREATE TABLE guessed (id text COLLATE "ucs_basic", prediction text COLLATE "POSIX")',
        "INSERT INTO guessed VALUES ('e', 'F')",
    )
    (tmp_path / "words.rules").write_text("I < N <- word(id: I, next: N).")
    (tmp_path / "rulescore.toml").write_text(f"""
rules = "words.rules"
[tables.word]
table = "word"
key = "id"
target = "next"
hidden = {{ where = "held = true" }}
[predictions.m]
database_table = "guessed"
[engine]
url = "{database.reader}"
""")
    with Session(load_project(tmp_path / "rulescore.toml", trusted=True).setting) as session:
        (found,) = session.evaluate().rule_results
    assert (found.dataset.confirmed, found.dataset.refuted) == (1, 1)
    assert found.models["m"].counts.refuted == 1


def sales(folder: Path, database: Database, hidden: str, predictions: str, model: str) -> rulescore.Result:
    """The evaluation of a model whose predictions of sales are a table."""
    (folder / "sales.rules").write_text(SALES)
    text = f"""
rules = "sales.rules"
[tables.sale]
table = "public.sale"
key = "id"
target = "price"
hidden = {hidden}
[predictions.{model}]
database_table = "{predictions}"
[engine]
url = "{database.reader}"
"""
    (folder / "rulescore.toml").write_text(text)
    with Session(load_project(folder / "rulescore.toml", trusted=True).setting) as session:
        return session.evaluate()


def test_a_keyed_table_without_database_needs_an_engine_that_is_one(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        rulescore.audit(None, SALES, tables={"sale": rulescore.Table(table="public.sale", key="id")})
    assert codes(error) == ["E347"]


@pytest.mark.parametrize(
    "section",
    [
        'database_table = "kg.fact"\nheader = true',
        'database_table = "kg.fact"\npath = "train.tsv"',
        'database_table = "kg.fact"\ntags = { observed = 0 }',
        'database_schema = "kg"\ncolumns = { head = "a" }',
    ],
)
def test_a_project_tells_files_and_tables_apart(tmp_path: Path, section: str) -> None:
    (tmp_path / "train.tsv").write_text("a\tp\tb\n")
    (tmp_path / "rulescore.toml").write_text(f"[[facts]]\n{section}\n")
    with pytest.raises(InputError, match="says nothing of tables") as error:
        load_project(tmp_path / "rulescore.toml")
    assert codes(error) == ["E402"]


def test_models_of_a_published_schema_are_not_given_twice(tmp_path: Path) -> None:
    (tmp_path / "rulescore.toml").write_text('facts = [{ database_table = "f" }]\n[predictions.m]\ndatabase_schema = "kg"\n')
    with pytest.raises(InputError, match="models of its own"):
        load_project(tmp_path / "rulescore.toml")


@pytest.mark.parametrize(
    ("columns", "arguments"),
    [
        ("subject text, since int, object text", ("subject", "object")),
        ('since int, "Tail" text, "Head" text', ("Head", "Tail")),
        ("subject text, object text, argument_3 text, since int", ("subject", "object", "argument_3")),
        ("wife text, husband text, since int", ("wife", "husband", "since")),
    ],
)
@pytest.mark.parametrize("predicate", [None, "wife"])
def test_columns_that_are_named_as_arguments_are_the_arguments(
    database: Database, columns: str, arguments: tuple[str, ...], predicate: str | None
) -> None:
    database.run(f"CREATE TABLE t ({columns})")
    engine = connect(EngineOptions(database.reader))
    try:
        assert PostgresCatalogue(engine, ["public"]).stored(stored_facts("t", predicate=predicate)).arguments == arguments
    finally:
        engine.close()


def test_a_published_table_is_not_read_as_if_all_its_rows_were_facts(database: Database) -> None:
    make_published(database)
    for source in (stored_facts("kg.aunt", predicate="aunt"), stored_facts("kg.aunt")):
        with pytest.raises(InputError, match="`database_schema`") as error:
            rulescore.audit(source, RULES, engine=database.reader)
        assert codes(error) == ["E320"]
    with pytest.raises(InputError, match="`database_schema`"):
        rulescore.score(FACTS, {"first": stored_facts("kg.aunt", model="first", predicate="aunt")}, RULES, engine=database.reader)
    chosen = stored_facts("kg.aunt", predicate="aunt", columns={"arguments": ["subject", "object"]})
    assert rulescore.audit(chosen, "aunt(X, Y) <- aunt(Y, X).", engine=database.reader).summary.facts == 4


def test_the_parts_of_a_table_are_those_of_a_file(database: Database) -> None:
    database.run("CREATE TABLE t (s text, p int, o text, model text)")
    engine = connect(EngineOptions(database.reader))
    try:
        stored = PostgresCatalogue(engine, ["public"]).stored(stored_facts("t", model="m"))
    finally:
        engine.close()
    assert (stored.arguments, stored.relation, [one.values for one in stored.only]) == (("s", "o"), "p", [("m",)])
    assert isinstance(stored_facts("t"), FactTable)


def test_date_times_of_tables_are_read_in_place_whatever_the_zone_of_the_role(database: Database, tmp_path: Path) -> None:
    """Half an hour that no clock of Berlin shows, and one that it shows twice."""
    database.run(
        "CREATE TABLE trip (at timestamptz PRIMARY KEY, planned timestamp, arrival timestamp)",
        "INSERT INTO trip VALUES ('2024-10-27 02:30:00+02', '2024-03-31 02:30:00.000001', '2024-03-31 03:30:00.000001'), "
        "('2024-10-27 02:30:00+01', '2024-03-31 02:30', NULL)",
        "CREATE TABLE guessed (at timestamptz, prediction timestamp)",
        "INSERT INTO guessed VALUES ('2024-10-27 01:30:00+00', '2024-03-31 05:00')",
        f"ALTER ROLE {database.role} SET TimeZone = 'Europe/Berlin'",
    )
    (tmp_path / "trips.rules").write_text(
        "one: hours(A - P) <= 1 <- trip(at: T, planned: P, arrival: A).\n"
        "two: date(P) = 2024-03-31 and T <= 2024-10-27T02:30:00+01:00 <- trip(at: T, planned: P).\n"
    )
    (tmp_path / "rulescore.toml").write_text(f"""
rules = "trips.rules"
[tables.trip]
table = "trip"
key = "at"
target = "arrival"
hidden = {{ column = "at", values = [2024-10-27T02:30:00+01:00] }}
[predictions.m]
database_table = "guessed"
[engine]
url = "{database.reader}"
""")
    with Session(load_project(tmp_path / "rulescore.toml", trusted=True).setting) as session:
        one, two = session.evaluate().rule_results
    assert (one.dataset.confirmed, one.dataset.refuted, one.models["m"].counts.refuted) == (1, 0, 1)
    assert (two.dataset.confirmed, two.dataset.refuted) == (2, 0)
