"""The confidence that AMIE gives its rules under partial completeness is one minus our rate with `pca`, counted as AMIE counts."""

from __future__ import annotations

import csv

import pytest

import rulescore
from shared_data import shared


def test_amies_confidence_is_one_minus_the_rate_over_distinct_heads() -> None:
    """AMIE counts distinct pairs of the head, we count groundings. Its functional variable, `?a` in all these rules, is the head's
    first argument: the key of `pca *`. It mined the three parts of the graph together. That a head is confirmed is said as a
    denial, so that a listing has the pairs."""
    paths, observed = shared("codex-s/paths.tsv"), [shared(f"codex-s/{part}.txt.gz") for part in ("train", "valid", "test")]
    with rulescore.open(observed, None, [paths, "pca *."]) as session:
        rules = {rule.info.name: rule.info.text for rule in session.audit().rule_results}
        refuted = distinct(session.violations(dataset=True, limit=None).to_pylist())
    heads = {name: text.partition(" <- ")[0] for name, text in rules.items()}
    denials = "".join(f'"{name}": false <- {heads[name]}, {text.partition(" <- ")[2]}.\n' for name, text in rules.items())
    with rulescore.open(observed, None, denials) as session:
        confirmed = distinct(session.violations(dataset=True, limit=None).to_pylist())
    with paths.open(encoding="utf-8") as file:
        published = list(csv.DictReader(file, delimiter="\t"))
    assert len(published) == len(rules) == 26
    for (name, text), line in zip(rules.items(), published, strict=True):
        rate = len(refuted.get(name, ())) / (len(refuted.get(name, ())) + len(confirmed[name]))
        assert line["Functional variable"] == "?a"
        assert 1 - rate == pytest.approx(float(line["PCA Confidence"]), abs=1e-8), text


def distinct(rows: list[dict[str, object]]) -> dict[str, set[tuple[object, object]]]:
    """The pairs of `?a` and `?b`, by rule."""
    found: dict[str, set[tuple[object, object]]] = {}
    for row in rows:
        found.setdefault(str(row["rule"]), set()).add((row["a"], row["b"]))
    return found
