"""AMIE+ and AMIE3: `?a  r  ?b  …   => ?a  h  ?b⇥head coverage⇥std confidence⇥PCA confidence⇥positives⇥…`.

Two blanks separate the terms of an atom, and atoms. AMIE's log may stand in the same file. Column titles differ by version, and
so does the inequality `?a!=?b`, which older versions respect and do not print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import PurePath

from rulescore.errors import Diagnostic, Severity, Source, Span
from rulescore.language import rule_formats
from rulescore.language.syntax import Atom, Comparison, Condition, Constant, Operator, Rule, Variable

_TITLE = "AMIE"
_EXAMPLE = "?x  sister  ?y  ?y  father  ?z   => ?x  aunt  ?z⇥0.15⇥0.9⇥1.0⇥77⇥85⇥77⇥?x"
_ARROW = re.compile(r"\s+=>\s+")
_DIFFERENT = re.compile(r"(\?\w+)\s*!=\s*(\?\w+)")
_TERM = re.compile(r"\S+(?: \S+)*")
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_DIFFERENT_FROM = "differentFrom"
_TITLES = {
    "confidence": {"stdconfidence", "standardconfidence"},
    "pca": {"pcaconfidence"},
    "support": {"positiveexamples", "support"},
}


def read(source: Source, tables: Sequence[rule_formats.TableName]) -> rule_formats.ToolRules:
    columns = {"confidence": 2, "pca": 3, "support": 4}
    read = rule_formats.read_lines(source, _TITLE, _EXAMPLE, partial(_read_line, columns))
    read.told.extend(_unsaid(read.rules, PurePath(source.name).name))
    return read


def _unsaid(rules: Sequence[Rule], name: str) -> Iterator[Diagnostic]:
    """A warning that rules may hide inequalities: if two atoms of one relation share a term, AMIE before 3.5 takes their other
    terms to be different, and does not print it."""
    if any(isinstance(condition, Comparison) for rule in rules for condition in rule.body.conditions):
        return
    concerned = [pair for rule in rules if (pair := _kept_apart(rule)) is not None]
    if concerned:
        message = f"{len(concerned):,} of {len(rules):,} rules of {name} may mean two different entities and not say so"
        left, right = concerned[0]
        yield Diagnostic(
            "W154",
            f"{message}: the first of them by `?{left}` and `?{right}`",
            notes=("AMIE before 3.5 counts two atoms of one relation with a term in common so, and does not print `?a!=?b`",),
            helps=("`--distinct-variables` keeps any two variables apart; rules of later versions are as they are written",),
            severity=Severity.WARNING,
        )


def _kept_apart(rule: Rule) -> tuple[str, str] | None:
    atoms = [atom for atom in (rule.head, *rule.body.conditions) if isinstance(atom, Atom)]
    for first, second in combinations(atoms, 2):
        for place in (0, 1):
            left, right = first.terms[1 - place], second.terms[1 - place]
            same = first.predicate == second.predicate and first.terms[place] == second.terms[place]
            if same and isinstance(left, Variable) and isinstance(right, Variable) and left != right:
                return left.name, right.name
    return None


def _read_line(columns: dict[str, int], source: Source, start: int, line: str) -> Rule | None:
    """`columns`: the numbers of the columns that we read. A line of titles changes them, and is no rule."""
    if "=>" not in line and not line.startswith("?"):
        if line.startswith("Rule\t"):
            titles = ["".join(filter(str.isalpha, title)).lower() for title in line.split("\t")]
            columns.update({what: titles.index(title) for what, known in _TITLES.items() for title in titles if title in known})
            return None
        raise rule_formats.SetAsideError(rule_formats.LOG)
    rule, *figures = line.split("\t")
    arrows = list(_ARROW.finditer(rule))
    if len(arrows) != 1:
        raise rule_formats.MisreadError("a rule has one arrow, ` => `, between body and head", 0, len(rule))
    body = list(_conditions(source, start, rule, 0, arrows[0].start()))
    heads = list(_conditions(source, start, rule, arrows[0].end(), len(rule)))
    if len(heads) != 1 or not isinstance(heads[0], Atom):
        raise rule_formats.MisreadError("a head is one atom: three terms with two blanks between them", arrows[0].end(), len(rule))
    figures_by_name = {what: _figure(line, figures, number) for what, number in columns.items()}
    confidence, pca, support = (figures_by_name[what] for what in ("confidence", "pca", "support"))
    return rule_formats.rule_of(
        heads[0],
        body,
        Span(source, start, start + len(line)),
        confidence=None if confidence is None else rule_formats.share(*confidence),
        support=None if support is None else int(float(support[0])),
        tags=() if pca is None else (f"pca_confidence={pca[0]}",),
    )


def _figure(line: str, figures: list[str], number: int) -> tuple[str, int] | None:
    """A figure with a decimal point, and its place; None if the line ends earlier."""
    if number > len(figures):
        return None
    text = figures[number - 1]
    at = sum(len(field) + 1 for field in line.split("\t")[:number])
    if not _DECIMAL.fullmatch(text):
        raise rule_formats.MisreadError("expected a number", at, at + len(text))
    return text.replace(",", "."), at


def _conditions(source: Source, start: int, rule: str, begin: int, end: int) -> Iterator[Condition]:
    different = list(_DIFFERENT.finditer(rule, begin, end))
    blanked = _DIFFERENT.sub(lambda match: " " * len(match[0]), rule[:end])
    terms = [(match[0], match.start(), match.end()) for match in _TERM.finditer(blanked, begin)]
    if len(terms) % 3:
        raise rule_formats.MisreadError("atoms have three terms each, with two blanks between all of them", begin, end)
    for (left, at, _), (predicate, _, _), (right, _, stop) in zip(terms[::3], terms[1::3], terms[2::3], strict=True):
        span = Span(source, start + at, start + stop)
        if predicate == _DIFFERENT_FROM:
            yield _unequal(left, right, span)
        else:
            yield Atom(predicate, (_term(left, span), _term(right, span)), span)
    for unequal in different:
        yield _unequal(unequal[1], unequal[2], Span(source, start + unequal.start(), start + unequal.end()))


def _unequal(left: str, right: str, span: Span) -> Comparison:
    return Comparison(Operator.DIFFERENT, _term(left, span), _term(right, span), span)


def _term(text: str, span: Span) -> Variable | Constant:
    return Variable(text[1:], span) if text.startswith("?") and text[1:].isalnum() else Constant(text, span)


FORMAT = rule_formats.RuleFormat("amie", _TITLE, _EXAMPLE, rule_formats.some(r"\?\w+(?:  \S|\s*!=).*\s=>\s+\S"), read, turn=9)
