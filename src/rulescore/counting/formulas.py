"""Runs formulas on an engine: for each rule one statement over the data, and one for all predictions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from rulescore.counting.proximity import PairCounts, Values, dataset_pairs, observed_values, prediction_pairs
from rulescore.counting.registered import RegisteredAnswers
from rulescore.counting.run import CountRows, TitledStatement, named_in_errors
from rulescore.counting.tolerances import TooLarge, at_limit, taken_from
from rulescore.engines.base import Engine
from rulescore.logic.formula import FormulaRule
from rulescore.logic.proximity import Proximity, proximity
from rulescore.logic.questions import Question, questions, rounds_before, test_places
from rulescore.logic.schema import Schema
from rulescore.logic.tolerances import DataTolerance
from rulescore.setting.choices import Role
from rulescore.sql.formula.branches import taken_part_through
from rulescore.sql.formula.changes import can_be_inside
from rulescore.sql.formula.counts import counts
from rulescore.sql.formula.questions import asked_arguments, distinct_rows, in_pieces
from rulescore.sql.formula.scope import FormulaContext
from rulescore.sql.names import name
from rulescore.sql.query import Select, drop, every_row, union_all

_PAIRS = name("pair_contributions")


@dataclass
class Formulas:
    """The rules that are not Horn rules, by number, and what counting them needs."""

    engine: Engine
    schema: Schema
    rules: dict[int, FormulaRule]
    answers: RegisteredAnswers
    titles: Sequence[str]
    distinct_variables: bool = False
    roles: frozenset[Role] = frozenset({Role.BODY, Role.HEAD})
    sorting: bool = True
    largest_groups: dict[int, int] = field(default_factory=dict)
    tolerances: dict[int, int | float] = field(default_factory=dict)
    _calls: dict[tuple[int, bool], dict[Question, str]] = field(default_factory=dict)

    def sorted_counts(self) -> CountRows:
        """Counts over the data of the rules whose pairs we count by sorting."""
        found: CountRows = {}
        for number in self.rules:
            pairs = self._dataset_pairs(number)
            if pairs is not None:
                found[number] = (pairs.confirmed, pairs.refuted, pairs.evaluable)
                self.largest_groups[number] = pairs.largest_group
        return found

    def dataset_statements(self, but: Collection[int]) -> Iterator[TitledStatement]:
        """The statements that count all rules `but` these over the data, with the rule in words."""
        for number in self.rules:
            if number not in but:
                statement = counts(self.context(number, predictions=False), number, predictions=False)
                if statement is not None:
                    yield self.titles[number], statement

    def sorted_form(self, number: int) -> Proximity | None:
        """The form by which we count the rule's pairs by sorting; None if we cannot."""
        if not self.sorting or self.distinct_variables or not {Role.BODY, Role.HEAD} <= self.roles:
            return None
        return self.proximity(number)

    def proximity(self, number: int) -> Proximity | None:
        """The rule as a limit on distances within groups; None if it has another form."""
        return proximity(self.rules[number], self.schema)

    def tolerance(self, number: int, wanted: DataTolerance) -> int | float | TooLarge | None:
        """The tolerance that the data give for a rule that limits a distance; None if they have no rows to compare."""
        values, form = self._values(number)
        return taken_from(values, form, wanted) if values.fits else TooLarge()

    def grid(self, number: int, limits: Sequence[int | float]) -> list[PairCounts] | None:
        """The counts over the data that a rule that limits a distance would have with other tolerances; None if values are too
        large to subtract."""
        values, form = self._values(number)
        return [at_limit(values, form, limit) for limit in limits] if values.fits else None

    def _values(self, number: int) -> tuple[Values, Proximity]:
        form = self.proximity(number)
        assert form is not None
        with named_in_errors(self.titles[number]):
            return observed_values(self.engine, self.context(number, predictions=False), form), form

    def _dataset_pairs(self, number: int) -> PairCounts | None:
        form = self.sorted_form(number)
        if form is None:
            return None
        with named_in_errors(self.titles[number]):
            return dataset_pairs(self.engine, self.context(number, predictions=False), form)

    def prediction_statements(self) -> Iterator[TitledStatement]:
        """Each rule's statement for the contributions of predictions, with the rule in words."""
        for number in self.rules:
            statement = self._sorted_contributions(number)
            if statement is None:
                statement = counts(self.context(number, predictions=True), number, predictions=True)
            if statement is not None:
                yield self.titles[number], statement

    def _sorted_contributions(self, number: int) -> Select | None:
        form = self.sorted_form(number)
        context = self.context(number, predictions=True)
        if form is None or not context.predictable(form.row):
            return None
        with named_in_errors(self.titles[number]):
            rows = prediction_pairs(self.engine, context, form, number)
            if rows is None:
                return None
            self.engine.run(drop(_PAIRS))
            self.engine.load(_PAIRS, rows)
        return every_row(_PAIRS)

    def context(self, number: int, *, predictions: bool) -> FormulaContext:
        """What a rule's statements need, with all answers of registered predicates, which the first call asks for."""
        rule = self.rules[number]
        key = (number, predictions)
        if key not in self._calls:
            self._calls[key] = self._ask(number, predictions=predictions)
        return FormulaContext(rule, self.schema, self._calls[key], self.distinct_variables, self.roles)

    def _ask(self, number: int, *, predictions: bool) -> dict[Question, str]:
        """Ask registered predicates, in rounds: a question that depends on answers comes after them."""
        rule = self.rules[number]
        calls: dict[Question, str] = {}
        asked: dict[Question, pa.Table] = {}
        for rounds in range(1 + max((rounds_before(rule, place) for place in test_places(rule)), default=0)):
            for question in questions(rule):
                context = FormulaContext(rule, self.schema, dict(calls), self.distinct_variables, self.roles, asking=True)
                # If a prediction can change an aggregate, we judge over the data alone as well.
                over = (True, False) if predictions and can_be_inside(context, taken_part_through(context)) else (predictions,)
                # Separate statements for both: Spark's planner loses a column if one statement asks for both.
                parts = (
                    part for one in over for part in in_pieces(asked_arguments(context, question, predictions=one, rounds=rounds))
                )
                with named_in_errors(self.titles[number]):
                    rows = [self.engine.query(distinct_rows(union_all(part))) for part in parts]
                if rows:
                    rows += [asked[question]] if question in asked else []
                    asked[question] = pa.concat_tables(rows, promote_options="permissive")
                    calls[question] = self.answers.load(question, asked[question], self.titles[number])
        return calls
