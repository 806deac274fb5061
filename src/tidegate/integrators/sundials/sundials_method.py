"""IDAS and CVODES behind the interface: their objects on the workspace's memory, tolerances, callbacks, and what they say when they fail.

Sensitivities are staggered and under error control, each with absolute tolerances scaled by the size of its parameter. Linear algebra is ours.
"""

from __future__ import annotations

import weakref
from ctypes import addressof, c_int64
from typing import Any, Final

import numpy as np

from tidegate.compiled.schema import SUNDIALS
from tidegate.errors import UsageError
from tidegate.integrators.explicit_problems import check_explicit, hidden_algebraic
from tidegate.integrators.interface import Counters, Problem, Stop
from tidegate.integrators.lay_out import Method
from tidegate.integrators.native_run import NativeRun
from tidegate.integrators.sundials import cvodes, idas, model_functions, multistep
from tidegate.integrators.sundials.library import CODE, HANDLE, NUMBER, c_function
from tidegate.integrators.sundials.objects import Objects

__all__ = ["SundialsIntegrator"]

_ORDERS: Final = {"ida": 5, "bdf": 5, "adams": 12}
_MULTISTEP: Final = {"adams": 1, "bdf": 2}
_ADDED_UP: Final = 100.0  # of the tolerance: errors of multistep methods add up to some ten of it, and are made of many small ones
_ANY: Final = 1e100
_OF_DIFFERENCES: Final = 1e-6  # the tightest relative tolerance of derivatives by parameters where gradients of constraints are differences
_MOST_ERROR_TESTS: Final = 200  # of one step, which is made a fraction each time; their own limits are 7 and 10


def _method(name: str) -> Method:
    if name == "ida":
        step, sensitivities, values, restart = idas.ida_step, idas.ida_sensitivities_at, idas.ida_values, idas.ida_restart
    else:
        step, sensitivities, values, restart = cvodes.cvode_step, cvodes.cvode_sensitivities_at, cvodes.cvode_values, cvodes.cvode_restart
    return Method(
        owner=SUNDIALS,
        hooks={
            "hook_step": step.address, "hook_locate": multistep.sundials_locate.address, "hook_sensitivities": sensitivities.address,
            "hook_values": values.address, "hook_restart": restart.address, "hook_accept": multistep.sundials_accept.address,
        },
        degree=_ORDERS[name],
        facts={"starts_coarse": int(name != "ida"), "smooths_rates": 1, "reach_factor": _ADDED_UP},
    )  # fmt: skip


