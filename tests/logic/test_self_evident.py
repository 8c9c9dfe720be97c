"""A rule that concludes what it assumes is found, and no other is taken for one."""

from __future__ import annotations

import pytest

from rulescore.language.parser import parse_rule
from rulescore.logic.checks import is_tautology


@pytest.mark.parametrize(
    "text",
    [
        "aunt(X, Z) <- aunt(X, Z)",
        "aunt(X, Z) <- sister(X, Y), aunt(X, Z)",
        "p(X) or q(X) <- q(X), s(X)",
        "p(X) and q(X) <- q(X), p(X)",
        "P < 4 <- sale(price: P), P < 4",
        "p(X, 1) <- p(X, 1)",
    ],
)
def test_what_stands_in_the_body_is_no_conclusion(text: str) -> None:
    assert is_tautology(parse_rule(text))


@pytest.mark.parametrize(
    "text",
    [
        "aunt(X, Z) <- aunt(Z, X)",
        "aunt(X, Z) <- sister(X, Y), aunt(Y, Z)",
        "p(X) and q(X) <- q(X)",
        "p(X) <- p(X) or q(X)",
        "false <- p(X)",
        "not p(X) <- not p(X), q(X)",
        "p(X, 1) <- p(X, true)",
    ],
)
def test_what_merely_resembles_the_body_is_one(text: str) -> None:
    assert not is_tautology(parse_rule(text))
