"""Statements that list the groundings behind a count, and that count violations of many rules by what they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rulescore.logic.plan import Group, Judge
from rulescore.sql.facts import CONSTANT, MODEL_PREDICTION, Predictions
from rulescore.sql.horn.claims import HornContext, head_argument, variable
from rulescore.sql.horn.conditions import AskedHeads, ConditionSource, asked_keys, branches, refuted_heads
from rulescore.sql.horn.evidence import OPPOSES, read_alike_before
from rulescore.sql.names import argument, fact_table, name, prediction_table
from rulescore.sql.query import Query, Row, Select, alias, exists, row, same, select, union_all
from rulescore.sql.results import CONTRIBUTION
from rulescore.sql.words import FALSE, Sql, all_of, any_of, concatenated, count_rows, row_number, sql

LISTED = name("listed")
WANTED = name("wanted")
SHARE = name("listed_share")

# Short names for rows that many statements here read: a grounding, a refuting fact, a model's prediction, a contribution, a wanted
# number.
g, r, a, c, w = row("groundings", "g"), row("refuted", "r"), row(MODEL_PREDICTION, "a"), row(CONTRIBUTION, "c"), row(WANTED, "w")


def row_columns(group: Group, *, predictions: bool) -> list[str]:
    head = [head_argument(i) for i in range(len(group.shape.head or ()))]
    variables = [variable(i) for i in range(group.shape.variables)]
    return [*(["prediction"] if predictions else []), "head", *head, *variables]


def definition_rows(
    parts: Sequence[tuple[str, Select]],
    group: Group,
    context: HornContext,
    sources: Sequence[ConditionSource],
    roles: frozenset[str],
    columns: Sequence[str],
    *,
    predictions: bool,
) -> Select | None:
    """These columns of the groundings whose head is refuted. Each of `parts` has the columns, and the role that the prediction
    plays in it."""
    if not parts:
        return None
    query = _groundings(parts, columns)
    if group.judge is Judge.DENIAL:
        return query if "body" in roles or not predictions else None
    arity = len(group.shape.head or ())
    refuted = refuted_heads(sources, context, AskedHeads("asked", predictions), arity)
    if refuted is None:
        return None
    keys = asked_keys(arity, predictions=predictions)
    query = query.with_step("asked", select(*g[keys]).distinct().from_(g)).with_step("refuted", refuted)
    query = query.join(r, *same(r, g, keys))
    return query.where(_plays_a_role(context, arity, roles)) if predictions else query


def _groundings(parts: Sequence[tuple[str, Select]], columns: Sequence[str]) -> Select:
    rows = [(role, part.as_("k")) for role, part in parts]
    selected = union_all([select(*k[columns], role=role).from_(k) for role, k in rows])
    return select(*g[columns]).with_step("groundings", selected).from_(g)


def _plays_a_role(context: HornContext, arity: int, roles: frozenset[str]) -> Sql:
    played: list[Sql] = []
    if "body" in roles:
        played.append(g.role == "body")
    if "head" in roles:
        played.append(_is_predicted(context, arity))
    if "refuter" in roles:
        played.append(r.via == 1)
    return any_of(*played)


def _is_predicted(context: HornContext, arity: int) -> Sql:
    """Whether the prediction of a grounding `g` is its head."""
    x = row(prediction_table(arity), "x")
    return exists(x, *_is_head(x, arity), x.prediction == g.prediction) if arity in context.prediction_arities else FALSE


def _is_observed(context: HornContext, arity: int) -> Sql:
    """Whether the head of a grounding `g` is a fact."""
    f = row(fact_table(arity), "f")
    return exists(f, *_is_head(f, arity)) if arity in context.fact_arities else FALSE


def _is_head(fact: Row, arity: int) -> list[Sql]:
    return [fact.literal == g.head, *(fact[argument(i)] == g[head_argument(i)] for i in range(arity))]


def confirmed_rows(
    parts: Sequence[tuple[str, Select]], group: Group, context: HornContext, roles: frozenset[str], *, predictions: bool
) -> Select | None:
    """Groundings whose head is confirmed: it is a fact, or the prediction. Groundings in which the prediction only refutes are left
    out."""
    if not parts or group.judge is Judge.DENIAL:
        return None
    arity = len(group.shape.head or ())
    query = _groundings(parts, row_columns(group, predictions=predictions))
    if not predictions:
        return query.where(_is_observed(context, arity))
    query = query.where(any_of(_is_observed(context, arity), _is_predicted(context, arity)))
    return query.where(_plays_a_role(context, arity, roles - {"refuter"}))


def appendix_rows(
    observed: Sequence[Select], refuters: Sequence[Select], group: Group, context: HornContext, columns: Sequence[str]
) -> Select | None:
    """Groundings with each fact that is incompatible with their head: an observed one, or the prediction itself."""
    arity = len(group.shape.head or ())
    o, f = row(OPPOSES, "o"), row(fact_table(arity), "f")
    parts: list[Query] = []
    for claims in observed:
        m = claims.as_("m")
        head = [m[head_argument(i)] for i in range(arity)]
        part = select(*m[columns], opponent=o.l0).from_(m).join(o, o.head == m.head)
        part = part.join(f, f.literal == o.l0, *(f[argument(i)] == value for i, value in enumerate(head)))
        if context.ambiguous:
            part = part.where(~read_alike_before(context.orders[arity], context.stride, head))
        parts.append(part)
    for claims in refuters:
        m = claims.as_("m")
        parts.append(select(*m[columns], opponent=m.own).from_(m))
    return _united(parts, [*columns, "opponent"])


def _united(parts: Sequence[Query], columns: Sequence[str]) -> Select | None:
    if not parts:
        return None
    rows = union_all(parts).as_("g")
    return select(*rows[columns]).from_(rows)


def confirmed_appendix_rows(
    observed: Sequence[Select], heads: Sequence[Select], group: Group, context: HornContext, columns: Sequence[str]
) -> Select | None:
    """Groundings whose head is a fact, or is the prediction itself."""
    arity = len(group.shape.head or ())
    parts: list[Query] = []
    for claims, condition in [
        *((facts, [_is_observed(context, arity)]) for facts in observed),
        *((head, []) for head in heads),
    ]:
        parts.append(select(*g[columns]).from_(claims.as_("g")).where(*condition))
    return _united(parts, columns)


OF_PREDICTION = MODEL, SCORE, RANK = tuple(name(field) for field in ("model", "score", "rank"))
RULE, MOST = name("rule"), name("most")


def restricted(rows: Select, *, models: Sequence[int], prediction: int | None) -> Select:
    """Rows of some models, with the number of each, its score and its rank; of one prediction if one is given."""
    rows = rows.join(a, a.prediction == g.prediction.big(), a.model.is_in(models))
    rows = rows.select(**dict(zip(OF_PREDICTION, a["model", "score", "rank"], strict=True)))
    return rows.where(g.prediction == prediction) if prediction is not None else rows


def chosen(rows: Select, columns: Sequence[str], further: Sequence[str], limit: int | None, seed: str | None) -> Select:
    """Rows in the order of their columns or, with a seed, in an order drawn by the seed, so the first rows are a sample."""
    z = rows.as_("z")
    order = z[columns] if seed is None else _drawn_by(seed, z[columns])
    query = select(*z[columns], *z[further]).from_(z).order_by(*order)
    return query if limit is None else query.limit(limit)


def drawn(rows: Select, by: Sequence[str], columns: Sequence[str], further: Sequence[str], seed: int) -> Select:
    """A random sample, drawn by the seed, of each group of rows that agree in `by`. The table of shares says how many. `columns`:
    the columns that distinguish the rows."""
    z, s = rows.as_("z"), row(SHARE, "s")
    every = [*by, *columns, *further]
    place = row_number(*_drawn_by(str(seed), z[[*by, *columns]]), per=z[by])
    d = select(*z[every], place=place).from_(z).as_("d")
    return select(*d[every]).from_(d).join(s, *same(d, s, by), d.place <= s[MOST]).order_by(*d[by], d.place)


def _drawn_by(seed: str, fields: Sequence[Sql]) -> list[Sql]:
    words = [part for field in fields for part in (field.cast("TEXT").or_else(""), sql("|"))]
    return [Sql(exp.MD5(this=concatenated(f"{seed}|", *words).node)), *fields]


def first_of_each(rows: Select, columns: Sequence[str], further: Sequence[str], most: int) -> Select:
    """The first rows of each model's wanted predictions, in the order of their columns."""
    z = rows.as_("z")
    place = row_number(*z[columns], per=[z[MODEL], z.prediction])
    numbered = select(*z[columns], *z[further], place=place).from_(z).join(w, w.id == z.prediction.big()).as_("n")
    return (
        select(*numbered[columns], *numbered[further]).from_(numbered).where(~(numbered.place > most)).order_by(*numbered[columns])
    )


