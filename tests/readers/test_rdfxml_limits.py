"""RDF/XML that would take all memory or all time is refused, and short entities are read."""

from __future__ import annotations

from pathlib import Path

import pytest

import rulescore

HEAD = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
RULES = "r: false <- `http://e/p`(X, Y). "


def document(entities: str, text: str) -> str:
    start = '<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [' + entities + "]>" + HEAD
    return start + f'<rdf:Description rdf:about="http://e/s"><e:p>{text}</e:p></rdf:Description></rdf:RDF>'


NESTED = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
DEEP = HEAD + "<rdf:Description><e:p>" * 50_000 + "x" + "</e:p></rdf:Description>" * 50_000 + "</rdf:RDF>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (document(NESTED, "&a11;"), "an entity has more than 500 characters"),
        (document(f'<!ENTITY a "{"x" * 100_000}">', "&a;" * 20_000), "an entity has more than 500 characters"),
        (document('<!ENTITY a SYSTEM "/etc/passwd">', "&a;"), "an entity has more than 500 characters"),
        (document(f"<!-- {'x' * 100_000} -->" + NESTED, "&a11;"), "an entity has more than 500 characters"),
        (DEEP, "elements are nested deeper than 10,000 levels"),
    ],
)
def test_e317_what_would_take_all_memory_or_all_time(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "facts.rdf"
    file.write_text(text)
    with pytest.raises(rulescore.InputError, match="E317") as refused:
        rulescore.audit(file, RULES)
    assert message in str(refused.value)


@pytest.mark.parametrize("length", [*range(8_100, 8_200, 7), 0, 20_000])
def test_entities_for_beginnings_of_names_are_read_wherever_they_are(tmp_path: Path, length: int) -> None:
    file = tmp_path / "facts.rdf"
    file.write_text(document(f'<!-- {"x" * length} --><!ENTITY e "http://e/" >', "&e;s"))
    assert rulescore.audit(file, RULES).rule_results[0].dataset.refuted == 1
