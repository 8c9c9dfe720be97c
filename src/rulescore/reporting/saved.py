"""Saves an evaluation as a JSON file with its contributions in a Parquet file, and loads it again."""

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
from rulescore.readers.inputs import Input, InputKind
from rulescore.reporting.files import CONTRIBUTIONS, not_writable, write_files
from rulescore.reporting.json import PROGRAM, VERSION, contributions_file, first_problem, render_saved, schema
from rulescore.scoring import results
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA, AccuracyMeasure, Evaluation, ModelAccuracy, RightPredictions, Task
from rulescore.scoring.score import NONE_JUDGED, UNMEASURED, UNREFUTABLE
from rulescore.waiting import alone_in

EVALUATION = "evaluation.json"


def save(evaluation: Evaluation, path: Path) -> tuple[Path, ...]:
    """Writes the result to a file, and its contributions to another if they are here."""
    run = None if evaluation.run is None else evaluation.run.digested()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # If two processes save at once, the two files of a result could come from both.
        with alone_in(path.parent):
            return _save(evaluation, run, path)
    except (OSError, ValueError) as error:
        raise InputError(not_writable(path, error)) from error


def _save(evaluation: Evaluation, run: results.Run | None, path: Path) -> tuple[Path, ...]:
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
    old result with new contributions, and we then read it with the contributions kept."""
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
    # Another process may be saving a result there, and has written one of its two files.
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
    """Problems that no schema can express. Every rule must have every model, and either all findings about predictions are null or
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
        document = json.loads(path.read_bytes().decode(), parse_constant=_no_constant)
        json.dumps(document, ensure_ascii=False).encode()  # raises an error for half of a surrogate pair
    except OSError as error:
        raise InputError(_no_result(path, (error.strerror or str(error)).lower())) from None
    except (ValueError, RecursionError):
        raise InputError(_no_result(path, "it is not JSON")) from None
    if not isinstance(document, dict) or document.get("program") != PROGRAM:
        raise InputError(_no_result(path, "it is JSON of another program"))
    if "listing" in document:
        raise InputError(_no_result(path, "it is a listing"))
    match document.get("version"):
        case bool():
            pass
        case int(version) if version > VERSION:
            raise InputError(_of_later_version(path, version, document.get("run")))
    return document


def _no_constant(text: str) -> float:
    """Refuse NaN and infinity: Python reads them, but they are not JSON."""
    raise ValueError(text)


def _of_later_version(path: Path, version: int, run: object) -> Diagnostic:
    by = run.get("rulescore") if isinstance(run, dict) else None
    notes = () if by is None else (f"rulescore {by} has written it",)
    helps = ("read it with that version of the program, or a later one",)
    message = f"the result is of version {version}, and this program reads versions up to {VERSION}"
    return Diagnostic("E504", message, Place(str(path)), notes=notes, helps=helps)


def _no_result(path: Path, why: str) -> Diagnostic:
    notes = ("a result is what `result.save(…)` writes, or `evaluation.json` of a folder that `rulescore score --output` writes",)
    helps = (f"score it first: `rulescore score {path} --output FOLDER`",) if path.suffix == ".toml" else ()
    return Diagnostic("E504", f"`{path}` is not a saved result: {why}", notes=notes, helps=helps)


def _contributions(result: Path, document: Mapping[str, Any]) -> pa.Table | None:
    file, sha256 = document["contributions"]["file"], document["contributions"]["sha256"]
    if not file or Path(file).name != file:
        raise InputError(_no_result(result, "it is damaged: `contributions.file` is not the name of a file next to it"))
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
        table = parquet.read_table(path)
        # If an earlier version wrote the file without a column, that column is empty.
        columns = [
            table[field.name].cast(field.type) if field.name in _ALWAYS | {*table.column_names} else pa.nulls(rows, field.type)
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
    return Diagnostic("E504", f"these contributions do not belong to `{result}`", Place(str(path)), notes=notes, helps=helps)


def _evaluation(document: Mapping[str, Any]) -> Evaluation:
    return Evaluation(
        convention=document["convention"],
        rule_results=tuple(_rule(rule) for rule in document["rules"]),
        model_results=tuple(_model(name, model) for name, model in document["models"].items()),
        summary=_summary(document["data"]),
        warnings=tuple(_warning(warning) for warning in document["warnings"]),
        run=None if document["run"] is None else _run(document["run"]),
        accuracy_results=tuple(_accuracy(accuracy) for accuracy in document.get("accuracy", ())),
        right_results=tuple(RightPredictions(**counts) for counts in document.get("right", ())),
    )


def _accuracy(accuracy: Mapping[str, Any]) -> ModelAccuracy:
    measures = tuple(AccuracyMeasure(**measure) for measure in accuracy["measures"])
    return ModelAccuracy(**{**accuracy, "task": Task(accuracy["task"]), "measures": measures})


def _run(run: Mapping[str, Any]) -> results.Run:
    inputs = tuple(
        Input(InputKind(data["kind"]), data["name"], data["of"], data["size"], data["rows"], data["sha256"], data["sha256_reason"])
        for data in run["inputs"]
    )
    return results.Run(run["rulescore"], run["date"], run["engine"]["name"], run["engine"]["version"], run["options"], inputs)


def _summary(data: Mapping[str, Any]) -> results.DataSummary:
    tables = tuple(
        results.TableCounts(name, size["rows"], size["hidden"], tuple(size.get("inferred_types", {}).items()))
        for name, size in data["tables"].items()
    )
    return results.DataSummary(**{**{field.name: data[field.name] for field in fields(results.DataSummary)}, "tables": tables})


def _rule(rule: Mapping[str, Any]) -> results.RuleResult:
    info = results.RuleInfo(**{field.name: rule[field.name] for field in fields(results.RuleInfo)} | {"tags": tuple(rule["tags"])})
    models = {
        name: results.ModelRuleResult(_counts(data), _measure(data, "score"), _measure(data, "share"))
        for name, data in rule["models"].items()
    }
    return results.RuleResult(
        info,
        results.RuleKind(rule["kind"]),
        rule["kind_reason"],
        _counts(rule["dataset"]),
        models,
        rule["dataset"]["largest_group"],
        rule["tolerance"],
    )


def _model(name: str, model: Mapping[str, Any]) -> results.ModelResult:
    counts = ("rows", "kept", "predictions", "duplicates", "already_observed", "hidden", "covered", "queries")
    predictions = results.PredictionCounts(*(model[name] for name in counts))
    return results.ModelResult(
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


def _findings(model: Mapping[str, Any]) -> results.PredictionFindings:
    return results.PredictionFindings(
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


def _counts(counts: Mapping[str, Any]) -> results.Counts:
    return results.Counts(counts["confirmed"], counts["refuted"], counts["evaluable"])


def _measure(measures: Mapping[str, Any], name: str) -> results.Measure:
    value, reason = measures[name], measures[f"{name}_reason"]
    word = None if value is None or reason is None else reason.partition(":")[0]
    return results.Measure(value, reason, word if word in {UNMEASURED, UNREFUTABLE, NONE_JUDGED} else None)


def _warning(problem: Mapping[str, Any]) -> Diagnostic:
    place = None if problem["place"] is None else Place(problem["place"])
    notes, helps = tuple(problem["notes"]), tuple(problem["helps"])
    severity = Severity.NOTE if problem["code"] in NOTES else Severity.WARNING
    return Diagnostic(problem["code"], problem["message"], place, "", notes, helps, severity)
