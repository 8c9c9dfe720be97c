"""The project file: what it says becomes a setting, and what is wrong with it is told with its line."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rulescore.arguments.project import load_project
from rulescore.arguments.project_file import keys_of
from rulescore.arguments.sections import HiddenSection, ProjectSections, SourceSection, TagsSection
from rulescore.errors import InputError
from rulescore.language.declarations.closed import Closed
from rulescore.language.declarations.functional import Functional
from rulescore.language.declarations.incompatible import IncompatibleGroup, IncompatiblePair
from rulescore.language.declarations.refute import Refute
from rulescore.language.parser import parse_all
from rulescore.language.syntax import ExtractIncompatible, Kind
from rulescore.setting.choices import Convention, OutputFormat, Role
from rulescore.setting.model import FactStream

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "project-file.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
TITLED = list(zip(*[iter(re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)[1:])] * 2, strict=True))


@pytest.fixture
def folder(write, tmp_path):
    """A folder with every file that the documented examples name."""
    for name in ("train.tsv", "compgcn.tsv", "transe.tsv", "test.tsv"):
        write(name, "head\trelation\ttail\trank\nalice\tmother\tbob\t1\n")
    write("denied.csv", "alice,mother,carol\n")
    write("sales.csv", "seller;kind;price\nann;sold;7\n")
    for name in ("born_in.tsv", "north.tsv", "south.tsv"):
        write(name, "ann\tparis\n")
    for name in ("people.tsv", "relations.tsv"):
        write(name, "alice\tAlice\n")
    write("family.rules", "aunt_by_father: aunt(X, Z) <- sister(X, Y), father(Y, Z).\n")
    pq.write_table(pa.table({"head": ["a"], "relation": ["p"], "tail": ["b"]}), tmp_path / "denied.parquet")
    write("sales.rules", "P > 0 <- sale(price: P).\n")
    write("address.csv", "id,code\n1,44000\n")
    write("ridge.csv", "id,prediction\n1,250\n")
    write("housing.duckdb", b"")
    write("checks.py", "def plausible(x): return True\ndef ordered(x): return x\n")
    return tmp_path


@pytest.fixture
def project(folder):
    def load(text):
        path = folder / "rulescore.toml"
        path.write_text(text, encoding="utf-8")
        return load_project(path, trusted=True)

    return load


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_documented_example_loads_and_its_data_and_rules_are_read(project, facts_of, example):
    setting = project(example).setting
    stored = [source for source in setting.observed if not isinstance(source, FactStream)]
    assert facts_of([source for source in setting.observed if source not in stored]) or stored or setting.tables
    facts_of([*setting.negatives, *(stream for model in setting.predictions for stream in model.streams)])
    assert len(parse_all(setting.rules).statements) >= len(setting.rules)


def test_a_model_may_have_several_parts_of_facts_and_of_values(project, facts_of):
    text = """
facts = "train.tsv"
rules = "sales.rules"
[tables.sale]
path = "address.csv"
key = "id"
target = "code"
hidden = { column = "id", values = ["1"] }
[[predictions.both]]
path = "transe.tsv"
top_k = 3
[[predictions.both]]
predicates = { born_in = "born_in.tsv" }
[[predictions.both]]
table = "sale"
path = "ridge.csv"
"""
    [model] = project(text).setting.predictions
    assert sorted(facts_of(model.streams)) == [("born_in", "ann", "paris"), ("mother", "alice", "bob")]
    assert ([one.table for one in model.tables], model.top_k) == (["sale"], 3)
    with pytest.raises(InputError, match=r"rulescore\.toml:13:1") as error:
        project(text.replace("predicates = { born_in", "top_k = 2\npredicates = { born_in"))
    assert "`top_k` of model `both` is 3 in one part and 2 in another" in str(error.value)
    with pytest.raises(InputError, match=r"(?s)`flat`.*rulescore\.toml:15:1"):
        project(text.replace('table = "sale"', 'table = "flat"'))


def sections_of(kind: object) -> list[type]:
    """The dataclasses that a type holds: itself, or those within it."""
    return [kind] if is_dataclass(kind) else [one for part in get_args(kind) for one in sections_of(part)]


@pytest.mark.parametrize(("section", "kind"), keys_of(ProjectSections).items())
def test_the_tables_of_a_section_have_its_keys(section: str, kind: object) -> None:
    """Keys that two sections share may be explained in the first. Prose explains tables within tables, and `rules`."""
    (page,) = (text for title, text in TITLED if f"`{section}`" in title)
    listed = {key for cell in re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE) for key in re.findall(r"`(\w+)`", cell)}
    [known] = sections_of(kind)
    shared = set(keys_of(SourceSection)) if section == "predictions" else {"path", "text"} if section == "rules" else set()
    assert set(keys_of(known)) - shared <= listed <= set(keys_of(known))


@pytest.mark.parametrize("within", [TagsSection, HiddenSection])
def test_keys_of_tables_within_tables_are_documented(within: type) -> None:
    assert {key for key in keys_of(within) if not re.search(rf"\b{key}\b", PAGE)} == set()


def test_a_project_becomes_a_setting(project, folder, facts_of):
    loaded = project(
        """
