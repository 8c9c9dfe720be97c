"""Tables as the command line names them: `--table sales=sales.csv`, `--table shop.sqlite`, `--key sales=id`, `--target price`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rulescore.arguments.tables import Table
from rulescore.errors import Diagnostic, InputError, meant, ticked
from rulescore.readers.row_streams import ROW
from rulescore.readers.sources import named_source, stem
from rulescore.readers.sqlite import is_sqlite, sqlite_tables


def named_tables(
    sources: Sequence[str], keys: Sequence[str] = (), delimiter: str | None = None, targets: Sequence[str] = ()
) -> dict[str, Table]:
    """Descriptions of tables by their names. A path without a name gives the table the name of the file. A SQLite file without a
    name stands for all its tables."""
    tables: dict[str, Table] = {}
    for source in sources:
        for name, table in _described(source, delimiter):
            if name in tables:
                helps = ("give them different names: `--table NAME=PATH`; a folder or a pattern makes one table of several files",)
                raise InputError(Diagnostic("E204", f"two tables are named `{name}`", helps=helps))
            tables[name] = table
    for text in keys:
        name, columns = _columns("--key", text, tables)
        tables[name] = replace(tables[name], key=tuple(column.strip() for column in columns.split(",")))
    for text in targets:
        name, column = _columns("--target", text, tables)
        tables[name] = replace(tables[name], target=column)
    return tables


def _described(source: str, delimiter: str | None) -> Iterator[tuple[str, Table]]:
    named = named_source(source)
    name, text = (None, named) if isinstance(named, str) else next(iter(named.items()))
    path = Path(text)
    if not is_sqlite(path):
        yield name or stem(path), Table(path, key=ROW, delimiter=delimiter)
        return
    known = sqlite_tables(path)
    for table in known if name is None else [name]:
        yield table, Table(database=path, table=table, key=known.get(table) or ROW)


def _columns(option: str, text: str, tables: Mapping[str, Table]) -> tuple[str, str]:
    """The table that an option is about, and the columns that it names."""
    name, mark, columns = text.partition("=")
    if not mark and len(tables) == 1:
        name, columns = next(iter(tables)), text
    elif not mark:
        helps = (f"write `{option} {next(iter(tables))}={text}`",)
        raise InputError(Diagnostic("E402", f"`{option} {text}` does not name its table", helps=helps))
    if name not in tables:
        notes = (f"the tables: {ticked(tables)}",)
        raise InputError(Diagnostic("E333", f"`{option}` names no table `{name}`", notes=notes, helps=meant(name, tables)))
    return name, columns
