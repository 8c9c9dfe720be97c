"""Statements over the contributions: one row for each rule and prediction with evaluable groundings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

from rulescore.sql.build import (
    Query,
    Select,
    all_of,
    any_of,
    argument,
    arguments,
    big,
    column,
    count_rows,
    create,
    equal,
    name,
    named,
    negation,
    number,
    one_if,
    select,
    table,
    total,
    union_all,
)
from rulescore.sql.facts import ANSWER, CONSTANT
from rulescore.sql.horn.evidence import COUNTS
from rulescore.sql.keys import type_letter, word
from rulescore.sql.predictions import PredictedFacts, Predictions

CONTRIBUTION = name("contribution")


def part_table(index: int) -> str:
    """The table of the counts that one statement found; several statements may add to one contribution."""
    return name(f"contribution_part_{index}")


def create_part(index: int, query: Select) -> exp.Create:
    return create(part_table(index), query)


def create_contributions(parts: Sequence[int]) -> exp.Create:
    rows = union_all([select("*").from_(table(part_table(index), "p")) for index in parts])
    sums = [named(big(total(column("u", c))), c) for c in COUNTS]
    query = select(column("u", "rule"), column("u", "prediction"), *sums).from_(rows.subquery("u"))
    return create(CONTRIBUTION, query.group_by(column("u", "rule"), column("u", "prediction")))


def _by_answer(query: Select) -> Select:
    joined = query.from_(table(CONTRIBUTION, "c"))
    return joined.join(table(ANSWER, "a"), on=equal(column("a", "prediction"), column("c", "prediction")))


def model_totals() -> Select:
    """Counts per model and rule."""
    keys = [column("a", "model"), column("c", "rule")]
    query = select(*keys, *(named(total(column("c", alias)), alias) for alias in COUNTS))
    return _by_answer(query).group_by(*(key.copy() for key in keys))


HARD_RULES = name("hard_rule")
"""The numbers of the hard rules."""


def prediction_counts(sources: Sequence[Predictions]) -> Select:
    """By model and literal: how many predictions there are, how many are linked, have a contribution, violate a hard rule, violate
    any; and how many are new, and of these, linked, with a contribution, either, and violate a hard rule."""
    linked, new = equal(column("a", "linked"), number(1)), equal(column("a", "observed"), number(0))
    with_partner = negation(exp.Is(this=column("s", "prediction"), expression=exp.null()))
    violating, violating_any = (equal(column("s", flag), number(1)) for flag in ("violating", "violating_any"))
    flags = {
        "linked": linked,
        "with_partner": with_partner,
        "violating": violating,
        "violating_any": violating_any,
        "new": new,
        "new_linked": all_of([new, linked]),
        "new_with_partner": all_of([new, with_partner]),
        "new_reached": all_of([new, exp.Paren(this=any_of([linked, with_partner]))]),
        "new_violating": all_of([new, violating]),
    }
    query = select(column("a", "model"), column("p", "literal"), named(count_rows(), "predictions"))
    query = query.select(*(named(total(one_if(flag.copy())), alias) for alias, flag in flags.items()))
    query = query.from_(table(ANSWER, "a"))
    query = query.join(_literals(sources), on=equal(column("p", "prediction"), column("a", "prediction")))
    query = query.join(_judged(), on=equal(column("s", "prediction"), column("a", "prediction")), join_type="left")
    return query.group_by(column("a", "model"), column("p", "literal"))


def unlinked_names(sources: Sequence[Predictions]) -> Select:
    """Of each model a key in its predictions that does not occur in the data; and, of those that the data have in another case or
    type, the first and what the data have."""
    rows = union_all([one.unlinked() for one in sources if isinstance(one, PredictedFacts)]).subquery("u")
    spelt = [exp.Lower(this=word(column(alias, "key"))) for alias in ("u", "k")]
    known = all_of([equal(*spelt), equal(column("k", "linked"), number(1))])
    twin = negation(exp.Is(this=column("k", "key"), expression=exp.null()))
    other_key = exp.Case(ifs=[exp.If(this=twin, true=column("u", "key"))])
    query = select(
        column("u", "model"),
        named(exp.Min(this=column("u", "key")), "name"),
        named(exp.Min(this=other_key), "spelt"),
    )
    query = query.from_(rows).join(table(CONSTANT, "k"), on=known, join_type="left")
    return query.group_by(column("u", "model"))


def alike(name: str, most: int) -> Select:
    """Some keys of the data that are about as long as a name and begin with the same letter, whatever its case."""
    query = select(column("k", "key")).from_(table(CONSTANT, "k"))
    shown = word(column("k", "key"))
    begins = equal(exp.Lower(this=exp.func("substr", shown, number(1), number(1))), exp.Literal.string(name[:1].lower()))
    near = exp.Between(this=exp.Length(this=shown.copy()), low=number(max(len(name) - 2, 0)), high=number(len(name) + 2))
    return query.where(all_of([equal(column("k", "linked"), number(1)), begins, near])).order_by(column("k", "key")).limit(most)


def violating_predictions(source: Predictions) -> Select:
    """Every prediction of each model that is not observed, as keys, and whether it violates a hard rule."""
    flag = exp.Coalesce(this=column("s", "violating"), expressions=[number(0)])
    query = select(column("a", "model"), named(flag, "violating")).from_(table(ANSWER, "a"))
    query = query.join(_judged(), on=equal(column("s", "prediction"), column("a", "prediction")), join_type="left")
    return source.with_keys(query, column("a", "prediction")).where(equal(column("a", "observed"), number(0)))


def predicted_literals(sources: Sequence[Predictions], model: int) -> Select:
    """The literals of a model's predictions."""
    query = select(column("p", "literal")).distinct().from_(table(ANSWER, "a"))
    query = query.join(_literals(sources), on=equal(column("p", "prediction"), column("a", "prediction")))
    return query.where(equal(column("a", "model"), number(model)))


