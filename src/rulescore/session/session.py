"""A session over one setting: evaluations, and the rows and statements behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from rulescore.counting.counted import AllCounts
from rulescore.counting.explain import (
    ShapeExplanation,
    explain,
    explain_formulas,
    formula_statement,
    rule_statement,
)
from rulescore.counting.formulas import tolerance_grid
from rulescore.counting.run import write_contributions
from rulescore.errors import Diagnostic, InputError
from rulescore.language.reading import RuleSource
from rulescore.language.syntax import Rule
from rulescore.logic import horn as conventions
from rulescore.logic.normal import normal_rule
from rulescore.logic.refutable import WHAT_TO_DECLARE, what_is_exempt
from rulescore.published.statements import DIALECT as PUBLISHED_DIALECT
from rulescore.published.statements import PublishedQuery, predicate_tables, published_queries
from rulescore.readers.rdf import USUAL_PREFIXES
from rulescore.scoring.evaluation import CONTRIBUTIONS_SCHEMA, Evaluation, ModelAccuracy
from rulescore.scoring.labels import Labels
from rulescore.scoring.pairs import PairCount
from rulescore.scoring.results import (
    DataSummary,
    GridRow,
    PredictionCounts,
    RuleResult,
    Run,
    TableCounts,
    Tolerance,
    run_of,
)
from rulescore.scoring.score import broken_hard_rules, few_cases, score, unmeasured_models, violated_denials
from rulescore.session.opening import raise_errors
from rulescore.session.violating import Violating
from rulescore.setting.choices import Convention
from rulescore.setting.model import FactStream, Setting, declaration
from rulescore.sql.facts import engine_version
from rulescore.sql.query import text


def labels_of(setting: Setting, of_facts: Sequence[Mapping[str, str]] = ()) -> Labels:
    """The names that people see: a setting's labels, and the prefixes of its facts and ontologies."""
    of_rules = [source.prefixes for source in setting.rules if isinstance(source, RuleSource)]
    prefixes: dict[str, str] = {}
    for declared in (*of_facts, *of_rules):
        prefixes = {**declared, **prefixes}
    return Labels(setting.labels, {**USUAL_PREFIXES, **prefixes} if prefixes else {})


