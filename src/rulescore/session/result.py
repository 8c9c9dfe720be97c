"""The result of `score` and `audit`: an evaluation that remembers its setting, and can ask further questions of it."""

from __future__ import annotations

import json
import sys
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rulescore.comparison.comparing import compare
from rulescore.comparison.listings import ModelComparison
from rulescore.errors import Diagnostic, InputError, RulescoreWarning, ticked
from rulescore.errors.texts import visible
from rulescore.language.parser import parse_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.reporting.findings import Explanation, explanation
from rulescore.reporting.gates import first_violations
from rulescore.reporting.listing import Appearance, CellKind, Format, Shown, TableChoice, counted, shown
from rulescore.reporting.render import render, short_html, shown_table
from rulescore.reporting.saved import load, save
from rulescore.reporting.tables import measure_cell
from rulescore.reporting.violations import PrintedTable, ResultTable, ViolationTable, count_table, violation_table
from rulescore.scoring.curve import CurveOver, curve_over, curve_points, curve_table
from rulescore.scoring.evaluation import Evaluation, Which
from rulescore.scoring.expected import expected_violations
from rulescore.scoring.results import ModelResult
from rulescore.scoring.score import UNMEASURED
from rulescore.scoring.violation import CountedBy, PredictedKey
from rulescore.session.session import Session
from rulescore.setting.model import Setting
from rulescore.values import Value
from rulescore.waiting import shown_in_notebook, warning

if TYPE_CHECKING:
    # We load Altair and Jinja2 late, because loading takes long, and Altair is optional.
    from rulescore.mending.rerank import Reranked
    from rulescore.plots.figures import Plots
    from rulescore.readers.labels import LabelsLike
    from rulescore.report.make import Report
    from rulescore.verdicts.table import Verdicts


_MOST_MODELS = 3


class _Asked(ABC):
    """The questions that a result and an open session both answer."""

    __slots__ = ()

    @abstractmethod
    def _loaded(self) -> AbstractContextManager[Session]: ...

    def violations(
        self,
        *,
        model: str | None = None,
        rule: str | None = None,
        prediction: object = None,
        dataset: bool = False,
        by: str | None = None,
        limit: int | None = 1000,
        sample: int | None = None,
        seed: int = 0,
    ) -> ViolationTable:
        """List the rows behind the counts. A result reads them from the data again.

        Args:
            model: Only violations by this model; None for all models, or for the data if there are none.
            rule: Only violations of this rule.
            prediction: Only violations by this prediction, in any form that `explain` takes.
            dataset: Violations in the data, whatever models predict.
            by: Count by "rule", "predicate", "refuter", "entity" or "prediction" instead of listing.
            limit: The most rows to list; None for all.
            sample: How many rows to draw at random instead of listing the first.
            seed: The seed of the sample.

        Returns:
            The violations; `total` counts all of them.

        Raises:
            InputError: If there is no such rule, model or prediction.
        """
        _refuse_none(limit, sample)
        with self._loaded() as session:
            models = list(session.predictions)
            source = None if dataset or not models else [model] if model is not None else models
            if by is not None:
                counts = session.violation_counts(_counted_by(by), rule=rule, model=source)
                total = session.violations(rule=rule, model=source, limit=0).total
                return count_table(by, counts, session.prediction_keys, total, limit)
            atom = None if prediction is None else _fact_of(session, prediction, model)
            return violation_table(
                session.violations(rule=rule, model=source, prediction=atom, limit=limit, sample=sample, seed=seed), session.labels
            )

    def explain(self, prediction: object, *, model: str | None = None) -> Explanation:
        """Tell which rules a prediction breaks, with the facts, which rules it meets, and which it never touches.

        Args:
            prediction: A tuple (head, relation, tail), an atom as text, a row's key, or a mapping such as a row of violations.
            model: A model that must have made it; None for any.

        Returns:
            The rules by what the prediction does to them.

        Raises:
            InputError: If no model makes this prediction.
        """
        with self._loaded() as session:
            return explanation(session.explained(_asked(session, prediction), model), [rule.name for rule in session.rules])


