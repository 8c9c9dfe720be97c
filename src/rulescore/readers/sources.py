"""Turns everything that a user may give as facts into streams: files, folders, frames, rows, and lists of these."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa

from rulescore.errors import Diagnostic, InputError, Place, refuse
from rulescore.readers import frames
from rulescore.readers.arrays import ENDINGS, are_triples, read_arrays, triples_table
from rulescore.readers.files import STANDARD_INPUT, InputFile, ending_of, is_folder, is_pipe
from rulescore.readers.foreign import asked_columns, read_foreign, readers, recognised, strangers_named
from rulescore.readers.json_lines import read_json_lines
from rulescore.readers.layout import plain_name
from rulescore.readers.own_rows import own_facts, own_frame_rows, own_json_rows, own_parquet_rows, own_text_rows
from rulescore.readers.rdf import RDF_ENDINGS, SYNTAXES, read_prefixes, read_rdf, term_kinds
from rulescore.readers.text import at_most, find_dialect, read_text, stream
from rulescore.setting.choices import A_DELIMITER, FileFormat
from rulescore.setting.model import (
    FactBatch,
    FactFile,
    FactSource,
    FactStream,
    FactTable,
    NativeSource,
    OwnRows,
    PublishedFacts,
    Request,
)
from rulescore.values import has_lone_surrogate

FORMATS_BY_ENDING = {
    ".txt": FileFormat.TEXT,
    ".tsv": FileFormat.TEXT,
    ".csv": FileFormat.TEXT,
    ".tab": FileFormat.TEXT,
    **RDF_ENDINGS,
    **dict.fromkeys(ENDINGS, FileFormat.NUMPY),
    ".parquet": FileFormat.PARQUET,
    ".pq": FileFormat.PARQUET,
    ".jsonl": FileFormat.JSONL,
    ".ndjson": FileFormat.JSONL,
}
_RDF = frozenset((".n3", ".jsonld"))
_UNREADABLE = _RDF | {
    ".json",
    ".xlsx",
    ".xls",
    ".zip",
    ".bz2",
    ".xz",
    ".zst",
    ".7z",
    ".tar",
    ".tgz",
    ".db",
    ".sqlite",
}
_OBJECTS = frozenset((".pt", ".pth", ".pkl", ".pickle", ".joblib", ".h5", ".hdf5", ".safetensors"))

# The predicates of one mapping are one source.
_MAPPING = "<predicates>"

FactsLike = object
"""A path, a `FactFile`, a frame, an iterable of rows, a mapping from predicate to any of these, or a list of such things."""


def observed_streams(what: FactsLike, *, delimiter: str | None = None, header: bool | None = None) -> tuple[FactSource, ...]:
    """Streams of observed or negative facts. Raises InputError now for missing files, and on reading for wrong rows."""
    return _Collector(predictions=False, delimiter=delimiter, header=header).collect(what)


def prediction_streams(what: FactsLike, *, delimiter: str | None = None, header: bool | None = None) -> tuple[FactSource, ...]:
    """Streams of one model's predictions; batches have the columns `score`, `rank` and `query`, null if unknown."""
    return _Collector(predictions=True, delimiter=delimiter, header=header).collect(what)


def named_source(text: str) -> str | dict[str, str]:
    """A source as the command line writes it: `PATH`, or `NAME=PATH` for the facts of one predicate. `-` is standard input."""
    name, mark, path = text.partition("=")
    # Unlike `Path.exists`, this function also answers if the text is too long for the name of a file.
    if not mark or not name or os.path.exists(text):  # noqa: PTH110
        return named_path(text)
    return {name: named_path(path)}


def named_path(text: str) -> str:
    """A path as the command line writes it."""
    return str(STANDARD_INPUT) if text == "-" else text


def files_by_model(sources: Iterable[str]) -> dict[str, list[str]]:
    """Files by model, each written `MODEL=PATH` or `PATH`. If the user gives several files one name, they belong to one model. A
    name that we take from a file must be unique."""
    files: dict[str, list[str]] = {}
    derived: set[str] = set()
    problems = []
    for source in sources:
        named = named_source(source)
        if isinstance(named, str):
            named = {stem(Path(named)): named}
            derived.update(named)
        for model, path in named.items():
            files.setdefault(model, []).append(path)
    for model in sorted(derived):
        if len(files[model]) > 1:
            paths = " and ".join(f"`{path}`" for path in files[model])
            helps = ("name the models: `MODEL=PATH`; files under one name given so are one model",)
            problems.append(Diagnostic("E204", f"{paths} would all be model `{model}`", helps=helps))
    refuse(problems)
    return files


