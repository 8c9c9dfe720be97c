"""Compares what we find of SHACL's test shapes with what pySHACL finds: `python benchmarks/shacl.py FOLDER…` prints a table by
constraint component, and with `--missing` every result that we do not give.

A folder has files of pySHACL's tests, as its source distribution brings them (`test/resources/dash_tests/core`,
`test/resources/sht_tests/core`): each is data and shapes at once, or names both. A result is a focus node, a path, a value and a
component. We count our results of a component only if the shapes of the file have it.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyshacl
import rdflib
from rdflib.namespace import RDF, SH

import rulescore

SHT = rdflib.Namespace("http://www.w3.org/ns/shacl-test#")
Result = tuple[str, str | None, str | None]
"""A focus node, a path if it is a property, and a value; blank nodes are one."""

_WITHOUT_VALUE = {"MinCount", "MaxCount", "QualifiedMinCount", "QualifiedMaxCount", "UniqueLang", "HasValue", "Property"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--missing", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    theirs, both, ours, files = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    refused = []
    for path in sorted(path for folder in options.folders for path in folder.rglob("*.ttl")):
        data, shapes = _parts(path)
        if data is None or shapes is None:
            continue
        expected = _expected(data, shapes)
        if expected is None:
            continue
        try:
            found = _found(data, shapes)
        except rulescore.errors.InputError as error:
            refused.append((path.name, str(error).splitlines()[0]))
            found = {}
        for component in sorted({*expected, *found}):
            wanted, given = expected.get(component, set()), found.get(component, set())
            theirs[component] += len(wanted)
            both[component] += len(wanted & given)
            ours[component] += len(given - wanted)
            files[component] += bool(wanted)
            if options.missing:
                for result in sorted(wanted - given, key=str):
                    print(f"missing {component} {path.parent.name}/{path.name}: {result}", file=sys.stderr)
                for result in sorted(given - wanted, key=str):
                    print(f"further {component} {path.parent.name}/{path.name}: {result}", file=sys.stderr)
    print("| component | results of pySHACL | given | further results |\n|---|--:|--:|--:|")
    for component in sorted(theirs, key=lambda name: (both[name] < theirs[name], name)):
        print(f"| `sh:{component}ConstraintComponent` | {theirs[component]} | {both[component]} | {ours[component]} |")
    print(f"| all | {theirs.total()} | {both.total()} | {ours.total()} |")
    for name, reason in refused:
        print(f"refused: {name}: {reason}", file=sys.stderr)


def _parts(path: Path) -> tuple[Path | None, Path | None]:
    """The files with the data and with the shapes of a test; None if it is a list of tests, or asks for something else."""
    graph = rdflib.Graph().parse(path, publicID=path.absolute().as_uri())
    named = [next((_local(value) for value in graph.objects(None, SHT[part])), path) for part in ("dataGraph", "shapesGraph")]
    is_test = (None, SH.conforms, None) in graph or (None, RDF.type, SHT.Validate) in graph
    return (named[0], named[1]) if is_test else (None, None)


def _local(value: object) -> Path:
    return Path(unquote(urlparse(str(value)).path))


def _expected(data: Path, shapes: Path) -> dict[str, set[Result]] | None:
    graphs = [rdflib.Graph().parse(path) for path in (data, shapes)]
    try:
        _, report, _ = pyshacl.validate(graphs[0], shacl_graph=graphs[1], inference="none", advanced=False)
    except Exception:
        return None
    if not isinstance(report, rdflib.Graph):
        return None
    # Results of shapes within shapes are details of others.
    details = set(report.objects(None, SH.detail))
    results: dict[str, set[Result]] = {}
    for result in report.subjects(RDF.type, SH.ValidationResult):
        if result in details:
            continue
        name = str(report.value(result, SH.sourceConstraintComponent)).rpartition("#")[2].removesuffix("ConstraintComponent")
        focus, path, value = (report.value(result, part) for part in (SH.focusNode, SH.resultPath, SH.value))
        results.setdefault(name, set()).add(
            (_shown(focus) or "", _shown(path) if isinstance(path, rdflib.URIRef) else None, _shown(value))
        )
    return {name: {_compared(name, *one) for one in some} for name, some in results.items()}


def _shown(term: object) -> str | None:
    """A term of pySHACL's report."""
    if isinstance(term, rdflib.BNode):
        return "_:"
    if isinstance(term, rdflib.Literal):
        value = term.toPython()
        return _written(value if isinstance(value, str | int | float | Decimal | date) else str(term))
    return None if term is None else str(term)


def _written(value: object) -> str | None:
    match value:
        case None:
            return None
        case str():
            return "_:" if value.startswith("_:") else value
        case bool():
            return str(value).lower()
        case int() | float() | Decimal():
            return f"{float(value):g}"
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _compared(name: str, focus: str, path: str | None, value: str | None) -> Result:
    return focus, path, None if name in _WITHOUT_VALUE else value


def _found(data: Path, shapes: Path) -> dict[str, set[Result]]:
    results: dict[str, set[Result]] = {}
    for row in rulescore.violations(observed=data, rules=shapes, limit=None).to_pylist():
        if row.get("constraint"):
            name = row["constraint"].removeprefix("sh:")
            name = name[0].upper() + name[1:]
            focus, path, value = row["focus_node"], row["result_path"], row["result_value"]
            path = None if path is None or "<" in path else path
            results.setdefault(name, set()).add(_compared(name, _written(focus) or "", path, _written(value)))
    return results


if __name__ == "__main__":
    main()
