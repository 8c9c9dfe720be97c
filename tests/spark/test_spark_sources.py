"""What Spark reads stays with it: facts, predictions, rows of tables, hidden ids and predictions of targets, of any type."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

import rulescore
from rulescore.errors import InputError
from rulescore.spark.engine import SparkEngine
from servers.spark_program import sorted_rows

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("spark")]

MANY = 1000
RULES = """
dear: P > 20.0 <- house(id: I, price: P, rooms: R), R > 2.
next: near(X, Z) <- near(X, Y), near(Y, Z).
"""


def near(step: int) -> pa.Table:
    """Places, which are doubles, and those some steps further on."""
    places = [i / 7 for i in range(MANY)]
    return pa.table({"head": places, "relation": ["near"] * MANY, "tail": [(i + step) / 7 for i in range(MANY)]})


HIDDEN = pa.array(range(0, MANY, 2), pa.int64())
SOURCES = {
    "facts": near(1),
    "answers": near(2),
    "houses": pa.table({"id": range(MANY), "price": [i / 3 for i in range(MANY)], "rooms": [i % 5 for i in range(MANY)]}),
    "hidden": pa.table({"id": HIDDEN}),
    "prices": pa.table({"id": HIDDEN, "prediction": [i / 11 for i in range(0, MANY, 2)]}),
}


def evaluated(engine: object, sources: Mapping[str, object], contributions: Path | bool) -> rulescore.Result:
    house = rulescore.Table(sources["houses"], key="id", target="price", hidden=sources["hidden"])
    models = {"places": sources["answers"], "prices": {"house": sources["prices"]}}
    tables = {"house": house}
    return rulescore.score(sources["facts"], models, RULES, tables=tables, engine=engine, contributions=contributions)


def written(rows: pa.Table, path: Path) -> Path:
    parquet.write_table(rows, path)
    return path


def in_two_files(rows: pa.Table, folder: Path) -> Path:
    folder.mkdir()
    written(rows[:10], folder / "one.parquet")
    written(rows[10:], folder / "two.parquet")
    return folder


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of every table that goes to Spark or comes from it, while the test lasts."""
    found: list[int] = []

    def counting(method: Callable[..., object]) -> Callable[..., object]:
        def counted(self: SparkEngine, *arguments: object, **options: object) -> object:
            answer = method(self, *arguments, **options)
            found.extend(one.num_rows for one in (*arguments, answer) if isinstance(one, pa.Table))
            return answer

        return counted

    for name in ("load", "append", "query"):
        monkeypatch.setattr(SparkEngine, name, counting(getattr(SparkEngine, name)))
    return found


def test_rows_of_sources_never_come_here(spark: SparkSession, tmp_path: Path, moved: list[int]) -> None:
    """From files and from frames: counts do, and what rules are made of goes there, however many rows there are. Contributions are
    written by the executors."""
    there = {
        name: spark.createDataFrame(rows) if name in ("answers", "hidden") else written(rows, tmp_path / f"{name}.parquet")
        for name, rows in SOURCES.items()
    }
    there["facts"] = in_two_files(SOURCES["facts"], tmp_path / "facts")
    found = evaluated(spark, there, tmp_path / "contributions")
    with pytest.raises(InputError, match="E502"):
        _ = found.contributions
    assert moved
    assert max(moved) < 50
    wanted = evaluated("duckdb", SOURCES, True)
    assert found.rules.to_pylist() == wanted.rules.to_pylist()
    assert found.models.to_pylist() == wanted.models.to_pylist()
    assert sorted_rows(parquet.read_table(tmp_path / "contributions")) == sorted_rows(wanted.contributions)
    assert len(wanted.contributions) > MANY


