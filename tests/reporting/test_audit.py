"""An audit puts the rules that are poor yardsticks where a reader sees them."""

from __future__ import annotations

import pytest

from rulescore.reporting.audit import audit_listing
from rulescore.reporting.audit_filter import EVERY_RULE, AuditFilter, Order, RateRange, flags, read_rate
from rulescore.reporting.listing import Format
from rulescore.reporting.render import render
from rulescore.scoring.results import Counts, RuleInfo, RuleKind, RuleResult


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (Counts(0, 0, 0), ("vacuous",)),
        (Counts(10, 0, 10), ()),
        (Counts(0, 10, 10), ("near-1",)),
        (Counts(1, 19, 20), ("near-1",)),
        (Counts(6, 94, 100), ()),
        (Counts(55, 45, 100), ("near-0.5",)),
        (Counts(45, 55, 100), ("near-0.5",)),
        (Counts(44, 56, 100), ()),
        (Counts(4, 0, 4), ("fewer-than-5",)),
        (Counts(5, 0, 5), ()),
        (Counts(1, 1, 2), ("near-0.5", "fewer-than-5")),
    ],
)
def test_a_flag_follows_from_the_counts(counts: Counts, expected: tuple[str, ...]) -> None:
    assert flags(result(counts)) == expected


def result(counts: Counts, *, denial: bool = False, unrefutable: bool = False, tautology: bool = False) -> RuleResult:
    info = RuleInfo("r", "text", denial=denial, unrefutable=unrefutable, tautology=tautology)
    return RuleResult(info, RuleKind.HARD, "why", counts)


def test_a_denial_constraint_that_the_data_never_break_is_not_vacuous() -> None:
    assert flags(result(Counts(), denial=True)) == ()


def test_a_rule_that_nothing_could_refute_is_flagged_whatever_its_counts() -> None:
    assert flags(result(Counts(10, 0, 10), unrefutable=True)) == ("unrefutable",)
    assert flags(result(Counts(), unrefutable=True)) == ("unrefutable", "vacuous")


def test_a_rule_that_concludes_what_it_assumes_is_flagged() -> None:
    assert flags(result(Counts(10, 0, 10), tautology=True)) == ("tautology",)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("0..0.1", (0, 0.05, 0.1), (0.11, 1)),
        ("..10%", (0, 0.1), (0.101,)),
        ("0.2..", (0.2, 1), (0.19,)),
        ("<=0.05", (0, 0.05), (0.06,)),
        ("<0.05", (0.049,), (0.05,)),
        (">0", (0.001, 1), (0,)),
        (">= 50%", (0.5,), (0.49,)),
        ("0", (0,), (0.01,)),
        ("=1", (1,), (0.99,)),
    ],
)
def test_a_range_of_rates_is_written_as_a_range_or_a_bound(
    text: str, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    found = read_rate(text)
    assert found is not None
    assert [rate in found for rate in (*inside, *outside)] == [True] * len(inside) + [False] * len(outside)


@pytest.mark.parametrize("text", ["", "..", "much", "0.1..0.2..0.3", "-1", "0..-1", "<", "nan"])
def test_anything_else_is_no_range_of_rates(text: str) -> None:
    assert read_rate(text) is None


FOUR = tuple(
    RuleResult(RuleInfo(name, f"text of {name}", confidence=confidence, support=support), RuleKind.SOFT, "why", counts)
    for name, counts, confidence, support in (
        ("often", Counts(1, 99, 100), 0.1, 7),
        ("never", Counts(30, 0, 30), 0.9, None),
        ("few", Counts(1, 2, 3), None, 20),
        ("vacuous", Counts(), None, None),
    )
)


def listed(
    wanted: AuditFilter = EVERY_RULE, order: str = "rate", *, reverse: bool = False, limit: int | None = None
) -> list[object]:
    return [row[0] for row in audit_listing(FOUR, wanted, Order(order), reverse=reverse, limit=limit).rows]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (AuditFilter(), ("often", "few", "never", "vacuous")),
        (AuditFilter(flags=frozenset({"near-1", "vacuous"})), ("often", "vacuous")),
        (AuditFilter(flags=frozenset({"none"})), ("never",)),
        (AuditFilter(flags=frozenset({"none", "fewer-than-5"})), ("few", "never")),
        (AuditFilter(without=frozenset({"vacuous", "near-1"})), ("few", "never")),
        (AuditFilter(min_evaluable=30), ("often", "never")),
        (AuditFilter(rate=RateRange(0, 0.7)), ("few", "never")),
        (AuditFilter(rate=RateRange(0, 1)), ("often", "few", "never")),
    ],
)
def test_every_filter_has_to_be_passed(wanted: AuditFilter, names: tuple[str, ...]) -> None:
    assert listed(wanted) == list(names)


