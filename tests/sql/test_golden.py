"""One statement for each shape of plan and each form of a formula, as text: rule and SQL stand in one file, and in another for each
dialect in which the SQL differs from DuckDB's.

All dialects print the statements of a DuckDB session, so that no server takes part. `RULESCORE_UPDATE_GOLDEN=1 pytest tests/sql`
writes them anew; the difference is for people to read. A new file in `golden/duckdb` begins with the comment alone."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlglot import exp, parse_one

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.postgres.dialect import POSTGRES
from rulescore.session.session import Session
from rulescore.spark.dialect import SPARK
from rulescore.sql.dialect import DUCKDB, Dialect, text
from rulescore.sql.names import PREFIX
from rulescore.sql.query import Statement, tree

FOLDER = Path(__file__).parent / "golden"
GOLDEN = sorted((FOLDER / "duckdb").glob("*.sql"))
UPDATE = os.environ.get("RULESCORE_UPDATE_GOLDEN") == "1"

OBSERVED = {
    **{name: [("a", "b"), ("b", "c"), ("c", "c")] for name in ("p", "q", "r", "s")},
    "t": [("a",), ("b",)],
    "w": [("a", "b", "c")],
}
PREDICTED = {"p": [("a", "c")], "q": [("b", "a")], "s": [("a", "c")], "t": [("c",)], "sale": {"id": [3], "prediction": [5.0]}}
SALES = {"id": [1, 2, 3], "zip": ["a", "a", "b"], "surface": [2, 0, 4], "price": [10.0, 20.0, 9.0], "split": ["", "", "test"]}

DIALECTS = (DUCKDB, POSTGRES, SPARK)

FUNCTIONS = {"near": lambda left, right: left < right}
ALONE = "the rule alone"


@dataclass(frozen=True, slots=True)
class Golden:
    """A file: its leading comment says the convention, which statement is shown and, in the remaining lines, the rules."""

    convention: str
    shown: str
    rules: str
    sql: str

    @property
    def text(self) -> str:
        comments = [f"convention: {self.convention}", f"shown: {self.shown}", *self.rules.splitlines()]
        return "\n".join([*(f"-- {line}" for line in comments), "", self.sql, ""])


def read(path: Path) -> Golden:
    comment, _, sql = path.read_text(encoding="utf-8").partition("\n\n")
    convention, shown, *rules = [line.removeprefix("-- ") for line in comment.splitlines()]
    return Golden(convention.removeprefix("convention: "), shown.removeprefix("shown: "), "\n".join(rules), sql.rstrip("\n"))


def opened(golden: Golden) -> Session:
    """Facts and, where rules speak of them, a table with a key and a registered predicate."""
    facts = {name: rows for name, rows in PREDICTED.items() if name != "sale"}
    if "sale" not in golden.rules:
        return Session(
            make_setting(OBSERVED, {"model": facts}, golden.rules, convention=golden.convention, threads=1, functions=FUNCTIONS)
        )
    table = rulescore.Table(
        SALES, key="id", target="price", hidden={"column": "split", "values": ["test"]}, derived={"unit": "price / surface"}
    )
    models = {"model": {"sale": PREDICTED["sale"]}}
    return Session(make_setting(OBSERVED, models, golden.rules, tables={"sale": table}, threads=1))


def statement(session: Session, shown: str, dialect: Dialect) -> str:
    """What the session shows. It runs statements too, which are never pretty, as DuckDB wants them."""
    engine = session.engine
    engine.text = lambda one, *, pretty=False: text(one, dialect if pretty else DUCKDB, pretty=pretty)
    if shown == ALONE:
        return session.statement(session.rules[0].name)
    (shape,) = session.explain()
    titled = dict(one.removeprefix("-- ").split("\n", 1) for one in shape.statements)
    return titled[shown]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_statement_is_the_one_in_the_file(path: Path):
    golden = read(path)
    with opened(golden) as session:
        found = {one.name: replace(golden, sql=statement(session, golden.shown, one)).text for one in DIALECTS}
    files = {dialect: FOLDER / dialect / path.name for dialect in found}
    if UPDATE:
        for dialect, file in files.items():
            if dialect == "duckdb" or found[dialect] != found["duckdb"]:
                file.write_text(found[dialect], encoding="utf-8")
            else:
                file.unlink(missing_ok=True)
    # A dialect without a file reads what DuckDB reads.
    assert found == {dialect: (file if file.exists() else path).read_text(encoding="utf-8") for dialect, file in files.items()}


@pytest.mark.slow
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_printing_a_statement_changes_nothing(path: Path):
    golden, shown = read(path), list[Statement]()
    with opened(golden) as session:
        plain = session.engine.text
        session.engine.text = lambda one, *, pretty=False: shown.append(one) or plain(one, pretty=pretty)
        session.explain()
        session.statement(session.rules[0].name)
    for one in map(tree, shown):
        before = repr(one)
        for dialect in DIALECTS:
            for checks in (False, True):
                first, again = (text(one, dialect, with_overflow_checks=checks) for _ in range(2))
                assert first == again
        assert repr(one) == before


@pytest.mark.slow
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_statement_runs_and_reads_only_our_tables(path: Path):
    golden = read(path)
    tree = parse_one(golden.sql, dialect="duckdb")
    steps = {cte.alias for cte in tree.find_all(exp.CTE)}
    assert all(table.name in steps or table.name.startswith(PREFIX) for table in tree.find_all(exp.Table))
    # Steps and subqueries have names of ours, and may stand bare.
    ours = steps | {subquery.alias for subquery in tree.find_all(exp.Subquery)}
    assert all(identifier.quoted for identifier in tree.find_all(exp.Identifier) if identifier.name not in ours)
    with opened(golden) as session:
        session.explain()  # registered predicates are asked, so that their answers are there
        found = session.engine.query(tree)
    assert {"rule", "confirmed", "refuted", "evaluable"} <= set(found.column_names)


def test_every_shape_has_its_file():
    assert {path.stem for path in GOLDEN} >= {
        "single_atom",
        "triangles",
        "chain_of_two_prediction_in_body",
        "chain_of_two_prediction_is_head",
        "chain_of_two_refuter",
        "chain_of_three",
        "chain_of_three_distinct",
        "chain_of_three_refuter",
        "denial",
        "constants_in_head_and_body",
        "closed",
        "functional",
        "auxiliary",
        "negated_atom",
        "appendix_refuter",
        "one_rule_alone",
        "formula_comparison_head",
        "formula_or_head",
        "formula_not_head",
        "formula_aggregate_in_head",
        "formula_aggregate_in_body",
        "formula_disjunction_in_body",
        "formula_negated_condition",
        "formula_keyed_table",
        "formula_registered_predicate",
        "formula_refutations",
        "formula_incompatible_and_functional",
    }
