"""tidegate as a competitor: the models of ``examples``, prepared once and run again and again.

``prepare`` is what is compared with natively driven libraries: a fresh integrator a run, advanced to the end without keeping a trajectory, as
they do. ``prepare_with`` is what a user calls: with every step, every event and the result of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, Final

from benchmarks.outcome import Outcome, Run
from benchmarks.problems import Problem

__all__ = ["EXAMPLES", "load", "model_of", "prepare", "prepare_by", "prepare_with"]

EXAMPLES: Final = {
    "P1": "bouncing_ball",
    "P2": "hidden_crossing",
    "P3": "carver_circuit",
    "P4": "stiff_relay",
    "P6": "robertson",
    "P8": "buck_converter",
}
BUDGET: Final = 10_000_000  # steps; the run comes back earlier when a record buffer is full


def load(key: str) -> Any:
    """The model of one of the examples."""
    return import_module(f"examples.{EXAMPLES[key]}").model


def prepare_with(key: str, t_end: float, options: dict[str, Any]) -> Any:
    """A function without arguments that runs the model from 0 to ``t_end`` and returns its ``Result``, all numbers of which have been looked at."""
    import tidegate as tg

    prepared = tg.prepare(load(key), (0.0, t_end), **options)

    def run() -> Any:
        result = prepared.run()
        _ = result.values, result.events, result.interpolant, result.dense_outputs, result.statistics
        return result

    return run


@cache
def model_of(problem: Problem) -> Any:
    """Its example; or, where there is none, a model from the very function that the competitors get."""
    import tidegate as tg

    n, start, nothing = problem.y0.size, problem.y0.tolist(), ()
    rates, residual = problem.rates, problem.residual
    if problem.key in EXAMPLES:
        return load(problem.key)
    if rates is not None:

        def right_side(t: Any, y: Any) -> list[Any]:
            out: Any = [0.0] * n
            rates(t, y, nothing, nothing, out)
            return out

        return tg.ode(right_side, y0=start)
    if problem.as_given is not None:
        assert problem.back is not None
        return tg.dae(problem.as_given, y0=(problem.back @ problem.y0).tolist(), ydot0=(problem.back @ problem.ydot0).tolist())
    if residual is None:
        raise NotImplementedError

    def left_side(t: Any, y: Any, ydot: Any) -> list[Any]:
        out: Any = [0.0] * n
        residual(t, y, ydot, nothing, nothing, out)
        return out

    return tg.dae(left_side, y0=start, ydot0=problem.ydot0.tolist())


def _names(problem: Problem) -> list[str]:
    return [f"p{k + 1}" for k in range(problem.p.size)]


def prepare(problem: Problem, rtol: float, sensitivities: bool) -> Run:
    """The run by tidegate's own method with the tolerances that every competitor gets, recorded at its end and at its events."""
    return prepare_by("auto", problem, rtol, sensitivities)


def prepare_by(method: str, problem: Problem, rtol: float, sensitivities: bool = False) -> Run:
    """The same by a method of choice."""
    import tidegate as tg
    from tidegate.integrators.interface import Records, Stop

    names = _names(problem) if sensitivities else None
    t_span = (0.0, problem.t_end)
    options = {
        "method": method,
        "rtol": rtol,
        "atol": problem.atol(rtol),
        "sensitivities": names,
        "outputs": t_span[1:],
        "event_rows": False,
        "dense": False,
    }
    prepared = tg.prepare(model_of(problem), t_span, **options)
    layout = prepared.problem.model.layout
    columns = [[column.name for column in layout.columns].index(name) for name in problem.names]

    integrator = prepared.integrator()

    def run() -> Outcome:
        # like SUNDIALS' ReInit for the others: the memory stays, the run begins anew
        integrator.reset()
        records = Records()
        stop = integrator.start()
        while stop is Stop.LIMIT:
            stop = integrator.advance(BUDGET)
            integrator.collect(records)
        if stop is not Stop.TARGET:
            raise RuntimeError(f"stopped at t = {integrator.time:g}: {stop.name}")
        slopes = None
        if names:
            slopes = layout.taken(records.rows[-1]["sensitivities"][-1])[:, columns].T
        return Outcome(layout.taken(records.rows[-1]["values"][-1])[columns], integrator.counters.events, slopes, problem.as_given is not None)

    return run