facts = "train.tsv"
negatives = { predicates = { mother = "born_in.tsv" } }
rules = "family.rules"
[predictions]
compgcn = ["compgcn.tsv", "transe.tsv"]
transe = { path = "transe.tsv", top_k = 3 }
[scoring]
convention = "appendix"
roles = ["head"]
weights = { aunt_by_father = 2 }
kinds = { aunt_by_father = "soft" }
[engine]
memory_limit = "1.5 GiB"
threads = 2
spill_folder = "spill"
timeout = 30
[output]
folder = "out"
formats = ["csv", "parquet"]
"""
    )
    setting = loaded.setting
    assert facts_of(setting.observed) == [("mother", "alice", "bob")]
    assert facts_of(setting.negatives) == [("mother", "ann", "paris")]
    assert [(model.model, len(model.streams), model.top_k) for model in setting.predictions] == [
        ("compgcn", 2, None),
        ("transe", 1, 3),
    ]
    assert setting.scoring.convention is Convention.APPENDIX
    assert setting.scoring.roles == {Role.HEAD}
    assert setting.scoring.weights == {"aunt_by_father": 2.0}
    assert setting.scoring.kinds == {"aunt_by_father": Kind.SOFT}
    assert (setting.engine.memory_limit, setting.engine.threads) == ("1.5 GiB", 2)
    assert setting.engine.spill_folder == folder / "spill"
    assert setting.engine.timeout == 30
    assert loaded.output_folder == folder / "out"
    assert loaded.formats == (OutputFormat.CSV, OutputFormat.PARQUET)


def test_refutations_become_declarations_of_the_rule_language(project):
    setting = project(
        """
facts = "train.tsv"
[refutation]
incompatible = [["aunt", "/people/person"], "p(X, Y), p(Y, X)"]
extract_incompatible = true
closed = "*"
functional = ["born_in(X -> Y)"]
refute = ["p(X, Y) <- q(X, Y)."]
"""
    ).setting
    statements = parse_all(setting.rules).statements
    assert [type(one) for one in statements] == [
        IncompatibleGroup,
        IncompatiblePair,
        ExtractIncompatible,
        Closed,
        Functional,
        Refute,
    ]
    assert statements[0] == IncompatibleGroup(("aunt", "/people/person"))
    assert statements[3] == Closed(None)


@pytest.mark.parametrize("mark", ['"""\n', "'''"])
def test_rules_in_the_project_file_read_tables_of_its_folder(project, write, mark):
    write("pairs.csv", "p\nfather\n")
    text = 'facts = "train.tsv"\n[rules]\ntext = MARKfor $p in "pairs.csv": $p(X, Y) <- son(Y, X).MARK\n'
    (rule,) = parse_all(project(text.replace("MARK", mark)).setting.rules).rules
    assert rule.head.predicate == "father"


def test_a_problem_of_rules_in_the_project_file_points_to_its_line(project, folder):
    setting = project('facts = "train.tsv"\n[rules]\ntext = """\naunt(X, Y) <- sister(X, Y).\naunt(X <- q(X).\n"""\n').setting
    with pytest.raises(InputError) as raised:
        parse_all(setting.rules)
    place = raised.value.problems[0].place
    assert (place.name, place.line) == (str(folder / "rulescore.toml"), 5)


