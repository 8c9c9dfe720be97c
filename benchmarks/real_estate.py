"""Made-up property sales of the size of a register that is not public: 392,809 sales in 13 tables of 4.8 million rows; 2,213 prices
are hidden. One seed makes the same files again.

Writes Parquet tables, four proximity rules, the predictions of two models and a project file into a folder.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "real-estate"
sys.path.append(str(EXAMPLE))

from dvf import make_register, write_parquet  # noqa: E402  # the example has the tables
from layout import PARQUET, register_project, write_project  # noqa: E402
from market import SIZES, Size  # noqa: E402
from regressors import group_median, truth  # noqa: E402


def make(folder: Path, scale: float = 1.0, seed: int = 1) -> int:
    """Writes everything, and tells how many rows there are. Postal codes grow with the sales, so that groups keep their size."""
    full = SIZES["full"]
    size = Size(*(max(1, round(scale * number)) for number in (full.sales, full.hidden, full.postal_codes)))
    register = make_register(size, np.random.default_rng(seed))
    write_parquet(register, folder / "tables")
    predictions = {"group-median": group_median(register.sales), "truth": truth(register.sales)}
    write_project(folder, register.sales, predictions, register_project(PARQUET))
    return register.tuples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where everything is written")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of the full size, such as 0.01")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not 0 < options.scale <= 100:
        parser.error("the scale lies between 0 and 100")
    rows = make(options.folder, options.scale, options.seed)
    print(f"{rows:,} rows in 13 tables: {options.folder / 'rulescore.toml'}")


if __name__ == "__main__":
    main()
