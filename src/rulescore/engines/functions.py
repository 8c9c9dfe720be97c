"""Registered predicates: each is asked once about each distinct tuple of arguments, whatever the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from rulescore.data.setting import Function
from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError
from rulescore.sql.build import name

CODES = {
    "E291": "a registered predicate raised an exception",
    "E292": "a registered predicate did not answer with true, false or nothing",
}

Arguments = tuple[object, ...]


class Answers:
    """Asks registered predicates and remembers what they said."""

    def __init__(self, engine: Engine, functions: Sequence[Function]) -> None:
        self._engine = engine
        self._functions = {one.name: one for one in functions}
        self._known: dict[str, dict[Arguments, bool | None]] = {one.name: {} for one in functions}
        self._made = 0

    def load(self, function: str, asked: pa.Table, title: str) -> str:
        """A table of the argument tuples asked about and the answers to them. Tuples with a missing value have none."""
        complete = asked.drop_null().group_by(asked.column_names).aggregate([])
        tuples = list(zip(*(column.to_pylist() for column in complete.columns), strict=True))
        known = self._known[function]
        new = [i for i, one in enumerate(tuples) if one not in known]
        if new:
            known.update(self._ask(self._functions[function], complete.take(new), [tuples[i] for i in new], title))
        table = name(f"answers_{self._made}")
        self._made += 1
        answers = pa.array([known[one] for one in tuples], pa.bool_())
        self._engine.load(table, complete.append_column("answer", answers))
        return table

    def _ask(self, function: Function, rows: pa.Table, tuples: Sequence[Arguments], title: str) -> dict[Arguments, bool | None]:
        if function.arrow:
            return dict(zip(tuples, self._ask_arrow(function, rows, title), strict=True))
        return {one: self._ask_one(function, one, title) for one in tuples}

    def _ask_one(self, function: Function, arguments: Arguments, title: str) -> bool | None:
        try:
            answer = function.call(*arguments)
        except Exception as error:
            raise InputError(_failed(function, arguments, error, title)) from error
        return _checked(function, arguments, answer, title)

    def _ask_arrow(self, function: Function, rows: pa.Table, title: str) -> list[bool | None]:
        columns = [column.combine_chunks() for column in rows.columns]
        shown = tuple(column.type for column in columns)
        try:
            answer = function.call(*columns)
        except Exception as error:
            raise InputError(_failed(function, shown, error, title, "arrays of ")) from error
        found = answer.to_pylist() if hasattr(answer, "to_pylist") else list(answer) if isinstance(answer, Iterable) else [answer]
        if len(found) != rows.num_rows:
            message = f"function `{function.name}` answered {len(found)} times to {rows.num_rows} tuples of arguments"
            raise InputError(Diagnostic("E292", message, notes=(f"for {title}",)))
        return [_checked(function, tuple(row.values()), one, title) for row, one in zip(rows.to_pylist(), found, strict=True)]


def _checked(function: Function, arguments: Arguments, answer: object, title: str) -> bool | None:
    if answer is None or isinstance(answer, bool | np.bool_):
        return None if answer is None else bool(answer)
    shown = f"function `{function.name}` answered `{answer!r}` to {_shown(arguments)}"
    helps = ("return True, False, or None where it cannot be said",)
    raise InputError(Diagnostic("E292", shown, notes=(f"for {title}",), helps=helps))


def _failed(function: Function, arguments: Arguments, error: Exception, title: str, what: str = "") -> Diagnostic:
    message = f"function `{function.name}` failed on {what}{_shown(arguments)}: {type(error).__name__}: {error}"
    return Diagnostic("E291", message, notes=(f"for {title}",))


def _shown(arguments: Iterable[object]) -> str:
    return "(" + ", ".join(str(one) if isinstance(one, pa.DataType) else repr(one) for one in arguments) + ")"


Calls = Mapping[str, str]
