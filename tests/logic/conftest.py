"""What the tests of these stages share: rules from text, and what the checks say of rules beside data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rulescore.arguments.python import make_setting
from rulescore.errors import Diagnostic, InputError, Source
from rulescore.language.parser import parse
from rulescore.language.syntax import Program
from rulescore.session.session import Session

Facts = dict[str, list[tuple[Any, ...]]]
Problems = Callable[..., dict[str, Diagnostic]]
Read = Callable[[str], Program]


@pytest.fixture
def read() -> Read:
    return lambda text: parse(Source("family.rules", text))


@pytest.fixture
def all_problems() -> Callable[..., list[Diagnostic]]:
    """Everything that opening a session says of a rule text and facts, errors or warnings; but not that rules cannot be refuted,
    which is so of most of these."""

    def found(text: str, observed: Facts, **options: Any) -> list[Diagnostic]:
        setting = make_setting(observed, options.pop("predictions", None), **options)
        try:
            with Session(replace(setting, rules=(Source("family.rules", text),))) as session:
                return [warning for warning in session.warnings if warning.code != "W211"]
        except InputError as error:
            return list(error.problems)

    return found


@pytest.fixture
def problems(all_problems: Callable[..., list[Diagnostic]]) -> Problems:
    """The same by code, of which each may occur once."""

    def found(text: str, observed: Facts, **options: Any) -> dict[str, Diagnostic]:
        everything = all_problems(text, observed, **options)
        by_code = {problem.code: problem for problem in everything}
        assert len(by_code) == len(everything), everything
        return by_code

    return found
