"""Declarations that the data suggest, so that rules can be refuted. We offer them as text, and never apply them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rulescore.language.declarations.closed import Closed
from rulescore.language.declarations.functional import Functional
from rulescore.language.declarations.pca import PartiallyComplete
from rulescore.language.printer import print_statement
from rulescore.language.syntax import ExtractIncompatible

_MOST = 5


@dataclass(frozen=True, slots=True)
class ArgumentCounts:
    """How many facts a predicate of two arguments has, and how many different first and second arguments."""

    facts: int
    first: int
    second: int


def offers(
    heads: Sequence[str], pairs: Collection[tuple[str, str]], counts: Mapping[str, ArgumentCounts], observed: Collection[str]
) -> tuple[str, ...]:
    """Declarations that could refute heads, each with its support in the data. `pairs`: predicates that share no tuple of them."""
    concerned = sum(1 for pair in pairs if not set(heads).isdisjoint(pair))
    found = []
    if keys := sum(counts[head].first for head in heads if head in counts):
        said = print_statement(PartiallyComplete(None))
        found.append(f"as rule miners assume, a first argument with facts has no others; the heads have {keys:,} of them: {said}")
    if concerned:
        said = print_statement(ExtractIncompatible())
        found.append(f"{concerned:,} pairs of a head's predicate and another never hold of the same arguments: {said}")
    if functional := list(_functional(heads, counts)):
        found.append(f"so are all their facts in the data ({_facts(functional)}): {_first([text for text, _ in functional])}")
    if known := [print_statement(Closed(head)) for head in heads if head in observed]:
        found.append(f"if every fact that the data do not have is false: {_first(known)}")
    return ("declare what is true of your data, in a rule file beside; these fit them:", *found) if found else ()


def _functional(heads: Sequence[str], counts: Mapping[str, ArgumentCounts]) -> Iterator[tuple[str, int]]:
    """`functional` statements that all facts agree with, and the number of these facts; the most first. One fact proves nothing."""
    known = sorted(((counts[head], head) for head in heads if head in counts), key=lambda one: (-one[0].facts, one[1]))
    for one, head in known:
        if one.facts > 1 and one.facts == one.first:
            yield print_statement(Functional(head, 2, (0,), (1,))), one.facts
        if one.facts > 1 and one.facts == one.second:
            yield print_statement(Functional(head, 2, (1,), (0,))), one.facts


def _facts(functional: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{facts:,}" for _, facts in functional[:_MOST]) + (", …" if len(functional) > _MOST else "")


def _first(statements: Sequence[str]) -> str:
    # Not in backticks: the name of a predicate may have backticks itself.
    more = f" … and {len(statements) - _MOST:,} more" if len(statements) > _MOST else ""
    return " ".join(statements[:_MOST]) + more
