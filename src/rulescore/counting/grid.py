"""The counts over the data that rules that limit a distance would have with other tolerances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rulescore.counting.formulas import Formulas
from rulescore.errors import Diagnostic, InputError
from rulescore.language.syntax import Rule
from rulescore.loading.support import refuse_grid
from rulescore.logic.tolerances import is_relative, log_distance
from rulescore.scoring.results import Counts, RuleInfo
from rulescore.scoring.tolerances import GridRow, Tolerance


def tolerance_grid(
    formulas: Formulas, rules: Sequence[Rule], infos: Sequence[RuleInfo], limits: Sequence[Tolerance]
) -> list[GridRow]:
    """Dataset counts of every rule that limits a distance within groups, for each tolerance of its kind."""
    refuse_grid(formulas.engine)
    if formulas.distinct_variables:
        raise InputError(_no_grid("two variables may not stand for one constant, so pairs of equal values are left out"))
    return [row for number in formulas.rules for row in _of_rule(formulas, number, rules[number], infos[number], limits)]


def _of_rule(formulas: Formulas, number: int, rule: Rule, info: RuleInfo, limits: Sequence[Tolerance]) -> Iterator[GridRow]:
    relative = is_relative(rule)
    chosen = [one for one in limits if one.relative is relative]
    if formulas.proximity(number) is None or not chosen:
        return
    found = formulas.grid(number, [log_distance(one.value) if relative else one.value for one in chosen])
    if found is None:
        raise InputError(_no_grid(f"values of rule `{info.name}` are too large to be subtracted"))
    for one, counts in zip(chosen, found, strict=True):
        yield GridRow(info, one, Counts(counts.confirmed, counts.refuted, counts.evaluable))


def _no_grid(reason: str) -> Diagnostic:
    return Diagnostic("E264", "rules cannot be counted with other tolerances", notes=(reason,))
