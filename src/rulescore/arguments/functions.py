"""Registered predicates: Python functions, given as they are or by the name of the module that holds them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from rulescore.errors import Diagnostic, InputError, meant
from rulescore.setting.model import Function


def registered(functions: Mapping[str, object]) -> tuple[Function, ...]:
    """Functions from Python: callables, or `Function`s for those that take Arrow arrays."""
    return tuple(_registered(name, one) for name, one in functions.items())


def _registered(name: str, one: object) -> Function:
    if isinstance(one, Function):
        if one.name != name:
            message = f"the function `{one.name}` is registered as `{name}`"
            raise InputError(Diagnostic("E360", message, helps=("give both the same name",)))
        return one
    if not callable(one):
        raise InputError(Diagnostic("E360", f"`{name}` is a {type(one).__name__}, which cannot be called"))
    return Function(name, one)


def imported(name: str, path: str, arrow: bool, folder: Path) -> Function:
    """The function that `module:function` names, imported with the project's folder on the path."""
    module_name, attribute = _parts(path)
    module = _module(module_name, folder.resolve())
    found = getattr(module, attribute, None)
    if found is None:
        raise InputError(
            Diagnostic("E360", f"module `{module_name}` has no function `{attribute}`", helps=meant(attribute, vars(module)))
        )
    if not callable(found):
        raise InputError(Diagnostic("E360", f"`{path}` is a {type(found).__name__}, which cannot be called"))
    return Function(name, _beside_results(found), arrow)


def only_named(name: str, path: str) -> Function:
    """A function known only by its name, for commands that count nothing: we do not import its module, and it has no answers."""
    _parts(path)
    return Function(name, lambda *_: None)


def _parts(path: str) -> tuple[str, str]:
    """The module and the function of `module:function`."""
    module, colon, attribute = path.partition(":")
    if not colon or not attribute.isidentifier() or not is_module_name(module):
        helps = ('write `module:function`, such as `"checks:plausible"` for the function `plausible` of `checks.py`',)
        raise InputError(Diagnostic("E360", f"`{path}` does not name a function", helps=helps))
    return module, attribute


def _beside_results(call: Callable[..., object]) -> Callable[..., object]:
    """A function whose printing goes to stderr: programs read our results from stdout."""

    @wraps(call)
    def called(*arguments: object) -> object:
        with redirect_stdout(sys.stderr):
            return call(*arguments)

    return called


def _module(name: str, folder: Path) -> ModuleType:
    try:
        with redirect_stdout(sys.stderr):
            return import_from(folder, name)
    # Anything can happen in a user's module. A program that was not meant to be imported may end the process.
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name is not None and name.startswith(error.name)
        message = f"there is no module `{name}`" if missing else f"module `{name}` cannot be imported"
        helps = (f"put `{name.replace('.', '/')}.py` beside the project file, or install the module",) if missing else ()
        notes = () if missing else (f"{type(error).__name__}: {error}",)
        raise InputError(Diagnostic("E360", message, notes=notes, helps=helps)) from error


# Imports modules that a project names, with the project's folder first on the path.


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
