"""`rulescore init`: writes the files of a first session, for the user to try and then replace."""

from __future__ import annotations

from pathlib import Path

import click

from rulescore.cli.help import Command

FILES = {
    "facts.csv": """\
head,relation,tail
alice,wife,christopher
christopher,father,bob
alice,mother,bob
daniel,father,emma
fiona,mother,emma
julia,wife,daniel
alice,sister,daniel
alice,aunt,emma
heidi,sister,daniel
""",
    "family.rules": """\
aunt_by_father: aunt(X, Z) <- sister(X, Y), father(Y, Z).
mother_by_wife: mother(X, Z) <- wife(X, Y), father(Y, Z).
no_sibling_marriage: false <- sister(X, Y), wife(X, Y).

incompatible aunt, mother, sister, wife.    # a mother of someone is not that person's aunt
functional mother(X, Y) on Y -> X.          # nobody has two mothers
""",
    "careful.csv": """\
head,relation,tail
heidi,aunt,emma
fiona,wife,daniel
ina,wife,christopher
""",
    "careless.csv": """\
head,relation,tail
fiona,sister,daniel
alice,wife,daniel
""",
    "rulescore.toml": """\
# The project file: `rulescore` reads it in this folder. Paths are relative to this file; an unknown key is an error.

# Observed facts: CSV, TSV, Parquet or RDF, or a folder of those. A list takes several.
facts = "facts.csv"
# Rules, and the declarations that refute their heads.
rules = "family.rules"
# Facts known to be false.
# negatives = "denied.csv"

# One line for each model.
[predictions]
careful = "careful.csv"
careless = "careless.csv"

# Ranked answers to queries: `top_k` of the best for each query count as predictions.
# [predictions.ranked]
# path = "ranked.tsv"
# top_k = 10

# Held-out facts, only for MRR and Hits@k beside the scores: the scores never read them.
# [truth]
# path = "test.tsv"
# known = "valid.tsv"

# Further declarations, beside those of the rule files.
# [refutation]
# extract_incompatible = true

# The other way to count is "appendix".
# [scoring]
# convention = "definition"
# weights = { aunt_by_father = 2 }
# kinds = { mother_by_wife = "soft" }

# Limits of the database engine, which counts inside this process.
# [engine]
# memory_limit = "4GB"
# threads = 2

# Every `rulescore score` also writes its results as files.
# [output]
# folder = "results"
# formats = ["json", "csv", "markdown"]
""",
}

_NEXT = (
    ("rulescore score", "how far both models respect the rules"),
    ("rulescore audit", "the rules over the facts alone"),
    ("rulescore violations --model careless", "the predictions that break rules, with the facts against them"),
)


@click.command(cls=Command, examples=("rulescore init", "rulescore init first-look"))
@click.argument("folder", required=False, type=click.Path(path_type=Path), default=Path())
def init(folder: Path) -> None:
    """Write the files of a first session.

    The files are facts, rules, predictions of two models, and a project file.

    FOLDER is the current folder unless given. Existing files are never overwritten.
    """
    from rulescore.reporting.files import require_absent, write_files

    require_absent(*(folder / name for name in FILES), help="name another folder: `rulescore init FOLDER`")
    write_files(folder, FILES)
    here = folder == Path()
    click.echo(f"wrote {', '.join(FILES)}{'' if here else f' to {click.format_filename(folder)}'}\n\nType next:")
    if not here:
        click.echo(f"  cd {click.format_filename(folder)}")
    width = max(len(command) for command, _ in _NEXT)
    for command, meaning in _NEXT:
        click.echo(f"  {command:<{width}}  {meaning}")
