"""Sessions of CSMP-10(ARL) in an empty folder, and what the report types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from csmp_sessions import DECAY, GOLDEN, Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Plays in an empty folder."""
    return Stage(tmp_path)


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Figures of the report."""
    return json.loads((GOLDEN / "csmp.json").read_text())


@pytest.fixture(scope="session")
def spring_set_up(golden: dict[str, Any]) -> list[str]:
    """What is typed in section 4.1.4 of the report."""
    session = golden["session_4_1_4"]
    configurations, parameters, pairs = (session[name] for name in ("configurations", "parameters", "pairs_of_block_10"))
    return ["TIT", session["title"], "CON", *configurations, "", "PAR", *parameters, "", "FUN", "10", *pairs, "", ""]


@pytest.fixture
def decay() -> list[str]:
    """The model of a decay, as it is typed."""
    return list(DECAY)
