"""Intervals from contributions alone: 1,000 draws over 20,000 predictions and 500 rules."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from made_results import Rows, made_result
from measure import spread
from printing import Table, Target, show, show_targets, spread_text
from rulescore.comparison.comparing import compare
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import Counts

PREDICTIONS = 20_000
RULES = 500
DRAWS = 1_000
RULES_EACH = (3, 10, 30)
MODELS = ("careful", "careless")
LIMIT = 1.0
RESULTS = Path(__file__).with_name("results") / "comparison.json"

Seconds = dict[str, list[float]]


def main() -> None:
    options = _options()
    some = {_named(rules_each, models): made(rules_each, models) for rules_each in RULES_EACH for models in (MODELS[:1], MODELS)}
    found: dict[str, Seconds] = {name: {"wall": [], "processor": []} for name in some}
    for turn in range(options.rounds):
        print(f"round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
        for name, result in some.items():
            wall, processor = perf_counter(), process_time()
            compare(result, draws=DRAWS)
            found[name]["wall"].append(perf_counter() - wall)
            found[name]["processor"].append(process_time() - processor)
    table: Table = [("what is compared", "contributions", "wall s", "processor s")]
    for name, seconds in found.items():
        cells = [spread_text(spread(seconds[clock])) for clock in ("wall", "processor")]
        table.append((name, f"{len(some[name].contributions):,}", *cells))
    show(table)
    busy = {name: spread(seconds["processor"]) for name, seconds in found.items()}
    # Of 20,000 predictions: two models have twice as many.
    show_targets([Target(f"{name}, processor s", busy[name], LIMIT) for name, one in some.items() if len(one.model_results) == 1])
    if options.save:
        kept = {name: {"seconds": seconds, "processor": asdict(busy[name])} for name, seconds in found.items()}
        sizes = {"predictions": PREDICTIONS, "rules": RULES, "draws": DRAWS}
        RESULTS.write_text(json.dumps({**sizes, "compared": kept}, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds")
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}")
    return parser.parse_args()


def _named(rules_each: int, models: Sequence[str]) -> str:
    return f"{'one model' if len(models) == 1 else 'two models'}, {rules_each} rules a prediction"


def made(rules_each: int, models: Sequence[str]) -> Evaluation:
    """Half of the rules are hard: the data never contradict them."""
    dataset = [Counts(950, 50, 1000) if number % 2 else Counts(1000, 0, 1000) for number in range(RULES)]
    return made_result(dataset, {name: _rows(rules_each, name) for name in models}, PREDICTIONS, PREDICTIONS)


def _rows(rules_each: int, model: str) -> Rows:
    """Predictions that take part in some rules each, one in twenty of which they violate."""
    random = np.random.default_rng(MODELS.index(model))
    length = PREDICTIONS * rules_each
    evaluable = random.integers(1, 5, length)
    first = np.repeat(random.integers(0, RULES, PREDICTIONS), rules_each)
    return {
        "prediction": np.repeat(np.arange(PREDICTIONS), rules_each),
        "query": np.repeat(np.arange(PREDICTIONS), rules_each),
        "rule": (first + np.tile(np.arange(rules_each), PREDICTIONS)) % RULES,
        "evaluable": evaluable,
        "refuted": random.binomial(evaluable, 0.05),
    }


if __name__ == "__main__":
    main()
