"""Tables with keys as users describe them: rows of every source, definitions, functions and rules in SQL."""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rulescore
from rulescore.arguments.project import load_project
from rulescore.arguments.python import make_setting
from rulescore.arguments.tables import Table, keyed_tables
from rulescore.errors import InputError, Source
from rulescore.language.attributes import parse_condition, parse_expression
from rulescore.setting.model import DatabaseTable, Derived, HiddenColumn, HiddenIds, HiddenWhere, Hop, Reached, RowStream, SqlRule

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", (DOCS / "how-to" / "tables.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
TYPES = {"n": "integer", "x": "float", "yes": "boolean", "day": "date"}
ROWS = [
    {"n": 1, "x": 0.5, "yes": True, "day": datetime.date(2020, 1, 31), "name": "a"},
    {"n": None, "x": None, "yes": None, "day": None, "name": None},
    {"n": -7, "x": -1e300, "yes": False, "day": datetime.date(1969, 12, 31), "name": "NA"},
]
TEXT = "n,x,yes,day,name\n+1,.5,TRUE,2020-01-31,a\n,,,,\n-7,-1e300,false,1969-12-31,NA\n"


def stream_of(rows, **options):
    (table,) = keyed_tables({"t": Table(rows, **options)})
    assert isinstance(table.rows, RowStream)
    return table.rows


def read(rows, columns=None, **options):
    stream = stream_of(rows, **options)
    names = columns or stream.schema().names
    return [row for batch in stream.open(names) for row in batch.to_pylist()]


def test_text_is_read_by_declared_types_and_an_empty_field_is_missing(write):
    for name, text in (("t.csv", TEXT), ("t.tsv", TEXT.replace(",", "\t")), ("t.csv.gz", TEXT)):
        assert read(write(name, text), types=TYPES) == ROWS, name
    assert read(write("t.txt", TEXT.replace(",", "!")), types=TYPES, delimiter="!") == ROWS


def test_undeclared_columns_of_text_are_text(write):
    assert read(write("t.csv", "id,zip\n007,44000\n"), ["zip", "id"]) == [{"zip": "44000", "id": "007"}]


def test_parquet_and_frames_keep_their_types(tmp_path):
    table = pa.Table.from_pylist(ROWS)
    pq.write_table(table, tmp_path / "t.parquet")
    columns = {name: table[name].to_pylist() for name in table.column_names}
    for rows in (
        tmp_path / "t.parquet",
        str(tmp_path / "t.parquet"),
        table,
        pl.from_arrow(table),
        ROWS,
        columns,
        table.to_reader(),
    ):
        assert read(rows) == ROWS, type(rows)
        assert read(rows if not isinstance(rows, pa.RecordBatchReader) else table, ["name", "n"]) == [
            {"name": row["name"], "n": row["n"]} for row in ROWS
        ]


def test_nan_of_pandas_is_missing_and_its_categories_are_text():
    frame = pd.DataFrame(
        {"x": [1.0, float("nan")], "kind": pd.Categorical(["a", None]), "day": pd.to_datetime(["2020-01-31", None])}
    )
    assert read(frame) == [
        {"x": 1.0, "kind": "a", "day": 1_580_428_800_000_000},
        {"x": None, "kind": None, "day": None},
    ]


def test_columns_that_are_not_asked_for_may_hold_anything(tmp_path):
    table = pa.table({"id": [1], "list": [[1]], "noon": [datetime.datetime(2020, 1, 1, 12)]})
    pq.write_table(table, tmp_path / "t.parquet")
    assert read(table, ["id"]) == read(tmp_path / "t.parquet", ["id"]) == [{"id": 1}]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("n", "`n` is `{}`, not a whole number"),
        ("x", "`x` is `{}`, not a finite number"),
        ("yes", "`yes` is `{}`, not `true` or `false`"),
        ("day", "`day` is `{}`, not a date like 2024-05-31"),
    ],
)
@pytest.mark.parametrize("text", ["abc", "1,5", "0x1F", "2020-02-30", "1e999", "nan", " 5"])
def test_a_field_that_is_not_of_its_type_is_told_with_its_line(write, problems_of, field, message, text):
    header = ["n", "x", "yes", "day"]
    lines = [header, ["1", "2", "true", "2020-01-01"], ["1", "2", "true", "2020-01-01"]]
    lines[2][header.index(field)] = text
    path = write("t.tsv", "\n".join("\t".join(line) for line in lines) + "\n")
    (problem,) = problems_of(lambda: read(path, types=TYPES))
    assert (problem.code, problem.message) == ("E314", message.format(text))
    assert (problem.place.name, problem.place.line) == (str(path), 3)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "E304"),
        ("id,price\n", "E304"),
        ("id,price\n1\n", "E310"),
        ("id,price\n1,2\n\n3,4\n", "E310"),
        ('id,price\n"1,2\n', "E310"),
        ("id,price\n99999999999999999999,2\n", "E314"),
    ],
)
def test_a_text_file_that_is_no_table_is_refused(write, problems_of, text, code):
    path = write("t.csv", text)
    assert [one.code for one in problems_of(lambda: read(path, types={"id": "integer"}))] == [code]


