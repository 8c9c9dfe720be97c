"""Registered predicates: we call each once for each distinct tuple of arguments, whatever the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, EngineError, InputError
from rulescore.logic.questions import Question
from rulescore.setting.model import Function
from rulescore.sql.names import answers_table
from rulescore.values.keys import value_of
from rulescore.values.types import ValueType

Arguments = tuple[object, ...]


class RegisteredAnswers:
    """Calls registered predicates and remembers their answers. The calls for one question take at most `timeout` seconds."""

    def __init__(self, engine: Engine, functions: Sequence[Function], timeout: float | None = None) -> None:
        self._engine, self._timeout = engine, timeout
        self._functions = {one.name: one for one in functions}
        self._known: dict[str, dict[Arguments, bool | None]] = {one.name: {} for one in functions}
        self._made = 0

    def load(self, question: Question, asked: pa.Table, title: str) -> str:
        """Load a table of argument tuples and their answers; returns its name. Tuples with a missing value have no answer."""
        complete = asked.drop_null().group_by(asked.column_names).aggregate([])
        rows = _with_times(complete, question.types)
        self._refuse_mixed(question, title)
        columns = zip(rows.columns, question.types, strict=True)
        tuples = list(zip(*(_values(column, found) for column, found in columns), strict=True))
        keys = list(map(_key, tuples))
        known = self._known[question.function]
        new = [i for i, key in enumerate(keys) if key not in known]
        if new:
            answers = self._ask(self._functions[question.function], rows.take(new), [tuples[i] for i in new], title)
            known.update(zip((keys[i] for i in new), answers, strict=True))
        table = answers_table(self._made)
        self._made += 1
        found = pa.array([known[key] for key in keys], pa.bool_())
        self._engine.load(table, complete.append_column("answer", found))
        return table

    def _refuse_mixed(self, question: Question, title: str) -> None:
        """Raise if a function of arrays would get values of several types: an array has one type."""
        if self._functions[question.function].arrow and ValueType.MIXED in question.types:
            number = question.types.index(ValueType.MIXED) + 1
            message = f"function `{question.function}` takes arrays, and argument {number} stands for values of several types"
            helps = ("register a function of single values, or leave out the values that do not belong there",)
            raise InputError(Diagnostic("E283", message, notes=(f"for {title}",), helps=helps))

    def _ask(self, function: Function, rows: pa.Table, tuples: Sequence[Arguments], title: str) -> list[bool | None]:
        if function.arrow:
            return self._ask_arrow(function, rows, tuples, title)
        started = time.monotonic()
        answers: list[bool | None] = []
        for one in tuples:
            if self._timeout is not None and time.monotonic() - started > self._timeout:
                calls = f"{_count(len(answers), 'call')} of {len(tuples):,}"
                raise EngineError(
                    f"function `{function.name}` was stopped after {self._timeout:g} seconds, the `timeout` of the engine, "
                    f"and {calls}, for {title}"
                )
            answers.append(self._ask_one(function, one, title))
        return answers

    def _ask_one(self, function: Function, arguments: Arguments, title: str) -> bool | None:
        try:
            answer = function.call(*arguments)
        except (Exception, SystemExit) as error:
            raise InputError(_failed(function, arguments, error, title)) from error
        return _checked(function, arguments, answer, title)

    def _ask_arrow(self, function: Function, rows: pa.Table, tuples: Sequence[Arguments], title: str) -> list[bool | None]:
        columns = [column.combine_chunks() for column in rows.columns]
        shown = tuple(column.type for column in columns)
        try:
            answer = function.call(*columns)
        except (Exception, SystemExit) as error:
            raise InputError(_failed(function, shown, error, title, "arrays of ")) from error
        found = answer.to_pylist() if hasattr(answer, "to_pylist") else list(answer) if isinstance(answer, Iterable) else [answer]
        if len(found) != rows.num_rows:
            message = f"function `{function.name}` gave {_count(len(found), 'answer')} to {_count(rows.num_rows, 'question')}"
            helps = ("return an array that is as long as those of the arguments",)
            raise InputError(Diagnostic("E292", message, notes=(f"for {title}",), helps=helps))
        return [_checked(function, arguments, one, title) for arguments, one in zip(tuples, found, strict=True)]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _key(arguments: Arguments) -> Arguments:
    """Integers and floats of one value are one argument; `true` and `1`, which Python takes for equal, are two."""
    return tuple((isinstance(one, bool), one) for one in arguments)


def _values(column: pa.ChunkedArray, found: ValueType | None) -> list[object]:
    return [value_of(key) for key in column.to_pylist()] if found is ValueType.MIXED else column.to_pylist()


_TIMES = {
    ValueType.DURATION: pa.duration("s"),
    ValueType.SPAN: pa.duration("us"),
    ValueType.DATETIME: pa.timestamp("us"),
    ValueType.INSTANT: pa.timestamp("us", "UTC"),
}


def _with_times(rows: pa.Table, types: Sequence[ValueType | None]) -> pa.Table:
    """The rows with times as such: the database stores durations as days, and date-times and time spans as microseconds."""
    for index, found in enumerate(types):
        if found in _TIMES:
            numbers = rows.column(index).cast(pa.int64())
            numbers = pc.multiply(numbers, 24 * 60 * 60) if found is ValueType.DURATION else numbers
            rows = rows.set_column(index, rows.field(index).name, numbers.cast(_TIMES[found]))
    return rows


def _checked(function: Function, arguments: Arguments, answer: object, title: str) -> bool | None:
    if answer is None or isinstance(answer, bool | np.bool_):
        return None if answer is None else bool(answer)
    shown = f"function `{function.name}` answered `{_written(answer, repr)}` to {_shown(arguments)}"
    helps = ("return True, False, or None where it cannot be said",)
    raise InputError(Diagnostic("E292", shown, notes=(f"for {title}",), helps=helps))


def _failed(function: Function, arguments: Arguments, error: BaseException, title: str, what: str = "") -> Diagnostic:
    message = f"function `{function.name}` failed on {what}{_shown(arguments)}: {type(error).__name__}: {_written(error, str)}"
    return Diagnostic("E291", message, notes=(f"for {title}",))


def _written(what: object, write: Callable[[object], str]) -> str:
    """What a user's own class says of itself, which may fail."""
    try:
        return write(what)
    except Exception:
        return f"<{type(what).__name__}>"


def _shown(arguments: Iterable[object]) -> str:
    return "(" + ", ".join(str(one) if isinstance(one, pa.DataType) else repr(one) for one in arguments) + ")"
