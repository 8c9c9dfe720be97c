"""Many calls in one process: memory, threads, descriptors and temporary files stay as they are.

    python tests/soak.py --calls 1000

scores, audits, lists violations, saves and loads, on small data; every fifth call fails, in one of several ways. Prints what the
process holds every so often, and ends with 1 if it has grown after the first tenth of the calls.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from random import Random

import rulescore

RULES = """closed p.
p(X, Y) <- q(X, Y).
aunt: p(X, Z) <- q(X, Y), q(Y, Z).
p(X, Y) or X = Y <- q(X, Y), r(X, N), N > 3.
false <- p(X, Y), q(Y, X).
"""
GROWTH = 30.0
"""Megabytes that may come on top after the first calls; each call reads a megabyte or so."""


@dataclass(frozen=True)
class Held:
    """What a process holds: megabytes, threads, descriptors, files in its temporary folder."""

    memory: float
    threads: int
    descriptors: int
    files: int


def held(temporary: Path) -> Held:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    threads, descriptors = (sum(1 for _ in Path(f"/proc/self/{name}").iterdir()) for name in ("task", "fd"))
    return Held(memory, threads, descriptors, sum(1 for _ in temporary.rglob("*")))


def facts(seed: int, number: int = 300) -> list[tuple[object, ...]]:
    random = Random(seed)
    rows = [(f"e{random.randrange(60)}", random.choice("pq"), f"e{random.randrange(60)}") for _ in range(number)]
    return [*rows, *((f"e{i}", "r", i) for i in range(20))]


def calls(folder: Path, engine: str) -> list[Callable[[int], object]]:
    def given(seed: int) -> tuple[object, object, str]:
        return facts(seed), {"m": facts(seed + 1, 40)[:40], "n": facts(seed + 2, 20)[:20]}, RULES

    def opened(seed: int) -> object:
        with rulescore.open(*given(seed), engine=engine) as session:
            session.score()
            session.audit()
            return session.violations(model="m")

    def saved(seed: int) -> object:
        rulescore.score(*given(seed), engine=engine).save(folder / "result.json")
        return rulescore.load_result(folder / "result.json").to_text()

    def from_files(seed: int) -> object:
        (folder / "facts.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in facts(seed)))
        return rulescore.score(
            rulescore.FactFile(folder / "facts.tsv", header=False),
            {"m": facts(seed + 1, 40)[:40]},
            RULES.replace("N > 3", "N != X"),
            engine=engine,
        )

    def failing(seed: int) -> object:
        wrong: list[Callable[[], object]] = [
            lambda: rulescore.score(facts(seed), {}, "p(X, Y <- q(X, Y)."),
            lambda: rulescore.score(facts(seed), {"m": facts(seed)}, "p(X, Z) <- q(X, Y).", engine=engine),
            lambda: rulescore.score(folder / "missing.tsv", {}, RULES, engine=engine),
            lambda: rulescore.score([("a", "p")], {}, RULES, engine=engine),
            lambda: rulescore.score(facts(seed), {"m": [("a", "nothing")]}, RULES, engine=engine),
            lambda: rulescore.violations(*given(seed), model="nobody", engine=engine),
            lambda: rulescore.score(facts(seed), {}, RULES, threads=10**9),
        ]
        with suppress(rulescore.RulescoreError):
            return wrong[seed % len(wrong)]()
        return None

    return [
        lambda seed: rulescore.score(*given(seed), engine=engine),
        lambda seed: rulescore.audit(facts(seed), RULES, engine=engine),
        opened,
        failing,
        saved,
        from_files,
        lambda seed: rulescore.violations(*given(seed), model="n", engine=engine),
        lambda seed: rulescore.score(*given(seed), engine=engine, convention="definition", contributions=True),
        failing,
        lambda seed: rulescore.violations(*given(seed), dataset=True, engine=engine),
    ]


def soak(number: int, engine: str = "duckdb", told: Callable[[int, Held], None] = lambda done, now: None) -> tuple[Held, Held]:
    """What the process holds after a tenth of the calls, and after all of them."""
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder, temporary = Path(name) / "work", Path(name) / "temporary"
        folder.mkdir()
        temporary.mkdir()
        before, tempfile.tempdir = tempfile.tempdir, str(temporary)
        try:
            ways = calls(folder, engine)
            first = now = held(temporary)
            for done in range(1, number + 1):
                ways[done % len(ways)](done)
                if done == number // 10:
                    first = held(temporary)
                if done % max(1, number // 10) == 0:
                    now = held(temporary)
                    told(done, now)
        finally:
            tempfile.tempdir = before
    return first, now


def grown(first: Held, last: Held) -> list[str]:
    found = [
        f"{what}: {before} before, {after} after"
        for what, before, after in zip(("threads", "descriptors", "files"), astuple(first)[1:], astuple(last)[1:], strict=True)
        if after > before
    ]
    if last.memory > first.memory + GROWTH:
        found.append(f"memory: {first.memory:.0f} MB before, {last.memory:.0f} MB after")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--engine", default="duckdb")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = grown(*soak(given.calls, given.engine, lambda done, now: print(f"{done:,} calls: {now}", flush=True)))
    print("\n".join(found) or "nothing has grown")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
