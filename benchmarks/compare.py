"""What got slower, or larger, between two kept results of whole.py by more than noise.

    python benchmarks/compare.py OLD NEW

A command is slower if its fastest new run is slower than its slowest old one. Exit code 1 if one is.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from measure import spread
from printing import Table, show

MEASURES = {"wall": "wall s", "processor": "processor s", "memory": "peak memory"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    given = parser.parse_args()
    old, new = (json.loads(path.read_text()) for path in (given.old, given.new))
    for part in ("machine", "versions"):
        for name in old[part]:
            if old[part][name] != new[part].get(name):
                print(f"{name}: {old[part][name]} before, {new[part].get(name)} now")
    table: Table = [("command", "measure", "now / before", "")]
    worse = False
    for name in (name for name in old["runs"] if name in new["runs"]):
        for measure, title in MEASURES.items():
            before, now = ([run[measure] for run in result["runs"][name]] for result in (old, new))
            verdict = "more" if min(now) > max(before) else "less" if max(now) < min(before) else ""
            worse = worse or verdict == "more"
            table.append((name, title, f"{spread(now).middle / spread(before).middle:.2f}", verdict))
    show(table)
    sys.exit(worse)


if __name__ == "__main__":
    main()
