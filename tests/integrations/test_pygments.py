"""The lexer that colours rules in documents, notebooks and terminals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Literal, Name, Number, Operator, String, _TokenType

from rulescore.integrations.pygments import RulesLexer

ROOT = Path(__file__).parents[2]
LEXER = RulesLexer()


def test_pygments_finds_the_lexer_by_its_name_and_by_the_name_of_a_file() -> None:
    assert isinstance(get_lexer_by_name("rules"), RulesLexer)
    assert isinstance(get_lexer_for_filename("family.rules"), RulesLexer)


@pytest.mark.parametrize(
    ("text", "part", "kind"),
    [
        ("aunt: aunt(X, Z) <- sister(X, Y).", "aunt", Name.Label),
        ("aunt(X, Z) <- sister(X, Y).", "aunt", Name.Function),
        ("aunt(X, Z) <- sister(X, Y).", "X", Name.Variable),
        ("aunt(X, Z) <- sister(X, Y).", "<-", Operator),
        ("aunt(?x, emma) <- sister(?x).", "?x", Name.Variable),
        ("aunt(?x, emma) <- sister(?x).", "emma", Name),
        ("not smoker(X) <- athlete(X).", "not", Keyword),
        ("incompatible aunt, mother.", "incompatible", Keyword.Declaration),
        ("closed(X) <- shop(X).", "closed", Name.Function),
        ("@hard p(X) <- q(X).", "@hard", Name.Decorator),
        ("P <= 3 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).", "avg", Name.Builtin),
        ("P <= 3 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).", "zip", Name.Label),
        ("P <= 3 * avg(Q : sale(zip: Z, price: Q)) <- sale(zip: Z, price: P).", "Q", Name.Variable),
        ("p(X) <- q(X, 1.5).", "1.5", Number),
        ("p(X) <- q(X, 2020-01-31).", "2020-01-31", Literal.Date),
        ('p(X) <- q(X, "New \\"York"). # here', '"New \\"York"', String),
        ('p(X) <- q(X, "New York"). # here', "# here", Comment.Single),
    ],
)
def test_a_part_of_a_rule_gets_its_colour(text: str, part: str, kind: _TokenType) -> None:
    assert (kind, part) in LEXER.get_tokens(text)


def rule_texts() -> list[tuple[str, str]]:
    """The rules of all documents, and all rule files of the repository."""
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    blocks = [
        (f"{page.name}-{number}", block)
        for page in pages
        for number, block in enumerate(re.findall(r"^```rules\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S))
    ]
    return blocks + [(path.name, path.read_text(encoding="utf-8")) for path in ROOT.glob("examples/**/*.rules")]


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in rule_texts()])
def test_every_rule_of_the_documents_is_coloured_without_an_error(text: str) -> None:
    assert [part for kind, part in LEXER.get_tokens(text) if kind is Error] == []


def test_a_character_that_the_language_does_not_have_is_an_error() -> None:
    assert (Error, "§") in LEXER.get_tokens("p(X) <- q(X) § r(X).")
