"""JSON for other programs, with a version, in full precision, and with null for undefined. Checks JSON that we read again by the
same schema."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulescore.errors import Diagnostic
from rulescore.errors.texts import is_hidden
from rulescore.readers.inputs import Input
from rulescore.reporting.listing import Cell, Listing
from rulescore.scoring.evaluation import Evaluation, ModelAccuracy
from rulescore.scoring.results import Counts, DataSummary, Measure, ModelResult, ModelRuleResult, RuleResult, Run

if TYPE_CHECKING:
    from rulescore.scoring.gate_outcomes import Outcome


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
        problems = [list(_problems(value, choice, root, path)) for choice in part["oneOf"]]
        if all(problems):
            yield from problems[-1]
    if (wrong := _wrong_value(value, part)) is not None:
        yield f"`{path}` {wrong}" if path else f"the document {wrong}"
    elif isinstance(value, dict):
        yield from _of_object(value, part, root, path)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _problems(item, part.get("items", {}), root, f"{path}[{place}]")


def _of_object(value: dict[str, Any], part: Schema, root: Schema, path: str) -> Iterator[str]:
    for key in part.get("required", ()):
        if key not in value:
            yield f"`{_inner(path, key)}` is missing"
    properties, others = part.get("properties", {}), part.get("additionalProperties", {})
    for key, member in value.items():
        if key in properties:
            yield from _problems(member, properties[key], root, _inner(path, key))
        elif others:
            yield from _problems(member, others, root, _inner(path, key))


def _wrong_value(value: Any, part: Schema) -> str | None:
    types = [part["type"]] if isinstance(part.get("type"), str) else part.get("type", [])
    if types and not any(_is(value, name) for name in types):
        return f"is {_value_text(value)} and has to be {' or '.join(_WORDS[name] for name in types)}"
    allowed = [part["const"]] if "const" in part else part.get("enum")
    if allowed is not None and not any(value == choice and type(value) is type(choice) for choice in allowed):
        return f"is {_value_text(value)} and has to be {' or '.join(json.dumps(choice) for choice in allowed)}"
    if _is(value, "number") and not (_fits(value) and part.get("minimum", value) <= value <= part.get("maximum", value)):
        return f"is {_value_text(value)}, which is out of range"
    if isinstance(value, str) and re.search(part.get("pattern", ""), value) is None:
        return f"is {_value_text(value)}, which is not written as it has to be"
    if isinstance(value, list) and len(value) < part.get("minItems", 0):
        return "is empty"
    return None


def _fits(value: float) -> bool:
    """Whether a column of a table can hold a number. `1e999` is JSON, and infinite in Python."""
    return math.isfinite(value) if isinstance(value, float) else -(2**63) <= value < 2**63


def _is(value: Any, name: str) -> bool:
    # In Python a boolean is a number, in JSON it is not.
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _value_text(value: Any) -> str:
    if isinstance(value, dict | list):
        return _WORDS["object" if isinstance(value, dict) else "array"]
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _inner(path: str, key: str) -> str:
    if not key.isidentifier():
        return f"{path}[{json.dumps(key, ensure_ascii=False)}]"
    return f"{path}.{key}" if path else key


def _resolved(reference: str, root: Schema) -> Schema:
    definition: Schema = root["$defs"][reference.removeprefix("#/$defs/")]
    return definition


PROGRAM = "rulescore"
VERSION = 1

_NOT_ASCII = re.compile(r"[^\x00-\x7e]")


@dataclass(frozen=True, slots=True)
class ContributionsFile:
    """The file of contributions that belongs to a saved result. `sha256` is None for a folder of files."""

    file: str
    sha256: str | None


def contributions_file(path: Path) -> ContributionsFile:
    """A file that has been written, or a folder."""
    if path.is_dir():
        return ContributionsFile(path.name, None)
    with path.open("rb") as file:
        return ContributionsFile(path.name, hashlib.file_digest(file, "sha256").hexdigest())


def render_json(evaluation: Evaluation, gates: Sequence[Outcome] = ()) -> str:
    document = _document(evaluation, None, None)
    return json_text({**document, "gates": [_outcome(gate) for gate in gates]} if gates else document)


def render_saved(evaluation: Evaluation, run: Run | None, contributions: ContributionsFile | None) -> str:
    """A saved result: the numbers, the run that gave them, and the contributions that belong to them."""
    return json_text(_document(evaluation, run, contributions))


def _document(evaluation: Evaluation, run: Run | None, contributions: ContributionsFile | None) -> dict[str, Any]:
    return {
        "program": PROGRAM,
        "version": VERSION,
        "run": None if run is None else _run(run),
        "contributions": None if contributions is None else asdict(contributions),
        "convention": evaluation.convention,
        "data": _summary(evaluation.summary),
        "rules": [_rule(result) for result in evaluation.rule_results],
        "models": {result.name: _model(result) for result in evaluation.model_results},
        **({"accuracy": [_accuracy(result) for result in evaluation.accuracy_results]} if evaluation.accuracy_results else {}),
        **({"right": [asdict(right_result) for right_result in evaluation.right_results]} if evaluation.right_results else {}),
        "warnings": [warning_json(problem) for problem in evaluation.warnings],
    }


def render_listing_json(listing: Listing) -> str:
    keys = [column.key for column in listing.columns]
    rows = [{key: _cell(cell) for key, cell in zip(keys, row, strict=True)} for row in listing.rows]
    return json_text({"version": VERSION, "listing": listing.name, **dict(listing.figures), "rows": rows})


def render_table_json(name: str, table: Any) -> str:
    """An Arrow table, as listings are written."""
    return json_text({"version": VERSION, "listing": name, "rows": table.to_pylist()})


def schema() -> dict[str, Any]:
    """The JSON Schema of an evaluation."""
    return _schema("schema.json")


def listing_schema() -> dict[str, Any]:
    """The JSON Schema of every other listing."""
    return _schema("listing-schema.json")


def comparison_schema() -> dict[str, Any]:
    """The JSON Schema of a comparison, and of each of its tables."""
    return _schema("comparison-schema.json")


def _schema(name: str) -> dict[str, Any]:
    text = resources.files("rulescore.reporting").joinpath(name).read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def json_text(document: dict[str, Any]) -> str:
    """Characters that cannot be seen are escaped: programs read the same, and no terminal is steered."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2, default=int)
    return _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1] if is_hidden(match[0]) else match[0], text) + "\n"


