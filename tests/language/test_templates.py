"""One statement with parameters is several statements without."""

import os
from pathlib import Path

import pytest

from rulescore.errors import InputError, Source
from rulescore.language.parser import parse, parse_rule
from rulescore.language.printer import print_program, rule_names
from rulescore.language.syntax import Kind


def expanded(text: str, folder: str = ".") -> list[str]:
    return print_program(parse(Source(f"{folder}/test.rules", text, Path(folder)))).splitlines()


def refused(text: str, folder: str = "."):
    with pytest.raises(InputError) as caught:
        parse(Source(f"{folder}/test.rules", text, Path(folder)))
    return caught.value.problems


def test_every_row_of_values_gives_a_rule_named_by_them():
    text = 'for $type, $limit in {("house", 500), ("big flat", -8.5)}: near: P - Q < $limit <- sale(type: $type, p: P, q: Q).'
    assert expanded(text) == [
        "`near[house, 500]`: P - Q < 500 <- sale(type: house, p: P, q: Q).",
        '`near[big flat, -8.5]`: P - Q < -8.5 <- sale(type: "big flat", p: P, q: Q).',
    ]


@pytest.mark.parametrize("name", ['"near-$type"', "`near-$type`"])
def test_parameters_in_a_name_are_filled_in(name):
    assert expanded(f"for $type in {{house, flat}}: {name}: p(X) <- q(X, $type).") == [
        "`near-house`: p(X) <- q(X, house).",
        "`near-flat`: p(X) <- q(X, flat).",
    ]


def test_a_parameter_may_be_the_name_itself():
    assert expanded("for $p in {a, b}: $p: $p(X) <- q(X).") == ["a: a(X) <- q(X).", "b: b(X) <- q(X)."]


def test_a_dollar_sign_before_another_word_stays_in_the_name():
    assert expanded('for $p in {a}: "$p in $price": $p(X) <- q(X).') == ["`a in $price`: a(X) <- q(X)."]


def test_expansions_without_a_name_are_named_by_their_line():
    program = parse(Source("test.rules", "for $p, $q in {(a, b), (c, d)}: $p(X, Y) <- $q(Y, X)."))
    assert rule_names(program) == ["test.rules:1", "test.rules:1.2"]


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("house", "p(X) <- q(X, house)."),
        ("House", 'p(X) <- q(X, "House").'),
        ('"a\\nb"', 'p(X) <- q(X, "a\\nb").'),
        ("12", "p(X) <- q(X, 12)."),
        ("-0.5", "p(X) <- q(X, -0.5)."),
        ("2020-01-31", "p(X) <- q(X, 2020-01-31)."),
        ("true", "p(X) <- q(X, true)."),
        ("2 weeks", "p(X) <- q(X, 14 days)."),
        ('"12"', 'p(X) <- q(X, "12").'),
        ("(a)", "p(X) <- q(X, a)."),
    ],
)
def test_a_value_keeps_its_type(value, rule):
    assert expanded(f"for $v in {{{value}}}: p(X) <- q(X, $v).") == [rule]


def test_a_negative_number_is_one_value():
    assert expanded("for $v in {-5}: p(X) <- X - $v > 0, Y = -$v.") == ["p(X) <- X - -5 > 0, Y = 5."]
    assert refused("for $v in {-5}: p(X) <- q(X $v).")[0].code == "E101"


def test_a_percentage_is_a_tolerance():
    assert expanded("for $t in {10%, 500}: within(P, Q, $t) <- p(P, Q).") == [
        "within(P, Q, 10%) <- p(P, Q).",
        "within(P, Q, 500) <- p(P, Q).",
    ]


def test_a_parameter_may_be_a_predicate_a_table_an_attribute_or_part_of_a_name():
    text = "for $p, $t, $a in {(P31, sale, price)}: $p(X, Y) <- $t($a: X), $t.$a(Y, X), sale.$a(Y, X), $t.zip(Y, X)."
    assert expanded(text) == ["P31(X, Y) <- sale(price: X), sale.price(Y, X), sale.price(Y, X), sale.zip(Y, X)."]


