"""Imports modules that a project names, with the project's folder first on the path.

The sources of that folder run as they are, never as bytecode beside them. Modules that Python has built in come before any path:
`os` is never the `os.py` of a folder.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType


def is_module_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def import_from(folder: Path, name: str) -> ModuleType:
    """Imports a module with a folder first on the path."""
    with _first_on_path(folder):
        for spec in _specs(name):
            _forget_namesake(spec, folder)
        return importlib.import_module(name)


class _AsItIs(SourceFileLoader):
    """Always runs the source. Python would run bytecode beside it that claims to need no check, whatever the source says."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


class _Finder:
    """Finds modules on the path, and makes the sources of a folder run as they are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader) and _is_in(self._folder, spec):
            spec.loader = _AsItIs(spec.loader.name, str(spec.loader.path))
        return spec


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    finder = _Finder(folder)
    sys.path.insert(0, str(folder))
    sys.meta_path.insert(sys.meta_path.index(PathFinder), finder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.path.remove(str(folder))


def _specs(name: str) -> list[ModuleSpec]:
    """What the import of a module would find, from the outermost package on. Nothing is imported."""
    found: list[ModuleSpec] = []
    places: list[str] | None = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        spec = _spec(".".join(parts[:end]), places)
        if spec is None:
            break
        found.append(spec)
        if spec.submodule_search_locations is None:
            break
        places = list(spec.submodule_search_locations)
    return found


def _spec(name: str, places: list[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, places)
        except KeyError:  # Python asks for the package around a folder without `__init__.py`, which is not imported
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [f"{place}/{name.rpartition('.')[2]}" for place in places or ()]
        if spec is not None:
            return spec
    return None


def _is_in(folder: Path, spec: ModuleSpec) -> bool:
    """Whether a module was found by its name directly in a folder, not in a folder inside it that modules are installed in."""
    if not spec.has_location or spec.origin is None:
        return False
    place = folder.joinpath(*spec.name.split("."))
    return Path(spec.origin).parent in (place, place.parent)


def _forget_namesake(spec: ModuleSpec, folder: Path) -> None:
    """Forget a module or a package of another project that was imported under the same name."""
    known = getattr(sys.modules.get(spec.name), "__spec__", None)
    is_of_project = isinstance(getattr(known, "loader", None), _AsItIs) or _is_in(folder, spec)
    if is_of_project and getattr(known, "origin", None) != spec.origin:
        for name in [one for one in sys.modules if one == spec.name or one.startswith(f"{spec.name}.")]:
            del sys.modules[name]
