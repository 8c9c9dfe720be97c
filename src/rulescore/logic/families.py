"""What the names in rules mean, which decides the family a rule belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from rulescore.data.setting import Setting
from rulescore.data.vocabulary import Vocabulary
from rulescore.language.syntax import Program
from rulescore.logic.formula_problems import DECIDABLE
from rulescore.logic.usage import attribute_table, used_arities


@dataclass(frozen=True, slots=True)
class Names:
    """The tables and registered predicates of a setting. The vocabulary is None as long as the data are not loaded."""

    tables: tuple[str, ...]
    functions: frozenset[str]
    vocabulary: Vocabulary | None = None

    def is_predicate(self, name: str) -> bool:
        """Whether a name is a predicate of facts: not an attribute of a table and, unless the data have it, not a test."""
        if name in self.tables or attribute_table(name, self.tables) is not None:
            return False
        known = self.vocabulary.predicates.get(name) if self.vocabulary is not None else None
        return (known is not None and known.occurs) or not (name in DECIDABLE or name in self.functions)

    def is_test(self, name: str) -> bool:
        """Whether a name is a test, built in or registered."""
        return not (self.is_predicate(name) or attribute_table(name, self.tables) is not None)

    def predicates(self, program: Program) -> dict[str, int]:
        """The predicates of facts that statements use, with their arity."""
        return {name: arity for name, arity in used_arities(program).items() if self.is_predicate(name)}


def names_of(setting: Setting) -> Names:
    return Names(tuple(table.name for table in setting.tables), frozenset(one.name for one in setting.functions))
