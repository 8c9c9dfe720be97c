"""The engines that tests run on, one entry each. Fixtures, batches, hunts and the tests of the contract read this table.

What an engine lacks is said in one of three words: `notimpl`, we have not built it; `notyet`, the engine cannot do it yet; `never`,
it makes no sense there. A test of the feature then demands the refusal with this code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest

from rulescore.setting.options import EngineOptions


class Word(StrEnum):
    NOTIMPL = "notimpl"
    NOTYET = "notyet"
    NEVER = "never"


@dataclass(frozen=True)
class Lack:
    word: Word
    code: str


def notimpl(code: str) -> Lack:
    return Lack(Word.NOTIMPL, code)


def notyet(code: str) -> Lack:
    return Lack(Word.NOTYET, code)


def never(code: str) -> Lack:
    return Lack(Word.NEVER, code)


@dataclass(frozen=True)
class Target:
    """`start` starts a server if the engine needs one, and `engine` makes of what it gives what `engine=` takes.

    `alone`: statements are cheap enough for tests that evaluate one setting after the other. `batch`: so many cases are evaluated
    at once. `every`: of the cases of a folder the first, and then every so many; the thorough profile takes all of them."""

    start: Callable[[], AbstractContextManager[Any]]
    engine: Callable[[Any], Any]
    alone: bool
    batch: int
    every: int = 1
    marks: tuple[pytest.MarkDecorator, ...] = ()
    cannot: Mapping[str, Lack] = field(default_factory=dict)


@contextmanager
def _postgres() -> Iterator[Any]:
    from servers.postgres import running_server

    with running_server() as server:
        yield server


@contextmanager
def _spark() -> Iterator[Any]:
    from servers.spark import running_session, tasks_left

    with running_session() as session:
        yield session
        assert tasks_left(session) == [], "a test has left a task that runs on"


TARGETS = {
    "duckdb": Target(
        start=lambda: nullcontext("duckdb"),
        engine=lambda address: address,
        alone=True,
        batch=1,
        cannot={"tables of its own": never("E347")},
    ),
    # Everything runs under a role that may make temporary tables and nothing else.
    "postgres": Target(
        start=_postgres,
        engine=lambda server: server.url(),
        alone=True,
        batch=16,
        marks=(pytest.mark.server,),
        cannot={
            "memory_limit": never("E901"),
            "spill_folder": never("E901"),
            "a database file": notyet("E347"),
            "the character NUL": notyet("E347"),
        },
    ),
    # Every statement takes a tenth of a second, however few rows it reads.
    "spark": Target(
        start=_spark,
        engine=lambda session: session,
        alone=False,
        batch=20,
        every=6,
        marks=(pytest.mark.server, pytest.mark.xdist_group("spark")),
        cannot={
            "memory_limit": never("E901"),
            "threads": never("E901"),
            "a database file": notyet("E347"),
            "a tolerance taken from rows": notimpl("E264"),
        },
    ),
}


def parameters(which: Callable[[Target], bool] = lambda target: True) -> list[Any]:
    """The names of targets as parameters, with their marks."""
    return [pytest.param(name, marks=target.marks) for name, target in TARGETS.items() if which(target)]


def options_of(engine: Any, **options: Any) -> EngineOptions:
    """The options of an engine that is an address or a session."""
    return EngineOptions(**({"url": engine} if isinstance(engine, str) else {"session": engine}), **options)


def lacking(feature: str) -> list[Any]:
    """The names of targets that lack a feature, with the codes of their refusals."""
    found = {name: target for name, target in TARGETS.items() if feature in target.cannot}
    return [pytest.param(name, target.cannot[feature].code, marks=target.marks) for name, target in found.items()]
