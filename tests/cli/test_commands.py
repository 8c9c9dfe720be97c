"""The commands, end to end: results on stdout, everything else on stderr, exit codes as documented."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import comb
from pathlib import Path

import jsonschema
import pyarrow.parquet
import pytest
from click.testing import Result

from rulescore.errors import Source
from rulescore.language.declarations.incompatible import IncompatibleGroup
from rulescore.language.parser import parse
from rulescore.reporting.json import listing_schema, schema

Run = Callable[..., Result]
PLAIN = ("--facts", "train.tsv", "--rules", "family.rules")
MODELS = ("--predictions", "good=good.tsv", "--predictions", "bad.tsv")


def document(result: Result) -> dict:  # type: ignore[type-arg]
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_score_prints_an_evaluation_that_follows_the_schema(run: Run) -> None:
    found = document(run("score", *PLAIN, *MODELS, "--format", "json"))
    jsonschema.validate(found, schema())
    by_name = {rule["name"]: rule for rule in found["rules"]}
    assert list(found["models"]) == ["good", "bad"]
    assert by_name["no_incest"]["models"]["good"]["score"] == 0
    assert by_name["no_incest"]["models"]["bad"]["score"] == 1
    assert by_name["mothers"]["models"]["good"]["confirmed"] == 1
    counts = {"rows": 3, "kept": 3, "predictions": 2, "duplicates": 1, "already_observed": 1}
    assert counts.items() <= found["models"]["bad"].items()


def test_a_project_file_and_plain_options_give_the_same_numbers(run: Run) -> None:
    plain = document(run("score", *PLAIN, *MODELS, "--format", "json"))
    assert document(run("score", "family.toml", "--format", "json"))["rules"] == plain["rules"]
    assert document(run("score", "--project", "family.toml", "--format", "json"))["models"] == plain["models"]
    Path("family.toml").rename("rulescore.toml")
    assert document(run("score", "--format", "json"))["rules"] == plain["rules"]


def test_score_prints_tables_on_stdout_and_warnings_on_stderr(run: Run) -> None:
    Path("family.rules").write_text(Path("family.rules").read_text() + "false <- mother(X, Y).\n")
    result = run("score", "family.toml")
    assert result.exit_code == 0
    assert result.stdout.startswith("bad: 1 of 2 predictions contradicts what is known. good: none of 1.")
    assert "warning[W" not in result.stdout
    assert "warning[W501]" in result.stderr
    assert "warning" not in run("score", "family.toml", "--quiet").stderr


def test_check_shows_what_audit_warns_of_and_offers_the_rule_that_has_a_rate(run: Run) -> None:
    Path("one.rules").write_text("one: false <- mother(X, Z), mother(Y, Z), X != Y.\n")
    Path("facts.csv").write_text("head,relation,tail\na,mother,c\nb,mother,c\n")
    given = ("--facts", "facts.csv", "--rules", "one.rules")
    assert "warning[W501]" in run("audit", *given).stderr
    result = run("check", *given)
    assert "warning[W501]: the data violate the denial constraint `one`" in result.stderr
    assert "write `X = Y <- mother(X, Z), mother(Y, Z)`, which has the same violations, and a rate" in result.stderr


def test_many_warnings_of_one_code_are_counted(run: Run) -> None:
    more = "".join(f"false <- mother(X, Y), father(Z{number}, Y).\n" for number in range(15))
    Path("family.rules").write_text(Path("family.rules").read_text() + more)
    folded = run("score", "family.toml").stderr
    assert folded.count("warning[W501]") == 1
    assert "always scores 1 (and 14 more)" in folded
    result = run("score", "family.toml", "--detail")
    assert result.stderr.count("warning[W501]") == 10
    assert "… and 5 more of W501" in result.stderr


def test_score_writes_the_files_it_says(run: Run) -> None:
    result = run("score", "family.toml", "--output", "results")
    assert result.exit_code == 0
    names = {path.name for path in Path("results").iterdir()}
    assert names == {"rules.csv", "models.csv", "evaluation.json", "rules.parquet", "models.parquet", "contributions.parquet"}
    assert all(name in result.stderr for name in names)


def test_the_project_says_where_and_how_to_write(run: Run) -> None:
    text = Path("family.toml").read_text()
    Path("family.toml").write_text(text + '\n[output]\nfolder = "results"\nformats = ["markdown"]\n')
    assert run("score", "family.toml").exit_code == 0
    assert [path.name for path in Path("results").iterdir()] == ["evaluation.md"]


@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize(
    "command",
    ["score", "audit", "check", "rules", "incompatibilities", ("violations", "--model", "bad"), ("violations", "--dataset")],
)
def test_every_command_prints_a_table_and_json_that_follows_a_schema(run: Run, command: str | tuple[str, ...], form: str) -> None:
    words = (command,) if isinstance(command, str) else command
    result = run(*words, "family.toml", "--format", form)
    assert result.exit_code == 0, result.stderr
    assert result.stdout
    if form == "json":
        jsonschema.validate(json.loads(result.stdout), schema() if command == "score" else listing_schema())


def test_audit_sorts_by_rate_and_flags(run: Run) -> None:
    rows = document(run("audit", *PLAIN, "--format", "json"))["rows"]
    assert [row["rule"] for row in rows] == ["family.rules:7", "no_incest", "mothers"]
    assert (rows[0]["refuted"], rows[0]["evaluable"], rows[0]["flagged"]) == (2, 2, ["near-1", "fewer-than-5"])
    assert rows[1]["flagged"] == []


def test_audit_writes_its_listing(run: Run) -> None:
    assert run("audit", *PLAIN, "--output", "results").exit_code == 0
    assert {path.name for path in Path("results").iterdir()} == {"audit.json", "audit.csv"}


def test_a_dry_run_prints_what_would_be_counted(run: Run) -> None:
    result = run("audit", "family.toml", "--dry-run")
    assert result.exit_code == 0
    assert re.search(r"^h\(X, Y\) <- .*\n  \d+ rules?, about [\d,]+ groundings?$", result.stdout, re.MULTILINE)
    assert "SELECT" not in result.stdout


def test_explain_prints_statements_and_counts_nothing(run: Run) -> None:
    result = run("score", "family.toml", "--explain")
    assert result.exit_code == 0
    assert "select" in result.stdout.lower()
    assert "hard score" not in result.stdout


def test_check_says_what_was_read(run: Run) -> None:
    rows = {row["what"]: row["number"] for row in document(run("check", "family.toml", "--format", "json"))["rows"]}
    assert (rows["rules"], rows["models"], rows["observed facts"]) == (3, 2, 5)


def test_check_exits_with_two_and_names_every_mistake(run: Run) -> None:
    Path("family.rules").write_text("aunt(X, Z) <- sister(X, Y).\nuncle(X, Z) <- sister(X, Y).\n")
    result = run("check", *PLAIN)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "family.rules:1" in result.stderr
    assert "family.rules:2" in result.stderr


def test_sql_prints_one_rule_s_statement(run: Run) -> None:
    result = run("sql", "mothers", "family.toml")
    assert result.exit_code == 0
    assert "with" in result.stdout.lower()


def test_sql_prints_the_plan_below_as_comments(run: Run) -> None:
    statement = run("sql", "mothers", "family.toml").stdout
    result = run("sql", "mothers", "family.toml", "--plan")
    assert result.stdout.startswith(statement)
    plan = result.stdout.removeprefix(statement).strip().splitlines()
    assert plan
    assert all(line.startswith("--") for line in plan)
    assert any("__rulescore__fact_2" in line for line in plan)


def test_incompatibilities_are_a_rule_file_that_parses(run: Run) -> None:
    result = run("incompatibilities", "--facts", "train.tsv")
    program = parse(Source("stdout", result.stdout))
    assert {frozenset(statement.predicates) for statement in program.statements if isinstance(statement, IncompatibleGroup)} == {
        frozenset({"mother", "father"}),
        frozenset({"mother", "sister"}),
        frozenset({"father", "sister"}),
    }


def test_pairs_that_meet_are_comments_when_asked_for(run: Run) -> None:
    Path("train.tsv").write_text(Path("train.tsv").read_text() + "alice\tparent\tbob\n")
    assert "parent, mother" not in run("incompatibilities", "--facts", "train.tsv").stdout
    lines = run("incompatibilities", "--facts", "train.tsv", "--all").stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("# incompatible") and "mother" in line]
    assert "parent" in line
    assert "together 1 time, expected 0.200, probability 1; 2 and 1 fact" in line


def test_pairs_that_hardly_ever_meet_are_found_and_rare_ones_left_out(run: Run) -> None:
    """10 facts of p and 10 of q, of which 1 meets p. With both orders and r, 40 pairs could carry a fact: 2.5 should meet."""
    rows = [*((f"a{i}", "p", f"b{i}") for i in range(10)), *((f"a{i}", "q", f"b{i}") for i in range(9, 19)), ("a0", "r", "z")]
    Path("many.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    noisy = ("incompatibilities", "--facts", "many.tsv", "--at-most", "1")
    assert [(row["left"], row["right"], row["together"]) for row in document(run(*noisy, "--format", "json"))["rows"]] == [
        ("p", "q", 1),
        ("p", "r", 0),
        ("q", "r", 0),
    ]
    (row,) = document(run(*noisy, "--min-expected", "1", "--format", "json"))["rows"]
    assert (row["expected"], row["tuples"]) == (2.5, 40)
    assert row["probability"] == pytest.approx((comb(30, 10) + 10 * comb(30, 9)) / comb(40, 10))
    text = run(*noisy, "--min-expected", "1", "--all").stdout
    assert "\nincompatible p, q.  # together 1 time, expected 2.50, probability 0.2; 10 and 10 facts\n" in text
    assert "\n# incompatible p, r.  # together 0 times" in text
    assert "2 of them would be expected to meet less than once: `--min-expected 1`" in run(*noisy).stdout


def test_incompatibilities_can_be_written_and_used(run: Run) -> None:
    assert run("incompatibilities", "family.toml", "-o", "pairs.rules").stdout == ""
    rules = ("--rules", "family.rules", "--rules", "pairs.rules")
    assert run("score", "family.toml", *rules).exit_code == 0


def test_violations_name_what_happened(run: Run) -> None:
    found = document(run("violations", "family.toml", "--model", "bad", "--rule", "no_incest", "--format", "json"))
    assert (found["total"], found["shown"]) == (1, 1)
    (row,) = found["rows"]
    assert (row["X"], row["Y"]) == ("alice", "daniel")
    assert (row["head"], row["relation"], row["tail"]) == ("alice", "wife", "daniel")
    assert row["sentence"] == "bad predicts wife(alice, daniel), but sister(alice, daniel) is observed"
    assert row["prediction"] == "wife(alice, daniel)"
    assert row["roles"] == ["body"]
    assert row["body"] == ["sister(alice, daniel)", "wife(alice, daniel)"]


def test_violations_of_the_dataset_have_no_prediction(run: Run) -> None:
    found = document(run("violations", "family.toml", "--dataset", "--limit", "1", "--format", "json"))
    assert (found["total"], found["shown"]) == (2, 1)
    assert found["rows"][0]["prediction"] is None
    assert found["rows"][0]["rule_head"].startswith("father(alice, ")
    assert found["rows"][0]["refuted_by"]


def test_violations_of_one_prediction(run: Run) -> None:
    arguments = ("violations", "family.toml", "--model", "bad", "--format", "json", "--prediction")
    assert document(run(*arguments, "wife(alice, daniel)"))["total"] == 1
    assert document(run(*arguments, "mother(alice, bob)"))["total"] == 1


def test_violations_agree_with_the_counts(run: Run) -> None:
    rules = document(run("score", "family.toml", "--format", "json"))["rules"]
    for rule in rules:
        for model in ("good", "bad"):
            found = document(run("violations", "family.toml", "--rule", rule["name"], "--model", model, "--format", "json"))
            assert found["total"] == rule["models"][model]["refuted"]


def test_violations_are_those_of_all_models_unless_one_is_named(run: Run) -> None:
    every = document(run("violations", "family.toml", "--format", "json"))
    each = [document(run("violations", "family.toml", "--model", model, "--format", "json")) for model in ("good", "bad")]
    assert every["total"] == sum(one["total"] for one in each)
    assert sorted(row["sentence"] for row in every["rows"]) == sorted(row["sentence"] for one in each for row in one["rows"])


@pytest.mark.slow
@pytest.mark.parametrize("by", ["rule", "predicate", "refuter", "entity", "prediction", "pattern"])
def test_violations_are_counted_by_what_they_have_in_common(run: Run, by: str) -> None:
    found = document(run("violations", "family.toml", "--by", by, "--format", "json"))
    assert found["by"] == by
    assert all(row["violations"] for row in found["rows"])
    if by in {"rule", "predicate", "prediction"}:
        assert sum(row["violations"] for row in found["rows"]) == found["total"]
    assert f"Violations by {by}" in run("violations", "family.toml", "--by", by).stdout
    of_data = run("violations", "family.toml", "--dataset", "--by", by)
    assert of_data.exit_code == (2 if by in {"predicate", "prediction"} else 0)
    assert ("error[E262]" in of_data.stderr) == (by in {"predicate", "prediction"})


def test_violations_by_rule_show_the_text_of_a_rule_without_a_name(run: Run) -> None:
    of_the_data = run("violations", "family.toml", "--dataset", "--by", "rule").stdout
    assert re.search(r"^family\.rules:7 +[0-9]+ +father\(X, Y\) <- mother\(X, Y\)$", of_the_data, re.M)
    assert "model" not in of_the_data
    assert re.search(r"^no_incest +bad +1 +false <- sister", run("violations", "family.toml", "--by", "rule").stdout, re.M)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_violations_are_written_to_a_file(run: Run, ending: str) -> None:
    result = run("violations", "family.toml", "-o", f"v.{ending}")
    assert (result.exit_code, result.stdout) == (0, "")
    total = document(run("violations", "family.toml", "--format", "json"))["total"]
    assert f"wrote {total} of {total} violations to v.{ending}" in result.stderr
    if ending == "parquet":
        assert pyarrow.parquet.read_table("v.parquet").num_rows == total
    assert run("violations", "family.toml", "-o", f"v.{ending}").exit_code == 2
    assert run("violations", "family.toml", "-o", f"v.{ending}", "--force").exit_code == 0


@pytest.mark.slow
def test_a_sample_of_violations_is_that_of_its_seed(run: Run) -> None:
    def sample(seed: int) -> list[str]:
        found = document(run("violations", "family.toml", "--sample", "1", "--seed", str(seed), "--format", "json"))
        assert (found["shown"], found["total"] > 1) == (1, True)
        return [row["sentence"] for row in found["rows"]]

    first = sample(1)
    assert sample(1) == first
    assert any(sample(seed) != first for seed in range(2, 12))


def test_violations_are_blocks_on_a_terminal(run: Run) -> None:
    text = run("violations", "family.toml", "--model", "bad", "--rule", "no_incest").stdout
    assert "bad predicts wife(alice, daniel), but sister(alice, daniel) is" in text
    assert "1 of 1 violation shown" in text


def test_rules_and_scores_use_the_same_names(run: Run) -> None:
    Path("family.rules").write_text(Path("family.rules").read_text() + "father(X, Y) <- mother(X, Y).\n")
    listed = [row["rule"] for row in document(run("rules", "family.toml", "--format", "json"))["rows"]]
    assert listed == [rule["name"] for rule in document(run("score", "family.toml", "--format", "json"))["rules"]]


def test_the_appendix_convention_is_an_option(run: Run) -> None:
    Path("family.rules").write_text("father(X, Y) <- mother(X, Y).\nincompatible mother, father.\npredicate wife/2.\n")
    assert document(run("score", "family.toml", "--convention", "appendix", "--format", "json"))["convention"] == "appendix"


def test_an_engine_that_fails_exits_with_three(run: Run) -> None:
    """No database can count within so little time."""
    result = run("score", "family.toml", "--timeout", "1e-9")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(("error: ", "warning["))
    assert "`timeout`" in result.stderr


def test_check_tells_what_each_model_brought(run: Run) -> None:
    rows = {row["what"]: row["number"] for row in document(run("check", "family.toml", "--format", "json"))["rows"]}
    of_bad = {what.removeprefix("bad: "): number for what, number in rows.items() if what.startswith("bad: ")}
    assert of_bad == {"rows": 3, "rows kept": 3, "predictions": 2, "duplicates": 1, "already observed": 1}


def test_a_rule_file_is_overwritten_only_when_told_to(run: Run) -> None:
    Path("pairs.rules").write_text("# edited by hand\n")
    refused = run("incompatibilities", "family.toml", "-o", "pairs.rules")
    assert (refused.exit_code, Path("pairs.rules").read_text()) == (2, "# edited by hand\n")
    assert "error[E603]: `pairs.rules` exists already" in refused.stderr
    assert run("incompatibilities", "family.toml", "-o", "pairs.rules", "--force").exit_code == 0
    assert "incompatible" in Path("pairs.rules").read_text()


def test_one_thing_is_not_plural(run: Run) -> None:
    Path("family.rules").write_text("false <- sister(X, Y), mother(Y, X).\npredicate wife/2.\n")
    assert "  1 rule" in run("score", "family.toml", "--explain").stdout
    assert "1 rules" not in run("score", "family.toml", "--explain").stdout
    assert "1 rules" not in run("audit", "family.toml").stdout


def test_quiet_leaves_errors_and_no_warnings(run: Run) -> None:
    Path("negatives.tsv").write_text("alice\tmother\tbob\n")
    Path("family.rules").write_text("aunt(X, Z) <- sister(X, Y).\n")
    loud = run("check", *PLAIN, "--negatives", "negatives.tsv")
    quiet = run("check", *PLAIN, "--negatives", "negatives.tsv", "-q")
    assert (loud.exit_code, quiet.exit_code) == (2, 2)
    assert "warning[" in loud.stderr
    assert "warning[" not in quiet.stderr
    assert "error[" in quiet.stderr


def test_a_rule_file_cannot_steer_the_terminal(run: Run) -> None:
    Path("family.rules").write_text("mother(X, Y) <- \x1b[2Jfather(X, Y) oops.\n")
    result = run("check", *PLAIN)
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr
    assert "\\x1b[2Jfather" in result.stderr
