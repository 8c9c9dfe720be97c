"""Wrong use of the command line, one line each: exit code 2, nothing on stdout, and words on stderr that say what is wrong."""

from __future__ import annotations

import shlex

import pytest

from command_line import Run

PLAIN = "--facts train.tsv --rules family.rules"
ADDRESS = "--engine postgresql://localhost/none"

REFUSED = [
    ("score --fcts x", "--facts"),
    ("scoer", "score"),
    ("score --format tabel", "table"),
    ("score family.tmol", "did you mean `family.toml`"),
    ("audit train.tsv", "give facts with `--facts`, a table with `--table`, rules with `--rules`"),
    ("audit --facts train.tsv", "`rulescore discover` finds rules in the data"),
    ("audit family.toml --against train.tsv --fail-if 'rate > 1%'", "`--fail-if` looks at one: audit the other version by itself"),
    ("score --facts trian.tsv --rules family.rules", "did you mean `train.tsv`"),
    (f"score {PLAIN}", "rulescore audit"),
    ("score family.toml --dry-run --format json", "cannot be combined with `--format`"),
    ("score family.toml --explain --format json", "cannot be combined with `--format`"),
    ("score family.toml --explain --output results", "cannot be combined with `--output`"),
    ("score family.toml --explain --fail-if 'hard > 0'", "`--fail-if`"),
    ("score family.toml --junit gates.xml", "`--junit` writes the outcomes of gates"),
    ("score family.toml --memory-limit 1MB", "error[E901]: a `memory_limit` of `1MB` is too little to begin with"),
    ("score family.toml --curve", "error[E330]: a curve over ranks needs ranks or queries"),
    *(
        (f"score family.toml --curve score {other}", "cannot be combined")
        for other in ("--table models", "--detail", "--output out", "--fail-if 'hard > 0'", "--explain")
    ),
    ("score family.toml --facts-format text", "`--facts-format` is for the files of `--facts`"),
    ("score family.toml --predictions-format text", "`--predictions-format` is for the files of `--predictions`"),
    ("audit family.toml --explain --format json", "cannot be combined with `--format`"),
    ("audit family.toml --explain --output results", "cannot be combined with `--output`"),
    *(
        (
            f"audit family.toml {lister} {choice}",
            f"`{lister.split()[0]}` lists no audited rules: it cannot be combined with `{choice.split()[0]}`",
        )
        for lister in ("--explain", "--tolerances 5%")
        for choice in ("--keep kept.rules", "--flag vacuous", "--min-evaluable 0")
    ),
    ("audit family.toml --rate small", "`small` is not a range of rates"),
    ("audit family.toml --tolerances 5,10%", "error[E264]: no rule has a limit on a distance that `5`, `10%` could replace"),
    (f"check --facts kg_triples --rules family.rules {ADDRESS}", '`[[facts]]` with `database_table = "schema.table"`'),
    ("check --rules-only", "rule files"),
    ("check --rules-only family.rules --facts train.tsv", "`--rules-only`"),
    ("check family.toml family.rules", "family.rules"),
    ("sql mother family.toml", "did you mean `mothers`?"),
    ("sql mothers family.toml --plan --layout published", "leave out `--layout`"),
    ("violations family.toml --model bda", "no model is named `bda`"),
    ("violations family.toml --dataset --model bad", "`--dataset`"),
    ("violations family.toml -o v.xlsx", "error[E602]"),
    ("violations family.toml --model bad --prediction 'wife(daniel, alice)'", "`wife(daniel, alice)`"),
    ("incompatibilities family.toml -o train.tsv/pairs.rules", "`train.tsv/pairs.rules`"),
    ("rules convert family.rules --to amie", "error[E156]: rules of AMIE can be read, but not written"),
]


@pytest.mark.parametrize(("line", "words"), REFUSED)
def test_wrong_use_exits_with_two_and_says_what_is_wrong(run: Run, line: str, words: str) -> None:
    result = run(*shlex.split(line))
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())


def test_without_a_server_no_table_of_one_is_offered(run: Run) -> None:
    assert "database_table" not in run("check", "--facts", "kg_triples", "--rules", "family.rules").stderr
