"""Opening a setting: steps from data to data, in the order of `Opened`."""

from __future__ import annotations

import pytest

from rulescore.arguments.python import make_setting
from rulescore.engines.base import Engine, connect
from rulescore.errors import InputError
from rulescore.session import opening
from rulescore.setting.options import EngineOptions

FACTS = {"p": [("a", "b")], "q": [("a", "b"), ("c", "d")], "r": [("c", "d")]}
RULES = "one: p(X, Y) <- q(X, Y). extract incompatible. two: X != Y <- p(X, Y), X < Y."


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[Engine]:
    """The engines that were opened and are still open."""
    found: list[Engine] = []

    def opened(options: EngineOptions) -> Engine:
        engine = connect(options)
        close = engine.close

        def closed() -> None:
            found.remove(engine)
            close()

        monkeypatch.setattr(engine, "close", closed)
        found.append(engine)
        return engine

    monkeypatch.setattr(opening, "connect", opened)
    return found


def test_rules_are_read_before_there_is_an_engine(engines: list[Engine]) -> None:
    with pytest.raises(InputError):
        opening.Opened(make_setting(FACTS, None, "p(X, Y) <- q(X, Y"))
    rules = opening.read(make_setting(FACTS, None, RULES))
    assert (rules.names, rules.extracts, engines) == (("one", "two"), True, [])


def test_what_is_opened_holds_the_results_of_all_steps(engines: list[Engine]) -> None:
    opened = opening.Opened(make_setting(FACTS, None, RULES))
    assert opened.engine in engines
    assert opened.data.horn_rules == {0}
    assert list(opened.formulas.rules) == [1]
    assert opened.refutations.groups == (("p", "r"),)
    assert len(opened.plan.groups) == 1
    opened.engine.close()


@pytest.mark.parametrize(
    ("rules", "code"),
    [("p(X, Y) <- q(X).", "E203"), ("p(X, Z) <- q(X, Y).", "E201"), ("two: X < 3 <- p(X, Y), lenght(X) = 1.", "E119")],
)
def test_an_engine_is_closed_when_a_step_fails(rules: str, code: str, engines: list[Engine]) -> None:
    with pytest.raises(InputError) as error:
        opening.Opened(make_setting(FACTS, None, rules))
    assert code in {problem.code for problem in error.value.problems}
    assert engines == []
