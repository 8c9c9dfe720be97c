"""Makes the site in build/site, a folder to read from disk: `make docs`, or `python tools/make_site.py --generator properdocs`.

The pages of docs/, a notebook that is run now, a report of the demo's data and the pages for contributors go to build/docs; a
generator builds them; old addresses lead on to new ones; every link of the result has to lead somewhere.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

from notebook_page import executed, write_page

ROOT = Path(__file__).parents[1]
STAGED, SITE = ROOT / "build" / "docs", ROOT / "build" / "site"
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
PROJECT_PAGES = {"CONTRIBUTING.md": "project/contributing.md", "CHANGELOG.md": "project/changelog.md"}
GENERATORS = ("zensical", "properdocs")
FORWARD = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<meta http-equiv="refresh" content="1; url={target}">
<link rel="canonical" href="{target}">
<p>This page has moved: <a href="{target}">{target}</a></p>
<script>location.replace("{target}" + location.hash)</script>
</html>
"""


def stage() -> None:
    """Put everything that the generator reads into build/docs."""
    shutil.rmtree(STAGED, ignore_errors=True)
    shutil.copytree(ROOT / "docs", STAGED)
    for source, target in PROJECT_PAGES.items():
        page = STAGED / target
        page.parent.mkdir(exist_ok=True)
        page.write_text(_seen_from_project((ROOT / source).read_text(encoding="utf-8")), encoding="utf-8")
    with TemporaryDirectory() as folder:
        write_page(executed(NOTEBOOK, Path(folder)), STAGED / "tutorials" / "notebook.md")
        write_demo_report(Path(folder), STAGED / "start" / "demo-report.html")


def _seen_from_project(text: str) -> str:
    """A page of the repository's root as one of the site: links into docs/ become relative, other files are only named."""
    text = re.sub(r"\]\(docs/", "](../", text)
    return re.sub(r"\[([^]]+)\]\((?!https?:|\.\./|#)([^)]+)\)", r"\1 (`\2`)", text)


def write_demo_report(folder: Path, report: Path, *options: str) -> None:
    """Write the report of the demo, which is made in `folder`, to the file `report`."""
    rulescore = [sys.executable, "-m", "rulescore"]
    subprocess.run([*rulescore, "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    command = [
        *rulescore,
        "report",
        "rulescore-demo/rulescore.toml",
        "--output",
        str(report),
        "--title",
        "A family and three models",
        "--quiet",
        *options,
    ]
    subprocess.run(command, cwd=folder, check=True)


def generate(generator: str) -> None:
    """Build build/site from build/docs; a warning of the generator is an error."""
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", generator, "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    subprocess.run(command, cwd=ROOT, check=True)


def forward() -> None:
    """At each address that a page once had, leave a page that leads to where it is now."""
    with (ROOT / "tools" / "moved.csv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            old, new = (PurePosixPath(row[column]).with_suffix(".html") for column in ("old", "new"))
            page = SITE / old
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(FORWARD.format(target=os.path.relpath(new, old.parent)), encoding="utf-8")


class Page(HTMLParser):
    """The addresses that a page leads to, and the names at which others can enter it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in {"href", "src"} and value:
                self.addresses.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")


def broken_links() -> Iterator[str]:
    """Links within the site that lead nowhere."""
    pages = {path: Page(path) for path in SITE.rglob("*.html")}
    for path, page in pages.items():
        for address in page.addresses:
            parts = urlsplit(address)
            # 404.html is shown at any address, so its links begin at a root that a folder does not have.
            # A report's own script reads the part behind `#` of its links.
            if parts.scheme or parts.netloc or path.name == "404.html" or parts.fragment.startswith("rule="):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                yield f"{path.relative_to(SITE)}: {address}"


def build(generator: str) -> None:
    """Make build/site of build/docs, or say which links are broken."""
    generate(generator)
    forward()
    if broken := sorted(set(broken_links())):
        sys.exit("these links lead nowhere:\n" + "\n".join(broken))


def main() -> None:
    """Make the site."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generator", choices=GENERATORS, default=GENERATORS[0])
    generator = parser.parse_args().generator
    stage()
    build(generator)
    print(f"open {SITE / 'index.html'}")


if __name__ == "__main__":
    main()
