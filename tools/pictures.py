"""Makes the pictures of a report in docs/images from the demo, in Chromium: `python tools/pictures.py`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from make_site import ROOT, write_demo_report

IMAGES = ROOT / "docs" / "images"


@dataclass(frozen=True)
class Picture:
    """`rule`: the page of this rule, not the first screen."""

    name: str
    width: int
    height: int
    rule: int | None = None


PICTURES = (Picture("first", 1200, 800), Picture("rule", 1200, 900, rule=2), Picture("phone", 390, 900))


def draw(report: Path, images: Path, chromium: str) -> None:
    """Make the pictures of a report's file."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for picture in PICTURES:
            page = browser.new_page(viewport={"width": picture.width, "height": picture.height})
            page.goto(report.as_uri() + ("" if picture.rule is None else f"#rule={picture.rule}"))
            page.wait_for_selector("html[data-ready]", state="attached")
            if picture.rule is not None:
                page.wait_for_selector("#rule-page .violation")
            page.screenshot(path=images / f"report-{picture.name}.png")
            page.close()
        browser.close()


def main() -> None:
    """Make the pictures in docs/images, or in another folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=IMAGES)
    images = parser.parse_args().output
    chromium = os.environ.get("RULESCORE_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("needs Chromium: `apt-get install chromium`, or name another by RULESCORE_CHROMIUM")
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        write_demo_report(Path(folder), report, "--truth", "rulescore-demo/held-out.tsv")
        draw(report, images, chromium)


if __name__ == "__main__":
    main()
