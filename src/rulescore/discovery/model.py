"""The results of discovery, as data. A rule has the counts that an audit of its text gives under the same declarations."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rulescore.scoring.results import Counts
from rulescore.setting.choices import AtLeastOne, Convention, Share


class Form(StrEnum):
    """The forms of rules, in the order in which they are shown."""

    IMPLICATION = "implication"
    INVERSION = "inversion"
    TWO_ATOMS = "two_atoms"
    ONE_PLACE = "one_place"
    CONSTANTS = "constants"
    LONGER = "longer"
    FUNCTIONAL = "functional"
    DISJOINT = "disjoint"
    ASYMMETRIC = "asymmetric"
    IRREFLEXIVE = "irreflexive"
    INCOMPATIBLE = "incompatible"
    BOUND = "bound"
    COMPARISON = "comparison"
    DEPENDENCY = "dependency"
    ALLOWED_VALUES = "allowed_values"
    CONDITIONAL_VALUES = "conditional_values"
    SUM = "sum"
    TOLERANCE = "tolerance"
    RELATIVE_BOUND = "relative_bound"

    @property
    def is_denial(self) -> bool:
        """Whether its rules are denial constraints, which the data never break."""
        return self in _DENIALS

    @property
    def is_of_tables(self) -> bool:
        """Whether its rules are about the columns of tables."""
        return self in _OF_TABLES

    @property
    def heading(self) -> str:
        """The heading above its rules."""
        return _HEADINGS[self]


_HEADINGS = {
    Form.IMPLICATION: "One fact implies another",
    Form.INVERSION: "A fact the other way round",
    Form.TWO_ATOMS: "Two facts imply a third",
    Form.ONE_PLACE: "Predicates of one place",
    Form.CONSTANTS: "With constants",
    Form.LONGER: "Three facts imply another",
    Form.FUNCTIONAL: "Places with one value",
    Form.DISJOINT: "Places whose entities never meet",
    Form.ASYMMETRIC: "Never both ways",
    Form.IRREFLEXIVE: "Never to itself",
    Form.INCOMPATIBLE: "Predicates that never meet",
    Form.BOUND: "Bounds",
    Form.COMPARISON: "Two columns compared",
    Form.DEPENDENCY: "One column decides another",
    Form.ALLOWED_VALUES: "Allowed values",
    Form.CONDITIONAL_VALUES: "Allowed values under a condition",
    Form.SUM: "Sums of columns",
    Form.TOLERANCE: "Tolerances within groups",
    Form.RELATIVE_BOUND: "Bounds relative to a group",
}
_OF_TABLES = frozenset(
    {
        Form.BOUND,
        Form.COMPARISON,
        Form.DEPENDENCY,
        Form.ALLOWED_VALUES,
        Form.CONDITIONAL_VALUES,
        Form.SUM,
        Form.TOLERANCE,
        Form.RELATIVE_BOUND,
    }
)
_DENIALS = frozenset({Form.INCOMPATIBLE, Form.FUNCTIONAL, Form.ASYMMETRIC, Form.IRREFLEXIVE, Form.DISJOINT})


@dataclass(frozen=True, slots=True)
class DiscoveredRule:
    """A rule, with its counts in the data.

    `text`: the rule in our language, without a full stop. `counts`: over the facts that picked it. `expected`: how many
    confirmations chance would give under the null model, or how many violations of a denial constraint; None if the form has no
    null model. `head_facts`: how many facts have the predicate of its head. `explained`: how many of them some grounding confirms.
    `held_out`: counts on data that did not pick it. `left_out`: why we do not show it.
    """

    form: Form
    text: str
    counts: Counts
    expected: float | None = None
    head_facts: int | None = None
    explained: int | None = None
    held_out: Counts | None = None
    left_out: str | None = None

    @property
    def lift(self) -> float | None:
        """How many times more often it is confirmed than by chance."""
        return self.counts.confirmed / self.expected if self.expected else None

    @property
    def coverage(self) -> float | None:
        """The share of the head's facts that it explains."""
        return self.explained / self.head_facts if self.explained is not None and self.head_facts else None


@dataclass(frozen=True, slots=True)
class DiscoverOptions:
    """What to look for, and what to keep.

    `hold_out`: the share of the facts that pick no rule, drawn with `seed`. `forms`: only these forms; empty for all. `longer`:
    also extend kept rules by an atom. `everything`: also list what we leave out, and why. `max_groundings`: we leave out a form
    that would look at more, and say so.
    """

    min_support: AtLeastOne = 10
    max_rate: Share = 0.1
    min_evaluable: AtLeastOne = 1
    limit: AtLeastOne = 30
    distinct_variables: bool | None = None
    convention: Convention = Convention.DEFINITION
    hold_out: Share = 0.0
    seed: int = 0
    forms: frozenset[Form] = frozenset()
    longer: bool = False
    everything: bool = False
    max_groundings: AtLeastOne = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Discovery:
    """What we found.

    `rules`: the rules that we keep, the most useful first. `left_out`: the other rules, each with its reason. `declarations`: the
    statements that a file needs before the rules, each with its full stop. `reasons`: why we found nothing, or nothing of a form.
    `notes`: what else people should know. `facts`: how many facts or rows picked the rules.
    """

    options: DiscoverOptions
    rules: tuple[DiscoveredRule, ...] = ()
    left_out: tuple[DiscoveredRule, ...] = ()
    declarations: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    facts: int = 0
    held_out_facts: int = 0
    digest: str | None = field(default=None, compare=False)
    command: str | None = field(default=None, compare=False)

    @property
    def unit(self) -> str:
        """The unit of `facts`: rows if all rules are about tables, else facts."""
        return "row" if self.rules and all(rule.form.is_of_tables for rule in self.rules) else "fact"
