"""Runs rules that the user writes in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rulescore.counting.explain import ShapeExplanation
from rulescore.counting.listing import Asked, Counts, ModelPrediction
from rulescore.counting.run import named_in_errors
from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, EngineError, InputError, refuse, suggestion, ticked
from rulescore.logic.formula import Relation, Schema
from rulescore.scoring.violation import CountedBy, Violation
from rulescore.setting.model import SqlRule
from rulescore.sql import sql_rules as sql
from rulescore.sql.horn.listing import OF_PREDICTION
from rulescore.sql.query import Select, TitledStatement
from rulescore.sql.sql_rules import not_allowed, not_one_query

_COLUMNS = ("prediction", "confirmed", "refuted")
_RETURNED = ("return one row for each grounding: `prediction` (null over the data), `confirmed`, `refuted`",)
_ON_SPARK = (
    "a rule in SQL on Spark calls functions of Spark that only compute, by their names without a schema",
    "write `AS` before a name that columns follow in parentheses: `AS t(a, b)`",
)
# On a server, our session looks for names without a schema only in the server's own schema.
_OTHERS = {"postgres": ("a table of the database itself is named with its schema: `public.sale`",)}


@dataclass(frozen=True, slots=True)
class SqlRules:
    """Rules in SQL. The first rule has the number `first`."""

    engine: Engine
    rules: Sequence[SqlRule]
    first: int

    def prepare(self, schema: Schema, predicates: Iterable[str]) -> list[Diagnostic]:
        """Create the views that the statements read. Returns the problems of the statements. `predicates`: all of the data."""
        problems: list[Diagnostic] = []
        known = sorted({*predicates, *schema.relations})
        named = {name for rule in self.rules for name in sql.relations_named(rule.statement)}
        self._refuse_cut_names(sorted(named & schema.relations.keys()))
        for name in sorted(named & schema.relations.keys()):
            unclear = _unclear_columns(schema.relations[name])
            if unclear is not None:
                problems.append(unclear)
                continue
            for view in sql.create_views(schema.relations[name]):
                self.engine.run(view)
        if problems:
            return problems
        for rule in self.rules:
            problems.extend(self._problems(rule, known))
        return problems

    def relations_predicted(self) -> set[str]:
        """The predicates and tables whose predictions the statements read."""
        return {
            view.removeprefix(sql.PREDICTED)
            for rule in self.rules
            for view in sql.views_named(rule.statement)
            if view.startswith(sql.PREDICTED)
        }

    def _refuse_cut_names(self, names: Sequence[str]) -> None:
        """Raise if the engine cannot tell the names of two views apart: one would silently replace the other."""
        seen: dict[bytes, str] = {}
        for name in names:
            cut = f"{sql.PREDICTED}{name}".encode()[: self.engine.capabilities.longest_name]
            if cut in seen:
                message = f"`{seen[cut]}` and `{name}` have names that the engine cannot tell apart"
                notes = (f"it cuts names after {self.engine.capabilities.longest_name} bytes",)
                raise InputError(Diagnostic("E204", message, notes=notes, helps=("give one of them a shorter name",)))
            seen[cut] = name

    def _problems(self, rule: SqlRule, known: Sequence[str]) -> Iterator[Diagnostic]:
        try:
            schema = self.engine.query(sql.sample(rule.statement)).schema
        except EngineError as error:
            # We drop the database's suggestions: they are its internal names, which the user does not know.
            said = [line for line in str(error).splitlines() if line.strip(" ^") and not line.startswith("Did you mean")]
            helps = tuple(_meant(rule, known)) or (
                "a statement reads `observed_NAME` and `predicted_NAME`, for predicates and tables by name",
                *_OTHERS.get(self.engine.dialect, ()),
            )
            message = f"the statement of rule `{rule.name}` cannot be run"
            yield Diagnostic("E293", message, rule.place, notes=tuple(said[:2]), helps=helps)
            return
        missing = [f"`{column}`" for column in _COLUMNS if column not in schema.names]
        wrong = [
            column
            for column in _COLUMNS
            if column in schema.names
            and not _fits(column, kind := schema.field(column).type)
            and self._has_values(rule, column, kind)
        ]
        if missing:
            message = f"the statement of rule `{rule.name}` does not return {' and '.join(missing)}"
            notes = (f"it returns {ticked(schema.names)}",)
            yield Diagnostic("E293", message, rule.place, notes=notes, helps=_RETURNED)
        for column in wrong:
            wanted = "the number of a prediction, or null" if column == "prediction" else "true, false or null"
            message = (
                f"the statement of rule `{rule.name}` returns `{column}` as {schema.field(column).type}, which is not {wanted}"
            )
            yield Diagnostic("E293", message, rule.place, helps=_RETURNED)

    def _has_values(self, rule: SqlRule, name: str, kind: pa.DataType) -> bool:
        """Whether a column has values: some engines give a column of nothing but NULL the type of text."""
        if not pa.types.is_string(kind):
            return True
        with named_in_errors(_title(rule)):
            return bool(self.engine.query(sql.values(rule.statement, name)).num_rows)

    def refuse_unknown_predictions(self) -> None:
        """Raise if a statement returns a prediction that no model makes: its contributions would be lost."""
        problems = []
        for row in self.engine.query(sql.unknown_predictions(self.first)).to_pylist():
            rule = self.rules[row["rule"] - self.first]
            message = f"the statement of rule `{rule.name}` returns the prediction {row['prediction']}, which does not exist"
            helps = ("return the column `prediction` of the view `predicted_NAME` as it is",)
            problems.append(Diagnostic("E293", message, rule.place, helps=helps))
        refuse(problems)

    def statements(self, *, predictions: bool) -> Iterator[TitledStatement]:
        """The statements that count over the data, or with `predictions`."""
        for number, rule in enumerate(self.rules, self.first):
            yield _title(rule), sql.counts(rule.statement, number, predictions=predictions)

    def explained(self) -> list[ShapeExplanation]:
        """Every rule with its statement, which counts over the data and over predictions."""
        return [ShapeExplanation(f"{rule.name}, in SQL", 1, None, [rule.statement.strip()]) for rule in self.rules]

    def statement(self, number: int) -> str:
        return self.rules[number - self.first].statement.strip()

    def listing(self, number: int) -> SqlListing:
        return SqlListing(self.engine, self.rules[number - self.first])


@dataclass(frozen=True, slots=True)
class SqlListing:
    """Lists the refuted, or confirmed, rows of a statement. Further columns of the statement are shown as the binding."""

    engine: Engine
    rule: SqlRule

    def rows(self, asked: Asked) -> Select:
        return sql.listed(self.rule.statement, _verdict(asked), predictions=asked.predictions)

    def columns(self, asked: Asked) -> Sequence[str]:
        names = self.engine.query(sql.sample(self.rule.statement)).schema.names
        return [name for name in names if asked.predictions or name != "prediction"]

    def counted(self, by: CountedBy, asked: Asked) -> Counts | None:
        return None

    def described(self, asked: Asked, table: pa.Table, predictions: Sequence[ModelPrediction]) -> list[Violation]:
        names = [name for name in table.column_names if name not in {*_COLUMNS, *OF_PREDICTION}]
        return [
            Violation(
                rule=self.rule.name,
                binding={name: row[name] for name in names},
                body=(),
                head=f"{_verdict(asked)} by the statement",
                model=prediction.model,
                prediction=prediction.fact,
                score=prediction.score,
                rank=prediction.rank,
                confirmed=asked.confirmed,
            )
            for row, prediction in zip(table.to_pylist(), predictions, strict=True)
        ]


def _verdict(asked: Asked) -> str:
    return "confirmed" if asked.confirmed else "refuted"


def _title(rule: SqlRule) -> str:
    return f"rule `{rule.name}`" + (f" ({rule.place})" if rule.place is not None else "")


def _fits(column: str, type_: pa.DataType) -> bool:
    number = pa.types.is_integer(type_) or pa.types.is_null(type_)
    return number or (column != "prediction" and pa.types.is_boolean(type_))


def _unclear_columns(relation: Relation) -> Diagnostic | None:
    """The error for two columns of a view with one name: databases fold case, and one column is the prediction's number."""
    seen = {"prediction": "the number of the prediction"} if relation.predicted is not None else {}
    for attribute in relation.columns:
        other = seen.setdefault(attribute.lower(), f"`{attribute}`")
        if other != f"`{attribute}`":
            message = f"a rule in SQL cannot tell the column `{attribute}` of `{relation.name}` from {other}"
            return Diagnostic("E293", message, helps=("give the table an attribute of another name, derived from this one",))
    return None