def _fields(described: object, *names: str) -> dict[str, Any]:
    return {name: getattr(described, name) for name in names}


def _run(run: Run) -> dict[str, Any]:
    return {
        "rulescore": run.rulescore,
        "date": run.date,
        "engine": {"name": run.engine, "version": run.engine_version},
        "options": dict(run.options),
        "inputs": [_input(entry) for entry in run.inputs],
    }


def _input(entry: Input) -> dict[str, Any]:
    return {"kind": entry.kind.value, **_fields(entry, "name", "of", "size", "rows", "sha256"), "sha256_reason": entry.reason}


def _summary(summary: DataSummary) -> dict[str, Any]:
    return {
        **_fields(summary, "facts", "fact_duplicates", "negatives", "negatives_observed", "constants", "predicates"),
        "tables": {
            table.name: {"rows": table.rows, "hidden": table.hidden, "inferred_types": dict(table.inferred)}
            for table in summary.tables
        },
    }


def _rule(result: RuleResult) -> dict[str, Any]:
    info = result.info
    return {
        "name": info.name,
        "text": info.text,
        "kind": result.kind.value,
        "kind_reason": result.kind_reason,
        **_fields(info, "declared_kind", "denial", "unrefutable", "tautology", "weight", "description"),
        **_fields(info, "tags", "confidence", "support", "place"),
        "tolerance": result.tolerance,
        "dataset": {
            **_counts(result.dataset),
            **_measure("rate_bound", result.rate_bound),
            "largest_group": result.largest_group,
            **_measure("largest_group_share", result.largest_group_share),
        },
        "models": {model: _of_model(of_model) for model, of_model in result.models.items()},
    }


def _of_model(of_model: ModelRuleResult) -> dict[str, Any]:
    return {**_counts(of_model.counts), **_measure("score", of_model.score), **_measure("share", of_model.share)}


def _counts(counts: Counts) -> dict[str, Any]:
    return _fields(counts, "confirmed", "refuted", "evaluable", "rate")


def _measure(name: str, measure: Measure) -> dict[str, Any]:
    return {name: measure.value, f"{name}_reason": measure.reason}


def _model(result: ModelResult) -> dict[str, Any]:
    predictions = result.predictions
    return {
        **_fields(result, "unmeasured", "violating", "violating_reason", "violating_any", "violating_new", "evaluable"),
        **_measure("hard_score", result.hard_score),
        **_measure("soft_score", result.soft_score),
        **_measure("hard_mean", result.hard_mean),
        **_measure("soft_mean", result.soft_mean),
        **_fields(predictions, "rows", "kept"),
        "predictions": predictions.distinct,
        **_fields(predictions, "duplicates", "queries", "already_observed"),
        **_fields(result, "new", "linked", "concerned", "judged"),
        "unlinked": result.findings.unlinked if result.findings else None,
        "meant": dict(result.findings.meant) if result.findings else {},
        **_fields(result, "without_partner", "unconcerned"),
        "unconcerned_predicates": dict(result.findings.unconcerned) if result.findings else {},
        **_fields(predictions, "hidden", "covered"),
        **_measure("coverage", result.coverage),
    }


def _accuracy(accuracy: ModelAccuracy) -> dict[str, Any]:
    return {**asdict(accuracy), "task": accuracy.task.value, "measures": [asdict(measure) for measure in accuracy.measures]}


def warning_json(problem: Diagnostic) -> dict[str, Any]:
    return {
        **_fields(problem, "code", "message"),
        "place": None if problem.place is None else str(problem.place),
        **_fields(problem, "notes", "helps"),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    gate = outcome.gate
    return {
        "gate": gate.text,
        **_fields(gate, "name", "severity"),
        **_fields(outcome, "model", "met"),
        "readings": [asdict(reading) for reading in outcome.readings],
        "notes": outcome.notes,
    }


def _cell(cell: Cell) -> Any:
    match cell:
        case tuple():
            return list(cell)
        case Mapping():
            return dict(cell)
        case _:
            return cell