@dataclass(frozen=True, slots=True, repr=False)
class Result(_Asked, Evaluation):
    """An evaluation and its setting.

    A result holds numbers only. To list violations, it reads the data again, by the session that made it, while that is open, or
    else by a new one.

    Attributes:
        convention: The way of counting.
        rule_results: Each rule's counts, over the data and under each model.
        model_results: Each model's scores, and what became of its predictions.
        summary: What was read: facts, predicates, constants, tables.
        warnings: What deserves a look.
        contributions_table: `contributions`, or None if this result does not have them.
        run: How the result came about: version, date, engine, options, inputs. None if somebody put it together by hand.
        accuracy_results: Each model's accuracy; none without a truth.
        right_results: Each model's right predictions; none without a truth.
        labels: Names that people see in place of ids.
        setting: The setting that was scored. None for a result that was read from a file.
        opened: The session that made the result.
    """

    setting: Setting | None = field(default=None, compare=False)
    opened: OpenSession | None = field(default=None, compare=False)

    @classmethod
    def of(cls, evaluation: Evaluation, setting: Setting | None, opened: OpenSession | None = None) -> Self:
        """The result of an evaluation.

        Args:
            evaluation: The numbers.
            setting: The setting that was evaluated.
            opened: The session that did it.
        """
        values = {field.name: getattr(evaluation, field.name) for field in fields(evaluation)}
        return cls(**values, setting=setting, opened=opened)

    def __repr__(self) -> str:
        models = self.model_results
        if not models:
            broken = sum(rule.dataset.refuted > 0 for rule in self.rule_results)
            return f"<Result of {counted(len(self.rule_results), 'rule')}; the data break {f'{broken:,}' if broken else 'none'}>"
        scores = [f"{model.name} {_score(model)}" for model in models[:_MOST_MODELS]] + ["…"] * (len(models) > _MOST_MODELS)
        what = f"{counted(len(self.rule_results), 'rule')} and {counted(len(models), 'model')}"
        return visible(f"<Result of {what}: {'; '.join(scores)}>")

    def _repr_html_(self) -> str:
        return short_html(self)

    @property
    def rules(self) -> PrintedTable:
        """One row per rule and model; without models one row per rule, with nulls for the model's columns."""
        return PrintedTable(self.table(Which.RULES), lambda: short_html(self, Shown.RULES))

    @property
    def models(self) -> PrintedTable:
        """One row per model, with its accuracy if a truth was given."""
        return PrintedTable(self.table(Which.MODELS), lambda: short_html(self, Shown.MODELS))

    @property
    def accuracy(self) -> ResultTable:
        """One row per model, metric and part of what it was asked: a direction, a class, or all."""
        table = self.table(Which.ACCURACY)
        return PrintedTable(table, lambda: short_html(self, Shown.ACCURACY)) if self.accuracy_results else ResultTable(table)

    def to_text(self, table: str | None = None, *, detail: bool = False, columns: Sequence[str] = (), width: int = 100) -> str:
        """Render what `rulescore score` prints.

        Args:
            table: `models`, `published`, `rules`, `violations` or `accuracy` alone; None for the short listing.
            detail: Show everything.
            columns: Only these columns of the table, in this order; of the models unless `table` names another.
            width: The width of the text in columns.
        """
        look = TableChoice(tuple(columns))
        return self._rendered(Format.TABLE, table, detail=detail, choice=look, appearance=Appearance(width))

    def to_markdown(self, table: str | None = None, *, detail: bool = False, columns: Sequence[str] = ()) -> str:
        """Render what `to_text` renders, as GitHub's pipe tables.

        Args:
            table: `models`, `published`, `rules`, `violations` or `accuracy` alone; None for the short listing.
            detail: Show everything.
            columns: Only these columns of the table, in this order; of the models unless `table` names another.
        """
        return self._rendered(Format.MARKDOWN, table, detail=detail, choice=TableChoice(tuple(columns)))

    def to_latex(
        self, table: str = Shown.MODELS, *, columns: Sequence[str] = (), caption: str | None = None, label: str | None = None
    ) -> str:
        """Render one table for the packages booktabs and longtable.

        Args:
            table: `models`, `published`, `rules`, `violations` or `accuracy`.
            columns: Only these columns, in this order.
            caption: The caption, as text; None for the table's title.
            label: The label; None for `tab:rulescore-…`.
        """
        return self._rendered(Format.LATEX, table, choice=TableChoice(tuple(columns), caption, label))

    def to_csv(self, table: str = Shown.RULES, *, spreadsheet: bool = False) -> str:
        """Render one table, exact.

        Args:
            table: `models`, `published`, `rules`, `violations` or `accuracy`.
            spreadsheet: Put an apostrophe before text that a spreadsheet would compute.
        """
        return self._rendered(Format.CSV, table, spreadsheet=spreadsheet)

    def to_json(self, table: str | None = None) -> str:
        """Render the whole result, or one table.

        Args:
            table: `models`, `published`, `rules`, `violations` or `accuracy`; None for the whole result.
        """
        return self._rendered(Format.JSON, table)

    def _rendered(self, form: Format, table: str | None, **options: Any) -> str:
        chosen = None if table is None else shown_table(table, Shown)
        if chosen is not Shown.VIOLATIONS:
            return render(self, form, table=chosen, **options)
        with self.session() as session:
            return first_violations(
                session,
                session.models,
                form,
                **{name: value for name, value in options.items() if name not in {"detail", "choice"}},
            )

    def save(self, path: str | Path) -> tuple[Path, ...]:
        """Write the result to a JSON file and its contributions as Parquet into the same folder.

        Args:
            path: The JSON file. `rulescore.load_result` reads both.

        Returns:
            The files that were written. We read input files once more, to compute their digests.
        """
        return save(self, Path(path))

    def compare(
        self,
        other: Evaluation | str | Path | None = None,
        *,
        models: str | Sequence[str] = (),
        against: str | None = None,
        level: float = 0.95,
        draws: int = 1000,
        seed: int = 0,
    ) -> ModelComparison:
        """Compare the models of this result with each other, or with the models of the same name in another result.

        Args:
            other: Another result, or the path of a saved one; None compares the models of this one.
            models: Only these; a model alone has no difference.
            against: Compare all other models of this result with this one; None compares each with each.
            level: The level of the intervals.
            draws: How many times to draw predictions for the intervals.
            seed: The seed of the draws.

        Returns:
            Scores with intervals, their differences, and what changed.

        Raises:
            InputError: If `other` is no result, or there is no such model.
        """
        second = self._compared_with(other)
        chosen = (models,) if isinstance(models, str) else models
        if not isinstance(chosen, Sequence):
            raise InputError(Diagnostic("E512", f"`models` is {kind_of(models)}", helps=('write `models=["…"]`',)))
        comparison = compare(self, second, models=chosen, against=against, level=level, draws=draws, seed=seed)
        _warn(comparison.warnings)
        return ModelComparison.of(comparison)

    def _compared_with(self, other: object) -> Evaluation | None:
        if other is None or isinstance(other, Evaluation):
            return other
        names = [model.name for model in self.model_results]
        if isinstance(other, str | Path) and (str(other) not in names or Path(other).exists()):
            return load(Path(other))
        meant = [other] if isinstance(other, str) else names
        helps = (
            "give another result, or the path of a saved one: `result.compare(other)`",
            f"models of this result are chosen by `models={json.dumps(meant, ensure_ascii=False)}`",
        )
        what = f"a model: `{other}`" if isinstance(other, str) else kind_of(other)
        raise InputError(Diagnostic("E512", f"`other` is {what}", helps=helps))

    def verdicts(self, *, all_rules: bool = False, link: str | Path = "exact") -> Verdicts:
        """Judge every row of the predictions: the user's rows, in their order and with all their columns.

        Args:
            all_rules: Give a sentence for every rule that a row breaks.
            link: How names of predictions are linked to names of the facts: "exact", "casefold", or a file of pairs.

        Returns:
            The rows with `verdict`, `rule`, `kind` and `because`. Ranks and queries choose none: every row has a verdict.

        Raises:
            InputError: If this result was read from a file, or its predictions are in a database.
        """
        from rulescore.verdicts.judging import judge
        from rulescore.verdicts.table import verdicts_table

        return verdicts_table(judge(self._known_setting(), link=link, all_rules=all_rules), all_rules=all_rules)

    def curve(self, over: str = CurveOver.RANK, at: Sequence[int | float] | None = None) -> Any:
        """Score the best k predictions of each query, for every k.

        Args:
            over: "rank"; or "score", for predictions that have a score or more.
            at: Only these k or scores.

        Returns:
            An Arrow table. It has only what `top_k` has kept: `score(…, top_k="all")` keeps all.
        """
        chosen = curve_over(over)
        return curve_table(curve_points(self, chosen, at), chosen)

    def expected_violations(self) -> Any:
        """Weigh violations by the scores of the predictions, taken as probabilities.

        Returns:
            An Arrow table with `refuted` and `evaluable` for each model and rule, as they are expected, of what `top_k` has kept.

        Raises:
            InputError: If some prediction has no score, or one that is no probability.
        """
        return expected_violations(self)

    def report(
        self,
        path: str | Path | None = None,
        *,
        rows: int = 20_000,
        labels: LabelsLike | None = None,
        title: str | None = None,
    ) -> Report:
        """A page for people who have only a browser: who breaks which rules, whether it matters, and the violations behind it.

        Args:
            path: The HTML file to write; without it the report is returned only. A notebook shows it.
            rows: How many violations it holds at most; of more, some of every rule and model are drawn at random.
            labels: Names for ids, as a mapping or as files of two columns; before the labels of the result.
            title: Its title.

        Returns:
            The report.
        """
        from rulescore.readers.labels import labels_of
        from rulescore.report.make import ReportChoice, report_of

        names = labels_of(labels)
        knows_data = self.setting is not None or (self.opened is not None and self.opened.is_open)
        with self.session() if knows_data else nullcontext() as session:
            report = report_of(self, session, ReportChoice(title, rows, names))
        if path is not None:
            report.save(path)
        return report

    def rerank(
        self,
        lists: Any = None,
        *,
        reasons: Iterable[str] | None = None,
        valid: Any = None,
        tune: Any = None,
        promote: bool = False,
        trust_declared: bool = False,
    ) -> Reranked:
        """Move answers that rules or declarations forbid behind the others, and measure what that costs and gains.

        Args:
            lists: A file, frame or arrays of ranked answers; the file of this result's only model unless given.
            reasons: What is reason enough: "breaks a rule", "pair is taken", "contradicts a conclusion", "reflexive"; all unless
                given.
            valid: True facts that are neither observed nor held out, to count the price with.
            tune: A file or frame of answers to the queries of validation facts; with them, soft rules count as well.
            promote: Whether conclusions of hard rules come first.
            trust_declared: Whether a rule that is declared hard is hard although the data contradict it.

        Returns:
            The lists, the price, and the figures before and after.

        Raises:
            InputError: The lists cannot be ordered, or no reason could speak against any answer.
        """
        from rulescore.mending.list_files import read_lists
        from rulescore.mending.reasons import AGAINST
        from rulescore.mending.rerank import own_lists, rerank

        with self.session() as session:
            setting = session.inputs.setting
        return rerank(
            setting,
            own_lists(setting) if lists is None else read_lists(lists),
            reasons=AGAINST if reasons is None else reasons,
            valid=valid,
            tune=None if tune is None else read_lists(tune),
            promote=promote,
            trust_declared=trust_declared,
        )

    @property
    def plot(self) -> Plots:
        """Figures, as charts of Altair: `dataset_rates()`, `rules()`, `heat_map()`, `models()`, `tradeoff()`, `curve()`."""
        from rulescore.plots.figures import Plots

        return Plots(self)

    def _loaded(self) -> AbstractContextManager[Session]:
        return self.session()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The setting, loaded."""
        if self.opened is not None and self.opened.is_open:
            yield self.opened.session
        else:
            with Session(self._known_setting()) as session:
                yield session

    def _known_setting(self) -> Setting:
        if self.setting is None:
            helps = ("score again, or open the project: `rulescore.open`",)
            raise InputError(Diagnostic("E502", "this result was read from a file and does not know its data", helps=helps))
        return self.setting


def load_result(path: str | Path) -> Result:
    """Read a saved result. It does not know its data.

    Args:
        path: The file, or the folder that `rulescore score --output` wrote.

    Raises:
        InputError: If there is no such file, or it is no saved result.
    """
    if not isinstance(path, str | PathLike):
        helps = ('name the file or the folder: `rulescore.load_result("result.json")`',)
        raise InputError(Diagnostic("E512", f"`path` is {kind_of(path)}", helps=helps))
    return Result.of(load(Path(path)), None)


def kind_of(value: object) -> str:
    """A word for a given value: the name of its type, such as an int, a list."""
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _score(model: ModelResult) -> str:
    """A model's two scores on a line, or the word that stands for them."""
    cells = [measure_cell(measure) for measure in (model.hard_score, model.soft_score)]
    return UNMEASURED if model.unmeasured else "RVS hard {}, RVS soft {}".format(*(shown(cell, CellKind.SCORE) for cell in cells))