def stem(path: Path) -> str:
    """A file's name without the endings that say how it is written; bytes that are not UTF-8 become escapes."""
    name = path.name.removesuffix(".gz").encode(errors="backslashreplace").decode()
    return name.removesuffix(Path(name).suffix) if Path(name).suffix in FORMATS_BY_ENDING else name


class _Collector:
    """Gathers streams and every problem met on the way."""

    def __init__(self, *, predictions: bool, delimiter: str | None, header: bool | None) -> None:
        self._predictions, self._delimiter, self._header = predictions, delimiter, header
        self._problems: list[Diagnostic] = []

    def collect(self, what: FactsLike) -> tuple[FactSource, ...]:
        streams = tuple(self._streams(what, None))
        refuse(self._problems)
        return streams

    def _streams(self, what: object, predicate: str | None) -> Iterator[FactSource]:
        if isinstance(what, FactStream | FactTable | PublishedFacts):
            yield what
        elif isinstance(what, FactFile):
            yield from self._file(what if predicate is None else replace(what, predicate=predicate))
        elif isinstance(what, str | Path):
            yield from self._file(FactFile(what, predicate=predicate))
        elif frames.is_spark_frame(what):
            origin = f"<{_described(what, predicate)}>"
            file = FactFile(origin, predicate=predicate)
            request = Request(origin, file, self._predictions)
            yield FactStream(origin, partial(frames.refuse_spark_frame, origin), NativeSource(request, what))
        elif frames.is_frame(what):
            frame, origin = frames.lasting(what), f"<{_described(what, predicate)}>"
            stream = self._stream(origin, predicate, partial(frames.read_frame, frame))
            request = Request(origin, FactFile(origin, predicate=predicate), self._predictions)
            yield replace(stream, columns=partial(_frame_columns, frame, origin), own=partial(own_frame_rows, frame, request))
        elif predicate is None and are_triples(what):
            yield self._stream(
                f"<{_described(what, None)}>", None, lambda request: frames.read_frame(triples_table(what, request.origin), request)
            )
        elif isinstance(what, Mapping) and predicate is None:
            for name, source in what.items():
                if has_lone_surrogate(str(name)):
                    self._problems.append(Diagnostic("E322", f"`{name!r}` is not a name: a lone surrogate is not a character"))
                yield from self._streams(source, str(name))
        elif isinstance(what, Iterable) and not isinstance(what, Mapping | bytes):
            yield from self._several(what, predicate)
        else:
            self._refuse(what)

    def _several(self, what: Iterable[object], predicate: str | None) -> Iterator[FactSource]:
        """A list of sources if its first element is a source, else rows."""
        items = tuple(what) if iter(what) is what else what
        first = next(iter(items), None)
        if (
            isinstance(first, FactStream | FactTable | PublishedFacts | FactFile | str | Path | Mapping)
            or frames.is_frame(first)
            or frames.is_spark_frame(first)
            or (are_triples(first) and getattr(first, "ndim", 2) == 2)
        ):
            yield from chain.from_iterable(self._streams(item, predicate) for item in items)
        else:
            yield self._stream(f"<{_described(what, predicate)}>", predicate, partial(frames.read_rows, items))

    def _stream(self, origin: str, predicate: str | None, read: Callable[[Request], Iterator[FactBatch]]) -> FactStream:
        request = Request(origin, FactFile(origin, predicate=predicate), self._predictions)
        return FactStream(origin, partial(read, request), part_of=None if predicate is None else _MAPPING)

    def _refuse(self, what: object) -> None:
        notes = ("facts come from a path, a frame, an iterable of tuples, or a mapping from predicate to one of these",)
        if what is None:
            helps = ('for rows with a key give the table: `tables={"name": rulescore.Table(frame, key=…, target=…)}`',)
            self._problems.append(Diagnostic("E322", "there are no observed facts", notes=notes, helps=helps))
            return
        self._problems.append(Diagnostic("E322", f"a {type(what).__name__} cannot be read as facts", notes=notes))

    def _file(self, file: FactFile) -> Iterator[FactStream]:
        # Python would take an empty path for the current folder.
        if file.path == "":
            self._problems.append(Diagnostic("E301", "the path is empty", helps=("name a file or a folder; `.` is this one",)))
            return
        path = Path(file.path)
        file = replace(
            file,
            delimiter=self._delimiter if file.delimiter is None else file.delimiter,
            header=self._header if file.header is None else file.header,
        )
        if file.delimiter is not None and not A_DELIMITER.passes(file.delimiter):
            self._problems.append(Diagnostic("E402", f"the delimiter is `{file.delimiter}`", notes=(A_DELIMITER.expected,)))
            return
        try:
            folder = is_folder(path)
        except InputError as error:
            self._problems.extend(error.problems)
            return
        if folder:
            yield from self._folder(file)
        else:
            yield from self._one_file(file, in_folder=False)

    def _folder(self, file: FactFile) -> Iterator[FactStream]:
        members = sorted(Path(file.path).iterdir())
        if not members:
            self._problems.append(Diagnostic("E302", f"folder `{file.path}` is empty"))
        strays: list[Diagnostic] = []
        for member in members:
            if member.is_dir():
                strays.append(_stray(member, "is a folder within a folder of data"))
            elif member.name.startswith("."):
                strays.append(_stray(member, "is a hidden file in a folder of data"))
            elif file.format is None and ending_of(member) not in FORMATS_BY_ENDING:
                strays.append(_stray(member, f"has the ending `{ending_of(member)}`, which is not one of data files"))
            else:
                yield from self._one_file(replace(file, path=member), in_folder=True)
        self._problems.extend(at_most(iter(strays)))

    def _one_file(self, file: FactFile, *, in_folder: bool) -> Iterator[FactStream]:
        path = Path(file.path)
        ending = ending_of(path)
        if file.format is None and ending in _UNREADABLE | _OBJECTS:
            self._problems.append(_unknown_kind(path, ending))
            return
        kind = FORMATS_BY_ENDING.get(ending, FileFormat.TEXT) if file.format is None else FileFormat(file.format)
        by_names = in_folder or kind is FileFormat.PARQUET
        request = Request(str(file.path), file, self._predictions, by_names, stem(path), in_folder=in_folder)
        native = NativeSource(request) if kind is FileFormat.PARQUET and not is_pipe(path) else None
        whole = _MAPPING if file.predicate is not None else str(path.parent) if in_folder else None
        source = InputFile(path)
        columns = None if kind in {FileFormat.NUMPY, FileFormat.JSONL, *SYNTAXES} else partial(_file_columns, kind, source, request)
        yield FactStream(
            str(file.path),
            partial(_fact_batches, kind, source, request),
            native,
            whole,
            columns,
            source.version,
            partial(_own_rows, kind, source, request),
            partial(read_prefixes, source, SYNTAXES[kind]) if kind in SYNTAXES and not is_pipe(path) else None,
            partial(term_kinds, source, SYNTAXES[kind], request) if kind in SYNTAXES else None,
        )


