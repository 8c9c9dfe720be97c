"""What a user chooses becomes a setting; an option replaces what the project file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from rulescore.cli.options import SettingChoice
from rulescore.cli.setting import load, load_facts, the_models
from rulescore.errors import InputError
from rulescore.setting.choices import Convention, Role

PLAIN = {"facts": ("train.tsv",), "rules": (Path("family.rules"),)}


def test_plain_options_make_a_setting(family: Path) -> None:
    setting = load(SettingChoice(**PLAIN, predictions=("a=good.tsv", "bad.tsv", "a=bad.tsv"), options={"top_k": 3})).setting
    assert [stream.origin for stream in setting.observed] == ["train.tsv"]
    assert [(model.model, len(model.streams), model.top_k) for model in setting.predictions] == [("a", 2, 3), ("bad", 1, 3)]
    assert setting.scoring.convention is Convention.DEFINITION


def test_an_option_replaces_what_the_project_says(family: Path) -> None:
    project = load(SettingChoice(project=Path("family.toml"))).setting
    options = {"convention": "appendix", "roles": "body, head", "threads": 1}
    setting = load(SettingChoice(project=Path("family.toml"), predictions=("new=good.tsv",), options=options)).setting
    assert [model.model for model in project.predictions] == ["good", "bad"]
    assert [model.model for model in setting.predictions] == ["new"]
    assert [source.text for source in setting.rules] == [source.text for source in project.rules]
    assert [stream.origin for stream in setting.observed] == [stream.origin for stream in project.observed]
    assert setting.scoring.convention is Convention.APPENDIX
    assert setting.scoring.roles == {Role.BODY, Role.HEAD}
    assert setting.engine.threads == 1


def test_what_is_not_chosen_stays_as_the_project_says(family: Path) -> None:
    sections = (
        '[scoring]\nconvention = "appendix"\nweights = { mothers = 5 }',
        "[engine]\nthreads = 2",
        '[output]\nfolder = "out"\nformats = ["csv"]',
    )
    Path("family.toml").write_text("\n".join([Path("family.toml").read_text(), *sections]))
    chosen = load(SettingChoice(project=Path("family.toml"), options={"memory_limit": "1GB"}))
    assert chosen.setting.scoring.convention is Convention.APPENDIX
    assert chosen.setting.scoring.weights == {"mothers": 5}
    assert (chosen.setting.engine.threads, chosen.setting.engine.memory_limit) == (2, "1GB")
    assert (chosen.output_folder, list(chosen.formats)) == (Path("out"), ["csv"])


def test_the_project_file_of_the_folder_is_found(family: Path) -> None:
    Path("family.toml").rename("rulescore.toml")
    assert len(load(SettingChoice()).setting.predictions) == 2
    assert load(SettingChoice(**PLAIN)).setting.predictions == ()


def test_facts_need_no_rules(family: Path) -> None:
    assert load_facts(SettingChoice(facts=("train.tsv",))).rules == ()


def test_facts_of_one_predicate_are_named(family: Path) -> None:
    Path("likes.tsv").write_text("a\tb\n")
    setting = load(SettingChoice(facts=("train.tsv", "likes=likes.tsv"), rules=(Path("family.rules"),))).setting
    batches = [batch for stream in setting.observed for batch in stream.open()]
    assert [batch.predicate for batch in batches] == [None, "likes"]


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        (SettingChoice(), "E404"),
        (SettingChoice(facts=("train.tsv",)), "E404"),
        (SettingChoice(project=Path("a.toml"), project_option=Path("b.toml")), "E327"),
        (SettingChoice(facts=("trian.tsv",), rules=(Path("family.rules"),)), "did you mean `train.tsv`"),
        (SettingChoice(**PLAIN, options={"roles": "bdy"}), "did you mean `body`"),
        (SettingChoice(**PLAIN, options={"memory_limit": "lots"}), "memory_limit"),
        (SettingChoice(**PLAIN, options={"delimiter": "::"}), "delimiter"),
    ],
)
def test_a_choice_that_makes_no_setting_is_explained(family: Path, choice: SettingChoice, code: str) -> None:
    with pytest.raises(InputError, match=code):
        load(choice)


def test_all_problems_of_the_options_are_told_together(family: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(SettingChoice(facts=("no.tsv",), rules=(Path("no.rules"),), options={"roles": "bdy"}))
    assert len(caught.value.problems) == 3


def test_a_delimiter_can_be_spelt_out(family: Path) -> None:
    for delimiter in ("tab", "\\t", "\t"):
        (stream,) = load(SettingChoice(**PLAIN, options={"delimiter": delimiter})).setting.observed
        assert sum(batch.rows.num_rows for batch in stream.open()) == 5


def test_all_models_are_meant_unless_one_is_named() -> None:
    assert the_models(None, ["one", "two"]) == ["one", "two"]
    assert the_models(None, []) is None
    assert the_models("two", ["one", "two"]) == ["two"]
    with pytest.raises(InputError, match="did you mean `compgcn`"):
        the_models("compgnc", ["compgcn"])
