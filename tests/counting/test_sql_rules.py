"""Rules given as statements: counted like the same rule in the language, run word for word, and refused with a reason."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rulescore
from rulescore import SqlRule
from rulescore.arguments.python import make_setting
from rulescore.counting.sql_rules import refuse_other_statements
from rulescore.errors import Diagnostic, EngineError, InputError, Place
from rulescore.language.parser import parse_atom
from rulescore.language.syntax import Atom, Constant, Kind
from rulescore.session.session import Session
from rulescore.setting.model import Setting

FACTS = {
    "sister": [("ann", "bob"), ("ann", "dan"), ("eve", "dan")],
    "wife": [("ann", "bob"), ("eve", "cy")],
    "age": [("ann", 50), ("bob", 30)],
}
PREDICTED = {"wife": [("ann", "dan"), ("ann", "bob"), ("eve", "bob")], "sister": [("eve", "cy"), ("cy", "cy")], "age": [("dan", 7)]}

DENIAL = """
SELECT NULL AS prediction, false AS confirmed, true AS refuted, s.a0 AS sister, s.a1 AS "of"
FROM observed_sister s JOIN observed_wife w ON s.a0 = w.a0 AND s.a1 = w.a1
UNION ALL
SELECT p.prediction, false, true, p.a0, p.a1 FROM predicted_sister p JOIN observed_wife w ON p.a0 = w.a0 AND p.a1 = w.a1
UNION ALL
SELECT p.prediction, false, true, p.a0, p.a1 FROM predicted_wife p JOIN observed_sister s ON p.a0 = s.a0 AND p.a1 = s.a1
"""
AGES = "SELECT NULL AS prediction, a1 > 40 AS confirmed, a1 <= 40 AS refuted, a0 AS who FROM observed_age"
WITH_PREDICTIONS = f"{AGES} UNION ALL SELECT prediction, a1 > 40, a1 <= 40, a0 FROM predicted_age"

SALES = {
    "id": [1, 2, 3, 4, 5],
    "zip": ["a", "a", "b", "a", "b"],
    "price": [100.0, 150.0, 300.0, 170.0, 320.0],
    "split": ["train", "train", "train", "test", "test"],
}
PAIRS = """
WITH pairs AS (
       SELECT NULL AS prediction, a.price AS p, b.price AS q
       FROM observed_sale a JOIN observed_sale b ON a.zip = b.zip AND a.id <> b.id
       UNION ALL
       SELECT a.prediction, a.price, b.price FROM predicted_sale a JOIN observed_sale b ON a.zip = b.zip AND a.id <> b.id
       UNION ALL
       SELECT b.prediction, a.price, b.price FROM predicted_sale b JOIN observed_sale a ON a.zip = b.zip AND a.id <> b.id
     )
SELECT prediction, abs(p - q) <= 30 AS confirmed, abs(p - q) > 30 AS refuted FROM pairs -- null where a price is hidden
"""


def counts(setting: Setting) -> list[Any]:
    """Counts and contributions of the rules, whatever they are called."""
    with Session(setting) as session:
        result = session.evaluate()
    rules = [(rule.kind, rule.dataset, {m: one.counts for m, one in rule.models.items()}) for rule in result.rule_results]
    return [rules, sorted(map(str, result.contributions.drop_columns(["rule"]).to_pylist()))]


def facts_setting(rules: str = "", statement: str | None = None, **options: Any) -> Setting:
    sql_rules = [] if statement is None else [SqlRule("s", statement, **options.pop("given", {}))]
    return make_setting(FACTS, {"model": PREDICTED}, rules, sql_rules=sql_rules, threads=1, **options)


def table_setting(rules: str, sql_rules: list[SqlRule]) -> Setting:
    table = rulescore.Table(SALES, key="id", target="price", hidden={"column": "split", "values": ["test"]})
    models = {"model": pa.table({"id": [4, 5], "prediction": [125.0, 300.0]})}
    return make_setting(None, models, rules, tables={"sale": table}, sql_rules=sql_rules, threads=1)


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        (DENIAL, "@hard false <- sister(X, Y), wife(X, Y)."),
        (WITH_PREDICTIONS, "@hard N > 40 <- age(X, N)."),
        (f"WITH s AS ({WITH_PREDICTIONS}) SELECT * FROM s WHERE who <> 'x';\n-- the end;", "@hard N > 40 <- age(X, N)."),
    ],
)
def test_counts_are_those_of_the_same_rule_in_the_language(statement: str, rule: str, engine: str) -> None:
    assert counts(facts_setting("", statement, given={"kind": Kind.HARD}, engine=engine)) == counts(facts_setting(rule))


def test_a_rule_over_a_table_counts_what_the_language_counts() -> None:
    rule = "abs(P - Q) <= 30 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q), A != B."
    assert counts(table_setting("", [SqlRule("pairs", PAIRS)])) == counts(table_setting(rule, []))


@pytest.mark.parametrize(
    "end", [";", " ; ", ";;", " -- a comment", "; -- a comment", " /* a comment */;\n", "\n-- a comment;\n;\n", " -- it's"]
)
def test_a_statement_may_end_in_semicolons_and_comments(end: str) -> None:
    (result,) = counts(facts_setting("", AGES + end))[0]
    assert (result[1].confirmed, result[1].refuted) == (1, 1)


def test_semicolons_and_comments_in_strings_stay() -> None:
    statement = (
        "SELECT NULL AS prediction, 'a;' = 'a;' AS confirmed, 'x -- y' <> 'x -- y' AS refuted FROM observed_age WHERE 'b;' = 'b;'"
    )
    (result,) = counts(facts_setting("", statement))[0]
    assert (result[1].confirmed, result[1].refuted) == (2, 0)


def test_null_is_neither_confirmed_nor_refuted(engine: str) -> None:
    """A column of nothing but NULL has no type, or that of a text."""
    statement = "SELECT NULL AS prediction, NULL AS confirmed, a1 = 30 AS refuted FROM observed_age"
    (result,) = counts(facts_setting("", statement, engine=engine))[0]
    assert (result[1].confirmed, result[1].refuted, result[1].evaluable) == (0, 1, 1)


def test_names_that_need_quotes() -> None:
    facts = {"has part": [("a", "b")], 'say "hi"': [("a",)]}
    rows = '"observed_has part" h JOIN "observed_say ""hi""" s USING (a0)'
    statement = f"SELECT NULL AS prediction, true AS confirmed, false AS refuted FROM {rows}"
    result = rulescore.audit(facts, "", sql_rules=[SqlRule("s", statement)])
    assert result.rule_results[0].dataset.confirmed == 1


