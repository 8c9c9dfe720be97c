"""Chooses the rules that are worth reading, and their order."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rulescore.discovery.graph import Graph, GraphRule
from rulescore.discovery.model import DiscoverOptions, Form
from rulescore.scoring.results import Counts

_Z = 1.6448536269514722  # the 95% quantile of the normal distribution
_IN_A_ROW = 2
_DEVIATIONS = 2


def rate_bound(counts: Counts) -> float:
    """The upper bound of the rate, with 95% confidence, by Wilson's interval."""
    n = counts.evaluable
    if not n:
        return 1.0
    rate, z = counts.refuted / n, _Z * _Z
    return (rate + z / (2 * n) + _Z * math.sqrt(rate * (1 - rate) / n + z / (4 * n * n))) / (1 + z / n)


def in_order(rules: Iterable[GraphRule]) -> list[GraphRule]:
    """The rules form by form. Rules whose rate is surely low come first. Denial constraints are ordered by how often chance would
    break them. After two rules with one head we put rules with other heads."""
    forms = list(Form)
    ranked = sorted(rules, key=lambda rule: (forms.index(rule.form), *_worth(rule), str(rule.head), str(rule.body)))
    seen: Counter[tuple[Form, int | None]] = Counter()
    places = []
    for place, rule in enumerate(ranked):
        head = (rule.form, None if rule.head is None else rule.head.literal // 2)
        places.append((forms.index(rule.form), seen[head] // _IN_A_ROW if rule.head else 0, place))
        seen[head] += 1
    return [ranked[place] for _, _, place in sorted(places)]


def _worth(rule: GraphRule) -> tuple[float, float]:
    if rule.head is None:
        return (-rule.expected, 0.0)
    return (rate_bound(rule.counts), -rule.counts.confirmed)


def reasons_left_out(rules: Sequence[GraphRule], graph: Graph) -> list[int | str | None]:
    """Why we leave out each rule. None: we keep it. A number: the kept rule at that place says as much."""
    said = _Said(graph)
    reasons: dict[int, int | str | None] = {}
    forms = list(Form)
    # Shorter rules come first, because we leave out longer rules that say the same.
    for place in sorted(range(len(rules)), key=lambda place: (forms.index(rules[place].form), len(rules[place].body), place)):
        rule = rules[place]
        reason = None if rule.head is None else _reason(rule, graph.options)
        reasons[place] = said.before(rule) if reason is None else reason
        if reasons[place] is None:
            said.keep(rule, place)
    return [reasons[place] for place in range(len(rules))]


def _reason(rule: GraphRule, options: DiscoverOptions) -> str | None:
    counts = rule.counts
    if (counts.rate or 0.0) > options.max_rate:
        return "broken too often"
    if counts.evaluable < options.min_evaluable:
        return "too few groundings"
    if rule.apart < options.min_support:
        return "true of itself: the groundings that confirm it put one constant for two variables"
    if rule.parent is not None and rate_bound(counts) >= (rule.parent.counts.rate or 0.0):
        return "hardly better than the rule that it extends"
    by_chance = rule.expected + _DEVIATIONS * math.sqrt(rule.expected)
    return "as often by chance" if counts.confirmed <= by_chance else None


class _Said:
    """The statements of kept rules, to recognise rules that say the same in other words. Literals that hold of the same tuples
    count as one word."""

    def __init__(self, graph: Graph) -> None:
        self._words = _Words(graph)
        self._kept: dict[tuple[object, ...], int] = {}

    def keep(self, rule: GraphRule, place: int) -> None:
        for key in self._keys(rule):
            self._kept.setdefault(key, place)

    def before(self, rule: GraphRule) -> int | None:
        for key in (*self._keys(rule), *self._shorter(rule)):
            if key in self._kept:
                return self._kept[key]
        return None

    def _keys(self, rule: GraphRule) -> Iterator[tuple[object, ...]]:
        """The rule with a word for each literal, as written and with both arguments exchanged."""
        word = self._words
        match rule.form, rule.key:
            case ((Form.IMPLICATION | Form.INVERSION), (int() as head, int() as body)):
                if word(head) == word(body):  # we keep this rule: it says that two predicates mean the same
                    yield ("one atom", head, body)
                else:
                    yield from (("one atom", word(head), word(body)), ("one atom", word(head ^ 1), word(body ^ 1)))
            case Form.TWO_ATOMS, (int() as head, int() as first, int() as second):
                yield ("two atoms", word(head), word(first), word(second))
                yield ("two atoms", word(head ^ 1), word(second), word(first))
            case Form.ONE_PLACE, (int() as head, int() as body, *more):
                words = [word(literal) if isinstance(literal, int) else literal for literal in more]
                yield ("one place", word(head), word(body), *words) if word(head) != word(body) else ("one place", head, body)
            case Form.CONSTANTS, (int() as head, int() as body, *constants):
                yield ("constants", word(head), word(body), *constants)
            case Form.INCOMPATIBLE, (int() as left, int() as right):
                yield ("incompatible", *sorted((word(left), word(right))))
                if len(rule.body[0].terms) == 2:
                    yield ("incompatible", *sorted((word(left ^ 1), word(right ^ 1))))
            case Form.LONGER, (int() as head, *of_sides):
                yield ("longer", word(head), *(_in_words(literals, word) for literals in of_sides))
            case form, key:
                yield (form.value, *sorted(word(literal) for literal in key if isinstance(literal, int)))

    def _shorter(self, rule: GraphRule) -> Iterator[tuple[object, ...]]:
        """Rules that say at least as much: they have fewer atoms, or a variable instead of a constant."""
        word = self._words
        match rule.form, rule.key:
            case Form.ONE_PLACE, (int() as head, int() as body, _):
                yield ("one place", word(head), word(body))
            case Form.CONSTANTS, (int() as head, int() as body, None, _):
                yield ("one place", word(head), word(body))
            case Form.CONSTANTS, (int() as head, int() as body, c, d) if c == d:
                pair = (head, body) if head % 2 == 0 else (head ^ 1, body ^ 1)
                yield from (("one atom", *pair), ("one atom", word(pair[0]), word(pair[1])))
            case Form.INCOMPATIBLE, (int() as left, int() as right) if len(rule.body[0].terms) == 2:
                yield from (self._apart(left, right), self._apart(left ^ 1, right ^ 1))
            case ((Form.ASYMMETRIC | Form.IRREFLEXIVE), (int() as literal, *_)):
                yield from (self._apart(literal, literal ^ 1), ("asymmetric", word(literal), word(literal)))
            case Form.LONGER, (int() as head, _, _, tuple() as pair):
                for body in (literal for literal in pair if rule.parent is None or literal not in rule.parent.key[1:]):
                    yield from (("one atom", head, body), ("one atom", word(head), word(body)))
            case _:
                return

    def _apart(self, left: int, right: int) -> tuple[object, ...]:
        """The constraint that two places have no constant in common."""
        return ("disjoint", *sorted((self._words(left), self._words(right))))


def _in_words(literals: object, word: _Words) -> tuple[int, ...]:
    assert isinstance(literals, tuple)
    return tuple(sorted({word(literal) for literal in literals}))


class _Words:
    """The least literal that holds of the same tuples as a literal."""

    def __init__(self, graph: Graph) -> None:
        self._least: dict[int, int] = {}
        for left, right in sorted(graph.together):
            if graph.meet(left, right) == graph.facts[left // 2] == graph.facts[right // 2]:
                self._least.setdefault(right, self._least.get(left, left))

    def __call__(self, literal: int) -> int:
        return self._least.get(literal, literal)


def first_places(forms: Sequence[Form], limit: int) -> list[int]:
    """The places of the rules that we show, at most `limit`. We take turns: two rules of each form, but only one denial constraint
    or rule with constants."""
    by_form: defaultdict[Form, list[int]] = defaultdict(list)
    for place, form in enumerate(forms):
        by_form[form].append(place)
    places: list[int] = []
    turn = 0
    while len(places) < min(limit, len(forms)):
        for form, waiting in by_form.items():
            many = 1 if form.is_denial or form is Form.CONSTANTS else 2
            places += waiting[turn * many : (turn + 1) * many][: limit - len(places)]
        turn += 1
    return sorted(places)
