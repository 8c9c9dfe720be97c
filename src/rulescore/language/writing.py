"""Rules in the formats of other tools. We write a rule only if our reader gives it back, up to names of variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rulescore.errors import Diagnostic, InputError, Severity, Source, place_of
from rulescore.language.printer import print_program, rule_names
from rulescore.language.rule_formats import WEIGHT_TAG, RuleFormat, UnfitError, rule_format, rule_formats
from rulescore.language.syntax import And, Atom, Condition, Constant, Head, Or, Program, Rule, Term, Variable, Wildcard
from rulescore.language.words import OWN_FORMAT


def converted(program: Program, name: str) -> tuple[str, tuple[Diagnostic, ...]]:
    """The rules as a file, and warnings of what it leaves out. Raises InputError with every rule that does not fit."""
    if name == OWN_FORMAT:
        return print_program(program), ()
    form = rule_format(name)
    if form.write is None:
        writable = [OWN_FORMAT, *(other.name for other in rule_formats().values() if other.write is not None)]
        notes = (f"formats that can be written are {', '.join(f'`{other}`' for other in writable)}",)
        raise InputError(Diagnostic("E156", f"rules of {form.title} can be read, but not written", notes=notes))
    lines, problems = [], []
    for rule_name, rule in zip(rule_names(program), program.rules, strict=True):
        try:
            lines.append(f"{written(rule, form)}\n")
        except UnfitError as unfit:
            place = place_of(rule.span)
            problems.append(Diagnostic("E156", f"rule `{rule_name}` cannot be written for {form.title}: {unfit}", place))
    if problems:
        raise InputError(problems)
    return "".join(lines), tuple(_losses(program, form))


def written(rule: Rule, form: RuleFormat) -> str:
    """A rule as a line. Raises UnfitError."""
    assert form.write is not None
    standard = _standard(rule)
    line = form.write(standard)
    reread = form.read(Source("line", line), ())
    if reread.problems or [(again.head, again.body) for again in map(_standard, reread.rules)] != [(standard.head, standard.body)]:
        raise UnfitError(f"its line, `{line}`, would be read as something else")
    return line


def _losses(program: Program, form: RuleFormat) -> Iterator[Diagnostic]:
    lost = {
        "names": sum(rule.name is not None for rule in program.rules),
        "kinds": sum(rule.kind is not None for rule in program.rules),
        "weights": sum(rule.weight != 1 for rule in program.rules),
        "descriptions": sum(rule.description is not None for rule in program.rules),
        "tags": sum(any(not tag.startswith(WEIGHT_TAG) for tag in rule.tags) for rule in program.rules),
        "confidences": 0 if "confidence" in form.keeps else sum(rule.confidence is not None for rule in program.rules),
        "supports": 0 if "support" in form.keeps else sum(rule.support is not None for rule in program.rules),
        "declarations": len(program.declarations),
    }
    if said := ", ".join(f"{what} ({n:,})" for what, n in lost.items() if n):
        yield Diagnostic("W153", f"{form.title} rules cannot say these: {said}", severity=Severity.WARNING)


def _standard(rule: Rule) -> Rule:
    """The rule with variables called V1, V2, … in the order in which they occur, each wildcard one of them."""
    names: dict[str, str] = {}

    def term(written: Term) -> Term:
        match written:
            case Variable(name):
                return Variable(names.setdefault(name, f"V{len(names) + 1}"))
            case Wildcard():
                # No variable has such a name.
                return Variable(names.setdefault(f"_ {len(names)}", f"V{len(names) + 1}"))
            case Constant():
                return written

    def atom(condition: Condition) -> Condition:
        return Atom(condition.predicate, tuple(map(term, condition.terms))) if isinstance(condition, Atom) else condition

    match rule.head:
        case Or(parts):
            head: Head = Or(tuple(map(atom, parts)))
        case Atom(predicate, terms):
            head = Atom(predicate, tuple(map(term, terms)))
        case other:
            head = other
    return replace(rule, head=head, body=And(tuple(map(atom, rule.body.conditions))))