def test_what_is_not_predicted_is_an_empty_view() -> None:
    """The statement is the same with predictions and without."""
    result = rulescore.audit(FACTS, "", sql_rules=[SqlRule("s", WITH_PREDICTIONS), SqlRule("t", DENIAL)])
    assert [rule.dataset.evaluable for rule in result.rule_results] == [2, 1]


def test_weights_and_kinds_are_given_by_name() -> None:
    setting = facts_setting("", DENIAL, weights={"s": 3.0}, kinds={"s": "hard"})
    with Session(setting) as session:
        (rule,) = session.evaluate().rule_results
    assert (rule.kind.value, rule.info.weight, rule.info.name) == ("hard", 3.0, "s")


def problems(*rules: SqlRule, text: str = "") -> tuple[Diagnostic, ...]:
    with pytest.raises(InputError) as raised:
        Session(make_setting(FACTS, None, text, sql_rules=rules))
    return raised.value.problems


def test_e293_columns_that_are_missing() -> None:
    place = Place("project.toml", 3, 1)
    (problem,) = problems(SqlRule("s", "SELECT NULL AS prediction, 1 AS other FROM observed_age", place=place))
    assert (problem.code, problem.place) == ("E293", place)
    assert problem.message == "the statement of rule `s` does not return `confirmed` and `refuted`"
    assert problem.notes == ("it returns `prediction`, `other`",)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            "NULL AS prediction, 'yes' AS confirmed, false AS refuted",
            "returns `confirmed` as string, which is not true, false or null",
        ),
        (
            "NULL AS prediction, true AS confirmed, 0.5 AS refuted",
            "returns `refuted` as decimal128(2, 1), which is not true, false",
        ),
        (
            "a0 AS prediction, true AS confirmed, false AS refuted",
            "returns `prediction` as string, which is not the number of a prediction",
        ),
    ],
)
def test_e293_columns_of_other_types(columns: str, message: str) -> None:
    (problem,) = problems(SqlRule("s", f"SELECT {columns} FROM observed_age"))
    assert (problem.code, problem.message.removeprefix("the statement of rule `s` ")[: len(message)]) == ("E293", message)


def test_e294_a_prediction_that_nobody_made(engine: str) -> None:
    """Its rows would count nowhere."""
    statement = WITH_PREDICTIONS.replace("SELECT prediction", "SELECT prediction + 1000")
    assert statement != WITH_PREDICTIONS
    with Session(facts_setting("", statement, engine=engine)) as session, pytest.raises(InputError) as caught:
        session.evaluate()
    (problem,) = caught.value.problems
    assert problem.code == "E293"
    assert problem.message.startswith("the statement of rule `s` returns the prediction 1")


