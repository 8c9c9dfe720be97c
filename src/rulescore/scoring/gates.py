"""Gates: what a model must not do for a build to pass, read from text.

hard > 0                              an aggregate, or a count, against a number
violating > 1%                        a share of the model's distinct predictions
rule(aunt_by_father).score > 3        a number of one rule; `rule("a) b").rate` if the name has unpaired parentheses
worse than baseline.json by 5%        every aggregate and the violating share, against a saved result
soft worse than baseline.json by 0.1  one of them, also by an amount
hard > 0 if judged                    met by a model of which no prediction was judged, too
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from rulescore.errors import Diagnostic, InputError, Place, Source, Span, place_of, suggestion
from rulescore.setting.gates import GateSeverity, GateText


class Quantity(StrEnum):
    """Numbers of a model. `hard` and `soft` are the published aggregates."""

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


class RuleQuantity(StrEnum):
    """Numbers of one rule under a model."""

    SCORE = "score"
    RATE = "rate"
    REFUTED = "refuted"
    EVALUABLE = "evaluable"
    SHARE = "share"


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
    """Not met if the comparison holds."""

    what: Measured
    operator: GateOperator
    bound: Threshold


@dataclass(frozen=True, slots=True)
class Worse:
    """Not met if a number is above the saved one by more than `by`. Without `what`: any aggregate, or the violating share."""

    baseline: str
    by: Threshold
    what: Measured | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    """Where the saved result is named."""


@dataclass(frozen=True, slots=True)
class Gate:
    """`models`: the models it is for, None for all. `place`: where the text names them. `if_judged`: a number that is 0 because
    nothing was judged meets it."""

    text: str
    condition: Limit | Worse
    if_judged: bool = False
    name: str | None = None
    severity: GateSeverity = GateSeverity.ERROR
    models: tuple[str, ...] | None = None
    place: Place | None = field(default=None, compare=False, repr=False)

    @property
    def title(self) -> str:
        return self.text if self.name is None else f"{self.name}: {self.text}"


def parse_gate(
    text: str,
    *,
    name: str | None = None,
    severity: GateSeverity = GateSeverity.ERROR,
    models: tuple[str, ...] | None = None,
    origin: str = "gate",
) -> Gate:
    """`origin`: the name of the text in error messages."""
    return read_gate(GateText(text, Span(Source(origin, text), 0, len(text)), name, severity, models))


def read_gate(given: GateText) -> Gate:
    text = _IF_JUDGED.sub("", given.text)
    condition = _GateReader(text, given.span).gate()
    if isinstance(condition, Worse):
        condition = replace(condition, baseline=str(given.folder / condition.baseline))
    if_judged = text != given.text
    return Gate(given.text.strip(), condition, if_judged, given.name, given.severity, given.models, given.place)


def read_gates(given: Iterable[GateText]) -> tuple[Gate, ...]:
    """The gates; everything wrong with them is raised together."""
    read: list[Gate] = []
    problems: list[Diagnostic] = []
    for one in given:
        try:
            read.append(read_gate(one))
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return tuple(read)


def gate_problems(gates: Iterable[Gate], rules: Collection[str], models: Collection[str]) -> list[Diagnostic]:
    """Problems for the rules and models that gates name and that do not exist."""
    return [problem for gate in gates for problem in (*_unknown_rule(gate, rules), *_unknown_models(gate, models))]


def _unknown_rule(gate: Gate, rules: Collection[str]) -> Iterator[Diagnostic]:
    what = gate.condition.what
    if isinstance(what, OfRule) and what.rule not in rules:
        place = place_of(what.span)
        helps = _meant(what.rule, rules) or ("`rulescore rules` lists the names",)
        yield Diagnostic("E522", f"no rule is named `{what.rule}`", place, helps=helps)


def _unknown_models(gate: Gate, models: Collection[str]) -> Iterator[Diagnostic]:
    for model in gate.models or ():
        if model not in models:
            notes = (f"the models: {', '.join(f'`{one}`' for one in models) or 'there are none'}",)
            yield Diagnostic("E522", f"no model is named `{model}`", gate.place, notes=notes, helps=_meant(model, models))


def _meant(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """A suggestion for a word, whatever the case of its letters."""
    by_small = {one.casefold(): one for one in known}
    close = suggestion(word.casefold(), by_small)
    return () if close is None else (f"did you mean `{by_small[close]}`?",)


_MEASURES = f"{', '.join(f'`{one}`' for one in Quantity)}, and `rule(NAME).score`"
_RULE_MEASURES = ", ".join(f"`.{one}`" for one in RuleQuantity)
_OPERATORS = ", ".join(f"`{one}`" for one in GateOperator)
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
_SHARES = COUNTED | {RuleQuantity.RATE, RuleQuantity.SHARE}
# More of these is neither better nor worse.
_WITHOUT_DIRECTION = {
    Quantity.EVALUABLE,
    Quantity.NEW,
    Quantity.LINKED,
    Quantity.JUDGED,
    RuleQuantity.EVALUABLE,
    RuleQuantity.SHARE,
}

_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?|\.\d{1,30}")
_SIGN = re.compile(r"[<>=!≤≥]+")
_QUOTED = re.compile(r"""(["'])((?:\\.|(?!\1)[^\\])*)\1""")
_IF_JUDGED = re.compile(r"\s+if\s+judged\s*$")
_LAST_BY = re.compile(r"(?:.*\s)?(?=by(?:\s|$))")
_ANYTHING = re.compile(r"\S+")


class _GateReader:
    """Reads one gate from left to right. Offsets are those of its text, `span` says where that begins in its source."""

    def __init__(self, text: str, span: Span) -> None:
        self._text = text
        self._span = span
        self._at = 0

    def gate(self) -> Limit | Worse:
        if self._taken("worse"):
            read: Limit | Worse = self._worse(None)
        else:
            what, start = self._measured()
            read = self._worse(what, start) if self._taken("worse") else self._limit(what)
        self._blanks()
        if self._at < len(self._text):
            joins = self._next() in {"and", "or", ",", ";", "&&", "||"}
            raise self._unexpected("the end of the gate", help="give every gate by itself" if joins else "")
        return read

    def _measured(self) -> tuple[Measured, int]:
        self._blanks()
        start = self._at
        word = self._match(_WORD)
        if word == "rule":
            return self._of_rule(), start
        if word is None or word not in set(Quantity):
            self._at = start
            raise self._unexpected(
                "a measure", notes=(f"measures are {_MEASURES}",), helps=_meant(word or "", [*Quantity, "rule", "worse"])
            )
        return OfModel(Quantity(word)), start

    def _of_rule(self) -> OfRule:
        self._expect("(", "the name of a rule in parentheses")
        self._blanks()
        start = self._at
        name = self._quoted() if self._text[start : start + 1] in {'"', "'"} else self._in_parentheses()
        span = self._part(start, self._at)
        if not name:
            raise self._failure("E520", "the name of the rule is missing", start, start + 1, help="write `rule(NAME).score`")
        self._expect(")", "`)`")
        self._expect(".", f"one of {_RULE_MEASURES}")
        self._blanks()
        start = self._at
        word = self._match(_WORD)
        if word is None or word not in set(RuleQuantity):
            self._at = start
            raise self._unexpected(f"one of {_RULE_MEASURES}", helps=_meant(word or "", RuleQuantity))
        return OfRule(name, RuleQuantity(word), span)

    def _in_parentheses(self) -> str:
        """Up to the parenthesis that closes the one just passed."""
        start, depth = self._at, 0
        for offset in range(start, len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[offset], 0)
            if depth < 0:
                self._at = offset
                return self._text[start:offset].strip()
        help = 'write `rule(NAME).score`, or `rule("NAME").score` if the name has parentheses of its own'
        raise self._failure("E520", "a parenthesis is not closed", start - 1, start, help=help)

    def _quoted(self) -> str:
        found = _QUOTED.match(self._text, self._at)
        if found is None:
            raise self._failure("E520", "a quotation is not closed", self._at, len(self._text))
        self._at = found.end()
        return re.sub(r"\\(.)", r"\1", found[2])

    def _limit(self, what: Measured) -> Limit:
        self._blanks()
        start = self._at
        sign = self._match(_SIGN) or ""
        sign = _SPELLINGS.get(sign, sign)
        if sign not in set(GateOperator):
            self._at = start
            helps = ("a gate fails above or below a number",) if "=" in sign else ()
            raise self._unexpected("a comparison", notes=(f"comparisons are {_OPERATORS}",), helps=helps)
        start, bound = self._bound()
        if bound.percent and what.quantity not in _SHARES:
            message = f"`{what}` is not a share, so it cannot be compared with a percentage"
            raise self._failure("E521", message, start, self._at, help=f"write `{what} {sign} {_plain(bound)}`")
        return Limit(what, GateOperator(sign), bound)

    def _worse(self, what: Measured | None, start: int = 0) -> Worse:
        if what is not None and what.quantity in _WITHOUT_DIRECTION:
            help = f"compare it with a number: `{what} < 100`"
            raise self._failure("E521", f"more of `{what}` is neither better nor worse", start, self._at, help=help)
        if not self._taken("than"):
            raise self._unexpected("`than` and a saved result")
        path, span = self._path()
        by, start = Threshold(Fraction(0), percent=True), self._at
        if self._taken("by"):
            start, by = self._bound()
        if what is None and not by.percent:
            message = "several numbers have no amount in common"
            help = f"give a percentage, `by {_plain(by)}%`, or say of what: `soft worse than {path} by {_plain(by)}`"
            raise self._failure("E521", message, start, self._at, help=help)
        return Worse(path, by, what, span)

    def _path(self) -> tuple[str, Span]:
        """A path in quotes, or up to the last `by`."""
        self._blanks()
        start = self._at
        if self._text[start : start + 1] in {'"', "'"}:
            path = self._quoted()
        else:
            last = _LAST_BY.match(self._text, start)
            self._at = len(self._text) if last is None else last.end()
            path = self._text[start : self._at].strip()
        if not path:
            raise self._failure(
                "E520", "the saved result is missing", start, start + 1, help="write `worse than result.json by 5%`"
            )
        return path, self._part(start, start + len(self._text[start : self._at].rstrip()))

    def _bound(self) -> tuple[int, Threshold]:
        self._blanks()
        start = self._at
        number = self._match(_NUMBER)
        if number is None:
            raise self._unexpected("a number")
        self._blanks()
        percent = self._text.startswith("%", self._at)
        self._at += percent
        return start, Threshold(Fraction(number), percent)

    def _blanks(self) -> None:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[0]

    def _next(self) -> str:
        """What comes next, as a person would name it."""
        for pattern in (_WORD, _NUMBER, _SIGN, _ANYTHING):
            if found := pattern.match(self._text, self._at):
                return found[0]
        return ""

    def _taken(self, word: str) -> bool:
        self._blanks()
        if self._next() != word:
            return False
        self._at += len(word)
        return True

    def _expect(self, symbol: str, expected: str) -> None:
        self._blanks()
        if not self._text.startswith(symbol, self._at):
            raise self._unexpected(expected)
        self._at += len(symbol)

    def _unexpected(self, expected: str, *, notes: tuple[str, ...] = (), helps: tuple[str, ...] = (), help: str = "") -> InputError:
        self._blanks()
        found = self._next()
        shown = f"`{found}`" if found else "the end of the gate"
        place = self._part(self._at, self._at + max(1, len(found))).place()
        message = f"expected {expected}, found {shown}"
        return InputError(Diagnostic("E520", message, place, "", notes, (*helps, help) if help else helps))

    def _failure(self, code: str, message: str, start: int, end: int, *, help: str = "") -> InputError:
        return InputError(Diagnostic(code, message, self._part(start, end).place(), helps=(help,) if help else ()))

    def _part(self, start: int, end: int) -> Span:
        return Span(self._span.source, self._span.start + start, self._span.start + end)


def _plain(bound: Threshold) -> str:
    return f"{float(bound.number):g}"