class Session(Violating):
    """A loaded and checked setting: it gives evaluations, the rows behind them, and statements.

    Use it as a context manager: it holds a database connection. The options are the same as for `Opened`.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self.engine.close()

    @property
    def summary(self) -> DataSummary:
        tables = tuple(
            TableCounts(
                table.name, table.rows, table.hidden, tuple((name, declaration(kind)) for name, kind in table.inferred.items())
            )
            for table in self.data.tables.values()
        )
        return replace(self.data.loaded.summary, tables=tables)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(prediction.model for prediction in self.setting.predictions)

    @property
    def predictions(self) -> dict[str, PredictionCounts]:
        """How many predictions each model makes."""
        return self.data.loaded.predictions

    def knows_predicate(self, name: str, arity: int) -> bool:
        """Whether facts or predictions may have a predicate.

        Args:
            name: A predicate of facts, or of a table's target.
            arity: The number of its arguments.
        """
        key = self.prediction_keys.get(name)
        return (self.data.loaded.vocabulary.arity(name) if key is None else len(key) + 1) == arity

    def evaluate(self, *, contributions: bool | None = None) -> Evaluation:
        """Count every rule and score every model.

        Args:
            contributions: Whether to fetch them; None: if the engine can.

        Raises:
            InputError: If nothing declared could refute any rule.
        """
        if self.data.loaded.models:
            self.refuse_unrefutable()
        fetched = self.engine.capabilities.fetches_rows if contributions is None else contributions
        counts = self.counted.all(contributions=fetched)
        evaluation = self._evaluation(counts)
        if not evaluation.accuracy_results or not counts.hard:
            return evaluation
        from rulescore.accuracy.reading import right_predictions

        right = right_predictions(self.inputs.setting, self.counted.violating(counts.hard))
        return replace(evaluation, right_results=right)

    def audit(self) -> Evaluation:
        """Count every rule in the data alone."""
        evaluation = self._evaluation(AllCounts(self.counted.over_the_data(), {}, [], {}, CONTRIBUTIONS_SCHEMA.empty_table()))
        return replace(evaluation, warnings=(*evaluation.warnings, *self.told_pairs))

    def write_contributions(self, path: Path) -> None:
        """Write the contributions that `evaluate` counted.

        Args:
            path: A Parquet file or, if the engine itself writes, a folder of files.
        """
        write_contributions(self.engine, self.data.loaded, self.counted.names, path)

    def tolerance_grid(self, limits: Sequence[Tolerance]) -> list[GridRow]:
        """Count every rule that limits a distance within groups, for several tolerances.

        Args:
            limits: The tolerances, relative ones for rules that compare logarithms.
        """
        return tolerance_grid(self.formulas, self.program.rules, self.rules, limits)

    def incompatibilities(self) -> list[PairCount]:
        """Count, for every pair of observed predicates of one arity, the tuples that both hold of."""
        return self.evidence.pair_counts()

    def explain(self) -> list[ShapeExplanation]:
        """Show shapes, statements and estimated groundings. Counts nothing."""
        texts = [rule.text for rule in self.rules]
        return [*explain(self.counted.counter), *explain_formulas(self.formulas, texts), *self.sql_rules.explained()]

    def statement(self, rule_name: str) -> str:
        """Write the statement that counts one rule over the data, alone and readable.

        Args:
            rule_name: The name of the rule.
        """
        number = self._rule_number(rule_name)
        if number >= len(self.program.rules):
            return self.sql_rules.statement(number)
        if number not in self.data.horn_rules:
            return formula_statement(self.formulas, number)
        return rule_statement(self.counted.counter, self.refutations, normal_rule(self.program.rules[number]))

    def plan_of(self, statement: str) -> str:
        """Ask the engine for its own plan.

        Args:
            statement: A statement that `statement` returned.
        """
        return self.engine.explain(statement)

    def published_statements(self, rule_name: str, schema: str, model: str | None = None) -> list[tuple[PublishedQuery, str]]:
        """Write the published queries of a rule: over the data, and for one model or all.

        They read the tables that the facts came from or, if these have another layout, the tables that `rulescore load` makes.

        Args:
            rule_name: The name of a rule of Horn form.
            schema: The schema of the tables.
            model: Only this model's query.

        Raises:
            InputError: If the rule has no published queries.
        """
        models = self.data.loaded.models if model is None else (self.data.loaded.models[self._model_number(model)],)
        number = self._rule_number(rule_name)
        options = replace(self.setting.scoring, convention=Convention.APPENDIX)
        if number >= len(self.program.rules):
            raise InputError(
                Diagnostic("E251", f"`{rule_name}` is SQL already", helps=("only rules of Horn form have such queries",))
            )
        rule = self.program.rules[number]
        horn_rules = {0} if number in self.data.horn_rules else set[int]()
        raise_errors(list(conventions.unsuitable(options, [(rule_name, rule)], self.declared, horn_rules)))
        tables = self.data.published or predicate_tables(
            (p.name for p in self.data.loaded.vocabulary.predicates.values() if p.observed or p.predicted), schema
        )
        statements = published_queries(normal_rule(rule), self.declared, tables, (None, *models))
        return [(query, text(query.statement, PUBLISHED_DIALECT, pretty=True)) for query in statements]

    @cached_property
    def labels(self) -> Labels:
        """The names that people see: the setting's labels, and IRIs shortened with the prefixes of RDF files. Files of facts come
        first."""
        predicted = (source for model in self.setting.predictions for source in model.streams)
        streams = (source for source in (*self.setting.observed, *predicted) if isinstance(source, FactStream))
        return labels_of(self.setting, [stream.prefixes() for stream in streams if stream.prefixes is not None])

    def refuse_unrefutable(self) -> None:
        """Refuse rules if nothing can refute any of them, because every model would be perfect.

        Raises:
            InputError: If there are such rules and the setting does not allow them.
        """
        exempt = self.exempt
        if exempt and len(exempt) == len(self.rules) and not self.setting.scoring.allow_unrefutable:
            others = [warning for warning in self.warnings if warning.code != "W211"]
            raise InputError([_nothing_refutable(exempt, self.offered), *others])

    def _evaluation(self, counts: AllCounts) -> Evaluation:
        # The run has the digests of what was read, the truth included.
        accuracies = self._accuracies() if counts.models else ()
        run = self._run()
        needs, predictions = self.setting.scoring.hard_needs, self.data.loaded.predictions
        rule_results, model_results = score(self.rules, counts.dataset, counts.models, predictions, counts.findings, needs)
        suspicions = (
            *violated_denials(rule_results),
            *broken_hard_rules(rule_results),
            *few_cases(rule_results),
            *unmeasured_models(model_results),
        )
        return Evaluation(
            convention=self.setting.scoring.convention.value,
            rule_results=tuple(self._with_groups(number, result) for number, result in enumerate(rule_results)),
            model_results=model_results,
            summary=self.summary,
            warnings=(*self.warnings, *suspicions),
            contributions_table=counts.contributions,
            accuracy_results=accuracies,
            run=run,
            labels=self.labels,
        )

    def _accuracies(self) -> tuple[ModelAccuracy, ...]:
        if self.inputs.setting.truth is None:
            return ()
        from rulescore.accuracy.reading import accuracies

        return accuracies(self.inputs.setting)

    def _run(self) -> Run:
        rules = Counter(rule.span.source.name for rule in self.program.rules if rule.span)
        version = self.engine.query(engine_version())["version"][0].as_py()
        return run_of(self.setting, self.engine.dialect, version, self.inputs.read(rules))

    def _with_groups(self, number: int, result: RuleResult) -> RuleResult:
        formulas = self.formulas
        return replace(result, largest_group=formulas.largest_groups.get(number), tolerance=formulas.tolerances.get(number))


def _nothing_refutable(exempt: Sequence[tuple[str, Rule]], offered: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        "E265",
        "nothing declared could refute any rule, so every model would have 0 violations",
        notes=what_is_exempt(exempt),
        helps=(*(offered or (WHAT_TO_DECLARE,)), "`--allow-unrefutable`, or `allow_unrefutable=True`, scores all the same"),
    )
