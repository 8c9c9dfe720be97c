"""The price of leaving answers out: the true facts that would be forbidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rulescore.mending.reasons import Known, Reason, Reasons
from rulescore.mending.sources import batches, read
from rulescore.mending.table import CandidateTable, Fact
from rulescore.readers.sources import FactsLike


@dataclass(frozen=True, slots=True)
class Price:
    """What forbidding candidates would cost.

    `lost`: how many validation facts are forbidden, for each rule or fact behind the reason; None without such facts.
    `contradicted`: rules that are declared hard although the data contradict them, each with its refuted and evaluable groundings.
    """

    validation: int | None
    lost: Mapping[str, int] | None
    contradicted: Sequence[tuple[str, int, int]]

    def sentences(self) -> list[str]:
        """The price in words."""
        if self.lost is None:
            sentences = ["what is true might be moved, too: give validation facts to see how much (`--valid`)"]
        else:
            sentences = [f"{sum(self.lost.values()):,} of {self.validation:,} validation facts would be moved"]
            sentences += [f"{times:,} of the {sum(self.lost.values()):,} by {what}" for what, times in self.lost.items()]
        for name, refuted, evaluable in self.contradicted:
            sentences.append(f"the data contradict `{name}`, which is declared hard, {refuted:,} of {evaluable:,} times")
        return sentences


def price_of(table: CandidateTable, known: Reasons, reasons: Sequence[Reason], valid: FactsLike | None) -> Price:
    """The price of a table.

    Args:
        table: The table, which has the validation facts as candidates.
        known: Its reasons.
        reasons: The reasons that forbid a candidate.
        valid: True facts. Observed facts among them do not count.
    """
    contradicted = [(rule.name, rule.dataset.refuted, rule.dataset.evaluable) for rule in table.rules if rule.declared]
    if valid is None:
        return Price(None, None, contradicted)
    causes = [known.against(fact, reasons) for fact in set(unobserved(table, valid))]
    lost = Counter(_cause(cause) for cause in causes if cause is not None)
    return Price(len(causes), dict(lost.most_common()), contradicted)


def _cause(known: Known) -> str:
    rule = known.because.partition(",")[0]
    return f"{rule} ({known.reason})" if known.reason is Reason.BREAKS else str(known.reason)


def unobserved(table: CandidateTable, facts: FactsLike) -> Iterator[Fact]:
    """Facts as numbers, without the observed facts."""
    numbers, predicates = dict(table.numbers), dict(table.predicates)
    for batch in batches(facts):
        for predicate, keys, _ in read(batch):
            fact = (predicates.setdefault(predicate, len(predicates)), *(numbers.setdefault(key, len(numbers)) for key in keys))
            if fact not in table.facts:
                yield fact
