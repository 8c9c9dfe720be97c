"""A project file is a program: what needs trust, who can give it, and what is remembered."""

from __future__ import annotations

import json
import os
import py_compile
import stat
import sys
import threading
from pathlib import Path

import pytest

from rulescore.arguments.deeds import Deed
from rulescore.arguments.project import load_project
from rulescore.arguments.project_file import ProjectFile, read_project
from rulescore.arguments.trust import digest, forget, is_remembered, remember, remembered, wishes
from rulescore.errors import InputError

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


def trust(path: Path) -> None:
    file = read_project(path)
    remember(file, digest(file))


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
    for way in ("rulescore trust ", "`--trust`", "RULESCORE_TRUST=1", "trusted=True"):
        assert way in " ".join(problem.helps)


def test_a_file_cannot_say_that_it_is_trusted(folder: Path) -> None:
    for text in (f"{FACTS}{SQL}trusted = true\n", f"trusted = true\n{FACTS}", f"{FACTS}{SQL}trust = true\n"):
        with pytest.raises(InputError) as error:
            load_project(written(folder, text))
        (problem,) = error.value.problems
        assert (problem.code, "`rulescore trust`" in problem.helps[0]) == ("E401", True)


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


def test_a_remembered_file_is_trusted_until_it_or_a_module_it_names_changes(folder: Path) -> None:
    path = written(folder, FACTS + CODE)
    trust(path)
    load_project(path)
    (folder / "trust_checks.py").write_text("f = bool  # another one\n")
    with pytest.raises(InputError, match="it has changed since"):
        load_project(path)
    trust(path)
    load_project(path)
    written(folder, f"# another one\n{FACTS}{CODE}")
    with pytest.raises(InputError, match="it has changed since"):
        load_project(path)


def test_a_module_in_a_package_is_covered_with_the_packages_around_it(folder: Path) -> None:
    (folder / "trust_pack").mkdir()
    names = [folder / "trust_pack" / name for name in ("__init__.py", "checks.py")]
    for name in names:
        name.write_text("f = bool\n")
    file = read_project(written(folder, FACTS + '[functions]\nf = "trust_pack.checks:f"\n'))
    seen = {digest(file)}
    for name in names:
        name.write_text("f = str\n")
        seen.add(digest(file))
    assert len(seen) == 3


def shown(path: Path) -> list[str]:
    return [line for wish in wishes(read_project(path)) for line in wish.details]


def called(path: Path) -> object:
    return load_project(path, trusted=True).setting.functions[0].call()


@pytest.mark.parametrize("name", ["os", "sys", "zipimport"])
def test_a_module_that_python_has_built_in_is_not_said_to_come_from_the_folder(folder: Path, name: str) -> None:
    (folder / f"{name}.py").write_text("def f():\n    return 'harmless'\n")
    path = written(folder, f'{FACTS}[functions]\nf = "{name}:f"\n')
    before = sys.modules[name]
    assert shown(path) == ["from where modules are installed"]
    with pytest.raises(InputError, match=f"module `{name}` has no function `f`"):
        load_project(path, trusted=True)
    assert sys.modules[name] is before


@pytest.mark.parametrize("module", ["trust_cached", "trust_cached_pack", "trust_cached_pack.inner"])
def test_bytecode_beside_a_module_is_not_run(folder: Path, module: str) -> None:
    """Bytecode that says it needs no check is run by Python whatever the source is, and nobody can read it."""
    for source in ("trust_cached.py", "trust_cached_pack/__init__.py", "trust_cached_pack/inner.py"):
        file = folder / source
        file.parent.mkdir(exist_ok=True)
        file.write_text("def f():\n    return 'hidden'\n")
        py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        file.write_text("def f():\n    return 'shown'\n")
    path = written(folder, f'{FACTS}[functions]\nf = "{module}:f"\n')
    assert called(path) == "shown"
    assert shown(path)[-1] in ("from trust_cached.py", "from trust_cached_pack/__init__.py", "from trust_cached_pack/inner.py")


