"""The built-in names, what each function takes and gives, and the choice between two readings of a text: `f(X)` is an atom or the
value of a function.
"""

from __future__ import annotations

from dataclasses import dataclass

from rulescore.errors import Span, suggestion, ticked
from rulescore.language import syntax
from rulescore.language.cursor import FUNCTIONS as NAMES_ELSEWHERE
from rulescore.language.cursor import Cursor, StatementError
from rulescore.values import DURATIONS, MOMENTS, NUMBERS, UNITS, ValueType

_STRING, _INTEGER, _FLOAT = ValueType.STRING, ValueType.INTEGER, ValueType.FLOAT
_BOOLEAN, _DATE = ValueType.BOOLEAN, ValueType.DATE
ORDERED = frozenset({_INTEGER, _FLOAT, _DATE, *MOMENTS, *DURATIONS, _STRING})


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes: the types of each argument, whether the last may repeat, how many may be left out, and the type of its
    value (`result` None: the type of its arguments)."""

    arguments: tuple[frozenset[ValueType], ...]
    result: ValueType | None
    repeats: bool = False
    optional: int = 0

    @property
    def least(self) -> int:
        """The least number of arguments."""
        return len(self.arguments) - self.optional

    @property
    def most(self) -> int | None:
        """The greatest number of arguments; None if there is no limit."""
        return None if self.repeats else len(self.arguments)

    def takes(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    def argument(self, index: int) -> frozenset[ValueType]:
        return self.arguments[min(index, len(self.arguments) - 1)]


_TEXT = frozenset({_STRING})
_DAY = frozenset({_DATE, *MOMENTS})
MEASURES = NUMBERS | DURATIONS
LENGTHS = {"days": UNITS["day"], "hours": UNITS["hour"], "minutes": UNITS["minute"], "seconds": UNITS["second"]}
"""How long a duration is, in a unit of so many microseconds: a float, an integer if the duration is of days."""
FUNCTIONS = {
    "abs": Signature((MEASURES,), None),
    "min": Signature((ORDERED, ORDERED), None, repeats=True),
    "max": Signature((ORDERED, ORDERED), None, repeats=True),
    "round": Signature((NUMBERS, frozenset({_INTEGER})), _INTEGER, optional=1),
    "floor": Signature((NUMBERS,), _INTEGER),
    "ceil": Signature((NUMBERS,), _INTEGER),
    "ln": Signature((NUMBERS,), _FLOAT),
    "exp": Signature((NUMBERS,), _FLOAT),
    "sqrt": Signature((NUMBERS,), _FLOAT),
    "power": Signature((NUMBERS, NUMBERS), _FLOAT),
    "length": Signature((_TEXT,), _INTEGER),
    "lower": Signature((_TEXT,), _STRING),
    "upper": Signature((_TEXT,), _STRING),
    "year": Signature((_DAY,), _INTEGER),
    "month": Signature((_DAY,), _INTEGER),
    "day": Signature((_DAY,), _INTEGER),
    "date": Signature((MOMENTS,), _DATE),
    **dict.fromkeys(LENGTHS, Signature((DURATIONS,), _FLOAT)),
}
TEST_SIGNATURES = {
    "starts_with": Signature((_TEXT, _TEXT), _BOOLEAN),
    "ends_with": Signature((_TEXT, _TEXT), _BOOLEAN),
    "contains": Signature((_TEXT, _TEXT), _BOOLEAN),
}
"""Built-in tests of values. `within` is not among them: it becomes a comparison before the check of types."""


Node = syntax.Condition | syntax.Expression

AGGREGATES = frozenset(aggregation.value for aggregation in syntax.Aggregation)

TESTS = (*TEST_SIGNATURES, "within")
"""Conditions that are built in. A predicate of the data with such a name takes precedence."""

TOLERANCES = frozenset({"percent", "quantile", "spread"})
"""Tolerances, which only the last argument of `within` can be."""


def gives_value(name: str) -> bool:
    """Whether `name(…)` is a value if the name has no quotes."""
    return name in FUNCTIONS or name in AGGREGATES


def expression_of(cursor: Cursor, node: Node | syntax.Wildcard) -> syntax.Expression:
    """A node that the parser read, as a value."""
    if isinstance(node, syntax.Expression):
        return node
    match node:
        case syntax.Atom(predicate=name, terms=terms):
            return _call(cursor, name, tuple(expression_of(cursor, term) for term in terms), node.span)
        case syntax.Test(predicate=name, arguments=arguments):
            return _call(cursor, name, arguments, node.span)
        case syntax.Wildcard():
            advice = "name the variable, and bind it by an atom"
            raise cursor.failure("E109", "`_` has no value to compare or to compute with", _span(cursor, node.span), help=advice)
        case _:
            note = "a condition is true or false; it cannot be compared or computed with"
            raise cursor.failure("E109", "a condition stands where a value is needed", _span(cursor, node.span), note=note)


def condition_of(cursor: Cursor, node: Node) -> syntax.Condition:
    """A node that the parser read, as a condition. The cursor stands behind it."""
    match node:
        case syntax.Test(predicate=name, span=Span() as span) if gives_value(name) and span.source.text[span.start] not in '"`':
            raise _not_compared(cursor)
        case syntax.Constant(value=str() as name):
            raise without_arguments(cursor, name, _span(cursor, node.span))
        case _ if isinstance(node, syntax.Expression):
            raise _not_compared(cursor)
        case _:
            return node


def _not_compared(cursor: Cursor) -> StatementError:
    """The problem of a value that stands alone in the place of a condition."""
    advice = ""
    token, following = cursor.token, cursor.following
    if token.kind == "<-" and following.kind == "number" and following.start == token.end:
        advice = f"`<-` is the arrow of a rule; with a space it is a comparison: `< -{following.text}`"
    return cursor.unexpected("a comparison, such as `=` or `<`", help=advice)


def without_arguments(cursor: Cursor, name: str, span: Span) -> StatementError:
    return cursor.failure(
        "E101",
        f"`{name}` has no arguments",
        span,
        note="a predicate has one argument or more",
        help=f"name the arguments, as in `{name}(X)`",
    )


def _call(cursor: Cursor, name: str, arguments: tuple[syntax.Expression, ...], span: Span | None) -> syntax.Expression:
    place = _span(cursor, span)
    if name in TOLERANCES:
        advice = f"write `within(P, Q, {name}(…))`"
        raise cursor.failure("E119", f"`{name}` is a tolerance, which only `within` takes", place, help=advice)
    if name not in FUNCTIONS:
        raise without_colon(cursor, name, place) if name in AGGREGATES else _unknown_function(cursor, name, place)
    signature = FUNCTIONS[name]
    if not signature.takes(len(arguments)):
        advice = f"an aggregate has a colon: `{name}(X : p(X))`" if name in AGGREGATES else ""
        raise cursor.failure("E119", f"`{name}` takes {_number_of_arguments(signature.least, signature.most)}", place, help=advice)
    return syntax.Call(name, arguments, span)


def _number_of_arguments(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} arguments or more"
    return f"{least} argument{'' if most == 1 else 's'}" if least == most else f"{least} or {most} arguments"


def without_colon(cursor: Cursor, name: str, span: Span) -> StatementError:
    return cursor.failure(
        "E119",
        f"`{name}` takes a value and, behind a colon, a condition",
        span,
        help=f"write `{name}(X : p(X))`",
    )


def _unknown_function(cursor: Cursor, name: str, span: Span) -> StatementError:
    meant = NAMES_ELSEWHERE.get(name.lower()) or suggestion(name.lower(), [*FUNCTIONS, *AGGREGATES])
    return cursor.failure(
        "E119",
        f"there is no function `{name}`",
        span,
        note="a predicate is true or false and has no value; an argument of an atom is a variable or a constant",
        help=f"did you mean `{meant}`?" if meant else "the functions are " + ticked(FUNCTIONS),
    )


def tolerance(cursor: Cursor, name: str, arguments: tuple[syntax.Expression, ...], span: Span) -> syntax.Call:
    """`10%`, `quantile(0.9)` or `spread(2)`."""
    match arguments:
        case (syntax.Constant(value=int() | float() as value),) if not isinstance(value, bool) and 0 <= value <= _GREATEST[name]:
            return syntax.Call(name, arguments, span)
    allowed = "between 0 and 1" if name == "quantile" else "that is not negative"
    taker = "a tolerance in percent" if name == "percent" else f"`{name}`"
    raise cursor.failure("E119", f"{taker} takes one number {allowed}", span, help=f"write `within(P, Q, {_EXAMPLES[name]})`")


_GREATEST = {"percent": float("inf"), "quantile": 1, "spread": float("inf")}
_EXAMPLES = {"percent": "10%", "quantile": "quantile(0.9)", "spread": "spread(2)"}


def _span(cursor: Cursor, span: Span | None) -> Span:
    """The span of a node. Trees built by hand have none: they get the cursor's."""
    return span or cursor.token_span(cursor.token)
