"""Computes what a predicted number contributes to rules, for every value that it may have.

The contribution is a step function of the value. If a rule limits a distance within groups, two binary searches among the sorted
values of the group find it, and no pair is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from rulescore.arguments.python import AuditOptions, make_setting
from rulescore.arguments.rule_sources import RulesLike
from rulescore.arguments.tables import Table
from rulescore.counting.proximity import Values, bounds, contributed, ordered
from rulescore.errors import Diagnostic, InputError
from rulescore.language.syntax import Operator
from rulescore.logic.proximity import Proximity
from rulescore.mending.bounds import RuleBounds, rule_bounds
from rulescore.mending.lists import Floats
from rulescore.readers.sources import FactsLike
from rulescore.scoring.results import RuleKind
from rulescore.session.session import Session
from rulescore.sql.formula import proximity as sql
from rulescore.sql.query import drop, row, select

_PROBES = (1.0, 2.0, 3.0)
_NUDGES = 4


@dataclass(frozen=True, slots=True)
class RuleSteps:
    """A rule's step functions. The rule compares `slope * predicted + shift`.

    `group`: the group of each row; -1 if the rule does not concern the row. `known`: the observed values of the groups.
    """

    name: str
    kind: RuleKind
    rate: float | None
    form: Proximity
    group: Any
    slope: Floats
    shift: Floats
    known: Values

    def interval(self, rows: int) -> tuple[Floats, Floats]:
        """For each row, the least and the greatest value that is within the limit of all values of its group."""
        low, high = np.full(rows, -np.inf), np.full(rows, np.inf)
        starts, ends = bounds(self.known.groups)
        place = np.searchsorted(self.known.groups[starts], self.group)
        place[place == len(starts)] = 0
        is_about = (self.group >= 0) & (self.known.groups[starts][place] == self.group) if len(starts) else self.group < -1
        about = np.flatnonzero(is_about)
        least, greatest = self.known.values[starts[place[about]]], self.known.values[ends[place[about]] - 1]
        edges = [greatest - float(self.form.limit), least + float(self.form.limit)]
        turned = [(edge - self.shift[about]) / self.slope[about] for edge in edges]
        low[about], high[about] = np.where(self.slope[about] > 0, turned, turned[::-1])
        return low, high


@dataclass(frozen=True, slots=True)
class NearestValues:
    """Predicted numbers moved to the nearest values that break no hard rule.

    `values`: the new values. `distances`: how far each was moved. `met`: false for rows whose hard rules have no allowed value in
    common. These rows keep their values.
    """

    values: Floats
    distances: Floats
    met: Any


@dataclass(frozen=True, slots=True)
class NumericSteps:
    """What rows of a table contribute to rules, as functions of the predicted target.

    `ids`: the keys of the rows, whose targets are hidden. Values are given in this order. `rules`: rules that limit a distance
    within groups. `bounds`: other rules that are linear in the target.
    """

    ids: tuple[Any, ...]
    rules: tuple[RuleSteps, ...]
    bounds: tuple[RuleBounds, ...] = ()

    def contributions(self, predicted: Any) -> dict[str, Any]:
        """What each prediction contributes.

        Args:
            predicted: A value for each row.

        Returns:
            By rule, an array with confirmed, refuted and evaluable groundings of each row.

        Raises:
            InputError: There is not one value for each row, or a value is not finite.
        """
        values, contributions = self._checked(predicted), {}
        for rule in self.rules:
            counts = np.zeros((len(values), 3), np.int64)
            rows = np.flatnonzero(rule.group >= 0)
            compared = rule.slope[rows] * values[rows] + rule.shift[rows]
            true, evaluable = contributed(rule.known, rule.group[rows], compared, rule.form)
            counts[rows] = np.stack([true, evaluable - true, evaluable], axis=1)
            contributions[rule.name] = counts
        return contributions | {rule.name: rule.contributions(values) for rule in self.bounds}

    def nearest(self, predicted: Any) -> NearestValues:
        """Move each value to the nearest one that breaks no hard rule. Every rule allows an interval, so all rules together also
        allow one.

        Args:
            predicted: A value for each row.

        Returns:
            The new values, the distances, and which rows meet their rules now.

        Raises:
            InputError: There is not one value for each row, a value is not finite, or no rule is hard.
        """
        values, rows = self._checked(predicted), len(self.ids)
        every: list[RuleSteps | RuleBounds] = [*self.rules, *self.bounds]
        hard = [rule for rule in every if rule.kind is RuleKind.HARD]
        if not hard:
            notes = tuple(f"`{rule.name}` is {rule.kind}" for rule in every[:5])
            helps = ("the data decide: a rule that they contradict is soft",)
            raise InputError(Diagnostic("E814", "no rule is hard, so every value is allowed", notes=notes, helps=helps))
        low, high = np.full(rows, -np.inf), np.full(rows, np.inf)
        for rule in hard:
            least, most = rule.interval(rows)
            low, high = np.maximum(low, least), np.minimum(high, most)
        moved = np.clip(values, low, high)
        # An end may be excluded, or a rounded sum may fall beyond it. Then we try the next numbers inwards.
        inwards = np.where(moved < values, -np.inf, np.inf)
        for _ in range(_NUDGES):
            broken = self._broken(moved, hard) & (low <= high)
            if not broken.any():
                break
            moved = np.where(broken, np.nextafter(moved, inwards), moved)
        met = (low <= high) & ~self._broken(moved, hard)
        moved = np.where(met, moved, values)
        return NearestValues(moved, np.abs(moved - values), met)

    def _broken(self, values: Floats, hard: Sequence[RuleSteps | RuleBounds]) -> Any:
        counts = self.contributions(values)
        return np.any([counts[rule.name][:, 1] > 0 for rule in hard], axis=0)

    def excess(self, rule: RuleSteps, predicted: Any) -> tuple[Floats, Floats]:
        """The mean distance of each prediction beyond the limit, over the rows of its group and as a multiple of the limit; and its
        derivative.

        Args:
            rule: One of the rules.
            predicted: A value for each row.

        Returns:
            The mean of `max(0, |x - y| / limit - 1)` over the group's observed values `y`, and its derivative by the prediction.

        Raises:
            InputError: There is not one value for each row, or a value is not finite.
        """
        values = self._checked(predicted)
        loss, slope = np.zeros(len(values)), np.zeros(len(values))
        rows = np.flatnonzero(rule.group >= 0)
        points, groups, limit = rule.slope[rows] * values[rows] + rule.shift[rows], rule.group[rows], float(rule.form.limit)
        known = rule.known
        counts, sums = (np.append(0.0, np.cumsum(part)) for part in (known.rows, known.rows * known.values))
        start, end = (np.searchsorted(known.groups, groups, side) for side in ("left", "right"))
        low, high = _within(known, groups, points - limit, "left"), _within(known, groups, points + limit, "right")
        below, above = counts[low] - counts[start], counts[end] - counts[high]
        under, over = sums[low] - sums[start], sums[end] - sums[high]
        number = np.maximum(counts[end] - counts[start], 1)
        loss[rows] = ((below * points - under) / limit - below + (over - above * points) / limit - above) / number
        slope[rows] = rule.slope[rows] * (below - above) / limit / number
        return loss, slope

    def _checked(self, predicted: Any) -> Floats:
        values = np.asarray(predicted, np.float64)
        if values.shape != (len(self.ids),):
            message = f"there are {values.shape} values for {len(self.ids):,} rows"
            raise InputError(Diagnostic("E814", message, helps=("give one value for each row, in the order of `ids`",)))
        if not np.isfinite(values).all():
            raise InputError(Diagnostic("E814", "a predicted value is not finite", helps=("the model has diverged",)))
        return values


def _within(known: Values, groups: Any, points: Floats, side: str) -> Any:
    """The places of points among the sorted values of their groups."""
    low, high = (np.searchsorted(known.groups, groups, end) for end in ("left", "right"))
    while (low < high).any():
        middle = (low + high) >> 1
        at = known.values[np.minimum(middle, len(known.values) - 1)]
        goes_right = (low < high) & ((at < points) if side == "left" else (at <= points))
        low, high = np.where(goes_right, middle + 1, low), np.where((low < high) & ~goes_right, middle, high)
    return low


def numeric_steps(
    rules: RulesLike,
    name: str,
    table: Table,
    ids: Sequence[Any],
    *,
    observed: FactsLike | None = None,
    **options: Unpack[AuditOptions],
) -> NumericSteps:
    """The step functions of rows of a table, by which `score` counts single predictions.

    Args:
        rules: Rules that compare the target, or something linear in it: distances within groups, or other comparisons.
        name: The table's name in the rules.
        table: The table, in which the targets of these rows are hidden.
        ids: The keys of the rows.
        observed: Facts that the rules read as well.
        options: The options of `rulescore.audit`.

    Returns:
        The step functions.

    Raises:
        InputError: A rule has another form, is not linear in the target, or there are no rows.
    """
    if not len(ids):
        raise InputError(
            Diagnostic("E814", "there are no rows to predict", helps=("give the keys of rows whose targets are hidden",))
        )
    refuse_ids(name, table, ids)
    models = {f"probe {value}": {name: dict.fromkeys(ids, value)} for value in _PROBES}
    keywords = {**options, "tables": {**(options.get("tables") or {}), name: table}}
    setting = make_setting(observed, models, rules, **keywords)  # type: ignore[arg-type]
    setting = replace(setting, scoring=replace(setting.scoring, allow_unrefutable=True))
    with Session(setting) as session:
        forms = {number: _limited(session.formulas.sorted_form(number)) for number in session.formulas.rules}
        audit = session.audit()
        probes = _probes(session, name, str(table.target))
        place = {key: number for number, key in enumerate(ids)}
        steps = tuple(_steps(session, number, form, audit, probes, place) for number, form in forms.items() if form is not None)
        column = (name, str(table.target))
        compared = {
            number: rule_bounds(session, number, audit.rule_results[number], column, probes, place)
            for number, form in forms.items()
            if form is None
        }
        known = {number for number in forms if forms[number] is not None or compared[number] is not None}
        if others := [info.name for number, info in enumerate(session.rules) if number not in known]:
            notes = tuple(f"`{other}`" for other in others)
            helps = ("such as `abs(P - Q) <= 100 <- sale(id: A, zip: Z, price: P), sale(id: B, zip: Z, price: Q).`",)
            message = "rules do not compare something linear in the target, in their heads or once in a denial"
            raise InputError(Diagnostic("E814", message, notes=notes, helps=helps))
    return NumericSteps(tuple(ids), steps, tuple(bound for bound in compared.values() if bound is not None))


def refuse_ids(name: str, table: Table, ids: Sequence[Any]) -> None:
    """Raise if a table predicts nothing, or if a row is asked for twice."""
    if table.target is None:
        helps = (f'say which column is predicted: `rulescore.Table(…, key={table.key!r}, target="…", hidden=…)`',)
        raise InputError(Diagnostic("E814", f"table `{name}` has no target", helps=helps))
    if twice := [own for own, times in Counter(ids).items() if times > 1]:
        raise InputError(Diagnostic("E814", f"`{twice[0]}` is asked for twice", helps=("give each key once",)))


def _limited(form: Proximity | None) -> Proximity | None:
    """The form, if it limits distances from above."""
    if form is None or form.operator not in {Operator.LESS, Operator.AT_MOST} or form.denial or float(form.limit) <= 0:
        return None
    return form


def refuse_bounds(steps: NumericSteps) -> None:
    """Raise if some rule has no limit in which to measure how far a value is beyond it."""
    if steps.bounds or not steps.rules:
        notes = tuple(f"`{rule.name}`" for rule in steps.bounds)
        helps = ("leave them out of the term, and move values when predicting: `steps.nearest(predicted)`",)
        raise InputError(Diagnostic("E814", "rules do not limit a distance within groups", notes=notes, helps=helps))


def _probes(session: Session, name: str, target: str) -> dict[int, tuple[Any, float]]:
    """The key and the probe of each prediction."""
    relation = session.formulas.schema.relations[name]
    p = row(str(relation.predicted), "p")
    columns = [*(relation.columns[key].column for key in relation.key), relation.columns[target].column]
    rows = session.engine.query(select(p.prediction, *p[columns]).from_(p))
    keys = list(zip(*(rows[column].to_pylist() for column in columns[:-1]), strict=True))
    whole = zip(rows["prediction"].to_pylist(), keys, rows[columns[-1]].to_pylist(), strict=True)
    return {number: (key[0] if len(key) == 1 else key, float(value)) for number, key, value in whole}


def _steps(
    session: Session,
    number: int,
    form: Proximity,
    audit: Any,
    probes: Mapping[int, tuple[Any, float]],
    place: Mapping[Any, int],
) -> RuleSteps:
    engine, context = session.engine, session.formulas.context(number, predictions=True)
    info = session.rules[number]
    if form.groups:
        engine.run(sql.create_groups(context, form))
    known, asked = ordered(engine.query(sql.ordered_values(context, form))), engine.query(sql.predicted_values(context, form))
    if form.groups:
        engine.run(drop(sql.GROUPS))
    values = {probe: np.full(len(place), np.nan) for probe in _PROBES}
    group = np.full(len(place), -1, np.int64)
    for prediction, own, value in zip(*(asked[field].to_pylist() for field in ("prediction", "id", "value")), strict=True):
        key, probe = probes[prediction]
        group[place[key]], values[probe][place[key]] = own, float(value)
    first, second, third = (values[probe][group >= 0] for probe in _PROBES)
    slope, shift = np.zeros(len(place)), np.zeros(len(place))
    slope[group >= 0], shift[group >= 0] = second - first, first - (second - first)
    if not np.allclose(third - second, second - first, equal_nan=False):
        helps = ("compare the target, or something linear in it, such as a price by area",)
        raise InputError(Diagnostic("E814", f"rule `{info.name}` is not linear in the target", helps=helps))
    result = audit.rule_results[number]
    doubles = Values(known.groups, known.values.astype(np.float64), known.rows)
    return RuleSteps(info.name, result.kind, result.dataset.rate, form, group, slope, shift, doubles)
