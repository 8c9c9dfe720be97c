"""Turns rules from users (files, texts or trees) and registered predicates (Python functions) into sources for the parser."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import get_args

from rulescore.errors import Diagnostic, InputError, Place, Source, meant, meant_file, refuse
from rulescore.language.printer import TEXT_NAME, print_program, print_statement
from rulescore.language.reading import RuleChoice, RuleSource
from rulescore.language.rule_formats import format_by_ending, named_format
from rulescore.language.syntax import Program, Statement
from rulescore.language.words import OWN_FORMAT, WeighBy
from rulescore.readers.files import (
    STANDARD_INPUT,
    changed,
    chunks,
    ending_of,
    is_device,
    is_pipe,
    standard_input,
    version_of,
)
from rulescore.setting.model import Function, chosen
from rulescore.values import has_lone_surrogate


def registered(functions: Mapping[str, object]) -> tuple[Function, ...]:
    """Functions from Python: callables, or `Function`s if they take Arrow arrays."""
    return tuple(_registered(name, function) for name, function in functions.items())


def _registered(name: str, function: object) -> Function:
    if isinstance(function, Function):
        if function.name != name:
            message = f"the function `{function.name}` is registered as `{name}`"
            raise InputError(Diagnostic("E360", message, helps=("give both the same name",)))
        return function
    if not callable(function):
        raise InputError(Diagnostic("E360", f"`{name}` is a {type(function).__name__}, which cannot be called"))
    return Function(name, function)


def imported(name: str, path: str, arrow: bool, folder: Path | None) -> tuple[Function]:
    """The function that `module:function` names, imported with the project's folder first on the path. Without a folder, for
    commands that count nothing, we import nothing: nobody can call it."""
    module_name, colon, attribute = path.partition(":")
    if not colon or not attribute.isidentifier() or not all(part.isidentifier() for part in module_name.split(".")):
        helps = ('write `module:function`, such as `"checks:plausible"` for the function `plausible` of `checks.py`',)
        raise InputError(Diagnostic("E360", f"`{path}` does not name a function", helps=helps))
    if folder is None:
        return (Function(name, lambda *_: None),)
    module = _module(module_name, folder.resolve())
    function = getattr(module, attribute, None)
    if function is None:
        raise InputError(
            Diagnostic("E360", f"module `{module_name}` has no function `{attribute}`", helps=meant(attribute, vars(module)))
        )
    if not callable(function):
        raise InputError(Diagnostic("E360", f"`{path}` is a {type(function).__name__}, which cannot be called"))

    @wraps(function)
    def called(*arguments: object) -> object:
        # Programs read our results from stdout.
        with redirect_stdout(sys.stderr):
            return function(*arguments)

    return (Function(name, called, arrow),)


def _module(name: str, folder: Path) -> ModuleType:
    """Imports a module with a folder first on the path."""
    try:
        with redirect_stdout(sys.stderr), _first_on_path(folder):
            _forget_namesake(name.partition(".")[0], folder)
            return importlib.import_module(name)
    # Anything can happen in a user's module. A program that was not meant to be imported may end the process.
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name is not None and name.startswith(error.name)
        message = f"there is no module `{name}`" if missing else f"module `{name}` cannot be imported"
        helps = (f"put `{name.replace('.', '/')}.py` beside the project file, or install the module",) if missing else ()
        notes = () if missing else (f"{type(error).__name__}: {error}",)
        raise InputError(Diagnostic("E360", message, notes=notes, helps=helps)) from error


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _forget_namesake(package: str, folder: Path) -> None:
    """Forget a package of another project that was imported under the name of one in this folder."""
    spec = next((spec for finder in sys.meta_path if (spec := finder.find_spec(package, None)) is not None), None)
    places = () if spec is None else (spec.origin or "", *(spec.submodule_search_locations or ()))
    known = [name for name in sys.modules if name == package or name.startswith(f"{package}.")]
    files = [file for name in known if (file := getattr(sys.modules[name], "__file__", None)) is not None]
    if any(Path(place).is_relative_to(folder) for place in places) and not all(Path(file).is_relative_to(folder) for file in files):
        for name in known:
            del sys.modules[name]


@dataclass(frozen=True, slots=True)
class RuleText:
    """Rule text, which is never taken for the name of a file.

    Args:
        text: The rules.
        folder: Where the tables of its templates lie. None: it reads no files.
    """

    text: str
    folder: str | Path | None = None


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule file, and which of its rules are wanted.

    Args:
        path: The file.
        format: Its format, if we cannot recognise it.
        min_confidence: Leave out rules whose tool states a lower confidence.
        min_support: Leave out rules whose tool states a lower support.
        max_length: Leave out rules with more atoms in the body.
        head: Take only rules with one of these predicates in the head.
        weigh_by: Weigh rules in scores by the "confidence" or "weight" that the tool states.
    """

    path: str | Path
    format: str | None = None
    min_confidence: float | None = None
    min_support: int | None = None
    max_length: int | None = None
    head: str | Iterable[str] = ()
    weigh_by: str | None = None

    @property
    def choice(self) -> RuleChoice:
        """Which rules of the file are wanted."""
        heads = (self.head,) if isinstance(self.head, str) else tuple(self.head)
        return RuleChoice(self.min_confidence, self.min_support, self.max_length, heads, chosen(WeighBy, self.weigh_by, "weigh_by"))


