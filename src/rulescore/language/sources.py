"""Rule files with what a user says about them: their format, and which of their rules to take."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rulescore.errors import Diagnostic, InputError, Source, place_of
from rulescore.language.formats.base import WEIGHT_TAG
from rulescore.language.formats.names import FormatName, WeighBy
from rulescore.language.formats.triples import Triple
from rulescore.language.syntax import Atom, Program, RowAtom, Rule
from rulescore.language.trees import atoms_in


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """Which rules of a file the user wants: those that meet all conditions. A rule that states no confidence, or no support, meets
    the condition on it. `max_length`: atoms in the body. `heads`: predicates of which one stands in the head. `weigh_by`: the
    figure that becomes the weight of a rule; a rule without it keeps its own."""

    min_confidence: float | None = None
    min_support: int | None = None
    max_length: int | None = None
    heads: tuple[str, ...] = ()
    weigh_by: WeighBy | None = None

    def wants(self, rule: Rule) -> bool:
        return (
            (self.min_confidence is None or rule.confidence is None or rule.confidence >= self.min_confidence)
            and (self.min_support is None or rule.support is None or rule.support >= self.min_support)
            and (self.max_length is None or sum(1 for _ in atoms_in(rule.body)) <= self.max_length)
            and (not self.heads or not set(self.heads).isdisjoint(map(_name, atoms_in(rule.head))))
        )

    def chosen(self, program: Program) -> Program:
        """The declarations, and the rules that the user wants, with their weights."""
        found = (one for one in program.statements if not isinstance(one, Rule) or self.wants(one))
        return Program(tuple(self._weighed(one) if isinstance(one, Rule) else one for one in found))

    def _weighed(self, rule: Rule) -> Rule:
        match self.weigh_by:
            case WeighBy.CONFIDENCE:
                return rule if rule.confidence is None else replace(rule, weight=rule.confidence)
            case WeighBy.WEIGHT:
                given = [float(tag.removeprefix(WEIGHT_TAG)) for tag in rule.tags if tag.startswith(WEIGHT_TAG)]
                if given and given[0] < 0:
                    message = f"the weight of a rule is {given[0]:g}, and weights of scores are 0 or more"
                    helps = ("leave the rule out, or weigh by something else",)
                    raise InputError(Diagnostic("E157", message, place_of(rule.span), helps=helps))
                return replace(rule, weight=given[0]) if given else rule
            case None:
                return rule


EVERY_RULE = RuleChoice()


@dataclass(frozen=True, slots=True, eq=False)
class RuleSource(Source):
    """`format`: the one the user names; None if we recognise it by the text. `digest`: of the bytes that were read from a file,
    with their number. `triples`: those of an ontology."""

    format: FormatName | None = field(default=None, kw_only=True)
    choice: RuleChoice = field(default=EVERY_RULE, kw_only=True)
    digest: tuple[str, int] | None = field(default=None, kw_only=True)
    triples: tuple[Triple, ...] = field(default=(), kw_only=True, repr=False)


def _name(atom: Atom | RowAtom) -> str:
    return atom.predicate if isinstance(atom, Atom) else atom.table
