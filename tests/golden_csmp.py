"""The report's printed figures, the test models and what they must give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tidegate import csmp
from tidegate.csmp.language.program import CsmpProgram

FOLDER = Path(__file__).parent / "golden" / "csmp"
REPORT: dict[str, Any] = json.loads((FOLDER / "csmp.json").read_text())
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())["models"]


def model(name: str) -> CsmpProgram:
    return csmp.load(FOLDER / f"{name}.mod")


def control(name: str, **changed: Any) -> csmp.RunControl:
    entry = EXPECTED[name]
    span, out = entry["integration"], entry["output"]
    values = {
        "lower": span["lower"],
        "upper": span["upper"],
        "interval": span["interval"],
        "outputs": tuple(out["blocks"]),
        "every": out["interval"],
        "percent": out["percent_change"],
    }
    return csmp.RunControl(**{**values, **changed})


def spring_user(ctx: Any, block: int) -> float:
    force = ctx.p2 * ctx.x1 + ctx.x2
    ctx.set_uo(block + 1, force)
    return -force / ctx.p1


def run(name: str, **options: Any) -> csmp.CsmpRun:
    return csmp.run_program(model(name), control(name), user={"user1": spring_user}, **options)


def program(text: str) -> CsmpProgram:
    """A program from the lines of its configuration, then its parameters, then its functions, separated by a line of dashes."""
    parts = [[line.strip() for line in part.strip().splitlines()] for part in text.split("---")]
    lines = ["TEST"]
    for part in parts:
        lines += [*part, ""]
    return csmp.load("\n".join([*lines, "", ""]))
