"""Clauses of Markov logic networks, as ExpressGNN writes them: `weight !p(x, y) v !q(y, z) v h(x, z)`.

Negated literals are the body, the others the head. Several others are a disjunction; without any, the clause is a denial
constraint. Variables are in upper case in some files and in lower case in others; constants are quoted, or numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from rulescore.errors import Source, Span
from rulescore.language import rule_formats
from rulescore.language.syntax import Atom, Constant, Falsity, Head, Kind, Or, Rule, Term, Variable

_TITLE = "MLN"
_EXAMPLE = "1.0 !sister(x, y) v !father(y, z) v aunt(x, z)"
_WEIGHT = re.compile(rf"\s*({rule_formats.NUMBER})\s+")
_BETWEEN = re.compile(r"(?<=\))\s+v\s+")
# A name may hold blanks and parentheses, but no whole literal, as in `p(x) => q(x)`.
_LITERAL = re.compile(r"\s*([!¬]?)\s*((?!.*\)\s.*\()\S(?:.*\S)?)\s*\(([^()]*)\)\s*")
_TERM = re.compile(r"""\s*(?:([^\W\d]\w*)|"([^"]*)"|'([^']*)'|(\d[\w.]*))\s*""")


def read(source: Source, tables: Sequence[rule_formats.TableName]) -> rule_formats.ToolRules:
    cases: dict[bool, Span] = {}
    rules_read = rule_formats.read_lines(source, _TITLE, _EXAMPLE, partial(_read_line, cases))
    if len(cases) == 2:
        # The file does not say whether upper or lower case letters mark variables.
        message = "arguments begin with upper and with lower case letters, so variables cannot be told from constants"
        for span in cases.values():
            wrong = rule_formats.MisreadError(message, 0, span.end - span.start, help="put constants in quotes")
            rules_read.problems.append(
                rule_formats.problem_at(source, span.start, source.text[span.start : span.end], wrong, _TITLE, _EXAMPLE)
            )
    return rules_read


# `cases`: the first argument that begins with an upper case letter (True), and with a lower case letter (False).
def _read_line(cases: dict[bool, Span], source: Source, start: int, line: str) -> Rule:
    weight = _WEIGHT.match(line)
    position, end = weight.end() if weight else 0, len(line)
    hard = line.endswith(".")
    pieces, at = [], position
    for gap in _BETWEEN.finditer(line, position):
        pieces.append((at, gap.start()))
        at = gap.end()
    pieces.append((at, end - hard))
    heads: list[Atom] = []
    body: list[Atom] = []
    for begin, stop in pieces:
        negated, atom = _literal(cases, source, start, line, begin, stop)
        (body if negated else heads).append(atom)
    span = Span(source, start, start + end)
    if weight and float(weight[1]) < 0:
        raise rule_formats.SetAsideError(rule_formats.NEGATIVE_WEIGHT)
    if not body:
        raise rule_formats.SetAsideError
    rule = rule_formats.rule_of(_head(heads, span), body, span, tags=rule_formats.weight_tags(weight[1]) if weight else ())
    return replace(rule, kind=Kind.HARD) if hard else rule


def _head(atoms: list[Atom], span: Span) -> Head:
    match atoms:
        case []:
            return Falsity(span)
        case [atom]:
            return atom
        case _:
            return Or(tuple(atoms), span)


def _literal(cases: dict[bool, Span], source: Source, start: int, line: str, begin: int, end: int) -> tuple[bool, Atom]:
    match = _LITERAL.fullmatch(line, begin, end)
    if match is None:
        message = "expected a literal, `p(x, y)` or `!p(x, y)`, with ` v ` between two"
        raise rule_formats.MisreadError(message, begin, end, help="write `p => q` as the clause `!p v q`" if "=>" in line else "")
    span = Span(source, start + match.start(2), start + match.end(3) + 1)
    terms = []
    position = match.start(3)
    for text in match[3].split(","):
        terms.append(_term(cases, source, start, line, position, position + len(text)))
        position += len(text) + 1
    return bool(match[1]), Atom(match[2], tuple(terms), span)


def _term(cases: dict[bool, Span], source: Source, start: int, line: str, begin: int, end: int) -> Term:
    match = _TERM.fullmatch(line, begin, end)
    if match is None:
        raise rule_formats.MisreadError("expected a variable, a constant in quotes, or a number", begin, end)
    span = Span(source, start + begin, start + end)
    name, *constants = match.groups()
    if name is None:
        return Constant(next(constant for constant in constants if constant is not None), span)
    cases.setdefault(name[0].isupper(), span)
    return Variable(name[0].upper() + name[1:], span)


def _write(rule: Rule) -> str:
    match rule.head:
        case Falsity():
            heads: tuple[Atom, ...] = ()
        case Or(parts):
            heads = tuple(map(rule_formats.only_atom, parts))
        case head:
            heads = (rule_formats.only_atom(head),)
    negated = [f"!{_mln_atom(atom)}" for atom in rule_formats.body_atoms(rule.body)]
    return f"{rule_formats.stated_weight(rule)} {' v '.join([*negated, *map(_mln_atom, heads)])}"


def _mln_atom(atom: Atom) -> str:
    return f"{atom.predicate}({', '.join(map(_mln_term, atom.terms))})"


def _mln_term(term: Term) -> str:
    return term.name if isinstance(term, Variable) else f'"{rule_formats.entity(term)}"'


FORMAT = rule_formats.RuleFormat(
    "mln",
    _TITLE,
    _EXAMPLE,
    # A line with the arrow `<-` is not in this format: in `2 * N > 40 <- age(X, N).`, 2 is not a weight.
    rule_formats.mostly(
        rf"(?!.*(?:<-|:-|←))(?:{rule_formats.NUMBER}\s+[!¬]?\s*[^\s(].*\)|(?:{rule_formats.NUMBER}\s+)?[!¬]?\s*\S.*\)\s+v\s+[!¬]?\s*\S.*\))\s*\.?$"
    ),
    read,
    turn=8,
    write=_write,
)
