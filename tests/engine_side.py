"""The engine, asked through the package's own interface, with its answers in the oracle's types."""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from oracle import scores
from oracle.counts import Counts, total
from oracle.facts import Constant, Double, Fact, Facts
from oracle.findings import Findings, findings
from oracle.tree import DEFINITION, Setting, Table
from oracle.unrefutable import unrefutable
from oracle.values import is_integer
from oracle.writing import write_expression, write_fact, write_value

if TYPE_CHECKING:
    from rulescore.scoring.violation import Explained
    from rulescore.session.session import Session

ZERO = Counts(0, 0, 0)


def python_value(one: Constant) -> Any:
    if one.type != "number":
        return one.value
    whole = one.value.denominator == 1 and not isinstance(one, Double)
    whole = whole and (is_integer(one.value) or Fraction(float(one.value)) != one.value)
    return int(one.value) if whole else float(one.value)


def tables(facts: Sequence[Fact] | Facts) -> dict[str, list[tuple[Any, ...]]]:
    """Facts as the package takes them: predicate -> argument tuples."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for predicate, *arguments in sorted(facts, key=str):
        found.setdefault(predicate, []).append(tuple(map(python_value, arguments)))
    return found


def shown(one: Constant) -> str:
    """A constant as tables show it: strings as they are, whole numbers by all their digits, others as in a rule."""
    whole = one.type == "number" and one.value.denominator == 1
    return str(one.value) if one.type == "string" or whole else write_value(one)


def shown_fact(one: Fact) -> tuple[str, ...]:
    return (one[0], *map(shown, one[1:]))


def shown_violations(
    found: set[tuple[frozenset[tuple[str, Constant]], frozenset[str]]],
) -> set[tuple[frozenset[str], frozenset[str]]]:
    """Violations as `X=a` bindings and roles; wildcards, and keys that a rule does not name, are no variables."""
    return {(frozenset(f"{n}={shown(c)}" for n, c in binding if not n.startswith("_")), roles) for binding, roles in found}


class Number(float):
    """A float that equals another up to rounding."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and math.isclose(self, other, rel_tol=1e-9, abs_tol=1e-12)

    __hash__ = None  # type: ignore[assignment]


def rounded(value: Fraction | float | None) -> Number | None:
    return None if value is None else Number(value)


@dataclass
class Outcome:
    """Every number of an evaluation. `contributions` lists those that are not all 0, by shown facts."""

    dataset: dict[str, Counts] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    contributions: dict[tuple[str, str, tuple[str, ...]], Counts] = field(default_factory=dict)
    totals: dict[tuple[str, str], Counts] = field(default_factory=dict)
    scores: dict[tuple[str, str], Number | None] = field(default_factory=dict)
    shares: dict[tuple[str, str], Number | None] = field(default_factory=dict)
    aggregates: dict[tuple[str, str], Number | None] = field(default_factory=dict)
    predictions: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    unrefutable: dict[str, bool] = field(default_factory=dict)
    findings: dict[str, Findings] = field(default_factory=dict)


AGGREGATES = ("hard_score", "soft_score", "hard_mean", "soft_mean")
Rows = Mapping[str, Sequence[Fact]]


def rows_of(setting: Setting, rows: Rows | None) -> Rows:
    return rows if rows is not None else {model: tuple(facts) for model, facts in setting.predictions.items()}


def expected(setting: Setting, rows: Rows | None = None) -> Outcome:
    """What the oracle says. Facts that are shown alike (`1` and `"1"`) are added up."""
    outcome = Outcome()
    counts = scores.counts_of(setting)
    for rule in setting.rules:
        outcome.dataset[rule.name] = counts.dataset[rule.name]
        outcome.kinds[rule.name] = scores.kind_of(setting, rule, counts.dataset[rule.name])
        outcome.unrefutable[rule.name] = unrefutable(setting, rule)
    for model, facts in setting.predictions.items():
        score = scores.model_score(setting, model, counts)
        for rule in setting.rules:
            found = score.rules[rule.name]
            outcome.totals[model, rule.name] = found.counts
            outcome.scores[model, rule.name] = rounded(found.score)
            outcome.shares[model, rule.name] = rounded(found.share)
            for one in facts:
                add(outcome, (model, rule.name, shown_fact(one)), counts.contributions[rule.name, one])
        for which in AGGREGATES:
            outcome.aggregates[model, which] = rounded(getattr(score, which))
        duplicates = len(rows_of(setting, rows)[model]) - len(facts)
        outcome.predictions[model] = (len(facts), duplicates, len(facts & setting.observed))
        outcome.findings[model] = findings(setting, model, counts)
    return outcome


def add(outcome: Outcome, key: tuple[str, str, tuple[str, ...]], counts: Counts) -> None:
    if counts != ZERO:
        outcome.contributions[key] = total([outcome.contributions.get(key, ZERO), counts])


