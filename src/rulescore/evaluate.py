"""The whole pipeline: a setting in, an evaluation out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

from rulescore.accuracy.reading import accuracies
from rulescore.data.inputs import Inputs
from rulescore.data.setting import Convention, Role, Setting
from rulescore.data.sources import refuse_shared_pipes
from rulescore.data.summary import DataSummary, PredictionCounts, TableCounts
from rulescore.data.violation import (
    CountedBy,
    CountedViolations,
    Explained,
    Fact,
    PredictedKey,
    Violation,
    Violations,
)
from rulescore.engines import counting
from rulescore.engines.adopting import adopted
from rulescore.engines.asking import Asked, Finder, RuleListing
from rulescore.engines.base import KeepingEngine, for_a_while
from rulescore.engines.connect import connect
from rulescore.engines.data_problems import data_problems, literal_types, shown_pairs
from rulescore.engines.explaining import ShapeExplanation, explain, explain_formulas, formula_statement, rule_statement
from rulescore.engines.formula_listing import FormulaListing
from rulescore.engines.in_place import expanded
from rulescore.engines.listing import HornListing, predicted_facts
from rulescore.engines.loading import load
from rulescore.engines.offers import counted_arguments
from rulescore.engines.predicted import Predicted
from rulescore.engines.refusals import refuse_grid, refuse_unable
from rulescore.engines.resolution import Resolution, attributes_in_use
from rulescore.engines.sql_rules import SqlRules, refuse_clashes, refuse_other_statements
from rulescore.engines.tables import load_tables, predicted_tables
from rulescore.engines.violation_counts import ViolationCounter
from rulescore.errors import Diagnostic, InputError, Severity, are_errors, suggestion
from rulescore.language.formats.base import TableName
from rulescore.language.names import rule_names
from rulescore.language.printer import print_atom
from rulescore.language.reading import read_rules
from rulescore.language.syntax import Atom, Constant, ExtractIncompatible, Program, Rule
from rulescore.logic import checks, conventions
from rulescore.logic.families import Names, names_of
from rulescore.logic.horn import horn_program
from rulescore.logic.incompatible import self_refuting
from rulescore.logic.normal import normal_rule
from rulescore.logic.offers import offers
from rulescore.logic.plan import Judge, Plan
from rulescore.logic.planner import plan
from rulescore.logic.refutable import (
    WHAT_TO_DECLARE,
    Concerned,
    concerned,
    head_predicates,
    refuters,
    unrefutable_rules,
    what_is_exempt,
)
from rulescore.logic.refutation import opposed_both_ways, orders_in_use, refutations
from rulescore.logic.tautologies import tautologies
from rulescore.logic.tolerances import is_relative, log_distance, with_tolerance
from rulescore.logic.usage import constant_keys, mentioned_by
from rulescore.scoring.contributions import brought_contributions, write_contributions
from rulescore.scoring.described import described_rules
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA, Evaluation
from rulescore.scoring.findings import prediction_findings
from rulescore.scoring.pairs import PairCount
from rulescore.scoring.results import Counts, PredictionFindings, RuleInfo, RuleKind, RuleResult
from rulescore.scoring.run import Run, run_of
from rulescore.scoring.score import kind_of, score, unmeasured_models, violated_denials
from rulescore.sql.build import Select, text
from rulescore.sql.listing import contributions_of, makers_of, refuted_counts
from rulescore.sql.loading import engine_version
from rulescore.sql.published import DIALECT as PUBLISHED_DIALECT
from rulescore.sql.published import PublishedQuery, predicate_tables, published_queries

__all__ = ["GridRow", "PairCount", "Session", "ShapeExplanation", "Tolerance", "Violation", "Violations"]

CODES = {
    "E261": "a rule or model that does not exist is asked for",
    "E262": "violations of a prediction are asked for without a model, or by an atom with variables",
    "E264": "rules cannot be counted with other tolerances",
    "E265": "predictions are to be scored, but nothing declared could refute any rule",
    "W206": "the rule files hold no rule",
}

_MOST_SUGGESTIONS = 10
_MOST_EXPLAINED = 1000
"""Of the groundings that explain a prediction, so many are listed."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A distance, or a percentage."""

    value: int | float
    relative: bool = False


