"""The reference problems, each a folder of ``tests/problems`` that names its equations and its source, and their values in ``golden/hybrid.json``."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["FOLDERS", "GOLDEN", "happened", "numbers", "problem", "relay_after"]

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "hybrid.json").read_text())
FOLDERS = {
    "P1": "bouncing_ball",
    "P2": "hidden_crossing",
    "P3": "carver_circuit",
    "P4": "stiff_relay",
    "P6": "robertson",
    "P8": "buck_converter",
}


@cache
def problem(key: str) -> ModuleType:
    """The module with ``model`` and ``t_span`` of one problem."""
    name = f"reference_problem_{FOLDERS[key]}"
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / "problems" / FOLDERS[key] / "problem.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def happened(result: Any) -> list[Any]:
    """The events inside the run: what happens at its start and its end is not one."""
    return [event for event in result.events if event.kind not in ("initial", "final")]


def numbers(items: list[str]) -> list[float]:
    return [float(item) for item in items]


def relay_after(switch: float) -> float:
    """y1(5), exact to 1e-9 for the last switch that was found: from 5.8 it falls towards y2 - 0.3, lagging behind it by y2'/c1."""
    y2, rate, elapsed = float(GOLDEN["P4"]["end"]["y2"]), 2.7e6, 5.0 - switch
    slope = 3.5651205 * (2.73 - y2)
    followed = y2 - 0.3 - slope / rate
    return followed + (5.8 - (followed - slope * elapsed)) * math.exp(-rate * elapsed)
