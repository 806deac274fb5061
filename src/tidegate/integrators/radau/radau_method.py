"""Radau IIA behind the interface: its number of stages, its arrays, its hooks."""

from __future__ import annotations

from dataclasses import replace

from tidegate.compiled.schema import MAX_STAGES, RADAU
from tidegate.integrators.hybrid_loop.simple_event import settle_simply
from tidegate.integrators.interface import Problem
from tidegate.integrators.lay_out import Method
from tidegate.integrators.native_run import NativeRun
from tidegate.integrators.radau import hooks
from tidegate.integrators.radau.locate import locate
from tidegate.integrators.radau.stages_for import stages_for
from tidegate.integrators.radau.step import take_step
from tidegate.integrators.simple_events import may_be_simple

__all__ = ["RadauIntegrator", "radau_by_stages"]


class RadauIntegrator(NativeRun):
    """One run by Radau IIA.

    Parameters
    ----------
    problem : what to run.
    stages : 3, 5 or 7; None chooses by tolerance.
    """

    def __init__(self, problem: Problem, stages: int | None = None) -> None:
        method = radau_by_stages(stages or stages_for(problem.rtol)).with_rates(problem)
        if may_be_simple(problem.model):
            method = replace(method, hooks={**method.hooks, "hook_simple": settle_simply.address})
        super().__init__(problem, method)


def radau_by_stages(stages: int) -> Method:
    """Its hooks and arrays for a number of stages."""
    return Method(
        owner=RADAU,
        hooks={
            "hook_step": take_step.address, "hook_locate": locate.address, "hook_sensitivities": hooks.radau_sensitivities.address,
            "hook_values": hooks.radau_values.address, "hook_restart": hooks.radau_restart.address, "hook_accept": hooks.radau_accept.address,
        },
        degree=MAX_STAGES,
        facts={"stages_wanted": stages},
    )  # fmt: skip
