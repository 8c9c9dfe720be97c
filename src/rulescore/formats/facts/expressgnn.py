"""Facts as ExpressGNN and other programs for Markov logic write them: `father(1, 5)`, `!male(0)` for a fact known to be false."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rulescore.readers.foreign import BATCH_ROWS, Facts, Fault, Found

TITLE = "a fact file of ExpressGNN"
LAYOUT = "a fact a line, `father(1, 5)`, and `!male(0)` for one that is known to be false"
PREDICTIONS, FACTS, ONE_PREDICATE = True, True, False

# A name may hold brackets. The arguments stand in the last pair of brackets. A line with an arrow is a rule.
_FACT = re.compile(r"(?!.*(?::-|<-|<=|=>|->))\s*(!?)\s*(\S+?)\s*\(([^()]*)\)\s*\.?\s*")


def looks_like(lines: Sequence[str]) -> bool:
    return bool(lines) and all("\t" not in line and _FACT.fullmatch(line) for line in lines)


def read(lines: Iterable[str], *, predictions: bool) -> Found:
    collected: dict[tuple[int, bool], Facts] = {}
    for number, line in enumerate(lines, 1):
        match = _FACT.fullmatch(line)
        if match is None:
            yield Fault(number, line, 1, "expected a fact, such as `father(1, 5)`", max(1, len(line)))
            continue
        arguments = [argument.strip() for argument in match[3].split(",")]
        if "" in arguments:
            yield Fault(number, line, match.start(3) + 1, "an argument is empty", max(1, len(match[3])), code="E312")
            continue
        if predictions and match[1]:
            yield Fault(number, line, match.start(1) + 1, "a prediction is a fact, not a negated one", helps=("leave it out",))
            continue
        key = len(arguments), match[1] == "!"
        facts = collected.setdefault(key, Facts(arguments=[[] for _ in arguments], negative=key[1]))
        facts.predicates.append(match[2].strip())
        for column, argument in zip(facts.arguments, arguments, strict=True):
            column.append(argument)
        if len(facts.predicates) >= BATCH_ROWS:
            yield collected.pop(key)
    yield from collected.values()
