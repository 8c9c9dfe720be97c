"""An evaluation with every kind of rule, undefined numbers, and names that try to break each format."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rulescore.errors import Diagnostic, Place, Severity
from rulescore.scoring.evaluation import ALL, AccuracyMeasure, Evaluation, ModelAccuracy, RightPredictions, Task
from rulescore.scoring.results import Counts, DataSummary, PredictionCounts, PredictionFindings, RuleInfo, TableCounts
from rulescore.scoring.score import score, unmeasured_models

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


def make_everything() -> Evaluation:
    """Every kind of rule, model, undefined number and note in one result."""
    long_text = f"abs(P - Q) <= 1500 <- {', '.join(f'sale(id: A{number}, price: P{number})' for number in range(5))}"
    rules = (
        *(info for info, _, _ in RULES),
        RuleInfo("free", "p(X) <- q(X)", unrefutable=True),
        RuleInfo("bound", "p(X) <- s(X)", confidence=0.9, support=30),
        RuleInfo("near", long_text),
        RuleInfo("wide", "within(P, Q, spread(2)) <- sale(id: A, price: P)"),
    )
    dataset = (*(counts for _, counts, _ in RULES), Counts(7, 0, 7), Counts(30, 0, 30), Counts(300, 100, 400), Counts())
    judged = [*(counts for _, _, counts in RULES), Counts(6, 0, 6), Counts(3, 2, 5), Counts(), Counts()]
    ridge = [*[Counts()] * 5, Counts(), Counts(5, 5, 10), Counts(1, 0, 1)]
    counts = {"compgcn": judged, "misread": [Counts()] * 8, "ridge": ridge, "silent": [Counts()] * 8}
    brought = {
        "compgcn": PredictionCounts(24_000, 23_999, 23_631, 368, 12, queries=900),
        "misread": PredictionCounts(50, 50, 50, 0, 0),
        "ridge": PredictionCounts(300, 300, 300, 0, 0, hidden=400, covered=300),
        "silent": PredictionCounts(0, 0, 0, 0, 0),
    }
    findings = {
        "compgcn": PredictionFindings(
            900, 39, 50, {"likes": 1}, measured=True, new=23_619, violating_new=38, linked=20_000, concerned=950, judged=900
        ),
        "misread": PredictionFindings(
            0, 0, 0, {"all": 40, "some": 10}, new=50, unlinked="Bob", meant={"Bob": "bob", "all": "call"}
        ),
        "ridge": PredictionFindings(270, 1, 2, measured=True),
        "silent": PredictionFindings(),
    }
    results, models = score(rules, dataset, counts, brought, findings)
    grouped = (*results[:6], replace(results[6], largest_group=100), replace(results[7], largest_group=0, tolerance=1234.5))
    figures = (AccuracyMeasure("mean_absolute_error", ALL, 400, 1.5), AccuracyMeasure("r_squared", ALL, 400, None, reason="why"))
    accuracy = (
        ModelAccuracy("ridge", Task.REGRESSION, "sale", 400, 300, "values", measures=figures),
        ModelAccuracy("silent", Task.REGRESSION, "sale", 400, 0, reason="it has no predictions"),
    )
    right = (RightPredictions("compgcn", 38, 2, 862, 700),)
    warning = Diagnostic("W999", "look `here`", Place("family.rules", 3, 9), severity=Severity.WARNING)
    summary = DataSummary(272_115, 3, 2, 1, 14_541, 237, (TableCounts("sale", 4_000, 400, (("price", "float"),)),))
    return Evaluation(
        "definition",
        grouped,
        models,
        summary,
        (warning, *unmeasured_models(models)),
        accuracy_results=accuracy,
        right_results=right,
    )


@pytest.fixture
def table_evaluation() -> Evaluation:
    return make_table_evaluation()


@pytest.fixture
def evaluation() -> Evaluation:
    return make_evaluation(("compgcn", "silent_model"))


@pytest.fixture
def audit() -> Evaluation:
    return make_evaluation(())
