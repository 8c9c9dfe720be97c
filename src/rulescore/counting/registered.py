"""Registered predicates: we call each once for each distinct tuple of arguments, whatever the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, EngineError, InputError
from rulescore.logic.judgement import Question
from rulescore.setting.model import Function
from rulescore.sql.names import answers_table
from rulescore.values import ValueType, value_of

Arguments = tuple[object, ...]


class RegisteredAnswers:
    """Calls registered predicates and remembers their answers. The calls for one question take at most `timeout` seconds."""

    def __init__(self, engine: Engine, functions: Sequence[Function], timeout: float | None = None) -> None:
        self._engine, self._timeout = engine, timeout
        self._functions = {function.name: function for function in functions}
        self._known: dict[str, dict[Arguments, bool | None]] = {function.name: {} for function in functions}
        self._made = 0

    def load(self, question: Question, asked: pa.Table, title: str) -> str:
        """Load a table of argument tuples and their answers; returns its name. Tuples with a missing value have no answer."""
        complete = asked.drop_null().group_by(asked.column_names).aggregate([])
        rows = _with_times(complete, question.types)
        self._refuse_mixed(question, title)
        columns = zip(rows.columns, question.types, strict=True)
        tuples = list(zip(*(_python_values(column, type_) for column, type_ in columns), strict=True))
        keys = list(map(_key, tuples))
        known = self._known[question.function]
        new = [i for i, key in enumerate(keys) if key not in known]
        if new:
            verdicts = self._ask(self._functions[question.function], rows.take(new), [tuples[i] for i in new], title)
            known.update(zip((keys[i] for i in new), verdicts, strict=True))
        table = answers_table(self._made)
        self._made += 1
        known_verdicts = pa.array([known[key] for key in keys], pa.bool_())
        self._engine.load(table, complete.append_column("answer", known_verdicts))
        return table

    def _refuse_mixed(self, question: Question, title: str) -> None:
        """Raise if a function of arrays would get values of several types: an array has one type."""
        if self._functions[question.function].arrow and ValueType.MIXED in question.types:
            number = question.types.index(ValueType.MIXED) + 1
            message = f"function `{question.function}` takes arrays, and argument {number} stands for values of several types"
            helps = ("register a function of single values, or leave out the values that do not belong there",)
            raise InputError(Diagnostic("E271", message, notes=(f"for {title}",), helps=helps))

    def _ask(self, function: Function, rows: pa.Table, tuples: Sequence[Arguments], title: str) -> list[bool | None]:
        if function.arrow:
            return self._ask_arrow(function, rows, tuples, title)
        started = time.monotonic()
        verdicts: list[bool | None] = []
        for tuple_ in tuples:
            if self._timeout is not None and time.monotonic() - started > self._timeout:
                calls = f"{_count(len(verdicts), 'call')} of {len(tuples):,}"
                raise EngineError(
                    f"function `{function.name}` was stopped after {self._timeout:g} seconds, the `timeout` of the engine, "
                    f"and {calls}, for {title}"
                )
            verdicts.append(self._ask_one(function, tuple_, title))
        return verdicts

    def _ask_one(self, function: Function, arguments: Arguments, title: str) -> bool | None:
        try:
            verdict = function.call(*arguments)
        except (Exception, SystemExit) as error:
            raise InputError(_failed(function, arguments, error, title)) from error
        return _checked(function, arguments, verdict, title)

    def _ask_arrow(self, function: Function, rows: pa.Table, tuples: Sequence[Arguments], title: str) -> list[bool | None]:
        columns = [column.combine_chunks() for column in rows.columns]
        shown = tuple(column.type for column in columns)
        try:
            column = function.call(*columns)
        except (Exception, SystemExit) as error:
            raise InputError(_failed(function, shown, error, title, "arrays of ")) from error
        verdicts = (
            column.to_pylist() if hasattr(column, "to_pylist") else list(column) if isinstance(column, Iterable) else [column]
        )
        if len(verdicts) != rows.num_rows:
            message = f"function `{function.name}` gave {_count(len(verdicts), 'answer')} to {_count(rows.num_rows, 'question')}"
            helps = ("return an array as long as the arguments",)
            raise InputError(Diagnostic("E291", message, notes=(f"for {title}",), helps=helps))
        return [_checked(function, arguments, verdict, title) for arguments, verdict in zip(tuples, verdicts, strict=True)]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number != 1 else ''}"


def _key(arguments: Arguments) -> Arguments:
    """Integers and floats of one value are one argument; `true` and `1`, which Python takes for equal, are two."""
    return tuple((isinstance(argument, bool), argument) for argument in arguments)


def _python_values(column: pa.ChunkedArray, type_: ValueType | None) -> list[object]:
    return [value_of(key) for key in column.to_pylist()] if type_ is ValueType.MIXED else column.to_pylist()


_TIMES = {
    ValueType.DURATION: pa.duration("s"),
    ValueType.SPAN: pa.duration("us"),
    ValueType.DATETIME: pa.timestamp("us"),
    ValueType.INSTANT: pa.timestamp("us", "UTC"),
}


def _with_times(rows: pa.Table, types: Sequence[ValueType | None]) -> pa.Table:
    """The rows with Python's types for times. The database stores durations as days, and date-times and time spans as
    microseconds."""
    for index, type_ in enumerate(types):
        if type_ in _TIMES:
            numbers = rows.column(index).cast(pa.int64())
            numbers = pc.multiply(numbers, 24 * 60 * 60) if type_ is ValueType.DURATION else numbers
            rows = rows.set_column(index, rows.field(index).name, numbers.cast(_TIMES[type_]))
    return rows


def _checked(function: Function, arguments: Arguments, verdict: object, title: str) -> bool | None:
    if verdict is None or isinstance(verdict, bool | np.bool_):
        return None if verdict is None else bool(verdict)
    shown = f"function `{function.name}` answered `{_written(verdict, repr)}` to {_arguments_text(arguments)}"
    helps = ("return True, False, or None where it cannot be said",)
    raise InputError(Diagnostic("E291", shown, notes=(f"for {title}",), helps=helps))


def _failed(function: Function, arguments: Arguments, error: BaseException, title: str, what: str = "") -> Diagnostic:
    message = (
        f"function `{function.name}` failed on {what}{_arguments_text(arguments)}: {type(error).__name__}: {_written(error, str)}"
    )
    return Diagnostic("E291", message, notes=(f"for {title}",))


def _written(what: object, write: Callable[[object], str]) -> str:
    """The text that a user's class returns for itself. To ask for it may raise an error."""
    try:
        return write(what)
    except Exception:
        return f"<{type(what).__name__}>"


def _arguments_text(arguments: Iterable[object]) -> str:
    return "(" + ", ".join(str(argument) if isinstance(argument, pa.DataType) else repr(argument) for argument in arguments) + ")"
