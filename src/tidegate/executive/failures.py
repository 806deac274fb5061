"""Why a run stopped, in the user's words: equations, variables and conditions by name and line."""

from __future__ import annotations

import math
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callbacks import OpaqueCalls, value_at
from tidegate.compiled.compiled_model import CompiledModel
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
    told,
)
from tidegate.events.not_tied import FORCES, MOST_TIED, NONE_FOUND, NONE_HOLDS, TOO_LARGE, VARIES, WITH_SENSITIVITIES
from tidegate.integrators.interface import Problem, StepIntegrator, Stop
from tidegate.names import listed, users_name
from tidegate.results import Event, Result
from tidegate.wishes import RetryStep

__all__ = ["callback_error", "failure", "jumped"]

_OUTSIDE: Final = (
    "an index or a table may be outside there, as samples[int(t)] is behind the end of samples; otherwise look for a division by zero or a root"
)
_RECENT: Final = 12  # events looked back over to name what chatters
_MOST_EXAMINED: Final = 1000  # algebraic unknowns whose null space is computed
_SHOWN: Final = 4
_OF_EVENTS: Final = (Stop.UNSETTLED, Stop.CHATTERING, Stop.ZENO, Stop.CONFLICT)  # found on values that are there, by no function that raised

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
# what is said of modes that tie states
_NOT_TIED: Final = {
    VARIES: (
        "in a way that changes while they do, which is not integrated",
        "let the tie give way a little (a leak such as Goff, a resistance such as Ron), or write its derivative",
    ),
    TOO_LARGE: (
        f"and there are more than the {MOST_TIED} with which that is integrated",
        "let the tie give way a little: a leak such as Goff, a resistance such as Ron",
    ),
    WITH_SENSITIVITIES: (
        "where derivatives by parameters are not computed",
        "leave out sensitivity=..., or let the tie give way a little (a leak such as Goff, a resistance such as Ron)",
    ),
}
_NONE_HOLDS: Final = (
    "no combination of its conditions that was tried gives a solution in which they hold: a source may be short-circuited, a current "
    "interrupted, or two ideal parts side by side share a current that nothing divides, as two brakes do that hold one shaft; a small resistance "
    "such as Ron, or a leak such as Goff, says what is meant"
)
_NONE_FOUND: Final = (
    "of the conditions there are too many to try all combinations; those that followed one from the other, as each try showed what was wrong, "
    "led to none that holds: there may be none, as where two brakes hold one shaft and nothing says what each of them carries; give some of the "
    "parts a small resistance such as Ron, or a leak such as Goff"
)
_KEEP_IT: Final = "let the event set values that keep it"
_COMES_TO_REST: Final = (
    ZenoError,
    "the event at t = {t:.9g} brings the motion to rest on {words}, and it would go on through it as if nothing had happened",
    (
        "end the motion with a mode: a discrete variable that the event sets and the equations look at; where going on is meant, "
        "let the event note itself in a discrete variable too"
    ),
)


def callback_error(calls: OpaqueCalls, t: float) -> CallbackError | StepSizeError | None:
    """What the user's function raised when native code was last entered, if anything.

    Raises
    ------
    BaseException : what is no Exception goes on as it is.
    """
    if calls.stopped_by is not None:
        raise calls.stopped_by
    if calls.error is None:
        return None
    if isinstance(calls.error, RetryStep):
        return StepSizeError(f"{calls.name}: no step behind t = {t:.9g} is short enough for what was asked: {calls.error}", time=t)
    error = CallbackError(f"the function {calls.name} raised {type(calls.error).__name__}: {calls.error} at t = {t:g}", time=t)
    error.__cause__ = calls.error
    return error


def failure(stop: Stop, problem: Problem, integrator: StepIntegrator, recent: NDArray[np.void] | None, *, at_start: bool) -> RunError:
    """The exception for a run that stopped; ``recent`` are the last entries of the event log."""
    raised = callback_error(integrator.calls, integrator.time)
    if raised is not None and stop not in _OF_EVENTS:
        return raised
    error = _of_the_model(stop, problem, integrator, recent, at_start=at_start)
    if integrator.remark:
        error.add(integrator.remark)
    return error


def jumped(event: Event, name: str, problem: Problem, result: Result) -> RunError:
    """The exception for a run in which a declared state jumps with others that do not, since a constraint between them jumps."""
    before, after = event.before[name], event.after[name]
    error = InitializationError(
        f"{name} jumps from {before:.6g} to {after:.6g} at t = {event.time:.9g} ({event.cause}), though nothing gave it a value: "
        f"{problem.model.followers[name]}, which changes there at once; what makes it jump would make others jump with it, and by how much no "
        "equation says",
        time=event.time,
        hint="let the constraint change continuously (of positions its derivative, too), or let the event give values to the states that are tied",
    )
    error.result = result
    return error


