"""Case files: facts, rules, predictions and the numbers they must give. `README.md` beside this file says how to write one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from case_tables import FUNCTIONS, read_table
from oracle.counts import Counts
from oracle.facts import Fact
from oracle.groundings import ground
from oracle.reader import Reader
from oracle.reading import Program, read_program
from oracle.refutation import incompatible_group
from oracle.tokens import RuleTextError, tokenise
from oracle.tree import APPENDIX, DEFINITION, Incompatible, Rule, Setting, Table
from oracle.walks import atoms_in, is_plain

FOLDER = Path(__file__).parent / "cases"
SECTIONS = ("facts", "negatives", "table", "functions", "rules", "predictions", "expect")
UNDEFINED = "–"


class CaseError(Exception):
    """Something in a case file that is not understood."""


@dataclass(frozen=True)
class Expectation:
    """One line of an `expect` section: a keyword, the words between, and the values after it."""

    line: int
    keyword: str
    subject: tuple[str, ...]
    values: tuple[str, ...]
    fact: Fact | None = None


@dataclass
class Run:
    """One `expect` section: under which convention and options, and what is expected."""

    line: int
    convention: str
    distinct_variables: bool | None = None
    roles: frozenset[str] | None = None
    hard_needs: int = 1
    weights: dict[str, Fraction] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)


@dataclass
class Case:
    path: Path
    rule_text: str = ""
    program: Program = field(default_factory=Program)
    facts: list[Fact] = field(default_factory=list)
    negatives: list[Fact] = field(default_factory=list)
    predictions: dict[str, list[Fact]] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    def setting(self, run: Run) -> Setting:
        """The case as the oracle sees it, under the convention and options of one run."""
        program = self.program
        return Setting(
            observed=frozenset(self.facts),
            rules=tuple(adjusted(rule, run) for rule in program.rules),
            predictions={model: frozenset(facts) for model, facts in self.predictions.items()},
            negatives=frozenset(self.negatives),
            closed=frozenset(program.closed),
            closed_all=program.closed_all,
            incompatible=(*program.pairs, *self.pairs_of_groups()),
            functional=tuple(program.functional),
            complete=tuple(program.complete),
            complete_all=program.complete_all,
            auxiliary=tuple(program.auxiliary),
            definitions=tuple(program.definitions),
            extract=program.extract,
            convention=run.convention,
            distinct_variables=run.distinct_variables,
            roles=run.roles,
            hard_needs=run.hard_needs,
            tables=tuple(self.tables),
            functions={name: FUNCTIONS[name] for name in self.functions},
        )

    def is_plain(self, run: Run) -> bool:
        """Whether its rules have a way of their own to be counted by, and can be counted as all others are, too."""
        return run.convention == DEFINITION and not self.tables and all(map(is_plain, self.program.rules))

    def pairs_of_groups(self) -> Iterable[Incompatible]:
        for group in self.program.groups:
            yield from incompatible_group(self.arities()[group[0]], *group)

    def arities(self) -> dict[str, int]:
        facts = [*self.facts, *self.negatives, *(one for facts in self.predictions.values() for one in facts)]
        conditions = [one for rule in self.program.rules for one in (rule.head, rule.body) if one is not None]
        mentioned = {atom.predicate: len(atom.terms) for condition in conditions for atom in atoms_in(condition)}
        return {**mentioned, **self.program.declared, **{one[0]: len(one) - 1 for one in facts}}


def adjusted(rule: Rule, run: Run) -> Rule:
    return replace(rule, kind=run.kinds.get(rule.name, rule.kind), weight=run.weights.get(rule.name, rule.weight))


@cache
def all_cases() -> tuple[Case, ...]:
    """Read once for all test modules of a process."""
    return tuple(read_case(path) for path in sorted(FOLDER.glob("*/*.case")))


def read_case(path: Path) -> Case:
    case = Case(path)
    for header, line, lines in sections(path):
        try:
            read_section(case, header, line, lines)
        except RuleTextError as error:
            raise CaseError(f"{path}:{line + error.line}: {error}") from error
        except ValueError as error:
            raise CaseError(f"{path}:{line}: {error}") from error
    if not case.program.rules or not case.runs:
        raise CaseError(f"{path}: a case has rules and at least one `expect`")
    check_words(case)
    return case


def sections(path: Path) -> list[tuple[list[str], int, list[str]]]:
    """Header words, the header's line and the lines below it (the first of them is line + 1)."""
    found: list[tuple[list[str], int, list[str]]] = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if text and not text[0].isspace() and not text.startswith("#"):
            words = text.split("#")[0].split()
            if words[0] not in SECTIONS:
                raise CaseError(f"{path}:{number}: `{words[0]}` is none of {', '.join(SECTIONS)}")
            found.append((words, number, []))
        elif found:
            found[-1][2].append("" if text.startswith("#") else text)
        elif text and not text.startswith("#"):
            raise CaseError(f"{path}:{number}: a line outside every section")
    return found


