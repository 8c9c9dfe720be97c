"""Dataset rates by other means: the published method on two databases, what a user would write by hand, Logica, pandas, and the
compiled kernel, beside the package. `--tables` prints kept results, as docs/explanation/performance.md has them."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

from horn import Atom, Rule
from measure import Report, measure, peak_memory, ratios, require_equal, spread
from printing import MEBIBYTE, markdown, spread_text
from published import Stratum, dataset_query, joins, read_sample, sample, write_sample
from workload import Encoded, Row, encode, material, read_rules, row, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

RESULTS = Path(__file__).with_name("results") / "peers.json"
SERVER = "RULESCORE_BENCH_POSTGRES"


@dataclass(frozen=True, slots=True)
class Peer:
    """A way to count, what it is, and the packages whose versions matter."""

    name: str
    does: str
    packages: tuple[str, ...] = ()


PEERS = (
    Peer("published, PostgreSQL", "one query for each rule and each predicate, on PostgreSQL", ("psycopg",)),
    Peer("published, DuckDB", "the same queries on DuckDB", ("duckdb",)),
    Peer("pandas", "one merge after the other for each rule, then one with the facts about the head's arguments", ("pandas",)),
    Peer("query a rule", "one query for each rule, by hand, with the facts about the head's arguments", ("duckdb",)),
    Peer("Logica", "the same query, compiled by Logica for DuckDB", ("logica", "duckdb")),
    Peer("ours, dataset", "this package: rules of one shape are counted together", ("rulescore", "duckdb")),
    Peer("kernel", "compiled loops for one or two binary atoms and nothing else, its index included: a floor", ("numba",)),
)
OURS = "ours, dataset"

Result = dict[str, Any]


def main() -> None:
    options = _options()
    result = json.loads(options.tables.read_text()) if options.tables is not None else _measured(options)
    print(tables(result))
    if options.save:
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")


def _measured(options: argparse.Namespace) -> Result:
    graph = material()
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary, _server() as url:
        os.environ[SERVER] = url
        folder = write(Path(temporary) / "peers", graph, graph.rules)
        expected = {number: _dataset(one) for number, one in measure("kernel", folder).rows.items()}
        rows = [expected[number] for number in range(len(graph.rules))]
        write_sample(folder / "sample.json", sample(graph.rules, rows, size=options.sample))
        runs: dict[str, list[Report]] = {peer.name: [] for peer in PEERS}
        for turn in range(options.rounds):
            for peer in PEERS:
                print(f"round {turn + 1} of {options.rounds}: {peer.name}", file=sys.stderr, flush=True)
                report = measure(peer.name, folder)
                require_equal(peer.name, {number: _dataset(one) for number, one in report.rows.items()}, expected)
                runs[peer.name].append(report)
    return _kept(f"{graph.name}: {len(graph.facts):,} facts, {len(graph.rules):,} rules, dataset rates", len(graph.rules), runs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds")
    parser.add_argument("--sample", type=int, default=2, help="rules of each kind for those that count rule by rule")
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}")
    parser.add_argument("--tables", type=Path, metavar="RESULTS", help="print kept results, and measure nothing")
    return parser.parse_args()


@contextmanager
def _server() -> Iterator[str]:
    from servers.postgres import running_server

    with running_server() as server:
        yield server.url()


def _dataset(one: Row) -> Row:
    return Row(one.confirmed, one.refuted, one.evaluable, 0, 0, 0)


def _kept(facts: str, rules: int, runs: Mapping[str, Sequence[Report]]) -> Result:
    reports = {name: [{"seconds": one.seconds, "peak_memory": one.peak_memory} for one in some] for name, some in runs.items()}
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "versions": _versions()}
    counted = {"rules": rules, "rules_run": {name: len(some[0].rows) for name, some in runs.items()}}
    return {"workload": facts, **machine, **counted, "runs": reports}


def _versions() -> dict[str, str]:
    return {name: version(name) for name in sorted({name for peer in PEERS for name in peer.packages})}


def tables(result: Result) -> str:
    """The workload and the machine, the times, and what each contender is."""
    versions = ", ".join(f"{name} {found}" for name, found in result["versions"].items())
    said = f"{result['workload']}. {result['cores']} cores, Python {result['python']}, {versions}."
    contenders = "\n".join(f"- `{peer.name}`: {peer.does}" for peer in PEERS)
    return "\n\n".join([said, _times(result), contenders])


def _times(result: Result) -> str:
    rules, own = result["rules"], _whole(result["runs"][OURS])

    def row(name: str, runs: Sequence[Result]) -> list[str]:
        run, times = result["rules_run"][name], _whole(runs)
        return [
            name,
            f"{run:,}" if run == rules else f"{run:,}, times for {rules:,}",
            spread_text(spread([one["seconds"]["loading"] for one in runs])),
            spread_text(spread(times)),
            f"{max(one['peak_memory'] for one in runs) / MEBIBYTE:,.0f}",
            spread_text(ratios(times, own)),
        ]

    header = ("", "rules run", "loading s", "counting s", "peak MiB", "times ours")
    return markdown(header, (row(name, runs) for name, runs in result["runs"].items()))


def _whole(runs: Sequence[Result]) -> list[float]:
    """Seconds of counting, and of what a contender builds for it alone."""
    return [run["seconds"].get("index", 0.0) + run["seconds"]["counting"] for run in runs]


# Contenders, each called in a process of its own by worker.py


def count(folder: Path, name: str) -> Report:
    """One of the peers that count rule by rule."""
    started = time.perf_counter()
    data = encode(folder)
    with _COUNTERS[name](data) as counted:
        loaded = time.perf_counter()
        rules, rows, seconds = read_rules(folder), dict[int, Row](), 0.0
        every = Stratum(tuple(range(len(rules))), len(rules))
        for stratum in [every] if name in _ALL_RULES else read_sample(folder / "sample.json"):
            seconds += _run(stratum, rules, counted, rows)
    return Report({"loading": loaded - started, "counting": seconds}, peak_memory(), rows)


Counted = Callable[[Rule], tuple[int, int]]
"""How often the head holds of a rule's groundings, and how often another predicate does."""


