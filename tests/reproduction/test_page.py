"""P1 to P4 of the publication hold, and the page of the experiments is what they print."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rulescore.reporting.listing import Format
from rulescore.reproduction.checks import _unchanged, run_checks
from rulescore.reproduction.comparison import Reproduction
from rulescore.reproduction.experiments import ExperimentOutcome, render

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("reproduction")]

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "reproduction.md"
GENERATED = re.compile(r"(?<=<!-- generated -->\n).*(?=<!-- /generated -->)", re.DOTALL)
# Of another day, or of other versions.
CHANGING = re.compile(r"^date .*$", re.MULTILINE)


def test_the_page_is_what_a_run_prints(family: Reproduction, fb15k_237: Reproduction, real_estate: Reproduction) -> None:
    found = {one.name: one for one in (family, fb15k_237, real_estate)}
    checks = tuple(run_checks(found))
    assert [check.name for check in checks if not check.holds] == []
    shown = "\n" + render(ExperimentOutcome(tuple(found.values()), checks), Format.MARKDOWN) + "\n"
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("RULESCORE_UPDATE_DOCS"):
        PAGE.write_text(GENERATED.sub(lambda _: shown, text), encoding="utf-8")
    else:
        (there,) = GENERATED.findall(text)
        assert CHANGING.sub("date", there) == CHANGING.sub("date", shown)


def test_a_score_that_changes_with_the_labels_is_found_out(family: Reproduction) -> None:
    """What a check would say of a result whose first rule has another count, and of one whose accuracy did not move."""
    result = family.result
    first, *others = result.rule_results
    counts = replace(first.dataset, refuted=first.dataset.refuted + 1)
    changed = replace(result, rule_results=(replace(first, dataset=counts), *others), accuracy_results=())
    assert not _unchanged("P1", "claim", (result, changed)).holds
    assert not _unchanged("P1", "claim", (result, result)).holds
    assert _unchanged("P1", "claim", (result, replace(result, accuracy_results=()))).holds
