"""Checks a document by one of our schemas: what we read again must pass the same file that other programs read. We support only the
part of JSON Schema that our schemas use. A key that a schema does not name may come from a later program and is ignored."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}
_WORDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}

Schema = Mapping[str, Any]


def first_problem(document: object, schema: Schema) -> str | None:
    """The first problem, with the key it is at."""
    return next(_problems(document, schema, schema, ""), None)


def _problems(value: Any, part: Schema, root: Schema, path: str) -> Iterator[str]:
    if "$ref" in part:
        yield from _problems(value, _resolved(part["$ref"], root), root, path)
    if "oneOf" in part:
        found = [list(_problems(value, one, root, path)) for one in part["oneOf"]]
        if all(found):
            yield from found[-1]
    if (wrong := _wrong_value(value, part)) is not None:
        yield f"`{path}` {wrong}" if path else f"the document {wrong}"
    elif isinstance(value, dict):
        yield from _of_object(value, part, root, path)
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from _problems(one, part.get("items", {}), root, f"{path}[{place}]")


def _of_object(value: dict[str, Any], part: Schema, root: Schema, path: str) -> Iterator[str]:
    for key in part.get("required", ()):
        if key not in value:
            yield f"`{_inner(path, key)}` is missing"
    properties, others = part.get("properties", {}), part.get("additionalProperties", {})
    for key, one in value.items():
        if key in properties:
            yield from _problems(one, properties[key], root, _inner(path, key))
        elif others:
            yield from _problems(one, others, root, _inner(path, key))


def _wrong_value(value: Any, part: Schema) -> str | None:
    types = [part["type"]] if isinstance(part.get("type"), str) else part.get("type", [])
    if types and not any(_is(value, one) for one in types):
        return f"is {_shown(value)} and has to be {' or '.join(_WORDS[one] for one in types)}"
    allowed = [part["const"]] if "const" in part else part.get("enum")
    if allowed is not None and not any(value == one and type(value) is type(one) for one in allowed):
        return f"is {_shown(value)} and has to be {' or '.join(json.dumps(one) for one in allowed)}"
    if _is(value, "number") and not (_fits(value) and part.get("minimum", value) <= value <= part.get("maximum", value)):
        return f"is {_shown(value)}, which is out of range"
    if isinstance(value, str) and re.search(part.get("pattern", ""), value) is None:
        return f"is {_shown(value)}, which is not written as it has to be"
    if isinstance(value, list) and len(value) < part.get("minItems", 0):
        return "is empty"
    return None


def _fits(value: float) -> bool:
    """Whether a column of a table can hold a number. `1e999` is JSON, and infinite in Python."""
    return math.isfinite(value) if isinstance(value, float) else -(2**63) <= value < 2**63


def _is(value: Any, name: str) -> bool:
    # In Python a boolean is a number, in JSON it is not.
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return _WORDS["object" if isinstance(value, dict) else "array"]
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _inner(path: str, key: str) -> str:
    if not key.isidentifier():
        return f"{path}[{json.dumps(key, ensure_ascii=False)}]"
    return f"{path}.{key}" if path else key


def _resolved(reference: str, root: Schema) -> Schema:
    found: Schema = root["$defs"][reference.removeprefix("#/$defs/")]
    return found