def options(setting: Setting, engine: str = "duckdb") -> dict[str, Any]:
    return {
        "negatives": tables(setting.negatives) or None,
        "threads": 1,
        "engine": engine,
        "convention": setting.convention,
        "distinct_variables": setting.distinct_variables,
        "roles": None if setting.roles is None else sorted(setting.roles),
        "hard_needs": setting.hard_needs,
        "weights": {rule.name: float(rule.weight) for rule in setting.rules},
        "kinds": {rule.name: rule.kind for rule in setting.rules if rule.kind is not None},
        "allow_unrefutable": True,
        "tables": {table.name: keyed_table(table) for table in setting.tables},
        "functions": dict(setting.functions),
    }


# Tables with keys

ARROW_TYPES = {
    "string": pa.string(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "instant": pa.timestamp("us", "America/St_Johns"),
}


def keyed_table(table: Table) -> Any:
    import rulescore

    schema = pa.schema([(name, ARROW_TYPES[kind]) for name, kind in table.columns])
    columns = [[row[i] for row in table.rows] for i in range(len(schema))]
    return rulescore.Table(
        rows=pa.table(columns, schema=schema),
        key=table.key[0] if len(table.key) == 1 else list(table.key),
        target=table.target,
        hidden=None if table.hidden is None else {"column": table.hidden, "values": [True]},
        derived={name: write_expression(value) for name, value in table.derived},
    )


def in_text(table: Table, folder: Path) -> Any:
    """The same table in a text file that declares no types, or None if its values do not tell the types of its columns."""
    lines = [[_written(value) for value in row] for row in table.rows]
    for place, (_, kind) in enumerate(table.columns):
        values = [row[place] for row in table.rows if row[place] is not None]
        if not values or (kind == "string" and ("" in values or all(map(_TYPED.fullmatch, values)))):
            return None
    path = folder / f"{table.name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[name for name, _ in table.columns], *lines])
    return replace(keyed_table(table), rows=path)


# Numbers, dates and date-times as this module writes them, and booleans.
_TYPED = re.compile(r"-?[0-9.]+(e[+-][0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(\+00:00)?)?|true|false", re.IGNORECASE)


def _written(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime.date():
            return value.isoformat()
        case _:
            return str(value)


def predictions_of(setting: Setting, facts: Sequence[Fact] | Facts) -> Any:
    """One model's predictions: facts, or ids and values for the target of a table."""
    for table in setting.tables:
        if table.target is not None and facts and all(one[0] == table.predicate(table.target) for one in facts):
            return {table.name: prediction_rows(table, facts)}
    return tables(facts)


def prediction_rows(table: Table, facts: Sequence[Fact] | Facts) -> list[pa.Table]:
    """Those of a target of integers are integers, and floats apart from them."""
    rows = [list(map(python_value, one[1:])) for one in sorted(facts, key=str)]
    types = [ARROW_TYPES[dict(table.columns)[name]] for name in (*table.key, str(table.target))]
    floats = pa.types.is_integer(types[-1])
    parts = [(types, [row for row in rows if not (floats and isinstance(row[-1], float))])]
    parts.append(([*types[:-1], pa.float64()], [row for row in rows if floats and isinstance(row[-1], float)]))
    return [_columns((*table.key, "prediction"), kinds, some) for kinds, some in parts if some]


def _columns(names: Sequence[str], types: Sequence[pa.DataType], rows: Sequence[Sequence[Any]]) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], types[i]) for i, name in enumerate(names)})


def observed_of(setting: Setting) -> Any:
    """None where a setting has tables alone: then its models predict the table's target."""
    return tables(setting.observed) or (None if only_tables(setting) else {})


def only_tables(setting: Setting) -> bool:
    targets = {table.predicate(table.target) for table in setting.tables if table.target is not None}
    return bool(setting.tables) and all(one[0] in targets for facts in setting.predictions.values() for one in facts)


def run(
    setting: Setting, text: str, rows: Rows | None = None, *, engine: str = "duckdb", horn: bool = True, **others: Any
) -> Outcome:
    """What the package finds. `others` replace the options that the setting has."""
    predictions = {model: predictions_of(setting, facts) for model, facts in rows_of(setting, rows).items()}
    rules = f"{text}\n{declarations(setting, text)}"
    return outcome_of(evaluation(observed_of(setting), predictions, rules, horn=horn, **{**options(setting, engine), **others}))


def evaluation(observed: Any, predictions: Any, text: str, *, horn: bool, **options: Any) -> Any:
    """What the package finds; without `horn`, if it counts rules of Horn form as it counts all others."""
    import rulescore
    from rulescore.arguments.python import make_setting
    from rulescore.session.session import Session

    if horn:
        return rulescore.score(observed, predictions, text, contributions=True, **options)
    with Session(make_setting(observed, predictions, text, **options), horn=False) as session:
        return session.evaluate(contributions=True)


def counts_as_formulas(setting: Setting) -> bool:
    """Whether Horn rules can be counted as formulas, too: by the definition."""
    return setting.convention == DEFINITION