def _run(stratum: Stratum, rules: Sequence[Rule], counted: Counted, rows: dict[int, Row]) -> float:
    """The seconds that all rules of this kind would take, by the mean."""
    started = time.perf_counter()
    for number in stratum.members:
        rows[number] = row(*counted(rules[number]), 0, 0)
    return (time.perf_counter() - started) * stratum.population / len(stratum.members)


@contextmanager
def _published_duckdb(data: Encoded) -> Iterator[Counted]:
    from published import Published

    with closing(Published(data)) as database:
        yield database.dataset_counts


@contextmanager
def _published_postgres(data: Encoded) -> Iterator[Counted]:
    import psycopg

    with psycopg.connect(os.environ[SERVER], autocommit=True) as connection:
        connection.execute("SET max_parallel_workers_per_gather = 0")
        predicates = {name: number for number, name in enumerate(data.predicates)}
        entities = {name: number for number, name in enumerate(data.entities)}
        connection.execute("CREATE TEMPORARY TABLE fact (p int, a int, b int)")
        with connection.cursor() as cursor, cursor.copy("COPY fact FROM STDIN") as copy:
            for one in zip(data.facts.predicate.tolist(), data.facts.first.tolist(), data.facts.second.tolist(), strict=True):
                copy.write_row(one)
        for number in predicates.values():
            connection.execute(
                f"CREATE TEMPORARY TABLE observed_{number} AS SELECT a, b FROM fact WHERE p = {number} ORDER BY a, b"
            )
            connection.execute(f"CREATE INDEX ON observed_{number} (a, b)")
            connection.execute(f"CREATE INDEX ON observed_{number} (b, a)")
            connection.execute(f"ANALYZE observed_{number}")

        def one(rule: Rule, evidence: str) -> int:
            found = connection.execute(dataset_query(rule, evidence, predicates, entities)).fetchone()
            assert found is not None
            return int(found[0])

        yield lambda rule: (
            one(rule, rule.head.predicate),
            sum(one(rule, name) for name in predicates if name != rule.head.predicate),
        )


def _one_table(data: Encoded) -> Any:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    facts = pa.table({"p": data.facts.predicate, "a": data.facts.first, "b": data.facts.second})
    connection.register("facts", facts)
    connection.execute("CREATE TABLE observed AS SELECT * FROM facts ORDER BY p, a, b")
    return connection