def test_a_declaration_may_be_a_template():
    assert expanded("for $p in {sale.price, b}: functional $p(X -> Y).") == [
        "functional sale.price(X -> Y).",
        "functional b(X -> Y).",
    ]


def test_annotations_of_a_template_are_those_of_every_rule():
    program = parse(Source("test.rules", "@hard @weight(2) for $p in {a, b}: $p(X) <- q(X)."))
    assert [(rule.kind, rule.weight) for rule in program.rules] == [(Kind.HARD, 2.0)] * 2


def test_for_is_an_ordinary_name_elsewhere():
    assert expanded("for: for(X) <- q(X, for).") == ["for: for(X) <- q(X, for)."]


def test_values_are_read_from_a_file_beside_the_rules(tmp_path):
    (tmp_path / "pairs.csv").write_text('q, note, p\nson, x, father\n"a ""b""",,2nd\nP31,,"""12"""\n\n', encoding="utf-8")
    assert expanded('for $p, $q in "pairs.csv": $p(X, Y) <- $q(Y, X).', str(tmp_path)) == [
        "father(X, Y) <- son(Y, X).",
        '`2nd`(X, Y) <- `a "b"`(Y, X).',
        "`12`(X, Y) <- P31(Y, X).",
    ]


def test_a_cell_that_reads_as_a_constant_is_one(tmp_path):
    cells = ["500", "-0.5", "2020-01-31", "true", "30 days", "2020-13-01", "1 2", "x y", "House", "-", "a.b", '"""5"""', "5 %."]
    (tmp_path / "values.csv").write_text("\n".join(["v", *cells]), encoding="utf-8")
    rules = expanded('for $v in "values.csv": p(X) <- q($v).', str(tmp_path))
    assert [rule.removeprefix("p(X) <- q(").removesuffix(").") for rule in rules] == [
        "500", "-0.5", "2020-01-31", "true", "30 days", '"2020-13-01"', '"1 2"', '"x y"', '"House"', '"-"', '"a.b"',
        '"5"', '"5 %."',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "`t.csv` is empty"),
        (b"p,q\n", "`t.csv` has a header and no rows"),
        (b"q\na\n", "`t.csv` has no column `p`"),
        (b"p,p\na,b\n", "`t.csv` has more than one column `p`"),
        (b"p,q\na,b\n\nc\n", "line 4 of `t.csv` has 1 columns and the header 2"),
        (b"p\n\xff\n", "`t.csv` is not UTF-8"),
        (b'p\n"a\n', "`t.csv` is not a CSV file: unexpected end of data"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(content, message, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    (problem,) = refused('for $p in "t.csv": $p(X) <- q(X).', str(tmp_path))
    assert (problem.code, problem.message) == ("E124", message)
    assert (problem.place.line, problem.place.column, problem.place.length) == (1, 11, 7)


def test_a_file_that_is_not_there_is_refused_with_the_one_that_may_be_meant(tmp_path):
    (tmp_path / "pairs.csv").touch()
    (problem,) = refused('for $p in "pair.csv": $p(X) <- q(X).', str(tmp_path))
    assert problem.helps == ("did you mean `pairs.csv`?",)


def test_a_table_may_lie_in_a_folder_beside_the_rules_and_be_a_link_there(tmp_path):
    (tmp_path / "values").mkdir()
    (tmp_path / "values" / "t.csv").write_text("p\na\n")
    (tmp_path / "link.csv").symlink_to("values/t.csv")
    for name in ("values/t.csv", "values/../values/t.csv", "./link.csv"):
        assert expanded(f'for $p in "{name}": $p(X) <- q(X).', str(tmp_path)) == ["a(X) <- q(X)."]


@pytest.fixture
def rules_folder(tmp_path):
    """A folder of rules beside what is not theirs to read, with links to it."""
    (tmp_path / "secret.csv").write_text("p\nTOPSECRET\n")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "secret.csv").write_text("p\nTOPSECRET\n")
    folder = tmp_path / "rules"
    (folder / "folder.csv").mkdir(parents=True)
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "others").symlink_to(tmp_path / "others")
    (folder / "zero.csv").symlink_to("/dev/zero")
    (folder / "nowhere.csv").symlink_to(tmp_path / "nowhere.csv")
    (folder / "itself.csv").symlink_to(folder / "itself.csv")
    os.mkfifo(folder / "pipe.csv")
    return folder


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../secret.csv", "E124"),
        ("../nowhere.csv", "E124"),
        ("folder.csv/../../secret.csv", "E124"),
        ("link.csv", "E124"),
        ("others/secret.csv", "E124"),
        ("nowhere.csv", "E124"),
        ("zero.csv", "E124"),
        ("pipe.csv", "E124"),
        ("folder.csv", "E124"),
        (".", "E124"),
        ("", "E124"),
        ("/dev/zero", "E124"),
        ("/etc/passwd", "E124"),
        ("itself.csv", "E124"),
        ("a\\u0000b", "E124"),
        ("x" * 300, "E124"),
    ],
)
def test_nothing_but_a_regular_file_of_the_folder_is_read(name, code, rules_folder):
    (problem,) = refused(f'for $p in "{name}": $p(X) <- q(X).', str(rules_folder))
    assert problem.code == code
    assert (problem.place.line, problem.place.column) == (1, 11)
    assert "TOPSECRET" not in str(problem)


