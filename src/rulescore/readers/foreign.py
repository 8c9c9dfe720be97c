"""Text files of other tools. Finds out which tool wrote a file, and reads its facts or reports the lines that its reader does not
understand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from types import ModuleType

import pyarrow as pa

from rulescore import plugins
from rulescore.errors import Diagnostic, InputError, Place
from rulescore.readers.columns import assemble, no_facts, text_keys
from rulescore.readers.files import Opening
from rulescore.readers.lines import open_lines
from rulescore.readers.text import MOST_PROBLEMS, at_most, encoding_problem, printable
from rulescore.setting.model import FactBatch, Recognised, Request

BATCH_ROWS = 1 << 17
"""How many facts a reader hands over at a time: few enough that their texts stay far below 2 GiB."""


@dataclass(slots=True)
class Facts:
    """Facts of one arity: their predicates and one list for each argument. Predictions may have scores, ranks and queries, each for
    all of them or for none. `asked`: the direction and the true answer of each fact's query. `negative`: the facts are known to be
    false."""

    predicates: list[str] = field(default_factory=list)
    arguments: list[list[str]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a line: the number and text of the line, and the column, counted from 1, and length of the fault."""

    line: int
    text: str
    column: int
    message: str
    length: int = 1
    helps: tuple[str, ...] = ()
    code: str = "E152"


Found = Iterator[Facts | Fault]


class Rankings:
    """Collects the predictions of queries about triples."""

    def __init__(self) -> None:
        self.facts = Facts(arguments=[[], []])

    def add(self, query: tuple[str, str, str], direction: str, row: int, entities: list[str], scores: list[float]) -> None:
        """The ranked predictions of one query: entities in the place of the triple's head, or of its tail."""
        head, relation, tail = query
        number = len(entities)
        facts = self.facts
        facts.predicates += [relation] * number
        facts.arguments[0] += entities if direction == "head" else [head] * number
        facts.arguments[1] += [tail] * number if direction == "head" else entities
        facts.scores += scores
        facts.ranks += range(1, number + 1)
        facts.queries += [f"{direction} {row}"] * number
        facts.asked += [(direction, head if direction == "head" else tail)] * number

    def taken(self, least: int = BATCH_ROWS) -> Found:
        """Hands over the collected facts, if there are at least so many."""
        if len(self.facts.predicates) >= least:
            facts, self.facts = self.facts, Facts(arguments=[[], []])
            yield facts


def finite(text: str) -> float | None:
    """The number that a text stands for; None unless it is a finite one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@cache
def readers() -> dict[str, ModuleType]:
    """The readers by the names of their formats. A reader is a module. It has `TITLE` and `LAYOUT` for people. `PREDICTIONS` and
    `FACTS` say what its files may hold, and `ONE_PREDICATE` whether the user must name the predicate. `looks_like` takes the first
    lines of a file, `read` all lines. If its files hold rankings, `reordered` writes their lines again with the answers of each
    list in another order."""
    return {name: plugins.load(plugins.PREDICTION_FORMATS, name) for name in sorted(plugins.plugins(plugins.PREDICTION_FORMATS))}


_SAMPLE_LINES = 50


def recognised(file: Opening, request: Request) -> str | None:
    """Which tool's format a file has, by its first lines; None if the user says how the file is written."""
    said = request.file
    if said.format is not None or said.layout is not None or said.columns or said.types or said.predicate is not None:
        return None
    if said.delimiter is not None or said.header is not None:
        return None
    sample = _first_lines(file, request)
    if (rules := rule_file(sample)) is not None:
        # Rules may look like facts, because they also have commas or blanks.
        what, cure = rules
        option = f"--{_option(request)} text"
        helps = (cure, f'if they are facts all the same, say `format = "text"` (`{option}`)')
        raise InputError(Diagnostic("E363", f"the file looks like {what}", Place(request.origin), helps=helps))
    fitting = (form for form, reader in readers().items() if (reader.PREDICTIONS if request.predictions else reader.FACTS))
    return next((form for form in fitting if readers()[form].looks_like(sample)), None)


def _option(request: Request) -> str:
    return "predictions-format" if request.predictions else "facts-format"


def _first_lines(file: Opening, request: Request) -> list[str]:
    with open_lines(file, request.origin) as lines:
        return list(islice(lines, _SAMPLE_LINES))


