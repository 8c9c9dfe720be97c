"""The whole pipeline: a setting in, an evaluation out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from pathlib import Path

import pyarrow as pa

from rulescore.accuracy.reading import accuracies
from rulescore.data.setting import Convention
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
from rulescore.engines import counting, evidence
from rulescore.engines.asking import Asked, Finder, RuleListing
from rulescore.engines.base import KeepingEngine, for_a_while
from rulescore.engines.explaining import (
    ShapeExplanation,
    expensive_rules,
    explain,
    explain_formulas,
    formula_statement,
    rule_statement,
)
from rulescore.engines.formula_listing import FormulaListing
from rulescore.engines.listing import HornListing, predicted_facts
from rulescore.engines.predicted import Predicted
from rulescore.engines.refusals import refuse_grid
from rulescore.engines.violation_counts import ViolationCounter
from rulescore.errors import Diagnostic, InputError, Severity, suggestion
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant, Rule
from rulescore.logic import conventions
from rulescore.logic.normal import normal_rule
from rulescore.logic.refutable import (
    WHAT_TO_DECLARE,
    what_is_exempt,
)
from rulescore.logic.tolerances import is_relative, log_distance, with_tolerance
from rulescore.opening import Opened, raise_errors
from rulescore.progress import warn_now
from rulescore.scoring.contributions import brought_contributions, write_contributions
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
    "W213": "a rule may have more groundings than can be counted in reasonable time",
    "E265": "predictions are to be scored, but nothing declared could refute any rule",
}

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


class Session(Opened):
    """A setting that is loaded and checked, and asked: for evaluations, for the rows behind them, for statements."""

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
    def summary(self) -> DataSummary:
        tables = tuple(TableCounts(table.name, table.rows, table.hidden) for table in self._tables.values())
        return replace(self._loaded.summary, tables=tables)

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
        raise_errors(list(conventions.unsuitable(options, [(rule_name, rule)], self.ways, fast)))
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
        together = {(left, right): n for left, right, n in evidence.together_counts(self._engine, self._loaded)}
        tuples = evidence.tuples_with_facts(self._engine, self._loaded)
        observed = sorted((p for p in self._loaded.vocabulary.predicates.values() if p.observed), key=lambda p: p.name)
        return [
            PairCount(
                left.name, right.name, together.get((left.name, right.name), 0), left.observed, right.observed, tuples[left.arity]
            )
            for left, right in combinations(observed, 2)
            if left.arity == right.arity
        ]

    def _dataset(self) -> list[Counts]:
        self._warn_of_many()
        found = self._formulas.sorted_counts()
        further = chain(self._formulas.dataset_statements(found), self._sql_rules.dataset_statements())
        return _in_order(found | counting.dataset_counts(self.counter, further), len(self.rules))

    def _warn_of_many(self) -> None:
        """Before a run that may take hours."""
        if self._warned:
            return
        self._warned = True
        found = expensive_rules(self.counter)
        if found:
            warn_now(_too_many(found, self._names))

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


def _too_many(found: Mapping[int, int], names: Sequence[str]) -> Diagnostic:
    most = sorted(found, key=lambda rule: -found[rule])
    listed = tuple(f"`{names[rule]}`: about {found[rule]:,}" for rule in most[:3])
    rules = "1 rule may have" if len(found) == 1 else f"{len(found):,} rules may have"
    return Diagnostic(
        "W213",
        f"{rules} more than a thousand million groundings: counting may take hours and all memory",
        notes=(*listed, *([f"and {len(most) - 3:,} more"] if len(most) > 3 else ())),
        helps=("`--explain` shows estimates; `--timeout` and `--memory-limit` bound the run, Ctrl-C ends it",),
        severity=Severity.WARNING,
    )


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


def _by_rule(counts: Mapping[tuple[int, int | None], int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for (rule, _), n in counts.items():
        found[rule] = found.get(rule, 0) + n
    return found


def _in_order(rows: counting.CountRows, rules: int) -> list[Counts]:
    return [Counts(*rows.get(number, (0, 0, 0))) for number in range(rules)]