VALUES = {
    "double": pa.array([0.1, 1e-5, 2.0, 1e22], pa.float64()),
    "float": pa.array([0.1, 1e-5, 2.0, 1e22], pa.float32()),
    "decimal": pa.array([Decimal("0.10"), Decimal("2.00"), Decimal("123456789012.25"), Decimal("-7.50")], pa.decimal128(20, 2)),
    "whole decimal": pa.array([Decimal(2), Decimal(10**20), Decimal(-7), Decimal(0)], pa.decimal128(25, 0)),
    "unsigned": pa.array([2, 2**64 - 1, 0, 7], pa.uint64()),
    "day": pa.array([datetime.date(2024, 5, 31), datetime.date(1, 1, 1), datetime.date(1970, 1, 1)], pa.date32()),
    "clock": pa.array([datetime.datetime(2024, 5, 31), datetime.datetime(1, 1, 1), datetime.datetime.max], pa.timestamp("us")),
    "millisecond": pa.array([datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000)], pa.timestamp("ms")),
    "instant": pa.array([-1, 1_717_149_600_000_000], pa.timestamp("us", "Asia/Kathmandu")),
    "fine": pa.array([-1_000, 0], pa.timestamp("ns", "UTC")),
    "text": pa.array(["a", "", "\x01n2", "2"], pa.string()),
    "truth": pa.array([True, False], pa.bool_()),
}


def test_values_of_every_type_are_the_constants_that_they_are_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    """Facts there meet predictions from here, and come back in contributions as they went."""
    names = {kind: kind.replace(" ", "_") for kind in VALUES}
    answers = [(value, f"is_{names[kind]}", "x") for kind, column in VALUES.items() for value in column.to_pylist()]
    files = [
        written(
            pa.table({"head": column, "relation": [names[kind]] * len(column), "tail": ["x"] * len(column)}),
            tmp_path / f"{names[kind]}.parquet",
        )
        for kind, column in VALUES.items()
    ]
    rules = "".join(f'{one}: is_{one}(X, "x") <- {one}(X, "x").\n' for one in names.values())

    def scored(engine: object) -> rulescore.Result:
        return rulescore.score(files, {"m": answers}, rules, engine=engine, contributions=True, allow_unrefutable=True)

    found, wanted = scored(spark), scored("duckdb")
    assert found.rules.to_pylist() == wanted.rules.to_pylist()
    assert sorted_rows(found.contributions) == sorted_rows(wanted.contributions)
    assert sum(one.models["m"].counts.confirmed for one in wanted.rule_results) == len(answers)


def test_the_best_answers_of_a_query_may_be_doubles(spark: SparkSession, tmp_path: Path) -> None:
    """Of equal scores those come first whose constants do, as text: 0.25 before 0.5, and 1e-05 behind. In the file they
    stand in this order, which is what counts if the file is read here."""
    rows = {
        "head": ["a"] * 4,
        "relation": ["p"] * 4,
        "tail": [0.25, 0.5, 1e-5, 0.125],
        "query": ["a"] * 4,
        "score": [1.0, 1.0, 1.0, 0.5],
    }
    answers = written(pa.table(rows), tmp_path / "answers.parquet")

    def kept(engine: object) -> list[dict[str, object]]:
        facts = {"q": [("a", 0.25), ("a", 0.5)]}
        rules = "q(X, Y) <- p(X, Y). closed q."
        found = rulescore.score(facts, {"m": answers}, rules, top_k=2, engine=engine, contributions=True)
        return sorted_rows(found.contributions)

    assert kept(spark) == kept("duckdb")
    assert len(kept("duckdb")) == 2


# What is observed and what is predicted.
TARGETS = {
    "number": ([1.5, 2.5, 0.1], [0.1, 1e22]),
    "whole": ([1, 2, 3], [2, 7]),
    "by_floats": ([1, 2, 3], [2.0, 7.5]),
    "by_whole_floats": ([1, 2, 3], [2.0, 7.0]),
    "word": (["a", "b", "c"], ["a", "\x01x"]),
    "truth": ([True, False, True], [False, True]),
    "day": ([datetime.date(2024, 1, 1)] * 3, [datetime.date(2023, 1, 1), datetime.date(2025, 1, 1)]),
}


