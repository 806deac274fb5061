"""`tg.verify`: a run judged by its model, called as plain Python (stage: verification). In: a result. Out: a ``Verification``."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Final, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.expressions.delays import has_delays
from tidegate.model import Assignment, Form, Lowerable, Model
from tidegate.model.plain_expressions import PlainExpressions
from tidegate.model.plain_model import Plainly, PlainModel
from tidegate.model.rewriting import expressions_of
from tidegate.results import EventLog, Result
from tidegate.verify.absences import filled
from tidegate.verify.clocks import check_clocks
from tidegate.verify.defects import Defects, Tolerance, differential
from tidegate.verify.endings import Endings
from tidegate.verify.happenings import Happenings
from tidegate.verify.pieces import Exact, StepPiece, pieces_of
from tidegate.verify.records import check_joints, check_rows
from tidegate.verify.verification import Tally, Verification
from tidegate.wrong_calls import explained

__all__ = ["verify"]

FloatArray = NDArray[np.float64]

_ALLOWED: Final = 100.0  # times the tolerance: an order of magnitude above what steps of any method that keep it leave inside
_POINTS: Final = 4  # in a step; each in a part of its own
_IN_ALL: Final = 1000  # points, where there are few steps: a dip of a thousandth of the run is seen
_NEAR: Final = np.array([1e-2, 1e-3, 1e-4, 1e-5, 1e-6])  # parts of a step before and after an event
_ROWS: Final = 300  # that are compared with the dense result and with outputs
_FEW_ROWS: Final = 20  # where fewer points were asked for
_MANY: Final = 200  # events, beyond which fewer points are taken around each
_SEED: Final = 20240229  # points are irregular, and the same every time


@runtime_checkable
class Retellable(Protocol):
    """A result in other words than tidegate's, such as SciPy's."""

    def as_result(self) -> Result:
        """The same as a ``Result`` that knows its source."""
        ...


@explained
def verify(result: Result | Retellable, source: Lowerable | None = None, *, points: int | None = None, allowed: float = _ALLOWED) -> Verification:
    """Judge a result by the model itself, called as plain Python with numbers: no tracing, no mode bits, no machine code.

    Along the dense result, at irregular points inside every step and on both sides of every event, it is looked at whether the equations hold with
    whatever branch Python takes there, whether each condition became true where the log says and nowhere else, whether resets and clocks did what
    their bodies say, and whether discrete variables, outputs and rows are what they should be.

    Parameters
    ----------
    result : of a run with dense output; of ``tg.simulate``, ``tg.Simulation`` or ``tg.solve_ivp``.
    source : the model; the one the result was made from if it still knows it.
    points : in each step; by default 4, and more where there are fewer than 250 steps. Fewer than 4 are also
        fewer around events and in rows.
    allowed : how many times the tolerance of the run a step may be off inside.

    Returns
    -------
    Verification : ``.ok`` is the verdict, ``.wrong`` what disagrees; printing it shows the table.

    Raises
    ------
    UsageError : the result keeps no dense output, it is not known which model it is of, or a parameter was set within it.

    Examples
    --------
    >>> import tidegate as tg
    >>> model = tg.ode(lambda t, y, p: [-p["k"] * max(y["x"] - 0.5, 0.0)], y0={"x": 1.0}, p={"k": 2.0})
    >>> check = tg.verify(tg.simulate(model, (0, 1)))
    >>> check.ok, check.truth
    (True, 'the function, called as Python')
    """
    result = result if isinstance(result, Result) else _retold(result)
    source = source if source is not None else result.source
    if source is None:
        raise UsageError("it is not known which model the result is of", hint="tg.verify(result, source=model)")
    if result.interpolant is None:
        raise UsageError("this result keeps no dense output, along which it could be verified", hint="tg.simulate(..., dense=True)")
    if not isinstance(source, Lowerable):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise UsageError(f"{source!r} is no source that can be called as plain Python", hint="tg.cross_check compares two engines on it")
    model = source.lower()
    _refuse_settings(result)
    result = copy(result)
    result.events = EventLog(list(result.events), time_unit=result.time_unit)  # each is asked for many times
    if not isinstance(source, Plainly):
        return _judged(result, model, PlainExpressions(model, result.parameters), points, allowed)
    try:
        with np.errstate(all="ignore"):  # what is not finite is found as such
            return _judged(result, model, source.plainly(result.parameters, model), points, allowed)
    except Exception as error:  # noqa: BLE001 - whatever the user's own code does when it meets numbers is told, and judged another way
        told = f"called with numbers, the model raised {type(error).__name__}: {error}; what stands here is by its expressions"
        return replace(_judged(result, model, PlainExpressions(model, result.parameters), points, allowed), notes=(told,))


def _retold(result: Any) -> Result:
    if isinstance(result, Retellable):
        return result.as_result()
    raise UsageError(f"tg.verify was given {result!r:.80}, which is no result of a run", hint="result = tg.simulate(...) and tg.verify(result)")


def _refuse_settings(result: Result) -> None:
    """A model is judged by one set of values; a run under the user's hand may have had several."""
    begin = float(result.interpolant.starts[0]) if result.interpolant is not None and len(result.interpolant) else -np.inf
    given = {*result.parameters, *(column.name for column in result.columns if column.role == "input")}
    for event in result.events.of("set"):
        own = [name for name, value in event.after.items() if name in given and event.before.get(name) != value]
        if own and event.time > begin:
            raise UsageError(
                f"{', '.join(own)} was set at t = {event.time:g}, within the run, which is judged by one value",
                hint="verify what each advance() returned",
            )


