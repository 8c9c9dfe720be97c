"""PostgreSQL as an engine: values on their way in and out, one transaction, how it fails and how it is stopped."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from operator import add, mul, sub, truediv

import psycopg
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import rulescore
from rulescore.engines.base import Engine, connect
from rulescore.errors import EngineError, InputError
from rulescore.language.parser import parse_atom
from rulescore.postgres import engine as postgres_engine
from rulescore.setting.options import EngineOptions
from rulescore.sql.expressions import doubles
from rulescore.sql.query import create, select
from rulescore.sql.values import constant, try_cast
from rulescore.sql.words import Sql, call
from rulescore.values import ValueType
from servers.postgres import READER, Server
from servers.postgres_activity import (
    TABLE,
    opened_engine,  # noqa: F401  # a fixture
    sessions,
    statement,
)


def value(engine: Engine, text: str) -> object:
    return engine.query(statement(f"SELECT {text} AS v"))["v"][0].as_py()


def computed(engine: Engine, expression: Sql) -> object:
    return engine.query(select(v=expression))["v"][0].as_py()


# Values


EVERY_TYPE = pa.table(
    {
        "whole": pa.array([-(2**63), 2**63 - 1, None], pa.int64()),
        "small": pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
        "double": pa.array([0.1, 5e-324, 1.7976931348623157e308], pa.float64()),
        "answer": pa.array([True, False, None], pa.bool_()),
        "day": pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None], pa.date32()),
        "text": pa.array(["", None, 'a "b"\\.\n\r\n,;\t\x01\u00e9\U0001f600'], pa.string()),
        'a b"c': pa.array(["\\.", "NULL", "\\N"], pa.string()),
    }
)


def test_every_value_comes_back_as_it_went_in(engine: Engine):
    engine.load(TABLE, EVERY_TYPE)
    engine.append(TABLE, EVERY_TYPE)
    assert engine.query(statement(f'SELECT * FROM "{TABLE}"')).equals(pa.concat_tables([EVERY_TYPE, EVERY_TYPE]).combine_chunks())


def test_a_column_alone_keeps_its_missing_values(engine: Engine):
    engine.load(TABLE, pa.table({"a": pa.array([None, "", None])}))
    assert engine.query(statement(f'SELECT a FROM "{TABLE}"'))["a"].to_pylist() == [None, "", None]


def test_a_text_longer_than_any_buffer_comes_back(engine: Engine):
    long = "x" * 5_000_000
    engine.load(TABLE, pa.table({"a": [long, "y"]}))
    assert engine.query(statement(f'SELECT a FROM "{TABLE}"'))["a"].to_pylist() == [long, "y"]


def test_tables_without_rows_have_their_types(engine: Engine):
    engine.load(TABLE, EVERY_TYPE.schema.empty_table())
    assert engine.query(statement(f'SELECT * FROM "{TABLE}"')).schema == EVERY_TYPE.schema


def test_small_types_and_dictionaries_are_stored_as_the_few_that_tables_have(engine: Engine):
    given = {"a": pa.array([1], pa.int8()), "b": pa.array([2**32 - 1], pa.uint32()), "c": pa.array(["x"]).dictionary_encode()}
    engine.load(TABLE, pa.table(given))
    assert engine.query(statement(f'SELECT * FROM "{TABLE}"')).to_pylist() == [{"a": 1, "b": 2**32 - 1, "c": "x"}]


def test_sums_have_128_bits_and_larger_ones_are_an_error(engine: Engine):
    engine.load(TABLE, pa.table({"a": pa.array([2**63 - 1] * 3, pa.int64())}))
    assert engine.query(statement(f'SELECT sum(a) AS v FROM "{TABLE}"'))["v"].to_pylist() == [Decimal(3 * (2**63 - 1))]
    with pytest.raises(EngineError, match="does not fit"):
        engine.query(statement(f'SELECT sum(a) * sum(a) * sum(a) AS v FROM "{TABLE}"'))
    with pytest.raises(EngineError, match="out of range"):
        engine.query(statement(f'SELECT CAST(sum(a) AS BIGINT) AS v FROM "{TABLE}"'))


def test_the_character_nul_is_refused_as_such(engine: Engine):
    with pytest.raises(InputError) as raised:
        engine.load(TABLE, pa.table({"a": ["a\0b"]}))
    assert raised.value.problems[0].code == "E347"


def test_texts_are_in_the_order_of_their_code_points(postgres: Server):
    """Whatever the language of the database: every column of text of ours has the collation C."""
    engine = connect(EngineOptions(url=postgres.url()))
    engine.load(TABLE, pa.table({"a": ["b", "B", "a", "é", "~"]}))
    engine.run(create("__rulescore__copy", statement(f"SELECT a || 'x' AS b FROM \"{TABLE}\"")))  # type: ignore[arg-type]
    assert engine.query(statement(f'SELECT a FROM "{TABLE}" ORDER BY a'))["a"].to_pylist() == ["B", "a", "b", "~", "é"]
    found = engine.query(
        statement("SELECT DISTINCT collation_name AS c FROM information_schema.columns WHERE table_name LIKE '\\_\\_rulescore%'")
    )
    assert found["c"].to_pylist() == ["C"]
    engine.close()


@pytest.mark.parametrize(("text", "small"), [("ABC", "abc"), ("ÉÀ", "éà"), ("ΣΩ", "σω"), ("ЖЯ", "жя")])
def test_letters_of_every_alphabet_have_small_and_capital_forms(engine: Engine, text: str, small: str):
    assert computed(engine, constant(text).lower()) == small
    assert computed(engine, constant(small).upper()) == text


DOUBLES = [0.0, 1.5, -3.0, 1e-200, -1e-200, 1e200, -1e200, 5e-324, 9e307, 1.7976931348623157e308, -1.7976931348623157e308]


@pytest.mark.parametrize("kind", [mul, truediv, add, sub])
def test_doubles_are_computed_as_duckdb_does_where_they_are_infinite_or_vanish(engine: Engine, kind: Callable[[Sql, Sql], Sql]):
    """PostgreSQL calls either an error."""
    other = connect(EngineOptions(threads=1))

    sides = [(a, b) for a in DOUBLES for b in DOUBLES if b != 0.0]
    query = select(**{f"v{i}": doubles(kind(constant(a), constant(b))) for i, (a, b) in enumerate(sides)})
    assert engine.query(query).to_pylist() == other.query(query).to_pylist()
    other.close()


def test_powers_and_exponentials_are_computed_as_duckdb_does(engine: Engine):
    other = connect(EngineOptions(threads=1))

    bases, exponents = (0.5, 1.0, 2.0, 1e200, -3.0), (2.0, -2.0, 3.0, 1001.0, 1000.0, -2000.0, 1e30, -1e30, 1e308)
    powers = [exp.Pow(this=constant(a).node, expression=constant(b).node) for a in bases for b in exponents]
    exponentials = [exp.Exp(this=constant(one).node) for one in (0.0, 1.0, 709.0, 710.0, -745.0, -746.0, 1e308, -1e308)]
    query = select(**{f"v{i}": one for i, one in enumerate([*powers, *exponentials])})
    found, expected = (list(one.query(query).to_pylist()[0].values()) for one in (engine, other))
    other.close()
    assert found == pytest.approx(expected, rel=1e-15, abs=0)


def test_doubles_that_leave_the_range_are_no_error_in_a_new_table_either(engine: Engine):
    engine.run(create(TABLE, select(v=doubles(constant(1e200) * constant(1e200)))))
    assert engine.query(statement(f'SELECT v FROM "{TABLE}"'))["v"].to_pylist() == [float("inf")]


@pytest.mark.parametrize(("given", "expected"), [(2.5, 2), (-1e300, None), (9.3e18, None), (-9.2e18, -(92 * 10**17))])
def test_a_whole_number_of_more_than_64_bits_is_missing(engine: Engine, given: float, expected: int | None):
    assert computed(engine, try_cast(call("FLOOR", constant(given)), ValueType.INTEGER)) == expected


# One transaction that leaves nothing behind


RULES = """
one: p(X, Y) <- q(X, Y).
two: p(X, Z) <- q(X, Y), q(Y, Z).
closer: abs(P - R) < 10 <- sale(id: A, price: P), sale(id: B, price: R), A != B.
many: count(Y : q(X, Y)) <= 1 <- q(X, _).
asked: even(A) <- sale(id: A).
functional p(X, Y) on X -> Y.
"""


def everything(url: str) -> list[object]:
    """Facts, a table, formulas, aggregates, pairs within a distance, registered predicates, a statement of SQL, listings."""
    from rulescore.arguments.python import make_setting
    from rulescore.session.session import Session

    rows = pa.table({"id": [1, 2, 3], "price": [1.0, 5.0, 20.0], "test": [False, False, True]})
    table = rulescore.Table(rows=rows, key="id", target="price", hidden={"column": "test", "values": [True]})
    statement = "SELECT NULL AS prediction, a0 = 'a' AS confirmed, a0 = 'b' AS refuted FROM observed_q"
    setting = make_setting(
        {"q": [("a", "b"), ("b", "c")], "p": [("a", "b")]},
        {"model": {"q": [("c", "d")], "p": [("b", "z")]}, "prices": {"sale": pa.table({"id": [3], "prediction": [7.0]})}},
        RULES,
        tables={"sale": table},
        functions={"even": lambda number: number % 2 == 0},
        sql_rules=[rulescore.SqlRule("given", statement)],
        engine=url,
    )
    with Session(setting) as session:
        found: list[object] = [(result.info.name, result.dataset, result.models) for result in session.evaluate().rule_results]
        asked = [("one", "model"), ("two", "model"), ("asked", None), ("closer", "prices")]
        found += [session.violations(rule=rule, model=model, prediction=None, limit=10) for rule, model in asked]
    return found


def test_everything_runs_under_a_role_that_may_make_temporary_tables_only(postgres: Server):
    granted = postgres.ask(
        "SELECT has_database_privilege('reader', 'postgres', 'CREATE'), has_schema_privilege('reader', 'public', 'CREATE'), "
        "rolsuper FROM pg_roles WHERE rolname = 'reader'"
    )
    assert granted == [(False, False, False)]
    assert everything(postgres.url()) == everything("duckdb")
    assert not sessions(postgres)


def test_nothing_is_left_after_an_error(postgres: Server):
    with pytest.raises(InputError):
        rulescore.audit({"q": [("a", "b\0")]}, "one: false <- q(X, Y).", engine=postgres.url())
    assert not sessions(postgres)


def test_locks_do_not_grow_with_what_is_listed(postgres: Server):
    """A server has room for some thousand of them, for all of its sessions together."""
    from rulescore.arguments.python import make_setting
    from rulescore.session.session import Session

    names = [f"p{i}" for i in range(6)]
    rules = [f"r{i}: {names[i]}(X, Y) <- {names[i - 1]}(X, Z), {names[i - 2]}(Z, Y)." for i in range(6)]
    rules += [f"c{i}: count(Y : {names[i]}(X, Y)) <= 0 <- {names[i - 1]}(X, _)." for i in range(6)]
    facts = {name: [("a", "b"), ("b", "a"), ("b", "c")] for name in names}
    predictions = {"m": {name: [("c", "a"), ("a", "c")] for name in names}}
    setting = make_setting(facts, predictions, ["\n".join([*rules, f"incompatible {', '.join(names)}."])], engine=postgres.url())

    def listed(session: Session) -> int:
        for model in (None, "m"):
            assert session.violations(rule=None, model=model, prediction=None, limit=1000).rows
        for rule in session.rules:
            assert session.violations(rule=rule.name, model="m", prediction=parse_atom('p1("c", "a")'), limit=1000)
            assert session.statement(rule.name)
        # Of this session alone: another test's may not have ended yet.
        (pid,) = session.engine.query(sqlglot.parse_one("SELECT PG_BACKEND_PID() AS pid", dialect="postgres"))["pid"].to_pylist()
        ((count,),) = postgres.ask(f"SELECT count(*) FROM pg_locks WHERE pid = {pid}")
        return int(count)

    with Session(setting) as session:
        session.evaluate()
        assert listed(session) == listed(session)


def test_every_statement_sees_the_database_as_it_was_at_the_beginning(postgres: Server):
    postgres.ask("CREATE TABLE public.seen (a int)")
    postgres.ask(f"GRANT USAGE ON SCHEMA public TO {READER}")
    postgres.ask(f"GRANT SELECT ON public.seen TO {READER}")
    try:
        engine = connect(EngineOptions(url=postgres.url()))
        count = statement("SELECT count(*) AS n FROM public.seen")
        engine.load(TABLE, pa.table({"a": [1]}))
        postgres.ask("INSERT INTO public.seen VALUES (1)")
        assert engine.query(count)["n"].to_pylist() == [0]
        engine.close()
    finally:
        postgres.ask("DROP TABLE public.seen")


def test_queries_cannot_write(postgres: Server):
    """Not even for a role that may."""
    engine = connect(EngineOptions(url=postgres.url(user="postgres")))
    with pytest.raises(EngineError, match="read-only"):
        engine.query(statement("SELECT nextval(lo_creat(-1)::text) AS v"))
    engine.load(TABLE, pa.table({"a": [1]}))
    engine.close()


def test_a_query_that_failed_leaves_the_session_usable(engine: Engine):
    engine.load(TABLE, pa.table({"a": [1]}))
    for wrong in ("SELECT * FROM nowhere", "SELECT CAST('a' AS INT) AS v", 'SELECT 1 / (a - 1) AS v FROM "__rulescore__t"'):
        with pytest.raises(EngineError) as raised:
            engine.query(statement(wrong), as_written=True)
        assert isinstance(raised.value.__cause__, psycopg.Error)
    assert engine.query(statement(f'SELECT a FROM "{TABLE}"'))["a"].to_pylist() == [1]
    assert value(engine, "current_setting('join_collapse_limit')") == "8"


def test_dropping_what_an_error_has_dropped_already_is_no_second_error(engine: Engine):
    from rulescore.sql.query import drop

    with pytest.raises(EngineError, match="nowhere"):
        engine.run(statement('CREATE TEMPORARY TABLE "__rulescore__t" AS SELECT * FROM nowhere'))
    engine.run(drop(TABLE))


@pytest.mark.parametrize(("setting", "during", "after"), [("join_collapse_limit", "1", "8"), ("enable_nestloop", "off", "on")])
def test_as_written_holds_for_one_statement_only(engine: Engine, setting: str, during: str, after: str):
    asked = statement(f"SELECT current_setting('{setting}') AS v")
    assert engine.query(asked, as_written=True)["v"].to_pylist() == [during]
    assert engine.query(asked)["v"].to_pylist() == [after]


def test_statistics_are_gathered_before_a_table_is_read(engine: Engine):
    engine.load(TABLE, pa.table({"a": list(range(1000))}))
    engine.run(create("__rulescore__copy", statement(f'SELECT a FROM "{TABLE}"')))  # type: ignore[arg-type]
    found = "SELECT DISTINCT tablename AS t FROM pg_stats WHERE tablename LIKE '%rulescore%' ORDER BY 1"
    assert engine.query(statement(found))["t"].to_pylist() == ["__rulescore__copy", TABLE]


def test_the_server_knows_how_many_different_tuples_a_table_has(engine: Engine):
    """It would expect as many as there are rows divided by ten, and few rows of a join."""
    engine.load(TABLE, pa.table({"a0": [i % 50 for i in range(3000)], "a1": [i // 50 for i in range(3000)]}))
    assert engine.query(statement(f'SELECT COUNT(*) AS n FROM "{TABLE}"'))["n"].to_pylist() == [3000]
    assert "rows=3000" in engine.explain(f'SELECT a0, a1 FROM "{TABLE}" GROUP BY a0, a1').splitlines()[0]


def test_the_server_knows_that_a_table_is_small(engine: Engine):
    engine.load(TABLE, pa.table({"a": [1, 2]}))
    engine.query(statement(f'SELECT a FROM "{TABLE}"'))
    assert "rows=2 " in engine.explain(f'SELECT a FROM "{TABLE}"')


def test_an_aggregate_is_not_computed_anew_for_each_row(engine: Engine):
    """Each mention of such a query would be a plan of its own, which runs for every row that is read."""
    engine.load(TABLE, pa.table({"a": [1, 2, 3, 3], "b": [5, 6, 7, 9]}))
    groups = f'SELECT g.a, (SELECT COUNT(*) FROM "{TABLE}" AS t WHERE t.b = g.a + 4) AS n FROM "{TABLE}" AS g'
    asked = statement(f"SELECT m.a, m.n + m.n AS n FROM ({groups}) AS m")
    assert "SubPlan" in engine.explain(asked.sql("postgres"))
    assert "SubPlan" not in engine.explain(engine.text(asked))
    assert sorted(row["n"] for row in engine.query(asked).to_pylist()) == [2, 2, 2, 2]


def test_names_that_the_server_cuts_to_the_same_are_refused(postgres: Server):
    """A view under such a name would silently be the other's."""
    names = [f"{'relation_' * 8}{end}" for end in ("one", "two")]
    reads = " UNION ALL ".join(
        f"SELECT NULL AS prediction, true AS confirmed, false AS refuted FROM observed_{one}" for one in names
    )
    facts = {names[0]: [("a", "b")], names[1]: [("a", "b"), ("b", "c")]}

    def audit(engine: str) -> rulescore.Result:
        return rulescore.audit(facts, "", sql_rules=[rulescore.SqlRule("given", reads)], engine=engine)

    assert audit("duckdb").rule_results[0].dataset.confirmed == 3
    with pytest.raises(InputError) as raised:
        audit(postgres.url())
    assert raised.value.problems[0].code == "E204"


def test_the_server_looks_whether_we_are_still_there(engine: Engine):
    assert value(engine, "current_setting('client_connection_check_interval')") == "5s"


def test_a_server_that_cannot_look_is_used_all_the_same(postgres: Server, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_engine, "_CHECK", "client_min_messages")  # which does not take `5s` either
    connect(EngineOptions(postgres.url())).close()
