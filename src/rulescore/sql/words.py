"""Values in statements: Python's `y.rank + 1 == x.rank` means the same in SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, reduce
from typing import Literal

from sqlglot import exp


def _operator(kind: type[exp.Binary], **how: bool) -> Callable[[Sql, Operand], Sql]:
    return lambda left, right: Sql(_binary(kind, left.node, node(right), **how))


def _function(kind: type[exp.Expr]) -> Callable[[Sql], Sql]:
    return lambda value: Sql(kind(this=value.node))


class Sql:
    """A value or a condition. Operators make larger ones, with parentheses where SQL needs them: `a == b` is a condition of a
    statement, never a truth in Python. Texts and integers next to an operator are constants."""

    __slots__ = ("node",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: exp.Expr) -> None:
        self.node = node

    def __bool__(self) -> bool:
        # `==` makes a condition, so an `if` on it would be a mistake that nobody sees (0018).
        raise TypeError("SQL is neither true nor false in Python")

    __eq__, __ne__ = _operator(exp.EQ), _operator(exp.NEQ)  # type: ignore[assignment]
    __lt__, __le__ = _operator(exp.LT), _operator(exp.LTE)
    __gt__, __ge__ = _operator(exp.GT), _operator(exp.GTE)
    __add__, __sub__, __mul__ = _operator(exp.Add), _operator(exp.Sub), _operator(exp.Mul)
    __mod__, __floordiv__ = _operator(exp.Mod), _operator(exp.IntDiv)
    __truediv__ = _operator(exp.Div, typed=True, safe=False)  # of doubles

    def __rsub__(self, other: int) -> Sql:
        return sql(other) - self

    def __rmul__(self, other: int) -> Sql:
        return sql(other) * self

    def __neg__(self) -> Sql:
        return Sql(exp.Neg(this=_operand(self.node, _TIGHTEST)))

    def __invert__(self) -> Sql:
        return Sql(exp.Not(this=exp.Paren(this=self.node)))

    paren, abs, floor, ln = _function(exp.Paren), _function(exp.Abs), _function(exp.Floor), _function(exp.Ln)
    lower, upper, length = _function(exp.Lower), _function(exp.Upper), _function(exp.Length)
    min, max, sum, count = _function(exp.Min), _function(exp.Max), _function(exp.Sum), _function(exp.Count)

    def count_distinct(self) -> Sql:
        return Sql(exp.Count(this=exp.Distinct(expressions=[self.node])))

    def named(self, alias: str) -> Sql:
        return Sql(exp.Alias(this=self.node, alias=identifier(alias)))

    def is_null(self) -> Sql:
        return Sql(exp.Is(this=_operand(self.node, 2), expression=exp.null()))

    def is_known(self) -> Sql:
        return Sql(exp.Not(this=self.is_null().node))

    def is_in(self, values: Iterable[Operand]) -> Sql:
        return Sql(exp.In(this=_operand(self.node, 2), expressions=[node(value) for value in values]))

    def between(self, low: Operand, high: Operand) -> Sql:
        return Sql(exp.Between(this=_operand(self.node, 2), low=node(low), high=node(high)))

    def or_else(self, value: Operand) -> Sql:
        """The first of two values that is not missing."""
        return Sql(exp.Coalesce(this=self.node, expressions=[node(value)]))

    def null_if(self, value: Operand) -> Sql:
        return Sql(exp.Nullif(this=self.node, expression=node(value)))

    def cast(self, kind: str) -> Sql:
        return Sql(exp.cast(self.node, _data_type(kind), copy=False))

    def try_cast(self, kind: str) -> Sql:
        """The value in another type; NULL if it does not fit."""
        return Sql(exp.TryCast(this=self.node, to=_data_type(kind)))

    def integer(self) -> Sql:
        return self.cast("INT")

    def big(self) -> Sql:
        return self.cast("BIGINT")


Operand = Sql | exp.Expr | str | int
Field = Sql | exp.Expr | int | Literal["*"]

# How tightly operators bind. All operators that are not listed bind most tightly.
_BINDING: dict[type[exp.Expr], int] = {
    **dict.fromkeys((exp.Or, exp.And, exp.Not), 0),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.In, exp.Between), 1),
    **dict.fromkeys((exp.Add, exp.Sub), 2),
    **dict.fromkeys((exp.Mul, exp.Mod, exp.IntDiv, exp.Div), 3),
}
_TIGHTEST = 4


def _binary(kind: type[exp.Binary], left: exp.Expr, right: exp.Expr, **how: bool) -> exp.Expr:
    binding = _BINDING[kind]
    after = binding + 1 if binding > 1 else binding  # a - b - c is (a - b) - c
    return kind(this=_operand(left, binding), expression=_operand(right, after), **how)


def _operand(value: exp.Expr, binding: int) -> exp.Expr:
    return exp.Paren(this=value) if _BINDING.get(type(value), _TIGHTEST) < binding else value


def node(value: Operand) -> exp.Expr:
    """What sqlglot takes: the node of a value, or a constant."""
    match value:
        case Sql():
            return value.node
        case str():
            return exp.Literal.string(value)
        case int():
            return exp.Literal.number(value)
        case _:
            return value


def sql(value: Operand) -> Sql:
    return value if isinstance(value, Sql) else Sql(node(value))


# Cached, because the same names stand in all statements.
@lru_cache(maxsize=4096)
def identifier(text: str) -> exp.Identifier:
    return exp.Identifier(this=text, quoted=True)


@lru_cache(maxsize=4096)
def column(alias: str, field: str) -> exp.Column:
    return exp.Column(this=identifier(field), table=identifier(alias))


@cache
def _data_type(kind: str) -> exp.DataType:
    return exp.DataType.build(kind)  # `build` parses the word


def all_of(*conditions: Sql) -> Sql:
    return Sql(connected(exp.And, conditions)) if conditions else TRUE


def any_of(*conditions: Sql) -> Sql:
    return Sql(connected(exp.Or, conditions)) if conditions else FALSE


def connected(kind: type[exp.Connector], conditions: Sequence[Sql | exp.Expr]) -> exp.Expr:
    """Conditions joined by AND or OR. A condition that is itself such a connection gets parentheses."""
    nodes = [node(condition) for condition in conditions]
    if len(nodes) > 1:
        nodes = [exp.Paren(this=node) if isinstance(node, exp.Connector) else node for node in nodes]
    return reduce(lambda left, right: kind(this=left, expression=right), nodes)


def when(condition: Sql, value: Operand, default: Operand | None = None) -> Sql:
    """The value if the condition holds, else the default; NULL without one."""
    return case((condition, value), default=default)


def case(*values: tuple[Sql, Operand], default: Operand | None = None) -> Sql:
    """The value of the first condition that holds."""
    ifs = [exp.If(this=condition.node, true=node(value)) for condition, value in values]
    return Sql(exp.Case(ifs=ifs) if default is None else exp.Case(ifs=ifs, default=node(default)))


def count_rows() -> Sql:
    return Sql(exp.Count(this=exp.Star()))


def call(function: str, *arguments: Operand) -> Sql:
    """A function under the name that statements give it, which dialects may replace."""
    return Sql(exp.Anonymous(this=function, expressions=[node(argument) for argument in arguments]))


def least(*values: Sql) -> Sql:
    return Sql(exp.func("least", *(value.node for value in values)))


def greatest(*values: Sql) -> Sql:
    return Sql(exp.func("greatest", *(value.node for value in values)))


def substring(text: Sql, start: int, size: int | None = None) -> Sql:
    return Sql(exp.func("substr", text.node, node(start), *([] if size is None else [node(size)])))


def concatenated(*texts: Operand) -> Sql:
    return Sql(reduce(lambda left, right: exp.DPipe(this=left, expression=right), map(node, texts)))


def collated(text: Sql, collation: str = "C") -> Sql:
    """A text that compares by code points, or by another collation."""
    return Sql(exp.Collate(this=text.node, expression=identifier(collation)))


def row_number(*order: Sql, per: Sequence[Sql] = ()) -> Sql:
    """Row numbers from 1 on, in an order if one is given. They count all rows or, with `per`, the rows that agree in some
    fields."""
    parts = {
        "partition_by": [field.node for field in per],
        "order": exp.Order(expressions=[ordered(field).node for field in order]) if order else None,
    }
    return Sql(exp.Window(this=exp.RowNumber(), **{part: value for part, value in parts.items() if value}))


def ordered(field: Sql, *, descending: bool = False) -> Sql:
    if isinstance(field.node, exp.Ordered):
        return field
    return Sql(exp.Ordered(this=field.node, desc=True) if descending else exp.Ordered(this=field.node))


def sorted_list(value: Sql) -> Sql:
    return Sql(exp.ArrayAgg(this=exp.Order(this=value.node, expressions=[exp.Ordered(this=value.node)])))


NULL, TRUE, FALSE = Sql(exp.null()), Sql(exp.true()), Sql(exp.false())
