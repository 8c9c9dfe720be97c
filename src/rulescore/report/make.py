"""A report, from a result and the session that can list its violations."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Protocol

from rulescore.comparison.comparing import compared_models
from rulescore.errors.texts import visible
from rulescore.report import page, render
from rulescore.report.charts import Figure, figures
from rulescore.report.columns import Described, packed, rule_columns, violation_columns
from rulescore.report.drawing import Svg, drawn, number_line
from rulescore.report.example import MODEL, Told, chosen, drawing_of, pieces, shape_of, shown_fact, sides_of, told
from rulescore.reporting.files import write_files
from rulescore.reporting.listing import counted
from rulescore.reporting.patterns import PatternRow, pattern_rows, self_answers
from rulescore.reporting.sentences import answer, details
from rulescore.reporting.wording import Part, Sentence
from rulescore.scoring.evaluation import Evaluation
from rulescore.scoring.labels import Labels, predicates_in, title_of
from rulescore.scoring.score import most_telling
from rulescore.scoring.violation import CountedViolations, Violation, Violations

ROWS = 20_000
LISTED_RULES = 100
"""Of how many rules violations are listed at most: of more, each would have few."""
PATTERNS = 15
STATEMENTS = 20
"""How many rules have their SQL in the report."""
_FRAME_HEIGHT = 640


class Lists(Protocol):
    """A session, as far as a report asks it."""

    @property
    def refuting(self) -> Mapping[str, Sequence[str]]:
        """The declarations that can refute the head of each rule, by the rules' names."""

    def statement(self, rule_name: str) -> str:
        """The SQL that counts a rule over the data."""

    def sampled_violations(self, models: Sequence[str] | None, most: int, *, rules: Sequence[str] | None = None) -> Violations:
        """At most so many violations of these rules, some of each and of each model, drawn at random."""

    def violation_counts(
        self, by: str, *, rule: str | None = None, model: str | Sequence[str] | None = None
    ) -> list[CountedViolations]:
        """The number of violations for each thing that they have in common."""


@dataclass(frozen=True, slots=True)
class ReportChoice:
    """`labels`: by id. `source`: the words on the command line that name the setting, for commands that list everything; None if
    there was no command line. `more`: further words, for the command that makes this report."""

    title: str | None = None
    rows: int = ROWS
    labels: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    more: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """A page that holds everything: save it, or look at it in a notebook."""

    html: str

    def save(self, path: str | Path) -> Path:
        """Writes the page to a file.

        Args:
            path: The file, which is replaced if it exists.

        Returns:
            The path of the file.
        """
        target = Path(path)
        return write_files(target.parent, {target.name: self.html})[0]

    def __repr__(self) -> str:
        return f"<Report of {len(self.html.encode()):,} bytes: save it with `.save(path)`>"

    def _repr_html_(self) -> str:
        frame = f'sandbox="allow-scripts" width="100%" height="{_FRAME_HEIGHT}" title="rulescore report"'
        return f'<iframe srcdoc="{escape(self.html)}" {frame}></iframe>'


@dataclass(frozen=True, slots=True)
class ExampleCard:
    """A violation on the first screen. `facts`: for each fact its part in words, and the fact. `legend`: what the lines of the
    drawing mean."""

    rule: int
    name: str
    sentence: Sentence
    facts: tuple[tuple[str, str], ...]
    svg: Svg | None
    legend: str


@dataclass(frozen=True, slots=True)
class Page:
    """What the template shows."""

    title: str
    answer: Sentence
    details: tuple[Sentence, ...]
    models: page.ModelsTable | None
    draws: int | None
    example: ExampleCard | None
    patterns: tuple[PatternRow, ...]
    further_patterns: int
    self_answers: str | None
    names: tuple[str, ...]
    rules: tuple[page.RuleRow, ...]
    number_of_rules: int
    figures: tuple[Figure, ...]
    rates: tuple[tuple[str, int], ...]
    silent_rules: tuple[page.SilentRules, ...]
    silent_models: tuple[str, ...]
    warnings: tuple[page.WarningGroup, ...]
    provenance: page.Provenance
    listed: str
    command: str
    made_by: str | None
    rules_pack: str
    violations_pack: str


def report_of(evaluation: Evaluation, session: Lists | None, choice: ReportChoice) -> Report:
    """The report of a result. Without a session it has no rows of violations, and says so."""
    with _without_collecting():
        return Report(render.rendered(page_of(evaluation, session, choice)))


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Runs without Python's search for cycles. A report makes a million objects, none of them in a cycle, and the search would take
    a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _with_order(evaluation: Evaluation) -> Evaluation:
    """The most informative rules come first."""
    measured = [model.name for model in evaluation.model_results if not model.unmeasured]
    telling = most_telling(evaluation.rule_results, measured, page.RULES_IN_HTML)
    first = {id(rule) for rule in telling}
    others = (rule for rule in most_telling(evaluation.rule_results, measured) if id(rule) not in first)
    return replace(evaluation, rule_results=(*telling, *others))


