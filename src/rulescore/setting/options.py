"""Options, each defined once: its name, type, default and bounds. Project files, Python calls and commands have the same ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from rulescore.language.syntax import Kind
from rulescore.setting.choices import AS_WRITTEN, AT_LEAST_ONE, SECONDS, THREADS, WEIGHT, Convention, Role
from rulescore.setting.request import DELIMITERS_ARE, is_delimiter


@dataclass(frozen=True, slots=True)
class Form:
    """A test that a text must pass. `expected`: the words of the problem if it does not."""

    __is_annotated_types_grouped_metadata__: ClassVar = True
    passes: Callable[[str], object]
    expected: str

    def __iter__(self) -> Iterator[object]:
        from pydantic import AfterValidator

        yield AfterValidator(self._checked)

    def _checked(self, text: str) -> str:
        if not self.passes(text):
            raise ValueError(self.expected)
        return text


Memory = Annotated[str, Form(re.compile(r"\d+(\.\d+)? ?([KMGT]i?)?B").fullmatch, "expected an amount like `4GB` or `512MiB`")]
Delimiter = Annotated[str, Form(is_delimiter, DELIMITERS_ARE)]
Weight = Annotated[float, WEIGHT]
KindWord = Annotated[Kind, AS_WRITTEN]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`timeout`: the most seconds that one statement, or planning, may take. `url` may hold a password, so `repr` leaves it out.
    `session`: a session of the caller's, used instead of one at an address."""

    url: str = field(default="duckdb", repr=False)
    memory_limit: Memory | None = None
    threads: Annotated[int, THREADS] | None = None
    spill_folder: Annotated[Path, AS_WRITTEN] | None = None
    timeout: Annotated[float, SECONDS] | None = None
    session: object | None = None


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """What we count. `distinct_variables` and `roles` are the convention's own unless given. `hard_needs`: how many evaluable
    groundings over the data make a rule hard that none of them breaks. `allow_unrefutable`: score predictions even if no rule can
    be refuted."""

    convention: Annotated[Convention, AS_WRITTEN] = Convention.DEFINITION
    distinct_variables: bool | None = None
    roles: Annotated[frozenset[Annotated[Role, AS_WRITTEN]], AS_WRITTEN] | None = None
    weights: dict[str, Weight] = field(default_factory=dict)
    kinds: dict[str, KindWord] = field(default_factory=dict)
    hard_needs: Annotated[int, AT_LEAST_ONE] = 1
    allow_unrefutable: bool = False


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How files are read, and how many predictions are kept."""

    top_k: Annotated[int, AT_LEAST_ONE] | None = None
    delimiter: Delimiter | None = None
    header: bool | None = None


Options = EngineOptions | ScoringOptions | ReadingOptions
