"""Cases evaluated together, for an engine to which every statement is dear: their names are told apart, and the numbers of each
case are what they would be alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import engine_side
from case_files import Case, Run, all_cases
from engine_side import Outcome
from formula_tree import FormulaSetting
from oracle import Fact, Setting
from rulescore.errors import Source
from rulescore.language.tokens import DECLARATION_WORDS, Token, statements
from rulescore.logic.types import TESTS


@dataclass(frozen=True)
class Member:
    """A case that is evaluated with others; every name of it begins with its prefix. One that is alone has none."""

    prefix: str
    case: Case
    run: Run

    @property
    def setting(self) -> Setting:
        return self.case.setting(self.run)

    @property
    def with_facts(self) -> set[str]:
        """The predicates that some fact has."""
        setting = self.setting
        facts = [*setting.observed, *setting.negatives, *(one for found in setting.predictions.values() for one in found)]
        return {one[0] for one in facts}

    @property
    def names(self) -> set[str]:
        """The predicates and tables of the case."""
        tables = {table.name for table in self.case.tables}
        predicates = self.with_facts | (self.case.arities().keys() - set(self.case.functions) - TESTS.keys() - {"within"})
        return tables | {one for one in predicates if one.split(".")[0] not in tables}

    @property
    def declarations(self) -> str:
        """Predicates without facts, which could be taken for misspelt ones of other cases."""
        tables = {table.name for table in self.case.tables}
        arities = self.case.arities()
        lacking = sorted((self.names - tables - self.with_facts) & arities.keys())
        return "".join(f'predicate "{self.prefix}{one}"/{arities[one]}.\n' for one in lacking)


def members() -> list[Member]:
    """Every case with one of its runs, in one case by the first convention that it has and in the next by the last."""
    found = []
    for number, case in enumerate(all_cases()):
        runs = {}
        for run in case.runs:
            if not any(one.keyword == "refuses" for one in run.expectations):
                runs.setdefault(run.convention, run)
        found.append(Member(f"c{number}_", case, list(runs.values())[-(number % 2)]))
    return found


def batches(size: int) -> list[list[Member]]:
    """Every case, in batches with the same options."""
    found: dict[object, list[list[Member]]] = {}
    for member in members():
        together = found.setdefault(_key(member), [[]])
        if len(together[-1]) == size:
            together.append([])
        together[-1].append(member)
    every = [batch for group in found.values() for batch in group]
    return [batch if len(batch) > 1 else [replace(batch[0], prefix="")] for batch in every]


def _statements(case: Case) -> list[list[Token]]:
    return list(statements(Source(case.name, case.rule_text)))


def _is_alone(case: Case) -> bool:
    """Whether it extracts incompatible predicates from all there are, or has a template."""
    return any(tokens[0].text in {"extract", "for"} for tokens in _statements(case))


def _key(member: Member) -> object:
    """Cases with the same key go together."""
    if _is_alone(member.case):
        return member.prefix
    run = member.run
    closed = any(tokens[0].text == "closed" and tokens[1].text == "*" for tokens in _statements(member.case))
    return run.convention, run.distinct_variables, run.roles, closed


def renamed_text(member: Member) -> str:
    """The rules of a case with its names told apart."""
    pieces = []
    names = member.names
    end = 0
    text = member.case.rule_text
    for tokens in statements(Source(member.case.name, text)):
        for start, stop, prefix in _renamed_tokens(tokens, names, member.prefix):
            quote = text[start] if text[start] in '"`' else ""
            pieces += [text[end:start], quote, prefix, text[start + len(quote) : stop]]
            end = stop
    return "".join([*pieces, text[end:]])


def _renamed_tokens(tokens: Sequence[Token], names: set[str], prefix: str) -> Iterator[tuple[int, int, str]]:
    declares = tokens[0].text in DECLARATION_WORDS and len(tokens) > 1 and tokens[1].kind not in {"(", ":"}
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


def renamed(facts: Sequence[Fact], prefix: str) -> list[Fact]:
    return [(prefix + one[0], *one[1:]) for one in facts]


def run_together(batch: Sequence[Member], engine: Any) -> dict[str, Outcome]:
    """The outcome of every case, by its prefix. What is computed over all rules of a model is left out."""
    import rulescore

    observed: dict[str, Any] = {}
    negatives: dict[str, Any] = {}
    predictions: dict[str, Any] = {}
    options: dict[str, Any] = {"weights": {}, "kinds": {}, "tables": {}, "functions": {}}
    for member in batch:
        setting = member.setting
        prefix = member.prefix
        observed |= engine_side.tables(renamed(list(setting.observed), prefix))
        negatives |= engine_side.tables(renamed(list(setting.negatives), prefix))
        for model, facts in engine_side.rows_of(setting, member.case.predictions).items():
            found = engine_side.predictions_of(setting, facts)
            predictions[prefix + model] = {prefix + name: rows for name, rows in found.items()}
        own = engine_side.options(setting)
        options["weights"] |= _prefixed(own["weights"], prefix)
        options["kinds"] |= _prefixed(own["kinds"], prefix)
        if isinstance(setting, FormulaSetting):
            options["tables"] |= _prefixed(own["tables"], prefix)
            options["functions"] |= own["functions"]
    common = engine_side.options(batch[0].setting, engine)
    options |= {name: common[name] for name in ("engine", "convention", "distinct_variables", "roles")}
    text = "\n".join(f"{one.declarations}{renamed_text(one)}" for one in batch)
    evaluation = rulescore.score(observed, predictions, text, negatives=negatives or None, **options, contributions=True)
    return _apart(engine_side.outcome_of(evaluation), batch)


def _prefixed(found: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {prefix + name: value for name, value in found.items()}


def _apart(outcome: Outcome, batch: Sequence[Member]) -> dict[str, Outcome]:
    """What concerns the rules and models of each case. A prediction of one case has no part in the rules of another."""
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
        )
    taken = sum(len(one.contributions) for one in found.values())
    assert taken == len(outcome.contributions), "a prediction of one case has a part in a rule of another"
    return found


def _is_of(key: Any, prefix: str) -> bool:
    names = [key] if isinstance(key, str) else key[:2]
    return all(name.startswith(prefix) for name in names)


def _without(key: Any, prefix: str) -> Any:
    if isinstance(key, str):
        return key.removeprefix(prefix)
    return (*(name.removeprefix(prefix) for name in key[:2]), *key[2:])


def expected(member: Member) -> Outcome:
    found = engine_side.expected(member.setting, rows=member.case.predictions)
    return replace(found, aggregates={})
