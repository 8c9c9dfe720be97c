"""Makes a discovery of facts: finds the rules that hold, chooses the ones worth reading, and adds their rates on held-out facts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from rulescore.counting.parameters import integer_columns
from rulescore.discovery import statements as sql
from rulescore.discovery.choosing import first_places, in_order, reasons_left_out
from rulescore.discovery.denials import constraints
from rulescore.discovery.enumerating import Enumeration
from rulescore.discovery.extending import extensions
from rulescore.discovery.graph import Graph, GraphRule, constants_in, load_graph, load_rules, text_of
from rulescore.discovery.held_out import held_out_counts, split
from rulescore.discovery.model import DiscoveredRule, DiscoverOptions, Discovery, Form
from rulescore.discovery.statements import explained_pairs
from rulescore.readers.inputs import Inputs
from rulescore.session.session import Session
from rulescore.setting.model import FactSource, Setting
from rulescore.setting.options import ScoringOptions
from rulescore.sql.names import name
from rulescore.sql.query import drop
from rulescore.waiting import tell

EXTRACT = "extract incompatible."
GRAPH_FORMS = (
    Form.INCOMPATIBLE,
    Form.FUNCTIONAL,
    Form.DISJOINT,
    Form.ASYMMETRIC,
    Form.IRREFLEXIVE,
    Form.IMPLICATION,
    Form.INVERSION,
    Form.TWO_ATOMS,
    Form.ONE_PLACE,
    Form.CONSTANTS,
)

_RULES, _NUMBERS = name("discovered"), name("numbers")


def discover_graph(setting: Setting, options: DiscoverOptions, valid: Sequence[FactSource] = ()) -> Discovery:
    """Find the rules of a graph.

    Args:
        setting: Its observed facts and its engine; the rest is ignored.
        options: What to look for and what to keep.
        valid: Facts to rate the rules on; they pick no rule.

    Returns:
        The rules that we keep, the most useful first; with `everything` also the rules that we leave out.

    Raises:
        InputError: The facts cannot be read, or `hold_out` should divide facts of a database.
    """
    observed, held = (setting.observed, tuple(valid))
    if options.hold_out:
        observed, held = split(observed, options.hold_out, options.seed)
    facts = Setting(observed, (), engine=setting.engine)
    with Session(facts) as session:
        graph = load_graph(session, options)
        discovery = _Discovering(graph, session).discovery()
    return _with_held_out(discovery, facts, held) if held and discovery.rules else discovery


class _Discovering:
    def __init__(self, graph: Graph, session: Session) -> None:
        self._graph, self._session = graph, session
        self._reasons: list[str] = []
        self._notes: list[str] = []

    def discovery(self) -> Discovery:
        graph, options = self._graph, self._graph.options
        wanted = [form for form in GRAPH_FORMS if form in (options.forms or GRAPH_FORMS)]
        tell("looking for what never happens")
        rules = list(constraints(graph, wanted, self._notes, self._reasons))
        tell("looking for rules")
        enumeration = Enumeration(graph)
        rules = in_order([*rules, *enumeration.rules(wanted)])
        self._reasons += enumeration.reasons
        self._notes += enumeration.notes
        reasons = reasons_left_out(rules, graph)
        if options.longer:
            parents = [rule for rule, reason in zip(rules, reasons, strict=True) if reason is None]
            rules = in_order([*rules, *extensions(graph, parents, self._reasons)])
            reasons = reasons_left_out(rules, graph)
        kept = self._explained([rule for rule, reason in zip(rules, reasons, strict=True) if reason is None])
        others = [(rule, reason) for rule, reason in zip(rules, reasons, strict=True) if reason is not None]
        listed = others if options.everything else []
        keys = self._keys([*kept, *(rule for rule, _ in listed), *rules])
        texts = [text_of(rule, graph.names, keys) for rule in kept]
        made = [_discovered(rule, text) for rule, text in zip(kept, texts, strict=True)]
        left_out = []
        for rule, reason in listed:
            said = reason if isinstance(reason, str) else f"said by `{text_of(rules[int(reason or 0)], graph.names, keys)}`"
            left_out.append(replace(_discovered(rule, text_of(rule, graph.names, keys)), left_out=said))
        return Discovery(
            options,
            tuple(made),
            tuple(left_out),
            (EXTRACT,) if graph.refutable else (),
            (*self._reasons, *self._why_nothing(wanted, len(rules), len(made))),
            tuple(self._notes),
            self._session.summary.facts,
            digest=digest_of(self._session.inputs),
        )

    def _explained(self, rules: list[GraphRule]) -> list[GraphRule]:
        """The rules, with the number of head facts that each explains."""
        graph = self._graph
        pairs = {place: rule for place, rule in enumerate(rules) if rule.form is Form.TWO_ATOMS}
        places = {place: rule for place, rule in enumerate(rules) if rule.form is Form.ONE_PLACE and rule.explained is None}
        explained: dict[int, int] = {}
        if pairs:
            columns = _columns(pairs, lambda rule: (rule.body[0].literal, rule.body[1].literal ^ 1))
            query = explained_pairs(_RULES, distinct=graph.distinct)
            explained |= load_rules(graph, _RULES, columns, partial(graph.engine.query, query, as_written=True))
        for typed in (False, True):
            of_length = {place: rule for place, rule in places.items() if len(rule.body) == 1 + typed}
            if of_length:
                columns = _columns(of_length, lambda rule: tuple(pattern.literal for pattern in rule.body))
                statement = sql.explained_places(_RULES, distinct=graph.distinct, typed=typed)
                explained |= load_rules(graph, _RULES, columns, partial(graph.engine.query, statement))
        return [replace(rule, explained=explained.get(place, rule.explained)) for place, rule in enumerate(rules)]

    def _keys(self, rules: Sequence[GraphRule]) -> dict[int, str]:
        numbers = sorted({constant for rule in rules for constant in constants_in(rule)})
        if not numbers:
            return {}
        engine = self._graph.engine
        engine.load(_NUMBERS, integer_columns({"id": numbers}))
        rows = engine.query(sql.constants_by_number(_NUMBERS))
        engine.run(drop(_NUMBERS))
        return dict(zip(rows["id"].to_pylist(), rows["key"].to_pylist(), strict=True))

    def _why_nothing(self, wanted: Sequence[Form], rules: int, kept: int) -> list[str]:
        """Why we found nothing, or no rule with a head."""
        graph, least = self._graph, self._graph.options.min_support
        if not graph.names:
            return ["nothing found, because there are no facts"]
        if not graph.of_arity(1) and not graph.of_arity(2):
            return ["nothing found, because no predicate has one place or two"]
        if wanted == [Form.ONE_PLACE] and not graph.of_arity(1):
            return ["nothing found, because no predicate has one place"]
        if rules and not kept:
            return [
                f"nothing is worth reading: {rules:,} rules were found, and all are left out; `--all` lists them with the reason"
            ]
        if not kept and max(graph.facts) < least:
            return [f"nothing found, because no predicate has {least:,} facts: `--min-support` asks for so many confirmations"]
        if all(form.is_denial for form in wanted):
            chance = f"chance would break no rule {least:,} times, as `--min-support` asks, that the facts keep"
            return [] if kept or self._reasons else [f"nothing found, because {chance}"]
        what = "no rule has a head" if kept else "nothing found"
        if not graph.refutable and not self._reasons:
            return [f"{what}, because no two predicates exclude each other, so nothing speaks against a head"]
        if kept or self._reasons:
            return []
        return [f"nothing found, because no rule is confirmed {least:,} times, as `--min-support` asks"]


def _columns(rules: dict[int, GraphRule], literals: Callable[[GraphRule], tuple[int, ...]]) -> dict[str, list[int]]:
    of_rules = {place: literals(rule) for place, rule in rules.items()}
    length = len(next(iter(of_rules.values())))
    columns = {"rule": list(rules)} | {f"l{index}": [of_rule[index] for of_rule in of_rules.values()] for index in range(length)}
    return columns | {"head": [rule.head.literal for rule in rules.values() if rule.head]}


def _discovered(rule: GraphRule, text: str) -> DiscoveredRule:
    return DiscoveredRule(rule.form, text, rule.counts, rule.expected, rule.head_facts, rule.explained)


def scoring_of(options: DiscoverOptions) -> ScoringOptions:
    """The options that make an audit or a score count like the discovery."""
    return ScoringOptions(convention=options.convention, distinct_variables=options.distinct_variables, allow_unrefutable=True)


def _with_held_out(discovery: Discovery, facts: Setting, held: Sequence[FactSource]) -> Discovery:
    text = "\n".join([*discovery.declarations, *(f"{rule.text}." for rule in discovery.rules)])
    counts, distinct, observed = held_out_counts(facts, scoring_of(discovery.options), held, text)
    rules = tuple(replace(rule, held_out=count) for rule, count in zip(discovery.rules, counts, strict=True))
    notes = discovery.notes
    if observed:
        notes = (*notes, f"{observed:,} of {distinct:,} held-out facts are observed, too: rules were picked by them")
    return replace(discovery, rules=rules, held_out_facts=distinct, notes=notes)


def shown(discovery: Discovery) -> tuple[DiscoveredRule, ...]:
    """The rules that we show: at most `limit` of the kept rules, or everything."""
    if discovery.options.everything:
        return (*discovery.rules, *discovery.left_out)
    return tuple(discovery.rules[place] for place in first_places([rule.form for rule in discovery.rules], discovery.options.limit))


def digest_of(read: Inputs) -> str | None:
    """One digest over all files that we read; None if rows came from memory or a database."""
    inputs = [file.digested() for file in read.read({})]
    if any(file.sha256 is None for file in inputs):
        return None
    return hashlib.sha256("\n".join(sorted(str(file.sha256) for file in inputs)).encode()).hexdigest()