def row_counts(rows: Select, *, by_model: bool) -> Select:
    """How many rows there are, or how many of each model."""
    z = rows.as_("z")
    query = select(n=count_rows()).from_(z)
    return query.select(z[MODEL]).group_by(z[MODEL]) if by_model else query


def refuted_counts(prediction: int | None) -> Select:
    """Violations of each rule and model, by the contributions of all predictions, or of one."""
    query = select(c.rule, a.model, n=c.refuted.sum().big()).from_(c).join(a, a.prediction == c.prediction)
    if prediction is not None:
        query = query.where(c.prediction == prediction)
    return query.group_by(c.rule, a.model)


def violating_predictions(models: Sequence[int], rules: Sequence[int]) -> Select:
    """Every prediction of these models that violates one of these rules, with the number of its violations."""
    keys = [a.model, c.prediction, a.score, a.rank]
    query = select(*keys, n=c.refuted.sum().big()).from_(c).join(a, a.prediction == c.prediction)
    return query.where(a.model.is_in(models), c.rule.is_in(rules)).where(c.refuted > 0).group_by(*keys)


def constants_by_id() -> Select:
    constant = row(CONSTANT, "c")
    return select(constant.id, constant.key).from_(constant).join(w, w.id == constant.id)


def wanted_predictions(source: Predictions) -> Select:
    """The wanted predictions of one source: their literals, and the keys of their arguments."""
    return source.with_keys(select(prediction=w.id).from_(w), w.id)