@pytest.mark.parametrize(
    ("order", "names", "reversed_names"),
    [
        ("rate", ("often", "few", "never", "vacuous"), ("never", "few", "often", "vacuous")),
        ("evaluable", ("often", "never", "few", "vacuous"), ("vacuous", "few", "never", "often")),
        ("refuted", ("often", "few", "never", "vacuous"), ("never", "vacuous", "few", "often")),
        ("confidence", ("never", "often", "few", "vacuous"), ("often", "never", "few", "vacuous")),
        ("support", ("few", "often", "never", "vacuous"), ("often", "few", "never", "vacuous")),
        ("name", ("few", "never", "often", "vacuous"), ("vacuous", "often", "never", "few")),
        ("file", ("often", "never", "few", "vacuous"), ("vacuous", "few", "never", "often")),
    ],
)
def test_undefined_numbers_are_last_in_either_direction(
    order: str, names: tuple[str, ...], reversed_names: tuple[str, ...]
) -> None:
    assert listed(order=order) == list(names)
    assert listed(order=order, reverse=True) == list(reversed_names)


def test_the_last_lines_count_kinds_and_flags_and_what_is_not_shown() -> None:
    listing = audit_listing(FOUR, AuditFilter(min_evaluable=1), limit=1)
    assert listing.notes[1:] == (
        "4 rules: 4 soft; 3 flagged: 1 vacuous, 1 near-1, 1 fewer-than-5",
        "3 of 4 rules pass the filters",
        "1 of 3 shown",
        "near-1: the data nearly always break it",
        "confidence and support: as the rule files say, whatever the data",
    )
    assert dict(listing.figures) == {"total": 4, "passed": 3, "shown": 1}


def test_a_verdict_in_words_stands_first_and_words_are_explained_where_they_stand() -> None:
    listing = audit_listing(FOUR)
    assert listing.lead == ("The data themselves break 2 of 3 rules that they can judge.",)
    assert all(f"{word}" in listing.notes[0] for word in ("confirmed", "refuted", "evaluable", "groundings (cases"))
    assert all(any(f"{flag}: " in note for note in listing.notes) for flag in ("vacuous", "near-1", "fewer-than-5"))


def test_a_denial_constraint_needs_no_case_to_be_kept() -> None:
    kept, unrefutable = result(Counts(), denial=True), result(Counts(2, 0, 2), unrefutable=True)
    assert audit_listing([kept, kept, unrefutable]).lead == ("The data break none of the 2 rules that they can judge.",)
    assert audit_listing([unrefutable]).lead == ("Nothing declared can refute the only rule, so the data cannot break it.",)
    assert audit_listing([unrefutable] * 2).lead == ("Nothing declared can refute these rules, so the data cannot break them.",)


def test_people_see_what_the_finder_says_only_if_a_rule_has_it() -> None:
    headings = "| rule | kind | confirmed | refuted | evaluable | rate | confidence | support | flags | text |"
    assert render(audit_listing(FOUR), Format.MARKDOWN).splitlines()[4] == headings
    without = render(audit_listing(FOUR, AuditFilter(flags=frozenset({"vacuous"}))), Format.MARKDOWN)
    assert "confidence" not in without


def test_groundings_that_are_confirmed_and_refuted_are_told() -> None:
    listing = audit_listing([result(Counts(16, 49, 54)), result(Counts(1, 1, 2))])
    told = "confirmed and refuted add up to more than evaluable in 1 rule: 11 groundings are both, and counted once"
    assert told in listing.notes
