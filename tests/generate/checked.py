"""Generated settings whose declarations are rules, too: `@check` before what facts can break."""

from __future__ import annotations

import re
from dataclasses import replace

from oracle.reading import read_program
from together import Member

# What the oracle reads: one key and one value of two arguments, pairs of atoms, auxiliary rules.
_CHECKED = re.compile(r"functional \S+\(\w+, \w+\) on |incompatible \S+\(|refute ")


def with_checks(member: Member) -> Member:
    lines = member.text.splitlines()
    text = "\n".join(f"@check check{number}: {line}" if _CHECKED.match(line) else line for number, line in enumerate(lines))
    setting = replace(member.setting, rules=tuple(read_program(text).rules))
    return replace(member, setting=setting, text=text)
