"""The table of the Family graph is made by one command, and its accuracy is that which came with the predictions."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shared_data import shared

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "accuracy.md"
BLOCK = re.compile(r"(?<=<!-- family -->\n).*?(?=<!-- /family -->)", re.DOTALL)
# Of those who made the predictions: MRR, Hits@1 and Hits@10.
KNOWN = re.compile(r"^\| (family|fb15k-237)-([a-z-]+)[^|]*\| (\.\d+) \| (\.\d+) \| (\.\d+) \|", re.MULTILINE)


def table(*options: str) -> str:
    folder = shared("README.md").parent
    shared("predictions/family-compgcn.tsv.gz")
    command = [sys.executable, "-W", "ignore", str(ROOT / "examples" / "family" / "table.py"), str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout


def test_the_documented_table_is_what_the_command_prints() -> None:
    found = table()
    text = DOCUMENT.read_text(encoding="utf-8")
    # A heading of the table is none of the document.
    shown = "\n" + re.sub(r"^#+ .*\n\n", "", found) + "\n"
    if os.environ.get("RULESCORE_UPDATE_DOCS"):
        DOCUMENT.write_text(BLOCK.sub(lambda _: shown, text), encoding="utf-8")
    else:
        assert BLOCK.search(text)[0] == shown


def test_it_is_a_table_of_latex_as_well() -> None:
    assert r"\toprule" in table("--format", "latex")


def test_accuracy_is_that_which_came_with_the_predictions(tmp_path: Path) -> None:
    import rulescore

    known = KNOWN.findall(shared("README.md").read_text(encoding="utf-8"))
    assert len(known) == 9
    for graph, ending in (("family", "txt"), ("fb15k-237", "txt.gz")):
        figures = {model: found for of, model, *found in known if of == graph}
        models = {model: shared(f"predictions/{graph}-{model}.tsv.gz") for model in figures}
        rules = "a: p(X, Y) <- q(X, Y). predicate p/2. predicate q/2. closed p."
        result = rulescore.score(
            shared(f"{graph}/train.{ending}"), models, rules, truth=shared(f"{graph}/test.{ending}"), contributions=False
        )
        for found in result.accuracy_results:
            ours = [found.measure(metric).value for metric in ("mrr", "hits_at_1", "hits_at_10")]
            assert [f"{value:.4f}"[1:] for value in ours] == figures[found.model], found.model


@pytest.mark.parametrize("model", ["compgcn", "anyburl", "transe", "uniker", "uniker-native"])
def test_rankings_hold_what_the_ranks_say(model: str) -> None:
    """The ten best answers give the same Hits@k, and bounds that hold MRR."""
    import rulescore

    rules = "a: p(X, Y) <- q(X, Y). predicate p/2. predicate q/2. closed p."
    models = {"ranks": shared(f"predictions/family-{model}.tsv.gz"), "rankings": shared(f"predictions/family-{model}.top10.tsv.gz")}
    ranks, rankings = rulescore.score(
        shared("family/train.txt"), models, rules, truth=shared("family/test.txt"), contributions=False
    ).accuracy_results
    for part in ("both", "head", "tail"):
        for k in (1, 3, 10):
            assert rankings.measure(f"hits_at_{k}", part).value == ranks.measure(f"hits_at_{k}", part).value
        bounds = rankings.measure("mrr", part)
        assert bounds.least <= ranks.measure("mrr", part).value <= bounds.greatest
