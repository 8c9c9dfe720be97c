"""What users wrote, checked by pydantic and reported in this package's own way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, create_model
from pydantic_core import ErrorDetails

from rulescore.errors import Diagnostic, Place, masked, meant
from rulescore.setting.options import Options

STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)
"""Keys that are not listed are errors, and nothing is converted from one type to another."""


def _section_of(options: type[Options]) -> type[BaseModel]:
    """The section whose keys are the fields of these options, but for a session, which nobody can write down."""
    default = options()
    hints = get_type_hints(options, include_extras=True).items()
    keys: dict[str, Any] = {name: (kind, getattr(default, name)) for name, kind in hints if name != "session"}
    return create_model(options.__name__, __config__=STRICT, **keys)


_SECTIONS = {options: _section_of(options) for options in get_args(Options)}

_Options = TypeVar("_Options", bound=Options)
_Section = TypeVar("_Section", bound=BaseModel)
Location = tuple[int | str, ...]
Placer = Callable[[Location], Place | None]


def checked(
    section: type[_Section], values: Mapping[str, Any], problems: list[Diagnostic], place: Placer = lambda _: None
) -> _Section | None:
    """A section of these values; None if they are wrong: then each problem goes to `problems`, with its place."""
    try:
        return section.model_validate(dict(values))
    except ValidationError as error:
        problems.extend(_diagnose(item, section, place) for item in error.errors())
        return None


def checked_options(options: type[_Options], values: Mapping[str, Any], problems: list[Diagnostic]) -> _Options:
    """Options of these values; the defaults if they are wrong: then each problem goes to `problems`."""
    section = checked(_SECTIONS[options], values, problems)
    return options() if section is None else options(**dict(section))


def written_as(options: type[_Options]) -> PlainValidator:
    """The annotation of a key whose table has the fields of these options: it becomes these options."""
    section = _SECTIONS[options]
    return PlainValidator(lambda table: options(**dict(section.model_validate(table))), json_schema_input_type=section)


def _diagnose(item: ErrorDetails, section: type[BaseModel], place: Placer) -> Diagnostic:
    location = item["loc"]
    words = [part for part in location if isinstance(part, str)]
    key = words[-1] if words else ""
    where = place(location)
    match item["type"]:
        case "extra_forbidden":
            known = _keys_beside(section, location)
            helps = (_TRUST_ELSEWHERE,) if key in ("trust", "trusted") else meant(key, known)
            within = f" in `{'.'.join(words[:-1])}`" if words[:-1] else ""
            notes = (f"known keys are {', '.join(known)}",)
            return Diagnostic("E401", f"unknown key `{key}`{within}", where, notes=notes, helps=helps)
        case "missing":
            return Diagnostic("E404", f"`{'.'.join(words)}` is missing", where)
        case "enum":
            allowed = re.findall(r"'([^']*)'", str(item.get("ctx", {}).get("expected", "")))
            helps = meant(str(item["input"]), allowed)
            message = f"`{'.'.join(words)}` is `{_shown(item['input'])}`"
            return Diagnostic("E402", message, where, notes=(f"it is one of {', '.join(allowed)}",), helps=helps)
        case _:
            said = "not what it should be" if _may_be_secret(words, item["input"]) else f"`{_shown(item['input'])}`"
            message = f"`{'.'.join(words)}` is {said}"
            return Diagnostic("E402", message, where, notes=(_expectation(item),))


_TRUST_ELSEWHERE = (
    "a file cannot say that it is trusted: leave the key out, and trust the file when you run it, with "
    "`--trust` or `RULESCORE_TRUST=1`"
)

_EXPECTATIONS = {
    "string_type": "expected text",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
    "path_type": "expected text",
    "list_type": "expected a list",
    "frozen_set_type": "expected a list",
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "finite_number": "expected a finite number",
    "string_too_short": "expected some text",
    "too_short": "expected at least one",
}


def _expectation(item: ErrorDetails) -> str:
    if item["type"] == "greater_than_equal":
        return f"expected a number from {item['ctx']['ge']:g}"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    return _EXPECTATIONS.get(item["type"], item["msg"][:1].lower() + item["msg"][1:])


def _may_be_secret(words: Sequence[str], value: object) -> bool:
    """Whether a value may be an address with a password, or hold one, in whatever form it is given."""
    return words[:1] == ["engine"] and (words[-1] in {"engine", "url"} or isinstance(value, list | dict))


def _shown(value: object) -> str:
    # We mask passwords before we cut the text: we would not recognise an address without its end.
    text = masked(value if isinstance(value, str) else repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def _keys_beside(section: type[BaseModel], location: Location) -> list[str]:
    """The known keys of the section in which an unknown key stands."""
    for part in location[:-1]:
        if isinstance(part, str) and part in section.model_fields:
            section = _section_within(section.model_fields[part].annotation) or section
    return list(section.model_fields)


def _section_within(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and not isinstance(annotation, UnionType) and not get_args(annotation):
        return annotation if issubclass(annotation, BaseModel) else _SECTIONS.get(annotation)
    return next((found for part in get_args(annotation) if (found := _section_within(part)) is not None), None)
