"""Radau IIA behind the interface: its number of stages, its arrays, its hooks."""

from __future__ import annotations

from tidegate.compiled import workspace as w
from tidegate.integrators.interface import Problem
from tidegate.integrators.lay_out import Method
from tidegate.integrators.native_run import NativeRun
from tidegate.integrators.radau import hooks
from tidegate.integrators.radau.locate import locate
from tidegate.integrators.radau.step import take_step

__all__ = ["RadauIntegrator", "stages_for"]


def stages_for(rtol: float) -> int:
    """Number of stages by tolerance, as measured: 3 for rtol >= 1e-5, 5 to 1e-9, 7 below."""
    if rtol >= 1e-5:
        return 3
    return 5 if rtol >= 1e-9 else 7


class RadauIntegrator(NativeRun):
    """One run by Radau IIA.

    Parameters
    ----------
    problem : what to run.
    stages : 3, 5 or 7; None chooses by tolerance.
    """

    def __init__(self, problem: Problem, stages: int | None = None) -> None:
        chosen = stages or stages_for(problem.rtol)
        super().__init__(problem, _method(problem, chosen))


def _method(problem: Problem, stages: int) -> Method:
    n, ns = len(problem.model.layout.unknowns), len(problem.sensitivity_parameters)
    s = w.MAX_STAGES
    pairs = (s - 1) // 2
    return Method(
        hooks={
            w.H_STEP: take_step.address, w.H_LOCATE: locate.address, w.H_SENSITIVITIES: hooks.radau_sensitivities.address,
            w.H_VALUES: hooks.radau_values.address, w.H_RESTART: hooks.radau_restart.address, w.H_ACCEPT: hooks.radau_accept.address,
            w.STAGES_WANTED: stages,
        },
        degree=s,
        numbers={
            w.O_SCALE: 2 * n, w.O_ERR: 2 * n, w.O_Z: s * n, w.O_F: s * n, w.O_R: s * n, w.O_ZB: s * n, w.O_AB: s * n, w.O_DC: 2 * pairs * n,
            w.O_E1: 2 * n * n, w.O_E2: 4 * pairs * n * n, w.O_INVERSE: s * s, w.O_NODES: s, w.O_K: (stages * n) ** 2 if ns else 0,
            w.O_KB: ns * s * n, w.O_SNEW: ns * s * n,
        },
        whole={w.I_PIV1: 2 * n, w.I_PIV2: 2 * pairs * n, w.I_PIVK: s * n},
    )  # fmt: skip
