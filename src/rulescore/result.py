"""What `score` and `audit` give: an evaluation that remembers the setting it was found in, and can ask it again."""

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

from rulescore.characters import visible
from rulescore.errors import Diagnostic, InputError, RulescoreWarning
from rulescore.evaluate import Session
from rulescore.language.parser import parse_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.progress import warning
from rulescore.reporting.cells import Appearance, Format, Shown, counted, shown
from rulescore.reporting.comparison import ModelComparison
from rulescore.reporting.explanation import Explanation, explanation
from rulescore.reporting.html import shown_in_notebook
from rulescore.reporting.listing import CellKind
from rulescore.reporting.render import render, short_html, shown_table
from rulescore.reporting.saved import load, save
from rulescore.reporting.summary import first_violations
from rulescore.reporting.tables import measure_cell
from rulescore.reporting.violations import ViolationTable, count_table, violation_table
from rulescore.scoring.comparison import compare
from rulescore.scoring.curve import CurveOver, curve_over, curve_points, curve_table
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.results import ModelResult
from rulescore.scoring.score import UNMEASURED
from rulescore.scoring.violation import CountedBy, PredictedKey
from rulescore.setting.model import Setting
from rulescore.values.types import Value

if TYPE_CHECKING:
    # Altair is optional, and loading it takes long.
    from rulescore.reporting.plots.figures import Plots


_MOST_MODELS = 3


class _Asked(ABC):
    """What a result and an open session are asked alike."""

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
        """The rows behind the counts, which a result reads from the data again: of all models or one, or of the data; of all rules
        or one; of one prediction; counted `by` rule, predicate, refuter, entity or prediction. At most `limit` rows, or a `sample`
        by a `seed`; `total` counts all of them."""
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
                session.violations(rule=rule, model=source, prediction=atom, limit=limit, sample=sample, seed=seed)
            )

    def explain(self, prediction: object, *, model: str | None = None) -> Explanation:
        """The rules that a prediction breaks, with the facts, those that it meets, and those that it never touches. A prediction is
        a tuple (head, relation, tail), an atom as text, the key of a table's row, or a row of violations as a mapping."""
        with self._loaded() as session:
            return explanation(session.explained(_asked(session, prediction), model), [rule.name for rule in session.rules])


@dataclass(frozen=True, slots=True, repr=False)
class Result(_Asked, Evaluation):
    """An evaluation and the setting it was found in. What the numbers do not hold, such as violations, is read from the data again:
    by the session that made the result, as long as that is open, else by one that is opened for it."""

    setting: Setting | None = field(default=None, compare=False)
    opened: OpenSession | None = field(default=None, compare=False)

    @classmethod
    def of(cls, evaluation: Evaluation, setting: Setting | None, opened: OpenSession | None = None) -> Self:
        found = {one.name: getattr(evaluation, one.name) for one in fields(evaluation)}
        return cls(**found, setting=setting, opened=opened)

    def __repr__(self) -> str:
        models = self.model_results
        scores = [f"{model.name} {_score(model)}" for model in models[:_MOST_MODELS]] + ["…"] * (len(models) > _MOST_MODELS)
        what = f"{counted(len(self.rule_results), 'rule')} and {counted(len(models), 'model')}"
        return visible(f"<Result of {what}{': ' if scores else ''}{'; '.join(scores)}>")

    def _repr_html_(self) -> str:
        return short_html(self)

    def to_text(self, table: str | None = None, *, detail: bool = False, width: int = 100) -> str:
        """What `rulescore score` prints. `table`: `models`, `rules` or `violations` alone; `detail`: everything."""
        return self._rendered(Format.TABLE, table, detail=detail, appearance=Appearance(width))

    def to_markdown(self, table: str | None = None, *, detail: bool = False) -> str:
        """The same as GitHub's pipe tables."""
        return self._rendered(Format.MARKDOWN, table, detail=detail)

    def to_latex(self, table: str = Shown.MODELS) -> str:
        """One table, for the packages booktabs and longtable."""
        return self._rendered(Format.LATEX, table)

    def to_csv(self, table: str = Shown.RULES, *, spreadsheet: bool = False) -> str:
        """One table, exact. `spreadsheet`: text that a spreadsheet would compute gets an apostrophe before it."""
        return self._rendered(Format.CSV, table, spreadsheet=spreadsheet)

    def to_json(self, table: str | None = None) -> str:
        """The whole result, or one table."""
        return self._rendered(Format.JSON, table)

    def _rendered(self, form: Format, table: str | None, **options: Any) -> str:
        chosen = None if table is None else shown_table(table, Shown)
        if chosen is not Shown.VIOLATIONS:
            return render(self, form, table=chosen, **options)
        with self.session() as session:
            return first_violations(
                session, session.models, form, **{name: value for name, value in options.items() if name != "detail"}
            )

    def save(self, path: str | Path) -> tuple[Path, ...]:
        """Writes the result to a JSON file, and its contributions as Parquet beside it; `rulescore.load_result` reads both. Files
        that were read are read once more for their digests."""
        return save(self, Path(path))

    def compare(
        self,
        other: Evaluation | str | Path | None = None,
        *,
        models: str | Sequence[str] = (),
        level: float = 0.95,
        draws: int = 1000,
        seed: int = 0,
    ) -> ModelComparison:
        """The models of this result with each other or, of this result and another one (or the path of a saved one), those of one
        name: scores with intervals, differences, and what changed. `models`: only these; one alone has no difference."""
        second = self._compared_with(other)
        chosen = (models,) if isinstance(models, str) else models
        if not isinstance(chosen, Sequence):
            raise InputError(Diagnostic("E512", f"`models` is {kind_of(models)}", helps=('write `models=["…"]`',)))
        found = compare(self, second, models=chosen, level=level, draws=draws, seed=seed)
        _warn(found.warnings)
        return ModelComparison.of(found)

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

    def curve(self, over: str = CurveOver.RANK, at: Sequence[int | float] | None = None) -> Any:
        """Scores with the best k answers of each query, for every k, as an Arrow table; `over="score"`: with answers that have a
        score or more. `at`: these k or scores alone. Only what `top_k` has kept is there: `score(…, top_k="all")` keeps all."""
        chosen = curve_over(over)
        return curve_table(curve_points(self, chosen, at), chosen)

    @property
    def plot(self) -> Plots:
        """Figures, as charts of Altair: `dataset_rates()`, `rules()`, `models()`, `tradeoff()`, `curve()`."""
        from rulescore.reporting.plots.figures import Plots

        return Plots(self)

    def _loaded(self) -> AbstractContextManager[Session]:
        return self.session()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The setting, loaded."""
        if self.opened is not None and self.opened.is_open:
            yield self.opened.session
        elif self.setting is not None:
            with Session(self.setting) as session:
                yield session
        else:
            helps = ("score again, or open the project: `rulescore.open`",)
            raise InputError(Diagnostic("E540", "this result was read from a file and does not know its data", helps=helps))


def load_result(path: str | Path) -> Result:
    """A result that was saved, by its file or by the folder that `rulescore score --output` wrote. It does not know its data."""
    if not isinstance(path, str | PathLike):
        helps = ('name the file or the folder: `rulescore.load_result("result.json")`',)
        raise InputError(Diagnostic("E512", f"`path` is {kind_of(path)}", helps=helps))
    return Result.of(load(Path(path)), None)


def kind_of(given: object) -> str:
    """What was given, by the name of its type: an int, a list."""
    name = type(given).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _score(model: ModelResult) -> str:
    """A model's two scores on a line, or the word that stands for them."""
    cells = [measure_cell(measure) for measure in (model.hard_score, model.soft_score)]
    return UNMEASURED if model.unmeasured else "RVS hard {}, RVS soft {}".format(*(shown(cell, CellKind.SCORE) for cell in cells))


