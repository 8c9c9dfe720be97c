"""Suspicious properties of the loaded data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, Severity
from rulescore.language.declarations.refute import Refute
from rulescore.language.syntax import Program, Rule
from rulescore.loading.facts import Loaded
from rulescore.loading.tables.loaded import LoadedTable
from rulescore.logic.checks import literal_positions
from rulescore.logic.offers import ArgumentCounts
from rulescore.logic.problems import print_argument
from rulescore.logic.schema import may_equal
from rulescore.logic.types import with_article
from rulescore.setting.model import Setting, origins_of
from rulescore.sql.constant_types import TYPES, Position, position_types
from rulescore.sql.names import candidate_table, fact_table
from rulescore.sql.offers import argument_counts
from rulescore.sql.predictions import PredictedTargets
from rulescore.values.types import NUMBERS, ValueType

_MOST_PAIRS = 5

_TypesAt = dict[tuple[str, int], frozenset[ValueType]]


def literal_types(engine: Engine, loaded: Loaded, program: Program) -> _TypesAt:
    """Types of the data's constants at the positions that rules compare with a constant."""
    asked: dict[int, set[int]] = {}
    for statement in program.statements:
        if isinstance(statement, Rule | Refute):
            for atom, position, _ in literal_positions(statement):
                asked.setdefault(atom.arity, set()).add(position)
    facts, candidates = _types_at(engine, loaded, asked)
    return {place: facts.get(place, frozenset()) | candidates.get(place, frozenset()) for place in facts.keys() | candidates}


def _types_at(engine: Engine, loaded: Loaded, asked: Mapping[int, Iterable[int]]) -> tuple[_TypesAt, _TypesAt]:
    """Types of constants at positions of each arity, in facts and in predictions."""
    facts = _positions(fact_table, loaded.fact_arities, asked)
    positions = facts + _positions(candidate_table, loaded.candidate_arities, asked)
    found: tuple[_TypesAt, _TypesAt] = ({}, {})
    for row in engine.query(position_types(positions)).to_pylist() if positions else ():
        if row["literal"] % loaded.stride == 0:
            of_source = found[row["place"] >= len(facts)]
            place = (loaded.predicate_name(row["literal"]), positions[row["place"]].number)
            of_source[place] = of_source.get(place, frozenset()) | {TYPES[row["mark"]]}
    return found


def _positions(source: Callable[[int], str], arities: Collection[int], asked: Mapping[int, Iterable[int]]) -> list[Position]:
    return [Position(source(arity), one) for arity in sorted(asked.keys() & set(arities)) for one in sorted(asked[arity])]


def data_problems(engine: Engine, setting: Setting, loaded: Loaded, tables: Mapping[str, LoadedTable]) -> Iterator[Diagnostic]:
    yield from (warning for table in tables.values() for warning in table.warnings)
    yield from loaded.warnings
    yield from _models(setting, loaded)
    if loaded.summary.negatives_observed:
        yield Diagnostic(
            "W321",
            f"{loaded.summary.negatives_observed:,} of {loaded.summary.negatives:,} negative facts are observed facts too",
            notes=("such a head is confirmed and refuted at once",),
            severity=Severity.WARNING,
        )
    yield from _type_clashes(engine, loaded)


def _models(setting: Setting, loaded: Loaded) -> Iterator[Diagnostic]:
    for model, times in Counter(loaded.models).items():
        if times > 1:
            yield Diagnostic("E325", f"model `{model}` is given {times} times", helps=("give its files as one list",))
    for one in setting.predictions:
        origins = origins_of(one)
        if len(origins) > 1:
            yield Diagnostic(
                "W324",
                f"model `{one.model}` is the union of {len(origins)} sources",
                notes=(", ".join(f"`{origin}`" for origin in origins),),
                severity=Severity.WARNING,
            )


def _type_clashes(engine: Engine, loaded: Loaded) -> Iterator[Diagnostic]:
    """Positions with one type in the facts and another in predictions, so that no constants there can be equal."""
    named = [(loaded.predicate_name(one.literal), one) for one in loaded.predicted if isinstance(one, PredictedTargets)]
    # Negative facts may be about the target of a table; no others can be.
    targets = {name: one.fields for name, one in named if name in loaded.vocabulary.predicates}
    if len(loaded.types) < 2 and not targets:
        return
    arities = loaded.fact_arities & (loaded.candidate_arities | {len(fields) for fields in targets.values()})
    facts, candidates = _types_at(engine, loaded, {arity: range(arity) for arity in arities})
    for name, fields in targets.items():
        for i, (_, kind) in enumerate(fields):
            candidates[name, i] = NUMBERS if kind is ValueType.MIXED else frozenset({kind})
    for place, types in sorted(candidates.items()):
        if place in facts and not any(may_equal(kind, facts[place]) for kind in types):
            predicate, position = place
            yield Diagnostic(
                "W323",
                f"{print_argument(predicate, position)} is {_types_text(facts[place])} in the facts "
                f"and {_types_text(types)} in predictions",
                notes=("constants of different types are never equal, so these predictions meet no fact there",),
                helps=("declare the column's type, or convert it, where either is read",),
                severity=Severity.WARNING,
            )


def _types_text(types: Collection[ValueType]) -> str:
    return " or ".join(with_article(kind) for kind in ValueType if kind in types)


def shown_pairs(pairs: Sequence[tuple[str, str]]) -> Iterator[Diagnostic]:
    """A warning that lists the extracted pairs: extraction is a heuristic, so users should know its result."""
    if pairs:
        shown = ", ".join(f"`{left}` and `{right}`" for left, right in pairs[:_MOST_PAIRS])
        more = f", and {len(pairs) - _MOST_PAIRS:,} more" if len(pairs) > _MOST_PAIRS else ""
        yield Diagnostic(
            "W322",
            f"{len(pairs):,} pairs of predicates count as incompatible, as the data never have both",
            notes=(shown + more,),
            helps=("`rulescore incompatibilities` lists them, with how surprising each is",),
            severity=Severity.WARNING,
        )


# Counts in the data that suggest declarations.


def counted_arguments(engine: Engine, loaded: Loaded) -> dict[str, ArgumentCounts]:
    if 2 not in loaded.fact_arities:
        return {}
    rows = engine.query(argument_counts(loaded.stride, len(loaded.predicate_ids))).to_pylist()
    return {
        loaded.predicate_name(row["literal"]): ArgumentCounts(int(row["facts"]), int(row["first"]), int(row["second"]))
        for row in rows
    }