def test_targets_of_every_type_are_predicted_there(spark: SparkSession, tmp_path: Path) -> None:
    rows = {
        kind: pa.table({"a": [1, 1, 2, 2, 3], "b": ["x", "y", "x", "y", "x"], "v": [*values, None, None]})
        for kind, (values, _) in TARGETS.items()
    }
    guesses = {
        kind: pa.table({"a": [2.0, 3.0], "b": ["y", "x"], "prediction": predicted}) for kind, (_, predicted) in TARGETS.items()
    }
    rules = "".join(f"{kind}: V = W <- {kind}(a: A, v: V), {kind}(a: B, v: W), A != B.\n" for kind in TARGETS)
    hidden = {"where": 'a = 2 and b = "y" or a = 3'}

    def scored(engine: object, rows: Mapping[str, object], predictions: Mapping[str, object]) -> rulescore.Result:
        tables = {kind: rulescore.Table(rows[kind], key=["a", "b"], target="v", hidden=hidden) for kind in TARGETS}
        return rulescore.score(None, {"m": predictions}, rules, tables=tables, engine=engine, contributions=True)

    found = scored(
        spark,
        {kind: written(one, tmp_path / f"{kind}.parquet") for kind, one in rows.items()},
        {kind: spark.createDataFrame(one) for kind, one in guesses.items()},
    )
    wanted = scored("duckdb", rows, guesses)
    assert found.rules.to_pylist() == wanted.rules.to_pylist()
    assert found.models.to_pylist() == wanted.models.to_pylist()
    assert sorted_rows(found.contributions) == sorted_rows(wanted.contributions)
    assert len(wanted.contributions) == 2 * len(TARGETS)


@pytest.mark.parametrize(
    ("rows", "code", "words"),
    [
        ({"id": [4], "predicted": [1.0]}, "E320", "there is no column `prediction`"),
        ({"id": ["4"], "prediction": [1.0]}, "E351", "`id` is a string, and the table's column an integer"),
        ({"id": [4.5, 4.0], "prediction": [1.0, 2.0]}, "E351", "1 value of `id` is not a whole number: `4.5`"),
        ({"id": pa.array([2**64 - 1], pa.uint64()), "prediction": [1.0]}, "E314", "`id` does not fit into 64 bits"),
        ({"id": [4], "prediction": [float("nan")]}, "E351", "predicts NaN or infinity for 1 id: `4`"),
        ({"id": [4], "prediction": pa.array([None], pa.float64())}, "E351", "has no prediction for 1 id"),
        ({"id": [9], "prediction": [1.0]}, "E352", "`9`"),
        ({"id": [1], "prediction": [1.0]}, "E353", "is not hidden: `1`"),
        ({"id": [4, 4], "prediction": [1.0, 2.0]}, "E345", "predicts different values for 1 id: `4`"),
    ],
)
def test_what_is_wrong_with_predictions_there_is_told_with_the_file(
    spark: SparkSession, tmp_path: Path, rows: Mapping[str, object], code: str, words: str
) -> None:
    path = written(pa.table(dict(rows)), tmp_path / "guesses.parquet")
    table = rulescore.Table({"id": [1, 4], "v": [1.0, None]}, key="id", target="v", hidden=[4])
    with pytest.raises(InputError) as error:
        rulescore.score(None, {"m": {"thing": path}}, "V > 0.0 <- thing(v: V).", tables={"thing": table}, engine=spark)
    (problem,) = error.value.problems
    assert problem.code == code
    assert words in problem.message
    assert problem.place is not None
    assert problem.place.name == str(path)


def test_files_that_spark_cannot_read_as_we_do_are_read_here(spark: SparkSession, tmp_path: Path) -> None:
    """Times to the nanosecond are nothing to it, in whatever column; of a damaged file it is told which one it is."""
    here = pa.array([datetime.datetime(2024, 5, 30, 22)], pa.timestamp("us", "UTC")).cast(pa.timestamp("us", "Europe/Berlin"))
    moments = pa.array([datetime.datetime(2024, 5, 31)], pa.timestamp("ns"))
    path = written(pa.table({"id": here, "prediction": [1.0]}), tmp_path / "guesses.parquet")
    rows = written(pa.table({"id": here.cast(pa.timestamp("ns", "UTC")), "v": [0.5], "made": moments}), tmp_path / "rows.parquet")
    table = rulescore.Table(rows, key="id", target="v", hidden="v = 0.5")

    def scored() -> rulescore.Result:
        return rulescore.score(None, {"m": {"thing": path}}, "V > 0.0 <- thing(v: V).", tables={"thing": table}, engine=spark)

    assert scored().rule_results[0].models["m"].counts.confirmed == 1
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"guesses\.parquet"):
        scored()