class OpenSession(_Asked):
    """A setting that stays loaded while it is asked several things. Use it as a context manager: it holds a database connection."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._thread = threading.get_ident()
        with shown_in_notebook():
            self._session: Session | None = Session(setting)

    def score(self, *, contributions: bool | str | Path | None = None) -> Result:
        """As `rulescore.score`; its other arguments were given when the session was opened."""
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
        """As `rulescore.audit`."""
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
        return self._session is not None

    @property
    def session(self) -> Session:
        if self._session is None:
            raise InputError(Diagnostic("E541", "the session is closed", helps=("open another one with `rulescore.open`",)))
        if self._thread != threading.get_ident():
            helps = ("open one in each thread with `rulescore.open`",)
            raise InputError(Diagnostic("E544", "this session was opened by another thread", helps=helps))
        return self._session

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _unwritable(path: Path, reason: str) -> Diagnostic:
    return Diagnostic("E545", f"contributions cannot be written to `{path}`", notes=(reason,))


def _warn(problems: Iterable[Diagnostic]) -> None:
    """Warnings as Python has them, at the line outside of this package that asked for a result."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    for problem in problems:
        warnings.warn(str(problem), RulescoreWarning, stacklevel=level)


def _refuse_none(limit: int | None, sample: int | None) -> None:
    for what, number in (("limit", limit), ("sample", sample)):
        if number is not None and number < 1:
            helps = ("ask for at least 1", *(("`limit=None` lists all",) if what == "limit" else ()))
            raise InputError(Diagnostic("E709", f"`{what}` is {number}, so that nothing would be listed", helps=helps))


def _counted_by(by: str) -> CountedBy:
    if by not in set(CountedBy):
        known = ", ".join(f"`{one}`" for one in CountedBy)
        raise InputError(Diagnostic("E269", f"violations are not counted by `{by}`", notes=(f"they are counted by {known}",)))
    return CountedBy(by)


def _fact_of(session: Session, prediction: object, model: str | None) -> Atom:
    asked = _asked(session, prediction)
    if isinstance(asked, Atom):
        return asked
    fact = session.predicted_fact(asked, model)
    return Atom(fact.predicate, tuple(Constant(one) for one in fact.values if one is not None))


def _asked(session: Session, prediction: object) -> Atom | PredictedKey:
    """A fact, or the key of a row whose target is predicted. Text is a fact if it is written as one; a mapping is a row of
    violations, or of the user's own."""
    if isinstance(prediction, str) and ("(" in prediction or not session.prediction_keys):
        return parse_atom(prediction)
    if isinstance(prediction, Mapping):
        keys = [key for key in session.prediction_keys.values() if all(prediction.get(one) is not None for one in key)]
        columns = keys[0] if len(keys) == 1 else ("head", "relation", "tail")
        return _asked(session, tuple(prediction.get(one) for one in columns))
    values = prediction if isinstance(prediction, tuple) else (prediction,)
    plain = tuple(one.item() if hasattr(one, "item") else one for one in values)
    if any(not isinstance(one, Value) for one in plain):
        what = f"`{prediction}`" if isinstance(prediction, tuple) else kind_of(prediction)
        helps = ('give a fact, `("5", "wife", "76")` or "wife(5, 76)", or the key of a row whose target is predicted',)
        raise InputError(Diagnostic("E267", f"{what} names no prediction", helps=helps))
    match plain:
        case (head, str() as relation, tail) if session.knows_predicate(relation, 2):
            return Atom(relation, (Constant(head), Constant(tail)))
        case _:
            return PredictedKey(plain)
