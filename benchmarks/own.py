"""tidegate as a competitor: the models of ``examples``, prepared once and run again and again."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np

from benchmarks.outcome import Outcome, Run
from benchmarks.problems import Problem

__all__ = ["EXAMPLES", "load", "prepare", "prepare_with"]

EXAMPLES: Final = {
    "P1": "bouncing_ball",
    "P2": "hidden_crossing",
    "P3": "carver_circuit",
    "P4": "stiff_relay",
    "P6": "robertson",
    "P8": "buck_converter",
}


def load(key: str) -> Any:
    """The model of one reference problem."""
    return import_module(f"examples.{EXAMPLES[key]}").model


def prepare_with(key: str, t_end: float, options: dict[str, Any]) -> Any:
    """A function without arguments that runs the model from 0 to ``t_end`` and returns its ``Result``."""
    import tidegate as tg

    model = load(key)

    def run() -> Any:
        return tg.simulate(model, (0.0, t_end), **options)

    return run


def prepare(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """The run with the tolerances that every competitor gets."""
    names = [f"p{k + 1}" for k in range(problem.p.size)] if sensitivities else None
    again = prepare_with(problem.key, problem.t_end, {"rtol": rtol, "atol": 0.01 * rtol, "sensitivities": names})

    def run() -> Outcome:
        result = again()
        final = result.final
        events = sum(event.kind not in ("initial", "final") for event in result.events)
        slopes = None
        if names:
            places = {column.name: i for i, column in enumerate(result.columns)}
            slopes = result.sensitivities[-1].T[[places[name] for name in problem.names]]
        return Outcome(np.array([final[name] for name in problem.names]), events, slopes)

    return run