def declarations(setting: Setting, text: str, prefix: str = "") -> str:
    """Declarations of predicates that are predicted and that nothing else mentions: predictions of such alone are refused."""
    known = {one[0] for one in (*setting.observed, *setting.negatives)}
    tables_of_setting = {table.name for table in setting.tables}
    found = {one[0]: len(one) - 1 for facts in setting.predictions.values() for one in facts}
    words = set(re.findall(r"[\w.]+", text))
    lacking = [one for one in sorted(found) if one not in known | words and one.split(".")[0] not in tables_of_setting]
    return "".join(f'predicate "{prefix}{one}"/{found[one]}.\n' for one in lacking)


def outcome_of(evaluation: Any) -> Outcome:
    outcome = Outcome()
    for result in evaluation.rule_results:
        name = result.info.name
        outcome.dataset[name] = counts_of(result.dataset)
        outcome.kinds[name] = str(result.kind)
        outcome.unrefutable[name] = result.info.unrefutable
        for model, found in result.models.items():
            outcome.totals[model, name] = counts_of(found.counts)
            outcome.scores[model, name] = rounded(found.score.value)
            outcome.shares[model, name] = rounded(found.share.value)
    for model_result in evaluation.model_results:
        for which in AGGREGATES:
            outcome.aggregates[model_result.name, which] = rounded(getattr(model_result, which).value)
        read = model_result.predictions
        outcome.predictions[model_result.name] = (read.distinct, read.duplicates, read.already_observed)
        outcome.findings[model_result.name] = Findings(
            model_result.violating,
            model_result.violating_any,
            model_result.unconcerned,
            model_result.without_partner,
            model_result.evaluable,
            model_result.unmeasured,
            model_result.new,
            model_result.violating_new,
            model_result.linked,
            model_result.concerned,
            model_result.judged,
            (model_result.violating_reason or "").startswith("0, none judged"),
        )
    for row in evaluation.contributions.to_pylist():
        key = (row["model"], row["rule"], (row["predicate"], *row["arguments"]))
        add(outcome, key, Counts(row["confirmed"], row["refuted"], row["evaluable"]))
    return outcome


def counts_of(counts: Any) -> Counts:
    return Counts(counts.confirmed, counts.refuted, counts.evaluable)


def refusal(setting: Setting, text: str, *, engine: str = "duckdb") -> str:
    """The message with which the package refuses a setting."""
    from rulescore.errors import InputError

    try:
        run(setting, text, engine=engine)
    except InputError as error:
        return str(error)
    raise AssertionError("the setting was not refused")


Violations = set[tuple[frozenset[str], frozenset[str]]]


def expected_violations(setting: Setting) -> dict[tuple[str, Fact], tuple[int, Violations]]:
    """For each rule and prediction, how many refuted groundings count and which they are, by the oracle."""
    return {
        (rule.name, one): (
            scores.contribution(setting, rule, one).refuted,
            shown_violations(scores.violations(setting, rule, one)),
        )
        for rule in setting.rules
        for facts in setting.predictions.values()
        for one in facts
    }


def violations(
    setting: Setting, text: str, *, engine: str = "duckdb", horn: bool = True
) -> dict[tuple[str, Fact], tuple[int, Violations]]:
    """The same as the package lists them."""
    from rulescore.arguments.python import make_setting
    from rulescore.language.parser import parse_atom
    from rulescore.session.session import Session

    predictions = {model: predictions_of(setting, facts) for model, facts in setting.predictions.items()}
    found: dict[tuple[str, Fact], tuple[int, Violations]] = {}
    with Session(make_setting(observed_of(setting), predictions, text, **options(setting, engine)), horn=horn) as session:
        for model, facts in setting.predictions.items():
            for one in facts:
                atom = parse_atom(write_fact(one))
                for rule in setting.rules:
                    listed = session.violations(rule=rule.name, model=model, prediction=atom, limit=10_000)
                    rows = {(shown_binding(row.binding), frozenset(row.roles)) for row in listed.rows}
                    found[rule.name, one] = (listed.total, rows)
    return found


def session(setting: Setting, text: str) -> Session:
    """The setting, loaded."""
    from rulescore.arguments.python import make_setting
    from rulescore.session.session import Session

    predictions = {model: predictions_of(setting, facts) for model, facts in setting.predictions.items()}
    return Session(make_setting(observed_of(setting), predictions, text, **options(setting)))


def explained(setting: Setting, text: str) -> Iterator[Explained]:
    """What every prediction does to the rules."""
    from rulescore.language.parser import parse_atom

    with session(setting, text) as opened:
        for fact in {one for facts in setting.predictions.values() for one in facts}:
            yield opened.explained(parse_atom(write_fact(fact)))


def shown_binding(binding: Mapping[str, Any]) -> frozenset[str]:
    from rulescore.values import key_of, text_of

    return frozenset(f"{name}={text_of(key_of(value))}" for name, value in binding.items() if name[:1].isupper())