def _fact_batches(kind: FileFormat, file: InputFile, request: Request) -> Iterator[FactBatch]:
    match kind:
        case FileFormat.TEXT:
            return _read_text(file, request)
        case FileFormat.PARQUET:
            return frames.read_parquet(file, request)
        case FileFormat.NUMPY:
            return read_arrays(file, request)
        case FileFormat.JSONL:
            return read_json_lines(file, request)
        case kind if kind in SYNTAXES:
            return read_rdf(file, SYNTAXES[kind], request)
        case foreign:
            return _read_text(file, request, foreign)


def _read_text(file: InputFile, request: Request, form: FileFormat | None = None) -> Iterator[FactBatch]:
    """The facts of a text file: in the given format, in another tool's that its first lines show, or as plain rows."""
    with file.opened() as opening:
        tool = form or recognised(opening, request)
        if tool is not None:
            yield from read_foreign(tool, opening, request)
        else:
            with strangers_named(opening, request):
                yield from read_text(opening, request)


def _own_rows(kind: FileFormat, file: InputFile, request: Request) -> OwnRows:
    with file.opened() as opening:
        form = recognised(opening, request) if kind is FileFormat.TEXT else kind
        match form:
            case None | FileFormat.TEXT:
                return own_text_rows(opening, request)
            case FileFormat.PARQUET:
                return own_parquet_rows(opening, request)
            case FileFormat.JSONL:
                return own_json_rows(opening, request)
            case _:
                return own_facts(_fact_batches(kind, file, request))


