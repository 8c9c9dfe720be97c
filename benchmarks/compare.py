"""What got slower, larger or steeper between two kept results of whole.py by more than noise.

    python benchmarks/compare.py OLD NEW

A run takes more if its least is above the old greatest, and the medians differ by more than a tenth. Growth is steeper if its
exponent is larger by more than a tenth. Exit code 1 if anything is worse.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from measure import spread
from printing import Table, show

MEASURES = {"wall": "wall s", "processor": "processor s", "memory": "peak memory"}
NOISE = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    given = parser.parse_args()
    old, new = (json.loads(path.read_text()) for path in (given.old, given.new))
    _show_circumstances(old, new)
    runs: Table = [("command", "measure", "now / before", ""), *_runs(old, new)]
    growth: Table = [("growth with", "measure", "before", "now", ""), *_growth(old, new)]
    show(runs)
    show(growth)
    for name in sorted({*old["runs"]} ^ {*new["runs"]}):
        print(f"only {'before' if name in old['runs'] else 'now'}: {name}")
    sys.exit(any(row[-1] in ("more", "steeper") for row in (*runs, *growth)))


def _show_circumstances(old: dict[str, Any], new: dict[str, Any]) -> None:
    for part in ("machine", "versions"):
        for name in old[part]:
            if old[part][name] != new[part].get(name):
                print(f"{name}: {old[part][name]} before, {new[part].get(name)} now")


def _runs(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for name in (name for name in old["runs"] if name in new["runs"]):
        for measure, title in MEASURES.items():
            before, now = ([run[measure] for run in result["runs"][name]] for result in (old, new))
            yield name, title, f"{spread(now).middle / spread(before).middle:.2f}", verdict(before, now)


def verdict(before: Sequence[float], now: Sequence[float]) -> str:
    ratio = spread(now).middle / spread(before).middle
    if min(now) > max(before) and ratio > 1 + NOISE:
        return "more"
    return "less" if max(now) < min(before) and ratio < 1 / (1 + NOISE) else ""


def _growth(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The exponents between the largest sizes of a series; results of former times have none."""
    before, now = (result.get("exponents", {}) for result in (old, new))
    for title in (title for title in before if title in now):
        for measure, exponents in before[title].items():
            was, found = exponents[-1], now[title][measure][-1]
            told = "steeper" if found > was + NOISE else "flatter" if found < was - NOISE else ""
            yield title, MEASURES[measure], f"{was:.2f}", f"{found:.2f}", told


if __name__ == "__main__":
    main()
