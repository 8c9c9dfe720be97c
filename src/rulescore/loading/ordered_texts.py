"""Texts that rules order although they look like numbers or dates: as texts, 980 comes after 1990."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, Severity, place_of
from rulescore.logic.formula import FormulaRule, OrderedText
from rulescore.logic.problems import print_column
from rulescore.logic.schema import Relation, Schema
from rulescore.logic.types import with_article
from rulescore.readers.inferred import Guess
from rulescore.setting.request import declaration
from rulescore.sql.query import row, select
from rulescore.sql.values import distinct_values, extremes
from rulescore.values.types import ValueType

_MEASURES = frozenset({ValueType.INTEGER, ValueType.FLOAT, ValueType.DATE, ValueType.DATETIME, ValueType.INSTANT})


def ordered_texts(
    engine: Engine, schema: Schema, rule: FormulaRule, declared_text: Collection[tuple[str, str]]
) -> Iterator[Diagnostic]:
    """An error for every column of text that a rule orders and that holds numbers or dates only; a warning if it mostly does. A
    column that is `declared_text` is as the user wants it."""
    for place in dict.fromkeys(rule.ordered_texts):
        if (place.relation, place.column) not in declared_text:
            yield from _look(engine, schema.relations[place.relation], place)


def _look(engine: Engine, relation: Relation, place: OrderedText) -> Iterator[Diagnostic]:
    field = relation.columns[place.column].column
    tables = [one for one in (relation.observed, relation.predicted) if one is not None]
    values = [select(value=t[field]).from_(t) for t in (row(table, "t") for table in tables)]
    (ends,) = engine.query(extremes(values)).to_pylist()
    # Most texts that rules order are words: we fetch all of them only if the first or the last looks like a number or a date.
    if not any(end is not None and _kind(pa.array([end])) in _MEASURES for end in ends.values()):
        return
    texts = pc.drop_null(engine.query(distinct_values(values))["value"].combine_chunks().cast(pa.string()))
    kind = _kind(texts)
    if kind in _MEASURES:
        yield _error(relation, place, kind, texts)
    elif (strange := _strange(texts)) is not None:
        yield _warning(relation, place, strange)


def _kind(texts: pa.Array) -> ValueType | None:
    guess = Guess()
    guess.look(texts)
    return guess.kind


def _error(relation: Relation, place: OrderedText, kind: ValueType, texts: pa.Array) -> Diagnostic:
    where = print_column(relation, place.column)
    least, greatest = pc.min_max(texts).as_py().values()
    line = f'`types = {{ {place.column} = "{declaration(kind)}" }}`'
    described = f"`[tables.{relation.name}]`, or in `Table`" if relation.is_table else "`[[facts]]`, or in `FactFile`"
    helps = (
        f'declare the type, in a project file under {described}: {line}; `"string"` orders them as texts',
        *(() if relation.is_table else _TRIPLES),
    )
    message = f"`{place.word}` would order texts, but every value of {where} looks like {with_article(kind)}"
    notes = (f"as texts, `{greatest}` comes after `{least}`",) if len(texts) > 1 else ()
    return Diagnostic("E284", message, place_of(place.span), "text", notes=notes, helps=helps)


_TRIPLES = ("if other relations have names there, give this one a file of its own: `predicates = { NAME = PATH }` beside `types`",)


def _strange(texts: pa.Array) -> str | None:
    """A text that is no number and no date among those of which most are."""
    usual = pc.match_substring_regex(texts, _USUAL)
    if 2 * pc.sum(usual).as_py() <= len(texts):
        return None
    return str(texts.filter(pc.invert(usual))[0].as_py()) if pc.any(pc.invert(usual)).as_py() else None


_USUAL = r"^(-?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+.*)?)$"


def _warning(relation: Relation, place: OrderedText, strange: str) -> Diagnostic:
    where = print_column(relation, place.column)
    message = f"`{place.word}` orders texts: most values of {where} look like numbers or dates, but not `{strange}`"
    helps = ("leave missing values out, or leave their fields in a table empty; a declared type says where the others are",)
    return Diagnostic("W282", message, place_of(place.span), "text", helps=helps, severity=Severity.WARNING)