class OpenSession(_Asked):
    """A setting that stays loaded while you ask several questions.

    Use it as a context manager: it holds a database connection.

    Args:
        setting: The session that `rulescore.open` makes of facts, predictions, rules and options.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._thread = threading.get_ident()
        with shown_in_notebook():
            self._session: Session | None = Session(setting)

    def score(self, *, contributions: bool | str | Path | None = None) -> Result:
        """Score as `rulescore.score` does, with the arguments the session was opened with.

        Args:
            contributions: True fetches each prediction's contribution (the default, except on Spark); a path writes Parquet.

        Raises:
            InputError: If nothing could refute any rule, or the path cannot be written.
        """
        path = None if contributions is None or isinstance(contributions, bool) else Path(contributions)
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError(_unwritable(path, f"there is no folder `{path.parent}`"))
        with shown_in_notebook(), warning(lambda problem: _warn([problem])):
            evaluation = self.session.evaluate(contributions=contributions if isinstance(contributions, bool) else None)
            if path is not None:
                try:
                    self.session.write_contributions(path)
                except (OSError, ValueError) as error:
                    raise InputError(_unwritable(path, (getattr(error, "strerror", None) or str(error)).lower())) from error
        return self._result(evaluation)

    def audit(self) -> Result:
        """Count as `rulescore.audit` does, with the arguments the session was opened with."""
        with shown_in_notebook(), warning(lambda problem: _warn([problem])):
            evaluation = self.session.audit()
        return self._result(evaluation)

    def _result(self, evaluation: Evaluation) -> Result:
        _warn(evaluation.warnings)
        return Result.of(evaluation, self.setting, self)

    def _loaded(self) -> AbstractContextManager[Session]:
        return nullcontext(self.session)

    @property
    def is_open(self) -> bool:
        """Whether it can be asked."""
        return self._session is not None

    @property
    def session(self) -> Session:
        """The loaded setting. InputError if this session is closed, or another thread opened it."""
        if self._session is None:
            raise InputError(Diagnostic("E541", "the session is closed", helps=("open another one with `rulescore.open`",)))
        if self._thread != threading.get_ident():
            helps = ("open one in each thread with `rulescore.open`",)
            raise InputError(Diagnostic("E541", "this session was opened by another thread", helps=helps))
        return self._session

    def close(self) -> None:
        """Free the memory and the connection. Results stay as they are."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _unwritable(path: Path, reason: str) -> Diagnostic:
    return Diagnostic("E601", f"contributions cannot be written to `{path}`", notes=(reason,))