def _of_the_model(stop: Stop, problem: Problem, integrator: StepIntegrator, recent: NDArray[np.void] | None, *, at_start: bool) -> RunError:
    t = integrator.time
    compiled = problem.model
    if stop in (Stop.NOT_FINITE, Stop.RESTART_FAILED) or stop in _OF_CONDITIONS:
        statement = _ending(problem, integrator)
        if statement is not None:
            return _ended(statement, t)
    if stop is Stop.NOT_FINITE:
        return _not_finite(problem, integrator)
    if stop is Stop.POLE:
        return _pole(problem, integrator)
    if stop is Stop.SINGULAR:
        return _singular(problem, integrator, at_start=at_start)
    if stop is Stop.RESTART_FAILED:
        where = "at the start" if at_start else f"after the event at t = {t:g}"
        names = listed((name for name, alg in zip(compiled.layout.unknowns, compiled.algebraic, strict=True) if alg), _SHOWN)
        return InitializationError(
            f"no values of {names} were found {where} that satisfy the algebraic equations",
            time=t,
            hint="give start values closer to a solution; check that the equations have one for the values of the states",
        )
    if stop is Stop.OFF_CONSTRAINTS:
        return _off_constraints(problem, integrator)
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
    if stop is Stop.DELAY_VANISHED:
        return _no_delay(problem, integrator)
    if stop is Stop.NO_SENSITIVITIES:
        return StepSizeError(
            f"the sensitivities do not converge in the step behind t = {t:.9g}: the equations change too much within it",
            time=t,
            hint="a smaller step_max or rtol, or method='ida'; the solution itself is not affected",
        )
    return _step_size(problem, integrator)


def _no_delay(problem: Problem, integrator: StepIntegrator) -> RunError:
    """Name the delay that varies and has come to nothing."""
    looks, t = problem.model.past, integrator.time
    when = looks.whens[integrator.failed_guard] if looks is not None else 0
    what = problem.model.layout.unknowns[when].removeprefix("when ").removesuffix(" looks back at")
    ago = t - integrator.y[when]
    return StepSizeError(
        f"{what} would be of {ago:.3g} ago at t = {t:.9g}, and a delay must be positive all the time",
        time=t,
        hint="a delay that cannot come to nothing, as 0.01 + abs(tau(y)), or an event that ends the run before",
    )


def _off_constraints(problem: Problem, integrator: StepIntegrator) -> RunError:
    """Name the constraint that an event has left."""
    t, compiled = integrator.time, problem.model
    number, is_derivative, size = integrator.off_constraints
    label = [label for part, label in compiled.constraint_parts if part > 3][number]
    if is_derivative:
        return InitializationError(
            f"the event at t = {t:.9g} leaves {label} of {compiled.name} in its derivatives by parameters: off by {size:.3g}",
            time=t,
            hint="let the reset keep the constraint whatever the parameters are",
        )
    if compiled.makes_consistent:
        why = "values could not be moved onto it" if not len(problem.sensitivity_parameters) else "with sensitivities values are not moved onto it"
        return InitializationError(f"the event at t = {t:.9g} leaves {label} of {compiled.name}: {size:.6g}; {why}", time=t, hint=_KEEP_IT)
    return InitializationError(
        f"the event at t = {t:.9g} leaves {label} of {compiled.name}, which is zero no longer: {size:.6g}",
        time=t,
        hint=_KEEP_IT + ", or have x1 moved onto it by the smallest change: make_consistent=True",
    )


def _unsettled(problem: Problem, integrator: StepIntegrator, recent: NDArray[np.void] | None) -> RunError:
    """Name the clauses that make each other happen, their conditions and what they change; where no clause does, the relations that flip."""
    t, compiled = integrator.time, problem.model
    numbers = [k for k, on in enumerate(integrator.fired) if on and compiled.event_actions[k].label]
    if not numbers:
        words, origin = _culprits(compiled, recent, integrator.failed_guard)
        return UnsettledEventError(
            f"the event iteration at t = {t:.9g} does not converge: {words} keeps changing by what follows from it at the same instant",
            time=t,
            origin=origin,
            hint="compare with something that does not jump by it, let a discrete variable hold what was decided, or make the condition hysteretic",
        )
    changed = list(dict.fromkeys(users_name(name) for k in numbers for name in compiled.event_actions[k].targets))
    clauses = listed(map(compiled.words.clause, numbers), _SHOWN, " and ")
    each = "each other's conditions" if len(numbers) > 1 else "its own condition"
    return UnsettledEventError(
        f"the event iteration at t = {t:.9g} does not converge: {clauses} {'keep' if len(numbers) > 1 else 'keeps'} changing "
        f"{listed(changed, _SHOWN) or 'something'}, and with it {each}",
        time=t,
        hint=f"let the condition look at tg.pre({changed[0] if changed else '...'}), the value before, or make it hysteretic",
    )


