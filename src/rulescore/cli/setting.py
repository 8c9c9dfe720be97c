"""Makes a setting from a user's choice: a project file, plain options, or both. An option replaces what the project says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from rulescore.arguments.python import ScoreOptions, make_setting
from rulescore.arguments.rule_sources import RuleFile
from rulescore.arguments.table_options import named_tables
from rulescore.arguments.tables import keyed_tables, table_predictions, the_target_table
from rulescore.arguments.truth import Truth, held_out
from rulescore.cli.options import SettingChoice
from rulescore.errors import Diagnostic, InputError, Place, Source, meant, refuse, ticked
from rulescore.language.reading import RuleChoice, RuleSource
from rulescore.language.words import WeighBy
from rulescore.readers.files import refuse_pipes_twice
from rulescore.readers.labels import labels_of
from rulescore.readers.sources import files_by_model, named_path, named_source
from rulescore.reporting.listing import DEFAULT_FILE_FORMATS
from rulescore.setting.choices import Deed, FileFormat
from rulescore.setting.model import ColumnChoice, FactFile, GateText, HeldOut, KeyedTable, ModelPredictions, PublishedFacts, Setting
from rulescore.setting.options import Options

_Options = TypeVar("_Options", bound=Options)

PROJECT_FILE = Path("rulescore.toml")
_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True, slots=True)
class Chosen:
    setting: Setting
    output_folder: Path | None = None
    plots_folder: Path | None = None
    formats: tuple[str, ...] = DEFAULT_FILE_FORMATS
    gates: tuple[GateText, ...] = ()


LOOKING = frozenset({Deed.SQL, Deed.ENGINE, Deed.DATABASE, Deed.SPILL})
"""What commands do that look at rules and data and score nothing: no function is called."""
COUNTING = LOOKING | {Deed.CODE}
WRITING = COUNTING | {Deed.OUTPUT}
DRAWING = WRITING | {Deed.PLOTS}


def load(choice: SettingChoice, does: frozenset[Deed] = WRITING) -> Chosen:
    """A setting with facts and rules. `does`: the deeds of the command that need trust."""
    chosen = _load(choice, does)
    data = [] if chosen.setting.tables else _facts_problems(chosen.setting)
    problems = [*data, *_rules_problems(chosen.setting)]
    refuse(problems)
    return chosen


def load_facts(choice: SettingChoice) -> Setting:
    """The observed facts alone: no tables, no rules, no predictions."""
    setting = _load(choice, frozenset({Deed.ENGINE, Deed.SPILL}), rules=False).setting
    if setting.tables and not setting.observed:
        helps = ("write `incompatible` statements or `refute` rules for attributes by hand",)
        raise InputError(
            Diagnostic("E404", "we look for incompatible predicates among facts, and there are only tables", helps=helps)
        )
    refuse(_facts_problems(setting))
    return Setting(setting.observed, (), engine=setting.engine)


def load_data(choice: SettingChoice) -> Setting:
    """The data alone: facts, tables and predictions, no rules."""
    setting = _load(choice, frozenset({Deed.ENGINE, Deed.DATABASE, Deed.SPILL}), rules=False).setting
    if not setting.tables and (problems := _facts_problems(setting)):
        raise InputError(problems)
    return replace(setting, rules=(), functions=(), sql_rules=())


def load_given(choice: SettingChoice) -> Setting:
    """Facts and tables, with the rules if there are any."""
    setting = _load(choice, LOOKING).setting
    if not setting.tables and (problems := _facts_problems(setting)):
        raise InputError(problems)
    return replace(setting, predictions=())


def load_rules(choice: SettingChoice) -> Setting:
    """A setting with rules, and the weights and kinds that the project file gives to them. No data are needed."""
    setting = _load(choice, frozenset()).setting
    refuse(_rules_problems(setting))
    return setting


def require_predictions(setting: Setting) -> None:
    # If there is a published layout, its schema names the models.
    if not setting.predictions and not any(isinstance(source, PublishedFacts) for source in setting.observed):
        helps = ("give `--predictions MODEL=PATH`, or use `rulescore audit` to look at the rules over the observed facts alone",)
        raise InputError(Diagnostic("E404", "there are no predictions to score", helps=helps))


def require_rule(name: str, known: Sequence[str]) -> None:
    if name not in known:
        helps = meant(name, known) or ("`rulescore rules` lists them",)
        raise InputError(Diagnostic("E261", f"no rule is named `{name}`", helps=helps))


def the_models(name: str | None, known: Sequence[str]) -> list[str] | None:
    """The models to show: the named model, or all. If there are no models: None, which stands for the dataset."""
    if name is None:
        return list(dict.fromkeys(known)) or None
    if name not in known:
        notes = (f"the models: {ticked(known) or 'there are none'}",)
        raise InputError(Diagnostic("E261", f"no model is named `{name}`", notes=notes, helps=meant(name, known)))
    return [name]


def _load(choice: SettingChoice, does: frozenset[Deed], *, rules: bool = True) -> Chosen:
    if choice.project is not None and choice.project_option is not None:
        helps = ("give it either as an argument or with `--project`",)
        raise InputError(Diagnostic("E327", "the project file is given twice", helps=helps))
    path = choice.project or choice.project_option
    if path is None and not choice.facts and not choice.tables and PROJECT_FILE.exists():
        path = PROJECT_FILE
    if path is None:
        return Chosen(_replaced(Setting((), ()), choice))
    from rulescore.arguments.project import load_project

    needs_trust = does.difference(_replaced_deeds(choice))
    project = load_project(path, trusted=bool(choice.trust), does=needs_trust, rules=rules)
    formats = project.formats or DEFAULT_FILE_FORMATS
    return Chosen(_replaced(project.setting, choice), project.output_folder, project.plots_folder, formats, project.gates)


def _replaced_deeds(choice: SettingChoice) -> Iterator[Deed]:
    """The user need not trust what the command line replaces in the project file."""
    if "engine" in choice.options:
        yield Deed.ENGINE
    if "spill_folder" in choice.options:
        yield Deed.SPILL


def _replaced(setting: Setting, choice: SettingChoice) -> Setting:
    _refuse_idle_formats(choice)
    setting = replace(setting, tables=_tables(choice) or setting.tables)
    table = None if choice.facts or setting.observed else the_target_table(setting.tables)
    try:
        made = _made(choice if table is None else replace(choice, predictions=()))
    except InputError as error:
        engine = choice.options.get("engine", setting.engine.url)
        raise InputError(_or_a_table(problem, engine) for problem in error.problems) from error
    if table is not None:
        made = replace(made, predictions=_of_table(table, choice))
    return Setting(
        observed=made.observed if choice.facts else setting.observed,
        rules=_chosen(made.rules or setting.rules, choice),
        predictions=_predictions(made.predictions or setting.predictions, choice.options.get("top_k")),
        negatives=made.negatives or setting.negatives,
        scoring=_with_chosen(setting.scoring, made.scoring, choice),
        engine=_with_chosen(setting.engine, made.engine, choice),
        tables=setting.tables,
        functions=setting.functions,
        sql_rules=setting.sql_rules,
        truth=_truth(setting, choice),
        labels=labels_of(choice.labels) or setting.labels,
    )


def _tables(choice: SettingChoice) -> tuple[KeyedTable, ...]:
    for option, given in (("key", choice.keys), ("target", choice.targets)):
        if given and not choice.tables:
            helps = (f"give `--table`, or `{option}` in the project file",)
            raise InputError(Diagnostic("E402", f"`--{option}` is for the tables of `--table`", helps=helps))
    tables = named_tables([named_path(text) for text in choice.tables], choice.keys, delimiter_of(choice), choice.targets)
    return keyed_tables(tables, lambda location: Place("--table"))


def _truth(setting: Setting, choice: SettingChoice) -> HeldOut | None:
    """Files replace the files that the project file names; we read them as it says."""
    if not choice.truth and choice.domains is None:
        return setting.truth
    # Predicted values of a table come from text files or Parquet, even if facts come in another format.
    form = None if setting.tables else choice.facts_format
    sources = [_source(text, form) for text in choice.truth]
    truth = Truth(sources or None, domains=choice.domains)
    chosen = held_out(truth, setting.tables, facts=bool(choice.facts or setting.observed), delimiter=delimiter_of(choice))
    kept = setting.truth or chosen
    facts, tables = (chosen.facts, chosen.tables) if choice.truth else (kept.facts, kept.tables)
    return replace(kept, facts=facts, tables=tables, domains=kept.domains if choice.domains is None else chosen.domains)


def _chosen(sources: Sequence[Source], choice: SettingChoice) -> tuple[Source, ...]:
    """Rule files, with the options that say how to read them. Rules in the project file itself have no tool's format, and we do not
    filter them."""
    options = {"heads" if name == "head" else name: value for name, value in choice.options.items()}
    wanted = {field.name: options[field.name] for field in fields(RuleChoice) if field.name in options}
    if "weigh_by" in wanted:
        wanted["weigh_by"] = WeighBy(wanted["weigh_by"])
    return tuple(
        replace(source, format=options.get("rules_format", source.format), choice=replace(source.choice, **wanted))
        if isinstance(source, RuleSource)
        else source
        for source in sources
    )


def _or_a_table(problem: Diagnostic, engine: str) -> Diagnostic:
    """A help for a path that does not exist: if there is a database, the user may have meant one of its tables."""
    if problem.code != "E301" or engine == "duckdb":
        return problem
    helps = ('a table of the database is named in a project file: `[[facts]]` with `database_table = "schema.table"`',)
    return replace(problem, helps=(*problem.helps, *helps))


def _of_table(table: KeyedTable, choice: SettingChoice) -> tuple[ModelPredictions, ...]:
    """Files of predictions, if there are no facts: values of the target of the only table that has one."""
    if choice.predictions_columns is not None:
        notes = (f"the predictions are of `{table.name}`: their columns are its key and `prediction`",)
        raise InputError(Diagnostic("E402", "`--predictions-columns` is about predictions of facts", notes=notes))
    delimiter, form = delimiter_of(choice), None if choice.predictions_format is None else FileFormat(choice.predictions_format)
    return tuple(
        ModelPredictions(model, (), None, tuple(table_predictions(table, path, path, delimiter, form) for path in paths))
        for model, paths in files_by_model(choice.predictions).items()
    )


def delimiter_of(choice: SettingChoice) -> str | None:
    """The delimiter that the user gave, as a character."""
    name = choice.options.get("delimiter")
    return None if name is None else _DELIMITERS.get(name, name)


def _made(choice: SettingChoice) -> Setting:
    """A setting of the options alone. It checks them, and one error names all problems."""
    named = (*choice.facts, *choice.negatives, *choice.predictions, *choice.truth, *map(str, choice.rules))
    refuse_pipes_twice(Path(named_path(source.rpartition("=")[2])) for source in named)
    models, columns = files_by_model(choice.predictions), columns_of(choice)
    return make_setting(
        [_source(source, choice.facts_format) for source in choice.facts],
        {model: [_file(path, choice.predictions_format, columns) for path in paths] for model, paths in models.items()},
        [RuleFile(named_path(str(path)), choice.options.get("rules_format")) for path in choice.rules],
        negatives=[_source(source, choice.facts_format) for source in choice.negatives] or None,
        **_call_options(choice),
    )


def _call_options(choice: SettingChoice) -> dict[str, Any]:
    """The options that Python's functions take as well, by the names that these use."""
    options = {name: value for name, value in choice.options.items() if name in ScoreOptions.__annotations__}
    if "roles" in options:
        options["roles"] = [name.strip() for name in options["roles"].split(",")]
    return options | {"delimiter": delimiter_of(choice)}


