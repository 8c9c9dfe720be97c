"""Hides pandas from pyarrow, since no command uses it.

pyarrow imports pandas, if it is installed, with the first Python value that it converts, to find out whether pandas made the value:
a quarter of a second. A command reads files, so that pandas made none. A user's own module, and Spark, still get pandas.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Hiding:
    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is hidden", name=name)
        return None


_HIDING = _Hiding()


def hide_pandas() -> None:
    """Only the command line may call this: in a user's own process pandas is the user's."""
    sys.meta_path.insert(0, _HIDING)


def show_pandas() -> None:
    """Call this before importing a library or a module that may need pandas."""
    if _HIDING in sys.meta_path:
        sys.meta_path.remove(_HIDING)
