"""Decides which column of a table plays which part."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile

from rulescore.errors import Diagnostic, InputError, Place, meant, suggestion, ticked
from rulescore.setting.choices import Arrangement, ColumnType
from rulescore.setting.model import ColumnChoice, Guess, OnePredicate, Request

TRIPLE = ("head", "relation", "tail")
_WORDS: dict[str, tuple[str, ...]] = {
    "head": ("subject", "subj", "s", "h", "source", "src", "from", "head_entity", "entity1", "e1", "node1"),
    "relation": ("rel", "predicate", "pred", "property", "p", "r", "type", "relationship", "relation_type", "edge_type"),
    "tail": ("object", "obj", "o", "t", "target", "dst", "to", "tail_entity", "entity2", "e2", "node2"),
    "score": ("confidence", "probability", "prob", "likelihood"),
    "rank": ("position",),
    "query": ("query_id",),
}
_IDS = {"head": ("start_id",), "relation": (), "tail": ("end_id",)}
# Column names that Amazon Neptune and KGTK use. They come last, since the column `label` of many tables does not hold relations.
_LAST = {"head": ("x_name",), "relation": ("label", "edge"), "tail": ("y_name",)}


def _tiers(part: str) -> tuple[frozenset[str], ...]:
    """The names of a part, as `plain_name` writes them: its own, its other names and, for a part of a triple, names of columns that
    hold labels or ids. A column with a name of an earlier group wins."""
    itself, words = frozenset({part}), frozenset(_WORDS[part])
    if part not in TRIPLE:
        return itself, words
    long = [part, *(word for word in _WORDS[part] if len(word) > 1)]
    labels = frozenset(f"{word}_{end}" for word in long for end in ("label", "name", "text"))
    # Many tables that hold no triples have a column of ids and a column `type`.
    ids = frozenset(f"{word}_id" for word in long if word not in ("from", "to", "type"))
    return itself, words, labels, ids.union(_IDS[part]), frozenset(_LAST[part])


ALIASES = {part: _tiers(part) for part in _WORDS}
_NAMES = {part: frozenset().union(*tiers) for part, tiers in ALIASES.items()}
_TRIPLE_NAMES = frozenset[str]().union(*(_NAMES[part] for part in TRIPLE))
RANKING = ("score", "rank", "query")
_RANKING_NAMES = frozenset[str]().union(*(_NAMES[part] for part in RANKING))
MODEL = "model"
MOST_ARGUMENTS = 100
"""Of a predicate. Databases nest a condition for each argument: planning takes 2 seconds for a hundred, and 20 for two hundred."""
_QUERY_PARTS = ("query_direction", "test_row")
_LIKELY = {
    "head": ("head", "subj", "source", "src", "from", "start", "left"),
    "relation": ("rel", "pred", "prop", "type", "kind", "label", "edge"),
    "tail": ("tail", "obj", "target", "dst", "to", "end", "right"),
}
_BLANKS = re.compile(r"[\s.-]+")
_GROUP = re.compile(r"\([^()]*\)\Z")
_NUMBERED = re.compile(r"a(?:rg)?([0-9]+)")
_PAIRS = (("subject", "object"), ("head", "tail"))


def names_relations(word: str) -> bool:
    """Whether a word is a usual name of columns that hold relations."""
    return plain_name(word) in _NAMES["relation"]


def names_score(word: str) -> bool:
    """Whether a word is a usual name of columns that hold scores."""
    return plain_name(word) in _NAMES["score"]


Parts = dict[str, tuple[int, ...]]
"""The columns of each part, counted from 0."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Column numbers, counted from 0. A table of triples has a `relation` column, any other a `predicate`. `may_be_empty`: an
    empty argument is a missing value, which attributes may have and facts may not. `guess`: what we assumed. `declared`: the
    numbers of the arguments whose types the user declares."""

    names: tuple[str, ...]
    arguments: tuple[int, ...]
    types: tuple[ColumnType, ...]
    relation: int | None = None
    predicate: str | None = None
    score: int | None = None
    rank: int | None = None
    query: tuple[int, ...] = ()
    may_be_empty: bool = False
    guess: Guess | None = None
    declared: frozenset[int] = frozenset()


PREDICTION = "prediction"
"""The column of predictions, next to the ids that they are for."""


def key_columns(names: Sequence[str], key: tuple[str, ...], *, listed: bool = False) -> tuple[str, ...]:
    """The columns that hold a key: the columns with its names or, for a key of one column, `id`. In a list of ids, also the only
    column."""
    if len(key) == 1 and key[0] not in names:
        return ("id",) if names.count("id") == 1 else tuple(names) if listed and len(names) == 1 else key
    return key


def prediction_column(names: Sequence[str], target: str | None) -> str:
    """The column of predictions. Many programs write them under the name of what they predict."""
    return target if target is not None and PREDICTION not in names and names.count(target) == 1 else PREDICTION


def is_header(names: Sequence[str], request: Request) -> bool:
    """Whether a first row makes sense only as names of columns."""
    if _arrangement(names, request) is Arrangement.TRIPLES:
        return names_triples(names)
    ranking = _RANKING_NAMES.union(_QUERY_PARTS) if request.predictions else frozenset[str]()
    return _named_arguments([name for name in names if plain_name(name) not in ranking]) is not None


def names_triples(names: Sequence[str]) -> bool:
    known = {plain_name(name) for name in names}
    return all(known & _NAMES[part] for part in TRIPLE)


def unknown_names(names: Sequence[str]) -> list[str]:
    """The names that are not usual names of a part."""
    known = frozenset(_QUERY_PARTS).union(*_NAMES.values())
    return [name for name in names if plain_name(name) not in known]


def missing_part(names: Sequence[str], request: Request) -> str | None:
    """The part of a triple that a first row does not name although it names the other two. Two single letters are as likely
    constants of a small example."""
    file = request.file
    if file.predicate is not None or file.columns or file.layout is Arrangement.PREDICATE:
        return None
    plain = [plain_name(name) for name in names]
    missing = [part for part in TRIPLE if not _NAMES[part].intersection(plain)]
    single = all(len(name) == 1 for name in plain if name in _TRIPLE_NAMES)
    return missing[0] if len(missing) == 1 and not single else None


def headerless_widths(request: Request) -> tuple[int, ...]:
    """How many columns a table of triples without header may have; empty if any number will do."""
    if request.file.columns or _arrangement((), request) is Arrangement.PREDICATE:
        return ()
    return (3, 4, 5) if request.predictions else (3,)


def resolve(names: Sequence[str] | None, width: int, request: Request) -> Layout:
    """The layout of a table with these column names, or of this width when the columns have no names."""
    chosen = _chosen(names, width, request)
    if _arrangement(names or (), request) is Arrangement.TRIPLES:
        parts = {**_triple_parts(names, width, request, chosen), **chosen}
        arguments: tuple[int, ...] = (parts["head"][0], parts["tail"][0])
        labels: tuple[str, ...] = ("head", "tail")
        relation, predicate, guess = parts["relation"][0], None, None
    else:
        parts = {**_ranking_parts(names, request), **chosen}
        taken = {i for part in RANKING for i in parts.get(part, ())}
        arguments = chosen.get("arguments") or _argument_order(names, [i for i in range(width) if i not in taken], request)
        refuse_too_wide(len(arguments), Place(request.origin))
        labels = tuple(f"a{i}" for i in range(len(arguments)))
        relation, predicate, guess = None, request.file.predicate or request.stem, _guess(names, arguments, request)
    shown = tuple(names) if names is not None else _invented_names(width, arguments, relation, labels)
    types = _types(shown, arguments, labels, request)
    ranking = parts if request.predictions else {}
    return Layout(
        names=shown,
        arguments=arguments,
        types=tuple(kind or ColumnType.STRING for kind in types),
        relation=relation,
        predicate=predicate,
        score=next(iter(ranking.get("score", ())), None),
        rank=next(iter(ranking.get("rank", ())), None),
        query=ranking.get("query", ()),
        guess=guess,
        declared=frozenset(place for place, kind in enumerate(types) if kind is not None),
    )


def refuse_too_wide(arguments: int, place: Place) -> None:
    if arguments > MOST_ARGUMENTS:
        message = f"a fact has {arguments:,} arguments, and a predicate has at most {MOST_ARGUMENTS}"
        helps = ("give the file as a table, of which rules name the columns they need; or choose columns with `columns`",)
        raise InputError(Diagnostic("E369", message, place, helps=helps))


def _guess(names: Sequence[str] | None, arguments: Sequence[int], request: Request) -> OnePredicate | None:
    """The guess that three columns or more are the arguments of one predicate, if nothing says so."""
    file, shown = request.file, [] if names is None else [names[i] for i in arguments]
    said = file.predicate is not None or file.layout is not None or file.columns or _named_arguments(shown) is not None
    return None if said or len(arguments) < 3 else OnePredicate(tuple(shown), request.in_folder)


def model_column(names: Sequence[str]) -> str | None:
    """The column that tells models apart, if there is one."""
    return next((name for name in sorted(names, key=lambda column: column != MODEL) if plain_name(name) == MODEL), None)


def is_published(names: Sequence[str]) -> bool:
    """Whether columns are in the published layout, in which tags say which rows are facts."""
    return {"subject", "tag", MODEL} <= {plain_name(name) for name in names}


def chosen_columns(names: Sequence[str]) -> dict[str, str]:
    """The columns that may be the parts of triples: as their names suggest, else in their order."""
    rest = list(names)
    columns = {}
    for part in TRIPLE:
        likely = [name for name in rest if any(word in plain_name(name) for word in _LIKELY[part])]
        if likely:
            columns[part] = likely[0]
            rest.remove(likely[0])
    for part in TRIPLE:
        if part not in columns:
            columns[part] = rest.pop(0)
    return {part: columns[part] for part in TRIPLE}


def written_columns(columns: Mapping[str, str]) -> str:
    """A line for a project file."""
    return f"columns = {{ {', '.join(f'{part} = {json.dumps(name, ensure_ascii=False)}' for part, name in columns.items())} }}"


def is_triple_name(word: str) -> bool:
    """Whether a word is a usual name of a part of a triple."""
    return plain_name(word) in _TRIPLE_NAMES


def is_ranking_name(word: str) -> bool:
    """Whether a word is a usual name of a score, a rank or a query."""
    return plain_name(word) in _RANKING_NAMES


def column_problem(request: Request, message: str, *, notes: tuple[str, ...] = (), helps: tuple[str, ...] = ()) -> InputError:
    return InputError(Diagnostic("E320", message, Place(request.origin), notes=notes, helps=helps))


def refuse_other_types(types: Iterable[str], names: Sequence[str], origin: str) -> None:
    """Raises InputError for a declared type of a column that a table does not have."""
    for name in types:
        if name not in names:
            notes = (f"the columns are {ticked(names)}",)
            message = f"`types` names `{name}`, which is not a column"
            raise InputError(Diagnostic("E320", message, Place(origin), notes=notes, helps=meant(name, names)))


def plain_name(name: str) -> str:
    """A name as it is compared: `Head Label`, `:START_ID(Person)`, `?s` as `head_label`, `start_id`, `s`."""
    bare = _GROUP.sub("", name.strip()) if name.lstrip().startswith(":") else name
    return _BLANKS.sub("_", bare.lstrip("#:?~ ").strip().lower())


def _arrangement(names: Sequence[str], request: Request) -> Arrangement:
    file = request.file
    if file.layout is not None:
        return Arrangement(file.layout)
    if file.predicate is not None or "arguments" in file.columns:
        return Arrangement.PREDICATE
    if request.by_names and not names_triples(names) and not set(TRIPLE) <= set(file.columns):
        return Arrangement.PREDICATE
    return Arrangement.TRIPLES


def _find(names: Sequence[str], part: str, request: Request) -> tuple[int, ...]:
    """The column that plays a part by its name."""
    for aliases in ALIASES[part]:
        places = tuple(i for i, name in enumerate(names) if plain_name(name) in aliases)
        if len(places) > 1:
            both = " and ".join(f"`{names[i]}`" for i in places)
            helps = (f"choose one: {choosing(part, names[places[0]], request)}",)
            raise column_problem(request, f"columns {both} both mean {part}", helps=helps)
        if places:
            return places
    return ()


def _triple_parts(names: Sequence[str] | None, width: int, request: Request, chosen: Parts) -> Parts:
    if names is None and not chosen:
        return {part: (i,) for i, part in enumerate((*TRIPLE, "score", "rank")) if i < width}
    names = names or ()
    triple = {part: _find(names, part, request) for part in TRIPLE if part not in chosen}
    missing = [part for part, columns in triple.items() if not columns]
    if missing:
        raise _missing_columns(names, missing, request)
    return {**triple, **_ranking_parts(names, request)}


def _missing_columns(names: Sequence[str], missing: Sequence[str], request: Request) -> InputError:
    close = suggestion(missing[0], [plain_name(name) for name in names])
    helps = [] if close is None else [f"is `{close}` the {missing[0]} column?"]
    if len(missing) == len(TRIPLE) <= len(names) and not request.in_memory:
        chosen = chosen_columns(names)
        columns = ",".join(f"{part}={name}" for part, name in chosen.items())
        asked = f"`--predictions-columns {shlex.quote(columns)}`, or " if request.predictions else ""
        helps.append(f"choose them: {asked}`{written_columns(chosen)}`{' in a project file' if asked else ''}")
    elif request.in_memory and close is None and not {"head", "tail"} <= set(missing):
        asked = ", ".join(f"{part}=…" for part in missing)
        helps.append(f"if they are the same in all rows, as in answers to one question, add them: `frame.assign({asked})`")
    else:
        helps.append(f"say which it is: {choosing(missing[0], close or '…', request)}")
    if request.in_memory and {"head", "tail"} <= set(missing):
        helps.append(
            'for facts of one predicate give `{"predicate": frame}`, '
            'for rows with a key `tables={"name": rulescore.Table(frame, key=…)}`'
        )
    listed = ticked(names)
    note = f"the columns are {listed}" if names else "the file has no header"
    wanted = " and ".join(f"`{part}`" for part in missing)
    return column_problem(request, f"no column for {wanted}", notes=(note,), helps=tuple(helps))


def choosing(part: str, name: str, request: Request) -> str:
    """How a user says which column plays a part."""
    if request.in_memory:
        return f"rename the column to `{part}`"
    in_python = f'`rulescore.FactFile(path, columns={{"{part}": "{name}"}})` in Python'
    asked = f"`--predictions-columns {part}={name}`, " if request.predictions else ""
    return f'{asked}`columns = {{ {part} = "{name}" }}` in a project file, {in_python}'


def _ranking_parts(names: Sequence[str] | None, request: Request) -> Parts:
    """The columns of score, rank and query, if predictions have columns of these names."""
    if names is None or not request.predictions:
        return {}
    parts = {part: _find(names, part, request) for part in RANKING}
    plain = [plain_name(name) for name in names]
    if not parts["query"] and all(plain.count(name) == 1 for name in _QUERY_PARTS):
        parts["query"] = tuple(plain.index(name) for name in _QUERY_PARTS)
    return parts


def _named_arguments(names: Sequence[str]) -> list[int] | None:
    """The order of columns whose names say which argument they are; None when they do not."""
    plain = [plain_name(name) for name in names]
    for order in ([0, 1], [1, 0]):
        # In a small example, single letters may just as well be constants.
        if len(plain) == 2 and all(len(name) > 1 for name in plain):
            head, tail = (plain[i] for i in order)
            if head in _NAMES["head"] and tail in _NAMES["tail"]:
                return order
    numbers = [int(match[1]) if (match := _NUMBERED.fullmatch(name)) else -1 for name in plain]
    if sorted(numbers) != list(range(len(numbers))) or not numbers:
        return None
    return [numbers.index(i) for i in range(len(numbers))]


def _argument_order(names: Sequence[str] | None, columns: Sequence[int], request: Request) -> tuple[int, ...]:
    if names is None:
        return tuple(columns)
    known = [names[i] for i in columns]
    order = (_paired_arguments(known) if request.stored else None) or _named_arguments(known)
    return tuple(columns) if order is None else tuple(columns[i] for i in order)


def _paired_arguments(names: Sequence[str]) -> list[int] | None:
    """The order of two columns that are named as arguments. Other columns do not matter; the names of further arguments have
    numbers."""
    plain = [plain_name(name) for name in names]
    for pair in _PAIRS:
        if all(plain.count(name) == 1 for name in pair):
            further = takewhile(plain.__contains__, (f"argument_{i}" for i in count(3)))
            return [plain.index(name) for name in (*pair, *further)]
    return None


def _chosen(names: Sequence[str] | None, width: int, request: Request) -> Parts:
    """The columns that the user chose, by part."""
    allowed = ("arguments", *ALIASES)
    chosen = {}
    for part, choice in request.file.columns.items():
        if part not in allowed:
            notes = (f"parts are {', '.join(allowed)}",)
            raise column_problem(request, f"`{part}` is not a part of a fact", notes=notes, helps=meant(part, allowed))
        several = (choice,) if isinstance(choice, str | int) else tuple(choice)
        if not several:
            raise column_problem(request, f"`columns.{part}` names no column")
        chosen[part] = tuple(_column(column, names, width, request) for column in several)
    return chosen


def _column(choice: ColumnChoice, names: Sequence[str] | None, width: int, request: Request) -> int:
    if isinstance(choice, int):
        if not 1 <= choice <= width:
            raise column_problem(request, f"there is no column {choice}", notes=(f"columns are numbered 1 to {width}",))
        return choice - 1
    if names is None or list(names).count(choice) != 1:
        listed = ticked(names or ())
        raise column_problem(
            request,
            f"no single column is called `{choice}`",
            notes=(f"the columns are {listed}" if listed else "the file has no header",),
            helps=meant(choice, names or ()),
        )
    return list(names).index(choice)


def _invented_names(width: int, arguments: Sequence[int], relation: int | None, labels: Sequence[str]) -> tuple[str, ...]:
    names = [f"column {i + 1}" for i in range(width)]
    for index, label in zip(arguments, labels, strict=True):
        names[index] = label
    if relation is not None:
        names[relation] = "relation"
    return tuple(names)


def _types(names: Sequence[str], arguments: Sequence[int], labels: Sequence[str], request: Request) -> list[ColumnType | None]:
    """Declared types by part, by argument number or by the header's name."""
    declared = {name: _column_type(word, request) for name, word in request.file.types.items()}
    types: list[ColumnType | None] = []
    for place, index in enumerate(arguments):
        keys = {labels[place], f"a{place}", names[index]} & declared.keys()
        types.append(declared[min(keys)] if keys else None)
        for name in keys:
            del declared[name]
    if declared:
        unknown = next(iter(declared))
        helps = meant(unknown, [*labels, *names])
        raise column_problem(request, f"`types` names `{unknown}`, which is not an argument column", helps=helps)
    return types


def _column_type(word: str, request: Request) -> ColumnType:
    if word not in set(ColumnType):
        helps = meant(word, list(ColumnType))
        raise column_problem(
            request, f"there is no column type `{word}`", notes=(f"types are {', '.join(ColumnType)}",), helps=helps
        )
    return ColumnType(word)