RulesLike = str | Path | RuleText | RuleFile | Program | Statement | Iterable["RulesLike"]
"""A rule file, rule text, syntax trees, or several of these."""

_GZIP = b"\x1f\x8b"
_MOST_UNPACKED = 100 * 10**6
_ARROWS = ("<-", ":-", "←")


def rule_sources(rules: RulesLike) -> tuple[Source, ...]:
    """Sources in the order given; files that cannot be read are reported together."""
    problems: list[Diagnostic] = []
    sources = tuple(_sources(rules, problems))
    for source in (source for source in sources if has_lone_surrogate(source.text)):
        offset = next(i for i, character in enumerate(source.text) if has_lone_surrogate(character))
        place = Place(source.name, *source.position(offset))
        problems.append(Diagnostic("E406", "a lone surrogate is not a character", place))
    refuse(problems)
    return sources


def _file_source(path: Path, file: RuleFile) -> RuleSource:
    form = format_by_ending(ending_of(path)) if file.format is None else named_format(file.format)
    if form is not None and form.open is not None:
        return replace(form.open(path), choice=file.choice)
    return _rule_source(path, file.format, file.choice)


def _rule_source(path: Path, form: str | None, choice: RuleChoice) -> RuleSource:
    """A rule file's text under the name the user gave it; compressed by gzip or not."""
    try:
        piped = path == STANDARD_INPUT
        if not piped and is_device(path):
            raise InputError(Diagnostic("E406", f"`{path}` is a device, not a rule file"))
        with nullcontext(standard_input()) if piped else path.open("rb") as file:
            before = None if is_pipe(path) else version_of(path, os.fstat(file.fileno()))
            packed = b"".join(chunks(file))
            if before is not None and version_of(path, os.fstat(file.fileno())) != before:
                raise changed(path)
        raw = _unpacked(path, packed) if packed.startswith(_GZIP) else packed
        text = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig").read()
        digest = (hashlib.sha256(packed).hexdigest(), len(packed))
        return RuleSource(str(path), text, None if piped else path.parent, format=form, choice=choice, digest=digest)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        helps = ("save the file as UTF-8",)
        raise InputError(Diagnostic("E406", "the rule file is not UTF-8", Place(str(path), line), helps=helps)) from None
    except FileNotFoundError:
        raise InputError(Diagnostic("E406", f"there is no rule file `{path}`", helps=meant_file(path))) from None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(Diagnostic("E406", f"the rule file `{path}` cannot be read: {reason}")) from None


def _unpacked(path: Path, packed: bytes) -> bytes:
    """The content of a compressed file. A small file may unpack to more than fits into memory, or than we read in an hour."""
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
        raw = file.read(_MOST_UNPACKED + 1)
    if len(raw) > _MOST_UNPACKED:
        message = f"the rule file `{path}` unpacks to more than {_MOST_UNPACKED // 10**6} MB"
        raise InputError(Diagnostic("E406", message, helps=("unpack it, and choose the rules that are needed",)))
    return raw


def _sources(rules: RulesLike, problems: list[Diagnostic]) -> Iterator[Source]:
    match rules:
        case str() if _is_text(rules):
            yield Source(TEXT_NAME, rules)
        case RuleText(str() as text, folder):
            yield Source(TEXT_NAME, text, None if folder is None else Path(folder))
        case str() | Path() | RuleFile():
            file = rules if isinstance(rules, RuleFile) else RuleFile(rules)
            path = Path(file.path)
            try:
                yield _file_source(path, file)
            except InputError as error:
                problems.extend(error.problems)
        case Program():
            yield RuleSource(TEXT_NAME, print_program(rules), format=OWN_FORMAT)
        case _ if isinstance(rules, get_args(Statement)):
            yield RuleSource(TEXT_NAME, print_statement(rules), format=OWN_FORMAT)
        case _ if isinstance(rules, Iterable):
            for rule in rules:
                yield from _sources(rule, problems)
        case _:
            problems.append(Diagnostic("E406", f"a {type(rules).__name__} cannot be read as rules"))


def _is_text(text: str) -> bool:
    """Whether this is rule text: it has an arrow, a line end or a closing full stop, and there is no file of that name."""
    looks_like_text = "\n" in text or any(arrow in text for arrow in _ARROWS) or text.rstrip().endswith(".") or not text.strip()
    return looks_like_text and not _is_file(text)


def _is_file(text: str) -> bool:
    try:
        return bool(text) and Path(text).is_file()
    except (OSError, ValueError):
        return False
