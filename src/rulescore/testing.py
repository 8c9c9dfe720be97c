"""For tests of models: an assertion whose message is the summary of what went wrong."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from rulescore.arguments.project import project_gates
from rulescore.arguments.project_file import read_project
from rulescore.errors import Diagnostic, InputError, RulescoreWarning
from rulescore.reporting.gates import saved_results, told, verdicts
from rulescore.reporting.summary import render_summary
from rulescore.result import Result, kind_of
from rulescore.scoring.gate_outcomes import judge
from rulescore.scoring.gates import Gate, gate_problems, parse_gate, read_gates
from rulescore.setting.gates import GateSeverity

__all__ = ["assert_complies"]


def assert_complies(
    result: Result,
    *gates: str,
    warn_if: str | Sequence[str] = (),
    project: str | Path | None = None,
    models: str | Sequence[str] | None = None,
) -> None:
    """Raises AssertionError if a model of the result does not meet a gate, such as `"hard > 0"`; the message is a summary with the
    worst rules and a row of each. Rows are read from the data again; a result that was loaded from a file has none.

    `warn_if`: gates that only warn. `project`: a project file whose gates count as well. `models`: those that `gates` and `warn_if`
    are for, all unless given."""
    __tracebackhide__ = True
    if not isinstance(result, Result):
        example = f'rulescore.load_result("{result}")' if isinstance(result, str | Path) else "rulescore.score(…)"
        raise InputError(_wrong("result", result, "a result", f"give what `{example}` gives"))
    for gate in gates:
        if not isinstance(gate, str):
            texts = ", ".join(f'"{one}"' for one in gate) if isinstance(gate, list | tuple) else '"hard > 0"'
            raise InputError(_wrong("gates", gate, "a text", f"give every gate by itself: `assert_complies(result, {texts})`"))
    given = _gates(gates, _texts("warn_if", warn_if), project, None if models is None else _texts("models", models))
    if problems := gate_problems(
        given, [rule.info.name for rule in result.rule_results], [one.name for one in result.model_results]
    ):
        raise InputError(problems)
    outcomes = judge(given, result, saved_results(given))
    for outcome in outcomes:
        if not outcome.met and not outcome.fails:
            warnings.warn(told(outcome), RulescoreWarning, stacklevel=2)
    if any(outcome.fails for outcome in outcomes):
        knows_data = result.setting is not None or (result.opened is not None and result.opened.is_open)
        with result.session() if knows_data else nullcontext() as session:
            summary = render_summary(result, verdicts(outcomes, result, session))
        raise AssertionError(summary)


def _wrong(argument: str, given: object, wanted: str, help: str) -> Diagnostic:
    return Diagnostic("E543", f"`{argument}` has {kind_of(given)} where {wanted} is needed", helps=(help,))


def _texts(argument: str, given: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise InputError(_wrong(argument, given, "a text, or a list of texts,", f'write `{argument}=["…"]`'))
    return tuple(given)


def _gates(
    gates: tuple[str, ...], warned: tuple[str, ...], project: str | Path | None, models: tuple[str, ...] | None
) -> tuple[Gate, ...]:
    found = (
        *(() if project is None else read_gates(project_gates(read_project(Path(project))))),
        *(parse_gate(text, models=models) for text in gates),
        *(parse_gate(text, severity=GateSeverity.WARN, models=models) for text in warned),
    )
    if not found:
        helps = ('say what fails: `assert_complies(result, "hard > 0")`, or name a project file that has `gates`',)
        raise InputError(Diagnostic("E523", "there is no gate to comply with", helps=helps))
    return found
