"""What is installed: version, dependencies, the contents of the wheel, and how little an import loads."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from inspect import Parameter, getdoc, isclass, signature
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import rulescore
from rulescore.arguments.python import make_setting

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()


def requirements() -> Iterator[Requirement]:
    """Everything that can be asked for: to run, as an extra, to test, to measure, to build."""
    project = PYPROJECT["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values(), *PYPROJECT["dependency-groups"].values()]
    for text in (text for texts in [*lists, PYPROJECT["build-system"]["requires"]] for text in texts):
        if (requirement := Requirement(text)).name != "rulescore":
            yield requirement


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    with ZipFile(path) as archive:
        yield archive


def test_the_version_is_one_version() -> None:
    assert PYPROJECT["project"]["version"] == rulescore.__version__
    assert f"## [{rulescore.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.xdist_group("groups")
def test_the_tests_of_a_group_run_in_one_process(request: pytest.FixtureRequest) -> None:
    """pytest-xdist puts the group behind the name of a test; a pytest that it does not know ignores it."""
    in_groups = request.config.getoption("loadgroup", default=False)
    assert request.node.nodeid.endswith("@groups") == in_groups


def test_importing_the_package_loads_no_library() -> None:
    """A program that imports `rulescore` pays for it when it uses it."""
    libraries = {"altair", "click", "duckdb", "numpy", "pandas", "polars", "pyarrow", "rich", "sqlglot", "torch"}
    program = "import sys, rulescore; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert "rulescore" in loaded
    assert libraries & set(loaded) == set()


def test_every_public_name_can_be_imported() -> None:
    for name in rulescore.__all__:
        assert getattr(rulescore, name) is not None


def public_things() -> Iterator[tuple[str, object]]:
    """Every public function and class, and the public methods and properties of the classes."""
    for name in (name for name in rulescore.__all__ if not name.startswith("_")):
        thing = getattr(rulescore, name)
        yield name, thing
        for member in vars(thing) if isclass(thing) else ():
            if not member.startswith("_") and (callable(getattr(thing, member)) or isinstance(vars(thing)[member], property)):
                yield f"{name}.{member}", getattr(thing, member)


@pytest.mark.parametrize(("name", "thing"), [pytest.param(*named, id=named[0]) for named in public_things()])
def test_the_docstring_of_a_public_name_tells_each_parameter(name: str, thing: object) -> None:
    documented = getdoc(thing) or ""
    if "**options:" in documented:  # which the docstring of `score` explains
        documented += getdoc(rulescore.score) or ""
    assert documented, name
    told = set(re.findall(r"^ +(?:\*\*)?(\w+): ", documented, re.MULTILINE))
    if not callable(thing) or (isclass(thing) and "__init__" not in vars(thing)):
        return
    assert signature(thing).parameters.keys() - {"self"} - told == set()


def test_completion_shows_the_public_names_and_nothing_else() -> None:
    assert dir(rulescore) == sorted(rulescore.__all__)
    assert {"Any", "TYPE_CHECKING", "annotations"} & vars(rulescore).keys() == set()


@pytest.mark.parametrize("name", ["score", "audit"])
def test_a_misspelt_option_is_told_by_the_function_that_was_called(name: str) -> None:
    arguments = [[]] * (3 if name == "score" else 2)
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'convetion'"):
        getattr(rulescore, name)(*arguments, convetion="definition")


def test_every_option_of_a_setting_is_one_of_both_functions() -> None:
    def options(function: Callable[..., object]) -> dict[str, Parameter]:
        found = signature(function).parameters.items()
        return {name: parameter for name, parameter in found if parameter.kind is Parameter.KEYWORD_ONLY}

    of_score, of_audit = options(rulescore.score), options(rulescore.audit)
    assert of_score.pop("trusted") == of_audit.pop("trusted")  # of project files
    del of_score["contributions"]  # an audit has none
    assert of_score == options(make_setting)
    del of_score["allow_unrefutable"]  # an audit only warns
    del of_score["truth"]  # and has no predictions
    assert of_score == of_audit


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    operators = {str(requirement): {part.operator for part in requirement.specifier} for requirement in requirements()}
    assert {text for text, found in operators.items() if found != {">=", "<"}} == {"torch==2.13.0"}


def test_constraints_are_plain_names_and_versions_that_the_bounds_allow() -> None:
    pins = dict(line.split("==") for line in CONSTRAINTS if not line.startswith("#"))
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in pins)
    assert all(re.fullmatch(r"[0-9.]+(b[0-9]+|\.post[0-9]+)?", version) for version in pins.values())
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    for requirement in requirements():
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


def test_the_extra_all_is_every_other_extra() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    assert Requirement(everything).extras == set(extras) - {"all"}


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: ZipFile) -> None:
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    expected = {name for name in files if "__pycache__" not in name and ".egg-info/" not in name}
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == expected
    assert {"rulescore/py.typed", "rulescore/reporting/schema.json"} <= held


def test_the_wheel_names_licence_and_command(wheel: ZipFile) -> None:
    folder = f"rulescore-{rulescore.__version__}.dist-info"
    assert "Apache License" in wheel.read(f"{folder}/licenses/LICENSE").decode()
    assert "rulescore = rulescore.__main__:main" in wheel.read(f"{folder}/entry_points.txt").decode()
    assert "License-Expression: Apache-2.0" in wheel.read(f"{folder}/METADATA").decode()
