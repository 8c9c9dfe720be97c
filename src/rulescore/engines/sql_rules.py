"""Runs rules that are given as statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rulescore.data.constants import key_of, text_of
from rulescore.data.relations import Schema
from rulescore.data.setting import SqlRule
from rulescore.engines.base import Engine
from rulescore.engines.counting import named_in_errors
from rulescore.engines.explaining import ShapeExplanation
from rulescore.engines.listing import Violation, predictions_in_words
from rulescore.engines.loading import Loaded
from rulescore.errors import Diagnostic, EngineError, InputError
from rulescore.sql import sql_rules as sql
from rulescore.sql.build import Select
from rulescore.sql.listing import counted, restricted

CODES = {
    "E293": "a rule in SQL cannot be run, or does not return the columns it has to",
    "E916": "two names that rules in SQL read are the same to the engine, which cuts them",
}

_COLUMNS = ("prediction", "confirmed", "refuted")
CountRows = dict[int, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class SqlRules:
    """Rules in SQL, the first of which has the number `first`."""

    engine: Engine
    rules: Sequence[SqlRule]
    first: int

    def prepare(self, schema: Schema) -> list[Diagnostic]:
        """Make the views that the statements read; returns the problems of the statements."""
        problems: list[Diagnostic] = []
        named = {name for rule in self.rules for name in sql.relations_named(rule.statement)}
        self._refuse_cut_names(sorted(named & schema.relations.keys()))
        for name in sorted(named & schema.relations.keys()):
            for view in sql.create_views(schema.relations[name]):
                self.engine.run(view)
        for rule in self.rules:
            problems.extend(self._problems(rule))
        return problems

    def _refuse_cut_names(self, names: Sequence[str]) -> None:
        """Views under names that the engine cannot tell apart would silently replace each other."""
        seen: dict[bytes, str] = {}
        for name in names:
            cut = f"{sql.PREDICTED}{name}".encode()[: self.engine.longest_name]
            if cut in seen:
                message = f"`{seen[cut]}` and `{name}` have names that the engine cannot tell apart"
                notes = (f"it cuts names after {self.engine.longest_name} bytes",)
                raise InputError(Diagnostic("E916", message, notes=notes, helps=("give one of them a shorter name",)))
            seen[cut] = name

    def _problems(self, rule: SqlRule) -> Iterator[Diagnostic]:
        try:
            found = self.engine.query(sql.sample(rule.statement)).column_names
        except EngineError as error:
            notes = tuple(str(error).splitlines()[:3])
            helps = ("a statement reads `observed_NAME` and `predicted_NAME`, for predicates and tables by name",)
            yield Diagnostic("E293", f"the statement of rule `{rule.name}` cannot be run", rule.place, notes=notes, helps=helps)
            return
        missing = [f"`{one}`" for one in _COLUMNS if one not in found]
        if missing:
            message = f"the statement of rule `{rule.name}` does not return {' and '.join(missing)}"
            notes = (f"it returns {', '.join(f'`{one}`' for one in found)}",)
            helps = ("return one row for each grounding: `prediction` (null over the data), `confirmed`, `refuted`",)
            yield Diagnostic("E293", message, rule.place, notes=notes, helps=helps)

    def dataset_counts(self) -> CountRows:
        found: CountRows = {}
        for number, rule in enumerate(self.rules, self.first):
            with named_in_errors(f"rule `{rule.name}`"):
                row = self.engine.query(sql.counts(rule.statement, number, predictions=False)).to_pylist()[0]
            found[number] = (row["confirmed"], row["refuted"], row["evaluable"])
        return found

    def prediction_statements(self) -> Iterator[tuple[str, Select]]:
        for number, rule in enumerate(self.rules, self.first):
            yield f"rule `{rule.name}`", sql.counts(rule.statement, number, predictions=True)

    def explained(self) -> list[ShapeExplanation]:
        """Every rule with its statement, which counts over the data and over predictions."""
        return [ShapeExplanation(f"{rule.name}, in SQL", 1, None, [rule.statement.strip()]) for rule in self.rules]

    def statement(self, number: int) -> str:
        return self.rules[number - self.first].statement.strip()

    def violations(
        self, number: int, loaded: Loaded, *, model: int | None, prediction: int | None, limit: int
    ) -> tuple[int, list[Violation]]:
        """The rows that are refuted. What else they hold is shown as their binding."""
        rule = self.rules[number - self.first]
        predictions = model is not None

        def rows() -> Select:
            found = sql.violations(rule.statement, predictions=predictions)
            return restricted(found, model=model, prediction=prediction) if predictions else found

        total = int(self.engine.query(counted(rows()))["n"][0].as_py())
        listed = self.engine.query(rows().limit(limit)).to_pylist() if total and limit else []
        words = predictions_in_words(self.engine, loaded, {row["prediction"] for row in listed}) if predictions else {}
        name = loaded.models[model] if model is not None else None
        return total, [
            Violation(
                rule=rule.name,
                binding={c: _shown(value) for c, value in row.items() if c not in _COLUMNS},
                model=name,
                prediction=words.get(row["prediction"]),
                roles=(),
                body=(),
                head="refuted by the statement",
                refuted_by=(),
            )
            for row in listed
        ]


def _shown(value: object) -> str:
    try:
        return text_of(key_of(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return str(value)


def refuse_clashes(rules: Sequence[SqlRule], names: Sequence[str]) -> None:
    """A rule in SQL has a name of its own."""
    problems = []
    seen = set(names)
    for rule in rules:
        if rule.name in seen:
            helps = ("give one of them another name",)
            problems.append(Diagnostic("E204", f"two rules are named `{rule.name}`", rule.place, helps=helps))
        seen.add(rule.name)
    if problems:
        raise InputError(problems)