@contextmanager
def strangers_named(file: Opening, request: Request) -> Iterator[None]:
    """Context manager: if a file cannot be read as rows, the first problem also says what the file looks like."""
    try:
        yield
    except InputError as error:
        unreadable = error.problems[0].code == "E305"
        tool = None if unreadable else _looks_like(_first_lines(file, request), request)
        if tool is None:
            raise
        first, *others = error.problems
        what, cure = tool
        named = replace(first, notes=(*first.notes, f"the file looks like {what}"), helps=(cure, *first.helps))
        raise InputError([named, *others]) from None


def _looks_like(lines: Sequence[str], request: Request) -> tuple[str, str] | None:
    """What a file without rows probably is, and what to do: it may hold another tool's facts instead of predictions, or the
    reverse."""
    other = "give it as facts: `--facts`" if request.predictions else "give it as predictions: `--predictions`"
    unfit = (reader for reader in readers().values() if not (reader.PREDICTIONS if request.predictions else reader.FACTS))
    return next(((reader.TITLE, other) for reader in unfit if reader.looks_like(lines)), None) or stranger(lines)


def read_foreign(form: str, file: Opening, request: Request) -> Iterator[FactBatch]:
    """The facts of another tool's file. Raises one InputError for all lines that we do not understand."""
    guess = None if request.file.format is not None else Recognised(str(form), readers()[form].TITLE)
    for facts in understood(form, file, request):
        yield replace(_batch(facts, request), guess=guess)
        guess = None


def understood(form: str, file: Opening, request: Request) -> Iterator[Facts]:
    """The facts of another tool's file, from the reader of its format. Raises one InputError for all lines that we do not
    understand."""
    reader = readers()[form]
    refuse_unfit(form, request)
    problems: list[Diagnostic] = []
    begun = False
    with open_lines(file, request.origin) as lines:
        for part in reader.read(_decodable(lines, request), predictions=request.predictions):
            if isinstance(part, Fault):
                problems.append(_problem(part, reader, request))
                if len(problems) > MOST_PROBLEMS:
                    break
            elif not problems:
                yield part
                begun = True
    if problems:
        raise InputError(at_most(iter(problems)))
    if not begun:
        raise no_facts(request)


def asked_columns(form: str, file: Opening, request: Request) -> pa.Table:
    """The query of each row in a file of rankings: its `direction`, and its true answer as `asked`."""
    with open_lines(file, request.origin) as lines:
        parts = readers()[form].read(_decodable(lines, request), predictions=request.predictions)
        asked = [query for facts in parts if isinstance(facts, Facts) for query in facts.asked]
    if not asked:
        return pa.table({})
    directions, entities = zip(*asked, strict=True)
    return pa.table({"direction": pa.array(directions), "asked": pa.array(entities)})


def refuse_unfit(form: str, request: Request) -> None:
    """Raises InputError for a format that holds no facts, or no predictions, and for options that it does not take."""
    reader, file = readers()[form], request.file
    if not (reader.PREDICTIONS if request.predictions else reader.FACTS):
        kinds = ("predictions", "facts") if request.predictions else ("facts", "predictions")
        message = f"{reader.TITLE} holds no {kinds[0]}"
        helps = (f"give it as {kinds[1]}, or say another `format` (`--{_option(request)}`)",)
        raise InputError(Diagnostic("E363", message, Place(request.origin), helps=helps))
    if (file.predicate is not None) != reader.ONE_PREDICATE and not (reader.ONE_PREDICATE and request.in_folder):
        name = f"`NAME={request.origin}`, a mapping in Python, `predicates` in a project file"
        message = (
            f"{reader.TITLE} holds the facts of one predicate, but nothing names the predicate"
            if reader.ONE_PREDICATE
            else (f"{reader.TITLE} names its predicates, and another name is given")
        )
        helps = (f"name it: {name}",) if reader.ONE_PREDICATE else ("leave the name out",)
        raise InputError(Diagnostic("E363", message, Place(request.origin), helps=helps))
    said = [key for key in ("layout", "delimiter", "header") if getattr(file, key) is not None]
    said += [key for key in ("columns", "types") if getattr(file, key)]
    if said:
        message = f"`{said[0]}` says nothing of {reader.TITLE}"
        notes = (f"it is written so: {reader.LAYOUT}",)
        raise InputError(Diagnostic("E363", message, Place(request.origin), notes=notes, helps=("leave it out",)))


def _decodable(lines: Iterable[str], request: Request) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if not line.isascii() and (problem := encoding_problem(request.origin, number, line)) is not None:
            raise InputError(problem)
        yield line


def _problem(fault: Fault, reader: ModuleType, request: Request) -> Diagnostic:
    place = Place(request.origin, fault.line, fault.column, fault.length, printable(fault.text))
    notes = (f"the file is read as {reader.TITLE}: {reader.LAYOUT}",)
    helps = () if request.file.format is not None else (f"if it is another tool's, say its `format` (`--{_option(request)}`)",)
    return Diagnostic(fault.code, fault.message, place, notes=notes, helps=(*fault.helps, *helps))


