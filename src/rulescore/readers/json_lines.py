"""JSON Lines: one object a line, whose values keep their types. A nested field is a column, named by its path: `triple.subject`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NoReturn

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, refuse
from rulescore.readers.columns import RANKING_COLUMNS, Ranking, assemble, no_facts, parse_number, parse_rank, parse_value
from rulescore.readers.files import InputFile, Opening
from rulescore.readers.layout import TRIPLE, Layout, is_ranking_name, is_triple_name, refuse_other_types, resolve
from rulescore.readers.lines import open_lines
from rulescore.readers.text import at_most, encoding_problem, printable
from rulescore.setting.choices import ColumnType
from rulescore.setting.model import FactBatch, Request, RowStream
from rulescore.values import equals_double, has_lone_surrogate, key_of

_BATCH_ROWS = 1 << 17
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", int: "a number", float: "a number"}

Row = Mapping[str, Any]
"""A line's values by the paths of its fields. A list is one value, and its members are fields, too: `triple.0`."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its object, and the object's values by their paths."""

    number: int
    text: str
    value: dict[str, Any]
    row: Row


@dataclass(frozen=True, slots=True)
class JsonFact:
    """A fact of a line. `floats`: the places of its arguments that are floats. `ranking`: its score, rank and query."""

    predicate: str | None
    keys: tuple[str, ...]
    floats: frozenset[int]
    ranking: tuple[float | None, int | None, str | None]


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """Which fields play which parts. `paths`: the path of each column of the layout."""

    layout: Layout
    paths: tuple[str, ...]


def json_lines(file: Opening, request: Request) -> Iterator[Line | Diagnostic]:
    """The lines of a file, each as its object, or as a problem if it is no object."""
    with open_lines(file, request.origin) as lines:
        for number, text in enumerate(lines, 1):
            try:
                value = json.loads(text, parse_constant=_refuse_constant)
                row = dict(_fields(value)) if isinstance(value, dict) else {}
            except json.JSONDecodeError as error:
                yield encoding_problem(request.origin, number, text) or _no_json(request, number, text, error)
                continue
            except (ValueError, RecursionError) as error:
                yield _problem("E310", f"the line cannot be read: {str(error)[:200]}", request, number)
                continue
            if not isinstance(value, dict):
                message = f"the line is {_KINDS.get(type(value), 'nothing')}, and a row is an object with named fields"
                helps = ('write `{"head": "alice", "relation": "wife", "tail": "bob"}`',)
                yield _problem("E310", message, request, number, helps)
            elif (problem := encoding_problem(request.origin, number, text)) is not None:
                yield problem
            else:
                yield Line(number, text, value, row)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"`{word}` is no number of JSON")


def _no_json(request: Request, number: int, text: str, error: json.JSONDecodeError) -> Diagnostic:
    if text == "":
        helps = ("every line is a row; remove this one",)
        return Diagnostic("E310", "the line is empty", Place(request.origin, number, 1, text=""), helps=helps)
    place, label = Place(request.origin, number, error.colno, text=printable(text)), error.msg.lower().removesuffix(" at")
    helps = ("a file of JSON Lines has one object on each line; for a list of objects write one a line: `jq -c '.[]'`",)
    return Diagnostic(
        "E310", "the line is not JSON", place, label, helps=helps if text.strip() == "{" or text.lstrip()[:1] in {"[", "]"} else ()
    )


def _fields(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, member in value.items():
        path = f"{before}{name}"
        if isinstance(member, dict):
            yield from _fields(member, f"{path}.")
        else:
            yield path, member
            if isinstance(member, list):
                yield from _fields({str(place): item for place, item in enumerate(member)}, f"{path}.")


def column_names(rows: Iterable[Row], chosen: Iterable[str] = ()) -> dict[str, str]:
    """The columns of rows, each with its path: a nested field is named by the last part of its path, if no other field is. A member
    of a list is a column only if its path is chosen."""
    members: set[str] = set()
    paths: dict[str, None] = {}
    for row in rows:
        for path, value in row.items():
            if path not in paths and not any(path.startswith(f"{place}.") for place in members):
                paths[path] = None
            if isinstance(value, list):
                members.add(path)
        paths |= {path: None for path in chosen if path in row}
    last = [path.rpartition(".")[2] for path in paths]
    return {end if last.count(end) == 1 and not end.isdecimal() else path: path for path, end in zip(paths, last, strict=True)}


def find_layout(lines: Iterable[Line | Diagnostic], request: Request) -> JsonLayout:
    """Decides which field plays which part, by the fields of all lines. Lines that cannot be read have none."""
    columns = request.file.columns
    parts = {part: [choice] if isinstance(choice, str | int) else list(choice) for part, choice in columns.items()}
    chosen = [choice for choices in parts.values() for choice in choices if isinstance(choice, str)]
    nested: dict[str, None] = {}
    threes: dict[str, None] = {}
    problems: list[Diagnostic] = []

    def rows() -> Iterator[Row]:
        for line in lines:
            if isinstance(line, Line):
                nested.update(dict.fromkeys(path for path, value in line.row.items() if _holds_rows(value)))
                threes.update(dict.fromkeys(path for path, value in line.row.items() if _is_triple(value)))
                yield line.row
            else:
                problems.append(line)

    names = _with_parts(column_names(rows(), chosen), {*chosen, *request.file.types})
    if not names:
        raise InputError(at_most(iter(problems))) if problems else no_facts(request)
    by_path = {path: name for name, path in names.items()}
    named = {part: [by_path.get(c, c) if isinstance(c, str) else c for c in choices] for part, choices in parts.items()}
    try:
        layout = resolve(tuple(names), len(names), replace(request, file=replace(request.file, columns=named)))
    except InputError as error:
        helps = tuple(
            f"`{path}` is a list of objects: write each on a line of its own, `jq -c '.{path}[]' {request.origin}`"
            for path in nested
        ) + tuple(
            f"is `{path}` a triple? `--predictions-columns head={path}.0,relation={path}.1,tail={path}.2`"
            for path in threes
            if request.predictions
        )
        raise InputError(replace(problem, helps=(*helps, *problem.helps)) for problem in error.problems) from None
    return JsonLayout(layout, tuple(names.values()))


def _with_parts(names: Mapping[str, str], said: Container[str]) -> dict[str, str]:
    """The columns, with the name of the field around them if that is a part of a triple: `subject.name`. A name that the user says
    stays, and so does the name of a score, a rank or a query."""

    def around(name: str, path: str) -> str:
        *_, part, own = ["", *path.split(".")]
        return f"{part}.{own}" if is_triple_name(part) and not (name in said or is_ranking_name(name)) else name

    whole = {path: around(name, path) for name, path in names.items()}
    times = Counter(whole.values())
    return {name if times[name] == 1 else path: path for path, name in whole.items()}


def _holds_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _is_triple(value: object) -> bool:
    return isinstance(value, list) and len(value) == len(TRIPLE) and all(isinstance(item, str) for item in value)


def read_json_lines(file: InputFile, request: Request) -> Iterator[FactBatch]:
    """The facts of a file. If lines are wrong, raises InputError with the place of each."""
    with file.opened() as opening:
        shape = find_layout(json_lines(opening, request), request)
        read = _facts(opening, shape, request)
        facts: list[JsonFact] = []
        first = True
        for fact in read:
            if isinstance(fact, Diagnostic):
                raise InputError(at_most(problem for problem in chain([fact], read) if isinstance(problem, Diagnostic)))
            facts.append(fact)
            if len(facts) == _BATCH_ROWS:
                yield json_batch(facts, shape, request, first=first)
                facts, first = [], False
        if facts:
            yield json_batch(facts, shape, request, first=first)


def _facts(opening: Opening, shape: JsonLayout, request: Request) -> Iterator[JsonFact | Diagnostic]:
    return (line if isinstance(line, Diagnostic) else json_fact(line, shape, request) for line in json_lines(opening, request))


def json_batch(facts: Sequence[JsonFact], shape: JsonLayout, request: Request, *, first: bool) -> FactBatch:
    """Facts as a batch. `first`: it is the first of its source."""
    layout = shape.layout
    keys = [pa.array([fact.keys[place] for fact in facts], pa.string()) for place in range(len(layout.arguments))]
    relation = None if layout.relation is None else pa.array([fact.predicate for fact in facts], pa.string())
    scores, ranks, queries = (
        pa.array([fact.ranking[place] for fact in facts], kind) for place, kind in enumerate(RANKING_COLUMNS.values())
    )
    ranking: Ranking | None = (scores, ranks, queries) if request.predictions else None
    floats = frozenset((str(fact.predicate or layout.predicate), place) for fact in facts for place in fact.floats)
    batch = assemble(keys, relation, layout.predicate, ranking, floats)
    declared = [place for place in layout.declared if layout.types[place] is ColumnType.STRING]
    names = {str(fact.predicate or layout.predicate) for fact in facts} if declared else ()
    texts = frozenset((name, place) for name in names for place in declared)
    return replace(batch, declared_text=texts, guess=layout.guess if first else None)


def json_fact(line: Line, shape: JsonLayout, request: Request) -> JsonFact | Diagnostic:
    """The fact of a line, or what is wrong with it."""
    layout, values = shape.layout, [line.row.get(path) for path in shape.paths]
    try:
        keys, floats = [], set()
        for place, (index, kind) in enumerate(zip(layout.arguments, layout.types, strict=True)):
            declared = kind if place in layout.declared else None
            value = _constant(values[index], declared)
            keys.append(key_of(value))
            floats |= {place} if isinstance(value, float) else set()
        predicate = None if layout.relation is None else _name(values[(index := layout.relation)])
        score = None if layout.score is None else _number(values[(index := layout.score)], parse_number, "a finite number")
        rank = None if layout.rank is None else _number(values[(index := layout.rank)], parse_rank, "a whole number from 1")
        queries = [values[(index := place)] for place in layout.query]
        query = " ".join(_name(part) for part in queries) if queries and None not in queries else None
    except _ValueError as error:
        message = f"`{layout.names[index]}` {error}"
        return _problem("E312" if values[index] in (None, "") else "E314", message, request, line.number)
    return JsonFact(predicate, tuple(keys), frozenset(floats), (score, None if rank is None else int(rank), query))


class _ValueError(Exception):
    """The words for what is wrong with a value; the caller adds the name of the value."""


def _constant(value: object, declared: ColumnType | None) -> Any:
    if value is None or value == "":
        raise _ValueError("is missing" if value is None else "is empty")
    if isinstance(value, list):
        raise _ValueError("is a list, and a constant is a text, a number or a truth value")
    if isinstance(value, str) and has_lone_surrogate(value):
        raise _ValueError("has half a character: a lone surrogate")
    try:
        if declared is not None:
            return parse_value(value if isinstance(value, str) else json.dumps(value), declared)
        key_of(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise _ValueError(f"is {_written(value)}, not {declared or 'a constant'}") from None
    return value


def _name(value: object) -> str:
    if value is None or value == "":
        raise _ValueError("is missing" if value is None else "is empty")
    if isinstance(value, bool) or not isinstance(value, str | int) or has_lone_surrogate(str(value)):
        raise _ValueError(f"is {_written(value)}, not a name")
    return str(value)


def _number(value: object, parse: Callable[[str], float], expected: str) -> float | None:
    """A number. A text that is written like a number passes, since some programs write scores in quotes."""
    if value is None or value == "":
        return None
    with suppress(ValueError):
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return parse(value if isinstance(value, str) else repr(value))
    raise _ValueError(f"is {_written(value)}, not {expected}")


def _written(value: object) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)[:80]}`"


def _problem(code: str, message: str, request: Request, number: int, helps: tuple[str, ...] = ()) -> Diagnostic:
    return Diagnostic(code, message, Place(request.origin, number), helps=helps)


# Rows of a table. A column has the type that all its values have; without types, texts stay texts.


_ARROW = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
_WORDS = {str: "text", bool: "truth value", int: "number", float: "number", list: "list"}

Normal = Callable[[Iterable[pa.RecordBatch], str], Iterator[pa.RecordBatch]]


class JsonRows:
    """A file of objects, read once. `types`: the types that the user declares. `normal`: brings batches into the types that we
    use."""

    def __init__(self, file: InputFile, request: Request, types: Mapping[str, ColumnType], normal: Normal) -> None:
        self._file, self._request, self._types, self._normal = file, request, types, normal

    def stream(self) -> RowStream:
        return RowStream(self._request.origin, self.schema, self.batches, version=self._file.version)

    @cached_property
    def _lines(self) -> list[Line]:
        with self._file.opened() as opening:
            read = list(json_lines(opening, self._request))
        refuse(at_most(line for line in read if isinstance(line, Diagnostic)))
        if not read:
            raise no_facts(self._request)
        return [line for line in read if isinstance(line, Line)]

    @cached_property
    def _paths(self) -> dict[str, str]:
        names = column_names((line.row for line in self._lines), self._types)
        refuse_other_types((name for name in self._types if name not in names.values()), list(names), self._request.origin)
        return names

    def schema(self) -> pa.Schema:
        return pa.schema([(name, self._column(name, strict=False).type) for name in self._paths])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        table = pa.table({name: self._column(name, strict=True) for name in columns})
        return self._normal(table.to_batches(), self._request.origin)

    def _column(self, name: str, *, strict: bool) -> pa.Array:
        """A column. If its values have several types, it is text for those who only ask for the types of columns."""
        path = self._paths[name]
        declared = self._types.get(name, self._types.get(path))
        values = [self._value(line, name, line.row.get(path), declared, strict=strict) for line in self._lines]
        kinds = {type(value) for value in values if value is not None}
        if declared is not None or not kinds:
            return pa.array(values, None if kinds else pa.string())
        if kinds == {int, float} and all(not isinstance(value, int) or equals_double(value) for value in values):
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        too_large = kinds == {int} and any(value is not None and not _fits(value) for value in values)
        if len(kinds) == 1 and kinds <= _ARROW.keys() and not too_large:
            return pa.array(values, _ARROW[kinds.pop()])
        if strict and kinds != {list}:
            raise InputError(self._several(name, values))
        return pa.array([None if value is None else json.dumps(value) for value in values], pa.string())

    def _value(self, line: Line, name: str, value: Any, declared: ColumnType | None, *, strict: bool) -> Any:
        if declared is None or value is None:
            if strict and isinstance(value, int) and not _fits(value):
                raise InputError(self._wrong(line, f"`{name}` is `{value}`, which does not fit into 64 bits"))
            return value
        try:
            return parse_value(value if isinstance(value, str) else json.dumps(value), declared)
        except ValueError:
            raise InputError(self._wrong(line, f"`{name}` is `{json.dumps(value)[:80]}`, not of type {declared}")) from None

    def _several(self, name: str, values: Sequence[Any]) -> Diagnostic:
        known = [(line, type(value)) for line, value in zip(self._lines, values, strict=True) if value is not None]
        first = known[0][1]
        other, kind = next((line, kind) for line, kind in known if kind is not first)
        message = f"`{name}` is a {_WORDS[kind]} here and a {_WORDS[first]} in line {known[0][0].number:,}"
        if _WORDS[kind] == _WORDS[first]:
            message = f"`{name}` has an integer that no float equals, and floats"
        helps = (f'give the column one type: `types = {{ {json.dumps(name)} = "string" }}`',)
        return Diagnostic("E314", message, Place(self._request.origin, other.number), helps=helps)

    def _wrong(self, line: Line, message: str) -> Diagnostic:
        return Diagnostic("E314", message, Place(self._request.origin, line.number))


def _fits(value: int) -> bool:
    return -(2**63) <= value < 2**63
