"""Formats whose rules are chains of relations: Neural-LP and DRUM, NCRL, RNNLogic and UniKER."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from rulescore.errors import Diagnostic, InputError, Place, Source, Span
from rulescore.language import rule_formats
from rulescore.language.syntax import Atom, Rule, Variable

START = rf"({rule_formats.NUMBER}) \(({rule_formats.NUMBER})\)\t"
_NEURAL_LP_LINE = re.compile(rf"{START}(.+?) <--(?: (.*)|$)")
_NEURAL_LP_ATOM = re.compile(r"\s*(.+?)\(([A-Z]\w*), ?([A-Z]\w*)\)(?:,(?=.)|$)")
_EQUAL = "equal"


def _read_neural_lp_line(source: Source, start: int, line: str) -> Rule:
    match = _NEURAL_LP_LINE.fullmatch(line)
    if match is None:
        raise rule_formats.MisreadError("a confidence, the normalised one in parentheses, a tab, and `head <-- body`")
    same: dict[str, str] = {}
    written = [*_atoms(line, *match.span(3)), *_atoms(line, *match.span(4))]
    for name, left, right, _, _ in written[1:]:
        if name == _EQUAL:
            same[_root(same, left)] = _root(same, right)
    atoms = [
        _neural_lp_atom(source, start, pieces, same) for number, pieces in enumerate(written) if number == 0 or pieces[0] != _EQUAL
    ]
    span = Span(source, start, start + len(line))
    confidence, tags = stated_confidence(match[1])
    return rule_formats.rule_of(atoms[0], atoms[1:], span, confidence=confidence, tags=tags)


def stated_confidence(text: str) -> tuple[float | None, tuple[str, ...]]:
    """The confidence. If it is not between 0 and 1, it becomes a tag: sums of products of attention may be larger."""
    return (float(text), ()) if 0 <= float(text) <= 1 else (None, (f"confidence={text}",))


def _root(same: dict[str, str], name: str) -> str:
    while name in same:
        name = same[name]
    return name


_Written = tuple[str, str, str, int, int]


def _neural_lp_atom(source: Source, start: int, written: _Written, same: dict[str, str]) -> Atom:
    name, left, right, begin, end = written
    span = Span(source, start + begin, start + end)
    return rule_formats.inverted(name, Variable(_root(same, left), span), Variable(_root(same, right), span), span)


def _atoms(line: str, begin: int, end: int) -> Iterator[_Written]:
    position = begin
    while 0 <= position < end:
        match = _NEURAL_LP_ATOM.match(line[:end], position)
        if match is None:
            raise rule_formats.MisreadError("expected an atom with two variables, `father(B, A)`", position, end)
        yield match[1], match[2], match[3], match.start(1), match.end(3) + 1
        position = match.end()


NEURAL_LP = rule_formats.format_of_lines(
    "neural-lp",
    "Neural-LP",
    "0.412 (1.000)⇥aunt(C, A) <-- father(B, A), sister(C, B)",
    rule_formats.mostly(rf"{START}.+\([A-Z]\w*, ?[A-Z]\w*\) <--"),
    _read_neural_lp_line,
    turn=2,
)


_NCRL_LINE = re.compile(rf"{START}(\S.*?) <--(?: (.*)|$)")
_ARGUMENTS = re.compile(r"(?<=\S)\([^()]*,[^()]*\)")


def _read_ncrl_line(source: Source, start: int, line: str) -> Rule:
    match = _NCRL_LINE.fullmatch(line)
    if match is None:
        raise rule_formats.MisreadError("a confidence, the normalised one in parentheses, a tab, and `head <-- body`")
    names = [name.strip() for name in (match[4] or "").split(",") if name.strip()]
    if wrong := _ARGUMENTS.search(line, match.start(3)):
        raise rule_formats.MisreadError("expected names of relations, without arguments", *wrong.span())
    span = Span(source, start, start + len(line))
    variables = rule_formats.path(len(names), span)
    body = [rule_formats.inverted(name, *pair, span) for name, pair in zip(names, pairwise(variables), strict=True)]
    confidence, tags = stated_confidence(match[1])
    return rule_formats.rule_of(
        rule_formats.inverted(match[3], variables[0], variables[-1], span), body, span, confidence=confidence, tags=tags
    )


NCRL = rule_formats.format_of_lines(
    "ncrl", "NCRL", "0.871 (0.871)⇥aunt <-- sister, father", rule_formats.mostly(rf"{START}\S.* <--"), _read_ncrl_line, turn=3
)


_RNNLOGIC = "RNNLogic"
_RNNLOGIC_EXAMPLE = "0 268 237 0"
_DICTIONARY = "relations.dict"


def _read_rnnlogic(source: Source, tables: Sequence[rule_formats.TableName]) -> rule_formats.ToolRules:
    return rule_formats.read_lines(source, _RNNLOGIC, _RNNLOGIC_EXAMPLE, partial(_read_rnnlogic_line, _relations(source)))


def _relations(source: Source) -> list[str]:
    """The names of relations, by their numbers."""
    path = None if source.folder is None else source.folder / _DICTIONARY
    if path is None or not path.is_file():
        message = f"RNNLogic rules name relations by numbers, and `{_DICTIONARY}` with their names is not beside them"
        raise InputError(Diagnostic("E406", message, Place(source.name), helps=("copy it into the folder of the rule file",)))
    try:
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
        names = {int(number): name for number, name in lines}
    except (OSError, ValueError):
        message = f"`{_DICTIONARY}` does not have a number, a tab and a name on each line"
        raise InputError(Diagnostic("E406", message, Place(source.name))) from None
    if sorted(names) != list(range(len(names))):
        raise InputError(Diagnostic("E406", f"`{_DICTIONARY}` does not number the relations from 0 on", Place(source.name)))
    return [names[number] for number in range(len(names))]


def _read_rnnlogic_line(relations: list[str], source: Source, start: int, line: str) -> Rule:
    spans = []
    atoms = []
    for match in re.finditer(r"\S+", line):
        if not match[0].isdecimal():
            raise rule_formats.MisreadError("expected the number of a relation", *match.span())
        if int(match[0]) >= 2 * len(relations):
            message = f"there are {len(relations)} relations, so numbers end at {2 * len(relations) - 1}"
            raise rule_formats.MisreadError(message, *match.span())
        atoms.append(int(match[0]))
        spans.append(Span(source, start + match.start(), start + match.end()))
    span = Span(source, start, start + len(line))
    variables = rule_formats.path(len(atoms) - 1, span)
    ends = [(variables[0], variables[-1]), *pairwise(variables)]
    head, *body = (_rnnlogic_atom(relations, number, *pair, at) for number, pair, at in zip(atoms, ends, spans, strict=True))
    return rule_formats.rule_of(head, body, span)


def _rnnlogic_atom(relations: list[str], number: int, left: Variable, right: Variable, span: Span) -> Atom:
    if number >= len(relations):
        return Atom(relations[number - len(relations)], (right, left), span)
    return Atom(relations[number], (left, right), span)


RNNLOGIC = rule_formats.RuleFormat(
    "rnnlogic", _RNNLOGIC, _RNNLOGIC_EXAMPLE, rule_formats.mostly(r"\d+(?: \d+)+$"), _read_rnnlogic, turn=7
)


TURNED = "_v"
_ATOM = re.compile(r".+\(.+,.+\).*")


def _read_uniker_line(source: Source, start: int, line: str) -> Rule:
    weight, *names = line.split("\t")
    if not re.fullmatch(rule_formats.NUMBER, weight):
        raise rule_formats.MisreadError("the first column is a weight", 0, len(weight))
    if not names or not all(names):
        raise rule_formats.MisreadError("a weight, a head and a chain of relations are separated by single tabs", len(weight) + 1)
    spans, position = [], start + len(weight) + 1
    for name in names:
        if _ATOM.fullmatch(name):
            raise rule_formats.MisreadError(
                "expected the name of a relation, without arguments", position - start, position - start + len(name)
            )
        spans.append(Span(source, position, position + len(name)))
        position += len(name) + 1
    span = Span(source, start, start + len(line))
    variables = rule_formats.path(len(names) - 1, span)
    ends = (variables[0], variables[-1])
    atoms = [_uniker_atom(name, *pair, at) for name, at, pair in zip(names, spans, [ends, *pairwise(variables)], strict=True)]
    return rule_formats.rule_of(atoms[0], atoms[1:], span, tags=rule_formats.weight_tags(weight))


def _uniker_atom(name: str, left: Variable, right: Variable, span: Span) -> Atom:
    if name.endswith(TURNED) and len(name) > len(TURNED):
        return Atom(name[: -len(TURNED)], (right, left), span)
    return Atom(name, (left, right), span)


def _write_uniker(rule: Rule) -> str:
    head, body = rule_formats.only_atom(rule.head), rule_formats.body_atoms(rule.body)
    match head.terms:
        case (Variable(first), Variable(last)) if first != last:
            return "\t".join([rule_formats.stated_weight(rule), head.predicate, *_chain(body, first, last)])
        case _:
            raise rule_formats.UnfitError("its head does not have two different variables")


def _chain(body: tuple[Atom, ...], first: str, last: str) -> Iterator[str]:
    """The relations on the way from one variable to the other; a relation that leads back is reversed."""
    here, seen = first, {first}
    for atom in body:
        match atom.terms:
            case (Variable(left), Variable(right)) if here == left and right not in seen:
                here = right
                yield atom.predicate
            case (Variable(left), Variable(right)) if here == right and left not in seen:
                here = left
                yield atom.predicate + TURNED
            case _:
                raise rule_formats.UnfitError("its body is not a chain from the first argument of the head to the second")
        seen.add(here)
    if here != last:
        raise rule_formats.UnfitError("its body is not a chain from the first argument of the head to the second")


UNIKER = rule_formats.format_of_lines(
    "uniker",
    "UniKER",
    "1.0⇥aunt⇥sister⇥father_v",
    rule_formats.mostly(rf"{rule_formats.NUMBER}(\t[^\t()]+){{2,}}$"),
    _read_uniker_line,
    turn=6,
    write=_write_uniker,
)