def test_violations_of_a_model_and_of_one_prediction_are_listed(engine: str) -> None:
    with Session(facts_setting("", WITH_PREDICTIONS, engine=engine)) as session:
        (row,) = session.violations(rule="s", model="model", prediction=None, limit=5).rows
        atom = parse_atom(str(row.prediction))
        assert session.violations(rule="s", model="model", prediction=atom, limit=5).rows == [row]
        assert session.violations(rule="s", model=None, prediction=None, limit=5).total == 1


def test_e293_a_statement_that_cannot_be_run() -> None:
    (problem,) = problems(SqlRule("s", "SELECT * FROM nowhere"))
    assert (problem.code, problem.message) == ("E293", "the statement of rule `s` cannot be run")
    assert 1 <= len(problem.notes) <= 2
    assert problem.helps == ("a statement reads `observed_NAME` and `predicted_NAME`, for predicates and tables by name",)


COLUMNS = "SELECT NULL AS prediction, true AS confirmed, false AS refuted"


@pytest.mark.parametrize(
    "statement",
    [
        "SELEC 1",
        "",
        ";",
        "-- nothing",
        "SELECT 1; SELECT 2",
        "DROP VIEW observed_age",
        f"{COLUMNS}) AS s; COPY (SELECT 'x') TO '{{file}}'; SELECT * FROM ({COLUMNS}",
        f"{COLUMNS}) AS s; SET memory_limit = '1GB'; SELECT * FROM ({COLUMNS}",
        f"{COLUMNS}) AS s; INSTALL httpfs; SELECT * FROM ({COLUMNS}",
        f"{COLUMNS}) AS s, (SELECT 1 AS one",
        f"{COLUMNS}) AS s --",
        f"{COLUMNS} /* ",
        f"{COLUMNS} /* /* */ ",
        f"{COLUMNS}; DROP VIEW observed_age; --",
        "COPY (SELECT 'x') TO '{file}'",
        "INSERT INTO __rulescore__fact_2 VALUES (1, 1, 1)",
        "EXPLAIN ANALYZE SELECT 1",
    ],
)
def test_e413_what_is_not_exactly_one_query_is_refused_before_it_runs(engine: str, tmp_path: Path, statement: str) -> None:
    file = tmp_path / "written"
    rule = SqlRule("s", statement.replace("{file}", str(file)), place=Place("project.toml", 3, 1))
    with pytest.raises(InputError) as raised:
        Session(make_setting(FACTS, None, "", sql_rules=[rule], engine=engine))
    (problem,) = raised.value.problems
    assert (problem.code, problem.place, len(problem.notes)) == ("E413", rule.place, 1)
    assert not file.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "WITH x AS (INSERT INTO __rulescore__fact_2 VALUES (1, 1, 1) RETURNING *) {columns} FROM x",
        "WITH x AS (DELETE FROM __rulescore__fact_2 RETURNING *) {columns} FROM x",
        "{columns} FROM (WITH x AS (DELETE FROM __rulescore__fact_2 RETURNING *) SELECT * FROM x) AS y",
    ],
)
def test_a_query_that_changes_rows_is_refused(engine: str, statement: str) -> None:
    rule = SqlRule("s", statement.replace("{columns}", COLUMNS))
    with pytest.raises(InputError) as raised:
        Session(make_setting(FACTS, None, "", sql_rules=[rule], engine=engine))
    assert [one.code for one in raised.value.problems] == ["E293" if engine == "duckdb" else "E413"]


@pytest.mark.parametrize(
    "statement",
    [
        f"{COLUMNS} -- a comment to the end",
        f"{COLUMNS}; -- a comment behind the end",
        f"({COLUMNS})",
        f"WITH x AS ({COLUMNS}) SELECT * FROM x UNION ALL SELECT * FROM x ORDER BY 1;;",
        f"{COLUMNS} /* a ; in a /* nested */ comment */ , ';' AS semicolon, $$ ) AS s; $$ AS text",
    ],
)
def test_one_query_is_one_query_however_it_is_written(engine: str, statement: str) -> None:
    result = rulescore.audit(FACTS, "", sql_rules=[SqlRule("s", statement)], engine=engine)
    assert result.rule_results[0].dataset.confirmed >= 1


@pytest.mark.parametrize(
    "source",
    [
        "read_text('{file}')",
        "read_csv('{file}')",
        "'{file}'",
        "glob('{file}')",
        "enable_logging(storage = 'file', storage_path = '{file}')",
    ],
)
def test_a_statement_reads_no_files(tmp_path: Path, source: str) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a,b\n1,2\n")
    statement = f"{COLUMNS}, x.* FROM {source.replace('{file}', str(file))} AS x"
    (problem,) = problems(SqlRule("s", statement))
    assert problem.code == "E293"
    assert file.read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize(("word", "meant"), [("observed_agee", "observed_age"), ("predicted_wfie", "predicted_wife")])
