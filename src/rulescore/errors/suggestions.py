"""The known name that a misspelt one probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

_LONGEST_MISSPELT = 100


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """The known name a misspelt one probably meant, if any is close. We skip long names: nobody mistypes them, and
    comparing takes the product of two lengths."""
    if len(word) > _LONGEST_MISSPELT:
        return None
    short = [name for name in known if len(name) <= _LONGEST_MISSPELT]
    # The namespace that two IRIs share does not make their names alike.
    namespace = word[: max(word.rfind("/"), word.rfind("#")) + 1]
    ends = {name.removeprefix(namespace): name for name in short if namespace and name.startswith(namespace)}
    close = _closest(word.removeprefix(namespace), ends)
    return ends[close] if close is not None else _closest(word, set(short) - set(ends.values()))


def _closest(word: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, sorted(known), n=1, cutoff=0.75)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A line of help for a name that is not known, if one is close."""
    close = suggestion(word, known)
    return None if close is None else f"did you mean `{close}`?"


def meant(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """`did_you_mean` as the help lines of a problem."""
    found = did_you_mean(word, known)
    return () if found is None else (found,)


def meant_file(path: Path, shown: Path | None = None) -> tuple[str, ...]:
    """The same for a missing file, if a file beside it has a similar name. `shown`: the path as the user wrote it."""
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    close = suggestion(path.name, beside)
    return () if close is None else (f"did you mean `{(shown or path).with_name(close)}`?",)
