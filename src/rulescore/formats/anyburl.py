"""AnyBURL, PyClause and SAFRAN: `predicted⇥correct⇥confidence⇥head <= body, …`.

A mined file has hundreds of thousands of lines: one regular expression reads a usual line, and only lines whose names have commas
or parentheses in them need a second look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from sys import intern

from rulescore.errors import Source, Span
from rulescore.language import rule_formats
from rulescore.language.syntax import And, Atom, Constant, Rule, Term, Variable

MYSELF = "me_myself_i"
_ATOM = r"([^(),\t]+)\(([^(),\t]+),([^(),\t]+)\)"
_LINE = re.compile(rf"(\d+)\t(\d+)\t({rule_formats.NUMBER})\t{_ATOM} <=(?: (?=.)|$)")
_LOOSE_LINE = re.compile(rf"(\d+)\t(\d+)\t({rule_formats.NUMBER})\t(.+?\)) <=(?: (.*)|$)")
_BODY_ATOM = re.compile(rf"{_ATOM}(?:, ?(?=.)|$)")
_END_OF_ATOM = re.compile(r"\)(?=, |$)")
# `X!=A, c(A,Y)` would be an atom of a predicate named `X!=A, c`.
_COMPARISON = re.compile(r"[A-Z]\s*(?:[!<>]=?|==?)\s*\S+, ")
_BOTH_VARIABLES = re.compile(r"(.+)\(([A-Z]),([A-Z])\)")
_FIRST_VARIABLE = re.compile(r"(.+?)\(([A-Z]),(.+)\)")
_SECOND_VARIABLE = re.compile(r"(.+?)\((.+),([A-Z])\)")


def _read_line(source: Source, start: int, line: str) -> Rule:
    usual = _LINE.match(line)
    if usual is None:
        return _read_loosely(source, start, line)
    body = []
    position, end = usual.end(), len(line)
    while position < end:
        match = _BODY_ATOM.match(line, position)
        if match is None:
            return _read_loosely(source, start, line)
        body.append(_atom(match[1], match[2], match[3], Span(source, start + position, start + match.end(3) + 1)))
        position = match.end()
    _, correct, confidence, predicate, left, right = usual.groups()
    span = Span(source, start, start + end)
    if not body:
        raise rule_formats.SetAsideError
    head_span = Span(source, start + usual.start(4), start + usual.end(6) + 1)
    return _rule(_atom(predicate, left, right, head_span), body, confidence, correct, usual.start(3), span)


def _rule(head: Atom, body: list[Atom], confidence: str, correct: str, at: int, span: Span) -> Rule:
    # We pass arguments by position: by name, calls take one and a half times as long.
    return Rule(head, And(tuple(body), span), None, None, 1.0, None, (), rule_formats.share(confidence, at), int(correct), span)


def _atom(predicate: str, left: str, right: str, span: Span) -> Atom:
    if left == MYSELF:
        left = right
    elif right == MYSELF:
        right = left
    return Atom(intern(predicate), (_term(left, span), _term(right, span)), span)


def _term(name: str, span: Span) -> Term:
    # A million rules have a few thousand names. If each rule had its own copies of them, these would take more memory than the rest
    # of the rule.
    return Variable(name, span) if len(name) == 1 and "A" <= name <= "Z" else Constant(intern(name), span)


def _read_loosely(source: Source, start: int, line: str) -> Rule:
    """A line whose names have parentheses or commas. Each atom has a variable on one of its sides. The variable shows where names
    end."""
    match = _LOOSE_LINE.fullmatch(line)
    if match is None:
        raise _no_line(line)
    _, correct, confidence, _, body = match.groups()
    if not (body or "").strip():
        raise rule_formats.SetAsideError
    heads = list(_atoms(source, start, line, *match.span(4)))
    if len(heads) != 1:
        raise rule_formats.MisreadError("a head is one atom", *match.span(4))
    atoms = list(_atoms(source, start, line, *match.span(5)))
    return _rule(heads[0], atoms, confidence, correct, match.start(3), Span(source, start, start + len(line)))


def _no_line(line: str) -> rule_formats.MisreadError:
    columns = line.split("\t")
    if len(columns) != 4:
        return rule_formats.MisreadError(f"found {len(columns)} columns instead of 4, which tabs separate")
    starts = [sum(len(column) + 1 for column in columns[:number]) for number in range(4)]
    for number, (what, pattern) in enumerate([("a count", r"\d+"), ("a count", r"\d+"), ("a confidence", rule_formats.NUMBER)]):
        if not re.fullmatch(pattern, columns[number]):
            return rule_formats.MisreadError(f"this is not {what}", starts[number], starts[number] + len(columns[number]))
    return rule_formats.MisreadError("a rule is `head <= body`, with an atom as its head", starts[3])


def _atoms(source: Source, start: int, line: str, begin: int, end: int) -> Iterator[Atom]:
    """The atoms of a stretch: each ends at the first `)`, before a comma or the end, that completes an atom."""
    position = begin
    while position < end:
        for close in _END_OF_ATOM.finditer(line, position, end):
            text = line[position : close.end()]
            match = _BOTH_VARIABLES.fullmatch(text) or _FIRST_VARIABLE.fullmatch(text) or _SECOND_VARIABLE.fullmatch(text)
            if match is not None and _COMPARISON.match(match[1]):
                raise rule_formats.MisreadError("AnyBURL has no comparisons; expected an atom", position, close.end())
            if match is not None:
                yield _atom(match[1], match[2], match[3], Span(source, start + position, start + close.end()))
                position = close.end() + 2
                break
        else:
            raise rule_formats.MisreadError("expected an atom with a variable: one capital letter", position, end)


def _write(rule: Rule) -> str:
    if rule.confidence is None or rule.support is None:
        raise rule_formats.UnfitError("it has no `@confidence` and `@support`, with which each line begins")
    head, body = rule_formats.only_atom(rule.head), rule_formats.body_atoms(rule.body)
    # We do not keep the number of predictions: support divided by confidence gives it, to the nearest whole number.
    predicted = round(rule.support / rule.confidence) if rule.confidence else 0
    letters = _letters((head, *body))
    said = ", ".join(_anyburl_atom(atom, letters) for atom in body)
    return f"{predicted}\t{rule.support}\t{rule.confidence!r}\t{_anyburl_atom(head, letters)} <= {said}"


def _letters(atoms: tuple[Atom, ...]) -> dict[str, str]:
    """One capital letter for each variable: X and Y for the head's variables, A, B, … for others."""
    head, *body = (dict.fromkeys(term.name for term in atom.terms if isinstance(term, Variable)) for atom in atoms)
    others = [name for atom in body for name in atom if name not in head]
    letters = dict(zip(head, "XY", strict=False)) | dict(zip(dict.fromkeys(others), "ABCDEFGHIJKLMNOPQRSTUVWZ", strict=False))
    if missing := [name for name in (*head, *others) if name not in letters]:
        raise rule_formats.UnfitError(f"no letter is left for the variable `{missing[0]}`")
    return letters


def _anyburl_atom(atom: Atom, letters: Mapping[str, str]) -> str:
    match atom.terms:
        case (Variable(one), Variable(other)) if one == other:
            return f"{atom.predicate}({letters[one]},{MYSELF})"
        case (left, right):
            return f"{atom.predicate}({_anyburl_term(left, letters)},{_anyburl_term(right, letters)})"
        case _:
            raise rule_formats.UnfitError(f"`{atom.predicate}` has {atom.arity} arguments, and only two can be written")


def _anyburl_term(term: Term, letters: Mapping[str, str]) -> str:
    return letters[term.name] if isinstance(term, Variable) else rule_formats.entity(term)


FORMAT = rule_formats.format_of_lines(
    "anyburl",
    "AnyBURL",
    "29⇥2⇥0.069⇥nephew(X,Y) <= son(X,A), sister(A,Y)",
    rule_formats.mostly(r"\d+\t\d+\t[^\t]+\t.+\) <=( |$)"),
    _read_line,
    turn=1,
    write=_write,
    keeps=frozenset({"confidence", "support"}),
)
