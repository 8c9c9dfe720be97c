"""Rules without a name are called by their file and line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rulescore.errors import Source
from rulescore.language.parser import parse_all
from rulescore.language.printer import rule_names


def names(*sources: tuple[str, str]) -> list[str]:
    return rule_names(parse_all([Source(name, text) for name, text in sources]))


def test_an_unnamed_rule_is_called_by_the_file_and_the_line_it_begins_at():
    text = "\np(X) <- q(X).\nnamed: q(X) <- p(X).\n@hard\nr(X)\n  <- q(X).\n"
    assert names(("rules/family.rules", text)) == ["family.rules:2", "named", "family.rules:5"]


def test_rules_given_as_text_are_called_rules():
    assert names(("<rules>", "p(X) <- q(X).")) == ["rules:1"]


def test_rules_of_one_line_are_numbered():
    text = "p(X) <- q(X). named: q(X) <- p(X). r(X) <- q(X). s(X) <- q(X)."
    assert names(("a.rules", text)) == ["a.rules:1", "named", "a.rules:1.2", "a.rules:1.3"]


def test_expansions_of_a_template_are_numbered():
    assert names(("a.rules", "for $p in {a, b}: $p(X) <- q(X).")) == ["a.rules:1", "a.rules:1.2"]


def test_files_of_one_name_are_told_apart_by_their_folders():
    found = names(("a/x/f.rules", "p(X) <- q(X)."), ("b/x/f.rules", "p(X) <- q(X)."), ("f.rules", "p(X) <- q(X)."))
    assert found == ["a/x/f.rules:1", "b/x/f.rules:1", "f.rules:1"]


def test_several_texts_and_a_file_read_twice_are_numbered():
    texts = [("<rules>", "p(X) <- q(X)."), ("<rules>", "r(X) <- q(X).")]
    files = [("f.rules", "p(X) <- q(X)."), ("f.rules", "p(X) <- q(X).")]
    assert names(*texts, *files) == ["rules:1", "rules-2:1", "f.rules:1", "f.rules-2:1"]


def test_a_name_that_is_given_is_not_taken():
    assert names(("f.rules", '"f.rules:1": p(X) <- q(X). r(X) <- q(X).')) == ["f.rules:1", "f.rules:1.2"]


RULES = st.lists(st.sampled_from(["p(X) <- q(X).", "n{}: p(X) <- q(X).", "\n", "`f:{}`: p(X) <- q(X). "]), max_size=8)
FILES = st.lists(st.tuples(st.sampled_from(["f", "a/f", "b/f", "a/b/f", "<rules>", "f-2"]), RULES), max_size=5)


@given(FILES)
def test_no_two_rules_have_one_name_unless_it_was_given_twice(files):
    number = iter(range(1000))
    sources = [(path, "".join(part.format(next(number)) for part in parts)) for path, parts in files]
    found = names(*sources)
    assert len(set(found)) == len(found)
