"""Prices of property sales: four proximity rules, two regressors, and what accuracy does not say about them.

Makes up sales in the tables of DVF+, or takes those of a file, hides the prices of some, predicts them, and scores the predictions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dvf import make_register, write_database, write_parquet
from layout import PARQUET, SLICE_PROJECT, register_project, write_project
from market import SIZES
from regressors import Prices, group_median, neighbours, ridge, truth
from sales import Sales, read_slice, write_slice

MODELS: dict[str, Callable[[Sales], Prices]] = {
    "ridge": ridge,
    "neighbours": neighbours,
    "group-median": group_median,
    "truth": truth,
}


def main() -> None:
    options = _options()
    folder: Path = options.out
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(options.seed)
    if options.sales:
        sales, project = _lay_out_slice(folder, options.sales, random)
    else:
        sales, project = _lay_out_register(folder, options, random)
    print(f"{len(sales.ids):,} sales, {len(sales.labels):,} of them with a hidden price\n")
    predictions = {name: model(sales) for name, model in MODELS.items()}
    write_project(folder, sales, predictions, project)
    trust = " --trust" if "\ndatabase = " in project else ""
    print(f"Type next: rulescore score{trust} {folder}/rulescore.toml")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("real-estate"), help="where data and project file are written")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", choices=SIZES, default="small", help="how many sales are made up")
    parser.add_argument("--database", action="store_true", help="write one DuckDB database, not Parquet files")
    parser.add_argument(
        "--sales", type=Path, help="a Parquet file of real sales: id, type, postal_code, year, price, surface, n_outbuildings"
    )
    options = parser.parse_args()
    if options.sales and not options.sales.is_file():
        parser.error(f"there is no file `{options.sales}`")
    return options


def _lay_out_register(folder: Path, options: argparse.Namespace, random: np.random.Generator) -> tuple[Sales, str]:
    register = make_register(SIZES[options.size], random)
    print(f"{len(register.tables)} tables, {register.tuples:,} rows")
    if options.database:
        write_database(register, folder / "dvf.duckdb")
        return register.sales, register_project('database = "dvf.duckdb"\ntable = "{name}"')
    write_parquet(register, folder / "tables")
    return register.sales, register_project(PARQUET)


def _lay_out_slice(folder: Path, path: Path, random: np.random.Generator) -> tuple[Sales, str]:
    write_slice(path, folder / "slice.duckdb")
    return read_slice(path, random), SLICE_PROJECT


if __name__ == "__main__":
    main()