def _conflict(problem: Problem, integrator: StepIntegrator) -> RunError:
    """Name two clauses that do not agree; their flags still stand in m, and nothing has been written."""
    t, model = integrator.time, problem.model
    found = model.diagnosis.disagreement(integrator)
    if found is None:
        return ConflictError(f"at t = {t:.9g} clauses happen together and give one variable different values", time=t)
    event_actions = [model.event_actions[k] for k in found.event_actions]
    both = " and ".join(event_action.label or "a clause" for event_action in event_actions)
    target = users_name(found.target)
    # which clause an equation is of is a number of ours
    values = f": {' and '.join(f'{value:.9g}' for value in found.values)}" if target == found.target else ""
    places = "".join(f"\n  {item.label or 'a clause'} at {told(item.origin)}" for item in event_actions if str(item.origin))
    return ConflictError(
        f"at t = {t:.9g} {both} happen together and give {target} different values{values}{places}",
        time=t,
        hint="say which goes first, by a chain (elsewhen) or by priority=..., or let one clause do what both together are to do",
    )


def _stopped_clock(problem: Problem, integrator: StepIntegrator) -> RunError:
    clock, following = integrator.stopped_clock
    event = problem.model.clocks[clock]
    return ClockError(
        f"the clock {event.label or clock + 1} would never tick again: its period is {following - integrator.time:.6g} at t = {integrator.time:.9g}",
        time=integrator.time,
        origin=event.origin,
        hint="keep its period positive, e.g. max(period, 1e-3); to stop a clock for a while let its body look at a discrete variable",
    )


def _culprits(compiled: CompiledModel, recent: NDArray[np.void] | None, guard: int) -> tuple[str, Origin | None]:
    """The conditions behind the last events, most frequent first."""
    words = compiled.words
    if guard >= 0:
        return f"`{words.relation(guard)}`", words.origin(guard)
    causes = [int(k) for k in recent["guard"][-_RECENT:] if k >= 0] if recent is not None else []
    guards = sorted(set(causes), key=causes.count, reverse=True)[:_SHOWN]
    if not guards:
        return "its time events", None
    return " and ".join(f"`{words.relation(k)}`" for k in guards), words.origin(guards[0])


def _by(problem: Problem, what: Literal["rhs", "conditions"]) -> str:
    source = problem.model.diagnosis.source(what)
    return f", by {source}" if source else ""


def _not_finite(problem: Problem, integrator: StepIntegrator) -> RunError:
    """Name the equation that is not finite at the last good point, or, if all are, the one nearest to overflow just behind it."""
    model, t = problem.model, integrator.time
    found = model.diagnosis.not_finite(integrator)
    if found is not None:
        return NotFiniteError(
            f"{found.label} gives {found.number} at t = {t:g}: {found.text}",
            time=t,
            origin=found.origin,
            hint=_OUTSIDE
            if "else nan" in found.text
            else "look for a division by zero, the root or logarithm of a negative number; guard it with `if` or tg.where",
        )
    guard = model.diagnosis.not_a_number(integrator, integrator.failed_guard)
    if guard >= 0 and guard == integrator.failed_guard and (whole := model.words.whole(guard)):
        return NotFiniteError(
            f"a whole part or remainder is taken of {whole}, which is not finite at t = {t:g}",
            time=t,
            origin=model.words.origin(guard),
            hint="a division by zero, most likely: guard it with `if` or tg.where",
        )
    if guard >= 0:
        return NotFiniteError(
            f"the condition `{model.words.relation(guard)}` compares NaN at t = {t:g}{_by(problem, 'conditions')}",
            time=t,
            origin=model.words.origin(guard),
            hint="look for the root or logarithm of a negative number in it; put `and` with the condition that it exists in front",
        )
    beside = model.diagnosis.not_finite_near(integrator)
    if beside is not None:
        return NotFiniteError(
            f"{beside.label} gives {beside.number} right behind t = {t:.9g}, whatever step is tried: {beside.text}; {_largest(problem, integrator)}",
            time=t,
            origin=beside.origin,
            hint="the solution may leave the domain of a root, a logarithm or a table there; guard it with `if` or tg.where, or end the run before",
        )
    return NotFiniteError(
        f"the equations give NaN or infinity in every step that was tried behind t = {integrator.time:.9g}{_by(problem, 'rhs')}; "
        f"{_largest(problem, integrator)}",
        time=integrator.time,
        origin=model.diagnosis.suspect(integrator),
        hint="the solution may leave the domain of a root or logarithm, or run to infinity at a finite time",
    )


