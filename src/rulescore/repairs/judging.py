"""Judges each repair as a prediction of its cell's value, and the replaced value as another prediction.

Column by column: we hide the repaired cells and score two models, one that predicts their new values and one that predicts the old
ones. The rules judge both against the same data, and so tell whether a repair is better than the value that it replaces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, Source
from rulescore.language.printer import print_program, rule_names
from rulescore.language.syntax import Atom, Program, Rule
from rulescore.language.trees import atoms_in
from rulescore.logic.rules import read
from rulescore.readers.row_streams import WrittenCell, refuse_unknown, text_rows
from rulescore.scoring.results import Counts
from rulescore.session.session import Session
from rulescore.setting.model import HiddenIds, KeyedTable, ModelPredictions, RowStream, Setting, TablePredictions

_OLD, _NEW = "old", "new"


class Verdict(StrEnum):
    """The verdict of rules on a repair, compared with the value that it replaces. `UNJUDGED`: no rule could judge it. `UNCHANGED`:
    the cell has this value already."""

    BREAKS = "breaks"
    WORSE = "worse"
    STILL = "still broken"
    BETTER = "better"
    FIXES = "fixes"
    AGREES = "agrees"
    UNJUDGED = "not judged"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class JudgedRepair:
    """A repair, with the counts of the old and of the new value over all rules. `rules`: the rules that the new value breaks."""

    model: str
    key: str
    column: str
    old: str | None
    new: str | None
    before: Counts
    after: Counts
    rules: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        before, after = self.before.refuted, self.after.refuted
        if self.old == self.new:
            return Verdict.UNCHANGED
        if not self.after.evaluable and not before:
            return Verdict.UNJUDGED
        if not after:
            return Verdict.FIXES if before else Verdict.AGREES
        if not before:
            return Verdict.BREAKS
        return Verdict.STILL if after == before else Verdict.WORSE if after > before else Verdict.BETTER


def repaired_table(setting: Setting) -> KeyedTable:
    """The one table that repairs may be of: with a key of one column, from a text file."""
    keyed = [table for table in setting.tables if table.key]
    helps = ("give one table: `--table sales.csv`",)
    if len(keyed) != 1:
        raise InputError(Diagnostic("E333", f"repairs belong to one table, and there are {len(keyed)} with a key", helps=helps))
    (table,) = keyed
    if len(table.key) != 1 or not isinstance(table.rows, RowStream) or table.rows.text is None:
        message = "repairs are of a table of a text file, with a key of one column"
        raise InputError(Diagnostic("E333", message, helps=helps))
    return table


def judge_repairs(setting: Setting, model: str, cells: Sequence[WrittenCell], origin: str) -> list[JudgedRepair]:
    """The repairs of one model, in their order."""
    table = repaired_table(setting)
    repaired = _Repaired(setting, table, model, origin)
    repaired.refuse_unknown(cells)
    by_column: defaultdict[str, list[WrittenCell]] = defaultdict(list)
    for cell in cells:
        by_column[cell.column].append(cell)
    judged = {
        (repair.key, repair.column): repair for column, written in by_column.items() for repair in repaired.judged(column, written)
    }
    return [judged[cell.key, cell.column] for cell in cells]


class _Repaired:
    """A table and the repairs of one model."""

    def __init__(self, setting: Setting, table: KeyedTable, model: str, origin: str) -> None:
        self._setting, self._table, self._model, self._origin = setting, table, model, origin
        assert isinstance(table.rows, RowStream)
        names = table.rows.schema().names
        self._columns = pa.Table.from_batches(list(table.rows.open(names)))
        (self._key,) = table.key
        self._places = {str(key): place for place, key in enumerate(self._columns.column(self._key).to_pylist())}
        program = read(setting).program
        named = [replace(rule, name=name) for rule, name in zip(program.rules, rule_names(program), strict=True)]
        self._program = Program((*program.declarations, *named))

    def refuse_unknown(self, cells: Sequence[WrittenCell]) -> None:
        """Raises InputError for a cell that the table does not have, and for two values of one cell."""
        columns = [name for name in self._columns.column_names if name != self._key]
        refuse_unknown(cells, self._places, columns, self._origin)
        values: dict[tuple[str, str], str | None] = {}
        for cell in cells:
            if values.setdefault((cell.key, cell.column), cell.value) != cell.value:
                message = f"there are two values for `{cell.column}` of row `{cell.key}`"
                raise InputError(Diagnostic("E327", message, Place(self._origin), helps=("keep one of them",)))

    def judged(self, column: str, cells: Sequence[WrittenCell]) -> Iterator[JudgedRepair]:
        values = self._columns.column(column).to_pylist()
        old = {cell.key: values[self._places[cell.key]] for cell in cells}
        changed = [cell for cell in cells if old[cell.key] != cell.value]
        counts = self._counts(column, changed, old) if changed else {}
        for cell in cells:
            before, after = (counts.get((model, cell.key), {}) for model in (_OLD, _NEW))
            broken = tuple(rule for rule, of_rule in after.items() if of_rule.refuted)
            yield JudgedRepair(self._model, cell.key, column, old[cell.key], cell.value, _sum(before), _sum(after), broken)

    def _counts(
        self, column: str, changed: Sequence[WrittenCell], old: Mapping[str, str | None]
    ) -> dict[tuple[str, str], dict[str, Counts]]:
        """The counts of each rule, by the model of old or new values and by the key."""
        rules = tuple(rule for rule in self._program.rules if _names(rule, self._table.name, column))
        if not rules:
            return {}
        ids = HiddenIds(text_rows(pa.table({self._key: [cell.key for cell in changed]}), self._origin))
        table = replace(self._table, target=column, hidden=ids)
        new = {cell.key: cell.value for cell in changed}
        predictions = tuple(
            ModelPredictions(model, (), None, (self._predicted(values),))
            for model, values in ((_OLD, {key: old[key] for key in new}), (_NEW, new))
            if any(value is not None for value in values.values())
        )
        text = print_program(Program((*self._program.declarations, *rules)))
        setting = replace(
            self._setting,
            tables=tuple(table if other.name == table.name else other for other in self._setting.tables),
            predictions=predictions,
            rules=(Source("rules", text),),
            sql_rules=(),
            scoring=replace(self._setting.scoring, allow_unrefutable=True),
        )
        with Session(setting) as session:
            contributions: list[dict[str, Any]] = session.evaluate(contributions=True).contributions.to_pylist()
        counts: dict[tuple[str, str], dict[str, Counts]] = {}
        for row in contributions:
            of_rules = counts.setdefault((row["model"], row["arguments"][0]), {})
            of_rules[row["rule"]] = Counts(row["confirmed"], row["refuted"], row["evaluable"])
        return counts

    def _predicted(self, values: Mapping[str, str | None]) -> TablePredictions:
        known = {key: value for key, value in values.items() if value is not None}
        rows = pa.table({self._key: list(known), "prediction": list(known.values())})
        return TablePredictions(self._table.name, text_rows(rows, self._origin))


def _names(rule: Rule, table: str, column: str) -> bool:
    """Whether a rule mentions a column."""
    for condition in (rule.head, rule.body):
        for atom in atoms_in(condition):
            if isinstance(atom, Atom):
                if atom.predicate == f"{table}.{column}":
                    return True
            elif atom.table == table and any(name == column for name, _ in atom.arguments):
                return True
    return False


def _sum(counts: Mapping[str, Counts]) -> Counts:
    totals = counts.values()
    return Counts(
        sum(count.confirmed for count in totals), sum(count.refuted for count in totals), sum(count.evaluable for count in totals)
    )