def _refuse_idle_formats(choice: SettingChoice) -> None:
    """Options for files of a project file belong into the project file."""
    files_given = {"facts": (*choice.facts, *choice.negatives, *choice.truth), "predictions": choice.predictions}
    for what, files in files_given.items():
        if getattr(choice, f"{what}_format") is not None and not files:
            helps = (f"give `--{what}`, or say `format` in the project file",)
            raise InputError(Diagnostic("E402", f"`--{what}-format` is for the files of `--{what}`", helps=helps))
    if choice.predictions_columns is not None and not choice.predictions:
        helps = ("give `--predictions`, or say `columns` in the project file",)
        raise InputError(Diagnostic("E402", "`--predictions-columns` is about the files of `--predictions`", helps=helps))


def _source(text: str, form: str | None) -> object:
    named = named_source(text)
    if isinstance(named, str):
        return _file(named, form)
    return {name: _file(path, form) for name, path in named.items()}


def _file(path: str, form: str | None, columns: Mapping[str, ColumnChoice] | None = None) -> str | FactFile:
    return FactFile(path, format=form, columns=columns or {}) if form or columns else path


def columns_of(choice: SettingChoice) -> dict[str, ColumnChoice]:
    """The columns of predictions by the parts that they play: `--predictions-columns head=s.name,relation=p,tail=3`."""
    columns: dict[str, ColumnChoice] = {}
    for text in () if choice.predictions_columns is None else choice.predictions_columns.split(","):
        part, mark, name = (piece.strip() for piece in text.partition("="))
        if not (part and mark and name):
            helps = ("write it like `--predictions-columns head=subject.name,relation=predicate,tail=object.name`",)
            raise InputError(Diagnostic("E402", f"`{text}` in `--predictions-columns` names no part and column", helps=helps))
        columns[part] = int(name) if name.isdecimal() else name
    return columns


def _predictions(models: tuple[ModelPredictions, ...], top_k: int | None) -> tuple[ModelPredictions, ...]:
    return models if top_k is None else tuple(replace(predictions, top_k=top_k) for predictions in models)


def _with_chosen(project: _Options, made: _Options, choice: SettingChoice) -> _Options:
    """The options of the project file, with the user's choices."""
    names = (field.name for field in fields(project) if field.metadata.get("name", field.name) in choice.options)
    return replace(project, **{name: getattr(made, name) for name in names})


def _facts_problems(setting: Setting) -> list[Diagnostic]:
    if setting.observed:
        return []
    helps = ("name a project file, or give `--facts PATH` or `--table PATH`",)
    notes = (f"without `--facts` and `--table`, `{PROJECT_FILE}` is read if this folder has one",)
    return [Diagnostic("E404", "we do not know where the observed facts are", notes=notes, helps=helps)]


def _rules_problems(setting: Setting) -> list[Diagnostic]:
    if setting.rules or setting.sql_rules:
        return []
    return [Diagnostic("E404", "no rules are given", helps=("give `--rules FILE`", "`rulescore discover` finds rules in the data"))]
