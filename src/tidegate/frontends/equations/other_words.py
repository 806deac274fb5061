"""What arguments of `tg.ode`, `tg.dae`, `tg.hdae` and `tg.event` are called elsewhere (front end of plain functions). Names in, hints out.

The words are those of SciPy, SUNDIALS, MATLAB's ODE suite, Modelica and SimPy; who writes one is told where the same thing is here.
"""

from __future__ import annotations

from typing import Final

__all__ = ["OF_EVENTS", "OF_MODELS"]

_VALUES: Final = "p={name: value}, read in the functions as p.name"
_START: Final = "y0={name: value}"
_DONE: Final = "reset=lambda t, y: {name: value}, the values behind the event"
_NOTHING: Final = "nothing: derivatives are made from the function itself"
_RUN: Final = "it belongs to the run: tg.simulate(model, (0, 10), ...)"

OF_MODELS: Final = {
    "parameters": _VALUES, "params": _VALUES, "param": _VALUES, "args": _VALUES, "constants": _VALUES,
    "x0": _START, "initial": _START, "initial_values": _START, "states": _START, "u0": _START, "ic": _START,
    "jac": _NOTHING, "jacobian": _NOTHING, "jac_sparsity": _NOTHING,
    "event": "events=[tg.event(condition, reset=...)]",
    "callback": "events=[tg.event(condition, reset=...)]",
    "output": "outputs=lambda t, y: {name: value}",
    "observed": "outputs=lambda t, y: {name: value}",
    "inputs": "tg.simulate(model, (0, 10), inputs={name: function or table}) gives a parameter values over time",
    "unit": "units={name: text}",
    "t_span": _RUN, "tspan": _RUN, "rtol": _RUN, "atol": _RUN, "method": _RUN, "sensitivities": _RUN, "t_eval": _RUN,
}  # fmt: skip

OF_EVENTS: Final = {
    "direction": "the comparison says it: lambda t, y: y.h < 0 where h falls, y.h > 0 where it rises; a list of both is either",
    "guard": "condition=lambda t, y: y.h < 0, the first argument",
    "when": "condition=lambda t, y: y.h < 0, the first argument",
    "effect": _DONE, "affect": _DONE, "action": _DONE, "callback": _DONE, "then": _DONE, "do": _DONE, "update": _DONE, "jump": _DONE,
    "reinit": _DONE,
    "stop": "terminal=True", "isterminal": "terminal=True", "terminate": "terminal=True",
    "period": "every=0.1", "interval": "every=0.1", "sample_time": "every=0.1", "dt": "every=0.1", "step": "every=0.1",
    "offset": "start=0.05, the time of the first tick", "phase": "start=0.05, the time of the first tick",
    "time": "at=2.0, or at=[1.0, 2.0]", "times": "at=[1.0, 2.0]", "t": "at=2.0, or at=[1.0, 2.0]",
    "initial": "at_start=True",
    "events": "each is a tg.event of its own: tg.ode(..., events=[tg.event(...), tg.event(...)])",
}  # fmt: skip
