"""A violation as data: one grounding whose head is refuted, with all that we know about it. Rules of every form have violations of
this kind."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice, product
from typing import Protocol

from rulescore.language.printer import print_term, write_row
from rulescore.language.syntax import Atom, Constant, Term
from rulescore.language.terms import write_predicate, write_value
from rulescore.scoring.labels import Labels
from rulescore.values import Value, is_of_days, parse_moment


@dataclass(frozen=True)  # no slots: each object keeps its text in an attribute
class Fact:
    """A ground atom with the values of its arguments; None stands for anything. `names`: the attributes, if it is a row.
    `predicted`: it is the row of the prediction, with the predicted values."""

    predicate: str
    values: tuple[Value | None, ...]
    names: tuple[str, ...] = ()
    negative: bool = False
    predicted: bool = False

    def __str__(self) -> str:
        # We use no cached property: its lock takes longer than making the text.
        text: str | None = self.__dict__.get("text")
        if text is None:
            text = self.__dict__["text"] = self._text()
        return text

    def _text(self) -> str:
        # There are many facts, so we write their values without making terms of them.
        terms = ["_" if value is None else write_value(value) for value in self.values]
        if self.names:
            text = write_row(self.predicate, zip(self.names, terms, strict=True))
        else:
            text = f"{write_predicate(self.predicate)}({', '.join(terms)})"
        return f"negative {text}" if self.negative else text


@dataclass(frozen=True, slots=True)
class Refuter:
    """A refuter of a head: facts that hold, and facts that are absent. `declared`: the declaration, if there are no such facts."""

    facts: tuple[Fact, ...] = ()
    absent: tuple[Fact, ...] = ()
    declared: str | None = None

    def __str__(self) -> str:
        if self.declared == "closed":
            return f"nothing says {', '.join(map(str, self.absent))}: closed"
        parts = [*map(str, self.facts), *(f"not {fact}" for fact in self.absent)]
        return ", ".join(parts) if parts else self.declared or "its own arguments"

    @property
    def labels(self) -> tuple[str, ...]:
        """The refuting predicates: predicates of facts that hold, and closed predicates without the fact."""
        labels = [f"negative {fact.predicate}" if fact.negative else fact.predicate for fact in self.facts]
        closed = [f"closed {fact.predicate}" for fact in self.absent] if self.declared == "closed" else []
        return tuple(dict.fromkeys(labels or closed)) or (str(self),)


@dataclass(frozen=True, slots=True)
class ComparedValues:
    """A comparison with the values of both sides. `holds`: whether the comparison holds. If the head forbids it, that is the
    violation. `margin`: by how much it holds or fails, if the sides are numbers; if they are dates, date-times or durations, in
    days. `percent`: the sides are percentages. `named`: the sides are equated as they stand in the data, so whole numbers may be
    classes, which have no distance."""

    text: str
    left: Value
    right: Value
    holds: bool
    percent: bool = False
    named: bool = False

    @property
    def unit(self) -> str | None:
        """The unit of the margin, if it differs from the unit of the sides."""
        if self.percent:
            return "percentage points"
        return None if self.distance is None else "days"

    @property
    def margin(self) -> int | float | None:
        match self.left, self.right:
            case (str() | bool(), _) | (_, str() | bool()):
                return None
            case (int(), int()) if self.named:
                return None
            case (int() | float() as left, int() | float() as right):
                return abs(left - right)
            case _:
                pass
        distance = self.distance
        if distance is None:
            return None
        return distance.days if is_of_days(distance) else distance / datetime.timedelta(days=1)

    @property
    def distance(self) -> datetime.timedelta | None:
        """How far two dates, date-times or durations are apart."""
        match self.left, self.right:
            case (datetime.timedelta() as left, datetime.timedelta() as right):
                return abs(left - right)
            case (datetime.date() as left, datetime.date() as right):
                return abs(left - right)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate with its value over the data and the prediction, and over the data alone."""

    text: str
    value: Value | None
    before: Value | None


@dataclass(frozen=True, slots=True)
class ShapeResult:
    """What a validator of SHACL would say of a violation: the parameter of the shape that it breaks, such as `sh:minCount`, the
    focus node, the path as SPARQL writes it, the value, and the message of the shape."""

    constraint: str | None
    focus: Value | None
    path: str | None
    value: Value | None
    message: str | None


