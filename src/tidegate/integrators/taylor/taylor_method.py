"""Taylor series behind the interface: the order, the model's functions of power series, hooks and arrays; where the model is stiff, Radau goes on."""

from __future__ import annotations

from dataclasses import replace

from tidegate.compiled.compiled_model import SeriesFunctions
from tidegate.compiled.schema import RADAU, TAYLOR
from tidegate.errors import UsageError
from tidegate.integrators.explicit_problems import check_explicit
from tidegate.integrators.interface import Problem, Stop
from tidegate.integrators.kernel_cache import kernel
from tidegate.integrators.lay_out import Method
from tidegate.integrators.native_run import NativeRun
from tidegate.integrators.radau.stages_for import stages_for
from tidegate.integrators.taylor import hooks
from tidegate.integrators.taylor.step import STIFF_STEPS, take_step

__all__ = ["TaylorIntegrator", "order_for"]


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
        check_explicit(problem, "taylor")
        series = problem.model.series
        if series is None:
            raise UsageError(
                "method 'taylor' needs the equations as expressions, and those of this model can only be called",
                hint="method='radau' integrates it",
            )
        chosen = order or order_for(problem.rtol)
        functions = series.functions(chosen, with_tangent=len(problem.sensitivity_parameters) > 0)
        self._functions = functions
        super().__init__(problem, _method(functions, chosen, stages_for(problem.rtol)))
        self.has_handed_over = False

    def reset(self) -> None:
        """Go back to before ``start``."""
        super().reset()
        self.has_handed_over = False

    def advance(self, budget: int) -> Stop:
        """Run natively for at most ``budget`` steps; from where the model turns out to be stiff on, by Radau IIA."""
        stop = super().advance(budget)
        if stop is not Stop.STEP_TOO_SMALL or self.has_handed_over or self._work["stiff_steps"] < STIFF_STEPS:
            return stop
        self.has_handed_over = True
        radau = kernel("tidegate.integrators.radau.radau_method").radau_by_stages(self._work["stages_wanted"])
        return self.go_on_as(replace(radau, facts={"keeps_proposals": 0}))

    @property
    def remark(self) -> str:
        """Which unknown asked for a step that could not be made small enough."""
        work = self._work
        if self.has_handed_over or not work["worst_error"] > work["worst_allowed"]:
            return ""
        worst = self.problem.model.layout.unknowns[work["worst"]]
        return f"the power series of {worst} does not fit its equation behind any step, however short"


def _method(functions: SeriesFunctions, order: int, stages: int) -> Method:
    return Method(
        owner=(TAYLOR, RADAU),
        hooks={
            "hook_step": take_step.address, "hook_locate": hooks.taylor_locate.address, "hook_sensitivities": hooks.taylor_sensitivities.address,
            "hook_values": hooks.taylor_values.address, "hook_restart": hooks.taylor_restart.address, "hook_accept": hooks.taylor_accept.address,
        },
        degree=order,
        facts={
            "series_order": order, "f_series": functions.address, "f_series_tangent": functions.address_of_tangent, "keeps_proposals": 1,
            "stages_wanted": stages,
        },
        sizes={"n_series": functions.n_numbers},
    )  # fmt: skip
