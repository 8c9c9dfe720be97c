"""Without the library that it is for, an integration says how to install it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(("library", "extra"), [("torch", "pykeen"), ("mlflow", "mlflow"), ("wandb", "wandb")])
def test_a_missing_library_is_told_with_the_command(library: str, extra: str) -> None:
    program = f"import sys; sys.modules[{library!r}] = None; import rulescore.integrations.{extra}"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stderr
    assert "E938" in told
    assert f"pip install '.[{extra}]'" in told
