"""Errors of rules and of declarations, and warnings about suspicious ones."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations

from rulescore.errors import Diagnostic, InputError, Severity, Source, are_errors, place_of
from rulescore.language import syntax, trees
from rulescore.language.builtins import TESTS, gives_value
from rulescore.language.declarations.refute import Refute
from rulescore.language.printer import print_atom, print_condition, print_statement, rule_names
from rulescore.language.reading import read_rules
from rulescore.logic.binding import safety
from rulescore.logic.formula import Schema, may_equal
from rulescore.logic.places import computed_variables, typed_by_body
from rulescore.logic.problems import print_argument, wrong_type
from rulescore.logic.refutation import Declared, Opposition, opposition
from rulescore.logic.resolve import Resolver
from rulescore.logic.types import type_of_value
from rulescore.logic.vocabulary import Names, Spellings, Vocabulary
from rulescore.values import MICROSECOND, ValueType, key_of
from rulescore.waiting import look_at_the_clock


def is_tautology(rule: syntax.Rule) -> bool:
    """Whether the head is a condition of the body, so every grounding is confirmed."""
    return _stands_in(rule.head, rule.body.conditions)


def _stands_in(head: syntax.Head | syntax.Condition, body: tuple[syntax.Condition, ...]) -> bool:
    match head:
        case syntax.Falsity() | syntax.Not():
            # `not p(X)` means two things: a head with it is confirmed if something refutes p(X), and a body with it holds if p(X)
            # is absent.
            return False
        case syntax.And(conditions=parts):
            return all(_stands_in(part, body) for part in parts)
        case syntax.Or(conditions=parts):
            return any(_stands_in(part, body) for part in parts)
        case syntax.Atom(predicate) if not any(isinstance(part, syntax.Atom) and part.predicate == predicate for part in body):
            return False
        case _:
            # Python takes the constants 1 and true for equal; their texts differ.
            return any(condition == head and print_condition(condition) == print_condition(head) for condition in body)


def tautologies(rules: Iterable[tuple[str, syntax.Rule]]) -> Iterator[Diagnostic]:
    """A warning for each rule that says nothing."""
    for name, rule in rules:
        if is_tautology(rule):
            yield Diagnostic(
                "W212",
                f"rule `{name}` says nothing: its head stands in its own body",
                place_of(rule.span),
                notes=("every grounding of it confirms it, whatever the data",),
                helps=("remove the rule; `rulescore audit --no-flag tautology --keep FILE` writes the others",),
                severity=Severity.WARNING,
            )


def with_themselves(rules: Iterable[tuple[str, syntax.Rule]]) -> Iterator[Diagnostic]:
    """A warning for each rule that any fact meets if it stands at both atoms."""
    for name, rule in rules:
        if (atoms := _one_fact(rule)) is not None:
            left, right = map(print_condition, atoms)
            yield Diagnostic(
                "W218",
                f"rule `{name}` counts each fact with itself, too, which always confirms it",
                place_of(rule.span),
                notes=(f"`{left}` and `{right}` can be one fact",),
                helps=(
                    "of a relation, `@check functional p(X -> Y).` counts no fact with itself",
                    "of a table, keep the rows apart by their keys: `A != B`",
                ),
                severity=Severity.WARNING,
            )


def _one_fact(rule: syntax.Rule) -> tuple[syntax.Condition, syntax.Condition] | None:
    """Two atoms of the body that can be one fact. If they are one fact, both sides of the head are equal."""
    head = rule.head
    if not isinstance(head, syntax.Comparison) or head.operator not in {
        syntax.Operator.EQUAL,
        syntax.Operator.AT_MOST,
        syntax.Operator.AT_LEAST,
    }:
        return None
    if not (isinstance(head.left, syntax.Variable) and isinstance(head.right, syntax.Variable)):
        return None
    sides = {head.left.name, head.right.name}
    atoms = [condition for condition in rule.body.conditions if isinstance(condition, syntax.Atom | syntax.RowAtom)]
    for left, right in combinations(atoms, 2):
        rest = [condition for condition in rule.body.conditions if condition is not left and condition is not right]
        elsewhere = {variable.name for condition in rest for variable in trees.variables_in(condition)}
        if sides in _made_equal(left, right, elsewhere):
            return left, right
    return None


def _made_equal(
    left: syntax.Atom | syntax.RowAtom, right: syntax.Atom | syntax.RowAtom, elsewhere: Collection[str]
) -> list[set[str]]:
    """The variables that are equal if two atoms are one fact. None if the atoms cannot be one fact, or if other conditions mention
    both variables."""
    made = []
    for first, second in _facing(left, right):
        if isinstance(first, syntax.Wildcard) or isinstance(second, syntax.Wildcard) or first == second:
            continue
        if not (isinstance(first, syntax.Variable) and isinstance(second, syntax.Variable)):
            return []
        if first.name in elsewhere and second.name in elsewhere:
            return []
        made.append({first.name, second.name})
    return made


def _facing(left: syntax.Atom | syntax.RowAtom, right: syntax.Atom | syntax.RowAtom) -> Iterator[tuple[syntax.Term, syntax.Term]]:
    """The terms that stand at the same places of two atoms of one relation."""
    if isinstance(left, syntax.Atom) and isinstance(right, syntax.Atom) and left.predicate == right.predicate:
        yield from zip(left.terms, right.terms, strict=False)
    if isinstance(left, syntax.RowAtom) and isinstance(right, syntax.RowAtom) and left.table == right.table:
        named = dict(right.arguments)
        yield from ((term, named[name]) for name, term in left.arguments if name in named)


def self_refuting(rules: Iterable[tuple[str, syntax.Rule]], declared: Declared) -> Iterator[Diagnostic]:
    """A warning for each rule, given with its name, whose head is incompatible with one of its body atoms on the same arguments."""
    opponents: dict[tuple[str, int], list[Opposition]] = {}
    for name, rule in rules:
        if not isinstance(rule.head, syntax.Atom):
            continue
        predicate, arity = rule.head.predicate, rule.head.arity
        if (predicate, arity) not in opponents:
            opponents[predicate, arity] = _opponents(predicate, arity, declared)
        for literal in rule.body.conditions:
            if isinstance(literal, syntax.Atom) and _is_opposed(rule.head, literal, declared, opponents[predicate, arity]):
                yield Diagnostic(
                    "W204",
                    f"rule `{name}` contradicts itself: its head is incompatible with `{print_atom(literal)}` in its body",
                    place_of(rule.span),
                    notes=("every grounding of it is refuted, whatever the data",),
                    severity=Severity.WARNING,
                )
                break


def opposed(head: syntax.Atom, atom: syntax.Atom, declared: Declared) -> bool:
    """Whether two atoms are incompatible, by the declarations."""
    return _is_opposed(head, atom, declared, _opponents(head.predicate, head.arity, declared))


def _opponents(predicate: str, arity: int, declared: Declared) -> list[Opposition]:
    """What opposes a predicate by declarations other than groups."""
    against = map(opposition, declared.ways(predicate, arity, grouped=False))
    return [opposed for opposed in against if opposed is not None and not opposed.negative]


def _is_opposed(head: syntax.Atom, atom: syntax.Atom, declared: Declared, opponents: Iterable[Opposition]) -> bool:
    if atom.terms == head.terms and declared.in_one_group(head.predicate, atom.predicate):
        return True
    return any(
        opposed.opponent == atom.predicate and tuple(head.terms[i] for i in opposed.order) == atom.terms for opposed in opponents
    )


TypesAt = Mapping[tuple[str, int], frozenset[ValueType]]


def structure(program: syntax.Program, names: Iterable[str], known: Names) -> list[Diagnostic]:
    """Problems that need no data."""
    problems: list[Diagnostic] = []
    is_test = cache(known.is_surely_test)
    for statement in program.statements:
        look_at_the_clock()
        match statement:
            case syntax.Rule() | Refute():
                problems += safety(statement, is_test, known.tables.get)
            case syntax.Refuting():
                problems += statement.problems()
            case syntax.Definition() | syntax.ExtractIncompatible() | syntax.PredicateDeclaration():
                pass
    problems += _defined_otherwise(program)
    problems += _without_variables(program)
    problems += _idle_aggregates(program)
    problems += _duplicate_names(program, names)
    problems += _duplicate_rules(program, names)
    return problems


def _defined_otherwise(program: syntax.Program) -> Iterator[Diagnostic]:
    """Errors for definitions of predicates that are defined already, and for definitions made of defined predicates."""
    for statement in program.declarations:
        if isinstance(statement, syntax.Definition):
            name, fact = statement.head.predicate, statement.fact.predicate
            if program.definitions[name] != statement:
                helps = ("give one of them another name",)
                yield Diagnostic("E204", f"`{name}` is defined in two ways", place_of(statement.span), helps=helps)
            if fact in program.definitions:
                message = f"`{name}` is defined by `{fact}`, which is defined itself"
                yield Diagnostic("E116", message, place_of(statement.fact.span), helps=("define it by facts",))
    for name, arity, span in trees.uses(program) if program.definitions else ():
        if name in program.definitions and arity != (defined := program.definitions[name].head.arity):
            message = f"`{name}` has {arity} argument{'s' if arity != 1 else ''} here and {defined} in its definition"
            yield Diagnostic("E203", message, place_of(span))


def _without_variables(program: syntax.Program) -> Iterator[Diagnostic]:
    """Warn of rules whose arguments are all strings of one letter: the user probably meant variables."""
    for rule in program.rules:
        if isinstance(rule.head, syntax.Atom) and any(isinstance(term, syntax.Variable) for term in rule.head.terms):
            continue
        terms = [term for atom in trees.used_atoms(rule) for term in atom.terms]
        if terms and all(
            isinstance(term, syntax.Constant) and isinstance(term.value, str) and len(term.value) == 1 for term in terms
        ):
            yield Diagnostic(
                "W205",
                "this rule has no variables",
                place_of(rule.span),
                notes=("variables begin with a capital letter or a question mark; anything else is a constant",),
                severity=Severity.WARNING,
            )


def _idle_aggregates(program: syntax.Program) -> Iterator[Diagnostic]:
    """Warn of aggregates whose variables all occur outside them, since such an aggregate ranges over one grounding at most. Skipped
    for row atoms: an unnamed key is itself an inner variable."""
    for rule in program.occurrences.others:
        if not isinstance(rule, syntax.Rule):
            continue
        found = [aggregate for condition in trees.conditions_of(rule) for aggregate in trees.aggregates_in(condition)]
        if not found:
            continue
        outside = {
            variable.name for condition in trees.conditions_of(rule) for variable in trees.variables_in(condition, aggregates=False)
        }
        for aggregate in found:
            if not any(_ranges(node, outside) for node in trees.nodes_in(aggregate)):
                yield Diagnostic(
                    "W207",
                    f"this `{aggregate.function}` has no variable of its own",
                    place_of(aggregate.span),
                    notes=("a variable that occurs outside of an aggregate has one value in it",),
                    helps=("give the variable that it is to range over another name",),
                    severity=Severity.WARNING,
                )


def _ranges(node: trees.Node, outside: set[str]) -> bool:
    return isinstance(node, syntax.Wildcard | syntax.RowAtom) or (isinstance(node, syntax.Variable) and node.name not in outside)


def _duplicate_names(program: syntax.Program, names: Iterable[str]) -> Iterator[Diagnostic]:
    first: dict[str, syntax.Rule] = {}
    for rule, name in zip(program.rules, names, strict=True):
        # Names that we make up differ from all other names.
        if rule.name is None:
            continue
        if name in first:
            other = first[name].span
            yield Diagnostic(
                "E204",
                f"two rules are named `{name}`",
                place_of(rule.span),
                "the second",
                notes=(f"the first is at {other.place()}",) if other else (),
                helps=("give one of them another name",),
            )
        first.setdefault(name, rule)


_Key = tuple[object, ...]


def meaning_key(rule: syntax.Rule) -> _Key:
    """A key that is equal for rules that say the same in the same order, whatever the names of their variables."""
    numbers: dict[str, int] = {}

    def key(node: trees.Node) -> _Key:
        match node:
            case syntax.Variable(name):
                return ("variable", numbers.setdefault(name, len(numbers)))
            case syntax.Constant(datetime.timedelta() as value):
                return ("duration", value // MICROSECOND)
            case syntax.Constant(value):
                return ("constant", key_of(value))
            case syntax.Atom(predicate, terms):
                return ("Atom", predicate, *map(key, terms))
            case syntax.RowAtom(table, arguments):
                own: object = (table, *(attribute for attribute, _ in arguments))
            case syntax.Test(name) | syntax.Call(name):
                own = name
            case syntax.Comparison(operator) | syntax.Operation(operator):
                own = operator.value
            case syntax.Aggregate(function):
                own = function.value
            case _:
                own = None
        return (type(node).__name__, own, *(key(part) for part in trees.parts(node)))

    return tuple(key(condition) for condition in trees.conditions_of(rule))


def _plain_key(rule: syntax.Rule) -> _Key:
    """The same for a rule of atoms alone, quickly. Keys of other rules are of another form: equal rules have the same form."""
    numbers: dict[str, int] = {}
    atoms = (*((rule.head,) if isinstance(rule.head, syntax.Atom) else ()), *rule.body.conditions)
    key: list[object] = [isinstance(rule.head, syntax.Atom)]
    for atom in atoms:
        assert isinstance(atom, syntax.Atom)
        key.append(atom.predicate)
        for term in atom.terms:
            if isinstance(term, syntax.Variable):
                key.append(numbers.setdefault(term.name, len(numbers)))
            elif isinstance(term, syntax.Constant):
                assert not isinstance(term.value, datetime.timedelta)
                key.append((key_of(term.value),))
            else:
                key.append(None)
    return tuple(key)


def _duplicate_rules(program: syntax.Program, names: Iterable[str]) -> Iterator[Diagnostic]:
    # We keep only hashes, because the keys of a hundred thousand rules would take more memory than the rules.
    before: dict[int, list[tuple[int, str]]] = {}
    plain = program.occurrences.plain

    def key(number: int) -> _Key:
        return (_plain_key if plain[number] else meaning_key)(program.rules[number])

    for number, (rule, name) in enumerate(zip(program.rules, names, strict=True)):
        said = key(number)
        alike = before.setdefault(hash(said), [])
        other = next((other for earlier, other in alike if key(earlier) == said), None)
        if other is None:
            alike.append((number, name))
            continue
        yield Diagnostic(
            "W201",
            f"rule `{name}` says the same as rule `{other}`",
            place_of(rule.span),
            notes=("both count",),
            severity=Severity.WARNING,
        )


def meaning(
    program: syntax.Program, known: Names, types: TypesAt, horn: syntax.Program, left_out: Collection[str] = ()
) -> list[Diagnostic]:
    """Problems that only the data show. `left_out`: notes on how many predictions we dropped unread."""
    vocabulary = known.vocabulary
    assert vocabulary is not None
    problems = list(_arity_clashes(program, vocabulary, known))
    declared = {s.predicate for s in program.statements if isinstance(s, syntax.PredicateDeclaration)}
    problems += _defined_in_data(program, vocabulary)
    problems += _unknown_predicates(program, vocabulary, declared, known, tuple(left_out))
    problems += _function_names(program, known)
    problems += _constant_types(horn, types)
    problems += _group_arities(program, vocabulary)
    problems += _unused(program)
    return problems


def _defined_in_data(program: syntax.Program, vocabulary: Vocabulary) -> Iterator[Diagnostic]:
    for name, definition in program.definitions.items():
        known = vocabulary.predicates.get(name)
        if known is not None and known.occurs:
            message = f"`{name}` is defined, and the data have facts of that name"
            yield Diagnostic("E204", message, place_of(definition.head.span), helps=("define another name",))


def _arity_clashes(program: syntax.Program, vocabulary: Vocabulary, names: Names) -> Iterator[Diagnostic]:
    first: dict[str, tuple[int, str]] = {
        known.name: (known.arity, "the data") for known in vocabulary.predicates.values() if known.occurs
    }
    for (predicate, arity), span in program.occurrences.first.items():
        if not names.is_predicate(predicate):
            continue
        if predicate not in first:
            first[predicate] = (arity, str(span.place()) if span else "another rule")
        known, where = first[predicate]
        if arity != known:
            yield Diagnostic(
                "E203",
                f"`{predicate}` has {arity} argument{'s' if arity != 1 else ''} here and {known} in {where}",
                place_of(span),
                f"{arity} argument{'s' if arity != 1 else ''}",
                helps=(f"write `{predicate}` with {known} argument{'s' if known != 1 else ''}",),
            )


def _group_arities(program: syntax.Program, vocabulary: Vocabulary) -> Iterator[Diagnostic]:
    for declaration in program.declarations:
        yield from two_arities(declaration, vocabulary.arity)


def two_arities(declaration: syntax.Declaration, arity_of: Callable[[str], int | None]) -> Iterator[Diagnostic]:
    """An error if incompatible predicates have different numbers of arguments."""
    predicates = trees.named_predicates(declaration) if isinstance(declaration, syntax.Refuting) and declaration.opposing else ()
    arities = {predicate: arity for predicate in predicates if (arity := arity_of(predicate)) is not None}
    if len(set(arities.values())) > 1:
        yield Diagnostic(
            "E203",
            "incompatible predicates must have one number of arguments",
            place_of(declaration.span),
            notes=(", ".join(f"`{predicate}` has {arity}" for predicate, arity in arities.items()),),
        )


def _named(program: syntax.Program) -> set[str]:
    """The predicates that statements name."""
    refuted = (statement.refuted for statement in program.declarations if isinstance(statement, syntax.Refuting))
    return {name for names in refuted for name in names if name is not None}.union(trees.used_arities(program))


def _function_names(program: syntax.Program, known: Names) -> Iterator[Diagnostic]:
    """Problems of registered predicates whose names are taken."""
    named = _named(program)
    for name in known.functions:
        if name in TESTS or gives_value(name):
            yield Diagnostic("E204", f"`{name}` is built in and cannot be registered", helps=("register it under another name",))
        elif name in named and known.is_predicate(name):
            yield Diagnostic(
                "W208",
                f"the registered predicate `{name}` is never called: the data have a predicate of that name",
                helps=("register it under another name",),
                severity=Severity.WARNING,
            )


def _unknown_predicates(
    program: syntax.Program, vocabulary: Vocabulary, declared: set[str], names: Names, left_out: tuple[str, ...]
) -> Iterator[Diagnostic]:
    known = {p.name for p in vocabulary.predicates.values() if p.occurs} | declared
    spellings = Spellings(known.union(TESTS, names.functions))
    arities = trees.used_arities(program)
    unknown = {
        name for name in _named(program) if not (name in known and _has_facts(vocabulary, name)) and names.is_predicate(name)
    }
    asked: set[str] = set()
    for statement in program.statements if unknown else ():
        for predicate in trees.named_predicates(statement):
            if predicate in asked or predicate not in unknown:
                continue
            close = None if predicate in known else spellings.closest(predicate)
            if close is None and not isinstance(statement, syntax.Rule):
                continue
            asked.add(predicate)
            span = trees.span_of(predicate, statement)
            if close is not None:
                yield Diagnostic(
                    "E205",
                    f"predicate `{predicate}` has no facts anywhere",
                    place_of(span),
                    f"did you mean `{close}`?",
                    notes=left_out,
                    helps=(f"if the name is right, declare it: `predicate {predicate}/{arities.get(predicate, 2)}.`",),
                )
            else:
                yield Diagnostic(
                    "W203",
                    f"predicate `{predicate}` has no facts in the data or in any model's predictions",
                    place_of(span),
                    notes=left_out,
                    severity=Severity.WARNING,
                )


def _has_facts(vocabulary: Vocabulary, predicate: str) -> bool:
    known = vocabulary.predicates.get(predicate)
    return bool(known and (known.observed or known.predicted))


def literal_positions(statement: syntax.Rule | Refute) -> Iterator[tuple[syntax.Atom, int, syntax.Constant]]:
    """The constants of a statement, each with every position of an atom that holds it or a variable compared with it."""
    atoms = list(trees.used_atoms(statement))
    for atom in atoms:
        for position, term in enumerate(atom.terms):
            if isinstance(term, syntax.Constant):
                yield atom, position, term
    for literal in statement.body.conditions:
        match literal:
            case syntax.Comparison(_, syntax.Variable(name), syntax.Constant() as constant) | syntax.Comparison(
                _, syntax.Constant() as constant, syntax.Variable(name)
            ):
                for atom in atoms:
                    for position, term in enumerate(atom.terms):
                        if isinstance(term, syntax.Variable) and term.name == name:
                            yield atom, position, constant
            case _:
                pass


def _constant_types(program: syntax.Program, types: TypesAt) -> Iterator[Diagnostic]:
    reported: set[int] = set()
    fit = all(
        _fits(constant, types.get((predicate, i))) for ((predicate, _, i), _), constant in program.occurrences.constants.items()
    )
    for statement in program.occurrences.others if fit else program.statements:
        if types and isinstance(statement, syntax.Rule | Refute):
            for atom, position, term in literal_positions(statement):
                here = types.get((atom.predicate, position))
                if here and id(term) not in reported and not _fits(term, here):
                    reported.add(id(term))
                    yield wrong_type(term, print_argument(atom.predicate, position), here)


def _fits(constant: syntax.Constant, here: frozenset[ValueType] | None) -> bool:
    return not here or may_equal(type_of_value(constant.value), here)


def _unused(program: syntax.Program) -> Iterator[Diagnostic]:
    asked = [
        statement for statement in program.declarations if isinstance(statement, syntax.Refuting | syntax.PredicateDeclaration)
    ]
    if not asked:
        return
    heads = {name for rule in program.rules for name in _head_predicates(rule)}
    anywhere = {atom.predicate for s in program.statements for atom in trees.used_atoms(s)}
    checked = {id(rule.span) for rule in program.rules if rule.span}
    for statement in asked:
        # An ontology is written for any rules, so a declaration that concerns none is no mistake.
        if statement.span is not None and (statement.span.source.converted or id(statement.span) in checked):
            continue
        match statement:
            case syntax.Refuting():
                about, concerned = statement.refuted, heads
            case syntax.PredicateDeclaration(predicate):
                about, concerned = (predicate,), anywhere
        if None not in about and not concerned.intersection(about):
            yield Diagnostic(
                "W202",
                "no rule's head is concerned by this declaration" if concerned is heads else f"no rule uses `{about[0]}`",
                place_of(statement.span),
                helps=_how_to_check(statement),
                severity=Severity.WARNING,
            )


def _how_to_check(statement: syntax.Declaration) -> tuple[str, ...]:
    if not isinstance(statement, syntax.Refuting) or not statement.checkable:
        return ()
    return (f"a declaration refutes heads, and flags no facts by itself; as a rule, too: `@check {print_statement(statement)}`",)


def _head_predicates(rule: syntax.Rule) -> Iterator[str]:
    """The predicates that the head of a rule names. A row's attributes are predicates: `table.attribute`."""
    if isinstance(rule.head, syntax.Atom):
        yield rule.head.predicate
        return
    for node in trees.nodes_in(rule.head):
        match node:
            case syntax.Atom(predicate):
                yield predicate
            case syntax.RowAtom(table, arguments):
                yield from (f"{table}.{attribute}" for attribute, _ in arguments)
            case _:
                pass