def test_a_type_of_a_column_that_is_not_there_is_told_with_what_is_meant(write, problems_of):
    path = write("t.csv", "id,price\n1,2\n")
    (problem,) = problems_of(lambda: read(path, types={"prize": "float"}))
    assert (problem.code, problem.helps) == ("E320", ("did you mean `price`?",))


def table_of(**options):
    (table,) = keyed_tables({"sale": Table({"id": [1], "price": [2]}, **options)})
    return table


def test_a_description_becomes_a_table():
    table = table_of(
        key="id",
        target="price",
        hidden={"column": "split", "values": ["test", "valid"]},
        derived={"price_m2": "price / `floor space`"},
        reached={"zip": "id = sale_address.sale, address = `the addresses`.id, code"},
    )
    assert (table.name, table.key, table.target) == ("sale", ("id",), "price")
    assert table.hidden == HiddenColumn("split", ("test", "valid"))
    assert table.derived == (Derived("price_m2", parse_expression(Source("", "price / `floor space`"))),)
    hops = (Hop("id", "sale_address", "sale"), Hop("address", "the addresses", "id"))
    assert table.reached == (Reached("zip", hops, "code"),)


def test_hidden_rows_are_described_in_several_ways(write):
    ids = write("ids.csv", "id\n1\n")
    database = write("split.duckdb", b"")
    hidden = {
        form: table_of(key="id", target="price", hidden=given).hidden
        for form, given in {
            "text": "year >= 2019",
            "where": {"where": "year >= 2019"},
            "path": {"path": ids},
            "database": {"database": database, "table": "test"},
            "list": [1, 2],
            "frame": pl.DataFrame({"id": [1, 2]}),
        }.items()
    }
    assert hidden["text"] == hidden["where"] == HiddenWhere(parse_condition(Source("", "year >= 2019")))
    assert hidden["database"] == HiddenIds(DatabaseTable(database, "test"))
    read = {
        form: [row for batch in hidden[form].ids.open(["id"]) for row in batch.to_pylist()] for form in ("path", "list", "frame")
    }
    assert read == {"path": [{"id": "1"}], "list": [{"id": 1}, {"id": 2}], "frame": [{"id": 1}, {"id": 2}]}


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"target": "price"}, "E335", "table `sale` has a target and no key"),
        ({"key": "id", "hidden": "id = 1"}, "E335", "table `sale` has hidden rows and no target"),
        ({"reached": {"zip": "code"}}, "E335", "the path `code` of `zip` is not understood"),
        ({"reached": {"zip": "id = address, code"}}, "E335", "the path `id = address, code` of `zip` is not understood"),
        ({"types": {"id": "integer"}}, "E320", "`types` is for text files"),
        ({"types": {"id": "int"}}, "E402", "`types.id` cannot be `int`"),
        ({"table": "main.t"}, "E335", "table `sale` has a table of a database and a path"),
        ({"key": "id", "target": "price", "hidden": {"colum": "split"}}, "E335", "`hidden` of table `sale` is not understood"),
        ({"key": "id", "target": "price", "hidden": 5}, "E335", "`hidden` is a int"),
        ({"derived": {"a": "price +"}}, "E101", None),
    ],
)
def test_a_description_that_is_wrong_is_refused(problems_of, options, code, message):
    (problem,) = problems_of(lambda: table_of(**options))
    assert problem.code == code
    assert problem.place is not None
    if message is not None:
        assert problem.message == message


