"""Rules that a user writes as statements. Checks that a statement is a single query that only reads, and makes the query that
counts or lists its rows.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import duckdb
from sqlglot import exp, parse, tokenize
from sqlglot.errors import SqlglotError, TokenError
from sqlglot.tokenizer_core import TokenType

from rulescore.logic.formula import Relation
from rulescore.sql.facts import MODEL_PREDICTION
from rulescore.sql.moments import written
from rulescore.sql.query import Create, Row, Select, no_row, row, select, view
from rulescore.sql.results import CONTRIBUTION
from rulescore.sql.words import FALSE, NULL, Sql, any_of, identifier, sql, when
from rulescore.values import MOMENTS, ValueType

_NO_PART_OF_QUERIES = (exp.DML, exp.DDL, exp.Drop, exp.Alter, exp.Command, exp.Into, exp.Lock)


def not_one_query(statement: str, dialect: str) -> str | None:
    """Why a text is not one query; None if it is. DuckDB's own parser decides for DuckDB, sqlglot's for other dialects."""
    try:
        if dialect == "duckdb":
            statements = duckdb.extract_statements(statement)
            if [part.type for part in statements] != [duckdb.StatementType.SELECT]:
                return _listed(str(part.type).rpartition(".")[2] for part in statements)
            # The database refuses clauses that modify data in any query that is not the whole statement.
            return None
        with _library_silent():
            parsed = [part for part in parse(statement, read=dialect) if part is not None]
    except RecursionError:
        return "it is nested too deeply"
    except (duckdb.Error, SqlglotError) as error:
        return str(error).splitlines()[0]
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query | exp.Values):
        return _listed(type(part).__name__.upper() for part in parsed)
    other = next(parsed[0].find_all(*_NO_PART_OF_QUERIES), None)
    return None if other is None else f"it has `{type(other).__name__.upper()}` in it"


@contextmanager
def _library_silent() -> Iterator[None]:
    """Context manager: the parser would log a statement that it does not understand, with any passwords in it."""
    log = logging.getLogger("sqlglot")
    before = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = before


def _listed(kinds: Iterable[str]) -> str:
    return f"it is {' and '.join(f'`{kind}`' for kind in kinds) or 'nothing'}"


# On Spark, a user's statement may call the functions listed here, and no others. We list what is allowed, because Spark has
# functions that call Java, and clauses that run programs. A list of these would have gaps after the next version, or in a session
# with functions of its own.


_KEYWORDS = frozenset(
    """
    all and any as between by case char cross cube decimal dec distinct div else except exists filter for from full group having
    ilike in inner intersect interval is join lateral left like limit minus not numeric offset on or outer over pivot regexp right
    rlike rollup select sets some tablesample then union unpivot using values varchar when where with
    """.split()  # noqa: SIM905  # as a list of texts it would take a page
)

# Functions that compute their result from their arguments alone.
_FUNCTIONS = frozenset(
    """
    any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor bool_and bool_or collect_list
    collect_set corr count count_if covar_pop covar_samp every first first_value grouping grouping_id kurtosis last last_value
    listagg max max_by mean median min min_by mode percentile percentile_approx percentile_cont percentile_disc regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness some std stddev stddev_pop
    stddev_samp string_agg sum try_avg try_sum var_pop var_samp variance cume_dist dense_rank lag lead nth_value ntile
    percent_rank rank row_number array array_append array_compact array_contains array_distinct array_except array_insert
    array_intersect array_join array_max array_min array_position array_prepend array_remove array_repeat array_size array_sort
    array_union arrays_overlap arrays_zip cardinality concat element_at explode explode_outer flatten get inline inline_outer
    posexplode posexplode_outer reverse sequence size slice sort_array stack try_element_at aggregate forall map_filter
    map_zip_with reduce transform transform_keys transform_values zip_with map map_concat map_contains_key map_entries
    map_from_arrays map_from_entries map_keys map_values named_struct str_to_map struct bit_count bit_get getbit shiftleft
    shiftright shiftrightunsigned coalesce equal_null if ifnull isnan isnotnull isnull nanvl nullif nullifzero nvl nvl2 zeroifnull
    bigint binary boolean cast date double float int smallint string time timestamp tinyint try_cast typeof add_months
    convert_timezone curdate current_date current_time current_timestamp date_add date_diff date_format date_from_unix_date
    date_part date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear extract from_unixtime
    from_utc_timestamp hour last_day localtimestamp make_date make_dt_interval make_interval make_timestamp make_timestamp_ltz
    make_timestamp_ntz make_ym_interval minute month monthname months_between next_day now quarter second timestamp_micros
    timestamp_millis timestamp_seconds timestampadd timestampdiff to_date to_timestamp to_timestamp_ltz to_timestamp_ntz
    to_unix_timestamp to_utc_timestamp trunc try_to_date try_to_timestamp unix_date unix_micros unix_millis unix_seconds
    unix_timestamp weekday weekofyear year crc32 hash md5 sha sha1 sha2 xxhash64 from_json get_json_object json_array_length
    json_object_keys json_tuple to_json abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot
    csc degrees e exp expm1 factorial floor greatest hex hypot least ln log log10 log1p log2 mod negative pi pmod positive pow
    power radians range rint round sec sign signum sin sinh sqrt tan tanh try_add try_divide try_mod try_multiply try_subtract
    unhex width_bucket ascii base64 bit_length btrim char_length character_length chr collate collation concat_ws contains decode
    elt encode endswith find_in_set format_number format_string initcap instr lcase len length levenshtein locate lower lpad ltrim
    luhn_check mask octet_length overlay position printf regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like
    regexp_replace regexp_substr repeat replace rpad rtrim sentences soundex space split split_part startswith substr substring
    substring_index to_char to_number to_varchar translate trim try_to_number ucase unbase64 upper
    """.split()  # noqa: SIM905  # as a list of texts it would take a page
)

# Between words. Spark and sqlglot disagree about the end of some comments: comments with a comment or a hint within, and line
# comments that end with a backslash or a carriage return.
_GAP = re.compile(r"(?:\s|--[^\\\r\n]*(?:\n|\Z)|/\*(?!\+)(?:(?!/\*|\*/).)*\*/)*", re.DOTALL)


def not_allowed(statement: str) -> str | None:
    """The part of a statement that Spark must not run for a user; None if there is none."""
    end, before, last = 0, "", ""
    for token in tokenize(statement, read="spark"):
        word = statement[token.start : token.end + 1]
        if not _GAP.fullmatch(statement, end, token.start):
            return "it has a comment that Spark may read otherwise than we do"
        if re.search(r"[\\$]", word) and not word.startswith("'"):
            return "it has a backslash or a dollar sign outside of a text in single quotes"
        if last == "using" and word != "(":
            return "it hands rows to a program, with `USING`"
        # A function of a schema may be anybody's, whatever its name, so we refuse it. Names behind `AS` and `WITH` are columns.
        if word == "(" and (before == "." or (before not in {"as", "with"} and not _may_precede(last))):
            return f"it calls `{last}`"
        end, before = token.end + 1, last
        last = word[1:-1].lower() if word[0] in '`"' else word.split()[-1].lower()
    return None if _GAP.fullmatch(statement, end) else "it has a comment that Spark may read otherwise than we do"


def _may_precede(word: str) -> bool:
    """Whether a word may stand before a parenthesis: an operator, a keyword or a function of the list."""
    return not re.search(r"\w", word) or word in _KEYWORDS or word in _FUNCTIONS


OBSERVED, PREDICTED = "observed_", "predicted_"
"""The prefixes of the views that a statement may read; the name of a predicate or table follows."""

_NAMES = re.compile(rf'"((?:{OBSERVED}|{PREDICTED})(?:[^"]|"")+)"|\b((?:{OBSERVED}|{PREDICTED})\w+)')
_WORDS = re.compile(r'"((?:[^"]|"")+)"|(\w+)')


def views_named(statement: str) -> set[str]:
    """The views that a statement seems to read."""
    return {(quoted or word).replace('""', '"') for quoted, word in _NAMES.findall(statement)}


def relations_named(statement: str) -> set[str]:
    """The predicates and tables of the views that a statement seems to read."""
    return {view.removeprefix(OBSERVED).removeprefix(PREDICTED) for view in views_named(statement)}


def words(statement: str) -> set[str]:
    """Every word of a statement that may be the name of a column."""
    return {(quoted or word).replace('""', '"') for quoted, word in _WORDS.findall(statement)}


def create_views(relation: Relation) -> Iterator[Create]:
    """Views on a relation with its attributes by name. Without predictions the second view is empty: statements stay the same."""
    r = row(relation.observed, "r")
    fields = [_native(r[stored.column], stored.type).named(name) for name, stored in relation.columns.items()]
    yield view(f"{OBSERVED}{relation.name}", select(*fields).from_(r))
    if relation.predicted is not None:
        predicted = select(r.prediction, *fields).from_(row(relation.predicted, "r"))
    else:
        predicted = select(NULL.integer().named("prediction"), *fields).from_(r).where(FALSE)
    yield view(f"{PREDICTED}{relation.name}", predicted)


def _native(value: Sql, kind: ValueType | None) -> Sql:
    """Date-times as the timestamps of the database, without a zone: instants as clocks of UTC show them."""
    return written(value, zoned=False).cast("TIMESTAMP") if kind in MOMENTS else value


def _statement_rows(statement: str, alias: str = "s") -> Row:
    """The statement word for word."""
    name = exp.TableAlias(this=identifier(alias))
    return Row(alias, exp.Subquery(this=exp.Var(this=f"\n{unended(statement)}\n"), alias=name))


def has_user_sql(statement: exp.Expr) -> bool:
    """Whether a statement contains the user's own SQL, which may call any function."""
    return any(isinstance(subquery.this, exp.Var) for subquery in statement.find_all(exp.Subquery))


