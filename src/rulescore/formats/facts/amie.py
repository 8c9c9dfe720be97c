"""AMIE's files of facts: triples separated by tabs. A line may begin with an id and end with a full stop.

<id_1u2v_3k>⇥<Elvis>⇥<wasBornIn>⇥<Tupelo> .
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rulescore.readers.foreign import BATCH_ROWS, Facts, Fault, Found

TITLE = "a fact file of AMIE"
LAYOUT = "a fact a line, `head⇥relation⇥tail`, which may begin with an id and end with ` .`"
PREDICTIONS, FACTS, ONE_PREDICATE = False, True, False

_STOP = re.compile(r"\s+\.\s*\Z")
_ID = re.compile(r"<?#?id_\S+\Z")


def looks_like(lines: Sequence[str]) -> bool:
    """Whether all lines end with a blank and a full stop, or each begins with an id of its own. So do lines of N-Triples, but their
    names are whole IRIs."""
    rows = [_fields(line) for line in lines]
    if not rows or any(len(row) not in (3, 4) for row in rows) or any("://" in row[-2] for row in rows):
        return False
    ids = {row[0] for row in rows if len(row) == 4 and _ID.match(row[0])}
    return all(_STOP.search(line) for line in lines) or len(ids) == len(rows)


def read(lines: Iterable[str], *, predictions: bool = False) -> Found:
    facts = Facts(arguments=[[], []])
    for number, line in enumerate(lines, 1):
        fields = _fields(line)
        if len(fields) not in (3, 4):
            message = f"expected three fields, or four with an id before them, found {len(fields)}"
            yield Fault(number, line, 1, message, max(1, len(line)))
            continue
        head, relation, tail = fields[-3:]
        if not (head and relation and tail):
            column = sum(len(field) + 1 for field in line.split("\t")[: fields.index("", len(fields) - 3)]) + 1
            yield Fault(number, line, column, "a name is empty", code="E312")
            continue
        facts.predicates.append(relation)
        facts.arguments[0].append(head)
        facts.arguments[1].append(tail)
        if len(facts.predicates) >= BATCH_ROWS:
            yield facts
            facts = Facts(arguments=[[], []])
    if facts.predicates:
        yield facts


def _fields(line: str) -> list[str]:
    return [field.strip() for field in _STOP.sub("", line).split("\t")]
