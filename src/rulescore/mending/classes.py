"""Counts what each class of a classifier would contribute for each row, and finds the class with the best score that breaks no hard
rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from rulescore.arguments.python import AuditOptions, make_setting
from rulescore.arguments.rule_sources import RulesLike
from rulescore.arguments.tables import Table
from rulescore.errors import Diagnostic, InputError
from rulescore.mending.lists import Floats
from rulescore.mending.numeric import refuse_ids
from rulescore.mending.table import types_of
from rulescore.readers.sources import FactsLike
from rulescore.scoring.results import RuleKind
from rulescore.session.session import Session
from rulescore.values import key_of, text_of


@dataclass(frozen=True, slots=True)
class ChosenClasses:
    """A class for each row.

    `classes`: the chosen ones. `moved`: whether the chosen class of a row is not the class with the best score. `met`: false for
    rows whose classes all break hard rules. Such a row gets the class with the best score.
    """

    classes: list[Any]
    moved: Any
    met: Any


@dataclass(frozen=True)
class ClassTable:
    """What each class contributes for each row of a table.

    Attributes:
        ids: The keys of the rows.
        classes: The classes.
        counts: Confirmed, refuted and evaluable groundings by rule: rows by classes by 3.
        kinds: The kinds of the rules, by name.
    """

    ids: tuple[Any, ...]
    classes: tuple[Any, ...]
    counts: dict[str, Any]
    kinds: dict[str, RuleKind]

    def mask(self) -> Any:
        """Which classes break a hard rule: booleans, rows by classes."""
        broken = np.zeros((len(self.ids), len(self.classes)), np.bool_)
        for name, counts in self.counts.items():
            if self.kinds[name] is RuleKind.HARD:
                broken |= counts[:, :, 1] > 0
        return broken

    def choose(self, scores: Any) -> ChosenClasses:
        """The best class of each row that breaks no hard rule.

        Args:
            scores: The model's scores, rows by classes, such as `predict_proba` gives.

        Returns:
            The chosen classes, the rows that moved, and the rows that meet their rules.

        Raises:
            InputError: Scores have another shape or are NaN, or no rule is hard.
        """
        values = self._checked(scores)
        if RuleKind.HARD not in self.kinds.values():
            notes = tuple(f"`{name}` is {kind}" for name, kind in list(self.kinds.items())[:5])
            helps = ("the data decide: a rule that they contradict is soft",)
            raise InputError(Diagnostic("E814", "no rule is hard, so every class is allowed", notes=notes, helps=helps))
        mask, best = self.mask(), values.argmax(axis=1)
        met = ~mask.all(axis=1)
        chosen = np.where(met, np.where(mask, -np.inf, values).argmax(axis=1), best)
        return ChosenClasses([self.classes[number] for number in chosen.tolist()], chosen != best, met)

    def _checked(self, scores: Any) -> Floats:
        values = np.asarray(scores, np.float64)
        wanted = (len(self.ids), len(self.classes))
        if values.shape != wanted:
            helps = ("give a score for every row and class, in the order of `ids` and `classes`",)
            raise InputError(Diagnostic("E814", f"scores of shape {values.shape} do not fit {wanted}", helps=helps))
        if np.isnan(values).any():
            raise InputError(Diagnostic("E814", "a score is NaN", helps=("the model has diverged",)))
        return values


def class_table(
    rules: RulesLike,
    name: str,
    table: Table,
    ids: Sequence[Any],
    classes: Sequence[Any],
    *,
    observed: FactsLike | None = None,
    **options: Unpack[AuditOptions],
) -> ClassTable:
    """What each class would contribute for each row, as `score` counts it alone. Rules may have any form.

    Args:
        rules: The rules.
        name: The table's name in the rules.
        table: The table, in which the targets of these rows are hidden.
        ids: The keys of the rows.
        classes: The classes, in the order of the model's scores.
        observed: Facts that the rules read as well.
        options: The options of `rulescore.audit`.

    Returns:
        The table of classes.

    Raises:
        InputError: The rules or the table are wrong, or there are no rows or classes.
    """
    if not len(ids) or not len(classes):
        helps = ("give the keys of rows whose targets are hidden, and the classes in the order of the scores",)
        raise InputError(Diagnostic("E814", "there are no rows, or no classes, to predict", helps=helps))
    refuse_ids(name, table, ids)
    models = {str(number): {name: dict.fromkeys(ids, label)} for number, label in enumerate(classes)}
    keywords = {**options, "tables": {**(options.get("tables") or {}), name: table}}
    setting = make_setting(observed, models, rules, **keywords)  # type: ignore[arg-type]
    with Session(replace(setting, scoring=replace(setting.scoring, allow_unrefutable=True))) as session:
        evaluation = session.evaluate(contributions=True)
    row_of = {_shown(key): row for row, key in enumerate(ids)}
    counts = {rule.info.name: np.zeros((len(ids), len(classes), 3), np.int64) for rule in evaluation.rule_results}
    for row in evaluation.contributions.to_pylist():
        width = len(row["arguments"]) - 1
        place = row_of[(*row["arguments"][:width], row["types"][:width])]
        counts[row["rule"]][place, int(row["model"])] = [row[count] for count in ("confirmed", "refuted", "evaluable")]
    kinds = {rule.info.name: rule.kind for rule in evaluation.rule_results}
    return ClassTable(tuple(ids), tuple(classes), counts, kinds)


def _shown(key: Any) -> tuple[str, ...]:
    """The key of a row in the form of contributions: texts, and the letters of their types."""
    keys = [key_of(part) for part in (key if isinstance(key, tuple) else (key,))]
    return (*map(text_of, keys), types_of(keys))
