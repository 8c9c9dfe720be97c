"""A project file is a program: what needs trust, and who can give it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rulescore.arguments.project import load_project, wishes
from rulescore.arguments.project_file import read_project
from rulescore.errors import InputError
from rulescore.setting.choices import Deed

FACTS = 'facts = "facts.tsv"\n'
CODE = '[functions]\nf = "trust_checks:f"\n'
SQL = '[[sql_rules]]\nname = "x"\nstatement = "SELECT NULL AS prediction, true AS confirmed, false AS refuted"\n'
ENGINE = '[engine]\nurl = "postgresql://me:secret@elsewhere/x"\n'
DATABASE = '[tables.t]\ndatabase = "t.duckdb"\ntable = "t"\nkey = "id"\n'
HIDDEN = '[tables.t]\npath = "t.csv"\nkey = "id"\ntarget = "y"\nhidden = { database = "t.duckdb", table = "t" }\n'
ALL = FACTS + CODE + SQL + ENGINE + 'spill_folder = "/spill"\n' + DATABASE + '[output]\nfolder = "/results"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "facts.tsv").write_text("a\tp\tb\n")
    (folder / "t.csv").write_text("id,y\n1,2\n")
    (folder / "t.duckdb").touch()
    (folder / "trust_checks.py").write_text("from pathlib import Path\nPath(__file__).with_name('ran').touch()\nf = bool\n")
    return folder


def written(folder: Path, text: str) -> Path:
    path = folder / "rulescore.toml"
    path.write_text(text, encoding="utf-8")
    return path


def deeds(path: Path) -> list[Deed]:
    return [wish.deed for wish in wishes(read_project(path))]


@pytest.mark.parametrize(
    ("text", "deed"),
    [
        (CODE, Deed.CODE),
        ('[functions]\nf = { call = "os:system" }\n', Deed.CODE),
        (SQL, Deed.SQL),
        (ENGINE, Deed.ENGINE),
        ('[engine]\nurl = "sc://elsewhere"\n', Deed.ENGINE),
        (DATABASE, Deed.DATABASE),
        (HIDDEN, Deed.DATABASE),
        ('[engine]\nspill_folder = "/spill"\n', Deed.SPILL),
        ('[engine]\nspill_folder = "a/../.."\n', Deed.SPILL),
        ('[output]\nfolder = "/results"\n', Deed.OUTPUT),
        ('[output]\nfolder = "../results"\n', Deed.OUTPUT),
        ('[output]\nfolder = "link/results"\n', Deed.OUTPUT),
        ('[output]\nplots = "../figures"\n', Deed.PLOTS),
    ],
)
def test_what_runs_opens_or_writes_elsewhere_needs_trust(folder: Path, text: str, deed: Deed) -> None:
    (folder / "link").symlink_to("/", target_is_directory=True)
    path = written(folder, FACTS + text)
    assert deeds(path) == [deed]
    with pytest.raises(InputError) as error:
        load_project(path)
    assert [problem.code for problem in error.value.problems] == ["E411"]
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        'rules = { text = "p(X, Y) <- p(Y, X)." }\n',
        '[engine]\nurl = "duckdb"\nspill_folder = "spill"\n[output]\nfolder = "results/today"\nplots = "figures"\n',
        '[tables.t]\npath = "../t.csv"\nkey = "id"\n',
    ],
)
def test_data_rules_and_what_stays_in_the_folder_need_no_trust(folder: Path, text: str) -> None:
    (folder.parent / "t.csv").write_text("id\n1\n")
    path = written(folder, FACTS + text)
    assert deeds(path) == []
    load_project(path)


def test_one_error_lists_everything_with_its_line_and_the_ways_to_trust(folder: Path) -> None:
    with pytest.raises(InputError) as error:
        load_project(written(folder, ALL))
    (problem,) = error.value.problems
    lines = [note.partition(":")[0] for note in problem.notes]
    wanted = ("f =", "name =", "url =", "spill_folder =", "database =", 'folder = "/r')
    assert lines == [f"line {number}" for number, line in enumerate(ALL.splitlines(), 1) if line.startswith(wanted)]
    assert "secret" not in str(error.value)
    for way in ("`--trust`", "RULESCORE_TRUST=1", "trusted=True"):
        assert way in " ".join(problem.helps)


def test_a_file_cannot_say_that_it_is_trusted(folder: Path) -> None:
    for text in (f"{FACTS}{SQL}trusted = true\n", f"trusted = true\n{FACTS}", f"{FACTS}{SQL}trust = true\n"):
        with pytest.raises(InputError) as error:
            load_project(written(folder, text))
        (problem,) = error.value.problems
        assert (problem.code, "`--trust`" in problem.helps[0]) == ("E401", True)


def test_the_caller_and_the_environment_can_say_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(folder, FACTS + CODE)
    assert load_project(path, trusted=True).setting.functions[0].call(1) is True
    for word in ("0", "", "true"):
        monkeypatch.setenv("RULESCORE_TRUST", word)
        with pytest.raises(InputError):
            load_project(path)
    monkeypatch.setenv("RULESCORE_TRUST", "1")
    load_project(path)


def test_what_is_not_going_to_be_done_needs_no_trust_and_is_not_done(folder: Path) -> None:
    path = written(folder, ALL)
    (function,) = load_project(path, does=()).setting.functions
    assert (function.name, function.call(1)) == ("f", None)
    assert not (folder / "ran").exists()


def called(path: Path) -> object:
    return load_project(path, trusted=True).setting.functions[0].call()


@pytest.mark.parametrize("name", ["os", "sys", "zipimport"])
def test_a_module_that_python_has_built_in_does_not_come_from_the_folder(folder: Path, name: str) -> None:
    (folder / f"{name}.py").write_text("def f():\n    return 'harmless'\n")
    path = written(folder, f'{FACTS}[functions]\nf = "{name}:f"\n')
    before = sys.modules[name]
    with pytest.raises(InputError, match=f"module `{name}` has no function `f`"):
        load_project(path, trusted=True)
    assert sys.modules[name] is before


def test_a_module_of_the_folder_runs_whatever_was_imported_before(folder: Path, tmp_path: Path) -> None:
    """The package, not the module alone, may be one of another project."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "facts.tsv").write_text("a\tp\tb\n")
    for place in (other, folder):
        inner = place / "trust_twice" / "inner"
        inner.mkdir(parents=True)
        for name in (inner.parent / "__init__.py", inner / "checks.py"):
            name.write_text(f"def f():\n    return '{place.name}'\n")
        path = written(place, f'{FACTS}[functions]\nf = "trust_twice.inner.checks:f"\n')
        assert called(path) == place.name
    assert called(path) == called(path)


