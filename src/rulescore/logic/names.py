"""What the names in rules mean, which decides whether a rule is a Horn rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rulescore.language.syntax import Program
from rulescore.logic.problems import DECIDABLE
from rulescore.logic.usage import attribute_table, used_arities
from rulescore.logic.vocabulary import Vocabulary
from rulescore.setting.model import Setting


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of a setting, with the attributes of their keys, and its registered predicates. The vocabulary is None until the
    data are loaded."""

    tables: Mapping[str, tuple[str, ...]]
    functions: frozenset[str]
    vocabulary: Vocabulary | None = None

    def is_predicate(self, name: str) -> bool:
        """Whether a name is a predicate of facts: not an attribute of a table and, unless the data have it, not a test."""
        if self._is_of_table(name):
            return False
        known = self.vocabulary.predicates.get(name) if self.vocabulary is not None else None
        return (known is not None and known.occurs) or not (name in DECIDABLE or name in self.functions)

    def is_test(self, name: str) -> bool:
        """Whether a name is a test, built in or registered."""
        return not (self.is_predicate(name) or self._is_of_table(name))

    def _is_of_table(self, name: str) -> bool:
        """Whether a name is that of a table or of an attribute of one."""
        return name in self.tables or attribute_table(name, self.tables) is not None

    def is_surely_test(self, name: str) -> bool:
        """Whether we know that a name is a test: until the data are loaded, they may have a predicate of that name."""
        return self.vocabulary is not None and self.is_test(name)

    def predicates(self, program: Program) -> dict[str, int]:
        """The predicates of facts that statements use, with their arity."""
        return {name: arity for name, arity in used_arities(program).items() if self.is_predicate(name)}


def names_of(setting: Setting) -> Names:
    return Names({table.name: table.key for table in setting.tables}, frozenset(one.name for one in setting.functions))
