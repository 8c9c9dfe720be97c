"""The whole pipeline: a setting in, an evaluation out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

from rulescore.counted import Counted
from rulescore.counting import horn
from rulescore.counting.contributions import brought_contributions, write_contributions
from rulescore.counting.explain import ShapeExplanation, explain, explain_formulas, formula_statement, rule_statement
from rulescore.counting.grid import tolerance_grid
from rulescore.errors import Diagnostic, InputError, meant
from rulescore.language.syntax import Atom, Rule
from rulescore.logic import conventions
from rulescore.logic.normal import normal_rule
from rulescore.logic.refutable import WHAT_TO_DECLARE, what_is_exempt
from rulescore.opening import open_session, raise_errors
from rulescore.scoring.accuracy import ModelAccuracy, RightPredictions
from rulescore.scoring.cautions import broken_hard_rules, few_cases
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA, Evaluation
from rulescore.scoring.pairs import PairCount
from rulescore.scoring.results import Counts, PredictionFindings, RuleKind, RuleResult
from rulescore.scoring.run import Run, run_of
from rulescore.scoring.score import kind_of, score, unmeasured_models, violated_denials
from rulescore.scoring.summary import DataSummary, PredictionCounts, TableCounts
from rulescore.scoring.tolerances import GridRow, Tolerance
from rulescore.scoring.violation import CountedBy, CountedViolations, Explained, Fact, PredictedKey, Violation, Violations
from rulescore.setting.choices import Convention
from rulescore.setting.model import Setting
from rulescore.setting.request import declaration
from rulescore.sql.facts import engine_version
from rulescore.sql.published import DIALECT as PUBLISHED_DIALECT
from rulescore.sql.published import PublishedQuery, predicate_tables, published_queries
from rulescore.sql.query import text
from rulescore.violating import Violating

__all__ = ["GridRow", "PairCount", "Session", "ShapeExplanation", "Tolerance", "Violation", "Violations"]


class Session:
    """A loaded and checked setting that answers: evaluations, the rows behind them, statements. Use it as a context manager: it
    holds a database connection. The options are those of `open_session`."""

    def __init__(self, setting: Setting, *, sorted_plans: bool = True, horn: bool = True, grid: bool = False) -> None:
        self.opened = opened = open_session(setting, sorted_plans=sorted_plans, horn=horn, grid=grid)
        self.setting, self.program, self.rules = opened.setting, opened.program, opened.rules
        self.refutations, self.plan = opened.refutations, opened.plan
        self.warnings, self.told_pairs = opened.warnings, opened.told_pairs
        self._engine, self._loaded = opened.engine, opened.data.loaded
        self._names = [rule.name for rule in self.rules]
        self._counted = Counted(opened)
        self._violating = Violating(opened, self._counted)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._engine.close()

    @property
    def counter(self) -> horn.Counter:
        """The plan with its parameters loaded."""
        return self._counted.counter

    @property
    def summary(self) -> DataSummary:
        tables = tuple(
            TableCounts(
                table.name, table.rows, table.hidden, tuple((name, declaration(kind)) for name, kind in table.inferred.items())
            )
            for table in self.opened.data.tables.values()
        )
        return replace(self._loaded.summary, tables=tables)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(one.model for one in self.setting.predictions)

    @property
    def predictions(self) -> dict[str, PredictionCounts]:
        """How many predictions each model makes."""
        return self._loaded.predictions

    @property
    def prediction_keys(self) -> dict[str, tuple[str, ...]]:
        """The key columns of tables whose targets are predicted, by the predicate of the predictions."""
        return self._violating.keys

    def knows_predicate(self, name: str, arity: int) -> bool:
        """Whether facts or predictions may have a predicate: one of facts, or of a table's target."""
        key = self.prediction_keys.get(name)
        return (self._loaded.vocabulary.arity(name) if key is None else len(key) + 1) == arity

    def evaluate(self, *, contributions: bool | None = None) -> Evaluation:
        """Dataset rates and every model's scores. `contributions`: whether to fetch them; None: if the engine can."""
        if self._loaded.models:
            self.refuse_unrefutable()
        dataset, models = self._counted.dataset(), self._counted.models()
        needs = self.setting.scoring.hard_needs
        kinds = (kind_of(rule, counts, needs)[0] for rule, counts in zip(self.rules, dataset, strict=True))
        hard = [number for number, kind in enumerate(kinds) if kind is RuleKind.HARD]
        findings = self._counted.findings(hard)
        wanted = self._engine.capabilities.fetches_rows if contributions is None else contributions
        brought = brought_contributions(self._engine, self._loaded, self._names) if wanted else None
        found = self._evaluation(dataset, models, brought, findings)
        return replace(found, right_results=self._right(hard)) if found.accuracy_results and hard else found

    def audit(self) -> Evaluation:
        """Dataset rates only."""
        found = self._evaluation(self._counted.dataset(), {}, CONTRIBUTIONS_SCHEMA.empty_table(), {})
        return replace(found, warnings=(*found.warnings, *self.told_pairs))

    def write_contributions(self, path: Path) -> None:
        """Write the contributions that `evaluate` counted as a Parquet file or, if the engine writes them, as files of a folder."""
        write_contributions(self._engine, self._loaded, self._names, path)

    def tolerance_grid(self, limits: Sequence[Tolerance]) -> list[GridRow]:
        """Dataset counts of every rule that limits a distance within groups, for each tolerance of its kind."""
        return tolerance_grid(self.opened.formulas, self.program.rules, self.rules, limits)

    def incompatibilities(self) -> list[PairCount]:
        """Every pair of observed predicates of one arity, with the number of tuples that both hold of."""
        return self.opened.evidence.pair_counts()

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
        """Groundings whose head is refuted: of one model, of several or, if `model` is None, of the data; of all rules or one; the
        first `limit` or a sample. The total counts all, however many the list has."""
        asked = self._violating.asked(self._model_numbers(model), prediction)
        return self._violating.listed(self._rule_numbers(rule), asked, every=rule is None, limit=limit, sample=sample, seed=seed)

    def violation_counts(
        self, by: str, *, rule: str | None = None, model: str | Sequence[str] | None = None
    ) -> list[CountedViolations]:
        """How many violations there are of each rule, predicate, refuter, entity or prediction, the most first."""
        asked = self._violating.asked(self._model_numbers(model), None)
        return self._violating.counted(CountedBy(by), self._rule_numbers(rule), asked)

    def explained(self, prediction: Atom | PredictedKey, model: str | None = None) -> Explained:
        """What one prediction, given as a fact or by the key of its row, contributes to every rule."""
        number = self._violating.number(prediction, self._model_of(prediction, model))
        makers = self._violating.makers(number)
        models = [self._loaded.models[one] for one in makers]
        if model is not None and model not in models:
            self._model_number(model)
            helps = (f"it is predicted by {', '.join(f'`{one}`' for one in models)}",)
            raise InputError(Diagnostic("E263", f"`{model}` does not predict it", helps=helps))
        return self._violating.explained(number, makers)

    def predicted_fact(self, key: PredictedKey, model: str | None) -> Fact:
        """The fact that a model predicts for a row."""
        return self._violating.fact(self._violating.number(key, self._model_of(key, model)))

    def explain(self) -> list[ShapeExplanation]:
        """Shapes, statements and estimated groundings; nothing is counted."""
        texts = [rule.text for rule in self.rules]
        return [*explain(self.counter), *explain_formulas(self.opened.formulas, texts), *self.opened.sql_rules.explained()]

    def statement(self, rule_name: str) -> str:
        """The statement that counts one rule over the data, alone and readable."""
        number = self._rule_number(rule_name)
        if number >= len(self.program.rules):
            return self.opened.sql_rules.statement(number)
        if number not in self.opened.data.horn_rules:
            return formula_statement(self.opened.formulas, number)
        return rule_statement(self.counter, self.refutations, normal_rule(self.program.rules[number]))

    def plan_of(self, statement: str) -> str:
        """The engine's own plan for a statement that `statement` returned."""
        return self._engine.explain(statement)

    def published_statements(self, rule_name: str, schema: str, model: str | None = None) -> list[tuple[PublishedQuery, str]]:
        """The published queries of a rule on the published layout: over the data, and for one model or all. They read the tables
        that the facts came from or, if these are not in that layout, the tables that `rulescore load` makes."""
        models = self._loaded.models if model is None else (self._loaded.models[self._model_number(model)],)
        number = self._rule_number(rule_name)
        options = replace(self.setting.scoring, convention=Convention.APPENDIX)
        if number >= len(self.program.rules):
            raise InputError(
                Diagnostic("E251", f"`{rule_name}` is SQL already", helps=("only rules of Horn form have such queries",))
            )
        rule = self.program.rules[number]
        horn_rules = {0} if number in self.opened.data.horn_rules else set[int]()
        raise_errors(list(conventions.unsuitable(options, [(rule_name, rule)], self.opened.declared, horn_rules)))
        tables = self.opened.data.published or predicate_tables(
            (p.name for p in self._loaded.vocabulary.predicates.values() if p.observed or p.predicted), schema
        )
        found = published_queries(normal_rule(rule), self.opened.declared, tables, (None, *models))
        return [(query, text(query.statement, PUBLISHED_DIALECT, pretty=True)) for query in found]

    def refuse_unrefutable(self) -> None:
        """Raise if no rule can be refuted: every model would be perfect."""
        exempt = self.opened.exempt
        if exempt and len(exempt) == len(self.rules) and not self.setting.scoring.allow_unrefutable:
            others = [warning for warning in self.warnings if warning.code != "W211"]
            raise InputError([_nothing_refutable(exempt, self.opened.offered), *others])

    def _rule_numbers(self, name: str | None) -> Sequence[int]:
        return range(len(self.rules)) if name is None else [self._rule_number(name)]

    def _rule_number(self, name: str) -> int:
        return _number("rule", name, self._names)

    def _model_numbers(self, names: str | Sequence[str] | None) -> list[int] | None:
        if names is None:
            return None
        return [self._model_number(one) for one in ([names] if isinstance(names, str) else names)]

    def _model_number(self, name: str) -> int:
        return _number("model", name, self._loaded.models)

    def _model_of(self, prediction: Atom | PredictedKey, model: str | None) -> int | None:
        """The model that tells which prediction a key means; a fact needs none."""
        return None if model is None or isinstance(prediction, Atom) else self._model_number(model)

    def _evaluation(
        self,
        dataset: list[Counts],
        models: dict[str, list[Counts]],
        contributions: pa.Table | None,
        findings: Mapping[str, PredictionFindings],
    ) -> Evaluation:
        rule_results, model_results = score(
            self.rules, dataset, models, self._loaded.predictions, findings, self.setting.scoring.hard_needs
        )
        return Evaluation(
            convention=self.setting.scoring.convention.value,
            rule_results=tuple(self._with_groups(number, result) for number, result in enumerate(rule_results)),
            model_results=model_results,
            summary=self.summary,
            warnings=(
                *self.warnings,
                *violated_denials(rule_results),
                *broken_hard_rules(rule_results),
                *few_cases(rule_results),
                *unmeasured_models(model_results),
            ),
            contributions_table=contributions,
            accuracy_results=self._accuracies() if models else (),
            run=self._run(),
        )

    def _accuracies(self) -> tuple[ModelAccuracy, ...]:
        if self.opened.inputs.setting.truth is None:
            return ()
        from rulescore.accuracy.reading import accuracies

        return accuracies(self.opened.inputs.setting)

    def _right(self, hard: Sequence[int]) -> tuple[RightPredictions, ...]:
        """How many predictions are right, of those that violate one of the hard rules and of the others."""
        from rulescore.accuracy.violating import right_predictions

        return right_predictions(self.opened.inputs.setting, self._counted.violating(hard))

    def _run(self) -> Run:
        rules = Counter(rule.span.source.name for rule in self.program.rules if rule.span)
        version = self._engine.query(engine_version())["version"][0].as_py()
        return run_of(self.setting, self._engine.dialect, version, self.opened.inputs.read(lambda source: rules[source.name]))

    def _with_groups(self, number: int, result: RuleResult) -> RuleResult:
        formulas = self.opened.formulas
        return replace(result, largest_group=formulas.largest_groups.get(number), tolerance=formulas.tolerances.get(number))


def _number(what: str, name: str, known: Sequence[str]) -> int:
    if name not in known:
        helps = meant(name, known) or (f"there are {', '.join(f'`{k}`' for k in known[:10])}",)
        raise InputError(Diagnostic("E261", f"there is no {what} `{name}`", helps=helps))
    return known.index(name)


def _nothing_refutable(exempt: Sequence[tuple[str, Rule]], offered: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        "E265",
        "nothing declared could refute any rule, so that every model would have 0 violations",
        notes=what_is_exempt(exempt),
        helps=(*(offered or (WHAT_TO_DECLARE,)), "`--allow-unrefutable`, or `allow_unrefutable=True`, scores all the same"),
    )
