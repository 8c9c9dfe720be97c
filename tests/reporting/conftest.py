"""An evaluation with every kind of rule, undefined numbers, and names that try to break each format."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rulescore.errors import Diagnostic, Place, Severity
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts, DataSummary, PredictionCounts, PredictionFindings, RuleInfo, TableCounts
from rulescore.scoring.score import score

RULES = (
    (
        RuleInfo("aunts", "aunt(X, Z) <- sister(X, Y), father(Y, Z)"),
        Counts(1_234_567, 12_345, 1_246_912),
        Counts(20_000, 1000, 21_000),
    ),
    (RuleInfo("false <- s(X), w(X)", "false <- s(X), w(X)", denial=True, weight=2.0), Counts(), Counts(0, 1_234, 1_234)),
    (
        RuleInfo("[red]a|b[/red]\n_x_ 100% & $1", "p(X) <- q(X)", "soft", tags=("t",), description="d"),
        Counts(5, 0, 5),
        Counts(),
    ),
    (RuleInfo("open", "`/people/person/place_of_birth`(X, Y) <- `/location/contains`(Y, X)"), Counts(), Counts(1, 1, 2)),
)


def make_evaluation(models: tuple[str, ...]) -> Evaluation:
    found = {"compgcn": [counts for _, _, counts in RULES], "silent_model": [Counts()] * len(RULES)}
    results = score(
        [info for info, _, _ in RULES],
        [dataset for _, dataset, _ in RULES],
        {model: found[model] for model in models},
        {model: PredictionCounts(24_000, 23_999, 23_631, 368, 12) for model in models},
    )
    warning = Diagnostic("W999", "look `here`", Place("family.rules", 3, 9), severity=Severity.WARNING)
    return Evaluation("definition", *results, DataSummary(272_115, 3, 0, 0, 14_541, 237), (warning,))


def make_table_evaluation() -> Evaluation:
    """Two regressors of one table: pairs counted by groups, one rule with a tolerance from the data, one long text, one in SQL."""
    long_text = f"abs(P - Q) <= 1500 <- {', '.join(f'sale(id: A{number}, price: P{number})' for number in range(9))}"
    rules = (
        RuleInfo("near", long_text),
        RuleInfo("wide", "within(P, Q, spread(2)) <- sale(id: A, price: P)"),
        RuleInfo("plain", "p"),
    )
    dataset = [Counts(300, 100, 400), Counts(), Counts(7, 3, 10)]
    counts = [Counts(5, 5, 10), Counts(1, 0, 1), Counts()]
    brought = {
        "ridge_regression": PredictionCounts(300, 300, 300, 0, 0, hidden=400, covered=300),
        "none": PredictionCounts(0, 0, 0, 0, 0, hidden=400, covered=0),
    }
    findings = {
        model: PredictionFindings(read.distinct - read.distinct // 10, 1, 2, measured=True) for model, read in brought.items()
    }
    rule_results, models = score(rules, dataset, dict.fromkeys(brought, counts), brought, findings)
    groups = (
        replace(rule_results[0], largest_group=100),
        replace(rule_results[1], largest_group=0, tolerance=1234.5),
        rule_results[2],
    )
    summary = DataSummary(0, 0, 0, 0, 5, 0, (TableCounts("sale", 4_000, 400),))
    return Evaluation("definition", groups, models, summary)


@pytest.fixture
def table_evaluation() -> Evaluation:
    return make_table_evaluation()


@pytest.fixture
def evaluation() -> Evaluation:
    return make_evaluation(("compgcn", "silent_model"))


@pytest.fixture
def audit() -> Evaluation:
    return make_evaluation(())
