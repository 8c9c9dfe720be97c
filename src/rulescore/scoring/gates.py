"""Gates, read from text: conditions under which a build fails.

hard > 0                              an aggregate, or a count, against a number
violating > 1%                        a share of the model's distinct predictions
rate > 1%                             the highest rate of a rule: under the model or, in an audit, over the data
rule(aunt_by_father).score > 3        a number of one rule; `rule("a) b").rate` if the name has unpaired parentheses
worse than baseline.json by 5%        every aggregate and the violating share, against a saved result
soft worse than baseline.json by 0.1  one of them, also by an amount
hard > 0 if judged                    passed by a model of which no prediction was judged, too
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from rulescore.errors import Diagnostic, InputError, Place, Source, Span, meant, place_of, refuse, ticked
from rulescore.setting.choices import GateSeverity
from rulescore.setting.model import GateText


class Quantity(StrEnum):
    """Numbers of a model. `hard` and `soft` are the published aggregates. An audit has the numbers in `OF_DATA`, over the
    data: the highest rate of a rule, and the refuted and the evaluable groundings of all rules."""

    HARD = "hard"
    SOFT = "soft"
    HARD_MEAN = "hard_mean"
    SOFT_MEAN = "soft_mean"
    VIOLATING = "violating"
    VIOLATING_ANY = "violating_any"
    VIOLATING_NEW = "violating_new"
    EVALUABLE = "evaluable"
    NEW = "new"
    LINKED = "linked"
    JUDGED = "judged"
    RATE = "rate"
    REFUTED = "refuted"


class RuleQuantity(StrEnum):
    """Numbers of one rule under a model."""

    SCORE = "score"
    RATE = "rate"
    REFUTED = "refuted"
    EVALUABLE = "evaluable"
    SHARE = "share"


OF_DATA = frozenset(
    {
        Quantity.RATE,
        Quantity.REFUTED,
        Quantity.EVALUABLE,
        RuleQuantity.RATE,
        RuleQuantity.REFUTED,
        RuleQuantity.EVALUABLE,
    }
)
"""Numbers that an audit has."""


class GateOperator(StrEnum):
    ABOVE = ">"
    AT_LEAST = ">="
    BELOW = "<"
    AT_MOST = "<="


@dataclass(frozen=True, slots=True)
class OfModel:
    quantity: Quantity

    def __str__(self) -> str:
        return self.quantity.value


@dataclass(frozen=True, slots=True)
class OfRule:
    rule: str
    quantity: RuleQuantity
    span: Span | None = field(default=None, compare=False, repr=False)
    """Where the rule is named."""

    def __str__(self) -> str:
        return f"rule({self.rule}).{self.quantity}"


Measured = OfModel | OfRule


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number, or a percentage: of predictions or groundings, or of what a saved result has."""

    number: Fraction
    percent: bool = False

    @property
    def value(self) -> int | float:
        exact = self.number / 100 if self.percent else self.number
        return exact.numerator if exact.denominator == 1 else float(exact)


@dataclass(frozen=True, slots=True)
class Limit:
    """Fails if the comparison holds."""

    what: Measured
    operator: GateOperator
    bound: Threshold


@dataclass(frozen=True, slots=True)
class Worse:
    """Fails if a number is above the saved one by more than `by`. Without `what`: any aggregate, or the violating share."""

    baseline: str
    by: Threshold
    what: Measured | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    """Where the saved result is named."""


@dataclass(frozen=True, slots=True)
class Gate:
    """`models`: the models it is for, None for all. `place`: where the text names them. `at`: where the text stands. `if_judged`: a
    number that is 0 because nothing was judged meets it."""

    text: str
    condition: Limit | Worse
    if_judged: bool = False
    name: str | None = None
    severity: GateSeverity = GateSeverity.ERROR
    models: tuple[str, ...] | None = None
    place: Place | None = field(default=None, compare=False, repr=False)
    at: Place | None = field(default=None, compare=False, repr=False)

    @property
    def title(self) -> str:
        return self.text if self.name is None else f"{self.name}: {self.text}"


def parse_gate(
    text: str,
    *,
    name: str | None = None,
    severity: GateSeverity = GateSeverity.ERROR,
    models: tuple[str, ...] | None = None,
) -> Gate:
    return read_gate(GateText(text, Span(Source("gate", text), 0, len(text)), name, severity, models))


def read_gate(gate_text: GateText) -> Gate:
    text = _IF_JUDGED.sub("", gate_text.text)
    condition = _GateReader(text, gate_text.span).gate()
    if isinstance(condition, Worse):
        condition = replace(condition, baseline=str(gate_text.folder / condition.baseline))
    if_judged = text != gate_text.text
    text, models, place = gate_text.text.strip(), gate_text.models, gate_text.place
    return Gate(text, condition, if_judged, gate_text.name, gate_text.severity, models, place, gate_text.span.place())