@dataclass(frozen=True, slots=True)
class GridRow:
    """What a rule would find in the data with another tolerance."""

    rule: RuleInfo
    tolerance: Tolerance
    counts: Counts


class Session:
    """A setting that is loaded and checked. Use as a context manager: it holds a database connection. Without `sorted_plans` pairs
    within a distance are joined like those of any other rule; without `horn` rules of Horn form are counted one by one, as all
    others are. Both give the same counts, slowly: a second opinion. `grid`: counts with other tolerances will be asked for, so that
    an engine that cannot give them says so before anything is read."""

    def __init__(self, setting: Setting, *, sorted_plans: bool = True, horn: bool = True, grid: bool = False) -> None:
        self._inputs = Inputs(setting)
        self.setting = self._inputs.setting
        self._sorted_plans = sorted_plans
        self._fast_family = horn
        self._grid = grid
        reading = read_rules(setting.rules, [TableName(table.name, table.key) for table in setting.tables])
        self.program, self._told, self._foreign = reading.program, reading.told, reading.foreign
        self.rules = described_rules(self.program, setting.scoring, setting.sql_rules)
        self._engine = connect(setting.engine)
        try:
            self._open(rule_names(self.program))
        except BaseException:
            self._engine.close()
            raise

    def _open(self, names: Sequence[str]) -> None:
        refuse_shared_pipes(self.setting)
        refuse_clashes(self.setting.sql_rules, names)
        refuse_other_statements(self.setting.sql_rules, self._engine.dialect)
        refuse_unable(self._engine, self.setting, self.program, grid=self._grid)
        found = expanded(self._engine, adopted(self._engine, self.setting))
        self.setting, self._published = found.setting, found.tables
        known = self._load(names)
        self._horn, self._fast = self._families(known)
        problems = checks.structure(self.program, names, self._horn)
        types = literal_types(self._engine, self._loaded, self._horn)
        problems += checks.meaning(
            self.program,
            self._loaded.vocabulary,
            types,
            self._horn,
            lambda name: not known.is_predicate(name),
            known.functions,
            self._left_out(),
        )
        problems += [] if self.rules or not self.setting.rules else [_no_rules()]
        problems += data_problems(self._engine, self.setting, self._loaded, self._tables)
        self._numbered = False
        extracted = [] if are_errors(problems) else self._extracted()
        resolution = Resolution(self._engine, self.setting, self.program, self._horn, self._fast, self._loaded, self._tables)
        # Sorting is done here, and an engine that keeps rows keeps its values.
        sorting = self._sorted_plans and not isinstance(self._engine, KeepingEngine)
        self._formulas = resolution.formulas(extracted, self._titles, problems, sorting=sorting)
        self._sql_rules = SqlRules(self._engine, self.setting.sql_rules, len(self.program.rules))
        problems += self._sql_rules.prepare(self._formulas.schema, self._loaded.vocabulary.predicates)
        _raise_errors(problems)
        self.ways = refutations(self._horn, self._loaded.vocabulary, extracted)
        # Who writes `extract incompatible` knows of the pairs: only what judges the rules themselves tells them.
        self.told_pairs = tuple(shown_pairs(extracted))
        problems += self._option_problems()
        problems += self_refuting(self._horn, [names[i] for i in sorted(self._fast)], self.ways)
        named = list(zip(names, self.program.rules, strict=True))
        problems += tautologies(named)
        problems += conventions.unsuitable(self.setting.scoring, named, self.ways, self._fast)
        _raise_errors(problems)
        self.rules = self._marked(known, extracted)
        self._concerned = self._concern(extracted)
        exempt = self._exempt
        self._offered = self._offers(exempt) if self._foreign and len(exempt) == len(self.rules) else ()
        problems += [unrefutable_rules(exempt, len(self.rules), self._offered)] if exempt else []
        self.warnings = (*self._told, *problems)
        self.plan: Plan = plan(((i, normal_rule(self.program.rules[i])) for i in sorted(self._fast)), self.ways)
        self._prepared: counting.Counter | None = None
        self._counted = False

    def _left_out(self) -> list[str]:
        """How many predictions `top_k` has not kept: what they are about is not known."""
        counts = {model: one for model, one in self._loaded.predictions.items() if one.kept < one.rows}
        return [
            f"`top_k` keeps {of.kept:,} of {of.rows:,} predictions of `{model}`, and no other is read"
            for model, of in counts.items()
        ]

    def _families(self, known: Names) -> tuple[Program, frozenset[int]]:
        """The statements of the fast family, and the numbers of its rules."""
        return horn_program(self.program if self._fast_family else Program(()), known.is_predicate)

    def _marked(self, known: Names, extracted: Sequence[tuple[str, str]]) -> tuple[RuleInfo, ...]:
        """The rules, with those marked that nothing declared could refute. Rules in SQL decide themselves."""
        negative = [one.name for one in self._loaded.vocabulary.predicates.values() if one.negative]
        keys = {name: table.key for name, table in self._tables.items()}
        found = refuters(self.program.declarations, extracted, negative, known.is_test, keys)
        exempt = [not found.could_refute(rule.head) for rule in self.program.rules] + [False] * len(self.setting.sql_rules)
        return tuple(replace(rule, unrefutable=True) if one else rule for rule, one in zip(self.rules, exempt, strict=True))

    def _concern(self, extracted: Sequence[tuple[str, str]]) -> Concerned:
        tables = self._tables.values()
        in_sql = self._sql_rules.relations_predicted()
        rules = self.program.rules
        return concerned(
            rules,
            [rule.unrefutable for rule in self.rules[: len(rules)]],
            self.program.declarations,
            extracted,
            targets={f"{table.name}.{one}": table.predicate for table in tables for one in table.from_target},
            in_sql=in_sql | {table.predicate for table in tables if table.name in in_sql},
            refuting=Role.REFUTER in conventions.roles(self.setting.scoring),
        )

    def _load(self, names: Sequence[str]) -> Names:
        """Load the data. Problems of the rules that need no data are told together with those of loading."""
        known = names_of(self.setting)
        try:
            used = attributes_in_use(self.program, self.setting.sql_rules, known.tables)
            tables = load_tables(self._engine, self.setting, used)
            self._loaded = load(
                self._engine,
                self.setting,
                orders_in_use(self.program),
                constant_keys(self.program),
                known.predicates(self.program),
                tables,
                mentioned_by(self.program, self.setting.sql_rules),
            )
            self._tables = predicted_tables(self._engine, tables, self._loaded.literal)
        except InputError as error:
            guess, _ = self._families(known)
            raise InputError([*checks.structure(self.program, names, guess), *error.problems]) from error
        return replace(known, vocabulary=self._loaded.vocabulary)

    def tolerance_grid(self, limits: Sequence[Tolerance]) -> list[GridRow]:
        """Dataset counts of every rule that limits a distance within groups, for each tolerance of its kind."""
        refuse_grid(self._engine)
        if self._formulas.distinct_variables:
            raise InputError(_no_grid("two variables may not stand for one constant, so pairs of equal values are left out"))
        rows = []
        for number in self._formulas.rules:
            relative = is_relative(self.program.rules[number])
            chosen = [one for one in limits if one.relative is relative]
            if self._formulas.proximity(number) is None or not chosen:
                continue
            numbers = [log_distance(one.value) if relative else one.value for one in chosen]
            found_counts = self._formulas.grid(number, numbers)
            if found_counts is None:
                raise InputError(_no_grid(f"values of rule `{self.rules[number].name}` are too large to be subtracted"))
            for one, counts in zip(chosen, found_counts, strict=True):
                found = Counts(counts.confirmed, counts.refuted, counts.evaluable)
                rows.append(GridRow(self.rules[number], one, found))
        return rows

    @property
    def _titles(self) -> list[str]:
        return [f"rule `{rule.name}` ({rule.place})" for rule in self.rules]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._engine.close()

    @property
    def summary(self) -> DataSummary:
        tables = tuple(TableCounts(table.name, table.rows, table.hidden) for table in self._tables.values())
        return replace(self._loaded.summary, tables=tables)

    @property
    def counter(self) -> counting.Counter:
        """The plan with its parameters loaded; made when first asked for."""
        if self._prepared is None:
            if any(group.judge is Judge.EVIDENCE for group in self.plan.groups):
                self._number_evidence()
            options = self.setting.scoring
            self._prepared = counting.prepare(
                self._engine,
                self._loaded,
                self.plan,
                self.ways,
                appendix=options.convention is Convention.APPENDIX,
                distinct_variables=conventions.distinct_variables(options),
                roles=conventions.roles(options),
                titles=self._titles,
            )
        return self._prepared

    def _number_evidence(self) -> None:
        """Number the sets of literals that hold of tuples, when first needed."""
        if not self._numbered:
            # Extracted pairs are not known before evidence is numbered; any of them may oppose a head that a reversed pair opposes.
            declared = refutations(self._horn, self._loaded.vocabulary)
            marked = opposed_both_ways(declared) or (self._extracts and bool(declared.oppositions))
            appendix = self.setting.scoring.convention is Convention.APPENDIX
            counting.number_evidence(self._engine, self._loaded, marked=appendix and marked)
            self._numbered = True

    @property
    def predictions(self) -> dict[str, PredictionCounts]:
        """How many predictions each model brought."""
        return self._loaded.predictions

    def evaluate(self, *, contributions: bool | None = None) -> Evaluation:
        """Dataset rates and every model's scores. Contributions are brought here unless the engine keeps rows, or as asked for."""
        self._refuse_unrefutable()
        dataset = self._dataset()
        self._count_contributions()
        predicted = bool(self._loaded.candidate_arities)
        totals = counting.model_totals(self.counter) if predicted else {}
        models = {model: _in_order(totals.get(number, {}), len(self.rules)) for number, model in enumerate(self._loaded.models)}
        hard = [number for number, one in enumerate(zip(self.rules, dataset, strict=True)) if kind_of(*one)[0] is RuleKind.HARD]
        predictions = counting.prediction_counts(self._engine, self._loaded, hard) if predicted else []
        findings = prediction_findings(self._loaded.models, predictions, self._concerned)
        wanted = not isinstance(self._engine, KeepingEngine) if contributions is None else contributions
        return self._evaluation(
            dataset, models, brought_contributions(self._engine, self._loaded, self._names) if wanted else None, findings
        )

    def _refuse_unrefutable(self) -> None:
        """Where no rule can be refuted, every model would be perfect."""
        exempt = self._exempt
        if exempt and len(exempt) == len(self.rules) and self._loaded.models and not self.setting.scoring.allow_unrefutable:
            others = [warning for warning in self.warnings if warning.code != "W211"]
            raise InputError([_nothing_refutable(exempt, self._offered), *others])

    def _offers(self, exempt: Sequence[tuple[str, Rule]]) -> tuple[str, ...]:
        """What could be declared so that rules of another tool, which come without declarations, can be refuted."""
        self._number_evidence()
        pairs = counting.never_together(self._engine, self._loaded)
        known = self._loaded.vocabulary.predicates
        observed = {name for name in known if known[name].observed}
        return offers(head_predicates(exempt), pairs, counted_arguments(self._engine, self._loaded), observed)

    @property
    def _exempt(self) -> list[tuple[str, Rule]]:
        """The rules that nothing declared could refute, with their names."""
        rules = zip(self.rules, self.program.rules, strict=False)
        return [(info.name, rule) for info, rule in rules if info.unrefutable]

    def write_contributions(self, path: Path) -> None:
        """Write what `evaluate` has counted as Parquet: by the engine, where it keeps rows, as files of a folder."""
        write_contributions(self._engine, self._loaded, self._names, path)

    @property
    def _names(self) -> list[str]:
        return [rule.name for rule in self.rules]

    def _further_statements(self) -> Iterator[tuple[str, Select]]:
        if self._loaded.candidate_arities:
            yield from self._formulas.prediction_statements()
            yield from self._sql_rules.prediction_statements()

    def audit(self) -> Evaluation:
        """Dataset rates only."""
        found = self._evaluation(self._dataset(), {}, CONTRIBUTIONS_SCHEMA.empty_table(), {})
        return replace(found, warnings=(*found.warnings, *self.told_pairs))

    def violations(
        self,
        *,
        rule: str | None = None,
        model: str | Sequence[str] | None = None,
        prediction: Atom | None = None,
        limit: int | None = 20,
        sample: int | None = None,
        seed: int = 0,
    ) -> Violations:
        """Groundings whose head is refuted: of a model, of several or, if it is None, of the data; of all rules or one; the first
        of them or a sample. However many are listed, all are counted."""
        asked = self._asked(model, prediction)
        rules = range(len(self.rules)) if rule is None else [self._rule_number(rule)]
        counts = self._violations_of(rules, asked, every=rule is None)
        totals = _by_rule(counts)
        finder = self._finder
        if sample is not None:
            rows = finder.sample(totals, asked, sample, seed)
        else:
            rows = finder.first(totals, asked, limit) if limit is None or limit > 0 else []
        total = sum(totals.values())
        says_nothing = None if total else self._says_nothing(rules, asked)
        return Violations(total, rows, says_nothing, self._named(counts), self.prediction_keys)

    def _named(self, counts: Mapping[tuple[int, int | None], int]) -> dict[tuple[str, str | None], int]:
        models = self._loaded.models
        return {(self.rules[rule].name, None if model is None else models[model]): n for (rule, model), n in counts.items()}

    def violation_counts(
        self, by: str, *, rule: str | None = None, model: str | Sequence[str] | None = None
    ) -> list[CountedViolations]:
        """How many violations there are of each rule, predicate, refuter, entity or prediction, the most first."""
        asked = self._asked(model, None)
        rules = range(len(self.rules)) if rule is None else [self._rule_number(rule)]
        counts = self._violations_of(rules, asked, every=True)
        counter = ViolationCounter(self._finder, self.counter, self._names, counts, self.prediction_keys)
        return counter.by(CountedBy(by), rules, asked)

    def _asked(self, model: str | Sequence[str] | None, prediction: Atom | None) -> Asked:
        models = None if model is None else [model] if isinstance(model, str) else model
        numbers = None if models is None else tuple(self._model_number(one) for one in models)
        if prediction is None:
            return Asked(numbers)
        if numbers is None or not all(isinstance(term, Constant) for term in prediction.terms):
            raise InputError(_no_prediction(prediction))
        return Asked(numbers, self._predicted.number(prediction))

    def _violations_of(self, rules: Sequence[int], asked: Asked, *, every: bool) -> dict[tuple[int, int | None], int]:
        """How many violations each rule and model has: by the counts of all rules, or by a query for the rule that is asked for."""
        if not every:
            return {(one, model): n for one in rules for model, n in self._finder.count(one, asked).items()}
        if asked.models is None:
            dataset = self._dataset()
            return {(one, None): dataset[one].refuted for one in rules if dataset[one].refuted}
        if not self._loaded.candidate_arities:
            return {}
        self._count_contributions()
        rows = self._engine.query(refuted_counts(asked.prediction)).to_pylist()
        found = {(row["rule"], row["model"]): int(row["n"]) for row in rows if row["n"]}
        return {key: found[key] for one in rules for model in asked.models if (key := (one, model)) in found}

    def _count_contributions(self) -> None:
        if not self._counted:
            counting.count_contributions(self.counter, self._further_statements())
            if self.setting.sql_rules and self._loaded.candidate_arities:
                self._sql_rules.refuse_unknown_predictions()
            self._counted = True

    @property
    def _finder(self) -> Finder:
        return Finder(self._engine, self._loaded.models, self._listing, partial(predicted_facts, self._engine, self._loaded))

    @contextmanager
    def _listing(self, index: int) -> Iterator[RuleListing]:
        if index >= len(self.program.rules):
            yield self._sql_rules.listing(index)
            return
        name, rule = self.rules[index].name, self.program.rules[index]
        if index not in self._fast:
            if index in self._formulas.tolerances:
                rule = with_tolerance(rule, self._formulas.tolerances[index])
            yield FormulaListing(self._formulas, index, name, rule)
            return
        counter = self.counter
        with for_a_while(self._engine):
            listing = HornListing(counter, self.ways, name, normal_rule(rule))
            try:
                yield listing
            finally:
                listing.close()

    @property
    def prediction_keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of tables whose targets are predicted, by the predicate of the predictions."""
        return {table.predicate: table.key for table in self._tables.values() if table.target is not None}

    def explained(self, prediction: Atom | PredictedKey, model: str | None = None) -> Explained:
        """What one prediction, given as a fact or by the key of its row, does to every rule."""
        number = self._predicted.number(prediction) if isinstance(prediction, Atom) else self._number_for(prediction, model)
        makers = self._engine.query(makers_of(number))["model"].to_pylist()
        models = tuple(self._loaded.models[one] for one in sorted(makers))
        if model is not None and model not in models:
            self._model_number(model)
            helps = (f"it is predicted by {', '.join(f'`{one}`' for one in models)}",)
            raise InputError(Diagnostic("E263", f"`{model}` does not predict it", helps=helps))
        self._count_contributions()
        rows = self._engine.query(contributions_of(number)).to_pylist()
        counts = {self._names[row["rule"]]: (row["confirmed"], row["refuted"], row["evaluable"]) for row in rows}
        fact = self._finder.facts({number})[number]
        asked = Asked((min(makers),), number)
        broken = {row["rule"]: row["refuted"] for row in rows if row["refuted"]}
        met = {row["rule"]: row["confirmed"] for row in rows if row["confirmed"] and not row["refuted"]}
        return Explained(fact, models, counts, self._first(broken, asked), self._first(met, replace(asked, confirmed=True)))

    def _first(self, totals: Mapping[int, int], asked: Asked) -> Violations:
        """The first groundings of rules in their order, with how many each has."""
        (model,) = asked.models or (None,)
        named = self._named({(rule, model): n for rule, n in totals.items()})
        rows = self._finder.first(dict(sorted(totals.items())), asked, _MOST_EXPLAINED)
        return Violations(sum(totals.values()), rows, counts=named, keys=self.prediction_keys)

    def predicted_fact(self, key: PredictedKey, model: str | None) -> Fact:
        """What is predicted for a row."""
        number = self._number_for(key, model)
        return self._finder.facts({number})[number]

    def _number_for(self, key: PredictedKey, model: str | None) -> int:
        return self._predicted.number_for(key, None if model is None else self._model_number(model))

    @property
    def _predicted(self) -> Predicted:
        return Predicted(self._engine, self._loaded, self._tables)

    def knows_predicate(self, name: str, arity: int) -> bool:
        known = self._loaded.vocabulary.predicates.get(name)
        return known is not None and known.arity == arity

    def _says_nothing(self, rules: Iterable[int], asked: Asked) -> str | None:
        """Why there are no violations, if nothing could have been one."""
        if all(self.rules[index].unrefutable for index in rules):
            return "unrefutable: nothing declared could refute these rules"
        unmeasured = [
            self._loaded.models[model]
            for model in asked.models or ()
            if not counting.predicted(self._engine, self._loaded, model) & self._concerned.by_refutable
        ]
        if not unmeasured or len(unmeasured) < len(asked.models or ()):
            return None
        names = " and ".join(f"`{one}`" for one in unmeasured)
        return f"unmeasured: no prediction of {names} is of a predicate of a rule that can be refuted"

    def explain(self) -> list[ShapeExplanation]:
        """Shapes, statements and estimated groundings; nothing is counted."""
        texts = [rule.text for rule in self.rules]
        return [*explain(self.counter), *explain_formulas(self._formulas, texts), *self._sql_rules.explained()]

    def statement(self, rule_name: str) -> str:
        """The statement that counts one rule over the data, alone and readable."""
        number = self._rule_number(rule_name)
        if number >= len(self.program.rules):
            return self._sql_rules.statement(number)
        if number not in self._fast:
            return formula_statement(self._formulas, number)
        return rule_statement(self.counter, self.ways, normal_rule(self.program.rules[number]))

    def plan_of(self, statement: str) -> str:
        """What the engine is going to do for a statement of `statement`."""
        return self._engine.explain(statement)

    def published_statements(self, rule_name: str, schema: str, model: str | None = None) -> list[tuple[PublishedQuery, str]]:
        """The published queries of a rule on the published layout: over the data, and for one model or all. Their tables are where
        the facts were read, or else where `rulescore load` puts them."""
        models = self._loaded.models if model is None else (self._loaded.models[self._model_number(model)],)
        number = self._rule_number(rule_name)
        options = replace(self.setting.scoring, convention=Convention.APPENDIX)
        if number >= len(self.program.rules):
            raise InputError(
                Diagnostic("E251", f"`{rule_name}` is SQL already", helps=("only rules of Horn form have such queries",))
            )
        rule = self.program.rules[number]
        fast = {0} if number in self._fast else set[int]()
        _raise_errors(list(conventions.unsuitable(options, [(rule_name, rule)], self.ways, fast)))
        tables = self._published or predicate_tables(
            (p.name for p in self._loaded.vocabulary.predicates.values() if p.observed or p.predicted), schema
        )
        found = published_queries(normal_rule(rule), self.ways, tables, (None, *models))
        return [(query, text(query.statement, PUBLISHED_DIALECT, pretty=True)) for query in found]

    def _rule_number(self, name: str) -> int:
        names = [rule.name for rule in self.rules]
        if name not in names:
            raise InputError(_unknown("rule", name, names))
        return names.index(name)

    def _model_number(self, name: str) -> int:
        if name not in self._loaded.models:
            raise InputError(_unknown("model", name, self._loaded.models))
        return self._loaded.models.index(name)

    def incompatibilities(self) -> list[PairCount]:
        """Every pair of observed predicates of one arity, with the number of tuples both hold of. What could carry a fact: of one
        argument, every constant of the facts; of two, every pair that some fact joins, this way round or the other; of more, every
        tuple that carries one."""
        self._number_evidence()
        together = {(left, right): n for left, right, n in counting.together_counts(self._engine, self._loaded)}
        tuples = counting.tuples_with_facts(self._engine, self._loaded)
        observed = sorted((p for p in self._loaded.vocabulary.predicates.values() if p.observed), key=lambda p: p.name)
        return [
            PairCount(
                left.name, right.name, together.get((left.name, right.name), 0), left.observed, right.observed, tuples[left.arity]
            )
            for left, right in combinations(observed, 2)
            if left.arity == right.arity
        ]

    def _dataset(self) -> list[Counts]:
        found = self._formulas.sorted_counts()
        further = chain(self._formulas.dataset_statements(found), self._sql_rules.dataset_statements())
        return _in_order(found | counting.dataset_counts(self.counter, further), len(self.rules))

    def _evaluation(
        self,
        dataset: list[Counts],
        models: dict[str, list[Counts]],
        contributions: pa.Table | None,
        findings: Mapping[str, PredictionFindings],
    ) -> Evaluation:
        rule_results, model_results = score(self.rules, dataset, models, self._loaded.predictions, findings)
        return Evaluation(
            convention=self.setting.scoring.convention.value,
            rule_results=tuple(self._with_groups(number, result) for number, result in enumerate(rule_results)),
            model_results=model_results,
            summary=self.summary,
            warnings=(*self.warnings, *violated_denials(rule_results), *unmeasured_models(model_results)),
            contributions_table=contributions,
            accuracy_results=accuracies(self._inputs.setting) if models else (),
            run=self._run(),
        )

    def _run(self) -> Run:
        rules = Counter(rule.span.source.name for rule in self.program.rules if rule.span)
        version = self._engine.query(engine_version())["version"][0].as_py()
        return run_of(self.setting, self._engine.dialect, version, self._inputs.read(lambda source: rules[source.name]))

    def _with_groups(self, number: int, result: RuleResult) -> RuleResult:
        formulas = self._formulas
        return replace(result, largest_group=formulas.largest_groups.get(number), tolerance=formulas.tolerances.get(number))

    @property
    def _extracts(self) -> bool:
        return any(isinstance(statement, ExtractIncompatible) for statement in self.program.statements)

    def _extracted(self) -> list[tuple[str, str]]:
        if not self._extracts:
            return []
        self._number_evidence()
        return counting.never_together(self._engine, self._loaded)

    def _option_problems(self) -> Iterator[Diagnostic]:
        names = {rule.name for rule in self.rules}
        options = self.setting.scoring
        for what, given in (("weight", options.weights), ("kind", options.kinds)):
            for number, name in enumerate(name for name in given if name not in names):
                # A search among all names takes long; who is wrong so often has taken another file.
                close = suggestion(name, names) if number < _MOST_SUGGESTIONS else None
                helps = (f"did you mean `{close}`?",) if close else ()
                yield Diagnostic("E209", f"a {what} is given for `{name}`, but no rule has that name", helps=helps)


def _unknown(what: str, name: str, known: Sequence[str]) -> Diagnostic:
    close = suggestion(name, known)
    helps = (f"did you mean `{close}`?",) if close else (f"there are {', '.join(f'`{k}`' for k in known[:10])}",)
    return Diagnostic("E261", f"there is no {what} `{name}`", helps=helps)


def _no_grid(reason: str) -> Diagnostic:
    return Diagnostic("E264", "rules cannot be counted with other tolerances", notes=(reason,))


def _nothing_refutable(exempt: Sequence[tuple[str, Rule]], offered: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        "E265",
        "nothing declared could refute any rule, so that every model would have 0 violations",
        notes=what_is_exempt(exempt),
        helps=(*(offered or (WHAT_TO_DECLARE,)), "`--allow-unrefutable`, or `allow_unrefutable=True`, scores all the same"),
    )


def _no_prediction(atom: Atom) -> Diagnostic:
    return Diagnostic(
        "E262",
        f"`{print_atom(atom)}` names no prediction of a model",
        helps=("give a fact without variables, and the model that predicts it",),
    )


def _no_rules() -> Diagnostic:
    return Diagnostic("W206", "there are no rules, so there is nothing to count", severity=Severity.WARNING)


def _raise_errors(problems: Sequence[Diagnostic]) -> None:
    if are_errors(problems):
        raise InputError(sorted(problems, key=lambda problem: problem.severity is not Severity.ERROR))


def _by_rule(counts: Mapping[tuple[int, int | None], int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for (rule, _), n in counts.items():
        found[rule] = found.get(rule, 0) + n
    return found


def _in_order(rows: counting.CountRows, rules: int) -> list[Counts]:
    return [Counts(*rows.get(number, (0, 0, 0))) for number in range(rules)]
