"""`tidegate export` writes a block beside what it prints, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tidegate as tg

__all__: list[str] = []


@pytest.mark.slow
def test_export_writes_a_block_that_loads(line: Any, tmp_path: Path) -> None:
    done = line("export", "tank.py", "--language", "fortran", "--out", str(tmp_path / "blocks"), "--name", "tank_block")
    assert done.exit_code == 0, done.output
    (written,) = (tmp_path / "blocks").iterdir()
    assert written.name == "tank_block.f90"
    assert "LEVEL" in {signal.name for signal in tg.dsblock.build(written, prefix="tank_block").declared.signals}


def test_export_refuses_an_unknown_language_and_writes_nothing(line: Any, tmp_path: Path) -> None:
    done = line("export", "tank.py", "--language", "cobol", "--out", str(tmp_path / "blocks"))
    assert done.exit_code == 2
    assert "language='cobol'" in done.stderr
    assert not (tmp_path / "blocks").exists()