def page_of(evaluation: Evaluation, session: Lists | None, choice: ReportChoice) -> Page:
    evaluation = _with_order(evaluation)
    models = [model.name for model in evaluation.model_results]
    asked = models or None
    compared = compared_models(evaluation)
    listed = [rule.info.name for rule in evaluation.rule_results[:LISTED_RULES]]
    rows = None if session is None else session.sampled_violations(asked, choice.rows, rules=listed)
    counts = [] if session is None else session.violation_counts("pattern", model=asked)
    labels = evaluation.labels.with_names(choice.labels).of_predicates(_predicates(evaluation, rows, counts))
    rules = evaluation.rule_results
    texts = [labels.of_text(rule.info.text) for rule in rules]
    names = tuple(title_of(rule.info, text) for rule, text in zip(rules, texts, strict=True))
    order = page.order_of(compared)
    refuting = {} if session is None else session.refuting
    statements = {} if session is None else {rule.info.name: session.statement(rule.info.name) for rule in rules[:STATEMENTS]}
    titles = {rule.info.name: name for rule, name in zip(rules, names, strict=True)}
    patterns = pattern_rows(counts, models, labels, titles)
    named = Described(names, texts, labels, refuting, statements)
    violations = [] if rows is None else rows.rows
    total = _total(evaluation)
    return Page(
        title=visible(choice.title or _title(evaluation)),
        answer=answer(evaluation, order),
        details=tuple(details(evaluation, order)),
        models=page.models_table(evaluation, compared) if models else None,
        draws=None if compared is None else compared.draws,
        example=_example(evaluation, violations, labels, names),
        patterns=tuple(patterns[:PATTERNS]),
        further_patterns=max(0, len(patterns) - PATTERNS),
        self_answers=self_answers(evaluation),
        names=tuple(map(visible, models)),
        rules=page.first_rules(evaluation, names, texts),
        number_of_rules=len(rules),
        figures=figures(evaluation),
        rates=page.rate_classes(rules),
        silent_rules=page.silent_rules(evaluation, names),
        silent_models=page.silent_models(evaluation),
        warnings=page.warning_groups(evaluation.warnings),
        provenance=page.provenance(evaluation),
        listed=_listed(rows, total, len(rules)),
        command=f"rulescore violations {choice.source or 'PROJECT'}{'' if models else ' --dataset'}",
        made_by=None if choice.source is None else f"rulescore report {choice.source} {choice.more}".strip(),
        rules_pack=packed(rule_columns(rules, models, page.rate_intervals(compared), named)),
        violations_pack=packed(violation_columns(violations, total, rules, models, labels)),
    )


def _title(evaluation: Evaluation) -> str:
    rules = counted(len(evaluation.rule_results), "rule")
    models = len(evaluation.model_results)
    return f"{rules}, {counted(models, 'model')}" if models else f"{rules} over the data"


def _predicates(evaluation: Evaluation, rows: Violations | None, counts: Sequence[CountedViolations]) -> Iterable[str]:
    """The predicates that the report names."""
    for row in rows.rows if rows else ():
        yield from (fact.predicate for fact in row.facts)
        yield from (fact.predicate for refuter in row.refuters for fact in refuter.facts)
    for pattern in (count.pattern for count in counts):
        if pattern is not None and pattern.should and " " not in pattern.should + pattern.against:
            yield from (pattern.should, pattern.against)
    for rule in evaluation.rule_results:
        yield from predicates_in(rule.info.text)


def _total(evaluation: Evaluation) -> int:
    """How many violations there are."""
    if not evaluation.model_results:
        return sum(rule.dataset.refuted for rule in evaluation.rule_results)
    return sum(found.counts.refuted for rule in evaluation.rule_results for found in rule.models.values())


def _listed(rows: Violations | None, total: int, rules: int) -> str:
    if rows is None:
        return "This result was read from a file and does not know its data, so no violation is listed."
    if len(rows.rows) >= total:
        return (
            f"All {counted(total, 'violation')} {'is' if total == 1 else 'are'} in this file."
            if total
            else "There are no violations."
        )
    which = "each rule" if rules <= LISTED_RULES else f"each of the {LISTED_RULES} rules that say most"
    return f"{len(rows.rows):,} of {total:,} violations are in this file: some of {which} and each model, drawn at random."


def _example(evaluation: Evaluation, rows: Sequence[Violation], labels: Labels, names: Sequence[str]) -> ExampleCard | None:
    rules = {rule.info.name: rule for rule in evaluation.rule_results}
    worst = {model.name: (model.violating or 0) / max(model.predictions.distinct, 1) for model in evaluation.model_results}
    row = chosen(rows, rules, worst)
    if row is None:
        return None
    number = list(rules).index(row.rule)
    shape = shape_of(rules[row.rule].info.text)
    parts = told(row, shape)
    facts, sides = _facts(parts, labels), sides_of(row)
    svg = drawn(drawing_of(parts, shape, labels)) if sides is None else number_line(sides)
    looks = [look for word, look in _LOOKS.items() if word in dict(facts)]
    legend = " ".join(looks) if sides is None else "Thick and blue: what the rule allows. Red: by how much it is missed."
    return ExampleCard(number, names[number], sentence_of(parts, labels), facts, svg, legend)


_LOOKS = {
    "predicted": "Dashed: predicted.",
    "known": "Thin: known.",
    "should hold": "Dotted: what should then hold.",
    "but known": "Thick: known, and against it.",
}


def sentence_of(parts: Told, labels: Labels) -> Sentence:
    """The sentence of a violation with labels; its facts stand out."""
    found = []
    for piece in pieces(parts):
        match piece:
            case int() if piece == MODEL:
                found.append(Part(visible(parts.violation.model or "")))
            case int():
                found.append(Part(shown_fact(parts.atoms[piece].fact, labels), strong=True))
            case str():
                found.append(Part(visible(piece)))
    return Sentence((*found, Part(".")))


def _facts(parts: Told, labels: Labels) -> tuple[tuple[str, str], ...]:
    rows = [] if parts.predicted is None else [("predicted", parts.predicted)]
    rows += [("known", fact) for fact in parts.known]
    rows += [("not known", fact) for fact in (*parts.absent, *parts.missing)]
    rows += [] if parts.should is None else [("should hold", parts.should)]
    rows += [("but known", fact) for fact in parts.against]
    return tuple((word, shown_fact(fact.fact, labels)) for word, fact in rows)