@dataclass(frozen=True, slots=True)
class Violation:
    """`model`, `prediction`, its `score` and `rank` are None for violations in the data alone. `body`: the conditions of the body
    in words. `facts`: its positive atoms, as facts. `absent`: the facts that its negated atoms deny. `tested`: its other conditions
    but comparisons, if the rule forbids it. `confirmed`: the head is
    confirmed, so this is not a violation. `result`: the subject of the violation, if its rule names one."""

    rule: str
    binding: Mapping[str, Value]
    body: tuple[str, ...]
    head: str
    facts: tuple[Fact, ...] = ()
    absent: tuple[Fact, ...] = ()
    tested: tuple[str, ...] = ()
    refuters: tuple[Refuter, ...] = ()
    compared: tuple[ComparedValues, ...] = ()
    aggregated: tuple[Aggregated, ...] = ()
    model: str | None = None
    prediction: Fact | None = None
    score: float | None = None
    rank: int | None = None
    roles: tuple[str, ...] = ()
    confirmed: bool = False
    result: ShapeResult | None = None

    @property
    def refuted_by(self) -> tuple[str, ...]:
        """What refutes the head, in words."""
        return tuple(dict.fromkeys(map(str, self.refuters)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The predicates that refute the head; if there are none, what else refutes it."""
        labels = dict.fromkeys(label for refuter in self.refuters for label in refuter.labels)
        return tuple(labels) or (A_COMPARISON if self.compared and self.head != "false" else self.head,)


@dataclass(frozen=True, slots=True)
class Violations:
    """The rows that were asked for, and how many there are in all. `counts`: by rule and model, None being the data.
    `says_nothing`: why there can be no violations, if that follows from the rules and the predictions alone. `keys`: the key
    columns of tables, by the predicate of their predictions."""

    total: int
    rows: list[Violation]
    says_nothing: str | None = None
    counts: Mapping[tuple[str, str | None], int] = field(default_factory=dict)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class FindsViolations(Protocol):
    """The part of a session that reports use."""

    @property
    def labels(self) -> Labels:
        """The names that people see in place of ids."""

    def violations(self, *, rule: str | None = None, model: str | None = None, limit: int | None = 20) -> Violations:
        """The first violations of a rule, or of all rules, by a model or, if `model` is None, by the data."""


@dataclass(frozen=True, slots=True)
class PredictedKey:
    """The key of a row of a table, whose target is predicted."""

    values: tuple[Value, ...]

    def __str__(self) -> str:
        return ", ".join(print_term(Constant(value)) for value in self.values)


@dataclass(frozen=True, slots=True)
class JudgedPrediction:
    """A model's prediction by its number and as keys of constants; whether it is an observed fact, and whether all its constants
    occur in the data; the rules that it breaks, and the rules that it meets without breaking them, by their numbers."""

    number: int
    model: str
    predicate: str
    keys: tuple[str, ...]
    observed: bool
    linked: bool
    breaks: tuple[int, ...]
    meets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A prediction's contributions to the rules, by their names: the confirmed, refuted and evaluable groundings in which it takes
    part. `models`: the models that predict it. `confirmations`: the groundings of the rules that it meets."""

    prediction: Fact
    models: tuple[str, ...]
    counts: Mapping[str, tuple[int, int, int]]
    violations: Violations
    confirmations: Violations


class CountedBy(StrEnum):
    """The properties by which violations are counted. An entity is an argument of the prediction (of a table: its key) or, in the
    data, a value of the grounding; a refuter is the predicate of the fact that refutes; a pattern is the predicate that should hold
    with a refuter."""

    RULE = "rule"
    PREDICATE = "predicate"
    REFUTER = "refuter"
    ENTITY = "entity"
    PREDICTION = "prediction"
    PATTERN = "pattern"


A_COMPARISON = "a comparison"
"""What refutes a head that compares values."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """`should`: the predicate of the head, empty for a denial constraint, or a head that is no fact as a text. `against`: the
    predicate of what refutes it; of a denial constraint, its name."""

    should: str
    against: str

    def __str__(self) -> str:
        return f"should be {self.should}, is {self.against}" if self.should else f"forbidden by {self.against}"


@dataclass(frozen=True, slots=True)
class CountedViolations:
    """The number of violations of a model, or of the data, for one value of the property by which we count. `predictions`: how many
    of the model's predictions cause them, if known. `pattern`: the pattern, if they are counted by patterns; `what` is its text."""

    what: Value
    model: str | None
    violations: int
    predictions: int | None = None
    prediction: Fact | None = None
    score: float | None = None
    rank: int | None = None
    pattern: Pattern | None = None


def other_writings(atom: Atom) -> Iterator[Atom]:
    """The same atom with constants of another type that look alike: `5` for `"5"`, or `"5"` for `5`."""
    choices = [list(_writings(term)) for term in atom.terms]
    for terms in islice(product(*choices), 1, _MOST_WRITINGS):
        yield Atom(atom.predicate, terms)


_MOST_WRITINGS = 256


def _writings(term: Term) -> Iterator[Term]:
    yield term
    match term:
        case Constant(str() as text):
            for read in (int, float, datetime.date.fromisoformat, parse_moment, {"true": True, "false": False}.__getitem__):
                try:
                    value = read(text)
                except (ValueError, KeyError):
                    continue
                if not isinstance(value, float) or math.isfinite(value):
                    yield Constant(value)
        case Constant(value):
            yield Constant(print_term(term))
        case _:
            return
