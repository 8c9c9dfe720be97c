"""Facts that lie in a table of a PostgreSQL server, scored there in place, beside DuckDB's score of the same facts in a file.

The server and its role are as tests have them: the role may read the table and make temporary ones, and has limits of its own.
Processor seconds are those of all processes, the server's included.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import psycopg

from measure import DifferentCountsError, Spread, ratios, spread
from printing import MEBIBYTE, Table, Target, show, show_targets, spread_text
from whole import RESULTS, Run, environment, measured
from workload import Material, material, write, write_triples

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

COPIES = (4, 16, 59)
LIMIT = 6
ROLE = {"work_mem": "64MB", "temp_file_limit": "20GB", "statement_timeout": "2h"}
"""What the server's owner lets the role take."""

ENGINES = ("DuckDB", "PostgreSQL")
Runs = dict[tuple[int, str], list[Run]]


def main() -> None:
    options = _options()
    from servers.postgres import READER, running_server

    graph, runs = material(), Runs()
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary, running_server() as server:
        for name, value in ROLE.items():
            server.ask(f"ALTER ROLE {READER} SET {name} = '{value}'")
        for copies in options.copies:
            folder = write(Path(temporary) / str(copies), graph, graph.rules)
            write_triples(folder / "facts.tsv", graph.facts, copies)
            _store(server, folder / "facts.tsv", READER)
            _write_projects(folder, server.url())
            for turn in range(options.rounds):
                print(f"{copies * len(graph.facts):,} facts, round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
                _round(server, folder, copies, runs)
    show(_table(graph, runs))
    targets = _targets(graph, runs)
    show_targets(targets)
    if options.save:
        kept_runs = {_name(graph, *key): [asdict(run) for run in of] for key, of in runs.items()}
        kept_targets = [{**asdict(target), "met": target.met} for target in targets]
        kept = {**environment(), "graph": graph.name, "role": ROLE, "runs": kept_runs, "exponents": {}, "targets": kept_targets}
        (RESULTS / "in-place.json").write_text(json.dumps(kept, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, nargs="+", default=COPIES, help="of the facts; 59 are 16 million")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}/")
    return parser.parse_args()


def _store(server: Any, facts: Path, role: str) -> None:
    """The facts as a table that the role may read."""
    with psycopg.connect(server.url(user="postgres"), autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS kg CASCADE")
        connection.execute("CREATE SCHEMA kg")
        connection.execute("CREATE TABLE kg.facts (subject text NOT NULL, predicate text NOT NULL, object text NOT NULL)")
        with connection.cursor() as cursor, cursor.copy("COPY kg.facts FROM STDIN") as copy, facts.open("rb") as file:
            while block := file.read(1 << 20):
                copy.write(block)
        connection.execute("ANALYZE kg.facts")
        connection.execute(f"GRANT USAGE ON SCHEMA kg TO {role}".encode())
        connection.execute(f"GRANT SELECT ON kg.facts TO {role}".encode())


def _write_projects(folder: Path, url: str) -> None:
    common = 'rules = "program.rules"\n[predictions]\nmodel = "predictions.tsv"\n'
    (folder / "DuckDB.toml").write_text(f'{common}[[facts]]\npath = "facts.tsv"\n')
    (folder / "PostgreSQL.toml").write_text(f'{common}[engine]\nurl = "{url}"\n[[facts]]\ndatabase_table = "kg.facts"\n')


def _round(server: Any, folder: Path, copies: int, runs: Runs) -> None:
    """One run on each engine. All counts must be equal."""
    counts = []
    for engine in ENGINES:
        before = _used(server)
        output = folder / f"{engine}.json"
        run = measured(("score", str(folder / f"{engine}.toml"), "--trust", "--format", "json", "--quiet"), output)
        if engine == "PostgreSQL":
            run = replace(run, processor=run.processor + _used(server) - before)
        runs.setdefault((copies, engine), []).append(run)
        rules = json.loads(output.read_bytes())["rules"]
        counts.append([(rule["dataset"], rule["models"]) for rule in rules])
    if counts[0] != counts[1]:
        raise DifferentCountsError(f"{copies} copies: PostgreSQL's counts are not DuckDB's")


def _used(server: Any) -> float:
    """Processor seconds of the server with all sessions that have ended."""
    while server.ask("SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"):
        time.sleep(0.1)
    time.sleep(0.5)  # until the server has waited for the session
    process = (server.data / "postmaster.pid").read_text().split()[0]
    ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _name(graph: Material, copies: int, engine: str) -> str:
    return f"{copies * len(graph.facts):,} facts, {engine}"


def _table(graph: Material, runs: Runs) -> Table:
    table: Table = [("score of 509 rules, one model", "wall s", "processor s", "peak MiB of the client", "load before")]
    for (copies, engine), of in runs.items():
        times = (spread_text(spread([getattr(run, what) for run in of])) for what in ("wall", "processor"))
        peak, load = max(run.memory for run in of) / MEBIBYTE, max(run.load for run in of)
        table.append((_name(graph, copies, engine), *times, f"{peak:,.0f}", f"{load:.0f}"))
    return table


def _targets(graph: Material, runs: Runs) -> list[Target]:
    sizes = sorted({copies for copies, _ in runs})
    used = {key: [run.processor for run in of] for key, of in runs.items()}
    targets = [
        Target(f"{copies * len(graph.facts):,} facts, PostgreSQL / DuckDB, processor seconds", _ratios(used, copies), LIMIT)
        for copies in sizes
    ]
    if len(sizes) > 1:
        before, last = (spread(used[copies, "PostgreSQL"]).middle for copies in sizes[-2:])
        exponent = math.log(last / before) / math.log(sizes[-1] / sizes[-2])
        targets.append(Target("exponent of growth on PostgreSQL", Spread(exponent, exponent, exponent), 1.15))
    return targets


def _ratios(used: dict[tuple[int, str], Sequence[float]], copies: int) -> Spread:
    return ratios(used[copies, "PostgreSQL"], used[copies, "DuckDB"])


if __name__ == "__main__":
    main()
