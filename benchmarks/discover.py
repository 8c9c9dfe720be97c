"""Rules discovered in a graph: beside an audit of given rules, as the facts grow, beside what AnyBURL mined, and in graphs that are
large in one way.

`python benchmarks/discover.py` needs the data that lie beside the repository for the comparison with AnyBURL; the rest runs on a
generated graph as well. Processor seconds decide, since they hardly depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

from horn import Atom, Rule, read_anyburl
from measure import ratios, spread
from printing import MEBIBYTE, Table, Target, show, show_targets, spread_text
from series import MINED, SEED
from whole import GIBIBYTE, RESULTS, STEEPEST, Run, environment, measured
from workload import Material, material, write, write_triples

LEAST = 10
AUDIT, TWO_ATOMS, EVERY_FORM = "audit of the given rules", "discover, one and two atoms", "discover, every form"
_SHORT = ("--form", "implication", "--form", "inversion", "--form", "two_atoms")
COPIES, MOST_COPIES = (1, 4, 16), 59
MEMORY = 8
"""GiB that 16 million facts may take."""


def main() -> None:
    options = _options()
    graph = material()
    with tempfile.TemporaryDirectory(prefix="rulescore-bench-") as temporary:
        folder = Path(temporary)
        steps = _steps(folder, graph, options.copies) | _large_in_one_way(folder)
        found: dict[str, list[Run]] = {name: [] for name in steps}
        for turn in range(options.rounds):
            for name, arguments in steps.items():
                print(f"round {turn + 1} of {options.rounds}: {name}", file=sys.stderr, flush=True)
                found[name].append(measured(arguments, folder / "output"))
        if options.full:
            print(_copied(MOST_COPIES), file=sys.stderr, flush=True)
            found[_copied(MOST_COPIES)] = [measured(_many(folder, graph), folder / "output")]
        targets = _targets(found, options.copies)
        _show(graph.name, found)
        show_targets(targets)
        anyburl = _beside_anyburl(folder, folder / "work" / "facts.tsv") if MINED.exists() else None
    if options.save:
        kept = {**environment(), "graph": graph.name, "runs": {name: [asdict(run) for run in runs] for name, runs in found.items()}}
        kept |= {"targets": [{**asdict(target), "met": target.met} for target in targets], "anyburl": anyburl}
        (RESULTS / "discover.json").write_text(json.dumps(kept, indent=2) + "\n")
    if anyburl and anyburl["missing"]:
        sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds")
    parser.add_argument("--copies", type=int, nargs="+", default=COPIES, help="how many copies of the facts")
    parser.add_argument("--full", action="store_true", help="16 million facts too, once")
    parser.add_argument("--save", action="store_true", help=f"keep the result in {RESULTS.name}/")
    return parser.parse_args()


def _steps(folder: Path, graph: Material, copies: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Command lines by name."""
    place = write(folder / "work", graph, graph.rules)
    facts = ("--facts", str(place / "facts.tsv"))
    steps = {
        AUDIT: ("audit", *facts, "--rules", str(place / "program.rules"), "--format", "json", "--quiet"),
        TWO_ATOMS: ("discover", *facts, *_SHORT, "--format", "json", "--quiet"),
        EVERY_FORM: ("discover", *facts, "--format", "json", "--quiet"),
    }
    for many in copies[1:]:
        path = folder / f"facts{many}.tsv"
        write_triples(path, graph.facts, many)
        steps[_copied(many)] = ("discover", "--facts", str(path), *_SHORT, "--format", "json", "--quiet")
    return steps


def _many(folder: Path, graph: Material) -> tuple[str, ...]:
    path = folder / "many.tsv"
    write_triples(path, graph.facts, MOST_COPIES)
    return ("discover", "--facts", str(path), *_SHORT, "--memory-limit", f"{MEMORY}GiB", "--format", "json", "--quiet")


def _large_in_one_way(folder: Path) -> dict[str, tuple[str, ...]]:
    """Command lines for graphs that something could make too large, or leave empty."""
    draw = random.Random(SEED)
    things = [f"x{number}" for number in range(30_000)]
    hub = [("hub", "p", f"y{number}") for number in range(1_000_000)]
    hub += [(f"y{number}", "q", "hub") for number in range(0, 1_000_000, 10)]
    hub += [(f"y{number}", "r", f"y{7 * number % 1000}") for number in range(200_000)]
    graphs = {
        "a hub of a million edges": hub,
        "20,000 predicates": [(draw.choice(things), f"p{number % 20_000}", draw.choice(things)) for number in range(300_000)],
        "one predicate": [(draw.choice(things), "p", draw.choice(things)) for _ in range(300_000)],
        "no triangle": [(draw.choice(things), f"p{number % 5}", f"y{number % 999}") for number in range(300_000)],
        "only self-loops": [(thing, draw.choice("pqr"), thing) for thing in things],
    }
    steps = {}
    for number, (name, facts) in enumerate(graphs.items()):
        path = folder / f"large{number}.tsv"
        write_triples(path, facts, 1)
        steps[f"every form, {name}"] = ("discover", "--facts", str(path), "--format", "json", "--quiet")
    return steps