def declaration_problems(declared: Declared, schema: Schema, fast: Collection[int]) -> Iterator[Diagnostic]:
    """`fast`: the identities of the declarations of Horn form, which other checks cover."""

    def arity(predicate: str) -> int | None:
        relation = schema.positions(predicate)
        return None if relation is None else len(relation[1])

    for declaration in declared.declarations:
        if isinstance(declaration, syntax.Refuting) and id(declaration) not in fast:
            computed = computed_variables(declaration) if isinstance(declaration, Refute) else frozenset[str]()
            resolver = Resolver(schema, declared.functions, [], computed=computed)
            _resolve(declaration, resolver)
            yield from resolver.problems
            yield from two_arities(declaration, arity)


def _resolve(declaration: syntax.Refuting, resolver: Resolver) -> None:
    if isinstance(declaration, Refute):
        typed = typed_by_body(declaration)
        resolver.bind(typed.head)
        bound = {term.name: term for term in typed.head.terms if isinstance(term, syntax.Variable)}
        resolver.body(typed.body, bound, typed.head)
        return
    for atom in trees.used_atoms(declaration):
        resolver.atom(syntax.Atom(atom.predicate, (syntax.Wildcard(),) * atom.arity, atom.span), {})
    for predicate in () if declaration.conditions else declaration.refuted:
        if predicate is not None:
            resolver.name(predicate, declaration.span)


_NOTHING_KNOWN = Names(tables={}, functions=frozenset())


def check_rule_files(sources: Iterable[Source]) -> tuple[int, list[Diagnostic]]:
    """The number of rules, and warnings. Raises the errors of all files together. We check each file by itself: the files need not
    belong to one project."""
    rules = 0
    problems: list[Diagnostic] = []
    for source in sources:
        try:
            reading = read_rules([source])
        except InputError as error:
            problems += error.problems
        else:
            program = reading.program
            problems += reading.told
            rules += len(program.rules)
            problems += structure(program, rule_names(program), _NOTHING_KNOWN)
    if are_errors(problems):
        raise InputError(problems)
    return rules, problems
