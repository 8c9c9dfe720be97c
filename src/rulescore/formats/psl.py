"""PSL: `weight: body & body -> head | head ^2`, or a disjunction, `weight: !body | !body | head`. A rule that ends in a full stop
is hard. Names in quotes are constants, all other arguments variables. We do not read arithmetic rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rulescore.errors import Source, Span
from rulescore.language import rule_formats
from rulescore.language.syntax import Atom, Comparison, Constant, Falsity, Head, Kind, Not, Operator, Or, Rule, Variable

_QUOTED = r"""'[^']*'|"[^"]*\""""
_WEIGHT = re.compile(rf"\s*({rule_formats.NUMBER})\s*:\s*")
_END = re.compile(r"\s*(?:\^\s*[12])?\s*(\.?)\s*$")
_ARROW = re.compile(rf"{_QUOTED}|(->|>>)|(<-|<<)")
_TERM = rf"(?:\w+|{_QUOTED})"
_LITERAL = re.compile(rf"\s*((?:[!~]\s*)*)([\w.\-/:#]+)\s*\(\s*({_TERM}(?:\s*,\s*{_TERM})*)\s*\)\s*")
_COMPARED = re.compile(rf"\s*(\(?)\s*({_TERM})\s*(!=|==|=)\s*({_TERM})\s*(\)?)\s*")


def _read_line(source: Source, start: int, line: str) -> Rule:
    weight = _WEIGHT.match(line)
    ending = _END.search(line)
    assert ending is not None, "it may be empty"
    begin, end = weight.end() if weight else 0, ending.start()
    if weight is None and not ending[1]:
        raise rule_formats.MisreadError("a rule begins with `weight:`, or ends in ` .`")
    arrows = [arrow for arrow in _ARROW.finditer(line, begin, end) if arrow[1] or arrow[2]]
    if len(arrows) > 1:
        raise rule_formats.MisreadError("a rule has one arrow", *arrows[1].span())
    if arrows:
        before, behind = (begin, arrows[0].start()), (arrows[0].end(), end)
        head, body = (behind, before) if arrows[0][1] else (before, behind)
        heads = list(_conditions(source, start, line, *head, "|"))
        conditions = list(_conditions(source, start, line, *body, "&"))
    else:
        heads, conditions = _clause(list(_conditions(source, start, line, begin, end, "|")))
    span = Span(source, start, start + len(line))
    rule = rule_formats.rule_of(_head(heads, span), conditions, span)
    tagged = replace(rule, tags=rule_formats.weight_tags(weight[1]) if weight else ())
    return replace(tagged, kind=Kind.HARD) if ending[1] and weight is None else tagged


def _clause(parts: list[Atom | Not | Comparison]) -> tuple[list[Atom | Not | Comparison], list[Atom | Not | Comparison]]:
    """Head and body of a disjunction. The negated atoms are the body; `(X = Y)` becomes `X != Y` there. Without a negated atom, or
    with one part alone, a clause is a prior: we set it aside."""
    heads: list[Atom | Not | Comparison] = []
    body: list[Atom | Not | Comparison] = []
    for part in parts:
        match part:
            case Not(Atom() as atom):
                body.append(atom)
            case Comparison(operator):
                opposite = Operator.DIFFERENT if operator is Operator.EQUAL else Operator.EQUAL
                body.append(replace(part, operator=opposite))
            case _:
                heads.append(part)
    if len(parts) == 1 or not any(isinstance(condition, Atom) for condition in body):
        raise rule_formats.SetAsideError
    return heads, body


def _head(heads: list[Atom | Not | Comparison], span: Span) -> Head:
    match heads:
        case []:
            return Falsity(span)
        case [only]:
            return only
        case _:
            return Or(tuple(heads), span)


def _conditions(source: Source, start: int, line: str, begin: int, end: int, between: str) -> Iterator[Atom | Not | Comparison]:
    """The parts of a stretch; `&` or `|` stands between them, once or twice."""
    at = begin
    for sign in [*re.finditer(rf"{_QUOTED}|({re.escape(between)}{{1,2}})", line[:end]), None]:
        if sign is not None and (sign.start() < begin or not sign[1]):
            continue
        stop = end if sign is None else sign.start()
        yield _condition(source, start, line, at, stop)
        at = end if sign is None else sign.end()


def _condition(source: Source, start: int, line: str, begin: int, end: int) -> Atom | Not | Comparison:
    span = Span(source, start + begin, start + end)
    if match := _LITERAL.fullmatch(line, begin, end):
        terms = tuple(_term(term[0], span) for term in re.finditer(_TERM, match[3]))
        atom = Atom(match[2], terms, span)
        return Not(atom, span) if (match[1].count("!") + match[1].count("~")) % 2 else atom
    if (match := _COMPARED.fullmatch(line, begin, end)) and bool(match[1]) == bool(match[5]):
        operator = Operator.DIFFERENT if match[3] == "!=" else Operator.EQUAL
        return Comparison(operator, _term(match[2], span), _term(match[4], span), span)
    raise rule_formats.MisreadError("expected an atom, `!` and an atom, or `(X != Y)`; arithmetic rules are not read", begin, end)


def _term(text: str, span: Span) -> Variable | Constant:
    return Constant(text[1:-1], span) if text[0] in "'\"" else Variable(text, span)


FORMAT = rule_formats.format_of_lines(
    "psl",
    "PSL",
    "20: Lived(P1, L) & Lived(P2, L) & (P1 != P2) -> Knows(P1, P2) ^2",
    rule_formats.some(rf"{rule_formats.NUMBER}\s*:\s*\S.*(?:->|>>|\^\s*[12]\s*$)"),
    _read_line,
    turn=10,
)
