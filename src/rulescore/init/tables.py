"""`rulescore init --table` and `--engine`: a project file for tables as they are: their keys, foreign keys as checks, and rules
that were discovered."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rulescore.errors import Diagnostic, InputError
from rulescore.errors.texts import masked_address

if TYPE_CHECKING:
    # Loading it takes longer than `--help` may.
    from rulescore.arguments.tables import Table

_PROJECT = """\
# The project file: `rulescore` reads it in this folder. Paths are relative to this file; an unknown key is an error.

[rules]
# What `rulescore discover` found in the tables: look through the rules before you trust them.
path = "found.rules"
# Checks of columns: `not null`, `unique`, `in`, `between`, `matches`, `references`, `depends`, `ordered`.
checks = [{checks}]
"""


def project_of_tables(folder: Path, tables: Sequence[str], keys: Sequence[str]) -> str:
    """A project file for tables and keys as the command line names them. `folder`: the folder that we write it to."""
    from rulescore.arguments.table_options import named_tables

    described = named_tables(tables, keys)
    return _written(folder, described, list(_references(described)))


@dataclass(frozen=True, slots=True)
class OnServer:
    """The tables of a server that have a primary key, by name, with their foreign keys as checks. `left_out`: the tables without a
    primary key."""

    url: str
    tables: Mapping[str, Table]
    checks: Sequence[str]
    left_out: Sequence[str]

    def project(self, folder: Path) -> str:
        """A project file. The password of an address is left out."""
        address = re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", self.url)
        return _written(folder, self.tables, self.checks, f"\n[engine]\nurl = {_quoted(address)}\n")


def tables_of_server(url: str) -> OnServer:
    """Looks at the catalogue of a server, as far as this role may read it."""
    from rulescore.arguments.tables import Table
    from rulescore.engines.base import connect
    from rulescore.engines.catalogue import SchemaCatalogue
    from rulescore.setting.options import EngineOptions

    engine = connect(EngineOptions(url=url))
    try:
        catalogue = engine.catalogue()
        if not isinstance(catalogue, SchemaCatalogue):
            helps = ("write it like `postgresql://user@host/database`; files are given by `--table`",)
            raise InputError(Diagnostic("E402", f"`{masked_address(url)}` is not a server with a list of tables", helps=helps))
        readable = [(relation.schema, relation.name) for relation in catalogue.relations if relation.readable]
        keys = catalogue.keys()
    finally:
        engine.close()
    primary = {key.table: key.columns for key in keys if key.other is None}
    times = Counter(name for _, name in readable)
    names = {(schema, name): name if times[name] == 1 else f"{schema}_{name}" for schema, name in readable}
    with_keys = {path: name for path, name in names.items() if path in primary}
    if not with_keys:
        helps = ("name the tables in a project file, with columns that tell their rows apart: `key = …`",)
        raise InputError(Diagnostic("E337", "this role can read no table that has a primary key", helps=helps))
    return OnServer(
        url,
        {name: Table(table=".".join(path), key=primary[path]) for path, name in with_keys.items()},
        [
            _reference(with_keys[key.table], key.columns, with_keys[key.other], key.others)
            for key in keys
            if key.other in with_keys and key.table in with_keys
        ],
        [name for path, name in names.items() if path not in primary],
    )


def _written(folder: Path, tables: Mapping[str, Table], checks: Sequence[str], engine: str = "") -> str:
    listed = "" if not checks else "\n  " + ",\n  ".join(map(_quoted, checks)) + ",\n"
    text = _PROJECT.format(checks=listed) + engine
    for name, table in tables.items():
        text += f"\n[tables.{_key(name)}]\n" + "".join(f"{line}\n" for line in _lines(folder, table))
        named = [table.key] if isinstance(table.key, str) else list(table.key)
        text += f"key = {_quoted(named[0] if len(named) == 1 else named)}\n"
    return text


def _lines(folder: Path, table: Table) -> Iterator[str]:
    if table.rows is not None:
        yield f"path = {_quoted(os.path.relpath(str(table.rows), folder))}"
    if table.database is not None:
        yield f"database = {_quoted(os.path.relpath(table.database, folder))}"
    if table.table is not None:
        yield f"table = {_quoted(table.table)}"


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _references(tables: Mapping[str, Table]) -> Iterator[str]:
    """The foreign keys of SQLite files, as checks, if both tables are given."""
    from rulescore.readers.sqlite import foreign_keys

    for name, table in tables.items():
        for reference in [] if table.database is None else foreign_keys(Path(table.database), name):
            if reference.there in tables:
                yield _reference(name, reference.columns, reference.there, reference.others)


def _reference(name: str, columns: Sequence[str], there: str, others: Sequence[str]) -> str:
    from rulescore.language.terms import write_name

    from_columns, to_columns = (", ".join(map(write_name, names)) for names in (columns, others))
    return f"{write_name(name)}({from_columns}) references {write_name(there)}({to_columns})"