def _ending(problem: Problem, integrator: StepIntegrator) -> Origin | None:
    """The statement of a function of the user that raises an exception there, or right beside."""
    diagnosis = problem.model.diagnosis
    found = diagnosis.not_finite(integrator) or diagnosis.not_finite_near(integrator)
    return None if found is None else found.ended


def _ended(statement: Origin, t: float) -> RunError:
    """The user's own function raises an exception there."""
    return NotFiniteError(
        f"the run comes to `{statement.text}` at t = {t:.9g}",
        time=t,
        origin=statement,
        hint="the function of the model has no answer there: give it other values, or end the run before by an event",
    )


def _pole(problem: Problem, integrator: StepIntegrator) -> RunError:
    """Name the divisor that comes to zero, and the equation that divides by it."""
    number, when = integrator.failed_divisor
    found = problem.model.diagnosis.divisor(integrator, number)
    equation = f"{found.label} divides by {found.text}" if found is not None else "the equations divide by something"
    return NotFiniteError(
        f"{equation}, which comes to zero at t = {when:.9g}: there is no solution beyond, or it has a pole there",
        time=integrator.time,
        origin=found.origin if found is not None else None,
        hint="end the run or change the mode before; where the numerator vanishes too, write the quotient without the division",
    )


def _largest(problem: Problem, integrator: StepIntegrator) -> str:
    names = problem.model.layout.unknowns
    if not names:
        return "the model has no continuous variables"
    worst = int(np.argmax(np.abs(integrator.y)))
    return f"the largest variable there is {names[worst]} = {integrator.y[worst]:g}"


def _singular(problem: Problem, integrator: StepIntegrator, *, at_start: bool) -> RunError:
    """Name the algebraic unknowns that the equations leave open, by the null space of their Jacobian."""
    compiled = problem.model
    names = compiled.layout.unknowns
    algebraic = np.flatnonzero(compiled.algebraic)
    where = "at the start" if at_start else f"at t = {integrator.time:g}"
    if integrator.lacks_room:
        return SingularSystemError(
            f"the sparse system of the {len(names)} equations has no factors {where} that fit into their memory: no good pivot stands where the "
            "structure of the equations expects one",
            time=integrator.time,
            origin=compiled.first_equation,
            hint="an equation may hardly depend on the unknown that it is to determine; write it for another one, or scale it",
        )
    why, unknown, value = integrator.not_tied
    if why == FORCES:
        name = names[unknown]
        return SingularSystemError(
            f"the equations force {name} from {integrator.y[unknown]:.6g} to {value:.6g} at once {where}, and no relation changes that would let it "
            "go on",
            time=integrator.time,
            hint=f"give {name} a way to go on (a diode, a resistor beside it, a leak such as Goff), or let the clause that leads here set it",
        )
    if why in _NOT_TIED:
        sentence, hint = _NOT_TIED[why]
        return SingularSystemError(f"the equations {where} tie states to each other or to a value, {sentence}", time=integrator.time, hint=hint)
    if "jacobian" in compiled.addresses and 0 < algebraic.size <= _MOST_EXAMINED:
        n, pattern = len(names), compiled.sparsity
        values = value_at(compiled, "jacobian", n * n if pattern is None else len(pattern.row), integrator, OpaqueCalls())
        jac = values.reshape(n, n)[:, algebraic] if pattern is None else pattern.columns_of(values, algebraic)
        _, _, right = np.linalg.svd(np.nan_to_num(jac))
        weights = np.abs(right[-1])
        loose = [names[int(algebraic[k])] for k in np.argsort(-weights) if weights[k] > 0.1 * weights.max()]
    else:
        loose = [*names]
    return SingularSystemError(
        f"the equations do not determine {listed(loose, _SHOWN)} {where}: the system of algebraic equations is singular there",
        time=integrator.time,
        origin=compiled.first_equation,
        hint=compiled.diagnosis.missing_connection(loose)
        or (_NONE_HOLDS if why == NONE_HOLDS and len(compiled.guards) else _NONE_FOUND if why == NONE_FOUND else "")
        or "an equation may have lost its unknown in this mode, two may say the same, or the index is above one: differentiate a constraint",
    )


def _step_size(problem: Problem, integrator: StepIntegrator) -> RunError:
    return StepSizeError(
        f"the step size became too small to go on at t = {integrator.time:.9g}; {_largest(problem, integrator)}",
        time=integrator.time,
        hint="the solution may run to infinity, or a jump hides in an opaque function; a looser rtol tells which",
    )
