"""What `score` and `audit` give: an evaluation that remembers the setting it was found in, and can ask it again."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import Self

from rulescore.data.setting import Setting
from rulescore.errors import Diagnostic, InputError, RulescoreWarning
from rulescore.evaluate import Session
from rulescore.reporting.saved import load, save
from rulescore.scoring.comparison import Comparison, compare
from rulescore.scoring.evaluation import Evaluation

CODES = {
    "E540": "a result is asked for what only its data can tell, and it does not know them",
    "E541": "a session is used after it was closed",
}


@dataclass(frozen=True, slots=True, repr=False)
class Result(Evaluation):
    """An evaluation and the setting it was found in. What the numbers do not hold, such as violations, is read from the data again:
    by the session that made the result, as long as that is open, else by one that is opened for it."""

    setting: Setting | None = field(default=None, compare=False)
    opened: OpenSession | None = field(default=None, compare=False)

    @classmethod
    def of(cls, evaluation: Evaluation, setting: Setting | None, opened: OpenSession | None = None) -> Self:
        found = {one.name: getattr(evaluation, one.name) for one in fields(evaluation)}
        return cls(**found, setting=setting, opened=opened)

    def save(self, path: str | Path) -> tuple[Path, ...]:
        """Writes the result to a JSON file, and its contributions as Parquet beside it; `rulescore.load_result` reads both. Files
        that were read are read once more for their digests."""
        return save(self, Path(path))

    def compare(
        self,
        other: Evaluation | str | Path | None = None,
        *,
        models: Sequence[str] = (),
        level: float = 0.95,
        draws: int = 1000,
        seed: int = 0,
    ) -> Comparison:
        """The models of this result with each other or, of this result and another one (or the path of a saved one), those of one
        name: scores with intervals, differences, and what changed. `models`: only these."""
        second = load(Path(other)) if isinstance(other, str | Path) else other
        return compare(self, second, models=models, level=level, draws=draws, seed=seed)

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
    return Result.of(load(Path(path)), None)


class OpenSession:
    """A setting that stays loaded while it is asked several things. Use it as a context manager: it holds a database connection."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._session: Session | None = Session(setting)

    def score(self, *, contributions: bool | str | Path | None = None) -> Result:
        """As `rulescore.score`; its other arguments were given when the session was opened."""
        path = None if contributions is None or isinstance(contributions, bool) else Path(contributions)
        evaluation = self.session.evaluate(contributions=contributions if isinstance(contributions, bool) else None)
        if path is not None:
            self.session.write_contributions(path)
        return self._result(evaluation)

    def audit(self) -> Result:
        """As `rulescore.audit`."""
        return self._result(self.session.audit())

    def _result(self, evaluation: Evaluation) -> Result:
        _warn(evaluation.warnings)
        return Result.of(evaluation, self.setting, self)

    @property
    def is_open(self) -> bool:
        return self._session is not None

    @property
    def session(self) -> Session:
        if self._session is None:
            raise InputError(Diagnostic("E541", "the session is closed", helps=("open another one with `rulescore.open`",)))
        return self._session

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _warn(problems: Iterable[Diagnostic]) -> None:
    """Warnings as Python has them, at the line outside of this package that asked for a result."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    for problem in problems:
        warnings.warn(str(problem), RulescoreWarning, stacklevel=level)