def read_gates(gate_texts: Iterable[GateText]) -> tuple[Gate, ...]:
    """The gates; everything wrong with them is raised together."""
    read: list[Gate] = []
    problems: list[Diagnostic] = []
    for gate_text in gate_texts:
        try:
            read.append(read_gate(gate_text))
        except InputError as error:
            problems.extend(error.problems)
    refuse(problems)
    return tuple(read)


def gate_problems(gates: Iterable[Gate], rules: Collection[str], models: Collection[str]) -> list[Diagnostic]:
    """Problems for the rules and models that gates name and that do not exist."""
    return [problem for gate in gates for problem in (*_unknown_rule(gate, rules), *_unknown_models(gate, models))]


def data_gate_problems(gates: Iterable[Gate], rules: Collection[str]) -> list[Diagnostic]:
    """Problems for gates on an audit: they name a rule that does not exist, or a number that only models have."""
    return [problem for gate in gates for problem in (*_unknown_rule(gate, rules), *_not_of_data(gate))]


def _not_of_data(gate: Gate) -> Iterator[Diagnostic]:
    notes = ("an audit has `rate`, `refuted` and `evaluable`, of all rules or of one: `rule(NAME).refuted > 0`",)
    match gate.condition:
        case Worse(span=span):
            helps = ("`rulescore audit --against` compares two data sets",)
            yield Diagnostic("E520", "a saved result has models, and an audit has none", place_of(span), notes=notes, helps=helps)
        case Limit(what=what) if what.quantity not in OF_DATA:
            yield Diagnostic("E520", f"`{what}` is a number of models, and an audit has none", gate.at, notes=notes)
        case _:
            return


def _unknown_rule(gate: Gate, rules: Collection[str]) -> Iterator[Diagnostic]:
    what = gate.condition.what
    if isinstance(what, OfRule) and what.rule not in rules:
        place = place_of(what.span)
        helps = meant(what.rule, rules) or ("`rulescore rules` lists the names",)
        yield Diagnostic("E261", f"no rule is named `{what.rule}`", place, helps=helps)


def _unknown_models(gate: Gate, models: Collection[str]) -> Iterator[Diagnostic]:
    for model in gate.models or ():
        if model not in models:
            notes = (f"the models: {ticked(models) or 'there are none'}",)
            yield Diagnostic("E261", f"no model is named `{model}`", gate.place, notes=notes, helps=meant(model, models))


_MEASURES = f"{ticked(Quantity)}, and `rule(NAME).score`"
_RULE_MEASURES = ", ".join(f"`.{quantity}`" for quantity in RuleQuantity)
_OPERATORS = ticked(GateOperator)
_SPELLINGS = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<="}
COUNTED = {
    Quantity.VIOLATING,
    Quantity.VIOLATING_ANY,
    Quantity.VIOLATING_NEW,
    Quantity.NEW,
    Quantity.LINKED,
    Quantity.JUDGED,
}
"""Numbers of predictions, which may be compared with a percentage."""
_SHARES = COUNTED | {Quantity.RATE, RuleQuantity.RATE, RuleQuantity.SHARE}
# For these numbers, more is neither better nor worse.
_WITHOUT_DIRECTION = {
    Quantity.EVALUABLE,
    Quantity.NEW,
    Quantity.LINKED,
    Quantity.JUDGED,
    RuleQuantity.EVALUABLE,
    RuleQuantity.SHARE,
}

_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?|\.\d{1,30}")
_SIGN = re.compile(r"[<>=!≤≥]+")
_QUOTED = re.compile(r"""(["'])((?:\\.|(?!\1)[^\\])*)\1""")
_IF_JUDGED = re.compile(r"\s+if\s+judged\s*$")
_LAST_BY = re.compile(r"(?:.*\s)?(?=by(?:\s|$))")
# The next token, named as a person would name it.
_NEXT = re.compile(rf"[^\W\d]\w*|{_NUMBER.pattern}|{_SIGN.pattern}|\S+|$")


