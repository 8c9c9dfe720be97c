"""For tests of models: an assertion whose message sums up what went wrong."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from rulescore.arguments.project import project_gates
from rulescore.arguments.project_file import read_project
from rulescore.errors import Diagnostic, InputError, RulescoreWarning
from rulescore.reporting.gates import render_summary, saved_results, told, verdicts
from rulescore.scoring.gate_outcomes import judge
from rulescore.scoring.gates import Gate, gate_problems, parse_gate, read_gates
from rulescore.session.result import Result, kind_of
from rulescore.setting.choices import GateSeverity

__all__ = ["assert_complies"]


def assert_complies(
    result: Result,
    *gates: str,
    warn_if: str | Sequence[str] = (),
    project: str | Path | None = None,
    models: str | Sequence[str] | None = None,
) -> None:
    """Fails a test if a model of the result does not meet a gate. The message is a summary with the worst rules.

    Args:
        result: what `rulescore.score` or `rulescore.load_result` returns.
        *gates: conditions that must not hold, such as `"hard > 0"`, each as its own argument.
        warn_if: gates that only warn.
        project: a project file whose gates count as well.
        models: the models that `gates` and `warn_if` are for; all unless given.

    Raises:
        AssertionError: a model does not meet a gate. For each of the worst rules, the summary shows a row that breaks it. A result
            that was loaded from a file shows no rows, since we read them from the data.
        InputError: a gate is not understood, names a rule or model that does not exist, or there is no gate at all.
    """
    __tracebackhide__ = True
    if not isinstance(result, Result):
        example = f'rulescore.load_result("{result}")' if isinstance(result, str | Path) else "rulescore.score(…)"
        raise InputError(_wrong("result", result, "a result", f"give what `{example}` gives"))
    for gate in gates:
        if not isinstance(gate, str):
            texts = ", ".join(f'"{text}"' for text in gate) if isinstance(gate, list | tuple) else '"hard > 0"'
            raise InputError(_wrong("gates", gate, "a text", f"give each gate alone: `assert_complies(result, {texts})`"))
    asked = _gates(gates, _texts("warn_if", warn_if), project, None if models is None else _texts("models", models))
    if problems := gate_problems(
        asked, [rule.info.name for rule in result.rule_results], [model.name for model in result.model_results]
    ):
        raise InputError(problems)
    outcomes = judge(asked, result, saved_results(asked))
    for outcome in outcomes:
        if not outcome.met and not outcome.fails:
            warnings.warn(told(outcome), RulescoreWarning, stacklevel=2)
    if any(outcome.fails for outcome in outcomes):
        knows_data = result.setting is not None or (result.opened is not None and result.opened.is_open)
        with result.session() if knows_data else nullcontext() as session:
            summary = render_summary(result, verdicts(outcomes, result, session))
        raise AssertionError(summary)


def _wrong(argument: str, value: object, wanted: str, help: str) -> Diagnostic:
    return Diagnostic("E512", f"`{argument}` has {kind_of(value)} where {wanted} is needed", helps=(help,))


def _texts(argument: str, texts: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(texts, str):
        return (texts,)
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise InputError(_wrong(argument, texts, "a text, or a list of texts,", f'write `{argument}=["…"]`'))
    return tuple(texts)


def _gates(
    gates: tuple[str, ...], warned: tuple[str, ...], project: str | Path | None, models: tuple[str, ...] | None
) -> tuple[Gate, ...]:
    all_gates = (
        *(() if project is None else read_gates(project_gates(read_project(Path(project))))),
        *(parse_gate(text, models=models) for text in gates),
        *(parse_gate(text, severity=GateSeverity.WARN, models=models) for text in warned),
    )
    if not all_gates:
        helps = ('say what fails: `assert_complies(result, "hard > 0")`, or name a project file that has `gates`',)
        raise InputError(Diagnostic("E404", "there is no gate to comply with", helps=helps))
    return all_gates
