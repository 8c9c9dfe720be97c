"""Files without facts: what they probably are by their first lines, and how to read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_RULES = "give it as rules: `--rules FILE`, `rules` in a project file and in Python"
_TABLE = "predictions of values need their table: `[tables.NAME]` with `key` and `target` in a project file, `tables=` in Python"
_IDS = (
    "`rulescore.Triples` takes ids, with the names of `entity2id.txt` and `relation2id.txt`; the columns are head, tail, relation"
)

_OF_RULES = {
    "rules of AnyBURL": re.compile(r"\d+\t\d+\t\S+\t.+\(.*\) <= "),
    "rules of AMIE": re.compile(r".*\?\w+\s+\S+\s+\?\w+.*=>"),
    "clauses of Markov logic": re.compile(r"\S+\s+!?\S+\([^()]*\) v "),
    "rules of Neural-LP or NCRL": re.compile(r"\S+ \(\S+\)\t.+ <-- "),
    "rules of UniKER": re.compile(r"1\.0(?:\t[^\t\d()][^\t()]*){2,3}\Z"),
    "rules of PSL": re.compile(r"\d+(?:\.\d+)?: .+\(.*\).* -> "),
    "rules of Prolog or of ours": re.compile(r".*\w\([^()]*\)\s*(?::-|<-)"),
    "denial constraints of HoloClean": re.compile(r"t1&t2&"),
    "denial constraints of Desbordante": re.compile(r"!\(\s*[st]\.\w+ "),
}
_OTHERS = (
    (r"\s*[\[{]", "JSON", "write its rows as text or Parquet"),
    (r"\s*(@prefix|@base|PREFIX|BASE)\b", "Turtle", "name it with the ending .ttl, or convert it to N-Triples"),
    (r"\s*<[^<>\s]+>\s+<[^<>\s]+>\s", "N-Triples", 'name it with the ending .nt, or say `format = "ntriples"`'),
    (r"\s*<(\?xml|!DOCTYPE|html|rdf:RDF)", "XML or HTML", "write its rows as text"),
    (r"(?i)(.*[\t,;])?\"?prediction\"?([\t,;].*)?\Z", "ids and predictions of a table's target", _TABLE),
)
_RNNLOGIC_ROW = re.compile(r"\d+(?: \d+)+\Z")
_DICTIONARY_ROW = re.compile(r"\d+\t[^\t]+\Z|[^\t]+\t\d+\Z")
_OPENKE = re.compile(r"\d+\Z")
_OPENKE_ROW = re.compile(r"\d+[ \t]\d+[ \t]\d+\Z")


def rule_file(lines: Sequence[str]) -> tuple[str, str] | None:
    """The tool whose rules a file holds, if all of its first lines are rules, and what to do with it."""
    rows = [line for line in lines if line.strip()]
    whose = (what for what, pattern in _OF_RULES.items() if rows and all(pattern.match(line) for line in rows))
    return next(((what, _RULES) for what in whose), None)


def stranger(lines: Sequence[str]) -> tuple[str, str] | None:
    """What a file that we cannot read as facts probably is, by its first lines, and what to do with it."""
    first, *more = [line for line in lines if line.strip()] or [""]
    if _OPENKE.match(first) and more and all(_OPENKE_ROW.match(line) for line in more):
        return "triples by ids as OpenKE has them", _IDS
    if all(_RNNLOGIC_ROW.match(line) for line in (first, *more)):
        return "rules of RNNLogic", f"{_RULES}, with `relations.dict` beside it"
    if all(_DICTIONARY_ROW.match(line) for line in (first, *more)):
        return "a dictionary of ids", "`rulescore.Triples` takes ids and the names of entities and relations"
    return rule_file([first]) or next(((what, cure) for pattern, what, cure in _OTHERS if re.match(pattern, first)), None)