@contextmanager
def _by_hand(data: Encoded) -> Iterator[Counted]:
    """One SELECT, with the evidence as one more fact about the head's arguments."""
    predicates = {name: number for number, name in enumerate(data.predicates)}
    entities = {name: number for number, name in enumerate(data.entities)}
    with closing(_one_table(data)) as connection:

        def counted(rule: Rule) -> tuple[int, int]:
            atoms = (*rule.body, Atom("", *rule.head.terms))
            where = [f"t{i}.p = {predicates[atom.predicate]}" for i, atom in enumerate(rule.body)]
            where += joins(atoms, entities)
            evidence = f"t{len(rule.body)}.p"
            head = predicates[rule.head.predicate]
            fields = f"count(*) FILTER ({evidence} = {head}), count(*) FILTER ({evidence} <> {head})"
            tables = ", ".join(f"observed t{i}" for i in range(len(atoms)))
            (found,) = connection.execute(f"SELECT {fields} FROM {tables} WHERE {' AND '.join(where)}").fetchall()
            return found[0], found[1]

        yield counted


@contextmanager
def _logica(data: Encoded) -> Iterator[Counted]:
    """A program for each rule: its groundings, and how often each predicate holds of the head's arguments."""
    from logica.compiler import universe
    from logica.parser_py import parse

    predicates = {name: number for number, name in enumerate(data.predicates)}
    entities = {name: number for number, name in enumerate(data.entities)}

    def term(one: Any) -> str:
        return f"v{one.name.lower()}" if one.variable else str(entities.get(one.name, -1))

    with closing(_one_table(data)) as connection:

        def counted(rule: Rule) -> tuple[int, int]:
            body = [f"`observed`(p: {predicates[a.predicate]}, a: {term(a.first)}, b: {term(a.second)})" for a in rule.body]
            body += [f"v{x.lower()} != v{y.lower()}" for x, y in combinations(rule.variables, 2)]
            evidence = f"`observed`(p:, a: {term(rule.head.first)}, b: {term(rule.head.second)})"
            text = f'@Engine("duckdb");\nEvidence(p:) += 1 :- {", ".join([*body, evidence])};\n'
            program = universe.LogicaProgram(parse.ParseFile(text)["rule"])
            found = dict(connection.execute(program.FormattedPredicateSql("Evidence")).fetchall())
            confirmed = int(found.pop(predicates[rule.head.predicate], 0))
            return confirmed, int(sum(found.values()))

        yield counted


@contextmanager
def _pandas(data: Encoded) -> Iterator[Counted]:
    import pandas as pd

    facts = pd.DataFrame({"p": data.facts.predicate, "a": data.facts.first, "b": data.facts.second})
    by_predicate = {number: rows[["a", "b"]] for number, rows in facts.groupby("p")}
    predicates = {name: number for number, name in enumerate(data.predicates)}
    entities = {name: number for number, name in enumerate(data.entities)}

    def rows_of(frame: Any, atom: Atom) -> Any:
        """The rows that fit an atom, with a column for each of its variables."""
        found = frame
        for side, one in zip("ab", atom.terms, strict=True):
            if not one.variable:
                found = found[found[side] == entities.get(one.name, -1)].drop(columns=side)
        names = {side: one.name for side, one in zip("ab", atom.terms, strict=True) if one.variable}
        if len(set(names.values())) < len(names):
            found = found[found["a"] == found["b"]].drop(columns="b")
        return found.rename(columns=names)

    def joined(left: Any, right: Any) -> Any:
        common = [name for name in left.columns if name in right.columns]
        return left.merge(right, on=common) if common else left.merge(right, how="cross")

    def counted(rule: Rule) -> tuple[int, int]:
        found = rows_of(by_predicate[predicates[rule.body[0].predicate]], rule.body[0])
        for atom in rule.body[1:]:
            found = joined(found, rows_of(by_predicate[predicates[atom.predicate]], atom))
        for x, y in combinations(rule.variables, 2):
            found = found[found[x] != found[y]]
        found = joined(found, rows_of(facts, Atom("", *rule.head.terms)))
        confirmed = int((found["p"] == predicates[rule.head.predicate]).sum())
        return confirmed, len(found) - confirmed

    yield counted


_COUNTERS = {
    "published, PostgreSQL": _published_postgres,
    "published, DuckDB": _published_duckdb,
    "pandas": _pandas,
    "query a rule": _by_hand,
    "Logica": _logica,
}
"""Those that count one rule after the other."""
_ALL_RULES = {"pandas", "query a rule"}
"""Those that are quick enough to count all of them; of the others a sample of each kind is run."""


if __name__ == "__main__":
    main()
