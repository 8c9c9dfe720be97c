"""JUnit XML, which build servers read: one test case for each gate and model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from rulescore.characters import visible
from rulescore.reporting.gates import Verdict, counts_of, found

# Characters that XML 1.0 cannot hold, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(verdicts: Sequence[Verdict]) -> str:
    """A gate that only warns does not fail: its case has what was found as output."""
    failures = sum(verdict.outcome.fails for verdict in verdicts)
    numbers = {"tests": str(len(verdicts)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "rulescore", **numbers})
    for verdict in verdicts:
        outcome = verdict.outcome
        names = {"classname": f"rulescore.{outcome.model}", "name": outcome.gate.title}
        case = ElementTree.SubElement(suite, "testcase", {key: _safe(visible(text)) for key, text in names.items()})
        if outcome.fails:
            failure = ElementTree.SubElement(case, "failure", {"type": "gate", "message": _safe(found(outcome))})
            failure.text = _safe(_details(verdict))
        else:
            ElementTree.SubElement(case, "system-out").text = _safe(_details(verdict))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _details(verdict: Verdict) -> str:
    outcome = verdict.outcome
    verdict_word = "met" if outcome.met else "not met"
    lines = [f"{verdict_word}: {found(outcome)}"]
    for worst in verdict.worst:
        assert outcome.model is not None
        lines.append(f"{visible(worst.rule.info.name)}: {counts_of(worst.rule, outcome.model)}")
        if worst.rule.info.text != worst.rule.info.name:
            lines.append(f"  {visible(worst.rule.info.text)}")
        if worst.row is not None:
            lines.append(f"  {worst.row}")
    return "\n".join(lines)


def _safe(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
