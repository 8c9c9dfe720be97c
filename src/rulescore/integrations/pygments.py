"""Colours for rules: Pygments, and with it documentation generators, Jupyter and `pygmentize`, find this lexer as `rules`."""

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, Punctuation, String, Whitespace

from rulescore.language.builtins import AGGREGATES, FUNCTIONS, TESTS, TOLERANCES
from rulescore.language.cursor import CHECK_WORDS, DECLARATION_WORDS, RESERVED, WORD

_DECLARING = sorted(DECLARATION_WORDS | CHECK_WORDS | {"for", "on", "null"})
_NAMES = (*FUNCTIONS, *AGGREGATES, *TESTS, *TOLERANCES)


class RulesLexer(RegexLexer):
    """Splits rules into coloured tokens; a character that the language does not have becomes an error token."""

    name = "rulescore rules"
    aliases: ClassVar[list[str]] = ["rules", "rulescore"]
    filenames: ClassVar[list[str]] = ["*.rules"]
    mimetypes: ClassVar[list[str]] = []

    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"#.*", Comment.Single),
            (r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`', String),
            (rf"@{WORD}", Name.Decorator),
            (rf"\${WORD}", Name.Variable.Magic),
            (r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?", Literal.Date),
            (r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", Number),
            # A word before `(` or `:` is a name, whatever it means elsewhere; only values and tests keep their meaning there.
            (words(_NAMES, suffix=r"(?=\()"), Name.Builtin),
            (rf"{WORD}(?=:(?!-))", Name.Label),
            (words(sorted(RESERVED), prefix=r"\b", suffix=r"\b"), Keyword),
            (words(_DECLARING, prefix=r"\b", suffix=r"\b(?!\()"), Keyword.Declaration),
            (rf"{WORD}(?:\.{WORD})*(?=\()", Name.Function),
            (r"\?\w+|[^\W\da-z]\w*|_\w*", Name.Variable),
            (rf"{WORD}(?:\.{WORD})*", Name),
            (r"<->|<=>|<-|:-|->|<=|>=|!=|<>|&&|\|\||[←→⇐⇒⊥∧∨¬≠≤≥=<>+\-*/%&|]", Operator),
            (r"[(),.:;{}]", Punctuation),
        ]
    }