def test_bytecode_of_what_a_module_imports_is_not_run(folder: Path) -> None:
    (folder / "trust_helper.py").write_text("answer = 'hidden'\n")
    py_compile.compile(str(folder / "trust_helper.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    (folder / "trust_helper.py").write_text("answer = 'shown'\n")
    (folder / "trust_helped.py").write_text("from trust_helper import answer\ndef f():\n    return answer\n")
    assert called(written(folder, f'{FACTS}[functions]\nf = "trust_helped:f"\n')) == "shown"
    assert not list(folder.glob("__pycache__/trust_helped.*"))


def test_bytecode_without_source_is_shown_as_what_it_is(folder: Path) -> None:
    (folder / "source").write_text("def f():\n    return 'bare'\n")
    py_compile.compile(str(folder / "source"), cfile=str(folder / "trust_bare.pyc"))
    path = written(folder, f'{FACTS}[functions]\nf = "trust_bare:f"\n')
    assert shown(path) == ["from trust_bare.pyc"]
    assert called(path) == "bare"


def test_what_is_shown_is_what_runs_whatever_was_imported_before(folder: Path, tmp_path: Path) -> None:
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
        assert shown(path) == ["from trust_twice/__init__.py", "from trust_twice/inner/checks.py"]
        assert called(path) == place.name
    assert called(path) == called(path)


def test_a_module_in_folders_that_are_no_packages_is_found(folder: Path) -> None:
    (folder / "trust_spaces" / "inner").mkdir(parents=True)
    (folder / "trust_spaces" / "inner" / "checks.py").write_text("def f():\n    return 1\n")
    path = written(folder, f'{FACTS}[functions]\nf = "trust_spaces.inner.checks:f"\n')
    assert shown(path) == ["from trust_spaces/inner/checks.py"]
    assert called(path) == 1


def test_a_folder_of_data_does_not_hide_an_installed_module(folder: Path) -> None:
    (folder / "wave").mkdir()
    (folder / "wave" / "open.py").write_text("")
    path = written(folder, f'{FACTS}[functions]\nf = "wave:open"\n')
    assert shown(path) == ["from where modules are installed"]
    assert load_project(path, trusted=True).setting.functions[0].name == "f"


def test_a_copy_or_a_link_in_another_folder_is_another_file(folder: Path, tmp_path: Path) -> None:
    path = written(folder, FACTS + SQL)
    trust(path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "facts.tsv").write_text("a\tp\tb\n")
    (other / "copy.toml").write_bytes(path.read_bytes())
    (other / "rulescore.toml").symlink_to(path)
    (tmp_path / "same").symlink_to(folder)
    for name in ("copy.toml", "rulescore.toml"):
        with pytest.raises(InputError, match="E411"):
            load_project(other / name)
    load_project(tmp_path / "same" / "rulescore.toml")


@pytest.mark.parametrize(
    "key",
    ['[output]\nfolder = "made"\n', '[output]\nplots = "made"\n', '[engine]\nspill_folder = "made"\n'],
    ids=["output", "plots", "spill"],
)
def test_a_folder_that_leads_elsewhere_than_when_trust_was_given_is_not_trusted(folder: Path, tmp_path: Path, key: str) -> None:
    path = written(folder, FACTS + SQL + key)
    made, first, second = folder / "made", tmp_path / "first", tmp_path / "second"
    trust(path)
    load_project(path)
    made.mkdir()
    load_project(path)
    made.rmdir()
    made.symlink_to(first)
    with pytest.raises(InputError, match="outside its own folder"):
        load_project(path)
    assert str(first) in shown(path)[-1]
    trust(path)
    project = load_project(path)
    made.unlink()
    made.symlink_to(second)
    # What was looked at is what is used, whatever a link leads to by then.
    assert first in (project.output_folder, project.plots_folder, project.setting.engine.spill_folder)
    with pytest.raises(InputError, match="leads elsewhere"):
        load_project(path)


def test_the_memory_is_its_owner_s_alone_and_can_forget(folder: Path) -> None:
    path = written(folder, FACTS + SQL)
    trust(path)
    memory = Path(os.environ["XDG_CONFIG_HOME"]) / "rulescore" / "trusted.json"
    assert stat.S_IMODE(memory.stat().st_mode) == 0o600
    assert [one.name for one in memory.parent.iterdir()] == ["trusted.json"]
    known = remembered()[str(path)]
    assert is_remembered(path, known)
    assert not is_remembered(folder / "gone.toml", known)
    assert forget(path)
    assert not forget(path)
    with pytest.raises(InputError, match="E411"):
        load_project(path)


def test_a_module_that_cannot_be_read_is_named_and_not_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(folder, FACTS + CODE)
    trust(path)
    read = Path.read_bytes

    def denied(file: Path) -> bytes:
        if file.name == "trust_checks.py":
            raise PermissionError(13, "Permission denied", str(file))
        return read(file)

    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(InputError) as error:
        load_project(path)
    (problem,) = error.value.problems
    assert (problem.code, problem.notes) == ("E412", ("permission denied",))
    assert str(folder / "trust_checks.py") in problem.message
    assert not is_remembered(path, remembered()[str(path)])


def test_a_memory_that_cannot_be_written_stays_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(folder, FACTS + SQL)
    trust(path)
    known = remembered()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"E412(.|\n)*no space left"):
        remember(read_project(path), "another")
    assert remembered() == known
    memory = Path(os.environ["XDG_CONFIG_HOME"]) / "rulescore"
    assert [one.name for one in memory.iterdir()] == ["trusted.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is locked there")
def test_two_who_trust_at_once_are_both_remembered(tmp_path: Path) -> None:
    files = []
    for number in range(8):
        (tmp_path / str(number)).mkdir()
        files.append(read_project(written(tmp_path / str(number), FACTS + SQL)))
    begun = threading.Barrier(len(files))

    def one(file: ProjectFile) -> None:
        begun.wait()
        remember(file, "seen")

    threads = [threading.Thread(target=one, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {str(file.path) for file in files} <= remembered().keys()


def test_a_relative_configuration_folder_is_not_believed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be found in the folder of whoever wrote the project."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "configuration")
    monkeypatch.chdir(folder)
    path = written(folder, FACTS + SQL)
    memory = folder / "configuration" / "rulescore" / "trusted.json"
    memory.parent.mkdir(parents=True)
    memory.write_text(json.dumps({str(path): digest(read_project(path))}))
    with pytest.raises(InputError, match="E411"):
        load_project(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}'])
def test_a_damaged_memory_is_an_error_and_no_trust(folder: Path, text: str) -> None:
    memory = Path(os.environ["XDG_CONFIG_HOME"]) / "rulescore" / "trusted.json"
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(text)
    with pytest.raises(InputError, match="E412"):
        load_project(written(folder, FACTS + SQL))
    load_project(written(folder, FACTS))
    memory.unlink()


def test_names_cannot_hide_what_is_asked_for(folder: Path) -> None:
    """A line end would begin a line that looks like ours, and some characters turn the text around them."""
    text = f'{FACTS}[functions]\n"f\\n = help: all is well" = "trust_checks:f"\n[output]\nfolder = "/a\\u202eb\\u001b[2J"\n'
    with pytest.raises(InputError) as error:
        load_project(written(folder, text))
    assert "f\\n = help" in str(error.value)
    assert not {"\u202e", "\x1b"} & set(str(error.value))