def _warn(problems: Iterable[Diagnostic]) -> None:
    """Gives Python warnings, at the line outside this package that asked for a result."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == "rulescore":
        level, frame = level + 1, frame.f_back
    for problem in problems:
        warnings.warn(str(problem), RulescoreWarning, stacklevel=level)


def _refuse_none(limit: int | None, sample: int | None) -> None:
    for what, number in (("limit", limit), ("sample", sample)):
        if number is not None and number < 1:
            helps = ("ask for at least 1", *(("`limit=None` lists all",) if what == "limit" else ()))
            raise InputError(Diagnostic("E402", f"`{what}` is {number}, so nothing would be listed", helps=helps))


def _counted_by(by: str) -> CountedBy:
    if by not in set(CountedBy):
        known = ticked(CountedBy)
        raise InputError(Diagnostic("E402", f"violations are not counted by `{by}`", notes=(f"they are counted by {known}",)))
    return CountedBy(by)


def _fact_of(session: Session, prediction: object, model: str | None) -> Atom:
    asked = _asked(session, prediction)
    if isinstance(asked, Atom):
        return asked
    fact = session.predicted_fact(asked, model)
    return Atom(fact.predicate, tuple(Constant(value) for value in fact.values if value is not None))


def _asked(session: Session, prediction: object) -> Atom | PredictedKey:
    """A fact, or the key of a row whose target is predicted. A text counts as a fact if it is written like a fact. A mapping is a
    row of violations, or one of the user's rows."""
    if isinstance(prediction, str) and ("(" in prediction or not session.prediction_keys):
        return parse_atom(prediction)
    if isinstance(prediction, Mapping):
        keys = [key for key in session.prediction_keys.values() if all(prediction.get(column) is not None for column in key)]
        columns = keys[0] if len(keys) == 1 else ("head", "relation", "tail")
        return _asked(session, tuple(prediction.get(column) for column in columns))
    values = prediction if isinstance(prediction, tuple) else (prediction,)
    plain = tuple(value.item() if hasattr(value, "item") else value for value in values)
    if any(not isinstance(value, Value) for value in plain):
        what = f"`{prediction}`" if isinstance(prediction, tuple) else kind_of(prediction)
        helps = ('give a fact, `("5", "wife", "76")` or "wife(5, 76)", or the key of a row whose target is predicted',)
        raise InputError(Diagnostic("E262", f"{what} names no prediction", helps=helps))
    match plain:
        case (head, str() as relation, tail) if session.knows_predicate(relation, 2):
            return Atom(relation, (Constant(head), Constant(tail)))
        case _:
            return PredictedKey(plain)
