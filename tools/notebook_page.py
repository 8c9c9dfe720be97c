"""A notebook as a page: runs its cells and writes them down with what they show."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

_FRAME = re.compile(r'srcdoc="([^"]*)"')


def executed(notebook: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs that its cells have now, run in `folder`; a cell that fails is an error."""
    cells = nbformat.read(notebook, as_version=4)
    NotebookClient(cells, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return cells


def write_page(notebook: nbformat.NotebookNode, page: Path) -> None:
    """Write the cells as Markdown. A frame's document becomes a file of its own, so the search does not read it."""
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        parts.extend(_shown(cell.outputs))
    text, documents = "\n\n".join(parts) + "\n", iter(range(1, 100))

    def framed(document: re.Match[str]) -> str:
        name = f"{page.stem}-{next(documents)}.html"
        (page.parent / name).write_text(html.unescape(document[1]), encoding="utf-8")
        return f'class="report" src="{name}"'

    page.write_text(_FRAME.sub(framed, text), encoding="utf-8")


def _shown(outputs: list[Any]) -> Iterator[str]:
    for output in outputs:
        if output.output_type == "display_data":
            continue  # the progress of long work, which every run has in another form
        data = {"text/plain": output.text} if output.output_type == "stream" else output.data
        if "text/html" in data:
            yield f'<div class="output">\n{data["text/html"]}\n</div>'
        else:
            yield f"```text\n{data['text/plain'].rstrip()}\n```"
