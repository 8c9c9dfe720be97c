"""Finds the prediction that a user means, by a fact as people write it or by the key of a table's row; and the fact of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rulescore.engines.base import Engine
from rulescore.errors import Diagnostic, InputError
from rulescore.language.printer import print_atom
from rulescore.language.syntax import Atom, Constant
from rulescore.loading.facts import Loaded
from rulescore.loading.tables.loaded import LoadedTable
from rulescore.logic.plan import LiteralName
from rulescore.logic.refutation import identity
from rulescore.scoring.violation import Fact, PredictedKey, other_writings
from rulescore.sql.facts import constants_by_key
from rulescore.sql.horn.listing import WANTED, wanted_predictions
from rulescore.sql.names import arguments
from rulescore.sql.query import drop
from rulescore.values.keys import key_of, value_of
from rulescore.values.types import Value


@dataclass(frozen=True, slots=True)
class Predicted:
    """Looks up predictions and their numbers."""

    engine: Engine
    loaded: Loaded
    tables: Mapping[str, LoadedTable]

    def number(self, atom: Atom) -> int:
        """The number of a predicted fact. If a constant has the wrong type, `5` for the string "5", the error says so."""
        found = self._number(atom)
        if found is None:
            raise InputError(Diagnostic("E263", f"no model predicts `{print_atom(atom)}`", helps=(self._how_to_write(atom),)))
        return found

    def number_for(self, key: PredictedKey, model: int | None) -> int:
        """The number of the prediction for a row: by a model or, if it is None, by any."""
        targets = [table for table in self.tables.values() if table.target is not None and len(table.key) == len(key.values)]
        if len(targets) != 1:
            helps = ('give a fact: `("5", "wife", "76")`, or "wife(5, 76)"',)
            raise InputError(Diagnostic("E267", f"`{key}` names no prediction", helps=helps))
        (table,) = targets
        found = self._with_values(table.predicate, len(key.values) + 1, key.values)
        numbers = {row["prediction"] for row in found if model is None or row["model"] == model}
        if not numbers:
            raise InputError(Diagnostic("E263", f"nothing is predicted for `{key}` of `{table.name}`"))
        if len(numbers) > 1:
            message = f"models differ in what they predict for `{key}` of `{table.name}`"
            raise InputError(Diagnostic("E268", message, helps=("name the model",)))
        return numbers.pop()

    def facts(self, numbers: set[int]) -> dict[int, Fact]:
        """Predicted facts by their numbers."""
        found: dict[int, Fact] = {}
        with self.engine.scratch_tables():
            self.engine.load(WANTED, pa.table({"id": pa.array(sorted(numbers), pa.int32())}))
            for source in self.loaded.predicted:
                for row in self.engine.query(wanted_predictions(source)).to_pylist():
                    values = tuple(value_of(row[one]) for one in arguments(source.arity))
                    found[row["prediction"]] = Fact(self.loaded.predicate_name(row["literal"]), values)
            self.engine.run(drop(WANTED))
        return found

    def _how_to_write(self, atom: Atom) -> str:
        """Advice on how to write a prediction that we did not find."""
        written = list(other_writings(atom))
        for one in written:
            if self._number(one) is not None:
                return f"write `{print_atom(one)}`, which is predicted"
        for one in written:
            if self._occur({key_of(term.value) for term in one.terms if isinstance(term, Constant)}):
                return f"constants of the data are written `{print_atom(one)}`, but that is not predicted either"
        return "write it as violations show it, a number with all its digits"

    def _number(self, atom: Atom) -> int | None:
        """The number of a predicted fact; None if no model predicts it."""
        values = [term.value for term in atom.terms if isinstance(term, Constant)]
        if len(values) != atom.arity:
            return None
        return next((row["prediction"] for row in self._with_values(atom.predicate, atom.arity, values)), None)

    def _with_values(self, predicate: str, arity: int, values: Sequence[Value]) -> list[dict[str, int]]:
        """The predictions of a predicate whose first arguments are these values, and the models that make them."""
        if predicate not in self.loaded.predicate_ids:
            return []
        literal = self.loaded.literal(LiteralName(predicate, identity(arity)))
        queries = [source.with_values(literal, values) for source in self.loaded.predicted if source.arity == arity]
        return [row for query in queries if query is not None for row in self.engine.query(query).to_pylist()]

    def _occur(self, keys: set[str]) -> bool:
        """Whether facts or rules have all these constants."""
        with self.engine.scratch_tables():
            self.engine.load(WANTED, pa.table({"key": pa.array(sorted(keys), pa.string())}))
            rows = self.engine.query(constants_by_key(WANTED))
            self.engine.run(drop(WANTED))
        return bool(rows.num_rows == len(keys))
