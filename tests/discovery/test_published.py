"""Every rule of one or two atoms in published graphs, audited."""

from __future__ import annotations

import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.discovery.discovering import discover_graph, scoring_of, shown
from rulescore.discovery.model import DiscoverOptions, Form
from rulescore.setting.choices import Convention
from shared_data import shared

pytestmark = pytest.mark.slow

FORMS = frozenset({Form.IMPLICATION, Form.INVERSION, Form.TWO_ATOMS})


@pytest.mark.filterwarnings("ignore::rulescore.errors.RulescoreWarning")
@pytest.mark.parametrize(
    ("graph", "convention", "rules"),
    [
        ("family/train.txt", Convention.DEFINITION, 426),
        ("family/train.txt", Convention.APPENDIX, 426),
        ("fb15k-237/train.txt.gz", Convention.DEFINITION, 13_013),
        ("fb15k-237/train.txt.gz", Convention.APPENDIX, 11_616),
    ],
)
def test_every_rule_has_the_counts_of_an_audit(graph: str, convention: Convention, rules: int) -> None:
    facts = shared(graph)
    options = DiscoverOptions(everything=True, forms=FORMS, convention=convention)
    found = {rule.text: rule.counts for rule in shown(discover_graph(make_setting(facts, None, ()), options))}
    assert len(found) == rules
    scoring = scoring_of(options)
    text = "extract incompatible.\n" + "".join(f"{text}.\n" for text in found)
    audited = rulescore.audit(facts, text, convention=scoring.convention.value).rule_results
    assert {rule.info.text: rule.dataset for rule in audited} == found
