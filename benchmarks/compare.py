"""How long intervals take: 1,000 draws over 20,000 predictions and 500 rules. Prints wall time and processor time."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from made_results import Rows, made_result
from rulescore.scoring.comparison import compare
from rulescore.scoring.results import Counts


def rows(predictions: int, rules: int, rules_each: int, seed: int) -> Rows:
    """Predictions that take part in some rules each, one in twenty of which they violate."""
    random = np.random.default_rng(seed)
    length = predictions * rules_each
    evaluable = random.integers(1, 5, length)
    return {
        "prediction": np.repeat(np.arange(predictions), rules_each),
        "query": np.repeat(np.arange(predictions), rules_each),
        "rule": (np.repeat(random.integers(0, rules, predictions), rules_each) + np.tile(np.arange(rules_each), predictions))
        % rules,
        "evaluable": evaluable,
        "refuted": random.binomial(evaluable, 0.05),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predictions", type=int, default=20_000)
    parser.add_argument("--rules", type=int, default=500)
    parser.add_argument("--draws", type=int, default=1000)
    chosen = parser.parse_args()
    dataset = [Counts(950, 50, 1000) if number % 2 else Counts(1000, 0, 1000) for number in range(chosen.rules)]
    for rules_each in (3, 10, 30):
        models = {name: rows(chosen.predictions, chosen.rules, rules_each, seed) for seed, name in enumerate("ab")}
        for names in (("a",), ("a", "b")):
            some = {name: models[name] for name in names}
            result = made_result(dataset, some, chosen.predictions, chosen.predictions)
            # One model is compared with itself, so that everything is drawn and nothing is paired.
            other = result if len(names) == 1 else None
            start, busy = perf_counter(), process_time()
            compare(result, other, draws=chosen.draws)
            seconds, busy = perf_counter() - start, process_time() - busy
            what = "one model with itself" if other is not None else "two models"
            size = f"{chosen.predictions:,} predictions in {rules_each} of {chosen.rules} rules each"
            print(f"{what}, {size}: {seconds:.2f} s ({busy:.2f} s busy)")


if __name__ == "__main__":
    main()
