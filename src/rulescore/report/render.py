"""Renders a page as one HTML file, which loads nothing else. Jinja2 escapes all names."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def rendered(page: Any, template: str = "report.html") -> str:
    style, script = _resource("report.css"), _resource("report.js")
    html: str = (
        _environment()
        .get_template(template)
        .render(page=page, style=style, script=script, style_digest=_digest(style), script_digest=_digest(script))
    )
    # A name may hold half of a surrogate pair, but no file can.
    return html.encode(errors="backslashreplace").decode()


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("rulescore.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def _resource(name: str) -> str:
    return (files("rulescore.report") / name).read_text("utf-8")


def _digest(text: str) -> str:
    """The digest by which the page's policy allows its style or script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
