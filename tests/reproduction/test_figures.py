"""The published charts are drawn again, with the published values."""

from __future__ import annotations

import json

import pytest

from rulescore.reproduction.comparison import Reproduction
from rulescore.reproduction.experiments import EXPERIMENTS
from rulescore.reproduction.figures import Chart, chart_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("reproduction")]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_figure_is_drawn_with_every_published_value(name: str, request: pytest.FixtureRequest) -> None:
    found: Reproduction = request.getfixturevalue(name.replace("-", "_"))
    assert {figure.chart for figure in found.figures} >= {Chart.DATASET_RATES, Chart.RULES, Chart.MODELS, Chart.TRADEOFF}
    for figure in found.figures:
        chart = chart_of(figure).to_dict()
        drawn = json.dumps(chart)
        for row in [] if figure.published is None else figure.published.to_pylist():
            if figure.chart is Chart.TRADEOFF and row["measure"] == "mrr":
                continue  # against Hits@1
            assert json.dumps(row["value"]) in drawn, (figure.name, row)
        if figure.note is not None:
            assert figure.note.split(";")[0] in " ".join(chart["title"]["subtitle"])


def test_rules_without_names_stand_in_falling_order(fb15k_237: Reproduction) -> None:
    rates = next(figure for figure in fb15k_237.figures if figure.chart is Chart.DATASET_RATES)
    assert rates.result is not None
    assert rates.published is not None
    ours = [rule.dataset.rate for rule in rates.result.rule_results]
    theirs = rates.published["value"].to_pylist()
    assert len(ours) == len(theirs) == 30
    assert (ours, theirs) == (sorted(ours, reverse=True), sorted(theirs, reverse=True))
