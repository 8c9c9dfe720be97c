"""Settings from Python objects and plain options."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import rulescore
from rulescore.arguments.python import make_setting
from rulescore.arguments.rule_sources import RuleText
from rulescore.errors import InputError
from rulescore.language.declarations.closed import Closed
from rulescore.language.parser import parse, parse_all, parse_rule
from rulescore.language.syntax import Kind
from rulescore.setting.choices import Convention, Role
from rulescore.setting.model import FactFile
from rulescore.setting.options import EngineOptions, ScoringOptions

FACTS = [("alice", "mother", "bob")]
RULE = "aunt(X, Z) <- sister(X, Y), father(Y, Z)."


def test_what_is_not_given_has_the_default_of_its_option():
    setting = make_setting([("a", "p", "b")])
    assert (setting.scoring, setting.engine) == (ScoringOptions(), EngineOptions())


def test_rules_may_be_files_texts_and_trees(write):
    path = write("family.rules", RULE)
    program = parse(make_setting(FACTS, rules=RULE).rules[0])
    one = program.rules
    for rules in (path, str(path), RULE, program, program.rules[0], [path], [program], (RULE,)):
        assert parse_all(make_setting(FACTS, rules=rules).rules).rules == one
    several = [path, "closed mother.", parse_rule("p(X) <- q(X)"), Closed("father")]
    assert len(parse_all(make_setting(FACTS, rules=several).rules).statements) == 4


def test_a_text_with_a_line_end_or_an_arrow_is_no_path():
    for text in ("closed p.", "p(X) :- q(X).", "p(X) ← q(X)", "# nothing\n", ""):
        (source,) = make_setting(FACTS, rules=text).rules
        assert source.text == text


def test_rules_given_as_text_read_tables_of_a_folder_that_is_given_alone(write, tmp_path, problems_of):
    write("pairs.csv", "p,q\nfather,son\n")
    text = 'for $p, $q in "pairs.csv": $p(X, Y) <- $q(Y, X).'
    for rules in (RuleText(text, folder=tmp_path), RuleText(text, str(tmp_path)), [write("pairs.rules", text)]):
        (rule,) = parse_all(make_setting(FACTS, rules=rules).rules).rules
        assert rule.head.predicate == "father"
    for rules in (text, RuleText(text), [RuleText(text)]):
        (problem,) = problems_of(lambda rules=rules: parse_all(make_setting(FACTS, rules=rules).rules))
        assert (problem.code, problem.place.line, problem.place.column) == ("E124", 1, 15)


def test_a_rule_text_never_names_a_file(write):
    path = str(write("family.rules", RULE))
    assert [one.text for one in make_setting(FACTS, rules=RuleText(path)).rules] == [path]


def test_a_missing_rule_file_is_an_error_that_suggests_its_neighbour(write, tmp_path, problems_of):
    write("family.rules", RULE)
    (problem,) = problems_of(lambda: make_setting(FACTS, rules=str(tmp_path / "famly.rules")))
    assert (problem.code, problem.helps) == ("E406", (f"did you mean `{tmp_path / 'family.rules'}`?",))


def test_a_rule_file_that_is_not_utf8_is_an_error_with_its_line(write, problems_of):
    path = write("family.rules", b"# ok\n# \xff\n")
    (problem,) = problems_of(lambda: make_setting(FACTS, rules=path))
    assert (problem.code, problem.place.line) == ("E406", 2)


def test_a_rule_file_may_be_compressed(write, problems_of):
    path = write("family.rules.gz", RULE)
    assert [source.text for source in make_setting(FACTS, rules=path).rules] == [RULE]
    path.write_bytes(path.read_bytes()[:-4])
    (problem,) = problems_of(lambda: make_setting(FACTS, rules=path))
    assert problem.code == "E406"
    assert "cannot be read" in problem.message


def test_each_model_has_its_predictions(write, answers_of):
    frame = pd.DataFrame({"head": ["a"], "relation": ["p"], "tail": ["b"], "rank": [1]})
    path = write("transe.tsv", "a\tp\tc\t0.5\t1\n")
    setting = make_setting(FACTS, {"compgcn": frame, "both": [path, path], "rows": [("a", "p", "d", 1, 1)]}, RULE, top_k=2)
    assert [(model.model, model.top_k) for model in setting.predictions] == [("compgcn", 2), ("both", 2), ("rows", 2)]
    assert [len(answers_of(model.streams, 2)) for model in setting.predictions] == [1, 2, 1]


def test_predictions_without_a_name_are_one_model(write):
    path = write("transe.tsv.gz", "a\tp\tc\n")
    assert [model.model for model in make_setting(FACTS, path, RULE).predictions] == ["transe"]
    assert [model.model for model in make_setting(FACTS, FACTS, RULE).predictions] == ["model"]


def test_options_become_data(tmp_path):
    setting = make_setting(
        FACTS,
        rules=RULE,
        negatives=FACTS,
        convention="appendix",
        distinct_variables=False,
        roles=["body", "head"],
        weights={"r": 2},
        kinds={"r": "hard"},
        memory_limit="2GB",
        threads=1,
        spill_folder=tmp_path,
    )
    assert len(setting.negatives) == 1
    assert setting.scoring == ScoringOptions(
        Convention.APPENDIX, False, frozenset({Role.BODY, Role.HEAD}), {"r": 2.0}, {"r": Kind.HARD}
    )
    assert setting.engine == EngineOptions("duckdb", "2GB", 1, tmp_path)


def test_all_that_is_wrong_is_told_at_once(tmp_path, problems_of):
    problems = problems_of(
        lambda: make_setting(
            tmp_path / "no.tsv",
            {"m": tmp_path / "no.tsv"},
            tmp_path / "no.rules",
            negatives=3,
            convention="apendix",
            weights={"r": -1},
            kinds={"r": "x"},
            roles=["x"],
            top_k=0,
            threads=0,
            memory_limit="x",
            delimiter="::",
        )
    )
    assert sorted(problem.code for problem in problems) == ["E301", "E301", "E322", *["E402"] * 8, "E406"]


def test_delimiter_and_header_reach_every_file(write, facts_of):
    path = write("facts.txt", "x:y:z\na:p:b\n")
    setting = make_setting(path, {"m": path}, RULE, negatives=path, delimiter=":", header=False)
    for streams in (setting.observed, setting.negatives, setting.predictions[0].streams):
        assert facts_of(streams) == [("y", "x", "z"), ("p", "a", "b")]


@pytest.mark.parametrize("wrong", [3, [3], {"p": 1}])
def test_what_cannot_be_rules_is_refused(problems_of, wrong):
    problems = problems_of(lambda: make_setting(FACTS, rules=wrong))
    assert {problem.code for problem in problems} == {"E406"}


def test_names_of_models_are_text(problems_of):
    (problem,) = problems_of(lambda: make_setting([], {"\ud800": []}))
    assert problem.code == "E322"


def test_one_role_needs_no_list():
    assert make_setting([], roles="body").scoring == make_setting([], roles=["body"]).scoring


@pytest.mark.parametrize("rules", ['p(X, "\ud800") <- q(X).', ["p(X) <- q(X).", "# \udc80\n"]])
def test_rules_with_lone_surrogates_are_refused(problems_of, rules):
    (problem,) = problems_of(lambda: make_setting([], rules=rules))
    assert (problem.code, problem.place.line) == ("E406", 1)


@pytest.mark.parametrize("engine", [["postgresql://re:S3CRET@h/x"], None, 3])
def test_an_engine_that_is_neither_an_address_nor_a_session_is_refused(engine, problems_of):
    (problem,) = problems_of(lambda: make_setting([("a", "p", "b")], None, "p(X, Y) <- p(Y, X).", engine=engine))
    assert (problem.code, problem.message) == ("E402", f"`engine` is a {type(engine).__name__}")
    assert "S3CRET" not in str(problem)


@pytest.mark.parametrize("key", ["layout", "format"])
def test_a_choice_that_is_no_text_is_refused(key, problems_of):
    (problem,) = problems_of(lambda: FactFile("facts.tsv", **{key: 3}))
    assert (problem.code, problem.message) == ("E402", f"`{key}` cannot be `3`")


def test_a_project_file_says_everything(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("head,relation,tail\nalice,wife,bob\n")
    (tmp_path / "model.csv").write_text("head,relation,tail\nalice,sister,bob\n")
    project = tmp_path / "rulescore.toml"
    project.write_text(
        'facts = "facts.csv"\n[rules]\ntext = "false <- sister(X, Y), wife(X, Y)."\n[predictions]\nmodel = "model.csv"\n'
    )
    assert rulescore.score(project).model_results[0].violating == 1
    assert rulescore.audit(str(project)).rule_results[0].dataset.refuted == 0
    with pytest.raises(InputError, match="E327"):
        rulescore.score(project, {"model": tmp_path / "model.csv"})


def test_without_rules_there_is_nothing_to_score() -> None:
    with pytest.raises(InputError, match=r"E404.*no rules are given"):
        rulescore.score([("alice", "wife", "bob")], {"model": [("alice", "sister", "bob")]})
