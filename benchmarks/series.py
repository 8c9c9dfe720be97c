"""The command lines that whole.py measures, in series: in each of them one thing grows, or the kind of rules changes."""

from __future__ import annotations

import gzip
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path

from horn import MYSELF, Rule, read_anyburl
from rulescore.engines.memory import amount
from workload import SHARED, Material, Triple, material, write, write_triples

MINED = SHARED / "anyburl" / "fb15k-237.rules.100k.gz"
FEW, MANY, MOST = 4_000, 100_000, 1_000_000
COPIES, MOST_COPIES, LARGE, LARGEST = (1, 4, 16), 59, 235, 470
PREDICTIONS, MOST_PREDICTIONS = (20_000, 200_000), 2_000_000
MODELS = (1, 3, 10)
ANSWERS, MANY_MODELS = 40_000, (10, 50)
LIMITS = {16: "500MB", MOST_COPIES: "1GB"}
LIMIT_OF_LARGEST = "7.5GiB"
SEED = 1


class Extent(IntEnum):
    """How far series go on: as long as one waits for, to 16 million facts, to 64 million, to 128 million."""

    USUAL = 0
    FULL = 1
    LARGE = 2
    LARGEST = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One command line, with how much it has of what grows. `copies` of the facts: all counts over the data grow alike. `once`:
    it takes so long that one round is enough. `limit`: of the memory of the process, in bytes."""

    name: str
    size: int
    arguments: tuple[str, ...]
    copies: int = 0
    once: bool = False
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Series:
    """Steps that differ in one thing. If it `grows` there is an exponent of growth."""

    title: str
    steps: tuple[Step, ...]
    grows: bool = True


Maker = Callable[[Path, Material, Extent], Series | None]


def make(titles: Sequence[str], folder: Path, extent: Extent) -> tuple[str, list[Series]]:
    """The name of the graph, and the series of these titles with their files laid out. Those about mined rules need the data that
    lie beside the repository."""
    graph = material()
    made = [MAKERS[title](folder / title, graph, extent) for title in titles]
    return graph.name, [one for one in made if one is not None]


def _fixed(folder: Path, graph: Material, _: Extent) -> Series:
    """The start of the process, and one score: of the files as their makers wrote them, or of the generated ones."""
    if MINED.exists():
        folder.mkdir(parents=True)
        (folder / "incompatible.rules").write_text("extract incompatible.\n")
        rules = ("--rules", str(SHARED / "fb15k-237" / "rules.mln.txt"), "--rules", str(folder / "incompatible.rules"))
        model = f"compgcn={SHARED / 'predictions' / 'fb15k-237-compgcn.tsv.gz'}"
        facts = ("--facts", str(SHARED / "fb15k-237" / "train.txt.gz"))
        scored: tuple[str, ...] = ("score", *facts, *rules, "--predictions", model, "--format", "json", "--quiet")
    else:
        place = write(folder, graph, graph.rules)
        scored = _score(place, place / "facts.tsv", {"model": place / "predictions.tsv"})
    steps = (Step("--version", 0, ("--version",)), Step(SCORED, len(graph.rules), scored))
    return Series("fixed", steps, grows=False)


SCORED = "score of 509 rules, one model"
AUDITED_FEW = f"audit of {FEW:,} mined rules"
AUDITED_MANY = f"audit of {MANY:,} mined rules"
AUDITED_MOST = f"audit of {MOST:,} rules"


def _rules(folder: Path, graph: Material, extent: Extent) -> Series | None:
    if not MINED.exists():
        return None
    mined = _mined()
    steps = [_audited(folder, AUDITED_FEW, random.Random(SEED).sample(mined, FEW)), _audited(folder, AUDITED_MANY, mined)]
    if extent >= Extent.FULL:
        steps.append(replace(_audited(folder, AUDITED_MOST, list(more_rules(mined, graph.facts, MOST))), once=True))
    return Series("rules", tuple(steps))


_CONSTANT = re.compile(r"(?<=\()[^(),\t]{2,}(?=,)|(?<=,)[^(),\t]{2,}(?=\))")
_MINED_ATOM = re.compile(r"([^(),\t ]+)\(([^(),\t]+),([^(),\t]+)\)")


def more_rules(mined: Sequence[str], facts: Sequence[Triple], count: int) -> Iterator[str]:
    """Mined rules, then the same with other constants, which the predicates have at these places: a miner that runs longer writes
    more of these, and hardly more of any others."""
    chooser = random.Random(SEED)
    values: dict[str, tuple[list[str], list[str]]] = {}
    for first, predicate, second in facts:
        firsts, seconds = values.setdefault(predicate, ([], []))
        firsts.append(first)
        seconds.append(second)

    def other(atom: re.Match[str]) -> str:
        predicate, *names = atom.groups()
        terms = (name if len(name) == 1 else chooser.choice(values[predicate][place]) for place, name in enumerate(names))
        return f"{predicate}({','.join(terms)})"

    known = {line.split("\t")[3] for line in mined}
    yield from mined
    for line in cycle([line for line in mined if _CONSTANT.search(line) and MYSELF not in line]):
        if len(known) == count:
            return
        columns = line.split("\t")
        rule = _MINED_ATOM.sub(other, columns[3])
        if rule not in known:
            known.add(rule)
            yield "\t".join((*columns[:3], rule))


def _kinds(folder: Path, _: Material, __: Extent) -> Series | None:
    """Mined rules of each kind alone, and those with the most atoms for one model, in both conventions."""
    if not MINED.exists():
        return None
    kinds: dict[str, list[str]] = {}
    for line in _mined():
        for rule in read_anyburl([line]):
            kinds.setdefault(kind(rule), []).append(line)
    steps = [_audited(folder, f"audit of mined rules, {name}: {len(lines):,}", lines) for name, lines in sorted(kinds.items())]
    longest = steps[-1]
    model = f"compgcn={SHARED / 'predictions' / 'fb15k-237-compgcn.tsv.gz'}"
    scored = ("score", *longest.arguments[1:-3], "--predictions", model, "--format", "json", "--quiet")
    name = longest.name.replace("audit", "score")
    steps.append(Step(name, longest.size, scored))
    steps.append(Step(f"{name}, appendix", longest.size, (*scored, "--convention", "appendix")))
    return Series("kinds", tuple(steps), grows=False)


def kind(rule: Rule) -> str:
    if len(rule.body) > 1:
        return f"{len(rule.body)} atoms"
    head, body = (any(not term.variable for term in atom.terms) for atom in (rule.head, rule.body[0]))
    return "1 atom, " + ("constants in head and body" if head and body else "a constant in the head" if head else "others")


def _spark(folder: Path, _: Material, __: Extent) -> Series | None:
    """A graph so small that Spark plans statements and starts tasks most of the time."""
    family = SHARED / "family"
    if not family.exists() or find_spec("pyspark") is None:
        return None
    folder.mkdir(parents=True)
    (folder / "incompatible.rules").write_text("extract incompatible.\n")
    rules = ("--rules", str(family / "MLN_rule.txt"), "--rules", str(folder / "incompatible.rules"))
    model = f"compgcn={SHARED / 'predictions' / 'family-compgcn.tsv.gz'}"
    scored = ("score", "--facts", str(family / "train.txt"), *rules, "--predictions", model, "--format", "json", "--quiet")
    engines = {"DuckDB": "duckdb", "Spark": "spark://local[2]"}
    steps = (Step(f"score of Family on {name}", 0, (*scored, "--engine", address)) for name, address in engines.items())
    return Series("spark", tuple(steps), grows=False)


def _mined() -> list[str]:
    with gzip.open(MINED, "rt", encoding="utf-8") as lines:
        return lines.readlines()


def _audited(folder: Path, name: str, lines: Sequence[str]) -> Step:
    """An audit of FB15k-237 with all incompatible pairs extracted, written as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "incompatible.rules").write_text("extract incompatible.\n")
    rules = folder / f"{name}.rules"
    rules.write_text("".join(lines), encoding="utf-8")
    facts = SHARED / "fb15k-237" / "train.txt.gz"
    files = ("--facts", str(facts), "--rules", str(rules), "--rules", str(folder / "incompatible.rules"))
    return Step(name, len(lines), ("audit", *files, "--format", "csv", "--quiet"))


