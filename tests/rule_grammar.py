"""Rule texts that the grammar makes: mostly right, whatever they mean; with names, constants and sizes that nobody would choose."""

from __future__ import annotations

import random
from dataclasses import dataclass

PREDICATES = ("p", "q", "r", "s", "t", "`a b`", "sale.price", "integer", "between", "even")
VARIABLES = ("X", "Y", "X", "Y", "Z", "?v", "W1")
CONSTANTS = (
    *("a", "b", '"New York"', '""', '"\\u202e"', "1", "-1", "2.5", "1e308", "9223372036854775808", "0.1", "true", "false"),
    *("2020-01-31", "2020-01-31T12:30", "2020-01-31T12:30Z", '"2020-01-31"', "é", "日本", "3 days", "90 minutes"),
)
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
FUNCTIONS = ("abs(?)", "round(?)", "round(?, 2)", "length(?)", "year(?)", "min(?, 2)", "max(X, ?)", "date(?)", "nothing(?)")
AGGREGATES = ("count", "sum", "avg", "min", "max", "count_distinct")
ANNOTATIONS = ("@hard ", "@soft ", "@weight(2.5) ", '@tags(a, "b c") ', '@description("\\n") ', "@confidence(0.5) ")


@dataclass(frozen=True)
class Writer:
    chance: random.Random

    def text(self) -> str:
        """Some statements."""
        return self.chance.choice((" ", "\n")).join(self._statement() for _ in range(self.chance.randint(1, 4)))

    def _statement(self) -> str:
        match self.chance.randrange(12):
            case 0:
                return self._declaration()
            case 1:
                values = ", ".join(self._pick(CONSTANTS) for _ in range(self.chance.randint(1, 4)))
                return f"for $x in {{{values}}}: q(X, $x) <- {self._body(3)}."
            case _:
                annotations = "".join(self.chance.sample(ANNOTATIONS, k=self.chance.choice((0, 0, 1, 2))))
                return annotations + self.chance.choice(("", "", "one: ", "`rule 1`: ")) + self._rule()

    def _rule(self) -> str:
        head = "false" if self.chance.random() < 0.1 else self._atom() if self.chance.random() < 0.6 else self._condition(2)
        return f"{head} <- {self._body(3)}."

    def _declaration(self) -> str:
        first, second = self.chance.choices(PREDICATES, k=2)
        return self.chance.choice(
            (
                f"closed {first}.",
                f"incompatible {first}, {second}, q.",
                f"incompatible {first}(X, Y), {second}(Y, X).",
                f"functional {first}(X -> Y).",
                f"functional {first}(X, Y, Z) on X, Z -> Y.",
                f"pca {first}, {second}.",
                f"@check functional {first}(X, Y -> Z).",
                f"@check @soft one: incompatible {first}, {second}.",
                f"pca {first}(X, Y) on Y -> X.",
                f"refute {self._atom()} <- {self._body(2)}.",
                f"predicate {first}/{self.chance.choice((1, 2, 3, 99))}.",
                "extract incompatible.",
                "closed *.",
                "pca *.",
            )
        )

    def _body(self, depth: int) -> str:
        """Most bodies begin with an atom, so that some rules are safe."""
        others = [self._condition(depth) for _ in range(self.chance.choice((0, 1, 1, 2, 5)))]
        if self.chance.random() < 0.2:
            others.append(f"let {self._pick(VARIABLES)} = {self._value(depth)}")
        return ", ".join(["p(X, Y)", *others] if self.chance.random() < 0.7 else [self._atom(), *others])

    def _condition(self, depth: int) -> str:
        if depth == 0:
            return self._atom()
        match self.chance.randrange(8):
            case 0 | 1:
                return self._atom()
            case 2:
                return f"not {self._nested(depth - 1)}"
            case 3:
                return f"({' or '.join(self._nested(depth - 1) for _ in range(self.chance.randint(2, 4)))})"
            case 4:
                return f"({' and '.join(self._nested(depth - 1) for _ in range(self.chance.randint(2, 3)))})"
            case 5:
                return f"{self._value(depth)} {self._pick(('in', 'not in'))} {{{self._pick(CONSTANTS)}, {self._pick(CONSTANTS)}}}"
            case 6:
                return f"within({self._value(depth)}, {self._value(depth)}, {self._pick(('10%', '0.5', '2 days', 'spread(2)'))})"
            case _:
                return f"{self._value(depth)} {self._pick(COMPARISONS)} {self._value(depth)}"

    def _nested(self, depth: int) -> str:
        return self._condition(depth) if self.chance.random() < 0.5 else f"({self._condition(depth)})"

    def _value(self, depth: int) -> str:
        if depth == 0:
            return self._term()
        match self.chance.randrange(8):
            case 0:
                return f"{self._value(depth - 1)} {self._pick('+-*/')} {self._value(depth - 1)}"
            case 1:
                return f"-{self._pick(VARIABLES)}"
            case 2:
                return self._pick(FUNCTIONS).replace("?", self._value(depth - 1))
            case 3:
                return f"{self._pick(AGGREGATES)}({self._term()} : {self._body(depth - 1)})"
            case 4:
                return f"({self._value(depth - 1)}) mod 7"
            case _:
                return self._term()

    def _atom(self) -> str:
        if self.chance.random() < 0.1:
            return f"sale(id: {self._term()}, price: {self._term()})"
        arity = 2 if self.chance.random() < 0.9 else self.chance.randint(1, 4)
        terms = [self._term() if self.chance.random() < 0.9 else "_" for _ in range(arity)]
        return f"{self._pick(PREDICATES)}({', '.join(terms)})"

    def _term(self) -> str:
        return self._pick(VARIABLES if self.chance.random() < 0.7 else CONSTANTS)

    def _pick(self, of: tuple[str, ...] | str) -> str:
        return self.chance.choice(of)
