"""Statements over the contributions: one row for each rule and prediction with evaluable groundings."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.sql.facts import CONSTANT, MODEL_PREDICTION, PredictedFacts, Predictions
from rulescore.sql.horn.evidence import COUNTS
from rulescore.sql.names import arguments, name
from rulescore.sql.query import Create, Query, Row, Select, create, row, select, union_all
from rulescore.sql.values import type_letter, word
from rulescore.sql.words import Sql, all_of, any_of, concatenated, count_rows, substring, when

CONTRIBUTION = name("contribution")
HARD_RULES = name("hard_rule")
"""The numbers of the hard rules."""

_RANKED = ("score", "rank", "query")

# Short names for rows that nearly every statement here reads.
a, c = row(MODEL_PREDICTION, "a"), row(CONTRIBUTION, "c")


def part_table(index: int) -> str:
    """The table of the counts that one statement found; several statements may add to one contribution."""
    return name(f"contribution_part_{index}")


def create_part(index: int, query: Select) -> Create:
    return create(part_table(index), query)


def create_contributions(parts: Sequence[int]) -> Create:
    u = union_all([select("*").from_(row(part_table(index), "p")) for index in parts]).as_("u")
    sums = {count: u[count].sum().big() for count in COUNTS}
    return create(CONTRIBUTION, select(u.rule, u.prediction, **sums).from_(u).group_by(u.rule, u.prediction))


def _with_models(query: Select) -> Select:
    return query.from_(c).join(a, a.prediction == c.prediction)


def model_totals() -> Select:
    """Counts per model and rule."""
    return _with_models(select(a.model, c.rule, **{count: c[count].sum() for count in COUNTS})).group_by(a.model, c.rule)


def prediction_counts(sources: Sequence[Predictions]) -> Select:
    """For each model and literal, numbers of predictions: all, linked, with a contribution, violating a hard rule, violating any
    rule. Of the new ones: all, linked, with a contribution, either of these, violating a hard rule."""
    p, s = _literals(sources), _judged()
    linked, new, with_partner, violating = a.linked == 1, a.observed == 0, ~s.prediction.is_null(), s.violating == 1
    flags = {
        "linked": linked,
        "with_partner": with_partner,
        "violating": violating,
        "violating_any": s.violating_any == 1,
        "new": new,
        "new_linked": all_of(new, linked),
        "new_with_partner": all_of(new, with_partner),
        "new_reached": all_of(new, any_of(linked, with_partner)),
        "new_violating": all_of(new, violating),
    }
    counts = {flag: when(condition, 1, 0).sum() for flag, condition in flags.items()}
    query = select(a.model, p.literal, predictions=count_rows(), **counts).from_(a)
    query = query.join(p, p.prediction == a.prediction).left_join(s, s.prediction == a.prediction)
    return query.group_by(a.model, p.literal)


def unlinked_names(sources: Sequence[Predictions]) -> Select:
    """For each model, a key in its predictions that does not occur in the data. Also the first such key that the data have in
    another case or type, with the data's key."""
    u = union_all([source.unlinked() for source in sources if isinstance(source, PredictedFacts)]).as_("u")
    o = row(CONSTANT, "o")
    # Spark would turn the letters of both sides again and again while it sorts them for the join.
    n = select(u.model, u.key, turned=word(u.key).lower()).from_(u).as_("n")
    k = select(o.key, turned=word(o.key).lower()).from_(o).where(o.linked == 1).as_("k")
    query = select(n.model, name=n.key.min(), spelt=when(~k.key.is_null(), n.key).min()).from_(n)
    return query.left_join(k, n.turned == k.turned).group_by(n.model)


def alike(name: str, most: int) -> Select:
    """Some keys of the data that are about as long as a name and begin with the same letter, whatever its case."""
    k = row(CONSTANT, "k")
    begins = substring(word(k.key), 1, 1).lower() == name[:1].lower()
    near = word(k.key).length().between(max(len(name) - 2, 0), len(name) + 2)
    return select(k.key).from_(k).where(k.linked == 1, begins, near).order_by(k.key).limit(most)