def _meant(rule: SqlRule, known: Sequence[str]) -> Iterator[str]:
    """Suggestions for the names of views that do not exist."""
    for view in sorted(sql.views_named(rule.statement)):
        prefix = next(prefix for prefix in (sql.OBSERVED, sql.PREDICTED) if view.startswith(prefix))
        word = view.removeprefix(prefix)
        close = None if word in known else suggestion(word, known)
        if close is not None:
            yield f"for `{view}`, did you mean `{prefix}{close}`?"


def refuse_other_statements(rules: Sequence[SqlRule], dialect: str) -> None:
    """Raise before running a rule in SQL that is not exactly one query: we put it inside our own query, which it must not end. On
    Spark, where a query can run programs, also raise for everything but well-known functions."""
    problems = []
    for rule in rules:
        reason = not_one_query(sql.unended(rule.statement), dialect)
        if reason is not None:
            message = f"the statement of rule `{rule.name}` is not exactly one query"
            helps = ("write one `SELECT`, which may begin with `WITH`, and nothing behind it",)
            problems.append(Diagnostic("E413", message, rule.place, notes=(reason,), helps=helps))
        elif dialect == "spark" and (reason := not_allowed(sql.unended(rule.statement))) is not None:
            message = f"the statement of rule `{rule.name}` may do more than compute"
            problems.append(Diagnostic("E413", message, rule.place, notes=(reason,), helps=_ON_SPARK))
    refuse(problems)


def refuse_clashes(rules: Sequence[SqlRule], names: Sequence[str]) -> None:
    """Raise if a rule in SQL has the name of another rule."""
    problems = []
    seen = set(names)
    for rule in rules:
        if rule.name in seen:
            helps = ("give one of them another name",)
            problems.append(Diagnostic("E204", f"two rules are named `{rule.name}`", rule.place, helps=helps))
        seen.add(rule.name)
    refuse(problems)
