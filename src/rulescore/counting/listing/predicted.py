"""Finds the prediction that a user means: by a fact as people write it, or by the key of a table's row."""

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
from rulescore.scoring.violation import PredictedKey, other_writings
from rulescore.sql.build import drop
from rulescore.sql.facts import constants_by_key
from rulescore.sql.horn.listing import WANTED as KEYS
from rulescore.sql.horn.listing import prediction_number, predictions_for
from rulescore.values.keys import key_of


@dataclass(frozen=True, slots=True)
class Predicted:
    """Looks up the numbers of predictions."""

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
        ids = self._constant_ids([key_of(one) for one in key.values])
        found: list[dict[str, int]] = []
        if None not in ids and len(ids) + 1 in self.loaded.candidate_arities:
            literal = self.loaded.literal(LiteralName(table.predicate, identity(len(ids) + 1)))
            found = self.engine.query(predictions_for(literal, [one for one in ids if one is not None])).to_pylist()
        numbers = {row["prediction"] for row in found if model is None or row["model"] == model}
        if not numbers:
            raise InputError(Diagnostic("E263", f"nothing is predicted for `{key}` of `{table.name}`"))
        if len(numbers) > 1:
            message = f"models differ in what they predict for `{key}` of `{table.name}`"
            raise InputError(Diagnostic("E268", message, helps=("name the model",)))
        return numbers.pop()

    def _how_to_write(self, atom: Atom) -> str:
        """Advice on how to write a prediction that we did not find."""
        written = list(other_writings(atom))
        for one in written:
            if self._number(one) is not None:
                return f"write `{print_atom(one)}`, which is predicted"
        for one in written:
            keys = [key_of(term.value) for term in one.terms if isinstance(term, Constant)]
            if None not in self._constant_ids(keys):
                return f"constants of the data are written `{print_atom(one)}`, but that is not predicted either"
        return "write it as violations show it, a number with all its digits"

    def _number(self, atom: Atom) -> int | None:
        """The number of a predicted fact; None if no model predicts it."""
        known = self.loaded.vocabulary.predicates.get(atom.predicate)
        keys = [key_of(term.value) for term in atom.terms if isinstance(term, Constant)]
        if known is None or known.arity != atom.arity or len(keys) != atom.arity:
            return None
        ids = self._constant_ids(keys)
        if known.arity not in self.loaded.candidate_arities or None in ids:
            return None
        literal = self.loaded.literal(LiteralName(atom.predicate, identity(atom.arity)))
        numbers = [one for one in ids if one is not None]
        found = self.engine.query(prediction_number(literal, numbers))["prediction"].to_pylist()
        return found[0] if found else None

    def _constant_ids(self, keys: Sequence[str]) -> list[int | None]:
        """The numbers of constants; None for a constant that occurs nowhere."""
        with self.engine.scratch_tables():
            self.engine.load(KEYS, pa.table({"key": pa.array(sorted(set(keys)), pa.string())}))
            rows = self.engine.query(constants_by_key(KEYS))
            self.engine.run(drop(KEYS))
        ids = dict(zip(rows["key"].to_pylist(), rows["id"].to_pylist(), strict=True))
        return [ids.get(key) for key in keys]