def makers_of(prediction: int) -> Select:
    """The models that make a prediction."""
    return select(a.model).from_(a).where(a.prediction == prediction)


def contributions_of(prediction: int) -> Select:
    """What one prediction contributes to every rule."""
    return select(c.rule, c.confirmed, c.refuted, c.evaluable).from_(c).where(c.prediction == prediction)


VIOLATING = name("violating")
OF_OPPONENT, OF_LABEL = "opponent", "label"


def of_rule(rows: Select, rule: int) -> Select:
    return rows.where(alias("g").rule == rule)


def by_opponent(stride: int, *, models: bool, heads: bool = False) -> Select:
    """Groundings by the predicate of the fact against them, given as its first literal. `heads`: and by the literal of the head."""
    z = row(VIOLATING, "z")
    return _summed(z, _first_literal(z[OF_OPPONENT], stride), models=models, heads=heads)


def by_head(*, models: bool) -> Select:
    """Groundings of denials, whose heads are all alike."""
    z = row(VIOLATING, "z")
    return _summed(z, z.head, models=models)


def by_label(sources: Sequence[ConditionSource], context: HornContext, arity: int, *, models: bool, heads: bool = False) -> Select:
    """Groundings by the predicates that refute them, each given as its first literal. A head that no fact refutes is absent from a
    closed predicate: its label is -1 minus the literal of the head. `heads`: and by the literal of the head."""
    keys = asked_keys(arity, predictions=models)
    z, r = row(VIOLATING, "z"), row("reasons", "r")
    parts: list[Query] = []
    for source in sources:
        for index in range(len(source.shape.atoms) or 1):
            for branch in branches(source, context, AskedHeads("heads", models), instances=True):
                i = branch.as_("i")
                label = _first_literal(i[f"l{index}"], context.stride) if source.shape.atoms else -1 - i.head
                parts.append(select(*i[keys], label=label).from_(i))
    u = union_all(parts).as_("u")
    most = exp.Window(this=r.label.max().node, partition_by=[key.node for key in r[keys]])
    x = select(*r[keys], r.label, most=most).from_(r).as_("x")
    labelled = (
        select(x.label, *z[_further(models, heads)])
        .from_(z)
        .join(x, *same(x, z, keys))
        # The label of an absent fact counts only if the head has no other label.
        .where(~all_of(x.label < 0, ~(x.most < 0)))
        .as_("z")
    )
    summed = _summed(labelled, labelled.label, models=models, heads=heads)
    summed = summed.with_step("heads", select(*z[keys]).distinct().from_(z))
    return summed.with_step("reasons", select(*u[keys], u.label).distinct().from_(u))


def by_value(rows: Select, variables: int) -> Select:
    """How many groundings contain each constant."""
    z = row("violating", "z")
    parts: list[Query] = []
    for index in range(variables):
        earlier = (z[variable(index)] != z[variable(i)] for i in range(index))
        parts.append(select(id=z[variable(index)]).from_(z).where(*earlier))
    u = union_all(parts).as_("u")
    return select(u.id, n=count_rows()).with_step("violating", rows).from_(u).group_by(u.id)


def _summed(z: Row, label: Sql, *, models: bool, heads: bool = False) -> Select:
    further = z[_further(models, heads)]
    return select(label.named(OF_LABEL), *further, n=count_rows()).from_(z).group_by(label, *further)


def _further(models: bool, heads: bool) -> list[str]:
    return [*([MODEL] if models else []), *(["head"] if heads else [])]


def _first_literal(literal: Sql, stride: int) -> Sql:
    return literal - (literal % stride).paren()