def violating_predictions(source: Predictions) -> Select:
    """Every prediction of each model that is not observed, as keys, and whether it violates a hard rule."""
    s = _judged()
    query = select(a.model, violating=s.violating.or_else(0)).from_(a).left_join(s, s.prediction == a.prediction)
    return source.with_keys(query, a.prediction).where(a.observed == 0)


def judged_predictions(source: Predictions) -> Select:
    """Every prediction of each model, as keys, whether it is observed, and whether it is linked."""
    return source.with_keys(select(*a["model", "prediction", "observed", "linked"]).from_(a), a.prediction)


def unlinked_keys(sources: Sequence[Predictions]) -> Select:
    """The keys in predictions that do not occur in the data."""
    u = union_all([source.unlinked() for source in sources if isinstance(source, PredictedFacts)]).as_("u")
    return select(u.key).distinct().from_(u)


def judgements() -> Select:
    """Which rules each prediction breaks or meets, in the order of the predictions and the rules."""
    keys = [c.prediction, c.rule]
    return select(*keys, c.confirmed, c.refuted).from_(c).order_by(*keys)


def predicted_literals(sources: Sequence[Predictions], model: int) -> Select:
    """The literals of a model's predictions."""
    p = _literals(sources)
    return select(p.literal).distinct().from_(a).join(p, p.prediction == a.prediction).where(a.model == model)


def _literals(sources: Sequence[Predictions]) -> Row:
    """The literal of every distinct prediction."""
    return union_all([source.literals() for source in sources]).as_("p")


def _judged() -> Row:
    """Every prediction with a contribution, and whether it violates a hard rule, and any."""
    h = row(HARD_RULES, "h")
    violates = c.refuted > 0
    hard, either = when(all_of(violates, h.rule.is_known()), 1, 0), when(violates, 1, 0)
    query = select(c.prediction, violating=hard.max(), violating_any=either.max()).from_(c)
    return query.left_join(h, h.rule == c.rule).group_by(c.prediction).as_("s")


def names_table(field: str) -> str:
    """The table that gives the names of models, rules or predicates by their numbers."""
    return name(f"{field}_names")


def described_contributions(sources: Sequence[Predictions], stride: int) -> Query:
    """The contributions of every model, with names instead of numbers: the rows of `Evaluation.contributions`."""
    return union_all([_described(source, stride) for source in sources])


def _described(source: Predictions, stride: int) -> Select:
    rows = _with_models(select(a.model, c.rule, *a[_RANKED], *c[COUNTS]))
    d = source.with_keys(rows, c.prediction).as_("d")
    query = select().from_(d)
    for field, number in (("model", d.model), ("rule", d.rule), ("predicate", d.literal // stride)):
        names = row(names_table(field), field)
        query = query.join(names, names.id == number).select(names.name.named(field))
    words = Sql(exp.Array(expressions=[word(key).node for key in d[arguments(source.arity)]]))
    return query.select(words.named("arguments"), _types(d, source).named("types"), *d[_RANKED], *d[COUNTS])


def contributions() -> Select:
    """The contributions of every model."""
    keys = [a.model, c.rule, c.prediction]
    return _with_models(select(*keys, *a[_RANKED], *c[COUNTS])).order_by(*keys)


def contributing(source: Predictions) -> Select:
    """The predictions with a contribution: their numbers, their literals and their arguments in words."""
    n = select(c.prediction).distinct().from_(c).as_("n")
    d = source.with_keys(select(n.prediction).from_(n), n.prediction).as_("d")
    words = {argument: word(d[argument]) for argument in arguments(source.arity)}
    return select(d.prediction, d.literal, types=_types(d, source), **words).from_(d)


def _types(d: Row, source: Predictions) -> Sql:
    """The letters of the types of a prediction's arguments, one after the other."""
    return concatenated(*(type_letter(key) for key in d[arguments(source.arity)]))
