"""Files without rules: what they probably are by their first lines, and how to read them."""

from __future__ import annotations

import re

_FACTS = "give facts with `--facts`, and predictions with `--predictions`"
_ONTOLOGY = "an ontology is read as rules if its name ends so: `.ttl`, `.nt`, `.nq`, `.trig`, `.rdf`, `.owl` or `.xml`"
_COMMENT = re.compile(r"\s*(?:#|//|%|\Z)")
_MOST_LINES = 50

# Each pattern must match all lines that we try it on: the first one, or the first fifty.
_FIRST = (
    (re.compile(r"\s*(?:@prefix|@base|PREFIX|BASE)\b"), "Turtle", _ONTOLOGY),
    (re.compile(r"\s*<(?:\?xml|!DOCTYPE|rdf:RDF)"), "RDF/XML", _ONTOLOGY),
    (re.compile(r"\s*<[^<>\s]+>\s+<[^<>\s]+>\s.*\.\s*\Z"), "N-Triples", _ONTOLOGY),
    (re.compile(r"\s*[\[{]"), "JSON", "write rules as `head <- body.`"),
)
_EVERY = (
    (re.compile(r"[^\t]+\t[^\t]+\t[^\t]+(?:\t[^\t]+)*\Z"), "triples", _FACTS),
    (re.compile(r"!?\s*\w+\([^()]*\)\Z"), "facts of ExpressGNN", _FACTS),
    (re.compile(r"\d+\t[^\t]+\Z|[^\t]+\t\d+\Z"), "a dictionary of ids", _FACTS),
    (re.compile(r"[^,\s()]+(?:,[^,()]+){2,}\Z"), "rows with commas between them", _FACTS),
)


def data_file(text: str, *, arrows: bool) -> tuple[str, str] | None:
    """What a text without rules probably is, and what to do. `arrows`: it has signs of rules, so that we do not look for rows."""
    lines = [line.rstrip() for line in text[:100_000].split("\n") if not _COMMENT.match(line)][:_MOST_LINES]
    if len(lines) >= 3 and all(line.startswith(("Heads:", "Tails:")) for line in lines[1:3]):
        return "an AnyBURL ranking", "give it as predictions: `--predictions MODEL=FILE`"
    asked = ((_FIRST, lines[:1]), (() if arrows else _EVERY, lines))
    found = ((what, cure) for kinds, some in asked for one, what, cure in kinds if some and all(map(one.match, some)))
    return next(found, None)
