"""Whether the steps that the motion of a model asks for are so short that stability allows them as well (stage: integrators; a problem in).

Eigenvalues at the start do not tell: what dies out fast there may be all that happens, or be driven on and on, by what swings, grows or switches.
So the length of Radau's steps, which stability does not limit, is compared with the shortest time constants on the way. Before a run some steps are
tried from the model's own start, once for a model, a tolerance and a time span, and not with models that call Python, which would notice.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tidegate.compiled.told_tolerance import tell_tolerance
from tidegate.errors import TidegateError
from tidegate.integrators.interface import Problem, StepIntegrator, Stop
from tidegate.integrators.kernel_cache import kernel, share_the_work
from tidegate.integrators.stiffness import fastest_rate

__all__ = ["Pace", "is_kept_moving"]

_KEPT: Final = "_is_kept_moving"
_MOST_KEPT: Final = 100
_LOOKS: Final = 5  # at time constants, ...
_STEPS: Final = 20  # ... so many steps apart
_SHORT: Final = 30.0  # time constants in one of Radau's steps: one of a series holds about eight, and takes a seventh of the time


class Pace:
    """How many of the shortest time constants Radau's steps hold, from now on; they are looked at here, too.

    Parameters
    ----------
    run : by Radau.
    """

    def __init__(self, run: StepIntegrator) -> None:
        self._run, self._held, self._rate = run, 0.0, 0.0
        self._time, self._steps = run.time, run.steps
        self.look()

    def start_over(self) -> None:
        """Count from the last look on, which was here."""
        self._held, self._steps = 0.0, self._run.steps

    def look(self) -> None:
        """Note the time constants here, which are those of the steps since the last look, or those there if they are shorter."""
        run = self._run
        before, self._rate = self._rate, fastest_rate(run.problem.model, run.time, run.y, run.p, run.m)
        self._held += max(before, self._rate) * (run.time - self._time)
        self._time = run.time

    @property
    def is_that_of_the_motion(self) -> bool:
        """Whether steps up to the last look were so short that a series would have been quicker."""
        return self._held < _SHORT * (self._run.steps - self._steps)


def is_kept_moving(problem: Problem) -> bool:
    """True if a series' steps are worth their while although the model starts stiff.

    Parameters
    ----------
    problem : of a model whose unknowns have power series.
    """
    model = problem.model
    if model.has_opaque or model.start.asks_a_block or model.start.asks_solution:
        return False
    kept: dict[tuple[float, float, float], bool] = vars(model).setdefault(_KEPT, {})  # a model is frozen, so it can carry what is known of it
    key = (problem.rtol, problem.t_start, problem.t_end)
    if key not in kept:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        kept[key] = _tried(problem)
    return kept[key]


def _tried(problem: Problem) -> bool:
    model = problem.model
    p = model.start.parameters({})
    if model.start.asks_parameters and model.start.problem(p) is not None:
        return False
    start = model.start.values(p, problem.t_start, (), with_actions=True)
    tell_tolerance(model.layout, start.m, problem.rtol)
    nothing = np.zeros(0, dtype=np.int64)
    trial = problem.altered(
        y=start.y, m=start.m, p=p, sensitivity_parameters=nothing, directions=(), dy_dp=start.dy_dp, dd_dp=start.dd_dp, output_times=np.zeros(0),
        step_rows=False, event_rows=False, keep_polynomials=False, proves=False, first_step=0.0, step_max=np.inf, resume=None,
    )  # fmt: skip
    share_the_work("radau", model, has_derivatives=len(problem.sensitivity_parameters) > 0)
    run: StepIntegrator = kernel("tidegate.integrators.radau.radau_method").RadauIntegrator(trial)
    try:
        if run.start() is not Stop.LIMIT:
            return False
        pace = Pace(run)
        for look in range(1, _LOOKS + 1):
            if not _goes_on_to(run, look * _STEPS):
                return False
            pace.look()
    except TidegateError:  # which the run itself will tell
        return False
    return pace.is_that_of_the_motion


def _goes_on_to(run: StepIntegrator, steps: int) -> bool:
    """Whether it has not come to its end, whatever that is, before it has taken so many steps."""
    while run.steps < steps:
        if run.advance(steps - run.steps) is not Stop.LIMIT:
            return False
        run.discard()
    return True
