"""Rules in the formats of other tools. We write a rule only if our reader gives it back, up to names of variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from rulescore.errors import Diagnostic, InputError, Severity, Source, place_of
from rulescore.language.formats import anyburl, mln, uniker
from rulescore.language.formats.base import WEIGHT_TAG, RuleFormat
from rulescore.language.formats.names import FormatName
from rulescore.language.names import rule_names
from rulescore.language.printer import print_program
from rulescore.language.syntax import And, Atom, Condition, Constant, Falsity, Head, Or, Program, Rule, Term, Variable, Wildcard


class UnfitError(Exception):
    """Why a format cannot express a rule."""


def converted(program: Program, form: FormatName) -> tuple[str, tuple[Diagnostic, ...]]:
    """The rules as a file, and warnings of what it leaves out. Raises InputError with every rule that does not fit."""
    if form is FormatName.RULESCORE:
        return print_program(program), ()
    lines, problems = [], []
    for name, rule in zip(rule_names(program), program.rules, strict=True):
        try:
            lines.append(f"{written(rule, form)}\n")
        except UnfitError as unfit:
            place = place_of(rule.span)
            problems.append(Diagnostic("E156", f"rule `{name}` cannot be written for {_FORMATS[form].title}: {unfit}", place))
    if problems:
        raise InputError(problems)
    return "".join(lines), tuple(_losses(program, form))


def written(rule: Rule, form: FormatName) -> str:
    """A rule as a line. Raises UnfitError."""
    standard = _standard(rule)
    line = WRITERS[form](standard)
    found = _FORMATS[form].read(Source("line", line), ())
    again = [_standard(one) for one in found.rules]
    if found.problems or [(one.head, one.body) for one in again] != [(standard.head, standard.body)]:
        raise UnfitError(f"its line, `{line}`, would be read as something else")
    return line


def _losses(program: Program, form: FormatName) -> Iterator[Diagnostic]:
    kept = {"confidence", "support"} if form is FormatName.ANYBURL else set[str]()
    lost = {
        "names": sum(rule.name is not None for rule in program.rules),
        "kinds": sum(rule.kind is not None for rule in program.rules),
        "weights": sum(rule.weight != 1 for rule in program.rules),
        "descriptions": sum(rule.description is not None for rule in program.rules),
        "tags": sum(any(not tag.startswith(WEIGHT_TAG) for tag in rule.tags) for rule in program.rules),
        "confidences": 0 if "confidence" in kept else sum(rule.confidence is not None for rule in program.rules),
        "supports": 0 if "support" in kept else sum(rule.support is not None for rule in program.rules),
        "declarations": len(program.declarations),
    }
    if said := ", ".join(f"{what} ({n:,})" for what, n in lost.items() if n):
        yield Diagnostic("W153", f"{_FORMATS[form].title} rules cannot say these: {said}", severity=Severity.WARNING)


def _write_anyburl(rule: Rule) -> str:
    if rule.confidence is None or rule.support is None:
        raise UnfitError("it has no `@confidence` and `@support`, with which each line begins")
    head, body = _atom(rule.head), _atoms(rule.body)
    # We do not keep the number of predictions; both figures together give it, to the nearest whole number.
    predicted = round(rule.support / rule.confidence) if rule.confidence else 0
    letters = _letters((head, *body))
    said = ", ".join(_anyburl_atom(atom, letters) for atom in body)
    return f"{predicted}\t{rule.support}\t{rule.confidence!r}\t{_anyburl_atom(head, letters)} <= {said}"


def _letters(atoms: tuple[Atom, ...]) -> dict[str, str]:
    """One capital letter for each variable: X and Y for those of the head, A, B, … for others."""
    head, *body = (dict.fromkeys(term.name for term in atom.terms if isinstance(term, Variable)) for atom in atoms)
    others = [name for atom in body for name in atom if name not in head]
    letters = dict(zip(head, "XY", strict=False)) | dict(zip(dict.fromkeys(others), "ABCDEFGHIJKLMNOPQRSTUVWZ", strict=False))
    if missing := [name for name in (*head, *others) if name not in letters]:
        raise UnfitError(f"no letter is left for the variable `{missing[0]}`")
    return letters


def _anyburl_atom(atom: Atom, letters: Mapping[str, str]) -> str:
    match atom.terms:
        case (Variable(one), Variable(other)) if one == other:
            return f"{atom.predicate}({letters[one]},{anyburl.MYSELF})"
        case (left, right):
            return f"{atom.predicate}({_anyburl_term(left, letters)},{_anyburl_term(right, letters)})"
        case _:
            raise UnfitError(f"`{atom.predicate}` has {atom.arity} arguments, and only two can be written")


def _anyburl_term(term: Term, letters: Mapping[str, str]) -> str:
    return letters[term.name] if isinstance(term, Variable) else _text(term)


def _write_mln(rule: Rule) -> str:
    match rule.head:
        case Falsity():
            heads: tuple[Atom, ...] = ()
        case Or(parts):
            heads = tuple(map(_atom, parts))
        case head:
            heads = (_atom(head),)
    negated = [f"!{_mln_atom(atom)}" for atom in _atoms(rule.body)]
    return f"{_weight(rule)} {' v '.join([*negated, *map(_mln_atom, heads)])}"


def _mln_atom(atom: Atom) -> str:
    return f"{atom.predicate}({', '.join(map(_mln_term, atom.terms))})"


def _mln_term(term: Term) -> str:
    return term.name if isinstance(term, Variable) else f'"{_text(term)}"'


def _write_uniker(rule: Rule) -> str:
    head, body = _atom(rule.head), _atoms(rule.body)
    match head.terms:
        case (Variable(first), Variable(last)) if first != last:
            return "\t".join([_weight(rule), head.predicate, *_chain(body, first, last)])
        case _:
            raise UnfitError("its head does not have two different variables")


def _chain(body: tuple[Atom, ...], first: str, last: str) -> Iterator[str]:
    """The relations on the way from one variable to the other, each turned if it leads back."""
    here, seen = first, {first}
    for atom in body:
        match atom.terms:
            case (Variable(left), Variable(right)) if here == left and right not in seen:
                here = right
                yield atom.predicate
            case (Variable(left), Variable(right)) if here == right and left not in seen:
                here = left
                yield atom.predicate + uniker.TURNED
            case _:
                raise UnfitError("its body is not a chain from the first argument of the head to the second")
        seen.add(here)
    if here != last:
        raise UnfitError("its body is not a chain from the first argument of the head to the second")


def _weight(rule: Rule) -> str:
    return next((tag.removeprefix(WEIGHT_TAG) for tag in rule.tags if tag.startswith(WEIGHT_TAG)), "1.0")


def _atoms(body: And) -> tuple[Atom, ...]:
    return tuple(map(_atom, body.conditions))


def _atom(condition: Condition | Head) -> Atom:
    if isinstance(condition, Atom):
        return condition
    raise UnfitError("it is not made of atoms alone")


def _text(term: Term) -> str:
    """The name of an entity. Other types would come back as names."""
    if isinstance(term, Constant) and isinstance(term.value, str):
        return term.value
    raise UnfitError("it has a constant that is not a text")


def _standard(rule: Rule) -> Rule:
    """The rule with variables called V1, V2, … in the order in which they occur, each wildcard one of them."""
    names: dict[str, str] = {}

    def term(one: Term) -> Term:
        match one:
            case Variable(name):
                return Variable(names.setdefault(name, f"V{len(names) + 1}"))
            case Wildcard():
                # No variable has such a name.
                return Variable(names.setdefault(f"_ {len(names)}", f"V{len(names) + 1}"))
            case Constant():
                return one

    def atom(one: Condition) -> Condition:
        return Atom(one.predicate, tuple(map(term, one.terms))) if isinstance(one, Atom) else one

    match rule.head:
        case Or(parts):
            head: Head = Or(tuple(map(atom, parts)))
        case Atom(predicate, terms):
            head = Atom(predicate, tuple(map(term, terms)))
        case other:
            head = other
    return replace(rule, head=head, body=And(tuple(map(atom, rule.body.conditions))))


WRITERS: dict[FormatName, Callable[[Rule], str]] = {
    FormatName.ANYBURL: _write_anyburl,
    FormatName.MLN: _write_mln,
    FormatName.UNIKER: _write_uniker,
}
_FORMATS: dict[FormatName, RuleFormat] = {one.name: one for one in (anyburl.FORMAT, mln.FORMAT, uniker.FORMAT)}