def _batch(facts: Facts, request: Request) -> FactBatch:
    columns = [text_keys(pa.array(argument, pa.string())) for argument in facts.arguments]
    ranking = (
        pa.array(facts.scores, pa.float64()) if facts.scores else None,
        pa.array(facts.ranks, pa.int64()) if facts.ranks else None,
        pa.array(facts.queries, pa.string()) if facts.queries else None,
    )
    predicates = pa.array(facts.predicates, pa.string()) if request.file.predicate is None else None
    batch = assemble(columns, predicates, request.file.predicate, ranking if request.predictions else None)
    return replace(batch, negative=facts.negative)


# Says what files without facts probably are, by their first lines, and how to read them.


_RULES = "give it as rules: `--rules FILE`, `rules` in a project file and in Python"
_TABLE = "predictions of values need their table: `[tables.NAME]` with `key` and `target` in a project file, `tables=` in Python"
_IDS = (
    "`rulescore.Triples` takes ids, with the names of `entity2id.txt` and `relation2id.txt`; the columns are head, tail, relation"
)

_OF_RULES = {
    "rules of AnyBURL": re.compile(r"\d+\t\d+\t\S+\t.+\(.*\) <= "),
    "rules of AMIE": re.compile(r".*\?\w+\s+\S+\s+\?\w+.*=>"),
    "clauses of Markov logic": re.compile(r"\S+\s+!?\S+\([^()]*\) v "),
    "rules of Neural-LP or NCRL": re.compile(r"\S+ \(\S+\)\t.+ <-- "),
    "rules of UniKER": re.compile(r"1\.0(?:\t[^\t\d()][^\t()]*){2,3}\Z"),
    "rules of PSL": re.compile(r"\d+(?:\.\d+)?: .+\(.*\).* -> "),
    "rules of Prolog or of ours": re.compile(r".*\w\([^()]*\)\s*(?::-|<-)"),
    "denial constraints of HoloClean": re.compile(r"t1&t2&"),
    "denial constraints of Desbordante": re.compile(r"!\(\s*[st]\.\w+ "),
}
_OTHERS = (
    (r"\s*[\[{]", "JSON", "write its rows as text or Parquet"),
    (r"\s*(@prefix|@base|PREFIX|BASE)\b", "Turtle", "name it with the ending .ttl, or convert it to N-Triples"),
    (r"\s*<[^<>\s]+>\s+<[^<>\s]+>\s", "N-Triples", 'name it with the ending .nt, or say `format = "ntriples"`'),
    (r"\s*<(\?xml|!DOCTYPE|html|rdf:RDF)", "XML or HTML", "write its rows as text"),
    (r"(?i)(.*[\t,;])?\"?prediction\"?([\t,;].*)?\Z", "ids and predictions of a table's target", _TABLE),
)
_RNNLOGIC_ROW = re.compile(r"\d+(?: \d+)+\Z")
_DICTIONARY_ROW = re.compile(r"\d+\t[^\t]+\Z|[^\t]+\t\d+\Z")
_OPENKE = re.compile(r"\d+\Z")
_OPENKE_ROW = re.compile(r"\d+[ \t]\d+[ \t]\d+\Z")


def rule_file(lines: Sequence[str]) -> tuple[str, str] | None:
    """The tool whose rules a file holds, if all of its first lines are rules, and what to do with it."""
    rows = [line for line in lines if line.strip()]
    whose = (what for what, pattern in _OF_RULES.items() if rows and all(pattern.match(line) for line in rows))
    return next(((what, _RULES) for what in whose), None)


def stranger(lines: Sequence[str]) -> tuple[str, str] | None:
    """What a file that we cannot read as facts probably is, by its first lines, and what to do with it."""
    first, *more = [line for line in lines if line.strip()] or [""]
    if _OPENKE.match(first) and more and all(_OPENKE_ROW.match(line) for line in more):
        return "triples by ids as OpenKE has them", _IDS
    if all(_RNNLOGIC_ROW.match(line) for line in (first, *more)):
        return "rules of RNNLogic", f"{_RULES}, with `relations.dict` beside it"
    if all(_DICTIONARY_ROW.match(line) for line in (first, *more)):
        return "a dictionary of ids", "`rulescore.Triples` takes ids and the names of entities and relations"
    return rule_file([first]) or next(((what, cure) for pattern, what, cure in _OTHERS if re.match(pattern, first)), None)
