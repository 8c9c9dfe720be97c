"""Reports what is wrong with rules before a model predicts or trains. Training may take hours; the check takes a second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from rulescore.arguments.rule_sources import RulesLike
from rulescore.readers.sources import FactsLike
from rulescore.session.api import open_session


def refuse_rules(
    observed: FactsLike | None, rules: RulesLike, options: Mapping[str, Any], *, relations: Iterable[str] = ()
) -> None:
    """Raise the errors that `score` would raise of these rules. `relations`: all predicates that the model can predict. We do not
    read facts that can be read only once."""
    if isinstance(observed, Iterator):
        return
    labels = list(relations)
    # Rules may mention predicates that only predictions have, so these count as known, too. Nobody scores these facts.
    anything = pa.table({name: pa.array([""] * len(labels), pa.string()) for name in ("head", "relation", "tail")})
    predicted = {"model": anything.set_column(1, "relation", pa.array(labels, pa.string()))} if labels else None
    unread = {name: value for name, value in options.items() if name not in {"contributions", "truth", "top_k"}}
    with open_session(observed, predicted, rules, **unread) as opened:
        opened.session.refuse_unrefutable()
