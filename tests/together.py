"""Settings evaluated together, since every statement takes its time however few rows there are: their names are told apart, and the
numbers of each are what they would be alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

import engine_side
from case_files import Case, Run, all_cases
from engine_side import Outcome, Rows
from generate.drawing import Generated
from oracle.facts import Fact
from oracle.findings import Findings
from oracle.tree import Setting
from rulescore.errors import EngineError, Source
from rulescore.language.cursor import DECLARATION_WORDS, Token, statements
from rulescore.logic.types import TESTS


@dataclass(frozen=True)
class Member:
    """A setting that is evaluated with others; every name of it begins with its prefix. One that is alone has none."""

    prefix: str
    setting: Setting
    text: str
    arities: Mapping[str, int]
    rows: Rows | None = None
    place: str = ""
    may_leave_64_bits: bool = False

    @property
    def tables(self) -> set[str]:
        return {table.name for table in self.setting.tables}

    @property
    def functions(self) -> set[str]:
        return set(self.setting.functions)

    @property
    def with_facts(self) -> set[str]:
        """The predicates that some fact has."""
        return {one[0] for one in self.setting.every_fact}

    @property
    def names(self) -> set[str]:
        """The predicates and tables of the setting."""
        predicates = self.with_facts | (self.arities.keys() - self.functions - TESTS.keys() - {"within"})
        return self.tables | {one for one in predicates if one.split(".")[0] not in self.tables}

    @property
    def declarations(self) -> str:
        """Predicates without facts, which could be taken for misspelt ones of other settings."""
        lacking = sorted((self.names - self.tables - self.with_facts) & self.arities.keys())
        declared = "".join(f'predicate "{self.prefix}{one}"/{self.arities[one]}.\n' for one in lacking)
        return declared + engine_side.declarations(self.setting, self.text, self.prefix)

    @property
    def statements(self) -> list[list[Token]]:
        return list(statements(Source(self.place, self.text)))

    @property
    def key(self) -> object:
        """Settings with the same key can be evaluated together."""
        setting = self.setting
        # It extracts incompatible predicates from all there are, has a template, or defines. Or it may be refused.
        if self.may_leave_64_bits or any(tokens[0].text in {"extract", "for", "define"} for tokens in self.statements):
            return self.prefix
        everywhere = (setting.closed_all, setting.complete_all)
        return setting.convention, setting.distinct_variables, setting.roles, setting.hard_needs, everywhere


def case_members(*, once: bool = False, which: Callable[[Case, Run], bool] = lambda case, run: True) -> list[Member]:
    """Every case in all its runs or, with `once`, in the first of one convention: of the first that it has or, in every other case,
    of the last."""
    found = []
    for number, case in enumerate(all_cases()):
        runs = [run for run in case.runs if not any(one.keyword == "refuses" for one in run.expectations) and which(case, run)]
        if once:
            convention = runs[0 if number % 2 else -1].convention
            runs = [next(run for run in runs if run.convention == convention)]
        found += [member_of(case, run, f"c{number}_{place}_") for place, run in enumerate(runs)]
    return found


def member_of(case: Case, run: Run, prefix: str) -> Member:
    return Member(prefix, case.setting(run), case.rule_text, case.arities(), case.predictions, f"{case.name} line {run.line}")


def gathered(strategy: SearchStrategy[Generated], number: int) -> list[Member]:
    """As many generated settings as asked for."""
    found: list[Member] = []

    @settings(max_examples=number)
    @given(strategy)
    def gather(one: Generated) -> None:
        found.append(Member(f"s{len(found)}_", one.setting, one.text, one.arities, may_leave_64_bits=one.may_leave_64_bits))

    gather()
    return found


def batches(members: Iterable[Member], size: int) -> list[list[Member]]:
    """Members that can be evaluated together, as many as `size`."""
    found: dict[object, list[list[Member]]] = {}
    for member in members:
        together = found.setdefault(member.key, [[]])
        if len(together[-1]) == size:
            together.append([])
        together[-1].append(member)
    every = [batch for group in found.values() for batch in group]
    return [batch if len(batch) > 1 else [replace(batch[0], prefix="")] for batch in every]


def renamed_text(member: Member) -> str:
    """The rules of a setting with its names told apart."""
    pieces = []
    names = member.names
    end = 0
    text = member.text
    for tokens in member.statements:
        for start, stop, prefix in _renamed_tokens(tokens, names, member.prefix):
            quote = text[start] if text[start] in '"`' else ""
            pieces += [text[end:start], quote, prefix, text[start + len(quote) : stop]]
            end = stop
    return "".join([*pieces, text[end:]])


def _renamed_tokens(tokens: Sequence[Token], names: set[str], prefix: str) -> Iterator[tuple[int, int, str]]:
    first, *after = _unannotated(tokens)
    declares = first.text in DECLARATION_WORDS and bool(after) and after[0].kind not in {"(", ":"}
    depth = 0
    for place, token in enumerate(tokens):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.kind, 0)
        after = tokens[place + 1].kind if place + 1 < len(tokens) else ""
        label = after == ":" and not depth
        word = token.text[1:-1] if token.kind == "quoted" else token.text
        known = word in names or (token.kind == "dotted" and word.split(".")[0] in names)
        if token.kind in {"word", "quoted", "dotted"} and (
            label or (known and (after == "(" or (declares and place and not depth)))
        ):
            yield token.start, token.end, prefix


def _unannotated(tokens: Sequence[Token]) -> Sequence[Token]:
    """The beginning of a statement after its annotations and its name: what tells a declaration from a rule."""
    start = 0
    while tokens[start].kind == "@":
        start += 2
        if tokens[start].kind == "(":
            start = next(place for place in range(start, len(tokens)) if tokens[place].kind == ")") + 1
    named = len(tokens) > start + 1 and tokens[start + 1].kind == ":"
    return tokens[start + 2 * named :][:2]


def renamed(facts: Sequence[Fact], prefix: str) -> list[Fact]:
    return [(prefix + one[0], *one[1:]) for one in facts]


_COMMON = ("engine", "convention", "distinct_variables", "roles", "hard_needs", "allow_unrefutable")


def run_together(batch: Sequence[Member], engine: Any, *, horn: bool = True) -> dict[str, Outcome]:
    """The outcome of every setting, by its prefix. What is computed over all rules of a model is left out."""
    observed: dict[str, Any] = {}
    negatives: dict[str, Any] = {}
    predictions: dict[str, Any] = {}
    options: dict[str, Any] = {"weights": {}, "kinds": {}, "tables": {}, "functions": {}}
    for member in batch:
        setting = member.setting
        prefix = member.prefix
        observed |= engine_side.tables(renamed(list(setting.observed), prefix))
        negatives |= engine_side.tables(renamed(list(setting.negatives), prefix))
        for model, facts in engine_side.rows_of(setting, member.rows).items():
            found = engine_side.predictions_of(setting, facts)
            predictions[prefix + model] = {prefix + name: rows for name, rows in found.items()}
        own = engine_side.options(setting)
        options["weights"] |= _prefixed(own["weights"], prefix)
        options["kinds"] |= _prefixed(own["kinds"], prefix)
        options["tables"] |= _prefixed(own["tables"], prefix)
        options["functions"] |= own["functions"]
    common = engine_side.options(batch[0].setting, engine)
    options |= {name: common[name] for name in _COMMON}
    text = "\n".join(f"{one.declarations}{renamed_text(one)}" for one in batch)
    evaluation = engine_side.evaluation(observed, predictions, text, horn=horn, negatives=negatives or None, **options)
    return _apart(engine_side.outcome_of(evaluation), batch)


def _prefixed(found: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {prefix + name: value for name, value in found.items()}


def _apart(outcome: Outcome, batch: Sequence[Member]) -> dict[str, Outcome]:
    """What concerns the rules and models of each setting. A prediction of one has no part in the rules of another."""
    found = {}
    for member in batch:
        prefix = member.prefix

        def own(part: Mapping[Any, Any], prefix: str = prefix) -> dict[Any, Any]:
            return {_without(key, prefix): value for key, value in part.items() if _is_of(key, prefix)}

        found[prefix] = Outcome(
            dataset=own(outcome.dataset),
            kinds=own(outcome.kinds),
            contributions={(m, r, (f[0].removeprefix(prefix), *f[1:])): n for (m, r, f), n in own(outcome.contributions).items()},
            totals=own(outcome.totals),
            scores=own(outcome.scores),
            shares=own(outcome.shares),
            predictions=own(outcome.predictions),
            unrefutable=own(outcome.unrefutable),
            findings=_of_their_own(own(outcome.findings), prefix),
        )
    taken = sum(len(one.contributions) for one in found.values())
    assert taken == len(outcome.contributions), "a prediction of one setting has a part in a rule of another"
    return found


def _of_their_own(findings: Mapping[str, Findings], prefix: str) -> dict[str, Findings]:
    """The findings; if settings are evaluated together, without what depends on the constants and rules of all of them."""
    if not prefix:
        return dict(findings)
    return {model: found._replace(linked=0, judged=0, none_judged=False) for model, found in findings.items()}


def _is_of(key: Any, prefix: str) -> bool:
    names = [key] if isinstance(key, str) else key[:2]
    return all(name.startswith(prefix) for name in names)


def _without(key: Any, prefix: str) -> Any:
    if isinstance(key, str):
        return key.removeprefix(prefix)
    return (*(name.removeprefix(prefix) for name in key[:2]), *key[2:])


def is_refusal_to_compute(error: Exception) -> bool:
    """Whether an engine says that an integer would leave 64 bits, and where."""
    return isinstance(error, EngineError) and bool(re.search(r"\nwhile (counting rule|computing) `", str(error)))


def require_the_oracle_s_numbers(batch: Sequence[Member], engine: Any, *, horn: bool = True) -> None:
    try:
        found = run_together(batch, engine, horn=horn)
    except EngineError as error:
        if any(member.may_leave_64_bits for member in batch) and is_refusal_to_compute(error):
            return
        raise
    for member in batch:
        assert found[member.prefix] == expected(member), f"{member.place}\n{member.text}"


def expected(member: Member) -> Outcome:
    found = engine_side.expected(member.setting, rows=member.rows)
    return replace(found, aggregates={}, findings=_of_their_own(found.findings, member.prefix))