def _facts(folder: Path, graph: Material, extent: Extent) -> Series:
    """Disjoint copies of the facts, and the predictions about the first."""
    place = write(folder, graph, graph.rules)
    sizes = (*COPIES, *(MOST_COPIES, LARGE, LARGEST)[: extent.value])
    refuse_too_large((place / "facts.tsv").stat().st_size * sum(sizes), place)
    limits = ((copies, LIMIT_OF_LARGEST if copies >= LARGE else "") for copies in sizes)
    return Series("facts", tuple(_copied(place, graph, copies, limit, once=copies >= MOST_COPIES) for copies, limit in limits))


def refuse_too_large(size: int, folder: Path) -> None:
    """Say what will be written before it is, and end if there is no room for twice as much: what does not fit into memory is
    written, too."""
    free = shutil.disk_usage(folder).free
    print(f"facts of {size / 1e9:.1f} GB will be written to {folder}, where {free / 1e9:.1f} GB are free", file=sys.stderr)
    if free < 2 * size:
        sys.exit("there is too little room: set TMPDIR to a larger disk")


def _limits(folder: Path, graph: Material, extent: Extent) -> Series:
    place = write(folder, graph, graph.rules)
    sizes = LIMITS.items() if extent >= Extent.FULL else islice(LIMITS.items(), 1)
    return Series("limits", tuple(_copied(place, graph, copies, limit, once=True) for copies, limit in sizes), grows=False)