def test_all_problems_of_all_tables_are_told_together(problems_of, tmp_path):
    tables = {"a": Table(tmp_path / "nowhere.csv", target="x"), "b": Table(), "c": Table(5), "d": 7}
    assert [one.code for one in problems_of(lambda: keyed_tables(tables))] == ["E301", "E335", "E335", "E322", "E322"]


@pytest.fixture
def project(write, tmp_path):
    write("sales.rules", "P > 0 <- sale(price: P).\n")
    write("test.csv", "id\n2\n")
    write("ridge.csv", "id,prediction\n2,250\n")
    rows = {"id": [1, 2], "price": [1, 2], "surface": [1, 2], "split": ["a", "test"], "year": [2018, 2019], "type": ["x", "y"]}
    for name in ("sales", "address", "sale_address"):
        pq.write_table(pa.table(rows), tmp_path / f"{name}.parquet")

    def load(text):
        path = tmp_path / "rulescore.toml"
        path.write_text(text, encoding="utf-8")
        return load_project(path, trusted=True).setting

    return load


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_documented_example_is_a_project(project, example):
    setting = project(example)
    assert setting.tables[0].name == "sale"
    assert setting.observed == ()
    assert all(model.tables[0].table == "sale" and not model.streams for model in setting.predictions)


SALE = """
rules = "sales.rules"
[tables.sale]
path = "sales.parquet"
key = "id"
target = "price"
hidden = { where = "split = \\"test\\"" }
"""


def test_predictions_are_for_the_table_they_name_or_for_the_only_one(project, write):
    assert project(SALE + '[predictions]\nridge = "ridge.csv"\n').predictions[0].tables[0].table == "sale"
    write("facts.tsv", "a\tp\tb\n")
    facts = 'facts = "facts.tsv"\n' + SALE
    setting = project(facts + '[predictions]\ntranse = "facts.tsv"\nridge = { path = "ridge.csv", table = "sale" }\n')
    assert [(len(one.streams), len(one.tables)) for one in setting.predictions] == [(1, 0), (0, 1)]


@pytest.mark.parametrize(
    ("text", "code", "line", "message"),
    [
        (
            '[predictions]\nm = { path = "ridge.csv", table = "sales" }',
            "E333",
            9,
            "predictions are for table `sales`, but there is no such table",
        ),
        ('[predictions]\nm = { path = "ridge.csv", header = true }', "E402", 9, "`header` says nothing of predictions for a table"),
        ('[predictions]\nm = { table = "sale" }', "E404", 9, "`predictions` names no file"),
        ('[tables.other]\nkey = "id"', "E335", 8, "table `other` has no rows"),
        ('[tables.other]\npath = "test.csv"\ntpyes = {}', "E401", 10, "unknown key `tpyes` in `tables.other`"),
        ('[tables.other]\npath = "test.csv"\nderived = { a = "id + " }', "E101", 10, None),
        ("[functions]\nf = 'checks'", "E360", 9, "`checks` does not name a function"),
        (
            "[[sql_rules]]\nname = 'x'\nstatement = 'SELECT 1'\ntrusted = true",
            "E401",
            11,
            "unknown key `trusted` in `sql_rules`",
        ),
    ],
)
def test_what_is_wrong_with_tables_in_a_project_is_told_with_its_line(project, problems_of, text, code, line, message):
    (problem,) = problems_of(lambda: project(SALE + text + "\n"))
    assert (problem.code, problem.place.line) == (code, line)
    if message is not None:
        assert problem.message == message


def test_a_definition_is_blamed_where_it_stands(project, problems_of):
    (problem,) = problems_of(lambda: project(SALE + '[tables.sale.derived]\nprice_m2 = "price / / surface"\n'))
    assert (problem.place.line, problem.place.column) == (9, 21)


def test_a_project_without_facts_and_tables_has_nothing_to_read(project, problems_of):
    (problem,) = problems_of(lambda: project('rules = "sales.rules"\n'))
    assert (problem.code, problem.message) == ("E404", "`facts` is missing")


