"""What a user waits for: whole runs of the command line, from the start of the process to its last line."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

import rulescore
from measure import Spread, ratios, spread
from printing import MEBIBYTE, Table, Target, show, show_targets, spread_text
from workload import SHARED

RESULTS = Path(__file__).with_name("results") / "whole.json"
FEW, MANY = 4_000, 100_000
SEED = 1


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds on the wall and of the processor, and the peak of memory in bytes."""

    wall: float
    processor: float
    memory: int


def main() -> None:
    options = _options()
    if not (SHARED / "anyburl").is_dir():
        sys.exit("whole.py: needs the graphs, rules and predictions that lie beside the repository")
    with tempfile.TemporaryDirectory() as temporary:
        commands = _commands(Path(temporary))
        found: dict[str, list[Run]] = {name: [] for name in commands}
        for turn in range(options.rounds):
            for name, command in commands.items():
                print(f"round {turn + 1} of {options.rounds}: {name}", file=sys.stderr, flush=True)
                found[name].append(measured(command))
    table: Table = [("command", "wall s", "processor s", "peak MiB")]
    for name, runs in found.items():
        table.append((name, spread_text(_wall(runs)), spread_text(spread([one.processor for one in runs])), _memory(runs)))
    show(table)
    print()
    show_targets(_targets(found))
    if options.save:
        RESULTS.write_text(json.dumps(_kept(found), indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds")
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}")
    return parser.parse_args()


def _commands(folder: Path) -> dict[str, list[str]]:
    facts = ("--facts", str(SHARED / "fb15k-237" / "train.txt.gz"))
    (folder / "incompatible.rules").write_text("extract incompatible.\n")
    refuted = ("--rules", str(folder / "incompatible.rules"))
    with gzip.open(SHARED / "anyburl" / "fb15k-237.rules.100k.gz", "rt", encoding="utf-8") as lines:
        mined = lines.readlines()
    few = random.Random(SEED).sample(mined, FEW)
    chains = [line for line in mined if line.count("(") > 3]
    for name, rules in (("few", few), ("many", mined), ("chains", chains)):
        (folder / f"{name}.rules").write_text("".join(rules), encoding="utf-8")
    model = f"compgcn={SHARED / 'predictions' / 'fb15k-237-compgcn.tsv.gz'}"
    clauses = ("--rules", str(SHARED / "fb15k-237" / "rules.mln.txt"))

    def audited(name: str) -> list[str]:
        return ["audit", *facts, "--rules", str(folder / f"{name}.rules"), *refuted, "--format", "csv"]

    return {
        "--version": ["--version"],
        SCORED: ["score", *facts, *clauses, *refuted, "--predictions", model, "--format", "json"],
        AUDITED_FEW: audited("few"),
        AUDITED_MANY: audited("many"),
        f"audit of its {len(chains):,} chains of three atoms": audited("chains"),
    }


SCORED = "score of 509 rules, one model"
AUDITED_FEW = f"audit of {FEW:,} mined rules"
AUDITED_MANY = f"audit of {MANY:,} mined rules"


def measured(command: Sequence[str]) -> Run:
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "rulescore", *command, *(["--quiet"] if command != ["--version"] else [])], stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"whole.py: {' '.join(command)} exited with {process.returncode}")
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def _wall(runs: Sequence[Run]) -> Spread:
    return spread([one.wall for one in runs])


def _memory(runs: Sequence[Run]) -> str:
    return f"{max(one.memory for one in runs) / MEBIBYTE:,.0f}"


def _targets(found: dict[str, list[Run]]) -> list[Target]:
    few, many = found[AUDITED_FEW], found[AUDITED_MANY]
    growth = ratios([one.wall for one in many], [one.wall for one in few])
    return [
        Target(f"{SCORED}, s", _wall(found[SCORED]), 1.5),
        Target(f"{AUDITED_MANY}, s", _wall(many), 40),
        Target(f"{AUDITED_MANY}, times {FEW:,}", growth, 25),
        Target(f"{AUDITED_MANY}, GiB", spread([one.memory / 2**30 for one in many]), 3),
    ]


def _kept(found: dict[str, list[Run]]) -> dict[str, object]:
    return {
        "machine": {"cores": os.cpu_count(), "system": platform.system(), "processor": platform.machine()},
        "versions": {
            "rulescore": rulescore.__version__,
            "python": platform.python_version(),
            "duckdb": duckdb.__version__,
            "pyarrow": pa.__version__,
        },
        "runs": {name: [asdict(one) for one in runs] for name, runs in found.items()},
    }


if __name__ == "__main__":
    main()
