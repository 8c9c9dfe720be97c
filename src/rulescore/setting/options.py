"""Options, each defined once: its name, type, default and bounds, and its help on the command line. Project files, Python calls and
commands take these fields. Loads little, because commands show them in their help."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from rulescore.language.words import Kind, WeighBy
from rulescore.setting import choices

UNWRITTEN = {"written": False}
"""Of a field that is no option: nobody can write it down."""


def option(explained: str, default: Any = None, *, repr: bool = True, **look: Any) -> Any:
    """A field that is also an option of the command line: its help and, if its type does not say it, its form in click's words."""
    return field(default=default, repr=repr, metadata={"help": explained, **look})


def plain_type(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without None, and the further parts of its annotation. If the type is a union: its first type."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(member for member in get_args(kind) if member is not NoneType)
    return (get_args(kind)[0], get_args(kind)[1:]) if get_origin(kind) is Annotated else (kind, ())


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`timeout`: the most seconds that one statement, or planning, may take. `url` may hold a password, so `repr` leaves it out.
    `session`: a session of the caller's, used instead of one at an address."""

    url: str = option("The database that counts. [default: duckdb]", "duckdb", repr=False, name="engine", metavar="URL")
    memory_limit: choices.Memory | None = option(
        "The most memory to use, such as 2GB; on DuckDB, for the whole process. [DuckDB: half of the machine's]", metavar="SIZE"
    )
    threads: choices.Threads | None = option("How many threads the engine may use.")
    spill_folder: Path | None = option("The folder for data that do not fit into memory.")
    timeout: choices.Seconds | None = option("The longest time for one statement, or for planning.", metavar="SECONDS")
    session: object | None = field(default=None, metadata=UNWRITTEN)


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """What we count. `distinct_variables` and `roles` are the convention's own unless given. `hard_needs`: how many evaluable
    groundings over the data make a rule hard that none of them breaks. `allow_unrefutable`: score predictions even if no rule can
    be refuted."""

    convention: choices.Convention = option("The way of counting. [default: definition]", choices.Convention.DEFINITION)
    distinct_variables: bool | None = option("Whether two variables must have different constants. [default: the convention's]")
    roles: frozenset[choices.Role] | None = option(
        "Roles in which predictions count: body, head, refuter. [default: the convention's]", metavar="ROLE,…"
    )
    weights: dict[str, choices.Weight] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    hard_needs: choices.AtLeastOne = option(
        "A rule that the data never break is hard only if it has N evaluable groundings. [default: 1]", 1, metavar="N"
    )
    allow_unrefutable: bool = option(
        "Score even if no declaration could refute any rule: a warning instead of an error.", False, is_flag=True
    )


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How files are read, and how many predictions are kept."""

    delimiter: choices.Delimiter | None = option(
        "The separator of columns in text files: a character, `tab` or `space`.", metavar="TEXT"
    )
    header: bool | None = option("Whether text files begin with a line of column names.")
    top_k: choices.TopK | None = option("How many of the best answers to each query we keep.")


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """How rule files are read, and which of their rules are taken; as in `RuleFile`."""

    format: str | None = option("The format of rule files. [default: by content]", name="rules_format", metavar="NAME")
    min_confidence: choices.Share | None = option("Only rules with at least this confidence from their miner.", metavar="X")
    min_support: choices.NotNegative | None = option("Only rules with at least this support from their miner.", metavar="N")
    max_length: choices.AtLeastOne | None = option("Only rules with at most N atoms in the body.", metavar="N")
    head: tuple[str, ...] = option(
        "Only rules with this predicate in the head; repeatable.", (), multiple=True, metavar="PREDICATE"
    )
    weigh_by: WeighBy | None = option("Weigh each rule by the tool's confidence or weight. [default: 1]")


Options = EngineOptions | ScoringOptions | ReadingOptions
