"""The words of Appendix B: all fifty are there, say what they are about, and give something to try."""

import re
import string
from pathlib import Path

import pytest

import tidegate as tg
from tidegate.csmp.language.diagnostics import DIAGNOSTICS, NOTICES, notice, say
from tidegate.errors import Origin

ABOUT = {"n": 4, "m": 5, "i": 7, "v": 3, "t": "1.0000E+00", "x": "5.0000E+00", "y": "0", "type": "QQ", "record": "1, A", "limit": 2, "unit": 3}
ABOUT |= {"name": "SPRNG", "extension": "MOD"}


def test_there_are_fifty() -> None:
    assert len(DIAGNOSTICS) == 50
    assert len({kind.text for kind in DIAGNOSTICS.values()}) == 50


@pytest.mark.parametrize("key", DIAGNOSTICS)
def test_each_can_be_said_and_has_a_condition_and_a_suggestion(key: str) -> None:
    named = {name for _, name, _, _ in string.Formatter().parse(DIAGNOSTICS[key].text) if name}
    said = say(key, **{name: ABOUT[name] for name in named})
    assert not re.search(r"[{}]", said.text + said.hint)
    assert said.hint
    assert DIAGNOSTICS[key].when
    assert said.block == (4 if "n" in named else 0)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("ILLEGAL BLK TYPE", 'BLK 4 HAS AN ILLEGAL BLK TYPE ("QQ")'),
        ("I/P NOT DEFINED", "I/P (BLK 7) TO BLK 4 IS NOT DEFINED"),
        ("I/P B1 FOR UO BLK", "I/P B1 FOR UO BLK 4 IS NOT THE ASSOCIATED USER-DEFINED BLK 5"),
        ("ITERATION LIMIT", "ITERATION LIMIT OF 2 EXCEEDED FOR V & Y BLKS 3 & 4 AT TIME 1.0000E+00"),
        ("FATAL ATTEMPT", 'FATAL ATTEMPT TO READ NON-EXISTENT DSK FILE "SPRNG"."MOD"'),
        ("INCORRECT RECORD", 'INCORRECT RECORD "1, A" ****'),
        ("MAX OF COORD PAIRS", "MAX OF 2*15 COORD PAIRS EXCEEDED"),
        ("PNT WITH ABSCISSA", "PNT WITH ABSCISSA '5.0000E+00' DOES NOT EXIST"),
        ("LOGICAL UNIT ALREADY IN USE", "LOGICAL UNIT 3 ALREADY IN USE"),
    ],
)
def test_the_words_are_the_reports(key: str, text: str) -> None:
    assert say(key, **ABOUT).text == text


def test_notices_can_be_said() -> None:
    for key in NOTICES:
        assert "{" not in notice(key, **ABOUT).text


def test_one_diagnostic_says_where_and_what_to_try() -> None:
    said = say("ERROR IN BLK", n=4, hint="a gain has one input").at(Origin("spring.mod", 7, "4 G 1 2"))
    assert str(tg.CsmpError([said])) == "ERROR IN BLK 4\n  at spring.mod:7: 4 G 1 2\n  try: a gain has one input"


def test_several_diagnostics_are_listed_with_their_places() -> None:
    first = say("ERROR IN BLK", n=4, hint="a gain has one input").at(Origin("spring.mod", 7, "4 G 1 2"))
    error = tg.CsmpError([first, say("FUNCTS NOT COMPLETE", hint="use FUN")])
    lines = ["the model has 2 problems:", "  - ERROR IN BLK 4 (at spring.mod:7); a gain has one input", "  - FUNCTS NOT COMPLETE; use FUN"]
    assert str(error).splitlines() == lines
    assert error.diagnostics[0].line == 7


def test_the_page_about_the_language_has_them_all() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "csmp_language.md").read_text(encoding="utf-8")
    missing = [row for kind in DIAGNOSTICS.values() if (row := f"| {re.sub(r'{(\w+)}', r'*\1*', kind.text)} | {kind.when} |") not in page]
    assert missing == []