@pytest.mark.parametrize(
    ("text", "code", "line", "help_line"),
    [
        ('facts = "train.tsv"\nrulez = "x"', "E401", 2, "did you mean `rules`?"),
        ('facts = "train.tsv"\n[scoring]\n\nconvetion = "appendix"', "E401", 4, "did you mean `convention`?"),
        ('[facts]\npath = "train.tsv"\ndelimter = ";"', "E401", 3, "did you mean `delimiter`?"),
        ('[[facts]]\npath = "train.tsv"\n[[facts]]\npaht = "train.tsv"', "E401", 4, "did you mean `path`?"),
        ('facts = "train.tsv"\n[predictions.m]\npath = "transe.tsv"\ntop-k = 3', "E401", 4, "did you mean `top_k`?"),
        ('facts = "train.tsv"\nscoring = { convention = "apendix" }', "E402", 2, "did you mean `appendix`?"),
        ('facts = "train.tsv"\n[output]\nformats = [\n  "jsn",\n]', "E402", 3, "did you mean `json`?"),
        ('rules = "family.rules"', "E404", None, None),
        ('facts = "train.tsv"\nfacts = "x"', "E403", 2, None),
        ('facts = "train.tsv"\n[scoring', "E403", 2, None),
        ('facts = "trian.tsv"', "E301", 1, None),
        ('facts = "train.tsv"\nrules = ["famly.rules"]', "E406", 2, None),
        ('facts = "train.tsv"\n[predictions.m]\npath = "tranes.tsv"', "E301", 2, None),
        ("facts = []", "E402", 1, None),
        ("[facts]\nheader = true", "E404", 1, None),
        ("facts = 3", "E402", 1, None),
    ],
)
def test_a_problem_is_told_with_its_line_and_a_suggestion(project, problems_of, text, code, line, help_line):
    (problem,) = problems_of(lambda: project(text))
    assert (problem.code, problem.place.line) == (code, line)
    assert help_line is None or help_line in problem.helps


@pytest.mark.parametrize(
    ("text", "what", "column", "earlier"),
    [
        ('facts = "train.tsv"\nrules = "x"\n  facts = "y" # facts', "facts", 3, 1),
        ('[scoring]\nconvention = "appendix"\n[engine]\nthreads = 1\n[scoring]\n', "[scoring]", 1, 1),
        ("[scoring]\nweights = { a = 1 }\nweights = { b = 1 }", "weights", 1, 2),
    ],
)
def test_what_is_given_twice_is_shown_with_its_first_line(project, problems_of, text, what, column, earlier):
    (problem,) = problems_of(lambda: project(text))
    assert (problem.code, problem.message, problem.place.column) == ("E403", f"`{what}` is given twice", column)
    assert (problem.place.length, problem.notes) == (len(what), (f"line {earlier} has it already",))


@pytest.mark.parametrize(
    "line",
    [
        "[scoring]\nweights = { a = -1 }",
        "[scoring]\nweights = { a = nan }",
        "[scoring]\nweights = { a = inf }",
        '[scoring]\nweights = { a = "2" }',
        '[scoring]\nkinds = { a = "medium" }',
        '[scoring]\nroles = ["tail"]',
        "[scoring]\ndistinct_variables = 1",
        '[engine]\nmemory_limit = "lots"',
        "[engine]\nthreads = 0",
        "[engine]\nthreads = true",
        '[predictions]\nm = { path = "transe.tsv", top_k = 0 }',
        "[refutation]\nincompatible = [3]",
        "[refutation]\nclosed = [3]",
        "negatives = { path = 'train.tsv', types = { tail = 'number' } }",
        "negatives = { path = 'train.tsv', columns = { tail = 1.5 } }",
        "negatives = { path = 'train.tsv', delimiter = 'ab' }",
        "negatives = ''",
    ],
)
def test_a_value_that_is_not_allowed_is_one_error(project, problems_of, line):
    (problem,) = problems_of(lambda: project(f'facts = "train.tsv"\n{line}'))
    assert problem.code == "E402"
    assert problem.place.line >= 2


def test_all_problems_are_told_at_once(project, problems_of):
    wrong_values = 'facts = "train.tsv"\nrulez = 1\n[engine]\nthreads = 0\n[scoring]\nconvention = "x"'
    assert {problem.code for problem in problems_of(lambda: project(wrong_values))} == {"E401", "E402"}
    assert len(problems_of(lambda: project(wrong_values))) == 3
    missing_files = 'facts = "a.tsv"\nrules = ["b.rules", "c.rules"]\n[predictions]\nm = "d.tsv"'
    assert sorted(problem.code for problem in problems_of(lambda: project(missing_files))) == ["E301", "E301", "E406", "E406"]


def test_a_project_file_that_cannot_be_read_is_an_error(tmp_path, problems_of):
    (problem,) = problems_of(lambda: load_project(tmp_path / "rulescore.toml"))
    assert problem.code == "E403"
    (tmp_path / "rulescore.toml").write_bytes(b"facts = '\xff'")
    (problem,) = problems_of(lambda: load_project(tmp_path / "rulescore.toml"))
    assert problem.code == "E403"
