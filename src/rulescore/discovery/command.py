"""`rulescore discover`: finds the rules that hold in the facts."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from click.core import ParameterSource

from rulescore.cli import options
from rulescore.cli.output import save, show, tell
from rulescore.errors import masked
from rulescore.errors.texts import visible

_FORMS = (
    "implication",
    "inversion",
    "two_atoms",
    "one_place",
    "constants",
    "functional",
    "asymmetric",
    "irreflexive",
    "disjoint",
    "incompatible",
    "bound",
    "comparison",
    "dependency",
    "allowed_values",
    "conditional_values",
    "sum",
    "tolerance",
    "relative_bound",
)


@click.command(
    cls=options.Command,
    examples=(
        "rulescore discover --facts facts.csv --output found.rules",
        "rulescore discover --facts train.txt --valid valid.txt --max-rate 0.02",
    ),
)
@options.setting_options(
    options.PROJECT + options.FACTS + options.TABLES + options.RULE_FILES + options.SCORING[:2] + options.ENGINE
)
@click.option(
    "--min-support",
    "least_support",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Find rules that at least N groundings confirm.",
)
@click.option(
    "--max-rate",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    metavar="R",
    help="Find rules that at most this share of their evaluable groundings breaks.",
)
@click.option(
    "--min-evaluable", type=click.IntRange(min=1), default=1, metavar="N", help="Rules with at least N evaluable groundings."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=30, show_default=True, metavar="N", help="Show and write at most N rules."
)
@click.option("--all", "everything", is_flag=True, help="Also show the rules that are left out, with the reason.")
@click.option("--form", "forms", type=click.Choice(_FORMS), multiple=True, help="Look for rules of this form only; repeatable.")
@click.option("--longer", is_flag=True, help="Also extend the rules that are kept by one atom.")
@click.option(
    "--valid", multiple=True, metavar="PATH|NAME=PATH", help="Held-out facts: we pick no rule by them, and rate each rule on them."
)
@click.option(
    "--hold-out",
    type=click.FloatRange(0, 0.9),
    default=0.0,
    metavar="SHARE",
    help="Set this share of the facts apart, drawn by chance: we pick rules by the other facts, and rate them on these.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The seed that draws the facts for `--hold-out`.")
@click.option(
    "--max-groundings",
    type=click.IntRange(min=1),
    default=1_000_000_000,
    metavar="N",
    help="Leave out forms that would look at more pairs of facts than this. [default: a thousand million]",
)
@click.option(
    "--refine",
    "too_broad",
    metavar="RULE",
    help="Instead, find the condition that this rule lacks: a name of `--rules` or the project, or the text of a rule.",
)
@options.format_option
@options.file_option("Write the rules as a rule file.")
@options.quiet_option
def discover(
    choice: options.SettingChoice,
    least_support: int,
    max_rate: float,
    min_evaluable: int,
    limit: int,
    everything: bool,
    forms: tuple[str, ...],
    longer: bool,
    valid: tuple[str, ...],
    hold_out: float,
    seed: int,
    max_groundings: int,
    too_broad: str | None,
    form: str,
    output: Path | None,
    quiet: bool,
) -> None:
    """Find rules that hold in the facts.

    Lists the thirty rules that a person wants first, by form: each with how often the facts break it, the share of its head's facts
    that it explains, and how many times more often it is confirmed than by chance. The counts are those that `rulescore audit`
    gives.
    """
    from dataclasses import replace

    from rulescore.cli.setting import load_data, load_given
    from rulescore.discovery.discovering import shown
    from rulescore.discovery.listings import for_people, for_programs, refinement_listing, refinement_rows, rule_text
    from rulescore.discovery.model import DiscoverOptions, Form
    from rulescore.discovery.refine import given_relations, refine
    from rulescore.discovery.result import discover_data
    from rulescore.readers.sources import named_source, prediction_streams
    from rulescore.reporting.listing import Format
    from rulescore.setting.choices import Convention

    if valid and hold_out:
        raise click.UsageError("`--valid` names facts that are held out: it cannot be combined with `--hold-out`")
    wanted = DiscoverOptions(
        min_support=least_support,
        max_rate=max_rate,
        min_evaluable=min_evaluable,
        limit=limit,
        distinct_variables=choice.options.get("distinct_variables"),
        convention=Convention(choice.options.get("convention", Convention.DEFINITION)),
        hold_out=hold_out,
        seed=seed,
        forms=frozenset(map(Form, forms)),
        longer=longer,
        everything=everything,
        max_groundings=max_groundings,
    )
    held_out = prediction_streams([named_source(path) for path in valid]) if valid else ()
    if too_broad is not None:
        if output is not None or forms:
            raise click.UsageError("`--refine` takes no `--output` or `--form`")
        rule_setting = load_given(choice)
        refinement = refine(rule_setting, too_broad, wanted, held_out)
        related = given_relations(rule_setting)
        show((refinement_rows if form in {Format.JSON, Format.CSV} else refinement_listing)(refinement, related), form)
        return
    setting = replace(load_data(choice), predictions=())
    discovery = discover_data(setting, wanted, held_out)
    discovery = replace(discovery, command=_typed(click.get_current_context()))
    listed = shown(discovery)
    show((for_programs if form in {Format.JSON, Format.CSV} else for_people)(discovery, listed), form)
    if output is None:
        return
    kept = [rule for rule in listed if rule.left_out is None]
    if not kept:
        tell(visible(f"nothing was found, so {output} is not written"))
        return
    save(rule_text(discovery, kept), output, quiet=quiet)


def _typed(context: click.Context) -> str:
    """The command as the user typed it, without passwords."""
    words = ["rulescore", "discover"]
    for parameter in context.command.params:
        if context.get_parameter_source(str(parameter.name)) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[str(parameter.name)]
        if isinstance(value, bool):
            words += parameter.opts[:1] if value else parameter.secondary_opts[:1]
        else:
            flag = [] if isinstance(parameter, click.Argument) else [max(parameter.opts, key=len)]
            words += [word for part in (value if isinstance(value, tuple) else (value,)) for word in (*flag, masked(str(part)))]
    return shlex.join(words)
