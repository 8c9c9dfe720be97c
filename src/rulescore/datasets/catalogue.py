"""The public data sets, with the addresses of their makers, their licences, and the digest of every file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class File:
    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Download:
    """A file at an address. `members`: if it is a ZIP archive, the files to extract, by their names in the archive."""

    url: str
    file: File
    members: tuple[tuple[str, File], ...] = ()

    @property
    def files(self) -> tuple[File, ...]:
        return tuple(file for _, file in self.members) or (self.file,)


@dataclass(frozen=True, slots=True)
class DataSet:
    """`page`: where people read about it. `licence`: the licence of the data or, if none is stated, of the repository that offers
    them. `downloads` are empty if nobody offers the files. `package`: the folder of an installed PyKEEN that also has them."""

    name: str
    title: str
    page: str
    licence: str
    files: tuple[File, ...]
    downloads: tuple[Download, ...] = ()
    package: Sequence[str] | None = None

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def _data_set(name: str, described: dict[str, Any]) -> DataSet:
    """`base`: the address of the folder with all `files`; without it, `downloads` may say where each is."""
    files, base = [File(*file) for file in described.pop("files", ())], described.pop("base", None)
    downloads = [Download(f"{base}/{file.name}", file) for file in files if base is not None]
    for download in described.pop("downloads", ()):
        members = tuple((member, File(*file)) for member, file in download.get("members", ()))
        downloads.append(Download(download["url"], File(*download["file"]), members))
    every = files or [file for download in downloads for file in download.files]
    return DataSet(name, files=tuple(every), downloads=tuple(downloads), **described)


_CATALOGUE = tomllib.loads(resources.files("rulescore.datasets").joinpath("catalogue.toml").read_text(encoding="utf-8"))
DATA_SETS = {name: _data_set(name, described) for name, described in _CATALOGUE.items()}