def test_a_module_in_folders_that_are_no_packages_is_found(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "facts.tsv").write_text("a\tp\tb\n")
    for place in (other, folder):
        (place / "trust_spaces" / "inner").mkdir(parents=True)
        (place / "trust_spaces" / "inner" / "checks.py").write_text(f"def f():\n    return '{place.name}'\n")
        path = written(place, f'{FACTS}[functions]\nf = "trust_spaces.inner.checks:f"\n')
        assert called(path) == place.name


def test_a_folder_of_data_does_not_hide_an_installed_module(folder: Path) -> None:
    (folder / "wave").mkdir()
    (folder / "wave" / "open.py").write_text("")
    path = written(folder, f'{FACTS}[functions]\nf = "wave:open"\n')
    assert load_project(path, trusted=True).setting.functions[0].name == "f"


@pytest.mark.parametrize(
    "key",
    ['[output]\nfolder = "made"\n', '[output]\nplots = "made"\n', '[engine]\nspill_folder = "made"\n'],
    ids=["output", "plots", "spill"],
)
def test_a_link_that_leads_out_of_the_folder_needs_trust_and_is_followed_once(folder: Path, tmp_path: Path, key: str) -> None:
    path = written(folder, FACTS + key)
    made, first = folder / "made", tmp_path / "first"
    made.mkdir()
    load_project(path)
    made.rmdir()
    made.symlink_to(first)
    with pytest.raises(InputError) as error:
        load_project(path)
    assert f"`made`, outside its own folder: `{first}`" in str(error.value)
    project = load_project(path, trusted=True)
    made.unlink()
    made.symlink_to(tmp_path / "second")
    # What was looked at is what is used, whatever a link leads to by then.
    assert first in (project.output_folder, project.plots_folder, project.setting.engine.spill_folder)


def test_names_cannot_hide_what_is_asked_for(folder: Path) -> None:
    """A line end would begin a line that looks like ours, and some characters turn the text around them."""
    text = f'{FACTS}[functions]\n"f\\n = help: all is well" = "trust_checks:f"\n[output]\nfolder = "/a\\u202eb\\u001b[2J"\n'
    with pytest.raises(InputError) as error:
        load_project(written(folder, text))
    assert "f\\n = help" in str(error.value)
    assert not {"\u202e", "\x1b"} & set(str(error.value))
