"""The classical methods behind the interface: their hooks and arrays, and what they say when a step cannot be made small enough."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tidegate.compiled.schema import CLASSICAL
from tidegate.errors import UsageError
from tidegate.integrators.classical.adams import ADAMS
from tidegate.integrators.classical.euler import EULER
from tidegate.integrators.classical.fixed_step import FixedStep
from tidegate.integrators.classical.heun import HEUN
from tidegate.integrators.classical.native import hooks
from tidegate.integrators.classical.trapezoid import TRAPEZOID
from tidegate.integrators.explicit_problems import check_explicit, hidden_algebraic
from tidegate.integrators.interface import Problem, Stop
from tidegate.integrators.kernel_cache import kernel
from tidegate.integrators.lay_out import Method
from tidegate.integrators.native_run import NativeRun

__all__ = ["ClassicalIntegrator"]

_FIXED_STEP: Final[dict[str, FixedStep]] = {"euler": EULER, "adams2": ADAMS, "trapezoid": TRAPEZOID, "heun": HEUN}
_HERE: Final = "tidegate.integrators.classical.native"


def _hooks(name: str) -> dict[str, Any]:
    """Step, restart and acceptance of a method; only what it needs is loaded, and compiled."""
    common = {"step": None, "restart": hooks.classical_restart, "accept": hooks.classical_accept}
    if name in _FIXED_STEP:
        return common | {"step": kernel(f"{_HERE}.fixed_step").fixed_step}
    if name == "rke":
        return common | {"step": kernel(f"{_HERE}.england_step").england_step}
    steps = kernel(f"{_HERE}.hamming_step")
    return {"step": steps.hamming_step, "restart": steps.hamming_restart, "accept": steps.hamming_accept}


def _method(problem: Problem, name: str) -> Method:
    facts: dict[str, float] = {
        "keeps_proposals": np.isfinite(problem.step_max), "step_min": problem.step_min, "max_halvings": problem.max_halvings,
        "disc_halvings": problem.disc_halvings,
    }  # fmt: skip
    degree = 5
    if name in _FIXED_STEP:
        fixed, degree = _FIXED_STEP[name], 3
        facts |= {"looks_back": fixed.extrapolated is not None, "corrects": fixed.corrects, "corrects_first": fixed.corrects_first}
    own = _hooks(name)
    return Method(
        owner=CLASSICAL,
        hooks={
            "hook_step": own["step"].address, "hook_locate": hooks.classical_locate.address, "hook_values": hooks.classical_values.address,
            "hook_sensitivities": hooks.classical_sensitivities.address, "hook_restart": own["restart"].address, "hook_accept": own["accept"].address,
        },
        degree=degree,
        facts=facts,
    )  # fmt: skip


class ClassicalIntegrator(NativeRun):
    """One run by a classical method.

    Parameters
    ----------
    problem : what to run.
    name : "rke", "pc", "euler", "adams2", "trapezoid" or "heun".

    Raises
    ------
    UsageError : the equations have algebraic unknowns; or a method of fixed step is not told the step.
    """

    takes_others = False  # memory of its own is made from the values

    def __init__(self, problem: Problem, name: str) -> None:
        check_explicit(problem, name)
        if name in _FIXED_STEP and not np.isfinite(problem.step_max) and len(problem.model.layout.unknowns) > 0:
            raise UsageError(
                f"method {name!r} takes steps of one length, and no length is given",
                hint="max_step=0.01 is a step of 0.01; method='rke' finds its steps by itself",
            )
        super().__init__(problem, _method(problem, name))
        self._name = name
        self._stop = Stop.LIMIT

    def start(self) -> Stop:
        """Find consistent start values; Stop.LIMIT if the run may go on.

        Raises
        ------
        UsageError : the equations hide algebraic ones: derivatives stand in them in the same combinations as in others.
        """
        self._stop = super().start()
        n, rank = self._work["n"], self._work["rank"]
        if self._stop is Stop.SINGULAR and rank < n:
            raise hidden_algebraic(self._name, n, rank)
        return self._stop

    def advance(self, budget: int) -> Stop:
        """Run natively for at most ``budget`` steps."""
        self._stop = super().advance(budget)
        return self._stop

    @property
    def remark(self) -> str:
        """What stood in the way, after a step that could not be made small enough."""
        work, name = self._work, self._name
        step = work["nominal"]
        if name in _FIXED_STEP:
            said = f"method {name!r} takes steps of max_step = {self.problem.step_max:g} and never a shorter one, which may be what the model needs"
            return said if self._stop is Stop.NOT_FINITE else ""
        if self._stop is not Stop.STEP_TOO_SMALL or not work["worst_error"] > work["worst_allowed"]:
            return ""
        worst = self.problem.model.layout.unknowns[work["worst"]]
        limit = "the resolution of the time"
        if name == "pc" and work["halvings"] > work["max_halvings"]:
            limit = f"max_halvings = {work['max_halvings']}"
        elif name == "rke" and self.problem.step_min:
            limit = f"min_step = {self.problem.step_min:g}"
        return (
            f"by a step of {step:.3g} the error of {worst} is estimated at {work['worst_error']:.3g}, and {work['worst_allowed']:.3g} is allowed; "
            f"{limit} allows no shorter one"
        )
