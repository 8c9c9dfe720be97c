"""Results that last: an evaluation as a JSON file with its contributions as Parquet beside it, and back again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from rulescore.errors import Diagnostic, InputError, Place, Severity
from rulescore.language.reading import NOTES
from rulescore.locks import alone_in
from rulescore.readers.inputs import Input, InputKind
from rulescore.reporting.files import write_files
from rulescore.reporting.folder import CONTRIBUTIONS, not_writable
from rulescore.reporting.json import PROGRAM, VERSION, contributions_file, render_saved, schema
from rulescore.reporting.schema_check import first_problem
from rulescore.scoring.accuracy import AccuracyMeasure, ModelAccuracy, RightPredictions, Task
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA, Evaluation
from rulescore.scoring.results import (
    Counts,
    DataSummary,
    Measure,
    ModelResult,
    ModelRuleResult,
    PredictionCounts,
    PredictionFindings,
    RuleInfo,
    RuleKind,
    RuleResult,
    TableCounts,
)
from rulescore.scoring.run import Run
from rulescore.scoring.score import NONE_JUDGED, UNMEASURED, UNREFUTABLE

EVALUATION = "evaluation.json"


def save(evaluation: Evaluation, path: Path) -> tuple[Path, ...]:
    """Writes the result to a file, and its contributions beside it if they are here."""
    run = None if evaluation.run is None else evaluation.run.digested()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Of two files from two processes neither would be the other's.
        with alone_in(path.parent):
            return _save(evaluation, run, path)
    except (OSError, ValueError) as error:
        raise InputError(not_writable(path, error)) from error


def _save(evaluation: Evaluation, run: Run | None, path: Path) -> tuple[Path, ...]:
    beside = None
    written: tuple[Path, ...] = ()
    name = f"{path.name.removesuffix('.json')}.{CONTRIBUTIONS}"
    former = _former(path.with_name(name))
    if evaluation.contributions_table is not None:
        _keep_former(path, path.with_name(name), former)
        written = write_files(path.parent, {name: evaluation.contributions_table})
        beside = contributions_file(written[0])
    files = (*write_files(path.parent, {path.name: render_saved(evaluation, run, beside)}), *written)
    former.unlink(missing_ok=True)
    return files


def _former(contributions: Path) -> Path:
    return contributions.with_name(f".{contributions.name}.former")


def _keep_former(result: Path, contributions: Path, former: Path) -> None:
    """Keeps the contributions of the existing result until another takes its place: a process that is killed in between leaves the
    old result with new contributions, and we then read it with those kept."""
    if not (result.is_file() and contributions.is_file()):
        return
    with suppress(InputError):
        match _document(result).get("contributions"):
            case {"sha256": str(sha256)} if contributions_file(contributions).sha256 == sha256:
                former.unlink(missing_ok=True)
                shutil.copy2(contributions, former)


def load(path: Path) -> Evaluation:
    """The saved result of a file, or of the folder that it was written into. If its contributions are missing, we load it without
    them, and whatever needs them says so."""
    file = path / EVALUATION if path.is_dir() else path
    # Another process may be about to save a result there, which is two files.
    with alone_in(file.parent) if os.access(file.parent, os.R_OK) else nullcontext():
        return _load(file)


def _load(file: Path) -> Evaluation:
    document = _document(file)
    if (wrong := first_problem(document, schema()) or next(_contradictions(document), None)) is not None:
        raise InputError(_no_result(file, f"it is damaged: {wrong}"))
    beside = None if document["contributions"] is None else _contributions(file, document)
    return replace(_evaluation(document), contributions_table=beside)


_OF_FINDINGS = ("violating", "violating_any", "without_partner", "unconcerned")


def _contradictions(document: Mapping[str, Any]) -> Iterator[str]:
    """Problems that no schema can express: every rule must have every model, and the findings about predictions are all null, or
    none is."""
    for place, rule in enumerate(document["rules"]):
        yield from (f"`rules[{place}].models.{model}` is missing" for model in document["models"] if model not in rule["models"])
    for name, model in document["models"].items():
        unknown = [key for key in _OF_FINDINGS if model[key] is None]
        if unknown and len(unknown) < len(_OF_FINDINGS):
            known = next(key for key in _OF_FINDINGS if key not in unknown)
            yield f"`models.{name}.{unknown[0]}` is null, and `{known}` is not"


def _document(path: Path) -> dict[str, Any]:
    if path.exists() and not path.is_file():
        raise InputError(_no_result(path, "it is not a regular file"))
    try:
        found = json.loads(path.read_bytes().decode(), parse_constant=_no_constant)
        json.dumps(found, ensure_ascii=False).encode()  # which refuses halves of characters
    except OSError as error:
        raise InputError(_no_result(path, (error.strerror or str(error)).lower())) from None
    except (ValueError, RecursionError):
        raise InputError(_no_result(path, "it is not JSON")) from None
    if not isinstance(found, dict) or found.get("program") != PROGRAM:
        raise InputError(_no_result(path, "it is JSON of another program"))
    if "listing" in found:
        raise InputError(_no_result(path, "it is a listing"))
    match found.get("version"):
        case bool():
            pass
        case int(version) if version > VERSION:
            raise InputError(_of_later_version(path, version, found.get("run")))
    return found


def _no_constant(text: str) -> float:
    """Refuse NaN and infinity: Python reads them, but they are not JSON."""
    raise ValueError(text)


def _of_later_version(path: Path, version: int, run: object) -> Diagnostic:
    by = run.get("rulescore") if isinstance(run, dict) else None
    notes = () if by is None else (f"rulescore {by} has written it",)
    helps = ("read it with that version of the program, or a later one",)
    message = f"the result is of version {version}, and this program reads versions up to {VERSION}"
    return Diagnostic("E505", message, Place(str(path)), notes=notes, helps=helps)


def _no_result(path: Path, why: str) -> Diagnostic:
    notes = ("a result is what `result.save(…)` writes, or `evaluation.json` of a folder that `rulescore score --output` writes",)
    return Diagnostic("E504", f"`{path}` is not a saved result: {why}", notes=notes)


def _contributions(result: Path, document: Mapping[str, Any]) -> pa.Table | None:
    file, sha256 = document["contributions"]["file"], document["contributions"]["sha256"]
    if not file or Path(file).name != file:
        raise InputError(_no_result(result, "it is damaged: `contributions.file` is not the name of a file beside it"))
    path = result.with_name(file)
    if not path.exists():
        return None
    if not path.is_file():
        raise InputError(_not_its_own(result, path, "it is not a regular file"))
    if (former := _former(path)).exists() and contributions_file(path).sha256 != sha256:
        path = former
    if contributions_file(path).sha256 != sha256:
        raise InputError(_not_its_own(result, path))
    most = len(document["rules"]) * sum(model["predictions"] for model in document["models"].values())
    try:
        if (rows := parquet.read_metadata(path).num_rows) > most:
            raise InputError(_not_its_own(result, path, f"it has {rows:,} rows, and the result at most {most:,}"))
        found = parquet.read_table(path)
        # A column that did not exist when the file was written is empty.
        columns = [
            found[field.name].cast(field.type) if field.name in _ALWAYS | {*found.column_names} else pa.nulls(rows, field.type)
            for field in CONTRIBUTIONS_SCHEMA
        ]
    except (pa.ArrowException, OSError, KeyError) as error:
        raise InputError(_not_its_own(result, path, f"it cannot be read: {str(error).splitlines()[0]}")) from None
    table = pa.table(columns, schema=CONTRIBUTIONS_SCHEMA)
    known = {"rule": {rule["name"] for rule in document["rules"]}, "model": set(document["models"])}
    if any(not set(table[name].unique().to_pylist()) <= names for name, names in known.items()):
        raise InputError(_not_its_own(result, path))
    return table


_ALWAYS = {"model", "rule", "predicate", "arguments", "confirmed", "refuted", "evaluable"}


def _not_its_own(result: Path, path: Path, *notes: str) -> Diagnostic:
    helps = ("save the result again, or remove this file to read the result without it",)
    return Diagnostic("E506", f"these contributions are not those of `{result}`", Place(str(path)), notes=notes, helps=helps)


def _evaluation(document: Mapping[str, Any]) -> Evaluation:
    return Evaluation(
        convention=document["convention"],
        rule_results=tuple(_rule(one) for one in document["rules"]),
        model_results=tuple(_model(name, one) for name, one in document["models"].items()),
        summary=_summary(document["data"]),
        warnings=tuple(_warning(one) for one in document["warnings"]),
        run=None if document["run"] is None else _run(document["run"]),
        accuracy_results=tuple(_accuracy(one) for one in document.get("accuracy", ())),
        right_results=tuple(RightPredictions(**one) for one in document.get("right", ())),
    )


def _accuracy(found: Mapping[str, Any]) -> ModelAccuracy:
    measures = tuple(AccuracyMeasure(**one) for one in found["measures"])
    return ModelAccuracy(**{**found, "task": Task(found["task"]), "measures": measures})


def _run(run: Mapping[str, Any]) -> Run:
    inputs = tuple(
        Input(InputKind(one["kind"]), one["name"], one["of"], one["size"], one["rows"], one["sha256"], one["sha256_reason"])
        for one in run["inputs"]
    )
    return Run(run["rulescore"], run["date"], run["engine"]["name"], run["engine"]["version"], run["options"], inputs)


def _summary(data: Mapping[str, Any]) -> DataSummary:
    tables = tuple(
        TableCounts(name, one["rows"], one["hidden"], tuple(one.get("inferred_types", {}).items()))
        for name, one in data["tables"].items()
    )
    return DataSummary(**{**{one.name: data[one.name] for one in fields(DataSummary)}, "tables": tables})


def _rule(rule: Mapping[str, Any]) -> RuleResult:
    info = RuleInfo(
        name=rule["name"],
        text=rule["text"],
        declared_kind=rule["declared_kind"],
        weight=rule["weight"],
        denial=rule["denial"],
        description=rule["description"],
        tags=tuple(rule["tags"]),
        place=rule["place"],
        unrefutable=rule["unrefutable"],
        tautology=rule["tautology"],
        confidence=rule["confidence"],
        support=rule["support"],
    )
    models = {
        name: ModelRuleResult(_counts(one), _measure(one, "score"), _measure(one, "share")) for name, one in rule["models"].items()
    }
    return RuleResult(
        info,
        RuleKind(rule["kind"]),
        rule["kind_reason"],
        _counts(rule["dataset"]),
        models,
        rule["dataset"]["largest_group"],
        rule["tolerance"],
    )


def _model(name: str, model: Mapping[str, Any]) -> ModelResult:
    counts = ("rows", "kept", "predictions", "duplicates", "already_observed", "hidden", "covered", "queries")
    predictions = PredictionCounts(*(model[one] for one in counts))
    return ModelResult(
        name,
        predictions,
        hard_score=_measure(model, "hard_score"),
        soft_score=_measure(model, "soft_score"),
        hard_mean=_measure(model, "hard_mean"),
        soft_mean=_measure(model, "soft_mean"),
        evaluable=model["evaluable"],
        findings=None if model["violating"] is None else _findings(model),
        violating_reason=model["violating_reason"],
    )


def _findings(model: Mapping[str, Any]) -> PredictionFindings:
    return PredictionFindings(
        with_partner=model["predictions"] - model["without_partner"],
        violating=model["violating"],
        violating_any=model["violating_any"],
        unconcerned=model["unconcerned_predicates"],
        measured=not model["unmeasured"],
        # A result of an earlier version has none of these.
        meant=model.get("meant", {}),
        new=model.get("new"),
        violating_new=model.get("violating_new"),
        linked=model.get("linked"),
        concerned=model.get("concerned"),
        judged=model.get("judged"),
        unlinked=model.get("unlinked"),
    )


def _counts(found: Mapping[str, Any]) -> Counts:
    return Counts(found["confirmed"], found["refuted"], found["evaluable"])


def _measure(found: Mapping[str, Any], name: str) -> Measure:
    value, reason = found[name], found[f"{name}_reason"]
    word = None if value is None or reason is None else reason.partition(":")[0]
    return Measure(value, reason, word if word in {UNMEASURED, UNREFUTABLE, NONE_JUDGED} else None)


def _warning(problem: Mapping[str, Any]) -> Diagnostic:
    place = None if problem["place"] is None else Place(problem["place"])
    notes, helps = tuple(problem["notes"]), tuple(problem["helps"])
    severity = Severity.NOTE if problem["code"] in NOTES else Severity.WARNING
    return Diagnostic(problem["code"], problem["message"], place, "", notes, helps, severity)
