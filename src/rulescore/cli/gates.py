"""Gates on the command line: their options, their outcomes, and the files that outcomes are written to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulescore.cli.output import tell
from rulescore.errors import Source, Span, refuse

if TYPE_CHECKING:
    # Loading these takes longer than `--help` may.
    from rulescore.scoring.evaluation import Evaluation
    from rulescore.scoring.gate_outcomes import Outcome
    from rulescore.scoring.gates import Gate
    from rulescore.session.session import Session
    from rulescore.setting.model import GateText

fail_if_option = click.option(
    "--fail-if",
    multiple=True,
    metavar="GATE",
    help='Exit with code 1 if this is true of a model: "hard > 0", "violating > 1%", "worse than result.json by 5%".',
)
_FILE = click.Path(dir_okay=False, path_type=Path)
junit_option = click.option("--junit", type=_FILE, metavar="FILE", help="Write the outcomes of the gates as JUnit XML.")
summary_option = click.option("--summary", type=_FILE, metavar="FILE", help="Write a short summary as Markdown, for a build page.")


def given_gates(project: Sequence[GateText], options: Sequence[str] = (), junit: Path | None = None) -> tuple[Gate, ...]:
    """The gates of the project file and of `--fail-if`: the option adds gates and removes none."""
    if not project and not options:
        if junit is not None:
            raise click.UsageError("`--junit` writes the outcomes of gates, and there are no gates: give `--fail-if`")
        return ()
    from rulescore.scoring.gates import read_gates
    from rulescore.setting.model import GateText

    further = (GateText(text, Span(Source("--fail-if", text), 0, len(text))) for text in options)
    return read_gates([*project, *further])


def refuse_unknown(gates: Sequence[Gate], session: Session, *, of_data: bool = False) -> None:
    """Raises an error before we count, for a gate that names an unknown rule or model. `of_data`: gates of an audit, which has no
    models."""
    if not gates:
        return
    from rulescore.scoring.gates import data_gate_problems, gate_problems

    rules = [rule.name for rule in session.rules]
    refuse(data_gate_problems(gates, rules) if of_data else gate_problems(gates, rules, list(session.predictions)))


def read_baselines(gates: Sequence[Gate]) -> dict[str, Evaluation]:
    """Reads the saved results that gates compare with, before we count."""
    if not gates:
        return {}
    from rulescore.reporting.gates import saved_results

    return saved_results(gates)


def judged(gates: Sequence[Gate], evaluation: Evaluation, baselines: Mapping[str, Evaluation] | None) -> tuple[Outcome, ...]:
    """The outcome of each gate for each model or, without `baselines`, for the data."""
    if not gates:
        return ()
    from rulescore.scoring.gate_outcomes import judge, judge_data

    return judge_data(gates, evaluation) if baselines is None else judge(gates, evaluation, baselines)


def write_reports(
    outcomes: Sequence[Outcome], evaluation: Evaluation, session: Session, junit: Path | None, summary: Path | None
) -> None:
    if junit is None and summary is None:
        return
    from rulescore.reporting.files import write_files
    from rulescore.reporting.gates import render_junit, render_summary, verdicts

    judgements = verdicts(outcomes, evaluation, session)
    if junit is not None:
        write_files(junit.parent, {junit.name: render_junit(judgements)})
    if summary is not None:
        write_files(summary.parent, {summary.name: render_summary(evaluation, judgements)})


def conclude(outcomes: Sequence[Outcome]) -> None:
    """Prints a line for each gate and model, and ends the program with exit code 1 if a model fails a gate that does not only
    warn."""
    if not outcomes:
        return
    from rulescore.reporting.gates import told

    for outcome in outcomes:
        tell(told(outcome))
    if any(outcome.fails for outcome in outcomes):
        raise click.exceptions.Exit(1)
