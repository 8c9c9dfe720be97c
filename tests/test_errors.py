"""Errors tell no password, take no longer for a long line, and arrive whole in another process."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from failing_tasks import TASKS
from rulescore.arguments.project import load_project
from rulescore.errors import (
    Diagnostic,
    EngineError,
    InputError,
    MissingExtraError,
    Place,
    RulescoreError,
    Source,
    Span,
    UncertainError,
    masked,
    render,
)
from rulescore.errors.texts import suggestion
from rulescore.plots.look import NothingToDrawError

SECRET = "s3cr3t"
ADDRESS = f"postgresql://reader:{SECRET}@host/x"


@pytest.mark.parametrize(
    "section",
    [
        f'[engine]\nurl = ["{ADDRESS}"]',
        f'[engine]\nurl = {{ address = "{ADDRESS}" }}',
        f'[engine]\nurl = {{ user = "reader", password = "{SECRET}" }}',
        f'[engine]\nurl = [{{ "password" = "{SECRET}" }}]',
        f'[engine.url]\nkey = "{SECRET}"',
        f'[engine]\nmemory_limit = "{ADDRESS}"',
        f'[engine]\nmemory_limit = ["{ADDRESS}"]',
        f'[engine]\nthreads = "{ADDRESS}"',
        f'[engine]\nspill_folder = ["{ADDRESS}"]',
        f'[engine]\nurl = "duckdb"\npassword = "{SECRET}"',
        f'[engine]\nurl = "duckdb"\npasswd = "{SECRET}',
        f'engine = "{ADDRESS}"',
        f'engine = ["{ADDRESS}"]',
        f'[[engine]]\nurl = "{ADDRESS}"',
        f'[[engine]]\npassword = "{SECRET}"',
        f'[scoring]\nconvention = "{ADDRESS}"',
        f'[output]\nformats = ["{"x" * 60}", "{ADDRESS}"]',
        f'[rules]\npath = "{ADDRESS}"',
        f'[predictions]\nm = "{ADDRESS}"',
        f'[negatives]\npath = "{ADDRESS}"',
    ],
)
def test_no_message_about_a_project_file_shows_a_password(section: str, tmp_path: Path) -> None:
    path = tmp_path / "rulescore.toml"
    given = '[facts]\npath = "facts.tsv"\n'
    path.write_text(f"{section}\n{given}" if section.startswith("engine") else f"{given}{section}\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_project(path)
    assert raised.value.problems
    for problem in raised.value.problems:
        assert SECRET not in render(problem)
        assert SECRET not in " ".join((problem.message, problem.label, *problem.notes, *problem.helps))


def test_what_is_wrong_with_an_address_is_told_without_it(tmp_path: Path) -> None:
    path = tmp_path / "rulescore.toml"
    path.write_text(f'facts = "facts.tsv"\n[engine]\nurl = ["{ADDRESS}"]\n', encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_project(path)
    (problem,) = (one for one in raised.value.problems if one.code == "E402")
    assert (problem.message, problem.notes) == ("`engine.url` is not what it should be", ("expected text",))


@pytest.mark.parametrize("part", ["message", "label", "notes", "helps"])
def test_no_part_of_a_problem_holds_a_password(part: str) -> None:
    said = f"no connection to `{ADDRESS}`"
    problem = Diagnostic(**{"code": "E912", "message": "", part: (said,) if part in ("notes", "helps") else said})
    assert repr(problem).count(SECRET) == 0
    assert "no connection to `postgresql://reader:***@host/x`" in repr(problem)


def test_a_word_for_a_password_is_none() -> None:
    for text in (
        'for $p in "/etc/passwd": $p(X) <- q(X).',
        "sale(password: P, id: A)",
        "the password is wrong",
        "password(X) <- q(X)",
    ):
        assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "there is no file `/home/me/run:3/facts@v2.tsv`",
        "/home/me/run:3/facts@v2.tsv",
        "there is no file /home/me/run:3/facts@v2.tsv",
        "`results/run:3/facts@v2.tsv` and 'a/b:c@d'",
        "C:/data/facts@v2.tsv",
    ],
)
def test_a_path_is_no_address(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "before",
    ["postgresql://", "postgresql:/", "xpostgresql://", "://", "//", "postgresql//", "postgresql:///", "postgresql://a/b/"],
)
@pytest.mark.parametrize("around", ["", "`", '"', "'"])
@pytest.mark.parametrize("words", ["", "no server at "])
def test_an_address_need_not_be_right_to_hide_its_password(before: str, around: str, words: str) -> None:
    assert masked(f"{words}{around}{before}reader:{SECRET}@host/x{around}") == f"{words}{around}{before}reader:***@host/x{around}"


def test_no_error_of_an_engine_holds_a_password() -> None:
    assert str(EngineError(f"lost: {ADDRESS}")) == "lost: postgresql://reader:***@host/x"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "unit", ["/a:", '"/a:', '\\"/a:', "/a:\\'", "//1:1", "@ /a:", "password ", f"{ADDRESS} ", "//[:", "/", "//a", "//a/b:", "//a/b"]
)
def test_long_lines_and_messages_are_searched_in_reasonable_time(unit: str) -> None:
    line = (unit * 200_000)[:200_000]
    shown = render(Diagnostic("E101", line, Place("a.rules", 1, 100_000, 3, line), notes=(line,)))
    assert SECRET not in shown


def test_a_password_longer_than_the_part_of_a_line_that_is_shown_is_hidden() -> None:
    """Some are tokens of thousands of characters."""
    token = SECRET * 1000
    line = f'url = "postgresql://me:{token}@host/x" x'
    for column in (1, 20, 100, 3000, len(line)):
        assert SECRET not in render(Diagnostic("E403", "no", Place("rulescore.toml", 1, column, 1, line)))
    assert masked(line) == 'url = "postgresql://me:***@host/x" x'


def test_a_problem_keeps_of_its_line_what_is_shown() -> None:
    line = f"{'p(X) <- q(X). ' * 350_000}{ADDRESS}{' s(X) <- r(X).' * 350_000}"
    column = len(line) // 2
    problem = Diagnostic("E201", "message", Place("a.rules", 1, column, 5, line), "here")
    assert problem.place is not None
    assert len(problem.place.text or "") == 120
    assert len(pickle.dumps(problem)) < 1_000
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert str(problem).startswith(f"error[E201]: message\n --> a.rules:1:{column}\n")
    assert ":***@host" in str(problem)
    assert str(replace(problem, message="other")) == str(problem).replace("message", "other")


def test_a_hundred_thousand_problems_of_one_line_keep_little_of_it() -> None:
    """Each had a copy of the line once: by the square of its length."""
    source = Source("a.rules", "@hard " * 100_000)
    problems = [Diagnostic("E109", "message", Span(source, at, at + 5).place()) for at in range(0, 600_000, 6)]
    assert len(problems) == 100_000
    assert {len(problem.place.text or "") for problem in problems if problem.place is not None} == {120}


PROBLEM = Diagnostic(
    "E201", "message", Place("a.rules", 3, 9, 1, "p(X, Z) <- q(X, Y)."), "label", notes=("note",), helps=("help", "another")
)
ERRORS: list[RulescoreError] = [
    InputError(PROBLEM),
    InputError([PROBLEM, Diagnostic("E201", "other")]),
    InputError([]),
    EngineError("the database failed"),
    UncertainError("it went away"),
    MissingExtraError("Spark", "spark"),
    NothingToDrawError("models", "there is no model", "give one"),
]


def subclasses(kind: type) -> Iterator[type]:
    yield kind
    for one in kind.__subclasses__():
        yield from subclasses(one)


def test_every_kind_of_error_is_tried_here() -> None:
    assert {type(error) for error in ERRORS} == set(subclasses(RulescoreError)) - {RulescoreError}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_after_it_was_pickled(error: RulescoreError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.args, vars(again)) == (type(error), str(error), error.args, vars(error))


def test_notes_that_were_added_to_an_error_are_pickled_with_it() -> None:
    for error in (InputError(Diagnostic("E402", "x")), MissingExtraError("x", "y"), EngineError("x"), UncertainError("x")):
        error.add_note("while this was done")
        assert pickle.loads(pickle.dumps(error)).__notes__ == ["while this was done"]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("pool", ["executor", "pool"])
def test_errors_of_other_processes_arrive_as_they_were_raised(pool: str) -> None:
    fresh = multiprocessing.get_context("spawn")
    with fresh.Pool(1) as workers, ProcessPoolExecutor(1, mp_context=fresh) as executor:
        for task in TASKS:
            with pytest.raises(RulescoreError) as here:
                task()
            with pytest.raises(type(here.value)) as there:
                executor.submit(task).result() if pool == "executor" else workers.apply(task)
            assert str(there.value) == str(here.value)
            assert vars(there.value).get("problems") == vars(here.value).get("problems")


def test_many_problems_of_one_code_are_counted_and_other_codes_are_told() -> None:
    problems = [*(Diagnostic("E206", f"number {n}") for n in range(3_000)), PROBLEM]
    error = InputError(problems)
    text = str(error)
    assert text.count("error[E206]") == 20
    assert "error[E201]" in text
    assert text.endswith("\n\n… and 2,980 more of E206")
    assert len(error.problems) == 3_001


def test_a_missing_extra_has_a_code_and_a_cure() -> None:
    (problem,) = MissingExtraError("`to_pandas`", "pandas").problems
    assert (problem.code, problem.helps) == (
        "E938",
        ("in a checkout of rulescore: `pip install '.[pandas]'`",),
    )


def test_very_long_names_are_shown_by_their_beginning():
    name = "p" * 200_000
    problem = Diagnostic("E205", f"there is no `{name}`", notes=(f"`{name}` and `q`",), helps=(f"did you mean `{name}`?",))
    shown = f"`{'p' * 1_000} …`"
    assert (problem.message, problem.notes, problem.helps) == (
        f"there is no {shown}",
        (f"{shown} and `q`",),
        (f"did you mean {shown}?",),
    )
    kept = f"`{'p' * 1_000}`, `q`{' and so on' * 200}"
    assert Diagnostic("E205", kept).message == kept


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("http://example.org/carl", ["http://example.org/mia", "http://example.org/paul"], None),
        ("http://example.org/carl", ["http://example.org/mia", "http://example.org/karl"], "http://example.org/karl"),
        ("http://example.org/carl", ["https://example.org/carl"], "https://example.org/carl"),
    ],
)
def test_a_namespace_that_two_names_share_does_not_make_them_alike(word: str, known: list[str], meant: str | None) -> None:
    assert suggestion(word, known) == meant
