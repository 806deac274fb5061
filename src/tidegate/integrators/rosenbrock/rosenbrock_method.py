"""Rodas5P behind the interface: its arrays, its hooks, and the equations it does not solve."""

from __future__ import annotations

from tidegate.compiled.schema import RADAU, ROSENBROCK, SUNDIALS
from tidegate.errors import UsageError
from tidegate.integrators.interface import Problem
from tidegate.integrators.lay_out import Method
from tidegate.integrators.native_run import NativeRun
from tidegate.integrators.rosenbrock import hooks
from tidegate.integrators.rosenbrock.step import DEGREE, take_step

__all__ = ["RosenbrockIntegrator"]


class RosenbrockIntegrator(NativeRun):
    """One run by Rodas5P.

    Raises
    ------
    UsageError : the equations are those of a constrained system in a form of index two.
    """

    def __init__(self, problem: Problem) -> None:
        index_two = problem.model.index_two
        if index_two is not None and index_two.any():
            raise UsageError("method 'rodas5p' does not solve equations of index two", hint="method='radau' does; or hdae='index1'")
        super().__init__(problem, _METHOD.with_rates(problem))


_METHOD = Method(
    owner=(ROSENBROCK, RADAU, SUNDIALS),
    hooks={
        "hook_step": take_step.address, "hook_locate": hooks.rosenbrock_locate.address,
        "hook_sensitivities": hooks.rosenbrock_sensitivities.address, "hook_values": hooks.rosenbrock_values.address,
        "hook_restart": hooks.rosenbrock_restart.address, "hook_accept": hooks.rosenbrock_accept.address,
    },
    degree=DEGREE,
    facts={"stages_wanted": 3},
)  # fmt: skip
