"""Taylor series behind the interface: the order, the model's functions of power series, hooks and arrays; where the model is stiff, Radau goes on.

It is looked at again and again, less and less often, whether the motion makes Radau's steps as short as stability makes those of a series: a house
that has rested at night moves in the morning. Then series go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tidegate.compiled.emit_taylor.step_box import box_size
from tidegate.compiled.schema import RADAU, TAYLOR
from tidegate.compiled.series_functions import SeriesFunctions
from tidegate.errors import UsageError
from tidegate.integrators.explicit_problems import check_explicit
from tidegate.integrators.hybrid_loop.simple_event import settle_simply
from tidegate.integrators.interface import Problem, Stop
from tidegate.integrators.kernel_cache import kernel
from tidegate.integrators.lay_out import Method
from tidegate.integrators.native_run import NativeRun
from tidegate.integrators.pace import Pace
from tidegate.integrators.plan_places import N_FRESH_NUMBERS, STEPS_LEFT
from tidegate.integrators.radau.stages_for import stages_for
from tidegate.integrators.several_runs import Several
from tidegate.integrators.simple_events import may_be_simple
from tidegate.integrators.taylor import hooks
from tidegate.integrators.taylor.next_step import take_step
from tidegate.integrators.taylor.smooth import take_smooth_steps
from tidegate.integrators.taylor.step import STIFF_STEPS, caution_of
from tidegate.integrators.taylor.together import Together

__all__ = ["TaylorIntegrator", "order_for"]

_LEAST_ORDER: Final = 4  # of the low one
_WORTH_WHILE: Final = 200_000  # steps of a sweep: machine code for several at once takes as long to make as it would have saved in about so many
_NOT_ALL: Final = -1  # of what whole steps should watch: high powers are looked at after each (``events.pulses``)
_FIRST_LOOK: Final = 100  # of Radau's steps, after which it is asked whether the motion makes them short; twice as many the next time


def order_for(rtol: float) -> int:
    """Order by tolerance, as measured: 10 for rtol >= 1e-5, 14 to 1e-9, 20 below."""
    if rtol >= 1e-5:
        return 10
    return 14 if rtol >= 1e-9 else 20


class TaylorIntegrator(NativeRun):
    """One run by Taylor series.

    Parameters
    ----------
    problem : what to run.
    order : of the series; None chooses by tolerance.

    Raises
    ------
    UsageError : the equations have algebraic unknowns, or right sides without power series.
    """

    def __init__(self, problem: Problem, order: int | None = None) -> None:
        series = problem.model.series
        if series is None:
            check_explicit(problem, "taylor")
            raise UsageError(
                "method 'taylor' needs the equations as expressions, and those of this model can only be called",
                hint="method='radau' integrates it",
            )
        chosen = order or order_for(problem.rtol)
        with_tangent = len(problem.sensitivity_parameters) > 0
        has_events = len(problem.model.guards) > 0 or problem.model.layout.n_time_events > 0
        orders = (chosen, _low_order(chosen)) if has_events else (chosen,)
        self._functions = {of: series.functions(of, with_tangent=with_tangent) for of in orders}
        self._method = _method(problem, self._functions)
        super().__init__(problem, self._method)
        self._by_radau: Pace | None = None
        self._between_looks, self._next_look = _FIRST_LOOK, 0
        self._together: Together | None = None
        self._are_together: Several | None = None

    def reset(self) -> None:
        """Go back to before ``start``."""
        super().reset()
        self._by_radau = None
        self._between_looks = _FIRST_LOOK

    def advance(self, budget: int) -> Stop:
        """Run natively for at most ``budget`` steps; by Radau IIA while the model is stiff."""
        if self._by_radau is not None:
            return self._advance_by_radau(budget, self._by_radau)
        stop = super().advance(budget)
        ends = stop is Stop.STEP_TOO_SMALL and self._work["stiff_steps"] >= STIFF_STEPS
        if not (ends or stop is Stop.ANOTHER_METHOD):
            return stop
        radau = kernel("tidegate.integrators.radau.radau_method").radau_by_stages(self._work["stages_wanted"])
        stop = self.go_on_as(replace(radau, facts={"keeps_proposals": 0, "hook_simple": 0, "hook_smooth": 0}))
        self._by_radau = Pace(self)
        self._look_later()
        return stop

    def begin_with(self, several: Several) -> None:
        """Put into a plan what this memory and its model say; many smooth runs go side by side."""
        super().begin_with(several)
        self._are_together = None
        series = self.problem.model.series
        if self._together is None and series is not None and self._work["hook_smooth"] and not self._work["n_sens"]:
            order = max(self._functions)
            functions = series.members(order, may_be_made=several.steps_expected >= _WORTH_WHILE)
            if functions is not None:
                self._together = Together(self._work, functions, order, (self._rows.dtype, self._log.dtype), self.integers_at_start)
        if self._together is not None:
            self._together.begin(several)
            self._are_together = several

    def go_on_with(self, several: Several, steps: int) -> bool:
        """Carry out runs of other parameters natively for about so many steps; True when all are over."""
        if not several.plan[N_FRESH_NUMBERS]:
            self.begin_with(several)
        if several is not self._are_together or self._together is None:
            return super().go_on_with(several, steps)
        several.plan[STEPS_LEFT] = steps
        return self._together.go_on(several, self._enter)

    def give(self, several: Several) -> None:
        """Give these runs what was written down of them."""
        if several is self._are_together and self._together is not None:
            self._together.give(several)

    def _look_later(self) -> None:
        """Radau goes on from here."""
        self._next_look = self.steps + self._between_looks
        self._between_looks *= 2

    def _advance_by_radau(self, budget: int, pace: Pace) -> Stop:
        stop = super().advance(min(budget, self._next_look - self.steps))
        if stop is Stop.LIMIT and self.steps >= self._next_look:
            pace.look()
            if pace.is_that_of_the_motion:
                self._by_radau = None
                return self.go_on_as(self._method)
            pace.start_over()
            self._look_later()
        return stop

    @property
    def remark(self) -> str:
        """Which unknown asked for a step that could not be made small enough."""
        work = self._work
        if self._by_radau is not None or not work["worst_error"] > work["worst_allowed"]:
            return ""
        worst = self.problem.model.layout.unknowns[work["worst"]]
        return f"the power series of {worst} does not fit its equation behind any step, however short"


def _low_order(order: int) -> int:
    """The order for steps that events cut short: less to compute, and the step that it allows is long enough."""
    return max(_LEAST_ORDER, 2 * order // 3)


def _is_smooth(problem: Problem, n_watched: int) -> bool:
    """Whether the model has steps in which nothing happens, as whole steps tell that watch so many guards, and nobody looks at them."""
    model = problem.model
    layout = model.layout
    plain = model.mass_kind == 0 and not model.has_opaque and not layout.n_constraints and not layout.n_step_events and not model.past
    # grazings of others are looked for by tolerances that change from step to step
    is_told = bool(model.guards.is_linear.all()) or not len(problem.sensitivity_parameters)
    is_watched = is_told and int((~model.guards.is_time).sum()) == n_watched
    return plain and is_watched and not layout.dropping


def _method(problem: Problem, functions: Mapping[int, SeriesFunctions]) -> Method:
    n = len(problem.model.layout.unknowns)
    full, low = max(functions), min(functions)
    of_full, of_low = functions[full], functions[low]
    caution = {order: caution_of(order, problem.rtol) for order in functions}
    return Method(
        owner=(TAYLOR, RADAU),
        hooks={
            "hook_step": take_step.address, "hook_locate": hooks.taylor_locate.address, "hook_sensitivities": hooks.taylor_sensitivities.address,
            "hook_values": hooks.taylor_values.address, "hook_restart": hooks.taylor_restart.address, "hook_accept": hooks.taylor_accept.address,
            "hook_ahead": hooks.taylor_ahead.address,
            "hook_simple": settle_simply.address if may_be_simple(problem.model) else 0,
            "hook_smooth": take_smooth_steps.address if _is_smooth(problem, of_full.n_guards) else 0,
        },
        degree=full,
        facts={
            "f_step": of_full.address_of_step, "f_step_full": of_full.address_of_step, "f_step_low": of_low.address_of_step,
            "series_order": full, "f_series": of_full.address, "f_series_tangent": of_full.address_of_tangent, "series_caution": caution[full],
            "f_rates": of_full.address_of_rates, "f_followers": of_full.address_of_followers,
            "full_order": full, "f_series_full": of_full.address, "f_series_full_tangent": of_full.address_of_tangent, "full_caution": caution[full],
            "low_order": low if low < full else 0, "f_series_low": of_low.address, "f_series_low_tangent": of_low.address_of_tangent,
            "low_caution": caution[low], "keeps_proposals": 1, "n_far": of_full.n_guards,
            "n_watched": _NOT_ALL if problem.model.n_powers else of_full.n_watched,
            "exponentials": of_full.exponentials, "stages_wanted": stages_for(problem.rtol),
        },
        sizes={"n_series": max(of_full.n_numbers, of_low.n_numbers), "n_series_box": box_size(n, of_full.n_guards)},
    )  # fmt: skip
