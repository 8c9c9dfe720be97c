"""Registered predicates: Python functions, given as they are or by the name of the module that holds them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import wraps
from pathlib import Path
from types import ModuleType

from rulescore.arguments.modules import import_from, is_module_name
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