def _copied(many: int) -> str:
    return TWO_ATOMS if many == 1 else f"{TWO_ATOMS}, {many} copies of the facts"


def _show(title: str, found: dict[str, list[Run]]) -> None:
    table: Table = [(title, "wall s", "processor s", "peak MiB")]
    for name, runs in found.items():
        times = (spread_text(spread([getattr(run, what) for run in runs])) for what in ("wall", "processor"))
        table.append((name, *times, f"{max(run.memory for run in runs) / MEBIBYTE:,.0f}"))
    show(table)


def _targets(found: dict[str, list[Run]], copies: Sequence[int]) -> list[Target]:
    beside = ratios([run.processor for run in found[TWO_ATOMS]], [run.processor for run in found[AUDIT]])
    targets = [Target(f"{TWO_ATOMS}, times {AUDIT}", beside, 3)]
    middle = {many: spread([run.processor for run in found[_copied(many)]]).middle for many in copies}
    for few, many in pairwise(copies):
        exponent = math.log(middle[many] / middle[few]) / math.log(many / few)
        targets.append(Target(f"exponent of growth, {few} to {many} copies", spread([exponent]), STEEPEST))
    peaks = [run.memory / GIBIBYTE for run in found.get(_copied(MOST_COPIES), [])]
    return [*targets, Target(f"{_copied(MOST_COPIES)}, GiB", spread(peaks), MEMORY)] if peaks else targets


def _beside_anyburl(folder: Path, facts: Path) -> dict[str, int]:
    """Every closed rule of one or two atoms that AnyBURL mined and that an audit confirms often enough is among ours. AnyBURL's own
    support is of another kind: it comes from a sample, and counts some groundings twice."""
    output = folder / "all.json"
    given = ("--facts", str(facts), "--format", "json", "--quiet")
    measured(("discover", *given, *_SHORT, "--all"), output)
    ours = {found["text"] for found in json.loads(output.read_bytes())["rows"]}
    with gzip.open(MINED, "rt", encoding="utf-8") as lines:
        closed = sorted({text for rule in read_anyburl(lines) for text in _closed(rule)})
    rules = folder / "closed.rules"
    rules.write_text("extract incompatible.\n" + "".join(f"{text}.\n" for text in closed))
    measured(("audit", *given, "--rules", str(rules)), output)
    audited = json.loads(output.read_bytes())["rows"]
    often = {rule["text"] for rule in audited if rule["confirmed"] >= LEAST}
    missing = sorted(often - ours)
    print(f"AnyBURL: {len(closed):,} closed rules of one or two atoms, {len(often):,} with {LEAST} confirmed groundings or more")
    print(f"ours: {len(ours):,} with as many; {len(missing):,} of AnyBURL's are not among them")
    for text in missing[:10]:
        print(f"  {text}")
    return {"closed": len(closed), "often": len(often), "ours": len(ours), "missing": len(missing)}


def _closed(rule: Rule) -> Iterator[str]:
    """The text of a rule without constants that leads from X to Y, as ours are written."""
    x, y = rule.head.terms
    terms = {term for atom in (rule.head, *rule.body) for term in atom.terms}
    if not all(term.variable for term in terms) or x == y:
        return
    match rule.body:
        case (only,) if {*only.terms} == {x, y}:
            names = {x: "X", y: "Y"}
            yield f"{_text(rule.head, names)} <- {_text(only, names)}"
        case (first, second) if len(terms) == 3:
            (z,) = terms - {x, y}
            names = {x: "X", y: "Y", z: "Z"}
            from_x, to_y = (first, second) if x in first.terms else (second, first)
            if {*from_x.terms} == {x, z} and {*to_y.terms} == {z, y}:
                yield f"{_text(rule.head, names)} <- {_text(from_x, names)}, {_text(to_y, names)}"


def _text(atom: Atom, names: dict[object, str]) -> str:
    first, second = atom.terms
    return f"`{atom.predicate}`({names[first]}, {names[second]})"


if __name__ == "__main__":
    main()
