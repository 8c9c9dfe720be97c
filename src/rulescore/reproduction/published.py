"""The numbers of the publication, and where the data and predictions of its experiments lie. `published.json` was made for this
package.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa

from rulescore import datasets
from rulescore.arguments.rule_sources import rule_sources
from rulescore.errors import Diagnostic, InputError, ticked
from rulescore.language.reading import read_rules
from rulescore.language.syntax import And, Atom, Rule, Term


def data_files(name: str, files: Iterable[str]) -> dict[str, Path]:
    """Files of a data set, by their names. The files may be compressed."""
    return {file: datasets.file(name, file) for file in files}


def prediction_files(stem: str, models: Mapping[str, str]) -> dict[str, Path]:
    """The files of predictions, by our names of the models. `models` maps these names to the ends of the files' names."""
    folder = datasets.predictions_folder()
    paths = {name: folder / f"{stem}-{end}.tsv.gz" for name, end in models.items()}
    if missing := [path.name for path in paths.values() if not path.is_file()]:
        message = f"there are no predictions {ticked(missing)}"
        helps = (f"put them into `{folder}`",)
        raise InputError(Diagnostic("E752", message, helps=helps))
    return paths


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


Printed = int | Decimal
"""A number with the digits that were printed."""


@cache
def published() -> Any:
    """The whole file. Numbers with a point are decimals, and so keep their digits."""
    text = resources.files("rulescore.reproduction").joinpath("published.json").read_text(encoding="utf-8")
    return json.loads(text, parse_float=Decimal)


def citation() -> str:
    publication = published()["publication"]
    return f"{', '.join(publication['authors'])}: {publication['title']}"


def digits(printed: Printed) -> int:
    """How many digits were printed behind the point."""
    exponent = Decimal(printed).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def agrees(printed: Printed, ours: float) -> bool:
    """Whether ours, rounded to as many digits, is the printed number."""
    return Decimal(f"{ours:.{digits(printed)}f}") == printed


Bound = tuple[str, int | None, int | None]
"""A body atom: its predicate, and for each of its arguments which argument of the head it is, if any."""


def heads_a_grounding(rules: Path, train: pa.Table, test: pa.Table) -> pa.Array:
    """For each test fact, whether a rule about its relation has a body atom that a training fact matches, with the arguments that
    the head gives it."""
    bodies: defaultdict[str, list[Bound]] = defaultdict(list)
    for rule in read_rules(rule_sources(rules)).program.rules:
        if isinstance(rule.head, Atom):
            bodies[rule.head.predicate] += _atoms(rule, rule.head.terms)
    first: defaultdict[str, set[str]] = defaultdict(set)
    second: defaultdict[str, set[str]] = defaultdict(set)
    pairs: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for head, relation, tail in zip(*(train[name].to_pylist() for name in ("head", "relation", "tail")), strict=True):
        first[relation].add(head)
        second[relation].add(tail)
        pairs[relation].add((head, tail))

    def matches(fact: tuple[str, str], bound: Bound) -> bool:
        predicate, left, right = bound
        if left is not None and right is not None:
            return (fact[left], fact[right]) in pairs[predicate]
        if left is not None:
            return fact[left] in first[predicate]
        return right is not None and fact[right] in second[predicate]

    facts = zip(*(test[name].to_pylist() for name in ("head", "relation", "tail")), strict=True)
    return pa.array([any(matches((head, tail), body) for body in bodies[relation]) for head, relation, tail in facts])


def _atoms(rule: Rule, head: tuple[Term, ...]) -> list[Bound]:
    conditions = rule.body.conditions if isinstance(rule.body, And) else (rule.body,)
    places = {term: place for place, term in enumerate(head)}
    return [
        (condition.predicate, places.get(condition.terms[0]), places.get(condition.terms[1]))
        for condition in conditions
        if isinstance(condition, Atom) and len(condition.terms) == 2
    ]
