"""Documents are checked by our own schemas: every key that is missing or mistyped is found and named."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rulescore.errors import InputError
from rulescore.reporting.json import first_problem, schema
from rulescore.reporting.listing import Format
from rulescore.reporting.render import render
from rulescore.reporting.saved import load

KEPT = Path(__file__).parent / "kept"
DOCUMENT = json.loads((KEPT / "result.json").read_text(encoding="utf-8"))
KEYWORDS = frozenset(
    {
        "$ref",
        "oneOf",
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "pattern",
        "required",
        "properties",
        "additionalProperties",
        "items",
        "minItems",
    }
)
SILENT = frozenset({"$schema", "$defs", "title", "description", "format"})
WRONG = (None, True, -1.5, "x", [1], {"x": 1})

Place = tuple[Any, ...]


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    if place:
        yield place
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(one, (*place, key))


def holder(document: Any, place: Place) -> Any:
    for key in place[:-1]:
        document = document[key]
    return document


def named(place: Place) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".")


def keywords(part: Any) -> Iterator[str]:
    for key, value in part.items():
        yield key
        if key in {"properties", "$defs"}:
            for one in value.values():
                yield from keywords(one)
        elif key in {"items", "additionalProperties"} and isinstance(value, dict):
            yield from keywords(value)
        elif key == "oneOf":
            for one in value:
                yield from keywords(one)


def test_every_keyword_of_the_schema_is_understood() -> None:
    assert set(keywords(schema())) <= KEYWORDS | SILENT


def test_a_key_that_is_missing_is_named() -> None:
    assert first_problem(DOCUMENT, schema()) is None
    required = 0
    for place in places(DOCUMENT):
        document = copy.deepcopy(DOCUMENT)
        inner = holder(document, place)
        if isinstance(inner, list):
            continue
        del inner[place[-1]]
        if not jsonschema.Draft202012Validator(schema()).is_valid(document):
            required += 1
            assert first_problem(document, schema()) == f"`{named(place)}` is missing"
        else:
            assert first_problem(document, schema()) is None
    assert required > 100


@pytest.mark.slow
def test_a_key_that_is_mistyped_is_named_exactly_if_the_schema_says_so() -> None:
    validator = jsonschema.Draft202012Validator(schema())
    refused = 0
    for place in places(DOCUMENT):
        for wrong in WRONG:
            document = copy.deepcopy(DOCUMENT)
            holder(document, place)[place[-1]] = wrong
            # A key that the schema does not know may be a later program's.
            expected = [
                error for error in validator.iter_errors(document) if "Additional properties are not allowed" not in error.message
            ]
            found = first_problem(document, schema())
            assert (found is None) == (not expected), (place, wrong, found)
            refused += found is not None
            assert found is None or found.startswith(f"`{named(place)}")
    assert refused > 300


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    shutil.copytree(KEPT, tmp_path / "kept")
    return tmp_path / "kept" / "result.json"


def code_of(path: Path) -> str | None:
    """None if the file is read, and what was read can be shown."""
    try:
        result = load(path)
    except InputError as error:
        return error.problems[0].code
    render(result, Format.TABLE, detail=True)
    render(result, Format.JSON)
    return None


@pytest.mark.slow
def test_whatever_is_wrong_in_a_file_is_told_by_a_code(kept: Path) -> None:
    """Each key in turn: missing, and of every wrong type. What is read in spite of it can be shown."""
    for place in places(DOCUMENT):
        for wrong in ("missing", *WRONG):
            document = copy.deepcopy(DOCUMENT)
            document["data"]["new"] = "what a later program says"
            inner = holder(document, place)
            if wrong == "missing":
                del inner[place[-1]]
            else:
                inner[place[-1]] = wrong
            kept.write_text(json.dumps(document))
            assert code_of(kept) in {None, "E504"}


def test_a_file_says_which_key_is_wrong(kept: Path) -> None:
    def told(change: dict[str, Any]) -> str:
        kept.write_text(json.dumps({**DOCUMENT, **change}))
        with pytest.raises(InputError) as caught:
            load(kept)
        assert caught.value.problems[0].code == "E504"
        return caught.value.problems[0].message

    assert told({"convention": 3}).endswith('`convention` is 3 and has to be "definition" or "appendix"')
    assert told({"version": "1"}).endswith('`version` is "1" and has to be 1')
    assert told({"version": 0}).endswith("`version` is 0 and has to be 1")
    rules = copy.deepcopy(DOCUMENT["rules"])
    del rules[1]["weight"]
    assert told({"rules": rules}).endswith("it is damaged: `rules[1].weight` is missing")
    rules = copy.deepcopy(DOCUMENT["rules"])
    del rules[2]["models"]["careless"]
    assert told({"rules": rules}).endswith("it is damaged: `rules[2].models.careless` is missing")
    kept.write_text(json.dumps(DOCUMENT).replace('"weight": 1.0', '"weight": NaN'))
    with pytest.raises(InputError, match="it is not JSON"):
        load(kept)
