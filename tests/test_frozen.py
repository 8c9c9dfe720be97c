"""What rules count on published graphs does not change: digests of all counts over the data and of every contribution.

`RULESCORE_UPDATE_FROZEN=1 pytest tests/test_frozen.py` writes the digests anew. Whoever commits that says which counts were wrong.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import csv

import rulescore
from rulescore.scoring.evaluation import Evaluation
from shared_data import shared
from test_family import PREDICATES, chosen_rules

pytestmark = pytest.mark.slow

FILE = Path(__file__).with_name("frozen.json")
UPDATE = os.environ.get("RULESCORE_UPDATE_FROZEN") == "1"
MINED = 5_000
CONVENTIONS = ("definition", "appendix")


def digest(evaluation: Evaluation) -> str:
    """One number for the counts of every rule over the data and for every contribution."""
    data = [
        (result.info.name, result.dataset.confirmed, result.dataset.refuted, result.dataset.evaluable)
        for result in evaluation.rule_results
    ]
    table = evaluation.contributions
    columns = {name: table[name].cast(pa.string()) for name in ("model", "rule", "predicate")}
    columns["arguments"] = pc.binary_join(table["arguments"].cast(pa.list_(pa.string())), "\t")
    rows = pa.table(columns | {name: table[name].cast(pa.int64()) for name in ("confirmed", "refuted", "evaluable")})
    given = pa.BufferOutputStream()
    csv.write_csv(rows.sort_by([(name, "ascending") for name in columns]), given)
    return sha256(json.dumps(data, ensure_ascii=False).encode() + given.getvalue()).hexdigest()[:16]


def require_frozen(name: str, evaluation: Evaluation) -> None:
    frozen = json.loads(FILE.read_text()) if FILE.exists() else {}
    found = digest(evaluation)
    if UPDATE:
        FILE.write_text(json.dumps({**frozen, name: found}, indent=2, sort_keys=True) + "\n")
    else:
        assert found == frozen[name], name


def family(rules: Any, **options: Any) -> Evaluation:
    models = {"compgcn": shared("predictions/family-compgcn.tsv.gz"), "uniker": shared("predictions/family-uniker.tsv.gz")}
    return rulescore.score(shared("family/train.txt"), models, rules, contributions=True, **options)


def few_rules() -> list[str]:
    """Of the 41 rules every sixth, and a chain of three atoms."""
    lines = shared("family/MLN_rule.txt").read_text().splitlines()[::6]
    ours = f"aunt(X, Y) <- sister(X, A), husband(B, A), son(Y, B). incompatible {', '.join(PREDICATES)}."
    return ["\n".join(lines), ours]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_family(convention: str) -> None:
    every = [shared("family/MLN_rule.txt"), f"incompatible {', '.join(PREDICATES)}."]
    require_frozen(f"family, 41 rules, {convention}", family(every, convention=convention))
    require_frozen(f"family, 37 rules, {convention}", family(chosen_rules(), convention=convention))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", ["duckdb", pytest.param("postgres", marks=pytest.mark.server)])
def test_a_few_rules_of_family(name: str, convention: str, engine_of: Callable[[str], Any]) -> None:
    require_frozen(f"family, few rules, {convention}", family(few_rules(), convention=convention, engine=engine_of(name)))


@pytest.mark.server
@pytest.mark.xdist_group("spark")
def test_a_few_rules_of_family_on_spark(spark: Any) -> None:
    require_frozen("family, few rules, definition", family(few_rules(), engine=spark))


def fb15k_237(rules: Any, **options: Any) -> Evaluation:
    models = {"compgcn": shared("predictions/fb15k-237-compgcn.tsv.gz")}
    every = [*rules, "extract incompatible."]
    return rulescore.score(shared("fb15k-237/train.txt.gz"), models, every, contributions=True, **options)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_fb15k_237(convention: str) -> None:
    require_frozen(f"fb15k-237, 509 rules, {convention}", fb15k_237([shared("fb15k-237/rules.mln.txt")], convention=convention))


def mined(lines: Iterable[str]) -> list[str]:
    """All mined rules of two atoms without constants, every fortieth of three, and the first of the others."""
    by_atoms: dict[int, list[str]] = {1: [], 2: [], 3: []}
    for line in lines:
        body = line.partition(" <= ")[2]
        if body.strip():
            by_atoms[body.count("(") if "/m/" not in line and "me_myself_i" not in line else 1].append(line)
    chosen = [*by_atoms[2], *by_atoms[3][::40]]
    return [*chosen, *by_atoms[1][: MINED - len(chosen)]]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_mined_rules(convention: str, tmp_path: Path) -> None:
    with gzip.open(shared("anyburl/fb15k-237.rules.100k.gz"), "rt", encoding="utf-8") as lines:
        chosen = mined(lines)
    assert len(chosen) == MINED
    (tmp_path / "mined.rules").write_text("".join(chosen), encoding="utf-8")
    require_frozen(f"fb15k-237, mined rules, {convention}", fb15k_237([tmp_path / "mined.rules"], convention=convention))
