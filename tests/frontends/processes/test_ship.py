"""The ship of CONDIS in both styles prints what tight steps give, digit for digit."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

__all__: list[str] = []

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("style", ["processes", "simula"])
def test_the_ship_prints_the_table_of_tight_steps(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    golden = json.loads((ROOT / "tests" / "golden" / "condis.json").read_text(encoding="utf-8"))["appendix3"]["oracle"]["rows"]
    runpy.run_path(str(ROOT / "examples" / f"ship_{style}.py"), run_name="__main__")
    printed = [[float(word) for word in line.split()] for line in capsys.readouterr().out.splitlines()[1:]]
    assert len(printed) == len(golden)
    for row, expected in zip(printed, golden, strict=True):
        assert row == pytest.approx(expected, rel=0.0, abs=1.5e-9)  # nine decimals are printed; the last may be rounded the other way
