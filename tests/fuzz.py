"""Inputs that nobody would write, in the process and bounded: each ends with a result or with an error of ours.

    python tests/fuzz.py rules --inputs 100000 --seed 7

prints every input that ends otherwise, or takes long, and goes on; `data` and `projects` are the other kinds. `texts`
are rule texts that are read, checked, planned and printed without a database, by the hundred in a second.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

import rulescore
from case_files import all_cases
from rule_grammar import Writer
from rulescore.errors import Source
from rulescore.init.command import FILES
from rulescore.language.parser import parse
from rulescore.language.printer import print_program, rule_names
from rulescore.language.reading import read_rules
from rulescore.language.rule_formats import TableName, rule_formats
from rulescore.language.trees import used_arities
from rulescore.logic import checks
from rulescore.logic.checks import tautologies
from rulescore.logic.formula import Relation, RelationColumn, Schema
from rulescore.logic.horn import horn_program, refutations
from rulescore.logic.judgement import formula
from rulescore.logic.normal import normal_rule
from rulescore.logic.planner import plan, plan_program
from rulescore.logic.refutation import declared_in
from rulescore.logic.vocabulary import Names, Predicate, Vocabulary
from rulescore.session.opening import raise_errors
from rulescore.values import ValueType

Input = tuple[bytes, Callable[[], object]]
"""What is shown if it fails, and what is done with it."""

LONG = {"texts": 5.0, "rules": 20.0, "data": 20.0, "projects": 20.0}
"""Seconds of the processor after which an input has taken too long; an engine has ten for a statement, which joins fifty atoms."""

FACTS = {
    "p": [("a", "b"), ("b", "c"), ("c", "a")],
    "q": [("a", "b"), ("b", "b")],
    "r": [("a", 1), ("b", 2.5)],
    "s": [("a",), ("b",)],
}
MODELS = {"model": {"p": [("a", "c")], "q": [("c", "a")]}}
RULES = "closed p.\np(X, Y) <- q(X, Y).\nfalse <- p(X, Y), q(Y, X)."

_PIECES = """
<- :- , . ; : ( ) { } [ ] | @ @hard @soft @weight( @confidence( and or not in let false true mod within incompatible functional
closed extract refute predicate for $x $p _ X Y Z X1 p q r s sale sale.price count( sum( avg( min( max( count_distinct( abs( round(
length( year( days( hours( date( = != < <= > >= + - * / % 0 1 -1 2.5 1e308 1e-320 9007199254740993 9223372036854775807 10% 3 days
2020-01-31 2020-02-30 2020-01-31T12:30 2020-01-31T12:30Z "a" "" "\\n" "\\u{202e}" `p` `a b` # ← ⊥ é 𝕏 \x00 \x07 \ufeff \u202e
-> => <= <-- v ! ?a 1.0 ^2 t1&t2&EQ( 0.5\t
"""
PIECES = tuple(re.split(r" |\n", _PIECES))

SIGNS = '\0\t\n\r "\\\xa0\u202e\u2028\ufeff😀'

LINES = (
    "a\tp\tb\n",
    "head\trelation\ttail\tscore\trank\n",
    "a,p,b\n",
    'a,"p",b\n',
    "a|p|b\n",
    "<http://x/a> <http://x/p> <http://x/b> .\n",
    '<a> <p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n',
    "@prefix : <http://x/> .\n:a :p :b, 1.5, true ; :q [ :r 2 ] .\n",
    "a p b\nHeads: c\t0.5\td\t0.25\t\nTails: \n",
    "query,a,b,c,a\n",
    "father(1, 5)\n!male(0)\n",
    "a\tb\t0.75\n",
    "id\tprediction\n1\t2.5\n",
    "2020-01-31T12:30Z\tp\t1e400\n",
    "\ufeffa\tp\tb\r\n",
)
ENDINGS = ("tsv", "csv", "txt", "nt", "ttl", "nq", "trig", "rdf", "gz", "parquet", "dat", "tsv.gz")


@cache
def _rule_texts() -> tuple[str, ...]:
    return (*(case.rule_text for case in all_cases()), *(one.example.replace("⇥", "\t") for one in rule_formats().values()), RULES)


def _mutated(chance: random.Random, text: str, pieces: tuple[str, ...]) -> str:
    """A text with some parts replaced, repeated, swapped or left out."""
    for _ in range(chance.randint(1, 6)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((0, 1, 2, 5, 20)))
        match chance.randrange(6):
            case 0:
                text = text[:start] + chance.choice(pieces) + text[end:]
            case 1:
                text = text[:start] + text[end:]
            case 2:
                text = text[:end] + text[start:]
            case 3:
                text = text[:start] + chance.choice(SIGNS) + text[end:]
            case 4:
                text = text[:start] + text[start:end] * chance.choice((2, 3, 50)) + text[end:]
            case _:
                other = chance.randint(0, len(text))
                text = text[:start] + text[other : other + 20] + text[start:]
    return text[:20_000]


def _rule_text(chance: random.Random) -> str:
    """A rule text: pieces in a row, what the grammar makes, whole or damaged, or a good text damaged."""
    kind = chance.random()
    if kind < 0.15:
        return " ".join(chance.choices(PIECES, k=chance.randint(1, 40))) + chance.choice((".", "", "\n"))
    if kind < 0.4:
        text = Writer(chance).text()
        return text if kind < 0.3 else _mutated(chance, text, PIECES)
    return _mutated(chance, chance.choice(_rule_texts()), PIECES)


FACT = [RelationColumn("a0", ValueType.STRING), RelationColumn("a1", None), RelationColumn("a2", ValueType.FLOAT)]
SALE = {"id": ValueType.INTEGER, "price": ValueType.FLOAT, "type": ValueType.STRING, "sold": ValueType.DATE}
VOCABULARY = Vocabulary({name: Predicate(name, 2, observed=1) for name in ("p", "q", "r", "a b")})
SCHEMA = Schema(
    {name: Relation(name, {"a0": FACT[0], "a1": FACT[i % 3]}, f"facts_{i}") for i, name in enumerate(VOCABULARY.predicates)}
    | {
        "sale": Relation(
            "sale", {name: RelationColumn(name, kind) for name, kind in SALE.items()}, "t", key=("id",), attributes=tuple(SALE)
        )
    }
)


def understood(text: str) -> None:
    """Everything that is done with rules before a database is asked. Whatever is read is read again as it was printed."""
    try:
        program = read_rules([Source("input", text)], [TableName("sale", ("id",))]).program
    except rulescore.InputError as error:
        if any(one.place is None for one in error.problems):
            raise AssertionError("a problem has no place") from error
        raise
    again = parse(Source("printed", print_program(program)))
    assert repr(again) == repr(program), f"printed, and read as another one:\n{print_program(program)}"
    names, known = rule_names(program), Names({"sale": ("id",)}, frozenset({"even"}), VOCABULARY)
    used_arities(program)
    _, fast = horn_program(program, known.is_predicate)
    problems = checks.structure(program, names, known)
    problems += tautologies(zip(names, program.rules, strict=True))
    declared = declared_in(program, VOCABULARY, [("p", "q")], known.functions)
    for number, rule in enumerate(program.rules):
        if number not in fast:
            formula(rule, SCHEMA, declared, problems)
    raise_errors(problems)
    ways = refutations(declared, VOCABULARY, known.is_predicate)
    one_by_one = plan(((number, normal_rule(program.rules[number])) for number in sorted(fast)), ways)
    assert plan_program(program, fast, ways) == one_by_one


def texts(chance: random.Random, folder: Path) -> Input:
    text = _rule_text(chance)
    return text.encode("utf-8", errors="replace"), lambda: understood(text)


def rules(chance: random.Random, folder: Path) -> Input:
    text = _rule_text(chance)
    options = {"allow_unrefutable": True, "convention": chance.choice(("definition", "appendix")), "timeout": 10}
    return text.encode("utf-8", errors="replace"), lambda: rulescore.score(FACTS, MODELS, rulescore.RuleText(text), **options)


def data(chance: random.Random, folder: Path) -> Input:
    """A file of facts, predictions, rules or truths, damaged."""
    path = folder / f"input.{chance.choice(ENDINGS)}"
    if path.suffix == ".parquet":
        content = _parquet(chance)
    else:
        lines = "".join(chance.choices(LINES, k=chance.randint(1, 8)) if chance.random() < 0.5 else [chance.choice(LINES)] * 5)
        content = (_mutated(chance, lines, LINES) if chance.random() < 0.9 else lines).encode("utf-8", errors="replace")
        if path.suffix == ".gz":
            content = gzip.compress(content)
    if chance.random() < 0.3:
        content = _damaged(chance, content)
    path.write_bytes(content)
    match chance.randrange(4):
        case 0:
            return content, lambda: rulescore.score(path, MODELS, RULES)
        case 1:
            return content, lambda: rulescore.score(FACTS, {"model": path}, RULES)
        case 2:
            return content, lambda: rulescore.score(FACTS, MODELS, RULES, negatives=path)
        case _:
            return content, lambda: rulescore.score(FACTS, MODELS, path, allow_unrefutable=True)


def _parquet(chance: random.Random) -> bytes:
    names = chance.sample(("head", "relation", "tail", "score", "rank", "query", "x"), k=3)
    values = ("a", None, "", "p"), (1, None, 2, 3), (0.5, float("nan"), 1.0, 2.0), (True, False, None, True)
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({name: pa.array(chance.choice(values)) for name in names}), sink)
    return bytes(sink.getvalue())


def _damaged(chance: random.Random, content: bytes) -> bytes:
    found = bytearray(content)
    for _ in range(chance.randint(1, 5)):
        if found:
            found[chance.randrange(len(found))] = chance.randrange(256)
    return bytes(found[: chance.randint(0, len(found))] if chance.random() < 0.2 else found)


def projects(chance: random.Random, folder: Path) -> Input:
    """A project file, damaged, beside its files."""
    for name, content in FILES.items():
        (folder / name).write_text(content)
    pieces = (
        "facts",
        "rules",
        "[predictions]",
        "[output]",
        "[engine]",
        "= 1",
        "[[",
        "]]",
        '"a\\u0000b"',
        "true",
        "{",
        "}",
        "[truth]",
    )
    text = _mutated(chance, FILES["rulescore.toml"].replace("# ", "") if chance.random() < 0.3 else FILES["rulescore.toml"], pieces)
    path = folder / "input.toml"
    path.write_text(text, encoding="utf-8", errors="replace")

    def run() -> object:
        with rulescore.open(path) as session:
            return session.score()

    return text.encode("utf-8", errors="replace"), run


KINDS = {"texts": texts, "rules": rules, "data": data, "projects": projects}


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Ends what takes for ever, with a traceback of where it was."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"stopped after {seconds:g} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def failures(kind: str, number: int, start: int) -> Iterator[str]:
    """What ended otherwise than it should, each with the input."""
    for one in range(start, start + number):
        chance = random.Random(f"{kind} {one}")
        with tempfile.TemporaryDirectory(prefix="rulescore-fuzz-") if kind != "texts" else nullcontext("") as temporary:
            content, run = KINDS[kind](chance, Path(temporary))
            began = time.process_time()
            try:
                with _stopped_after(4 * LONG[kind]):
                    run()
            except rulescore.RulescoreError as error:
                str(error)
            except Exception:
                yield f"{kind} {one}\n{content[:2000]!r}\n{traceback.format_exc()}"
            if (took := time.process_time() - began) > LONG[kind]:
                yield f"{kind} {one}: {took:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = 0
    for failure in failures(given.kind, given.inputs, given.seed):
        found += 1
        print(failure, flush=True)
    print(f"{given.inputs:,} inputs, {found:,} failures")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