def _copied(place: Path, graph: Material, copies: int, limit: str, *, once: bool) -> Step:
    facts = place.parent / f"facts-{copies}.tsv"
    if not facts.exists():
        write_triples(facts, graph.facts, copies)
    arguments = _score(place, facts, {"model": place / "predictions.tsv"})
    size = copies * len(graph.facts)
    name = f"score of {size:,} facts"
    if not limit:
        return Step(name, size, arguments, copies, once)
    return Step(f"{name}, --memory-limit {limit}", size, (*arguments, "--memory-limit", limit), copies, once, amount(limit) or 0)


def _predictions(folder: Path, graph: Material, extent: Extent) -> Series:
    sizes = (*PREDICTIONS, MOST_PREDICTIONS) if extent >= Extent.FULL else PREDICTIONS
    place = write(folder, graph, graph.rules)
    steps = []
    for size in sizes:
        path = place / f"predictions-{size}.tsv"
        write_triples(path, predicted(graph.facts, size, SEED), 1)
        arguments = _score(place, place / "facts.tsv", {"model": path})
        steps.append(Step(f"score of {size:,} predictions", size, arguments, 1, size == MOST_PREDICTIONS))
    return Series("predictions", tuple(steps))


def _models(folder: Path, graph: Material, _: Extent) -> Series:
    return _of_models("models", folder, graph, MODELS, min(PREDICTIONS))


def _answers(folder: Path, graph: Material, _: Extent) -> Series:
    """As many models as people compare, with an answer to every query of FB15k-237."""
    return _of_models("answers", folder, graph, MANY_MODELS, ANSWERS)


def _of_models(title: str, folder: Path, graph: Material, counts: Sequence[int], predictions: int) -> Series:
    """Models with as many predictions each, others in each."""
    place = write(folder, graph, graph.rules)
    paths = {f"model-{number}": place / f"model-{number}.tsv" for number in range(max(counts))}
    for number, path in enumerate(paths.values()):
        write_triples(path, predicted(graph.facts, predictions, SEED + number), 1)
    steps = []
    for count in counts:
        arguments = _score(place, place / "facts.tsv", dict(islice(paths.items(), count)))
        name = f"score of {count} model{'s' if count > 1 else ''} with {predictions:,} predictions"
        steps.append(Step(name, count, arguments, 1))
    return Series(title, tuple(steps))


def predicted(facts: Sequence[Triple], count: int, seed: int) -> list[Triple]:
    """Facts with one argument replaced by another value the predicate has there: distinct, none of them observed."""
    chooser = random.Random(seed)
    values: dict[str, tuple[list[str], list[str]]] = {}
    for first, predicate, second in facts:
        firsts, seconds = values.setdefault(predicate, ([], []))
        firsts.append(first)
        seconds.append(second)
    known = set(facts)
    made: dict[Triple, None] = {}
    while len(made) < count:
        first, predicate, second = chooser.choice(facts)
        firsts, seconds = values[predicate]
        one = (chooser.choice(firsts), predicate, second) if chooser.random() < 0.5 else (first, predicate, chooser.choice(seconds))
        if one not in known:
            made[one] = None
    return list(made)


def _score(place: Path, facts: Path, models: dict[str, Path]) -> tuple[str, ...]:
    predictions = (one for model, path in models.items() for one in ("--predictions", f"{model}={path}"))
    return ("score", "--facts", str(facts), "--rules", str(place / "program.rules"), *predictions, "--format", "json", "--quiet")


MAKERS: dict[str, Maker] = {
    "fixed": _fixed,
    "rules": _rules,
    "kinds": _kinds,
    "facts": _facts,
    "predictions": _predictions,
    "models": _models,
    "answers": _answers,
    "limits": _limits,
    "spark": _spark,
}