def file_format(path: Path, choice: FileFormat | None) -> FileFormat:
    """The format of the file at a path: the given one, or by its ending. InputError if we cannot read it."""
    if is_folder(path):
        raise InputError(Diagnostic("E302", f"`{path}` is a folder", helps=("name one file",)))
    ending = ending_of(path)
    if choice is None and ending in _UNREADABLE | _OBJECTS:
        raise InputError(_unknown_kind(path, ending))
    return choice or FORMATS_BY_ENDING.get(ending, FileFormat.TEXT)


def _described(what: object, predicate: str | None) -> str:
    return type(what).__name__ if predicate is None else f"{type(what).__name__} of {predicate}"


def _stray(path: Path, what: str) -> Diagnostic:
    known = ", ".join(FORMATS_BY_ENDING)
    notes = (f"every file of a folder is read, and must end in one of {known}, with or without .gz",)
    return Diagnostic(
        "E302", f"`{path}` {what}", Place(str(path)), notes=notes, helps=("move it elsewhere, or name the files one by one",)
    )


def _unknown_kind(path: Path, ending: str) -> Diagnostic:
    notes = (f"files that can be read end in {', '.join(FORMATS_BY_ENDING)}, with or without .gz; others are taken for text",)
    helps: tuple[str, ...] = ("convert it to Turtle or N-Triples",) if ending in _RDF else ()
    if ending == ".json":
        helps = ("write one object a line, as JSON Lines: `jq -c '.[]' FILE > FILE.jsonl`",)
    if ending in _OBJECTS:
        helps = ("load it with the program that wrote it, and give frames or arrays in Python, or save a text or Parquet file",)
    return Diagnostic("E305", f"files that end in `{ending}` cannot be read", Place(str(path)), notes=notes, helps=helps)


# Reads further columns of a source that are not part of its facts, such as the rank of the truth. Found by their names.


Wanted = Mapping[str, frozenset[str]]
"""The columns to find: our name for each, with the names it may have in a source."""


def _file_columns(kind: FileFormat, file: InputFile, request: Request, wanted: Wanted) -> pa.Table:
    """The wanted columns, as far as a file has them. We have read its facts before, without problems."""
    if kind is FileFormat.PARQUET:
        with frames.opened_parquet(file, request) as rows:
            places = _places_of(rows.schema_arrow.names, wanted)
            return rows.read(columns=[rows.schema_arrow.names[i] for i in places.values()]).rename_columns(list(places))
    with file.opened() as opening:
        form = recognised(opening, request) if kind is FileFormat.TEXT else kind
        if form is not None and form in readers():
            return asked_columns(form, opening, request)
        dialect = find_dialect(opening, request)
        places = _places_of(dialect.header or (), wanted)
        if not places:
            return pa.table({})
        names = list(places)
        batches = [pa.RecordBatch.from_arrays(batch.columns, names) for batch in stream(opening, dialect, list(places.values()))]
        return pa.Table.from_batches(batches, pa.schema([(name, pa.string()) for name in names]))


def _frame_columns(frame: object, origin: str, wanted: Wanted) -> pa.Table:
    table = frames.arrow_table(frame, origin)
    places = _places_of(table.column_names, wanted)
    return table.select(list(places.values())).rename_columns(list(places))


def _places_of(names: Sequence[str], wanted: Wanted) -> dict[str, int]:
    """The numbers of the wanted columns; the first if two columns have one meaning."""
    plain = [plain_name(name) for name in names]
    places = {part: [i for i, name in enumerate(plain) if name in known] for part, known in wanted.items()}
    return {part: numbers[0] for part, numbers in places.items() if numbers}