def test_e293_a_view_that_was_probably_meant(word: str, meant: str) -> None:
    (problem,) = problems(SqlRule("s", f"SELECT * FROM {word}"))
    assert problem.helps == (f"for `{word}`, did you mean `{meant}`?",)
    assert not any("Did you mean" in note for note in problem.notes)


def test_e293_problems_of_several_statements_come_together() -> None:
    wrong = [SqlRule("s", "SELECT * FROM nowhere"), SqlRule("t", AGES), SqlRule("u", "SELECT 1 AS prediction")]
    assert [one.code for one in problems(*wrong)] == ["E293"] * 2


@pytest.mark.parametrize(("rules", "text"), [([SqlRule("s", AGES)], "s: N > 40 <- age(X, N)."), ([SqlRule("s", AGES)] * 2, "")])
def test_e204_a_rule_in_sql_has_a_name_of_its_own(rules: list[SqlRule], text: str) -> None:
    (problem,) = problems(*rules, text=text)
    assert (problem.code, problem.message) == ("E204", "two rules are named `s`")


def test_an_error_while_counting_names_the_rule_and_its_place() -> None:
    statement = "SELECT NULL AS prediction, CAST(a0 AS INT) > 1 AS confirmed, false AS refuted FROM observed_age"
    rule = SqlRule("s", statement, place=Place("project.toml", 3, 1))
    with (
        Session(make_setting(FACTS, None, "", sql_rules=[rule])) as session,
        pytest.raises(EngineError, match=r"rule `s` \(project.toml:3:1\)"),
    ):
        session.audit()


def test_violations_show_the_other_columns() -> None:
    with Session(facts_setting("", DENIAL)) as session:
        data = session.violations(rule="s", model=None, prediction=None, limit=10)
        model = session.violations(rule="s", model="model", prediction=None, limit=10)
        one = session.violations(rule=None, model="model", prediction=Atom("wife", (Constant("ann"), Constant("dan"))), limit=10)
        limited = session.violations(rule="s", model="model", prediction=None, limit=1)
    assert (data.total, [row.binding for row in data.rows]) == (1, [{"sister": "ann", "of": "bob"}])
    found = {(str(row.prediction), row.binding["sister"], row.binding["of"]) for row in model.rows}
    assert found == {
        ("wife(ann, dan)", "ann", "dan"),
        ("wife(ann, bob)", "ann", "bob"),
        ("sister(eve, cy)", "eve", "cy"),
    }
    assert model.total == 3
    assert [str(row.prediction) for row in one.rows] == ["wife(ann, dan)"]
    assert (limited.total, len(limited.rows)) == (3, 1)


def test_the_statement_is_shown_as_it_was_given() -> None:
    with Session(facts_setting("", f"\n{AGES};\n")) as session:
        assert session.statement("s") == f"{AGES};"


@pytest.mark.parametrize("column", ["prediction", "ID"])
def test_e293_columns_that_a_statement_could_not_tell_apart_are_refused(column: str) -> None:
    rows = {"id": [1, 2, 3], column: [100.0, 40.0, None]}
    table = rulescore.Table(rows, key="id", target=column, hidden="id = 3")
    statement = f'select prediction, true as confirmed, "{column}" > 60 as refuted from predicted_sale'
    with pytest.raises(InputError, match="cannot tell the column") as caught:
        rulescore.score(None, {"m": {3: 500.0}}, "", tables={"sale": table}, sql_rules=[SqlRule("r", statement)])
    assert [problem.code for problem in caught.value.problems] == ["E293"]


def test_no_library_repeats_a_statement_that_is_refused(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    rule = SqlRule("other", "CALL connect('postgresql://re:S3CRET@h/x')")
    with pytest.raises(InputError, match="E413"):
        refuse_other_statements([rule], "postgres")
    assert "S3CRET" not in caplog.text + capfd.readouterr().err


def test_date_times_are_timestamps_and_instants_those_of_utc() -> None:
    noon = datetime.datetime(2024, 5, 31, 12, 0, 0, 250_000)
    berlin = datetime.timezone(datetime.timedelta(hours=2))
    facts = {"at": [("a", noon, noon.replace(tzinfo=berlin)), ("b", datetime.datetime(1, 1, 1), noon.replace(tzinfo=datetime.UTC))]}
    statement = """
    SELECT NULL AS prediction, a0, a1, CASE WHEN a1 - a2 = INTERVAL 2 HOURS THEN 1 ELSE 0 END AS confirmed,
        CASE WHEN a1 - a2 = INTERVAL 2 HOURS THEN 0 ELSE 1 END AS refuted
    FROM observed_at
    """
    result = rulescore.audit(facts, "", sql_rules=[SqlRule("apart", statement)], threads=1)
    assert result.rule_results[0].dataset.confirmed == result.rule_results[0].dataset.refuted == 1