def test_an_absolute_path_is_refused_even_if_it_leads_into_the_folder(tmp_path):
    (tmp_path / "t.csv").write_text("p\na\n")
    (problem,) = refused(f'for $p in "{tmp_path}/t.csv": $p(X) <- q(X).', str(tmp_path))
    assert problem.code == "E124"


@pytest.mark.parametrize(
    ("content", "message", "note"),
    [
        ("key=TOPSECRET\nx\n", "`t.csv` has no column `p` and `q`", "its header names 1 column"),
        ("p,TOPSECRET\nx,y\n", "`t.csv` has no column `q`", "its header names 2 columns"),
        ("p,q,p,q,TOPSECRET\nx\n", "`t.csv` has more than one column `p` and `q`", "its header names 5 columns"),
    ],
)
def test_no_message_tells_what_stands_in_a_table(content, message, note, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    (problem,) = refused('for $p, $q in "t.csv": $p(X) <- $q(X).', str(tmp_path))
    assert (problem.message, problem.notes) == (message, (note,))
    assert "TOPSECRET" not in str(problem)


def test_a_problem_of_an_expansion_tells_the_line_of_the_table(tmp_path):
    (tmp_path / "t.csv").write_text("name,v\na,1\n\nb,c\n")
    (problem,) = refused('for $name, $v in "t.csv": p(X) <- q(X), X = -$v, $name(X).', str(tmp_path))
    assert problem.notes == ("this is so with line 4 of `t.csv`",)


def test_a_problem_of_an_expansion_points_into_the_template():
    (problem,) = refused("for $name, $v in {(a, 1), (b, c)}: p(X) <- q(X), X = -$v, $name(X).\nok(X) <- q(X).")
    assert problem.message == 'expected a number, found `"c"`'
    assert (problem.place.line, problem.place.column, problem.place.length) == (1, 55, 2)
    assert problem.notes == ("this is so with `$name` = `b`, `$v` = `c`",)


def test_the_statement_behind_a_template_without_a_full_stop_is_read():
    problems = refused("for $v in {(-1), (-2)}: p(X) <- q(X, $v, $v)\nr(X) <- s(.")
    assert [(problem.code, problem.place.line) for problem in problems] == [("E101", 1), ("E101", 2)]


def test_spans_of_expansions_are_those_of_the_template():
    text = 'for $v in {"a long value"}: p(X) <- q($v, X).'
    (rule,) = parse(Source("test.rules", text)).rules
    (atom,) = rule.body.conditions
    assert [text[node.span.start : node.span.end] for node in (rule, atom, *atom.terms)] == [
        "p(X) <- q($v, X)",
        "q($v, X)",
        "$v",
        "X",
    ]


def test_a_template_is_not_one_rule():
    with pytest.raises(InputError, match="E123"):
        parse_rule("for $p in {a}: $p(X) <- q(X).")
