"""Dependencies discovered in a table: beside Desbordante, which looks for exact and approximate functional dependencies.

`python benchmarks/discover_tables.py` needs the hospital data that lie beside the repository, pandas, and Desbordante from PyPI
(`pip install desbordante`, which is not a dependency). Both get the same rows, with missing values as a text of their own. The
dependencies of one column must be the same; processor seconds stand beside each other.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import pandas
import pyarrow as pa

import rulescore
from printing import Table, show
from rulescore.arguments.python import make_setting
from rulescore.discovery.model import DiscoverOptions, Form
from rulescore.discovery.table_dependencies import agreements
from rulescore.discovery.table_rows import rows_of_tables
from rulescore.discovery.table_search import searched, shuffled
from rulescore.engines.base import connect
from rulescore.setting.options import EngineOptions
from whole import RESULTS, environment

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "hospital" / "dirty.csv.gz"
ERROR = 0.01
"""The share of all pairs of rows that may break a dependency: the measure g1."""

Dependencies = set[tuple[str, str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="a table of text, as CSV")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}/")
    options = parser.parse_args()
    frame = pandas.read_csv(options.data, dtype=str).fillna("none")
    frame = frame[[name for name in frame.columns if frame[name].nunique() > 1]]
    table: Table = [(f"{len(frame):,} rows, {len(frame.columns)} columns", "processor s, each round", "found")]
    runs = {
        "Desbordante: Tane, one column": desbordante_s,
        "ours: counts of one column": ours,
        "ours: discover, all of it": discovered,
    }
    found: dict[str, set[tuple[str, str]]] = {}
    seconds: dict[str, list[float]] = {}
    for name, run in runs.items():
        for _ in range(options.rounds):
            start = time.process_time()
            found[name] = run(frame)
            seconds.setdefault(name, []).append(time.process_time() - start)
        table.append((name, " ".join(f"{spent:.2f}" for spent in seconds[name]), f"{len(found[name]):,}"))
    show(table)
    theirs, mine, _ = found.values()
    print(f"broken by {ERROR} of all pairs at most: {len(theirs):,} of Desbordante, {len(mine):,} of ours")
    print(f"not among ours: {len(theirs - mine):,}; not among Desbordante's: {len(mine - theirs):,}")
    if options.save:
        counted = {name: len(dependencies) for name, dependencies in found.items()}
        kept = {**environment(), "processor seconds": seconds, "found": counted, "rows": len(frame), "columns": len(frame.columns)}
        (RESULTS / "discover-tables.json").write_text(json.dumps(kept, indent=2) + "\n")
    if theirs != mine:
        sys.exit(1)


def desbordante_s(frame: pandas.DataFrame) -> Dependencies:
    import desbordante

    algorithm = desbordante.afd.algorithms.Tane()
    algorithm.load_data(table=frame)
    algorithm.execute(error=ERROR, max_lhs=1)
    names = list(frame.columns)
    pairs = ((one.lhs_indices, one.rhs_index) for one in algorithm.get_fds())
    return {(names[lhs[0]], names[rhs]) for lhs, rhs in pairs if len(lhs) == 1}


def ours(frame: pandas.DataFrame) -> Dependencies:
    setting = make_setting(None, tables={"t": rulescore.Table(_keyed(frame), key="row")})
    (rows,) = rows_of_tables(setting)
    engine = connect(EngineOptions())
    search = searched(engine, rows, shuffled(rows, 0), DiscoverOptions())
    tried = [((first,), decided) for first in search.columns for decided in search.columns if first is not decided]
    most = ERROR * len(frame) * (len(frame) - 1)
    counted = agreements(search, tried).items()
    kept = {(first.attribute, decided.attribute) for ((first, *_), decided), one in counted if one.pairs - one.agreeing <= most}
    engine.close()
    return kept


def discovered(frame: pandas.DataFrame) -> Dependencies:
    """Those of one column or two, and all that is done to choose and audit them."""
    options = {"forms": (Form.DEPENDENCY.value,), "everything": True}
    found = rulescore.discover(None, tables={"t": rulescore.Table(_keyed(frame), key="row")}, **options).discovery  # type: ignore[arg-type]
    return {tuple(rule.text.split(" <- ")) for rule in (*found.rules, *found.left_out)}  # type: ignore[misc]


def _keyed(frame: pandas.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame.assign(row=range(len(frame))), preserve_index=False)


if __name__ == "__main__":
    main()
