"""An audit puts the rules that are poor yardsticks where a reader sees them."""

from __future__ import annotations

import pytest

from rulescore.reporting.findings import audit_listing, flags
from rulescore.reporting.format import Format
from rulescore.reporting.render import render
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, RuleInfo, RuleKind, RuleResult


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (Counts(0, 0, 0), ("vacuous",)),
        (Counts(10, 0, 10), ()),
        (Counts(0, 10, 10), ("near 1",)),
        (Counts(1, 19, 20), ("near 1",)),
        (Counts(6, 94, 100), ()),
        (Counts(55, 45, 100), ("near 0.5",)),
        (Counts(45, 55, 100), ("near 0.5",)),
        (Counts(44, 56, 100), ()),
        (Counts(4, 0, 4), ("fewer than 5 groundings",)),
        (Counts(5, 0, 5), ()),
        (Counts(1, 1, 2), ("near 0.5", "fewer than 5 groundings")),
    ],
)
def test_a_flag_follows_from_the_counts(counts: Counts, expected: tuple[str, ...]) -> None:
    assert flags(result(counts)) == expected


def result(counts: Counts, *, denial: bool = False, unrefutable: bool = False) -> RuleResult:
    return RuleResult(RuleInfo("r", "text", denial=denial, unrefutable=unrefutable), RuleKind.HARD, "why", counts)


def test_a_denial_constraint_that_the_data_never_break_is_not_vacuous() -> None:
    assert flags(result(Counts(), denial=True)) == ()


def test_a_rule_that_nothing_could_refute_is_flagged_whatever_its_counts() -> None:
    assert flags(result(Counts(10, 0, 10), unrefutable=True)) == ("unrefutable",)
    assert flags(result(Counts(), unrefutable=True)) == ("unrefutable", "vacuous")


def test_an_audit_is_sorted_by_rate_with_undefined_rates_last(audit: Evaluation) -> None:
    rates = [
        row[[column.key for column in audit_listing(()).columns].index("rate")] for row in audit_listing(audit.rule_results).rows
    ]
    assert rates == [12_345 / 1_246_912, 0.0, None, None]


def test_people_see_a_rule_once_and_programs_its_name_and_text(audit: Evaluation) -> None:
    listing = audit_listing(audit.rule_results)
    header = "rule,text,kind,kind_reason,confirmed,refuted,evaluable,rate,flags,tolerance,largest_group,largest_group_share"
    assert render(listing, Format.CSV).startswith(f"{header},largest_group_share_reason\n")
    assert render(listing, Format.MARKDOWN).splitlines()[2] == "| rule | confirmed | refuted | evaluable | rate | flags |"
