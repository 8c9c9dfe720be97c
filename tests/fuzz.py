"""Inputs that nobody would write, in the process and bounded: each ends with a result or with an error of ours.

    python tests/fuzz.py rules --inputs 100000 --seed 7

prints every input that ends otherwise, or takes long, and goes on; `data` and `projects` are the other kinds.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

import rulescore
from case_files import all_cases
from rulescore.cli.init import FILES
from rulescore.language.formats.table import FORMATS

LONG = 20.0
"""Seconds after which an input of this size has taken too long; an engine has ten for a statement, which may join fifty atoms."""

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
    return (*(case.rule_text for case in all_cases()), *(one.example.replace("⇥", "\t") for one in FORMATS.values()), RULES)


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


def rules(chance: random.Random, folder: Path) -> Callable[[], object]:
    """A rule text: pieces in a row, or a good text damaged."""
    if chance.random() < 0.3:
        text = " ".join(chance.choices(PIECES, k=chance.randint(1, 40))) + chance.choice((".", "", "\n"))
    else:
        text = _mutated(chance, chance.choice(_rule_texts()), PIECES)
    (folder / "input").write_text(text, encoding="utf-8", errors="replace")
    options = {"allow_unrefutable": True, "convention": chance.choice(("definition", "appendix")), "timeout": 10}
    return lambda: rulescore.score(FACTS, MODELS, rulescore.RuleText(text), **options)


def data(chance: random.Random, folder: Path) -> Callable[[], object]:
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
            return lambda: rulescore.score(path, MODELS, RULES)
        case 1:
            return lambda: rulescore.score(FACTS, {"model": path}, RULES)
        case 2:
            return lambda: rulescore.score(FACTS, MODELS, RULES, negatives=path)
        case _:
            return lambda: rulescore.score(FACTS, MODELS, path, allow_unrefutable=True)


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


def projects(chance: random.Random, folder: Path) -> Callable[[], object]:
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

    return run


KINDS = {"rules": rules, "data": data, "projects": projects}


def failures(kind: str, number: int, start: int) -> Iterator[str]:
    """What ended otherwise than it should, each with the input."""
    for one in range(start, start + number):
        chance = random.Random(f"{kind} {one}")
        with tempfile.TemporaryDirectory(prefix="rulescore-fuzz-") as temporary, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = KINDS[kind](chance, Path(temporary))
            began = time.process_time()
            try:
                run()
            except rulescore.RulescoreError as error:
                str(error)
            except Exception:
                (inputs,) = (path.read_bytes() for path in Path(temporary).iterdir() if path.name.startswith("input"))
                yield f"{kind} {one}\n{inputs[:2000]!r}\n{traceback.format_exc()}"
            if (took := time.process_time() - began) > LONG:
                yield f"{kind} {one}: {took:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = 0
    for failure in failures(given.kind, given.inputs, given.seed):
        found += 1
        print(failure, flush=True)
    print(f"{given.inputs:,} inputs, {found:,} failures")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
