"""Shapes of SHACL as rules. A shape is about the facts as they are: an absent fact is missing.

Instances of a class below the target's class are targets as well, if one of the files says that the class is below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from rulescore.language import syntax
from rulescore.ontologies.shape_conditions import (
    ORDERED_PAIRS,
    PATH,
    PROPERTY,
    QUALIFIED,
    SILENT,
    TARGETS,
    TESTED,
    Conditions,
    Failure,
    is_off,
    ordered,
    parts_of,
)
from rulescore.ontologies.shape_paths import Fresh, Path, UnsayableError, read_path
from rulescore.ontologies.triples import (
    TYPE,
    Blank,
    Graph,
    Iri,
    Literal,
    Made,
    Node,
    NotUnderstood,
    X,
    atom,
    constant,
    constraint,
    different,
    names,
    refutation,
    short,
)
from rulescore.readers.rdf import OWL, RDFS, SHACL

_KINDS = (Iri(f"{SHACL}NodeShape"), Iri(f"{SHACL}PropertyShape"))
_READ_HERE = frozenset(("closed", "property", "equals", "disjoint", "minCount", "maxCount", "hasValue", *QUALIFIED, *ORDERED_PAIRS))


@dataclass(frozen=True, slots=True)
class _Target:
    """The things that a shape is about: as conditions on a focus node, and in words. `taken`: how often each stem of variables is
    used in the conditions."""

    focus: syntax.Variable | syntax.Constant
    conditions: tuple[syntax.Condition, ...]
    shown: str
    taken: Mapping[str, int] = field(default_factory=dict)


def read_shapes(graph: Graph) -> Iterator[Made]:
    """The rules of all shapes that have a target; we read a shape that others refer to with them."""
    definitions = Conditions(graph)
    rules: list[Made] = []
    for shape in dict.fromkeys(_shapes(graph)):
        targets = []
        for target in _targets(definitions, shape):
            if isinstance(target, NotUnderstood):
                rules.append(target)
            else:
                targets.append(target)
        if targets and not is_off(graph, shape):
            rules += _Shape(definitions, shape).rules(targets)
    yield from definitions.definitions.values()
    yield from rules


def _shapes(graph: Graph) -> Iterator[Node]:
    for subject, predicate, value in graph.triples:
        if predicate in TARGETS or (predicate == TYPE and value in _KINDS and not _is_part(graph, subject)):
            yield subject


def _is_part(graph: Graph, shape: Node) -> bool:
    """Whether other shapes refer to a shape: then it needs no target of its own."""
    return isinstance(shape, Blank) or any(graph.subjects(f"{SHACL}{name}", shape) for name in ("property", "node", "not"))


def _targets(conditions: Conditions, shape: Node) -> Iterator[_Target | NotUnderstood]:
    graph, has_target = conditions.graph, False
    for predicate, value in graph.said_of(shape):
        if predicate not in TARGETS:
            continue
        has_target = True
        match value:
            case _ if predicate == f"{SHACL}targetNode":
                yield _Target(constant(value), (), next(map(short, names([value])), str(constant(value).value)))
            case Iri(name) if predicate == f"{SHACL}targetClass":
                yield _Target(X, (conditions.is_of(X, name),), short(name))
            case Iri(name) if predicate == f"{SHACL}targetSubjectsOf":
                yield _Target(X, (conditions.at_end(X, name, of_values=False),), f"subjects of {short(name)}")
            case Iri(name) if predicate == f"{SHACL}targetObjectsOf":
                yield _Target(X, (conditions.at_end(X, name, of_values=True),), f"objects of {short(name)}")
            case _:
                yield NotUnderstood(short(predicate), _shape_name(shape))
    if isinstance(shape, Iri) and (graph.is_a(shape, f"{RDFS}Class") or graph.is_a(shape, f"{OWL}Class")):
        yield _Target(X, (conditions.is_of(X, shape.value),), short(shape.value))
    elif not has_target:
        yield NotUnderstood("a shape without a target", _shape_name(shape))


@dataclass(frozen=True, slots=True)
class _Shape:
    """A shape whose rules we write. `shared`: collects the definitions that they need."""

    shared: Conditions
    node: Node

    @property
    def graph(self) -> Graph:
        return self.shared.graph

    def rules(self, targets: list[_Target]) -> list[Made]:
        if not (paths := self.graph.objects(self.node, PATH)):
            return [*self._left_out(), *(made for target in targets for made in self._of_node(target))]
        about = ", ".join(target.shown for target in targets)
        try:
            path = read_path(self.graph, paths[0])
        except UnsayableError as error:
            return [NotUnderstood(f"a path {error.what}", about)]
        for step in (step for way in path.ways for step in way if step.many):
            self.shared.chain(step.predicate)
        made = [made for target in targets for made in self._of_property(target, path)]
        return [*self._left_out(f"{about}.{path.shown}"), *dict.fromkeys(made)]

    def _left_out(self, about: str | None = None) -> Iterator[NotUnderstood]:
        for predicate, _ in self.graph.said_of(self.node):
            name = predicate.removeprefix(SHACL)
            if predicate.startswith(SHACL) and predicate not in SILENT and name not in (_READ_HERE | TESTED):
                yield NotUnderstood(short(predicate), about or _shape_name(self.node))

    def _conditions(self, target: _Target) -> Conditions:
        return Conditions(self.graph, Fresh(target.taken), self.shared.definitions, (self.node,))

    def _rule(self, name: str, parameter: str, head: syntax.Head, *body: syntax.Condition, about: syntax.About) -> syntax.Rule:
        texts = (value.text for value in self.graph.objects(self.node, f"{SHACL}message") if isinstance(value, Literal))
        rule = constraint(name, head, *parts_of(body))
        return replace(rule, description=next(texts, None), tags=(parameter,), about=about)

    # Node shapes

    def _of_node(self, target: _Target) -> Iterator[Made]:
        yield from self._failing(target, None)
        for predicate, value in self.graph.said_of(self.node):
            name = predicate.removeprefix(SHACL) if predicate.startswith(SHACL) else ""
            shown = self.shared.shown(name, value)
            about = syntax.About(target.focus, value=target.focus)
            match name, value:
                case "property", _:
                    yield from _Shape(self.shared, value).rules([target])
                case "closed", Literal("true" | "1"):
                    yield from self._closed(target)
                case "equals", Iri(other):
                    end = self._conditions(target).fresh.variable("Y")
                    name, further = f"{target.shown} {shown}", syntax.About(target.focus, value=end)
                    alone = syntax.Not(atom(other, target.focus, target.focus))
                    yield self._rule(name, "sh:equals", syntax.Falsity(), *target.conditions, alone, about=about)
                    others = (atom(other, target.focus, end), different(end, target.focus))
                    yield self._rule(name, "sh:equals", syntax.Falsity(), *target.conditions, *others, about=further)
                case "disjoint", Iri(other):
                    same = atom(other, target.focus, target.focus)
                    yield self._rule(
                        f"{target.shown} {shown}", "sh:disjoint", syntax.Falsity(), *target.conditions, same, about=about
                    )
                case "hasValue", _:
                    other_node = different(target.focus, constant(value))
                    body = (*target.conditions, other_node)
                    yield self._rule(f"{target.shown} {shown}", "sh:hasValue", syntax.Falsity(), *body, about=about)
                case _:
                    pass

    def _closed(self, target: _Target) -> Iterator[syntax.Statement]:
        graph = self.graph
        lists = graph.objects(self.node, f"{SHACL}ignoredProperties")
        allowed = {name for head in lists for name in names(graph.members(head))}
        for part in graph.objects(self.node, PROPERTY):
            allowed.update(names(graph.objects(part, PATH)))
        for predicate in graph.predicates:
            if predicate not in allowed:
                value = self._conditions(target).fresh.variable("Y")
                about = syntax.About(target.focus, predicate, value)
                body = (*target.conditions, atom(predicate, target.focus, value))
                yield self._rule(f"{target.shown} closed {short(predicate)}", "sh:closed", syntax.Falsity(), *body, about=about)

    def _failing(self, target: _Target, path: Path | None) -> Iterator[Made]:
        """The demands on each value, which is the focus node or a value of the path."""
        name = target.shown if path is None else f"{target.shown}.{path.shown}"
        number = 0
        while True:
            # Each rule has variables of its own, so we make the failure anew for each.
            conditions = self._conditions(target)
            value = target.focus if path is None else conditions.fresh.variable("Y")
            failure = next(islice(conditions.value_failures(self.node, value), number, None), None)
            number += 1
            match failure:
                case None:
                    return
                case UnsayableError():
                    yield NotUnderstood(failure.what, name)
                case Failure(parameter, shown, condition):
                    about = syntax.About(target.focus, None if path is None else path.written, value)
                    bodies = [()] if path is None else path.bodies(target.focus, value, conditions.fresh)
                    for body in bodies:
                        every = (*target.conditions, *body, condition)
                        yield self._rule(f"{name} {shown}", parameter, syntax.Falsity(), *every, about=about)
                    if parameter == "sh:class" and path is not None and path.is_step:
                        yield refutation(path.fact(target.focus, value), *target.conditions, condition)

    # Property shapes

    def _of_property(self, target: _Target, path: Path) -> Iterator[Made]:
        if is_off(self.graph, self.node):
            return
        yield from self._failing(target, path)
        for predicate, value in self.graph.said_of(self.node):
            name = predicate.removeprefix(SHACL) if predicate.startswith(SHACL) else ""
            try:
                yield from self._together(target, path, name, value)
            except UnsayableError as error:
                yield NotUnderstood(f"{short(predicate)} {error.what}", f"{target.shown}.{path.shown}")

    def _together(self, target: _Target, path: Path, name: str, argument: Node) -> Iterator[Made]:
        """The demands on the values of a path together."""
        conditions = self._conditions(target)
        shown = f"{target.shown}.{path.shown} {self.shared.shown(name, argument)}"
        focus, fresh = target.focus, conditions.fresh
        value = fresh.variable("Y")
        about, parameter = syntax.About(focus, path.written), f"sh:{name}"

        def never(*body: syntax.Condition, end: syntax.Variable | None = None) -> syntax.Rule:
            of_value = replace(about, value=end)
            return self._rule(shown, parameter, syntax.Falsity(), *target.conditions, *body, about=of_value)

        match name, argument:
            case "maxCount", Literal(text) if text.isdecimal() and int(text) < 2 and path.is_step:
                other = fresh.variable("Z")
                others = (path.fact(focus, other), different(value, other)) if int(text) else ()
                yield never(path.fact(focus, value), *others)
                if target.conditions or others:
                    yield refutation(path.fact(focus, value), *target.conditions, *others)
            case (("minCount" | "maxCount"), Literal(text)) if text.isdecimal() and target.conditions:
                operator = syntax.Operator.AT_LEAST if name == "minCount" else syntax.Operator.AT_MOST
                head = path.number(focus, operator, int(text), fresh, value=fresh.variable("V"))
                yield self._rule(shown, parameter, head, *target.conditions, about=about)
            case "equals", Iri(equal) if path.is_step:
                step = path.fact(focus, value)
                yield never(step, syntax.Not(atom(equal, focus, value)), end=value)
                yield never(atom(equal, focus, value), syntax.Not(step), end=value)
            case "disjoint", Iri(other):
                both = (*path.body(focus, value, fresh), atom(other, focus, value))
                yield never(*both, end=value)
                if path.is_step:
                    step = path.fact(focus, value)
                    yield refutation(step, *target.conditions, atom(other, focus, value))
                    yield refutation(atom(other, focus, value), *target.conditions, step)
            case (("lessThan" | "lessThanOrEquals"), Iri(other)):
                least = fresh.variable("W")
                body = (*path.body(focus, value, fresh), atom(other, focus, least))
                yield never(*body, syntax.Not(ordered(name, value, least)), end=value)
            case "property", _:
                for body in path.bodies(focus, value, fresh):
                    inner = _Target(value, (*target.conditions, *body), f"{target.shown}.{path.shown}", fresh.taken)
                    yield from _Shape(self.shared, argument).rules([inner])
            case (("minCount" | "maxCount" | "hasValue" | "equals" | "qualifiedMinCount" | "qualifiedMaxCount"), _):
                for failure in conditions.property_failures(self.node, path, focus, name, argument):
                    yield never(failure)
            case _:
                pass


def _shape_name(shape: Node) -> str | None:
    return next(map(short, names([shape])), None)