def test_functions_are_imported_from_the_folder_of_the_project(project, write):
    write("my_checks.py", "def plausible(x):\n    return x > 0\n")
    before = list(sys.path)
    (function, other) = project(
        SALE + '[functions]\nok = "my_checks:plausible"\nroot = { call = "math:sqrt", arrow = true }\n'
    ).functions
    assert (function.name, function.arrow, function.call(1), function.call(0)) == ("ok", False, True, False)
    assert (other.name, other.arrow, other.call(4)) == ("root", True, 2)
    assert sys.path == before


def test_modules_of_one_name_in_two_projects_are_two_modules(tmp_path):
    answers = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "same_checks.py").write_text(f"def number():\n    return {number}\n")
        (folder / "facts.tsv").write_text("a\tp\tb\n")
        (folder / "rulescore.toml").write_text('facts = "facts.tsv"\n[functions]\nf = "same_checks:number"\n')
        answers.append(load_project(folder / "rulescore.toml", trusted=True).setting.functions[0].call())
    assert answers == [1, 2]


@pytest.mark.parametrize(
    ("call", "message", "helps"),
    [
        (
            "no_such_checks:f",
            "there is no module `no_such_checks`",
            "put `no_such_checks.py` beside the project file, or install the module",
        ),
        ("broken_checks:f", "module `broken_checks` cannot be imported", None),
        ("math:sqrtt", "module `math` has no function `sqrtt`", "did you mean `sqrt`?"),
        ("math:pi", "`math:pi` is a float, which cannot be called", None),
    ],
)
def test_a_function_that_cannot_be_had_is_told(project, problems_of, write, call, message, helps):
    write("broken_checks.py", "raise RuntimeError('broken')\n")
    (problem,) = problems_of(lambda: project(SALE + f'[functions]\nf = "{call}"\n'))
    assert (problem.code, problem.message) == ("E360", message)
    assert problem.helps == (() if helps is None else (helps,))


def test_a_module_that_ends_the_process_cannot_be_imported(project, problems_of, write):
    write("ending_checks.py", "import sys\nsys.exit(0)\n")
    (problem,) = problems_of(lambda: project(SALE + '[functions]\nf = "ending_checks:f"\n'))
    assert (problem.code, problem.notes) == ("E360", ("SystemExit: 0",))


def test_what_functions_of_a_project_print_stays_out_of_the_results(project, write, capsys):
    write("talking_checks.py", "print('imported')\ndef f(x):\n    print('asked')\n    return True\n")
    (function,) = project(SALE + '[functions]\nf = "talking_checks:f"\n').functions
    assert function.call(1) is True
    assert capsys.readouterr() == ("", "imported\nasked\n")


def test_functions_and_rules_in_sql_come_from_python_too(problems_of):
    rule = rulescore.SqlRule("by_hand", "SELECT 1")
    setting = make_setting(
        [("a", "p", "b")], None, "", functions={"f": abs, "g": rulescore.Function("g", abs, arrow=True)}, sql_rules=[rule]
    )
    assert [(one.name, one.call, one.arrow) for one in setting.functions] == [("f", abs, False), ("g", abs, True)]
    assert setting.sql_rules == (rule,)
    (problem,) = problems_of(lambda: make_setting([("a", "p", "b")], None, "", functions={"f": 5}))
    assert (problem.code, problem.message) == ("E360", "`f` is a int, which cannot be called")
    (problem,) = problems_of(lambda: make_setting([("a", "p", "b")], None, "", sql_rules=[("by_hand", "SELECT 1")]))
    assert (problem.code, problem.message) == ("E322", "a tuple is not a rule in SQL")


def test_a_rule_in_sql_keeps_what_is_said_of_it(project):
    text = '[[sql_rules]]\nname = "x"\nstatement = "SELECT 1"\nkind = "hard"\nweight = 2.0\ntags = ["t"]\n'
    (rule,) = project(SALE + text).sql_rules
    assert rule == SqlRule("x", "SELECT 1", rulescore.setting.model.Kind.HARD, 2.0, None, ("t",), rule.place)
    assert rule.place.line == 9


