"""Classes of nodes: what the catalogue promises, and violations counted by hand."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from catalogue import Catalogue, Class, disjoint_classes, make_catalogue
from classifiers import Classes, descriptions, edges
from example_runs import run_example, score_project

pytestmark = pytest.mark.slow

DOMAINS = {"acted_in": {"person"}, "directed": {"person"}, "wrote": {"person"}, "adapted_from": {"film"}}
RANGES = {
    "wrote": {"book"},
    "adapted_from": {"book"},
    "set_in": {"place"},
    "acted_in": {"film", "series"},
    "directed": {"film", "series"},
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return make_catalogue(1_000, np.random.default_rng(1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classification")
    run_example("classification", "--out", str(folder))
    return folder


@pytest.fixture(scope="module")
def scored(folder: Path) -> dict[str, Any]:
    return score_project(folder)


def test_every_edge_leads_from_its_domain_to_its_range(catalogue: Catalogue) -> None:
    classes = dict(zip(catalogue.names, catalogue.classes, strict=True))
    for head, relation, tail in catalogue.edges:
        assert relation not in DOMAINS or classes[head] in DOMAINS[relation]
        assert relation not in RANGES or classes[tail] in RANGES[relation]


def test_one_seed_makes_one_catalogue(catalogue: Catalogue) -> None:
    again = make_catalogue(1_000, np.random.default_rng(1))
    assert (again.names, again.classes, again.edges) == (catalogue.names, catalogue.classes, catalogue.edges)
    assert (again.words == catalogue.words).all()
    assert make_catalogue(1_000, np.random.default_rng(2)).edges != catalogue.edges


@pytest.mark.parametrize("model", [descriptions, edges])
def test_a_classifier_never_looks_at_hidden_classes(catalogue: Catalogue, model: Any) -> None:
    hidden = set(np.flatnonzero(catalogue.hidden).tolist())
    classes = tuple(Class.PLACE if row in hidden else which for row, which in enumerate(catalogue.classes))
    assert model(replace(catalogue, classes=classes)) == model(catalogue)


def test_domains_and_ranges_are_counted_edge_by_edge(catalogue: Catalogue, scored: dict[str, Any]) -> None:
    rules = {rule["name"]: rule for rule in scored["rules"]}
    predicted = {"descriptions": descriptions(catalogue), "edges": edges(catalogue)}
    for place, sides in ((0, DOMAINS), (2, RANGES)):
        for relation, allowed in sides.items():
            rule = rules[f"{'domain' if place == 0 else 'range'} of {relation}"]
            nodes = [edge[place] for edge in catalogue.edges if edge[1] == relation]
            assert (rule["kind"], rule["dataset"]["evaluable"]) == ("hard", sum(node not in catalogue.labels for node in nodes))
            for model, classes in predicted.items():
                answers = [classes[node] for node in nodes if node in classes]
                found = rule["models"][model]
                assert (found["refuted"], found["evaluable"]) == (sum(answer not in allowed for answer in answers), len(answers))


def test_sequels_are_refuted_by_disjoint_classes_only(catalogue: Catalogue, scored: dict[str, Any]) -> None:
    disjoint = {(one, other) for one, _, other in disjoint_classes()}
    observed = {name: which for name, which in zip(catalogue.names, catalogue.classes, strict=True) if name not in catalogue.labels}
    pairs = [(head, tail) for head, relation, tail in catalogue.edges if relation == "sequel_of"]
    confirmed = sum(head in observed and observed.get(tail) == observed[head] for head, tail in pairs)
    refuted = sum(head in observed and tail in observed and (observed[head], observed[tail]) in disjoint for head, tail in pairs)
    (rule,) = [rule for rule in scored["rules"] if rule["name"] == "sequels"]
    assert (rule["dataset"]["confirmed"], rule["dataset"]["refuted"]) == (confirmed, refuted)
    assert rule["kind"] == "soft"


def test_the_classifier_that_looks_at_edges_respects_them(scored: dict[str, Any]) -> None:
    models = scored["models"]
    assert models["edges"]["hard_score"] == 0 < models["descriptions"]["hard_score"]


def test_hidden_classes_change_no_score(folder: Path, scored: dict[str, Any], tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (folder / "nodes.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    changed = [[name, "place" if split == "test" else which, split, *words] for name, which, split, *words in rows]
    assert changed != rows
    with (tmp_path / "nodes.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *changed])
    assert score_project(tmp_path) == scored


def test_the_files_hold_what_the_models_answered(folder: Path, catalogue: Catalogue) -> None:
    def read(name: str) -> Classes:
        with (folder / name).open(encoding="utf-8", newline="") as file:
            return dict(list(csv.reader(file))[1:])

    assert read("descriptions.csv") == descriptions(catalogue)
    assert read("edge-classes.csv") == edges(catalogue)
