"""One file a format, of one result that has every kind of rule, model, undefined number and note.

`RULESCORE_UPDATE_GOLDEN=1 pytest tests/reporting/test_golden.py` writes the files anew; the difference is for people to read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluations import make_everything
from rulescore.reporting.audit import audit_listing
from rulescore.reporting.gates import render_junit, render_summary, told, verdicts
from rulescore.reporting.listing import Appearance, Format, Shown
from rulescore.reporting.render import render, short_html
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.gate_outcomes import judge
from rulescore.scoring.gates import parse_gate
from rulescore.setting.choices import GateSeverity

FOLDER = Path(__file__).parent / "golden"
UPDATE = os.environ.get("RULESCORE_UPDATE_GOLDEN") == "1"
WIDE = Appearance(140)


def gated(show: Callable[..., str]) -> Callable[[Evaluation], str]:
    """Gates that are met, not met, undefined and only warn."""

    def shown(evaluation: Evaluation) -> str:
        gates = (
            parse_gate("rule(near).rate > 40%", models=("ridge",)),
            parse_gate("rule(near).rate > 0.6", models=("ridge",), name="loose"),
            parse_gate("violating_any > 0%", models=("compgcn",), severity=GateSeverity.WARN),
            parse_gate("rule(wide).score > 2", models=("ridge",)),
            parse_gate("soft worse than b.json by 10%", models=("compgcn",)),
            parse_gate("hard > 0"),
        )
        outcomes = verdicts(judge(gates, evaluation, {"b.json": evaluation}), evaluation, None)
        return show(evaluation, outcomes)

    return shown


FILES: dict[str, Callable[[Evaluation], str]] = {
    "short.txt": lambda evaluation: render(evaluation, Format.TABLE, appearance=WIDE),
    "detail.txt": lambda evaluation: render(evaluation, Format.TABLE, detail=True, appearance=WIDE),
    "detail.md": lambda evaluation: render(evaluation, Format.MARKDOWN, detail=True),
    "detail.tex": lambda evaluation: render(evaluation, Format.LATEX, detail=True),
    "short.html": short_html,
    "evaluation.json": lambda evaluation: render(evaluation, Format.JSON),
    "rules.csv": lambda evaluation: render(evaluation, Format.CSV),
    "models.csv": lambda evaluation: render(evaluation, Format.CSV, table=Shown.MODELS),
    "audit.md": lambda evaluation: render(audit_listing(evaluation.rule_results), Format.MARKDOWN),
    "audit.csv": lambda evaluation: render(audit_listing(evaluation.rule_results), Format.CSV),
    "gates.txt": gated(lambda _, found: "".join(f"{told(verdict.outcome)}\n" for verdict in found)),
    "gates.xml": gated(lambda _, found: render_junit(found)),
    "gates.md": gated(render_summary),
}


@pytest.mark.parametrize("name", FILES)
def test_a_result_reads_as_in_the_file(name: str) -> None:
    text = FILES[name](make_everything())
    path = FOLDER / name
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    assert text.encode() == path.read_bytes()


def test_every_file_is_of_a_format() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)