def test_without_facts_predictions_in_python_are_of_the_one_target():
    table = Table({"id": [1, 2], "price": [1, 2]}, key="id", target="price", hidden=[2])
    other = Table({"id": [1], "price": [1]}, key="id", target="price")

    def shape(observed, predictions, tables):
        (model,) = make_setting(observed, {"m": predictions}, "", tables=tables).predictions
        return len(model.streams), [one.table for one in model.tables]

    frame = pa.table({"id": [2], "prediction": [3]})
    assert shape(None, {2: 3}, {"sale": table}) == (0, ["sale"])
    assert shape(None, [frame, frame], {"sale": table}) == (0, ["sale", "sale"])
    assert shape(None, {"rent": frame, "sale": {2: 3}}, {"sale": table, "rent": other}) == (0, ["rent", "sale"])
    assert shape([("a", "p", "b")], {"sale": frame}, {"sale": table}) == (0, ["sale"])
    assert shape([("a", "p", "b")], [("a", "p", "c")], {"sale": table}) == (1, [])


def test_a_wrong_table_is_told_and_its_predictions_are_not_taken_for_facts(project, problems_of, write):
    wrong = {"sale": Table({"id": [1, 2]}, key="id", target="price", hidden="id >=")}
    assert [one.code for one in problems_of(lambda: make_setting(None, {"m": {2: 3.5}}, "", tables=wrong))] == ["E101"]
    text = '[predictions]\nm = { path = "ridge.csv", table = "sale" }\n'
    assert [one.code for one in problems_of(lambda: project(SALE.replace("sales.parquet", "nowhere.csv") + text))] == ["E301"]


def test_predictions_of_values_that_nothing_says_the_table_of_are_told(project, problems_of):
    table = Table({"id": [1, 2], "price": [1, 2]}, key="id", target="price", hidden=[2])
    untargeted = Table({"id": [1, 2]}, key="id")
    facts = [("a", "p", "b")]
    frame = pl.DataFrame({"id": [2], "prediction": [3]})
    for observed, what, tables in (
        (facts, {2: 3.5}, {"sale": table}),
        (facts, frame, {"sale": table}),
        (None, frame, {"sale": table, "rent": table}),
        (None, frame, {"sale": untargeted}),
    ):
        (problem,) = problems_of(lambda: make_setting(observed, {"m": what}, "", tables=tables))  # noqa: B023 -- called at once
        assert (problem.code, problem.message) == (
            "E333",
            "`m` predicts values, but nothing says which table's rows they belong to",
        )
    (problem,) = problems_of(lambda: project(SALE.partition("target")[0] + '[predictions]\nm = "ridge.csv"\n'))
    assert (problem.code, problem.helps) == ("E333", ("give the table a `target`, the column that is predicted",))
    (problem,) = problems_of(lambda: make_setting(None, {"m": {"sales": {2: 3.5}}}, "", tables={"sale": table}))
    assert (problem.code, problem.helps) == ("E333", ("did you mean `sale`?",))


def test_a_series_gives_the_ids_of_hidden_rows_and_one_of_pandas_predictions(problems_of):
    rows = {"id": [1, 2, 3], "price": [1.0, 2.0, 3.0]}

    def ids_and_values(hidden, predictions):
        table = Table(rows, key="id", target="price", hidden=hidden)
        setting = make_setting(None, {"m": predictions}, "", tables={"sale": table})
        streams = (setting.tables[0].hidden.ids, setting.predictions[0].tables[0].rows)
        return [[tuple(row.values()) for batch in one.open(one.schema().names) for row in batch.to_pylist()] for one in streams]

    for ids in (pd.Series([2, 3], index=[8, 9]), pl.Series([2, 3]), pa.array([2, 3]), pa.chunked_array([[2], [3]])):
        assert ids_and_values(ids, pd.Series([0.5, 1.5], index=[3, 2])) == [[(2,), (3,)], [(3, 0.5), (2, 1.5)]]
    assert ids_and_values([2], pl.Series([0.5])) == [[(2,)], [(2, 0.5)]]


def test_a_key_has_another_name_than_predictions(problems_of):
    (problem,) = problems_of(lambda: keyed_tables({"t": Table({"prediction": [1]}, key="prediction", target="x")}))
    assert (problem.code, problem.message) == ("E335", "the key of table `t` is called `prediction`")


def test_a_file_without_rows_is_told_to_have_none(write, problems_of):
    for text in ("", "id,price\n"):
        (problem,) = problems_of(lambda: read(write("t.csv", text)))  # noqa: B023 -- called at once
        assert (problem.code, problem.message) == ("E304", "there are no rows")


def test_nothing_at_all_is_no_data():
    with pytest.raises(InputError, match="there are no observed facts"):
        make_setting(None, None, "")
