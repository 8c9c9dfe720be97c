"""The demo is deterministic, says what is true, and can be repeated from the files it writes."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from kinship import made_tables, make_kinship, make_predictions
from rulescore.cli.main import program
from rulescore.demo.files import Demo, run, score_motivating_example
from rulescore.errors import InputError
from rulescore.scoring.results import ModelResult, RuleKind

pytestmark = pytest.mark.slow

OPPOSITE = {"mother": "father", "daughter": "son", "wife": "husband", "sister": "brother", "aunt": "uncle", "niece": "nephew"}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return run(tmp_path_factory.mktemp("demo") / "kinship")


def models(found: Demo) -> dict[str, ModelResult]:
    return {model.name: model for model in found.kinship.model_results}


def test_the_motivating_example_scores_0_and_1() -> None:
    scores = {model.name: model.hard_score.value for model in score_motivating_example().model_results}
    assert scores == {"first": 0, "second": 1}


def test_two_models_are_equally_accurate_and_the_rules_tell_them_apart(found: Demo) -> None:
    assert found.accuracies["careful"] == found.accuracies["gender-blind"]
    careful, gender_blind = models(found)["careful"], models(found)["gender-blind"]
    assert 10 * careful.hard_score.value < gender_blind.hard_score.value
    assert 1.5 * careful.soft_mean.value < gender_blind.soft_mean.value


def test_the_least_accurate_model_does_not_have_the_highest_hard_score(found: Demo) -> None:
    assert found.accuracies["reckless"].share < found.accuracies["gender-blind"].share
    assert models(found)["reckless"].hard_score.value < models(found)["gender-blind"].hard_score.value


def test_the_rules_are_hard_and_soft_and_give_no_warning(found: Demo) -> None:
    kinds = [rule.kind for rule in found.kinship.rule_results]
    assert kinds.count(RuleKind.HARD) >= 5
    assert kinds.count(RuleKind.SOFT) >= 5
    assert kinds.count(RuleKind.UNDETERMINED) == 0
    assert found.kinship.warnings == ()


def test_a_soft_rule_has_few_exceptions(found: Demo) -> None:
    rates = [rule.dataset.rate for rule in found.kinship.rule_results if rule.kind is RuleKind.SOFT]
    assert all(0 < rate < 0.25 for rate in rates)


def test_the_tables_are_made_from_one_seed(found: Demo) -> None:
    tables = {path.name: path.read_text(encoding="utf-8") for path in found.written if path.suffix == ".tsv"}
    assert tables == made_tables()


@pytest.mark.parametrize("seed", range(5))
def test_nobody_is_two_things_to_one_person(seed: int) -> None:
    """What the rule file calls incompatible never happens in the generated graph."""
    graph = make_kinship(Random(seed))
    pairs = [(head, tail) for head, _, tail in (*graph.observed, *graph.held_out)]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("seed", range(5))
def test_the_models_fail_in_the_way_their_names_say(seed: int) -> None:
    random = Random(seed)
    graph = make_kinship(random)
    answers = make_predictions(graph, random)
    people = {person.name: person for person in graph.people}
    opposite = OPPOSITE | {male: female for female, male in OPPOSITE.items()}
    for truth, careful, gender_blind in zip(graph.held_out, answers["careful"], answers["gender-blind"], strict=True):
        assert (careful == truth) == (gender_blind == truth)
        right, stranger = people[truth[0]], people[careful[0]]
        assert (right.sex, right.generation) == (stranger.sex, stranger.generation)
        assert gender_blind == truth or (gender_blind[0], opposite[truth[1]], truth[2]) in graph.observed


def test_two_runs_write_the_same_files(found: Demo, tmp_path: Path) -> None:
    again = run(tmp_path)
    assert [path.name for path in again.written] == [path.name for path in found.written]
    for first, second in zip(found.written, again.written, strict=True):
        assert _timeless(first) == _timeless(second), first.name


def _timeless(path: Path) -> object:
    """What is in a file, without the date of the run and the folder that inputs and rules lie in."""
    if path.suffix != ".json":
        return path.read_bytes()
    document = json.loads(path.read_text(encoding="utf-8"))
    document["run"].pop("date")
    for one in document["run"]["inputs"]:
        one["name"] = Path(one["name"]).name
    for rule in document["rules"]:
        rule["place"] = Path(rule["place"]).name
    return document


def test_the_demo_may_run_twice_in_one_folder(tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path)


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    """Whoever runs the demo in a project of their own keeps that project."""
    (tmp_path / "rulescore.toml").write_text('facts = "mine.tsv"\n', encoding="utf-8")
    with pytest.raises(InputError, match="holds files that the demo did not write"):
        run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["rulescore.toml"]


def test_scoring_the_project_file_gives_what_the_demo_found(found: Demo) -> None:
    result = CliRunner().invoke(program, ["score", str(found.project), "--format", "json"])
    assert result.exit_code == 0, result.output
    written = found.project.parent / "results" / "evaluation.json"
    saved = json.loads(written.read_text(encoding="utf-8"))
    # What is printed does not say what it came from.
    assert json.loads(result.stdout) == {**saved, "run": None, "contributions": None}


@pytest.mark.parametrize("width", [80, 120])
def test_the_text_fits_the_terminal_and_has_the_figures(width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(program, ["demo"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line for line in lines if len(line) > width and not line.startswith("  rulescore ")] == []
    table = {line.split()[0]: line.split() for line in lines if line.startswith(("careful ", "gender-blind "))}
    assert table["careful"][5] == table["gender-blind"][5] == "0.6990"
    assert table["careful"][1:5] == ["0", "of", "412", "(0.0%)"]
    assert f"RVS hard is {table['careful'][6]} and {table['gender-blind'][6]}" in " ".join(result.stdout.split())


def test_every_command_the_text_names_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(program, ["demo", "--folder", "family"]).stdout
    commands = [line.split()[1:] for line in shown.splitlines() if line.startswith("  rulescore ")]
    assert [command[0] for command in commands] == ["score", "audit", "violations"]
    for command in commands:
        result = CliRunner().invoke(program, command)
        assert result.exit_code == 0, result.output