def read_section(case: Case, header: list[str], line: int, lines: list[str]) -> None:
    text = "\n".join(lines)
    match header:
        case ["facts"]:
            case.facts += read_facts(text)
        case ["negatives"]:
            case.negatives += read_facts(text)
        case ["rules"]:
            case.rule_text = text
            case.program = read_program(text)
        case ["table", name, *words]:
            case.tables.append(read_table(name, words, lines))
        case ["functions", *names] if set(names) <= FUNCTIONS.keys():
            case.functions += names
        case ["predictions"]:
            case.predictions["model"] = read_facts(text)
        case ["predictions", model]:
            case.predictions[model] = read_facts(text)
        case ["expect", convention, *options] if convention in (DEFINITION, APPENDIX):
            run = read_options(Run(line, convention), options)
            run.expectations += [e for i, t in enumerate(lines, start=line + 1) if (e := read_expectation(i, t)) is not None]
            case.runs.append(run)
        case _:
            raise ValueError(f"`{' '.join(header)}` is not understood")


def read_facts(text: str) -> list[Fact]:
    reader, facts = Reader(tokenise(text)), []
    while not reader.ended:
        facts.append(ground(reader.atom(), {}))
    return facts


def read_options(run: Run, options: list[str]) -> Run:
    for option in options:
        name, _, value = option.partition("=")
        match name.split(":"):
            case ["distinct_variables"]:
                run.distinct_variables = {"true": True, "false": False}[value]
            case ["roles"]:
                run.roles = frozenset(value.split(","))
            case ["hard_needs"]:
                run.hard_needs = int(value)
            case ["weight", rule]:
                run.weights[rule] = Fraction(value)
            case ["kind", rule]:
                run.kinds[rule] = value
            case _:
                raise ValueError(f"option `{option}` is not understood")
    return run


# keyword -> how many words before the values, and how many values (None: any number)
KEYWORDS = {
    "dataset": (1, 3),
    "given": (1, 3),
    "total": (2, 3),
    "kind": (1, 1),
    "rate": (1, 1),
    "score": (2, 1),
    "share": (2, 1),
    "hard_score": (1, 1),
    "soft_score": (1, 1),
    "hard_mean": (1, 1),
    "soft_mean": (1, 1),
    "duplicates": (1, 1),
    "already_observed": (1, 1),
    "violating": (1, 1),
    "violating_any": (1, 1),
    "evaluable": (1, 1),
    "unconcerned": (1, 1),
    "unmeasured": (1, 1),
    "new": (1, 1),
    "violating_new": (1, 1),
    "linked": (1, 1),
    "concerned": (1, 1),
    "judged": (1, 1),
    "none_judged": (1, 1),
    "unrefutable": (1, 1),
    "violation": (1, None),
    "refuses": (0, None),
}


def read_expectation(line: int, text: str) -> Expectation | None:
    words = re.sub(r"(?<!\S)#.*", "", text)
    fact = None
    if (found := re.match(r"\s*(given|violation)\s+(.*\))\s(.*)", words)) is not None:
        (fact,) = read_facts(found[2])
        words = f"{found[1]} {found[3]}"
    keyword, *rest = words.split() or [""]
    if not keyword:
        return None
    before, after = KEYWORDS.get(keyword, (0, -1))
    values = tuple(rest[before:])
    if after not in (None, len(values)) or (keyword in ("given", "violation")) != (fact is not None):
        raise ValueError(f"line {line}: `{text.strip()}` is not understood")
    return Expectation(line, keyword, tuple(rest[:before]), values, fact)


def check_words(case: Case) -> None:
    """Rules, models and predictions that an expectation names exist."""
    predicted = {one for facts in case.predictions.values() for one in facts}
    for run in case.runs:
        for expectation in run.expectations:
            fact_exists = expectation.fact is None or expectation.fact in predicted
            if not fact_exists or not subject_exists(case, expectation):
                raise CaseError(f"{case.path}:{expectation.line}: names a rule, model or prediction that the case has not")


def subject_exists(case: Case, expectation: Expectation) -> bool:
    rules = {rule.name for rule in case.program.rules}
    match expectation.keyword, expectation.subject:
        case "total" | "score" | "share", (model, rule):
            return model in case.predictions and rule in rules
        case "dataset" | "given" | "kind" | "rate" | "unrefutable" | "violation", (rule,):
            return rule in rules
        case "refuses", _:
            return rules >= set(expectation.values)
        case _, (model,):
            return model in case.predictions
        case _:
            return False


def counts(values: tuple[str, ...]) -> Counts:
    return Counts(*(int(value) for value in values))


def number(value: str) -> Fraction | None:
    return None if value == UNDEFINED else Fraction(value)
