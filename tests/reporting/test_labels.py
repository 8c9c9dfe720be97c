"""People see labels in place of ids, wherever a name is shown; programs see ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import rulescore
from rulescore.arguments.project import load_project
from rulescore.cli.main import program
from rulescore.errors import InputError
from rulescore.reporting.violations import violation_table
from rulescore.scoring.labels import Labels, short_names
from rulescore.session.session import Session

FACTS = "Q1\tP3\tQ4\nQ4\tP22\tQ5\nQ1\tP9\tQ5\nQ6\tP25\tQ5\n"
RULES = "no_incest: false <- P3(X, Y), P26(X, Y).\nP9(X, Z) <- P3(X, Y), P22(Y, Z).\nincompatible P9, P25.\n"
LABELS = {"Q1": "Alice A.", "Q4": "Daniel D.", "Q5": "Emma", "Q6": "Fiona", "P3": "sister", "P22": "father", "P9": "aunt of"}
LABELS |= {"P25": "mother", "P26": "wife"}
IDS = ("P3(", "P22", "P9(", "P25", "P26", "Q1", "Q4", "Q5", "Q6")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("facts.tsv").write_text(FACTS, "utf-8")
    Path("model.tsv").write_text("Q6\tP3\tQ4\nQ1\tP26\tQ4\n", "utf-8")
    Path("family.rules").write_text(RULES, "utf-8")
    Path("labels.tsv").write_text("".join(f"{name}\t{label}\n" for name, label in LABELS.items()), "utf-8")
    return tmp_path


def run(*words: str) -> str:
    data = ["--facts", "facts.tsv", "--rules", "family.rules", "--predictions", "model.tsv", "--quiet"]
    done = CliRunner().invoke(program, [words[0], *data, *words[1:]])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("command", ["score", "audit", "violations"])
@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_people_see_labels(folder: Path, command: str, form: str):
    words = (command, "--format", form) if command != "score" else (command, "--table", "rules", "--format", form)
    if command == "audit":
        done = CliRunner().invoke(
            program, ["audit", "--facts", "facts.tsv", "--rules", "family.rules", "-q", "--format", form, "--labels", "labels.tsv"]
        )
        # Without predictions nothing has the predicate of the constraint.
        assert done.exit_code == 2
        Path("family.rules").write_text(f"{RULES}predicate P26/2.", "utf-8")
    text = run(*words, "--labels", "labels.tsv")
    assert "sister" in text
    assert not any(name in text for name in IDS)


@pytest.mark.parametrize("by", ["pattern", "predicate", "entity", "refuter", "prediction"])
def test_counts_have_labels(folder: Path, by: str):
    text = run("violations", "--by", by, "--labels", "labels.tsv")
    assert any(label in text for label in LABELS.values())
    assert not any(name in text for name in IDS)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_programs_see_ids(folder: Path, form: str):
    assert run("score", "--format", form, "--labels", "labels.tsv").count("P3") == run("score", "--format", form).count("P3") > 0
    assert run("violations", "--format", form, "--labels", "labels.tsv") == run("violations", "--format", form)


def test_a_project_and_python_take_labels(folder: Path):
    Path("rulescore.toml").write_text(
        'facts = "facts.tsv"\nrules = "family.rules"\n[predictions]\nmodel = "model.tsv"\n[labels]\npath = "labels.tsv"\n', "utf-8"
    )
    with Session(load_project("rulescore.toml").setting) as session:
        assert session.labels.names == session.evaluate().labels.names == LABELS
    for labels in (LABELS, "labels.tsv", ["labels.tsv"]):
        result = rulescore.score("facts.tsv", {"model": "model.tsv"}, "family.rules", labels=labels)
        assert "aunt of(X, Z) <- sister(X, Y), father(Y, Z)" in result.to_text("rules")
        assert "wife(Alice A., Daniel D.)" in result.to_text("violations")
        assert "sister(Fiona, Daniel D.)" in result.report().html
    Path("rulescore.toml").write_text('facts = "facts.tsv"\nrules = "family.rules"\nlabels = "missing.tsv"\n', "utf-8")
    with pytest.raises(InputError, match="E301"):
        load_project("rulescore.toml")


def test_a_rule_without_a_name_is_its_text_in_latex(folder: Path):
    text = run("score", "--table", "rules", "--format", "latex")
    assert "family.rules:2" not in text
    assert text.count(r"P9(X, Z) \textless{}{-} P3(X, Y), P22(Y, Z)") == 1
    assert r"no\_incest" in text


def test_names_of_rdf_have_the_prefixes_of_their_files(tmp_path: Path):
    facts = "@prefix ex: <http://example.org/> .\n@prefix : <http://other.org/#> .\nex:a ex:knows :b .\n:b ex:knows ex:c .\n"
    (tmp_path / "facts.ttl").write_text(facts, "utf-8")
    rules = "symmetric: `http://example.org/knows`(X, Y) <- `http://example.org/knows`(Y, X). closed `http://example.org/knows`."
    with rulescore.open(tmp_path / "facts.ttl", None, rules) as session:
        result = session.audit()
        text = result.to_text("violations")
        table = violation_table(session.session.violations())
    assert "symmetric" in text
    assert "ex:knows(ex:a, :b)" in text
    assert "http://" not in text
    assert "http://example.org/knows" in json.dumps(table.to_pylist())


def test_only_names_of_atoms_are_replaced():
    labels = Labels({"5": "Kira", "p": "parent", "is": "was", "a b": "Ab"}, {"http://e.org/": "e"})
    assert labels.of_text("p(5, X), abs(Q - 5) <= 5 <- q(id: 5, n: 6)") == "parent(Kira, X), abs(Q - 5) <= 5 <- q(id: Kira, n: 6)"
    assert (
        labels.of_text('m predicts p("a b", 5), but this is missed by 5') == "m predicts parent(Ab, Kira), but this is missed by 5"
    )
    assert labels.of_text("`http://e.org/r`(X, `p`)") == "e:r(X, `p`)"
    assert Labels().of_text("p(5)") == "p(5)"


def test_a_long_end_loses_its_middle_unless_two_would_look_the_same():
    names = ["/a/b/x./c/d/e", "/a/f/y./c/d/e", "/g/h/x./k/d/e", "/i/plain"]
    found = short_names(names)
    assert found["/i/plain"] == "plain"
    assert found["/a/f/y./c/d/e"] == "y./…/e"
    assert len(set(found.values())) == len(names)
