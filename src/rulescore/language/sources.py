"""Rule files with what a user says about them: their format, and which of their rules are wanted."""

from __future__ import annotations

from dataclasses import dataclass, field

from rulescore.errors import Source
from rulescore.language.formats.base import FormatName
from rulescore.language.syntax import Atom, Program, RowAtom, Rule
from rulescore.language.trees import atoms_in


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """Which rules of a file are wanted: all conditions have to hold. Rules that state no confidence, or no support, are not
    judged by it. `max_length`: atoms in the body. `heads`: predicates of which one stands in the head."""

    min_confidence: float | None = None
    min_support: int | None = None
    max_length: int | None = None
    heads: tuple[str, ...] = ()

    def wants(self, rule: Rule) -> bool:
        return (
            (self.min_confidence is None or rule.confidence is None or rule.confidence >= self.min_confidence)
            and (self.min_support is None or rule.support is None or rule.support >= self.min_support)
            and (self.max_length is None or sum(1 for _ in atoms_in(rule.body)) <= self.max_length)
            and (not self.heads or not set(self.heads).isdisjoint(map(_name, atoms_in(rule.head))))
        )

    def chosen(self, program: Program) -> Program:
        """The declarations, and the rules that are wanted."""
        return Program(tuple(one for one in program.statements if not isinstance(one, Rule) or self.wants(one)))


EVERY_RULE = RuleChoice()


@dataclass(frozen=True, slots=True, eq=False)
class RuleSource(Source):
    """`format`: the one the user names; None if the text has to tell."""

    format: FormatName | None = field(default=None, kw_only=True)
    choice: RuleChoice = field(default=EVERY_RULE, kw_only=True)


def _name(atom: Atom | RowAtom) -> str:
    return atom.predicate if isinstance(atom, Atom) else atom.table
