"""Data files of PSL with truth values: the facts of one predicate, `a⇥b⇥truth`.

We read data files without truth values as any text file of one predicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rulescore.readers.foreign import BATCH_ROWS, Facts, Fault, Found, finite

TITLE = "a data file of PSL"
LAYOUT = "a fact a line, its arguments and a truth value from 0 to 1, with tabs between them"
PREDICTIONS, FACTS, ONE_PREDICATE = True, True, True

_NO_TRUTH = ("without truth values the file is read as any text file: leave `format` out",)


def looks_like(lines: Sequence[str]) -> bool:
    """We never recognise it: nothing in such a file distinguishes a truth value from an argument."""
    return False


def read(lines: Iterable[str], *, predictions: bool) -> Found:
    """The last field is the truth value: the score of a prediction. A fact is true or known to be false, and nothing in between."""
    collected: dict[tuple[int, bool], Facts] = {}
    for number, line in enumerate(lines, 1):
        *arguments, text = line.split("\t")
        truth = finite(text)
        if not arguments or truth is None or not 0 <= truth <= 1:
            column = len(line) - len(text) + 1
            yield Fault(
                number, line, column, f"expected a truth value from 0 to 1, found `{text}`", max(1, len(text)), helps=_NO_TRUTH
            )
            continue
        if "" in arguments:
            column = sum(len(argument) + 1 for argument in arguments[: arguments.index("")]) + 1
            yield Fault(number, line, column, "an argument is empty", code="E312")
            continue
        if not predictions and 0 < truth < 1:
            column = len(line) - len(text) + 1
            message = f"the truth value is `{text}`, and a fact is true (1) or known to be false (0)"
            yield Fault(number, line, column, message, len(text), helps=("leave out what is uncertain, or round it",))
            continue
        key = len(arguments), not predictions and truth == 0
        facts = collected.setdefault(key, Facts(arguments=[[] for _ in arguments], negative=key[1]))
        facts.predicates.append("")
        facts.scores.append(truth)
        for column_of, argument in zip(facts.arguments, arguments, strict=True):
            column_of.append(argument)
        if len(facts.predicates) >= BATCH_ROWS:
            yield collected.pop(key)
    yield from collected.values()
