"""Names for people: labels of entities and predicates, prefixes of IRIs, and short ends of long names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from rulescore.errors.texts import visible
from rulescore.language.terms import write_value
from rulescore.scoring.results import RuleInfo
from rulescore.values import Value

_ENDS = "/#"
_OF_NAMES = ("incompatible", "closed")
_MOST_NAMES = 12
_SOME_NAME = r"`[^`]+`|[\w.:/#-]+"
_TEXT = r'"(?:[^"\\]|\\.)*"'
_ATOM = re.compile(rf"(?P<predicate>{_SOME_NAME})\((?P<terms>(?:{_TEXT}|[^()\"])*)\)")
_NAME = re.compile(_SOME_NAME)
_NAMED = re.compile(r"(?:^|, )\w+: ")
_TERM = re.compile(rf"(?P<before>(?:^|, )(?:\w+: )?)(?P<term>{_TEXT}|[^,\"]+)(?=,|$)")


@dataclass(frozen=True, slots=True)
class Labels:
    """`names`: labels by id. `prefixes`: by the beginning of the IRIs that they stand for. `short`: ends of predicates without a
    label, by their names."""

    names: Mapping[str, str] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    short: Mapping[str, str] = field(default_factory=dict)

    def of_value(self, value: Value | None) -> str:
        if value is None:
            return "_"
        text = value if isinstance(value, str) else write_value(value)
        return visible(self.names.get(text) or self._prefixed(text) or text)

    def of_predicate(self, name: str) -> str:
        return visible(self.names.get(name) or self._prefixed(name) or self.short.get(name, name))

    def of_text(self, text: str) -> str:
        """A text of atoms, such as a rule, with labels in place of predicates and constants."""
        return _ATOM.sub(self._atom, text) if self else text

    def of_declaration(self, text: str) -> str:
        """A declaration with labels in place of predicates; of a long list only the first names."""
        keyword, _, listed = text.partition(" ")
        names = [self.of_predicate(name.strip("`")) for name in _NAME.findall(listed)]
        if keyword not in _OF_NAMES or "(" in text or not names:
            return self.of_text(text)
        further = f", … {len(names):,} in all" if len(names) > _MOST_NAMES else ""
        return f"{keyword} {', '.join(names[:_MOST_NAMES])}{further}"

    def _atom(self, atom: re.Match[str]) -> str:
        has_labels = self.names or self.prefixes
        terms = _TERM.sub(lambda term: term["before"] + self._term(term["term"]), atom["terms"]) if has_labels else atom["terms"]
        written = atom["predicate"]
        label = self.of_predicate(written.strip("`"))
        return f"{written if label == written.strip('`') else label}({terms})"

    def _term(self, written: str) -> str:
        text = written[1:-1] if written.startswith('"') else written
        label = self.of_value(text)
        return written if label == text else label

    def _prefixed(self, name: str) -> str | None:
        """An IRI with its prefix, if what follows has no further parts."""
        place = max(name.rfind("/"), name.rfind("#")) + 1
        prefix = self.prefixes.get(name[:place])
        return None if prefix is None or place == len(name) else f"{prefix}:{name[place:]}"

    def with_names(self, names: Mapping[str, str]) -> Labels:
        """The same labels, with further labels that replace them."""
        return replace(self, names={**self.names, **names})

    def of_predicates(self, names: Iterable[str]) -> Labels:
        """The same labels, with short ends that distinguish these names."""
        return replace(self, short=short_names(names))


def predicates_in(text: str) -> list[str]:
    """The predicates of the atoms of a text."""
    return [atom["predicate"].strip("`") for atom in _ATOM.finditer(text)]


def is_of_facts(text: str) -> bool:
    """Whether the text of a rule speaks of facts of a graph alone: it names no attributes of tables and compares no values, though
    its body may ask that two variables differ."""
    head, _, body = _ATOM.sub("", text).partition("<-")
    has_attributes = any(_NAMED.search(atom["terms"]) for atom in _ATOM.finditer(text))
    return not has_attributes and not any(sign in head + body.replace("!=", "") for sign in "<>=")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """The shortest end of each name that no other name has: `contains` for `/location/location/contains`. We leave out the middle
    of a long end, if no other name then looks the same."""
    every = list(dict.fromkeys(names))
    ends = Counter(end for name in every for end in set(_ends(name)))
    whole = {name: next((end for end in _ends(name) if ends[end] == 1), name) for name in every}
    cut = {name: _without_middle(end) for name, end in whole.items()}
    looks = Counter(cut.values())
    return {name: cut[name] if looks[cut[name]] == 1 and not ends[cut[name]] else end for name, end in whole.items()}


def _ends(name: str) -> list[str]:
    """The ends of a name that begin behind a slash or a hash sign, the shortest first, and the name itself."""
    places = [place + 1 for place, character in enumerate(name) if character in _ENDS]
    return [name[place:] for place in reversed(places) if name[place:]] + [name]


def _without_middle(end: str) -> str:
    parts = end.split("/")
    return f"{parts[0]}/…/{parts[-1]}" if len(parts) > 2 and parts[0] else end


LONGEST_TITLE = 70


def rule_title(info: RuleInfo, labels: Labels) -> str:
    """A rule's name or, if its author gave it none, its text, shortened."""
    return title_of(info, labels.of_text(info.text) if is_unnamed(info) else "")


def title_of(info: RuleInfo, text: str) -> str:
    """A rule's name, or its text with labels, shortened."""
    if not is_unnamed(info):
        return visible(info.name)
    shown = visible(text)
    return shown if len(shown) <= LONGEST_TITLE else f"{shown[: LONGEST_TITLE - 1]}…"


def is_unnamed(info: RuleInfo) -> bool:
    """Whether a rule's name is its place: the file, perhaps with its folder, and the line."""
    file, _, number = info.name.rpartition(":")
    line = number.partition(".")[0]  # `family.rules:12.2` is the second rule of its line
    if not line.isdecimal() or info.place is None:
        return False
    place = info.place.replace("<", "").replace(">", "").replace(" (as rules)", "")
    before, found, after = place.rpartition(f"{file}:{line}")
    return bool(found) and before[-1:] in ("", "/", "\\") and after[:1] in ("", ":")
