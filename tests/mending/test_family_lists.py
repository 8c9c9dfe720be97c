"""The published top-ten lists of Family, in another order."""

from __future__ import annotations

import pytest

from rulescore.arguments.python import make_setting
from rulescore.mending.list_files import read_lists
from rulescore.mending.making import candidates
from rulescore.mending.rerank import rerank
from shared_data import shared
from test_family import chosen_rules

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("model", "figures"), [("transe", (0.4372, 0.7100, 0.6171, 0.9227)), ("compgcn", (0.8758, 0.9214, 0.8851, 0.9587))]
)
def test_hard_rules_and_declarations_raise_the_accuracy_of_lists(model: str, figures: tuple[float, ...]) -> None:
    setting = make_setting(shared("family/train.txt"), None, chosen_rules(), truth=shared("family/test.txt"))
    lists = read_lists(shared(f"predictions/family-{model}.top10.tsv.gz"))
    hard = rerank(setting, lists, reasons=["breaks a rule"], valid=shared("family/valid.txt"))
    full = rerank(setting, lists)
    found = [outcome.accuracy["hits_at_1"] for outcome in (*hard.outcomes, full.outcomes[-1])]
    assert found == pytest.approx(figures, abs=5e-5)
    assert hard.price.lost is not None
    assert (sum(hard.price.lost.values()), hard.price.validation) == (3, 2830)


def test_the_forbidden_facts_of_family_are_as_many_as_were_counted_otherwise() -> None:
    table = candidates(shared("family/train.txt"), chosen_rules())
    forbidden = {
        (predicate, *arguments)
        for rule, predicate, arguments, counts in zip(
            table.rows.rule.tolist(),
            table.rows.predicate.tolist(),
            table.rows.arguments.tolist(),
            table.rows.counts.tolist(),
            strict=True,
        )
        if rule in table.hard and counts[1]
    }
    assert len(table.hard) == 28
    assert len(forbidden) == 255_994