def test_hidden_ids_there_are_checked_against_the_rows(spark: SparkSession, tmp_path: Path) -> None:
    path = written(pa.table({"id": [4, 9]}), tmp_path / "hidden.parquet")
    table = rulescore.Table({"id": [1, 4], "v": [1.0, None]}, key="id", target="v", hidden=path)
    with pytest.raises(InputError, match=r"E335.*`9`"):
        rulescore.audit(None, "V > 0.0 <- thing(v: V).", tables={"thing": table}, engine=spark)


def test_a_column_of_models_in_a_file_is_no_more_than_a_column(spark: SparkSession, tmp_path: Path) -> None:
    """As elsewhere: the file is one model's. A catalog table of several models is read in part."""
    rows = pa.table({"id": [4], "prediction": [1.0], "model": ["other"]})
    table = rulescore.Table({"id": [1, 4], "v": [1.0, None]}, key="id", target="v", hidden=[4])
    given = {"m": {"thing": written(rows, tmp_path / "guesses.parquet")}}
    found = rulescore.score(None, given, "V > 0.0 <- thing(v: V).", tables={"thing": table}, engine=spark)
    assert found.rule_results[0].models["m"].counts.confirmed == 1


def test_a_source_that_was_probably_read_wrongly_is_told(spark: SparkSession, tmp_path: Path) -> None:
    rule = "near(X, Z) <- near(X, Y), near(Y, Z)."
    facts = [("a", "near", "b"), ("b", "near", "c")]
    wide = written(pa.table({"who": ["a"], "kind": ["near"], "whom": ["c"], "n": [1]}), tmp_path / "all.parquet")
    with pytest.raises(InputError) as raised:
        rulescore.score(facts, {"m": wide}, rule, engine=spark)
    (problem,) = raised.value.problems
    assert (problem.code, problem.notes[0]) == ("E328", "the first row was read as `all(a, near, c, 1)`")
    with pytest.raises(InputError) as raised:
        rulescore.audit([wide, facts], rule, engine=spark)
    assert [one.code for one in raised.value.problems] == ["E328"]
    named = spark.createDataFrame(facts, "subj string, pred string, obj string")
    assert rulescore.audit(named, rule, engine=spark).summary.facts == 2
    with pytest.raises(InputError) as raised:
        rulescore.audit(spark.createDataFrame(facts, "who string, kind string, whom string"), rule, engine=spark)
    assert [one.code for one in raised.value.problems] == ["E320"]


def test_a_session_s_time_zone_does_not_matter(spark: SparkSession) -> None:
    """Half an hour that no clock of Berlin shows, and one that it shows twice."""
    other = spark.newSession()
    other.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    frame = other.sql("SELECT 'a' AS a0, TIMESTAMP_NTZ '2024-03-31 02:30:00.000001' AS a1, TIMESTAMP '2024-10-27 00:30:00Z' AS a2")
    rules = """
    one: T = 2024-03-31T02:30:00.000001 and I = 2024-10-27T02:30:00+02:00 and date(I) = 2024-10-27 <- moment(X, T, I).
    two: hours(T - 2024-03-31T01:30:00.000001) = 1 <- moment(X, T, I).
    """
    found = rulescore.audit({"moment": frame}, rules, engine=other)
    assert [(one.dataset.confirmed, one.dataset.refuted) for one in found.rule_results] == [(1, 0), (1, 0)]
    assert other.conf.get("spark.sql.session.timeZone") == "Europe/Berlin"