def _literals(sources: Sequence[Predictions]) -> exp.Expr:
    """The literal of every distinct prediction."""
    return union_all([one.literals() for one in sources]).subquery("p")


def _judged() -> exp.Expr:
    """Every prediction with a contribution, and whether it violates a hard rule, and any."""
    violates = exp.GT(this=column("c", "refuted"), expression=number(0))
    hard = exp.Not(this=exp.Is(this=column("h", "rule"), expression=exp.null()))
    flags = {"violating": all_of([violates.copy(), hard]), "violating_any": violates}
    query = select(column("c", "prediction"), *(named(exp.Max(this=one_if(found)), flag) for flag, found in flags.items()))
    query = query.from_(table(CONTRIBUTION, "c"))
    query = query.join(table(HARD_RULES, "h"), on=equal(column("h", "rule"), column("c", "rule")), join_type="left")
    return query.group_by(column("c", "prediction")).subquery("s")


def names_table(field: str) -> str:
    """The table that gives the names of models, rules or predicates by their numbers."""
    return name(f"{field}_names")


def described_contributions(sources: Sequence[Predictions], stride: int) -> Query:
    """The contributions of every model, with names instead of numbers: the rows of `Evaluation.contributions`."""
    return union_all([_described(one, stride) for one in sources])


def _described(source: Predictions, stride: int) -> Select:
    rows = _by_answer(select(column("a", "model"), column("c", "rule"), *_answer(), *(column("c", alias) for alias in COUNTS)))
    rows = source.with_keys(rows, column("c", "prediction"))
    query = select().from_(rows.subquery("d"))
    predicate = exp.IntDiv(this=column("d", "literal"), expression=number(stride))
    for field, number_of in (("model", column("d", "model")), ("rule", column("d", "rule")), ("predicate", predicate)):
        query = query.join(table(names_table(field), field), on=equal(column(field, "id"), number_of))
        query = query.select(named(column(field, "name"), field))
    words = exp.Array(expressions=[word(column("d", argument(i))) for i in range(source.arity)])
    return query.select(
        named(words, "arguments"), named(_types(source), "types"), *(column("d", one) for one in (*_ANSWERED, *COUNTS))
    )


_ANSWERED = ("score", "rank", "query")


def _answer() -> list[exp.Expr]:
    return [column("a", field) for field in _ANSWERED]


def contributions() -> Select:
    """The contributions of every model."""
    keys = [column("a", "model"), column("c", "rule"), column("c", "prediction")]
    fields = [*_answer(), *(column("c", alias) for alias in COUNTS)]
    return _by_answer(select(*keys, *fields)).order_by(*(key.copy() for key in keys))


def contributing(source: Predictions) -> Select:
    """The predictions with a contribution: their numbers, their literals and their arguments in words."""
    numbers = select(column("c", "prediction")).distinct().from_(table(CONTRIBUTION, "c"))
    rows = source.with_keys(select(column("n", "prediction")).from_(numbers.subquery("n")), column("n", "prediction"))
    words = [named(word(column("d", one)), one) for one in arguments(source.arity)]
    query = select(column("d", "prediction"), column("d", "literal"), named(_types(source), "types"), *words)
    return query.from_(rows.subquery("d"))


def _types(source: Predictions) -> exp.Expr:
    """The letters of the types of a prediction's arguments, one after the other."""
    letters = (type_letter(column("d", one)) for one in arguments(source.arity))
    return reduce(lambda left, right: exp.DPipe(this=left, expression=right), letters)