def _judged(result: Result, model: Model, plain: PlainModel, points: int | None, allowed: float) -> Verification:
    tally = Tally(plain.truth)
    result = filled(result, tally)
    pieces = pieces_of(result, plain.unknowns, plain.discretes)
    if has_delays(expressions_of(model)):
        raise UsageError(f"{model.name} has delays, and tg.verify knows no past", hint="compare with a run of another rtol: result.compare(other)")
    tolerance = _tolerance(result, model, plain, allowed)
    rng = np.random.default_rng(_SEED)
    largest = np.max([piece.size for piece in pieces], axis=0) if pieces else np.zeros(len(plain.unknowns))
    is_explicit = model.form is Form.ODE
    defects = Defects(plain, tolerance, largest, tally, is_explicit)
    states = differential(plain, pieces[0]) if pieces and not is_explicit else np.ones(len(plain.unknowns), dtype=bool)
    within = [branch for when in model.whens if when.is_inner for branch in when.branches]
    inner = {action.target.data.name for branch in within for action in branch.actions if isinstance(action, Assignment)}
    happenings = Happenings(plain, result, tolerance, largest, tally, states, {branch.label for branch in within})
    looked = 0
    exact = Exact(result, plain.unknowns)
    each = points if points is not None else max(_POINTS, _IN_ALL // max(len(pieces), 1))
    near = _NEAR if len(result.events) <= _MANY and each >= _POINTS else _NEAR[::3]
    for piece in pieces:
        thetas = _thetas(piece, rng, each, near)
        looked += thetas.size
        at_rest = exact.at_rest(piece)
        defects.look(piece, thetas, at_rest)
        happenings.look(piece, thetas, at_rest)
    unjudged = _unjudged(result, model)
    if pieces:
        happenings.read_log()
        check_joints(pieces, result, plain, tolerance, tally, inner)
        unjudged += check_clocks(plain, result, pieces, tally)
        unjudged += check_rows(pieces, result, plain, tolerance, tally, is_explicit=is_explicit, most=_ROWS if each >= _POINTS else _FEW_ROWS)
        Endings(plain, result, tolerance, tally, happenings).look(pieces[0], pieces[-1], states, is_explicit=is_explicit)
    return Verification(result.model_name, plain.truth, tuple(tally.findings), tuple(plain.notes), looked, tuple(unjudged))


def _unjudged(result: Result, model: Model) -> list[str]:
    """What nothing here says anything about."""
    gives_starts = any(isinstance(action, Assignment) for action in model.initial_actions)
    found = ["the start values" + (" and what @tg.initially assigns" if gives_starts else ""), "how the errors of steps add up"]
    if result.sensitivities is not None or any(event.dt_dp for event in result.events[:1]):
        found.append("derivatives by parameters")
    if model.step_events:
        found.append("what happens after completed steps")
    if result.is_part and (model.final_actions or model.initial_actions):
        found.append("whether all was done that is done at the start and at the end of a run, of which this may be a part")
    if any(event.kind == "set" for event in result.events):
        found.append("instants at which values were set")
    return found


def _thetas(piece: StepPiece, rng: np.random.Generator, points: int, distances: FloatArray) -> FloatArray:
    """One irregular point in each equal part of a step, and others that come close to an event at its ends."""
    found = [(np.arange(points) + rng.random(points)) / points]
    near = distances * (1.0 - 0.9 * rng.random(distances.size))
    if piece.first:
        found.append(near)
    if piece.last:
        found.append(1.0 - near)
    return np.sort(np.concatenate(found))


def _tolerance(result: Result, model: Model, plain: PlainModel, allowed: float) -> Tolerance:
    """As ``tg.simulate`` reads its options."""
    rtol: float = result.options.get("rtol", 1e-6)
    nominal = np.array([variable.nominal or 1.0 for variable in model.unknowns for _ in variable.names])
    given: Any = result.options.get("atol")
    atol = 0.01 * rtol * nominal
    if isinstance(given, Mapping):
        named = cast("Mapping[str, float]", given)
        whole = {variable.name: variable.names for variable in model.unknowns}
        for name, value in named.items():
            elements = whole.get(name, [name])
            atol[[k for k, known in enumerate(plain.unknowns) if known in elements]] = value
    elif given is not None:
        atol = np.broadcast_to(np.asarray(given, dtype=float), atol.shape)
    return Tolerance(rtol, atol, allowed)