class SundialsIntegrator(NativeRun):
    """One run by IDAS (ida) or CVODES (bdf, adams).

    Parameters
    ----------
    problem : what to run.
    name : "ida", "bdf" or "adams".

    Raises
    ------
    UsageError : CVODES was asked to solve equations with algebraic unknowns.
    """

    takes_others = False  # memory of its own is made from the values

    def __init__(self, problem: Problem, name: str) -> None:
        if name != "ida":
            check_explicit(problem, name)
        super().__init__(problem, _method(name))
        self._name = name
        self._objects: Objects | None = None
        n = len(problem.model.layout.unknowns)
        if n > 0:
            self._objects = objects = Objects(n)
            weakref.finalize(self, objects.free)
            self._make(objects, n)
            self._fresh = [(block, block.copy()) for block in self._work.lasting]

    def _make(self, objects: Objects, n: int) -> None:
        problem, work = self.problem, self._work
        prefix = "IDA" if self._name == "ida" else "CVode"
        for handle, array in (("sun_y", "y"), ("sun_ydot", "ydot"), ("sun_end", "y_end")):
            work[handle] = objects.vector(work.numbers(array))
        for handles, array in (
            ("sun_coefficients", "coefficients"), ("sun_sens", "sens"), ("sun_sens_dot", "sens_dot"), ("sun_sens_end", "sens_end"),
            ("sun_sens_out", "sens_out"),
        ):  # fmt: skip
            work.integers(handles)[:] = [objects.vector(row) for row in work.numbers(array).reshape(-1, n)]
        y, t = work["sun_y"], problem.t_start
        if self._name == "ida":
            created = c_function("IDACreate", HANDLE, HANDLE)(objects.context)
            work["sun_memory"] = objects.memory(created, "IDAFree")
            self._call(objects, "IDAInit", model_functions.ida_residual.address, t, y, work["sun_ydot"])
            system = "IDASetJacFn", model_functions.ida_system.address
        else:
            created = c_function("CVodeCreate", HANDLE, CODE, HANDLE)(_MULTISTEP[self._name], objects.context)
            work["sun_memory"] = objects.memory(created, "CVodeFree")
            self._call(objects, "CVodeInit", model_functions.cvode_rhs.address, t, y)
            system = "CVodeSetLinSysFn", model_functions.cvode_system.address
            work["sun_explicit"] = 1
        # where all is at rest its own first step is a part of the run, whatever the tolerance
        self._call(objects, f"{prefix}SetMaxErrTestFails", _MOST_ERROR_TESTS)
        self._call(objects, f"{prefix}WFtolerances", model_functions.weights.address)
        self._call(objects, f"{prefix}SetUserData", work.h.ctypes.data)
        if self._name == "ida" and problem.model.index_two is not None and problem.model.index_two.any():
            # of index two: what they are wrong by does not grow smaller with the order, nor do the others see it (Hindmarsh et al., IDA's user guide)
            counted = np.where(problem.model.index_two, 0.0, 1.0)
            self._call(objects, "IDASetId", objects.vector(counted))
            self._call(objects, "IDASetSuppressAlg", 1)
        solver = objects.linear_solver(work.h.ctypes.data, model_functions.factor_system, model_functions.solve_system)
        self._call(objects, f"{prefix}SetLinearSolver", *solver)
        self._call(objects, *system)
        # A matrix of an earlier step, where the system was stiffer, makes all corrections small, and convergence and errors are judged by these:
        # steps were taken whose values had nothing to do with the equations. So each step has a matrix of its own.
        every_step = ("IDASetDeltaCjLSetup", 0.0) if self._name == "ida" else ("CVodeSetLSetupFrequency", 1)
        self._call(objects, *every_step)
        if np.isfinite(problem.step_max):
            self._call(objects, f"{prefix}SetMaxStep", float(problem.step_max))
        if len(problem.sensitivity_parameters):
            self._make_sensitivities(objects, prefix)

    def _make_sensitivities(self, objects: Objects, prefix: str) -> None:
        problem, work = self.problem, self._work
        count = len(problem.sensitivity_parameters)
        s, sdot = (work.integers(handles).ctypes.data for handles in ("sun_sens", "sun_sens_dot"))
        if self._name == "ida":
            self._call(objects, "IDASensInit", count, idas.STAGGERED, model_functions.ida_sensitivities.address, s, sdot)
        else:
            self._call(objects, "CVodeSensInit", count, cvodes.STAGGERED, model_functions.cvode_sensitivities.address, s)
        size = np.abs(problem.p[problem.sensitivity_parameters])
        size[size == 0.0] = 1.0
        atol = work.numbers("atol").copy()
        if self._name == "ida":
            # Derivatives of algebraic unknowns follow from those of the others, and are left to them: behind a choice of states, or where states are
            # tied, the order is one, and what is left of that in the S of a multiplier would hold it there over thousands of steps.
            atol[problem.model.algebraic] = _ANY
        # differences of constraints that can only be called are no better, and their noise would be taken for errors of the step
        is_constrained = problem.model.index_two is not None and problem.model.has_opaque
        rtol = max(problem.rtol, _OF_DIFFERENCES) if is_constrained else problem.rtol
        atol *= rtol / problem.rtol
        # kept by the list until SUNDIALS has copied them
        limits = [np.ascontiguousarray(atol / one) for one in size]
        vectors = np.array([objects.vector(limit) for limit in limits], dtype=np.int64)
        self._call(objects, f"{prefix}SensSVtolerances", float(rtol), vectors.ctypes.data)
        self._call(objects, f"{prefix}SetSensErrCon", 1)

    def _call(self, objects: Objects, name: str, *arguments: Any) -> None:
        """Call a function that sets something up; its types follow from the arguments."""
        kinds = [NUMBER if isinstance(a, float) else HANDLE for a in arguments]
        flag = c_function(name, CODE, HANDLE, *kinds)(self._work["sun_memory"], *arguments)
        if flag != 0:
            raise UsageError(f"SUNDIALS refused {name}: {objects.sentence}", hint="method='radau' is our own")

    def start(self) -> Stop:
        """Find consistent start values; Stop.LIMIT if the run may go on.

        Raises
        ------
        UsageError : CVODES was asked to solve equations that hide algebraic ones: derivatives stand in them in the same combinations as in others.
        """
        stop = super().start()
        n, rank = self._work["n"], self._work["rank"]
        if stop is Stop.SINGULAR and self._name != "ida" and rank < n:
            raise hidden_algebraic(self._name, n, rank)
        return stop

    @property
    def counters(self) -> Counters:
        """What has been done, with what SUNDIALS has counted since its last restart."""
        done = super().counters
        if self._objects is None:
            return done
        prefix = "IDA" if self._name == "ida" else "CVode"
        live: list[int] = []
        for name in ("ErrTestFails", "NonlinSolvIters", "NonlinSolvConvFails"):
            word = c_int64()
            c_function(f"{prefix}GetNum{name}", CODE, HANDLE, HANDLE)(self._work["sun_memory"], addressof(word))
            live.append(word.value)
        return done._replace(
            rejected=done.rejected + live[0],
            newton_iterations=done.newton_iterations + live[1],
            newton_failures=done.newton_failures + live[2],
        )

    @property
    def remark(self) -> str:
        """What SUNDIALS said last, if it failed."""
        if self._objects is None or self._work["sun_flag"] >= 0:
            return ""
        return f"SUNDIALS says: {self._objects.sentence}"