class _GateReader:
    """Reads one gate from left to right. Offsets count in its text; `span` says where the text begins in its source."""

    def __init__(self, text: str, span: Span) -> None:
        self._text, self._span, self._at = text, span, 0

    def gate(self) -> Limit | Worse:
        what = None if self._next() == "worse" else self._measured()
        read = self._limit(what) if what is not None and self._next() != "worse" else self._worse(what)
        if token := self._next():
            joins = token in {"and", "or", ",", ";", "&&", "||"}
            raise self._unexpected("the end of the gate", helps=("give each gate alone",) if joins else ())
        return read

    def _measured(self) -> Measured:
        if self._taken("rule"):
            return self._of_rule()
        word = self._word("a measure", Quantity, "rule", "worse", notes=(f"measures are {_MEASURES}",))
        return OfModel(Quantity(word))

    def _of_rule(self) -> OfRule:
        self._expect("(", "the name of a rule in parentheses")
        name, span = self._quoted() or self._in_parentheses()
        if not name:
            raise self._failure("E520", "the name of the rule is missing", span, "write `rule(NAME).score`")
        self._expect(")", "`)`")
        self._expect(".", f"one of {_RULE_MEASURES}")
        return OfRule(name, RuleQuantity(self._word(f"one of {_RULE_MEASURES}", RuleQuantity)), span)

    def _in_parentheses(self) -> tuple[str, Span]:
        """Up to the parenthesis that closes the one just passed."""
        start, depth = self._at, 0
        for offset in range(start, len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[offset], 0)
            if depth < 0:
                return self._until(offset)
        advice = 'write `rule(NAME).score`, or `rule("NAME").score` if the name has parentheses of its own'
        raise self._failure("E520", "a parenthesis is not closed", self._part(start - 1, start), advice)

    def _limit(self, what: Measured) -> Limit:
        sign = _SPELLINGS.get(self._next(), self._next())
        if sign not in set(GateOperator):
            helps = ("a gate fails above or below a number",) if _SIGN.fullmatch(sign) and "=" in sign else ()
            raise self._unexpected("a comparison", notes=(f"comparisons are {_OPERATORS}",), helps=helps)
        self._taken(self._next())
        bound, span = self._bound()
        if bound.percent and what.quantity not in _SHARES:
            message = f"`{what}` is not a share, so it cannot be compared with a percentage"
            raise self._failure("E520", message, span, f"write `{what} {sign} {_plain(bound)}`")
        return Limit(what, GateOperator(sign), bound)

    def _worse(self, what: Measured | None) -> Worse:
        self._taken("worse")
        if what is not None and what.quantity in _WITHOUT_DIRECTION:
            span = self._part(len(self._text) - len(self._text.lstrip()), self._at)
            advice = f"compare it with a number: `{what} < 100`"
            raise self._failure("E520", f"more of `{what}` is neither better nor worse", span, advice)
        if not self._taken("than"):
            raise self._unexpected("`than` and a saved result")
        path, path_span = self._path()
        by, span = self._bound() if self._taken("by") else (Threshold(Fraction(0), percent=True), path_span)
        if what is None and not by.percent:
            advice = f"give a percentage, `by {_plain(by)}%`, or say of what: `soft worse than {path} by {_plain(by)}`"
            raise self._failure("E520", "an amount needs a measure", span, advice)
        return Worse(path, by, what, path_span)

    def _path(self) -> tuple[str, Span]:
        """A path in quotes, or up to the last `by`."""
        name = self._quoted()
        if name is None:
            last = _LAST_BY.match(self._text, self._at)
            name = self._until(len(self._text) if last is None else last.end())
        if not name[0]:
            raise self._failure("E520", "the saved result is missing", name[1], "write `worse than result.json by 5%`")
        return name

    def _quoted(self) -> tuple[str, Span] | None:
        if self._next()[:1] not in {'"', "'"}:
            return None
        match = _QUOTED.match(self._text, self._at)
        if match is None:
            raise self._failure("E520", "a quotation is not closed", self._part(self._at, len(self._text)))
        self._at = match.end()
        return re.sub(r"\\(.)", r"\1", match[2]), self._part(*match.span())

    def _until(self, end: int) -> tuple[str, Span]:
        """The text up to an offset, without blanks around it; if there is none, the span of the character behind it."""
        start, self._at = self._at, end
        text = self._text[start:end].strip()
        return text, self._part(start, start + max(1, len(text)))

    def _bound(self) -> tuple[Threshold, Span]:
        self._next()
        start, number = self._at, _NUMBER.match(self._text, self._at)
        if number is None:
            raise self._unexpected("a number")
        self._at = number.end()
        percent = self._next().startswith("%")
        self._at += percent
        return Threshold(Fraction(number[0]), percent), self._part(start, self._at)

    def _word(self, expected: str, known: Iterable[str], *more: str, notes: tuple[str, ...] = ()) -> str:
        word = self._next()
        if word not in set(known):
            raise self._unexpected(expected, notes=notes, helps=meant(word, [*known, *more]))
        self._at += len(word)
        return word

    def _next(self) -> str:
        """Passes blanks. Returns what comes next, without passing it."""
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        match = _NEXT.match(self._text, self._at)
        return match[0] if match else ""

    def _taken(self, word: str) -> bool:
        taken = self._next() == word
        self._at += len(word) * taken
        return taken

    def _expect(self, symbol: str, expected: str) -> None:
        if not self._next().startswith(symbol):
            raise self._unexpected(expected)
        self._at += 1

    def _unexpected(self, expected: str, *, notes: tuple[str, ...] = (), helps: tuple[str, ...] = ()) -> InputError:
        token = self._next()
        place = self._part(self._at, self._at + max(1, len(token))).place()
        message = f"expected {expected}, found {f'`{token}`' if token else 'the end of the gate'}"
        return InputError(Diagnostic("E520", message, place, notes=notes, helps=helps))

    def _failure(self, code: str, message: str, span: Span, advice: str = "") -> InputError:
        return InputError(Diagnostic(code, message, span.place(), helps=(advice,) if advice else ()))

    def _part(self, start: int, end: int) -> Span:
        return Span(self._span.source, self._span.start + start, self._span.start + end)


def _plain(bound: Threshold) -> str:
    return f"{float(bound.number):g}"
