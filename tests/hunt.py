"""Compares the engine with the oracle on as many generated settings as asked for, and goes on after a difference.

    python tests/hunt.py formulas --settings 2000 --seed 7

prints every setting on which they differ, with what differs; `--shrink` stops at the first and makes it small.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

import engine_side
from generate import formulas as formula_strategies
from generate import plain as strategies
from generate import proximity as proximity_strategies
from generate.drawing import Generated
from oracle.writing import write_expression
from rulescore.errors import RulescoreWarning
from targets import TARGETS
from together import Member, expected, is_refusal_to_compute, run_together

BATCH = 50
KINDS: dict[str, Any] = {
    "formulas": lambda: formula_strategies.settings(large_integers=True),
    "proximity": proximity_strategies.settings,
    "plain": strategies.settings,
    "appendix": lambda: strategies.settings(appendix=True),
    "chains": strategies.chains,
    "appendix_chains": lambda: strategies.chains(appendix=True),
    "as_formulas": strategies.settings,
}


def difference(generated: Generated, engine: Any, *, horn: bool) -> str | None:
    """What differs between engine and oracle, in words; None if nothing does."""
    member = Member("", generated.setting, generated.text, generated.arities)
    alone = isinstance(engine, str)
    answers = engine_side.expected(generated.setting) if alone else expected(member)
    try:
        if alone:
            found = engine_side.run(generated.setting, generated.text, engine=engine, horn=horn)
        else:
            found = run_together([member], engine, horn=horn)[""]
    except Exception as error:
        if generated.may_leave_64_bits and is_refusal_to_compute(error):
            return None
        return f"{type(error).__name__}: {error}"
    if found == answers:
        return None
    lines = []
    for one in fields(found):
        mine, other = getattr(found, one.name), getattr(answers, one.name)
        keys = [key for key in {**mine, **other} if mine.get(key) != other.get(key)]
        lines += [f"{one.name} {key}: engine {mine.get(key)}, oracle {other.get(key)}" for key in keys]
    return "\n".join(lines)


def shown(generated: Generated) -> str:
    setting = generated.setting
    lines = [
        generated.text,
        f"observed {engine_side.tables(setting.observed)}",
        f"negatives {engine_side.tables(setting.negatives)}",
    ]
    lines += [f"{model} {sorted(map(engine_side.shown_fact, facts))}" for model, facts in setting.predictions.items()]
    for table in setting.tables:
        lines.append(f"table {table.name} key {table.key} {table.columns}")
        lines += [f"  derived {name} = {write_expression(value)}" for name, value in table.derived]
        lines += [f"  {row}" for row in table.rows]
    lines.append(f"distinct_variables {setting.distinct_variables}, roles {setting.roles}")
    return "\n".join(lines)


def hunt(kind: str, number: int, start: int, *, shrink: bool, engine: Any) -> Counter[str]:
    """In batches: hypothesis varies what it has seen, and a new start sees something else."""
    found: Counter[str] = Counter()
    for batch in range(0, number, BATCH):
        hunt_batch(found, kind, min(BATCH, number - batch), start + batch, shrink=shrink, engine=engine)
    return found


def hunt_batch(found: Counter[str], kind: str, number: int, start: int, *, shrink: bool, engine: Any) -> None:
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)

    @seed(start)
    @settings(max_examples=number, deadline=None, database=None, phases=phases, suppress_health_check=list(HealthCheck))
    @given(KINDS[kind]())
    def compare(generated: Generated) -> None:
        found["settings"] += 1
        what = difference(generated, engine, horn=kind != "as_formulas")
        if what is None:
            return
        found["differences"] += 1
        if shrink:
            raise AssertionError(f"{shown(generated)}\n{what}")
        print(f"{shown(generated)}\n{what}\n{'-' * 80}", flush=True)

    compare()


@contextmanager
def _running(engine: str) -> Iterator[Any]:
    """An engine of targets.py by its name, started for the hunt; any other is an address."""
    if engine not in TARGETS:
        yield engine
        return
    with TARGETS[engine].start() as started:
        yield TARGETS[engine].engine(started)


def main() -> int:
    warnings.simplefilter("ignore", RulescoreWarning)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--settings", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument(
        "--engine", default="duckdb", metavar="ENGINE", help=f"an address, or one of {', '.join(TARGETS)}, which is started"
    )
    chosen = parser.parse_args()
    with _running(chosen.engine) as engine:
        found = hunt(chosen.kind, chosen.settings, chosen.seed, shrink=chosen.shrink, engine=engine)
    print(f"{found['settings']} settings, {found['differences']} differences", file=sys.stderr)
    return 1 if found["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
