"""Why a run stopped, in the user's words: equations, variables and conditions by name and line."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.interface import CompiledModel
from tidegate.compiled.layout import fire_symbol
from tidegate.compiled.opaque import OpaqueCalls, noted_in
from tidegate.errors import (
    CallbackError,
    ChatteringError,
    ClockError,
    ConflictError,
    InitializationError,
    NotFiniteError,
    Origin,
    RunError,
    SingularSystemError,
    StepSizeError,
    UndecidedError,
    UnsettledEventError,
    ZenoError,
)
from tidegate.executive.words import condition_words, shortened
from tidegate.expressions import FALSE, Expr, Role, symbol, walk
from tidegate.expressions.evaluate import evaluate
from tidegate.expressions.printing import text
from tidegate.integrators.interface import Integrator, Problem, Stop

__all__ = ["callback_error", "failure"]

_RECENT: Final = 12  # events looked back over to name what chatters
_SHOWN: Final = 4
_OF_EVENTS: Final = (Stop.UNSETTLED, Stop.CHATTERING, Stop.ZENO, Stop.CONFLICT)  # found on values that are there, by no function that raised
_SAME: Final = 1e-15  # relative distance of two values that are one

# what is said of conditions: the error, a sentence with the conditions, the time and where events accumulate, and what to try
_OF_CONDITIONS: Final[dict[Stop, tuple[type[RunError], str, str]]] = {
    Stop.ZENO: (
        ZenoError,
        "events of {words} accumulate at t = {end:.9g}: the intervals between them shrink to nothing (Zeno behaviour)",
        "end the motion below a threshold, e.g. set the speed to zero when it is small, or stop the run before that time",
    ),
    Stop.CHATTERING: (
        ChatteringError,
        "{words} switches back and forth at t = {t:.9g} without time advancing (chattering)",
        "both sides push the trajectory back onto the switching surface: give the condition hysteresis, or model sliding along it",
    ),
    Stop.UNDECIDED_GUARD: (
        UndecidedError,
        "whether {words} changes just behind t = {t:.9g} cannot be decided, however short the step: nothing is known of its values there",
        "look for a pole in it, or an angle of atan2 that stays where it jumps by a turn, and write the condition without",
    ),
}
_COMES_TO_REST: Final = (
    ZenoError,
    "the event at t = {t:.9g} brings the motion to rest on {words}, and it would go on through it as if nothing had happened",
    (
        "end the motion with a mode: a discrete variable that the event sets and the equations look at; where going on is meant, "
        "let the event note itself in a discrete variable too"
    ),
)


def callback_error(calls: OpaqueCalls, t: float) -> CallbackError | None:
    """What the user's function raised when native code was last entered, if anything.

    Raises
    ------
    BaseException : what is no Exception goes on as it is.
    """
    if calls.stopped_by is not None:
        raise calls.stopped_by
    if calls.error is None:
        return None
    error = CallbackError(f"the function {calls.name} raised {type(calls.error).__name__}: {calls.error} at t = {t:g}", time=t)
    error.__cause__ = calls.error
    return error


def failure(stop: Stop, problem: Problem, integrator: Integrator, recent: NDArray[np.float64], *, at_start: bool) -> RunError:
    """The exception for a run that stopped; ``recent`` are the last entries of the event log."""
    raised = callback_error(integrator.calls, integrator.time)
    if raised is not None and stop not in _OF_EVENTS:
        return raised
    error = _of_the_model(stop, problem, integrator, recent, at_start=at_start)
    if integrator.remark:
        error.add(integrator.remark)
    return error


def _of_the_model(stop: Stop, problem: Problem, integrator: Integrator, recent: NDArray[np.float64], *, at_start: bool) -> RunError:
    t = integrator.time
    compiled = problem.model
    if stop is Stop.NOT_FINITE:
        return _not_finite(problem, integrator)
    if stop is Stop.SINGULAR:
        return _singular(problem, integrator, at_start=at_start)
    if stop is Stop.RESTART_FAILED:
        where = "at the start" if at_start else f"after the event at t = {t:g}"
        names = _some([s.data.name for s, alg in zip(compiled.layout.unknowns, compiled.algebraic, strict=True) if alg])
        return InitializationError(
            f"no values of {names} were found {where} that satisfy the algebraic equations",
            time=t,
            hint="give start values closer to a solution; check that the equations have one for the values of the states",
        )
    if stop is Stop.CONFLICT:
        return _conflict(problem, integrator)
    if stop is Stop.UNSETTLED:
        return _unsettled(problem, integrator, recent)
    if stop in _OF_CONDITIONS:
        accumulates = stop is not Stop.ZENO or not math.isnan(integrator.zeno_time)
        kind, sentence, hint = _OF_CONDITIONS[stop] if accumulates else _COMES_TO_REST
        words, origin = _culprits(compiled, recent, integrator.failed_guard)
        return kind(sentence.format(words=words, t=t, end=integrator.zeno_time), time=t, origin=origin, hint=hint)
    if stop is Stop.CLOCK_STOPPED:
        return _stopped_clock(problem, integrator)
    return _step_size(problem, integrator)


def _unsettled(problem: Problem, integrator: Integrator, recent: NDArray[np.float64]) -> RunError:
    """Name the clauses that make each other happen, their conditions and what they change; where no clause does, the relations that flip."""
    t, compiled = integrator.time, problem.model
    numbers = [k for k, on in enumerate(integrator.fired) if on and compiled.transitions.fires[k].label]
    if not numbers:
        words, origin = _culprits(compiled, recent, integrator.failed_guard)
        return UnsettledEventError(
            f"the event at t = {t:.9g} does not come to rest: {words} keeps changing by what follows from it at the same instant",
            time=t,
            origin=origin,
            hint="compare with something that does not jump by it, let a discrete variable hold what was decided, or make the condition hysteretic",
        )
    changed = [
        target.data.name for target, writers in compiled.transitions.writers.items() if any(writer.fire in numbers for writer in writers)
    ]
    clauses = " and ".join(_clause(compiled, k) for k in numbers[:_SHOWN]) + (f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else "")
    each = "each other's conditions" if len(numbers) > 1 else "its own condition"
    return UnsettledEventError(
        f"the event at t = {t:.9g} does not come to rest: {clauses} {'keep' if len(numbers) > 1 else 'keeps'} changing "
        f"{_some(changed) or 'something'}, and with it {each}",
        time=t,
        hint=f"let the condition look at tg.pre({changed[0] if changed else '...'}), the value before, or make it hysteretic",
    )


def _clause(compiled: CompiledModel, number: int) -> str:
    """A clause with its conditions and where it stands."""
    fire, known = compiled.transitions.fires[number], compiled.model.condition_origins
    branches = [branch for when in compiled.model.whens for branch in when.branches if (branch.label, branch.origin) == (fire.label, fire.origin)]
    conditions = [item for branch in branches[:1] for item in branch.conditions[:_SHOWN]]
    words = [f"`{condition_words(item, known.get(item))}`" for item in conditions]
    about = ", ".join([" or ".join(words)] * bool(words) + [f"at {fire.origin}"] * bool(str(fire.origin)))
    return f"{fire.label} ({about})" if about else fire.label


def _conflict(problem: Problem, integrator: Integrator) -> RunError:
    """Name two clauses that do not agree; their flags still stand in m, and nothing has been written."""
    t, compiled = integrator.time, problem.model
    fires = compiled.transitions.fires
    values = _values(problem, integrator)
    for target, writers in compiled.transitions.writers.items():
        happening = [w for w in writers if values[fire_symbol(w.fire)]]
        most = min((fires[w.fire].priority for w in happening), default=0)
        given = [(fires[w.fire], evaluate([w.value], values)[0]) for w in happening if fires[w.fire].priority == most]
        first = given[0] if given else None
        other = next((item for item in given if first is not None and not math.isclose(item[1], first[1], rel_tol=_SAME)), None)
        if first is not None and other is not None:
            both = " and ".join(f"{fire.label or 'a clause'}{f' (at {fire.origin})' if str(fire.origin) else ''}" for fire, _ in (first, other))
            return ConflictError(
                f"at t = {t:.9g} {both} happen together and give {target.data.name} different values: {first[1]:.9g} and {other[1]:.9g}",
                time=t,
                hint="say which goes first, by a chain (elsewhen) or by priority=..., or let one clause do what both together are to do",
            )
    return ConflictError(f"at t = {t:.9g} clauses happen together and give one variable different values", time=t)


def _stopped_clock(problem: Problem, integrator: Integrator) -> RunError:
    clock, following = integrator.stopped_clock
    event = problem.model.model.time_events[clock]
    return ClockError(
        f"the clock {event.label or clock + 1} would never tick again: its period is {following - integrator.time:.6g} at t = {integrator.time:.9g}",
        time=integrator.time,
        origin=event.origin,
        hint="keep its period positive, e.g. max(period, 1e-3); to stop a clock for a while let its body look at a discrete variable",
    )


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _culprits(compiled: CompiledModel, recent: NDArray[np.float64], guard: int) -> tuple[str, Origin | None]:
    """The conditions behind the last events, most frequent first."""
    known = compiled.model.condition_origins
    if guard >= 0:
        source = compiled.guards[guard].source
        return f"`{condition_words(source, known.get(source))}`", known.get(source)
    causes = [int(k) for k in recent[-_RECENT:, 2] if k >= 0]
    guards = sorted(set(causes), key=causes.count, reverse=True)[:_SHOWN]
    if not guards:
        return "its time events", None
    sources = [compiled.guards[k].source for k in guards]
    return " and ".join(f"`{condition_words(s, known.get(s))}`" for s in sources), known.get(sources[0])


def _values(problem: Problem, integrator: Integrator) -> dict[Expr, float]:
    layout = problem.model.layout
    values: dict[Expr, float] = {symbol(Role.TIME, "time"): integrator.time}
    values |= dict(zip(layout.unknowns, integrator.y.tolist(), strict=True))
    values |= dict(zip(layout.parameters, problem.p.tolist(), strict=True))
    values |= dict(zip(layout.m_symbols(), integrator.m.tolist(), strict=True))
    return values | {symbol(Role.DERIVATIVE, s.data.name): 0.0 for s in layout.unknowns}


def _not_finite(problem: Problem, integrator: Integrator) -> RunError:
    """Name the equation that is not finite at the last good point, or, if all are, the one nearest to overflow just behind it."""
    model = problem.model.model
    values = _values(problem, integrator)
    for index, equation in enumerate(model.equations):
        (number,) = evaluate([equation.residual], values)
        if not np.isfinite(number):
            label = equation.label or f"equation {index + 1}"
            return NotFiniteError(
                f"{label} gives {number} at t = {integrator.time:g}: {shortened(text(equation.residual))}",
                time=integrator.time,
                origin=equation.origin,
                hint="look for a division by zero, the root or logarithm of a negative number; guard it with `if` or tg.where",
            )
    compiled = problem.model
    known = model.condition_origins
    activity = [FALSE if condition is None else condition for condition in compiled.activity]
    for place, (guard, active) in enumerate(zip(compiled.guards, evaluate(activity, values), strict=True)):
        if active and (place == integrator.failed_guard or np.isnan(evaluate([guard.function], values)[0])):
            return NotFiniteError(
                f"the condition `{condition_words(guard.source, known.get(guard.source))}` compares NaN at t = {integrator.time:g}",
                time=integrator.time,
                origin=known.get(guard.source),
                hint="look for the root or logarithm of a negative number in it; put `and` with the condition that it exists in front",
            )
    return NotFiniteError(
        f"the equations give NaN or infinity just behind t = {integrator.time:.9g}, however short the step; {_largest(problem, integrator)}",
        time=integrator.time,
        origin=_suspect(problem, integrator),
        hint="the solution may leave the domain of a root or logarithm, or run to infinity at a finite time",
    )


def _largest(problem: Problem, integrator: Integrator) -> str:
    names = [s.data.name for s in problem.model.layout.unknowns]
    if not names:
        return "the model has no continuous variables"
    worst = int(np.argmax(np.abs(integrator.y)))
    return f"the largest variable there is {names[worst]} = {integrator.y[worst]:g}"


def _suspect(problem: Problem, integrator: Integrator) -> Origin | None:
    """The first equation with a division, root, logarithm or power near the end of its domain: where NaN usually comes from."""
    values = _values(problem, integrator)
    for equation in problem.model.model.equations:
        for item in walk([equation.residual]):
            if item.op in ("sqrt", "log", "div", "pow", "asin", "acos"):
                argument = item.args[-1] if item.op == "div" else item.args[0]
                (number,) = evaluate([argument], values)
                if abs(number) < 1e-3 or number < 0:
                    return equation.origin
    return None


def _jacobian(problem: Problem, integrator: Integrator) -> NDArray[np.float64]:
    import ctypes

    n = len(problem.model.layout.unknowns)
    out = np.zeros((n, n))
    pointer = ctypes.POINTER(ctypes.c_double)
    function = ctypes.CFUNCTYPE(None, ctypes.c_double, pointer, pointer, pointer, pointer)(problem.model.addresses["jacobian"])
    vectors = [np.ascontiguousarray(v).ctypes.data_as(pointer) for v in (integrator.y, problem.p, integrator.m)]
    with noted_in(OpaqueCalls()):
        function(integrator.time, *vectors, out.ctypes.data_as(pointer))
    return out


def _singular(problem: Problem, integrator: Integrator, *, at_start: bool) -> RunError:
    """Name the algebraic unknowns that the equations leave open, by the null space of their Jacobian."""
    compiled = problem.model
    names = [s.data.name for s in compiled.layout.unknowns]
    algebraic = np.flatnonzero(compiled.algebraic)
    where = "at the start" if at_start else f"at t = {integrator.time:g}"
    if "jacobian" in compiled.addresses and algebraic.size:
        jac = _jacobian(problem, integrator)
        _, _, right = np.linalg.svd(np.nan_to_num(jac[:, algebraic]))
        weights = np.abs(right[-1])
        loose = [names[int(algebraic[k])] for k in np.argsort(-weights) if weights[k] > 0.1 * weights.max()]
    else:
        loose = names
    equations = [k for k in compiled.equations if k >= 0]
    origin = compiled.model.equations[equations[0]].origin if equations else None
    return SingularSystemError(
        f"the equations do not determine {_some(loose)} {where}: the system of algebraic equations is singular there",
        time=integrator.time,
        origin=origin,
        hint="an equation may have lost its unknown in this mode, two may say the same, or the index is above one: differentiate a constraint",
    )


def _step_size(problem: Problem, integrator: Integrator) -> RunError:
    return StepSizeError(
        f"the step size became too small to go on at t = {integrator.time:.9g}; {_largest(problem, integrator)}",
        time=integrator.time,
        hint="the solution may run to infinity, or a jump hides in an opaque function; a looser rtol tells which",
    )