def unended(statement: str) -> str:
    """A statement without the semicolon at its end, which comments may follow."""
    try:
        tokens = tokenize(statement, read="duckdb")
    except TokenError:  # the database will report the mistake
        return statement
    end = len(tokens)
    while end and tokens[end - 1].token_type is TokenType.SEMICOLON:
        end -= 1
    return statement[: tokens[end].start] if end < len(tokens) else statement


def sample(statement: str) -> Select:
    """The columns of a statement, without its rows."""
    return select("*").from_(_statement_rows(statement)).limit(0)


def counts(statement: str, rule: int, *, predictions: bool) -> Select:
    """The counts of confirmed, refuted and evaluable rows: one row over the data, or one per prediction."""
    s = _statement_rows(statement)
    flags = {name: when(s[name].cast("BOOLEAN"), 1, 0) for name in ("confirmed", "refuted")}
    j = select(s.prediction, **flags).from_(s).where(_of(s.prediction, predictions)).as_("j")
    either = when(any_of(j.confirmed == 1, j.refuted == 1), 1, 0)
    sums = {"confirmed": j.confirmed, "refuted": j.refuted, "evaluable": either}
    query = select(rule=sql(rule).integer()).from_(j)
    if predictions:
        query = query.select(prediction=j.prediction.integer()).group_by(j.prediction).having(either.sum() > 0)
    return query.select(**{name: value.sum().or_else(0).big() for name, value in sums.items()})


def listed(statement: str, verdict: str, *, predictions: bool) -> Select:
    """The rows that are `refuted`, or `confirmed`, with all their columns: over the data, or of predictions."""
    g = _statement_rows(statement, "g")
    query = select(exp.Column(this=exp.Star(), table=identifier("g"))).from_(g)
    return query.where(_of(g.prediction, predictions), g[verdict].cast("BOOLEAN"))


def values(statement: str, name: str) -> Select:
    """One row if a column of the statement has a value anywhere."""
    s = _statement_rows(statement)
    return select(s[name]).from_(s).where(s[name].is_known()).limit(1)


def unknown_predictions(first: int) -> Select:
    """For each rule from number `first` on, a prediction that its contributions have and no model makes, if there is one."""
    a, c = row(MODEL_PREDICTION, "a"), row(CONTRIBUTION, "c")
    nobody = no_row(a, a.prediction == c.prediction)
    return select(c.rule, prediction=c.prediction.min()).from_(c).where(c.rule >= first, nobody).group_by(c.rule)


def _of(prediction: Sql, predictions: bool) -> Sql:
    return prediction.is_known() if predictions else prediction.is_null()
