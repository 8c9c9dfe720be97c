"""Everything of a release but its publication: `make release-check`. It ends with the command that a person may then run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def version(root: Path = ROOT) -> str:
    """The version, if all files that name it agree and the changelog has a section for it."""
    declared = str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    if f'__version__ = "{declared}"' not in (root / "src" / "rulescore" / "version.py").read_text(encoding="utf-8"):
        sys.exit(f"src/rulescore/version.py does not have the version of pyproject.toml, {declared}")
    heading = re.search(
        rf"^## \[{re.escape(declared)}\] - (.+)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if heading is None:
        sys.exit(f"CHANGELOG.md has no section for {declared}")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", heading[1]):
        print(f"CHANGELOG.md says `{heading[1]}` of {declared}: write the date before you publish")
    return declared


def run(*command: str | Path, folder: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=folder, check=True)


def build(version: str) -> list[Path]:
    """The wheel and the source distribution, which an index would take."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "--directory", DIST)
    made = sorted(DIST.iterdir())
    if [path.name for path in made] != [f"rulescore-{version}-py3-none-any.whl", f"rulescore-{version}.tar.gz"]:
        sys.exit(f"dist has {', '.join(path.name for path in made)}")
    run(sys.executable, "-m", "twine", "check", "--strict", *made)
    return made


def try_wheel(wheel: Path) -> None:
    """Install the wheel where nothing else is, and run the demo there."""
    with TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel)
        subprocess.run([python, "-m", "rulescore", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Check the release, or stop at the first thing that is wrong with it."""
    number = version()
    made = build(number)
    try_wheel(made[0])
    for generator in ("properdocs", "zensical"):
        run(sys.executable, ROOT / "tools" / "make_site.py", "--generator", generator)
    print(f"\nrulescore {number} can be published; nothing has been. The next step is a person's:\n")
    print(f"  git tag v{number} && git push origin v{number}")


if __name__ == "__main__":
    main()
