"""CallableModel -> CompiledModel: C functions that call Python, derivatives by central differences, and answers without expressions."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callable_answers import (
    CallableActions,
    CallableDiagnosis,
    CallableOutputs,
    CallableStart,
    CallableWords,
    Function,
    changed,
    changes,
    point,
    slope,
)
from tidegate.compiled.callbacks import VALUE_FUNCTION, carry_out, pointer_to
from tidegate.compiled.compiled_model import Clock, CompiledModel, EventAction, Guards, GuardTapes, KeptSides, Point
from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.layout import Counted, Layout
from tidegate.compiled.native import NativeModule, load
from tidegate.compiled.native_callables import native_addresses
from tidegate.compiled.quantities import Quantity
from tidegate.compiled.shown_quantities import shown_of
from tidegate.compiled.workspace import RELATION
from tidegate.errors import CallbackError, InvalidModelError, Origin, RunError
from tidegate.model.callables import At, Beside, CallableClause, CallableModel, Completed, Constraints, NativeSignals, Tick, Variant
from tidegate.model.variables import element_names
from tidegate.results.columns import element_of
from tidegate.wishes import RetryStep

__all__ = ["Natives", "compile_callables", "corner_stops", "described", "identity"]

FloatArray = NDArray[np.float64]
_POINTER: Final = ctypes.c_void_p
_VALUE: Final = ctypes.CFUNCTYPE(None, ctypes.c_double, *[_POINTER] * 4)
_TANGENT: Final = ctypes.CFUNCTYPE(None, ctypes.c_double, *[_POINTER] * 4, ctypes.c_double, *[_POINTER] * 4)


def compile_callables(model: CallableModel) -> CompiledModel:
    """The same as ``compile_model``, of functions.

    Raises
    ------
    InvalidModelError : no run can be made of it.
    """
    if problems := model.problems():
        raise InvalidModelError([(f"{model.name}: {problem}", None) for problem in problems])
    began = time.perf_counter()
    layout, quantities = described(model, len(model.thresholds))
    n, ng = len(layout.unknowns), len(model.thresholds)
    natives = Natives(model, layout)
    functions = {
        "rhs": (natives.rhs, n),
        "guards": (natives.guards, ng),
        "outputs": (natives.outputs, layout.n_outputs),
        "times": (natives.times, ng + len(model.ticks)),
        "bodies": (natives.bodies, n + len(layout.discretes)),
    }
    pointers: dict[str, Any] = {}
    tangents = {"rhs": "residual_tangent"}
    for name, (function, size) in functions.items():
        pointers[name] = natives.value(name, function, size)
        moved = natives.moved_by_event if name == "bodies" else partial(natives.moved, function)
        pointers[tangents.get(name, f"{name}_tangent")] = natives.tangent(name, moved, size)
    pointers["bodies"] = natives.value("bodies", natives.bodies, n + len(layout.discretes), natives.differ)
    pointers["steps"] = natives.value("step events", natives.steps, len(model.completed))
    for name, what, hook in (
        ("communicated", "the hook at communication points", model.at_communication),
        ("step_begins", "the hook in front of steps", model.at_step),
    ):
        if hook is not None:
            pointers[name] = natives.value(what, partial(natives.told, hook), 1)
    if model.constraints is not None:
        kept, labels = partial(natives.constrained, model.constraints, (4, 5)), model.constraints.labels
        n_kept = layout.n_constraints
        pointers["hdae_parts"] = natives.value("the parts", partial(natives.constrained, model.constraints, (2, 3, 4, 5)), len(labels))
        pointers["constraints"] = natives.value("F4 and F5", kept, n_kept)
        pointers["constraints_tangent"] = natives.tangent("F4 and F5", partial(natives.moved, kept), n_kept)
        pointers["constraint_scale"] = natives.tangent("F4 and F5", partial(natives.scale, kept), n_kept)
        pointers["constraint_slopes"] = natives.value("F4 and F5", partial(natives.slopes, kept), n_kept * n)
    pointers["jacobian"] = natives.value("rhs", natives.jacobian, n * n)
    mass = natives.is_state if model.mass is None else model.mass.ravel()
    pointers["mass"] = natives.value("mass", lambda t, y, p, m: mass, len(mass))
    pointers["guard_scale"] = natives.tangent("guards", partial(natives.scale, natives.guards), ng)
    pointers["activity"] = natives.value("activity", lambda t, y, p, m: np.ones(ng), ng)
    deciding = [k for k, threshold in enumerate(model.thresholds) if threshold.decides]
    n_conditions = sum(len(_conditions(clause)) for clause in model.clauses)
    pointers["conditions"] = natives.value("conditions", partial(natives.conditions, deciding), n_conditions + len(deciding))
    addresses = {name: ctypes.cast(pointer, _POINTER).value or 0 for name, pointer in pointers.items()}
    if isinstance(model.rhs, int):
        addresses["rhs"] = model.rhs
    keep_alive: list[Any] = list(pointers.values())
    if model.native:
        natively, module = native_addresses(model.native, addresses, layout)
        addresses |= natively
        keep_alive.append(module)
    if model.signals is not None:
        keep_alive.append(_install(model.signals))
    return CompiledModel(
        name=model.name,
        time_unit=model.time_unit,
        layout=layout,
        quantities=quantities,
        mass_kind=2 if model.mass is not None else 1 if model.algebraic else 0,
        mass_varies=False,
        sparsity=None,
        algebraic=np.array(natives.is_state) == 0.0 if model.mass is None else ~model.mass.any(axis=0),
        nominal=np.array([model.nominal.get(name, 0.0) for name in layout.unknowns]),
        guards=_guards(model),
        tapes=_no_tapes(ng, layout),
        event_actions=_event_actions(model),
        clocks=tuple(Clock(tick.label, Origin(), repeats=False) for tick in model.ticks),
        n_conditions=n_conditions,
        n_state_conditions=len(deciding),
        first_equation=None,
        addresses=addresses,
        has_opaque=True,
        seconds=time.perf_counter() - began,
        start=CallableStart(model, layout, natives.guards),
        initial=CallableActions(model.at_start, layout),
        final=CallableActions(model.at_end, layout),
        opening=None if model.at_open is None else CallableActions(model.at_open, layout, model.beside),
        has_acts=True,
        knows_memory=model.beside is not None,
        resuming=None if model.at_resume is None else CallableActions(model.at_resume, layout),
        adjusting=None if model.at_parameters is None else CallableActions(model.at_parameters, layout),
        ending=None if model.at_stop is None else partial(natives.ending, model.at_stop),
        told=model.told,
        folds_names=model.folds_names,
        closing=None if model.at_close is None else partial(natives.close, model.at_close),
        # what a run remembers is gone when it is over
        outputs=CallableOutputs(model, layout) if model.outputs and model.at_open is None else None,
        words=CallableWords(model, layout),
        diagnosis=CallableDiagnosis(layout, natives.rhs, natives.guards, natives.writers, model.sources),
        stops=corner_stops(model),
        most_stops=len(model.corners),
        identity=partial(identity, model),
        again=(compile_callables, (model,)),
        keep_alive=tuple(keep_alive),
        index_two=np.isin(np.array(layout.unknowns), model.constraints.index_two) if model.constraints else None,
        constraint_parts=model.constraints.labels if model.constraints else (),
        makes_consistent=model.constraints is not None and model.constraints.makes_consistent,
    )


def _install(signals: NativeSignals) -> NativeModule:
    """Compile them, and hand them over to what asked for them."""
    spec = FunctionSpec("signals", ("t", "out"), frozenset({"t"}), {signals.time: ("t", 0)}, list(signals.values.items()))
    module = load(emit_module([spec]))
    signals.install(module.address("signals"))
    return module


class Natives:
    """The functions of a model on flat vectors, and C functions of these."""

    def __init__(self, model: CallableModel, layout: Layout) -> None:
        self._model, self._layout = model, layout
        self.is_state = [1.0] * len(model.states) + [0.0] * len(model.algebraic)
        self._bodies = model.bodies
        self._sizes = (len(layout.unknowns), len(layout.parameters), layout.n_m)

    # -- on vectors ---------------------------------------------------------------------------------------------------------------------------

    def rhs(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> Sequence[float] | FloatArray:
        """Of the model; of an address what it gives."""
        function = self._model.rhs
        if not isinstance(function, int):
            return function(point(self._layout, t, y, p, m))
        out = np.zeros(len(y))
        VALUE_FUNCTION(function)(t, *map(pointer_to, (y, p, m, out)))
        return out

    def guards(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> list[float]:
        """All discontinuity functions."""
        at = point(self._layout, t, y, p, m)
        return [threshold.function(at) for threshold in self._model.thresholds]

    def constrained(self, constraints: Constraints, parts: tuple[int, ...], t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> FloatArray:
        """Some parts of an HDAE."""
        return constraints.function(point(self._layout, t, y, p, m), parts)

    def outputs(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> Sequence[float] | FloatArray:
        """All outputs."""
        return self._model.output(point(self._layout, t, y, p, m)) if self._model.output else []

    def times(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> list[float]:
        """Next times: of guards none, then of time events."""
        counts, at = m[self._layout.first_count :], point(self._layout, t, y, p, m)
        never = [np.inf] * len(self._model.thresholds)
        firsts = [tick.first(at) if callable(tick.first) else tick.first for tick in self._model.ticks]
        return never + [first + count * (tick.period or 0.0) for first, tick, count in zip(firsts, self._model.ticks, counts, strict=False)]

    def conditions(self, deciding: Sequence[int], t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> list[float]:
        """Of clauses, then what holds of thresholds that decide."""
        at = point(self._layout, t, y, p, m)
        asked = [at.holds[k] if isinstance(k, int) else k(at) for clause in self._model.clauses for k in _conditions(clause)]
        return [*map(float, asked), *(2.0 + at.holds[k] for k in deciding)]

    def steps(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> list[float]:
        """1 for every step event that is asked for."""
        at = point(self._layout, t, y, p, m)
        return [float(one.when(at)) for one in self._model.completed]

    def told(self, hook: Callable[[At], object], t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> list[float]:
        """Call a hook; what it returns does not count."""
        hook(point(self._layout, t, y, p, m))
        return [0.0]

    def close(self, hook: Callable[[At, bool], object], at: Point, is_well: bool) -> None:
        """The same for the last one."""
        hook(point(self._layout, at.time, at.y, at.p, at.m), is_well)

    def ending(self, hook: Callable[[At], str], at: Point) -> str:
        """Likewise; what it returns."""
        return hook(point(self._layout, at.time, at.y, at.p, at.m))

    def writers(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> dict[int, list[tuple[int, float]]]:
        """For every variable that clauses with set flags give a value which do and what, of the most important of them."""
        at = point(self._layout, t, y, p, m)
        found: dict[int, list[tuple[int, float]]] = {}
        for k in np.flatnonzero(m[self._layout.first_action : self._layout.first_count]).tolist():
            for index, value in changes(self._layout, self._bodies[k].change, at).items():
                found.setdefault(index, []).append((k, value))
        for index, several in found.items():
            most = min(self._bodies[k].priority for k, _ in several)
            found[index] = [(k, value) for k, value in several if self._bodies[k].priority == most]
        return found

    def bodies(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> FloatArray:
        """Unknowns and discrete variables behind what happens."""
        at, happen = point(self._layout, t, y, p, m), self._model.happen
        if happen is not None:
            flags = m[self._layout.first_action : self._layout.first_count] != 0.0
            try:
                return changed(self._layout, lambda at: happen(at, flags), at)
            except (RunError, RetryStep):
                raise
            except Exception as error:
                # without unknowns nobody would notice that what it gives is missing
                what = f"the function bodies of {self._model.name} raised {type(error).__name__}"
                raise CallbackError(f"{what}: {error} at t = {t:g}", time=t) from error
        new = np.concatenate([y, at.d])
        for index, several in self.writers(t, y, p, m).items():
            new[index] = several[0][1]
        return new

    def rehearsed(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> FloatArray:
        """What bodies would give, of which derivatives are made: nothing happens."""
        rehearse = self._model.rehearse
        if rehearse is None:
            return self.bodies(t, y, p, m)
        at, flags = point(self._layout, t, y, p, m), m[self._layout.first_action : self._layout.first_count] != 0.0
        return changed(self._layout, lambda at: rehearse(at, flags), at)

    def differ(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> bool:
        """Whether clauses that happen together give one variable different values."""
        return self._model.happen is None and any(len({value for _, value in several}) > 1 for several in self.writers(t, y, p, m).values())

    # -- derivatives --------------------------------------------------------------------------------------------------------------------------

    def flat(self, function: Function, x: FloatArray) -> Sequence[float] | FloatArray:
        """A function of [t, y, p, m]."""
        return function(float(x[0]), *np.split(x[1:], np.cumsum(self._sizes[:2])))

    def jacobian(self, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> FloatArray:
        """df/dy by rows."""
        if self._model.slopes is not None:
            return self._model.slopes(point(self._layout, t, y, p, m)).ravel()
        return self.slopes(self.rhs, t, y, p, m)

    def slopes(self, function: Function, t: float, y: FloatArray, p: FloatArray, m: FloatArray) -> FloatArray:
        """Derivatives by the unknowns, by rows."""
        x = np.concatenate([[t], y, p, m])
        return np.array([slope(partial(self.flat, function), x, 1 + k) for k in range(len(y))]).T.ravel()

    def moved(self, function: Function, x: FloatArray, dx: FloatArray) -> FloatArray | float:
        """The derivative in a direction; of a model with runs beside it, what they say of parameters."""
        total: FloatArray | float = 0.0
        for k in np.flatnonzero(dx).tolist():
            variants = self._variants(x, k)
            if variants:
                values = [(each.weight, np.array(self.flat(function, self._of(x, k, each)), dtype=float)) for each in variants]
                total = total + dx[k] * _difference(values)
            else:
                total = total + dx[k] * slope(partial(self.flat, function), x, k)
        return total

    def _variants(self, x: FloatArray, k: int) -> Sequence[Variant]:
        """Runs beside the one at [t, y, p, m], if element k is a parameter."""
        beside, first = self._model.beside, 1 + self._sizes[0]
        if beside is None or not first <= k < first + self._sizes[1]:
            return ()
        return beside.variants(x[self._place_of_run(beside)], k - first)

    def _place_of_run(self, beside: Beside) -> int:
        return 1 + self._sizes[0] + self._sizes[1] + self._layout.first_discrete + beside.place

    def _of(self, x: FloatArray, k: int, variant: Variant) -> FloatArray:
        """The same point, of a run beside."""
        assert self._model.beside is not None
        new = x.copy()
        new[k] += variant.offset
        new[self._place_of_run(self._model.beside)] = variant.number
        return new

    def moved_by_event(self, x: FloatArray, dx: FloatArray) -> FloatArray | float:
        """The derivative of what happens, in a direction."""
        first, beside = 1 + self._sizes[0], self._model.beside
        moving = [k for k in np.flatnonzero(dx[first : first + self._sizes[1]]).tolist() if self._variants(x, first + k)]
        if beside is None or len(moving) != 1:
            return self.moved(self.rehearsed, x, dx)
        k, layout = moving[0], self._layout

        def along(variant: Variant) -> At:
            moved = self._of(x + variant.offset / dx[first + k] * dx, first + k, replace(variant, offset=0.0))
            return point(layout, float(moved[0]), *np.split(moved[1:], np.cumsum(self._sizes[:2])))

        found = beside.happened(x[self._place_of_run(beside)], k, along)
        if not found:
            m = 1 + sum(self._sizes[:2])
            return np.concatenate([dx[1:first], dx[m + layout.first_discrete : m + layout.first_previous]])
        values = [(weight, changed(layout, lambda _, new=new: new, at)) for weight, at, new in found]
        total = dx[first + k] * _difference(values)
        total[self._sizes[0] + beside.place] = 0.0
        return total

    def scale(self, function: Function, x: FloatArray, dx: FloatArray) -> FloatArray | float:
        """Sum of the absolute values that such a derivative is made of."""
        return sum((np.abs(slope(partial(self.flat, function), x, int(k)) * dx[k]) for k in np.flatnonzero(dx)), start=0.0)

    # -- C functions --------------------------------------------------------------------------------------------------------------------------

    def value(self, name: str, function: Function, size: int, mark: Callable[..., bool] | None = None) -> Any:
        """With a ``mark``, what that says stands behind room for as many numbers again."""
        n, n_p, n_m = self._sizes

        def call(t: float, y: int, p: int, m: int, out: int) -> None:
            def compute() -> Sequence[float] | FloatArray:
                vectors = _view(y, n).copy(), _view(p, n_p).copy(), _view(m, n_m).copy()
                if mark is not None:
                    _view(out, 2 * size + 1)[-1] = mark(t, *vectors)
                return function(t, *vectors)

            carry_out(f"{name} of {self._model.name}", _view(out, size), size, compute)

        return _VALUE(call)

    def tangent(self, name: str, function: Callable[[FloatArray, FloatArray], FloatArray | float], size: int) -> Any:
        """A C function that gives a derivative in a direction."""
        n, n_p, n_m = self._sizes

        def call(t: float, y: int, _v: int, p: int, m: int, dt: float, dy: int, dp: int, dm: int, out: int) -> None:
            def compute() -> FloatArray:
                x = np.concatenate([[t], _view(y, n), _view(p, n_p), _view(m, n_m)])
                return np.zeros(size) + function(x, np.concatenate([[dt], _view(dy, n), _view(dp, n_p), _view(dm, n_m)]))

            carry_out(f"{name} of {self._model.name}", _view(out, size), size, compute)

        return _TANGENT(call)


def _difference(values: Sequence[tuple[float, FloatArray]]) -> FloatArray:
    """The sum of values times weights; zero where all values are the same, or one is a time that is never."""
    every = np.array([value for _, value in values])
    moves = np.isfinite(every).all(axis=0) & (every != every[0]).any(axis=0)
    return sum((weight * np.where(moves, value, 0.0) for weight, value in values), start=np.zeros(every.shape[1]))


def _view(address: int, size: int) -> FloatArray:
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address)) if size else np.zeros(0)


def described(model: CallableModel, n_modes: int) -> tuple[Layout, tuple[Quantity, ...]]:
    """Where everything stands, with so many modes, and what has a name."""
    unknowns, discretes = (*model.states, *model.algebraic), tuple(model.discretes)
    n_actions = len(model.bodies)
    layout = Layout(unknowns, tuple(model.parameters), discretes, (), n_modes, n_actions, len(model.ticks), len(model.outputs))
    groups = (
        ("state", "y", 0, model.states),
        ("algebraic", "y", len(model.states), model.algebraic),
        ("discrete", "m", layout.first_discrete, discretes),
        ("parameter", "p", 0, model.parameters),
        ("output", "outputs", 0, model.outputs),
    )
    quantities = [quantity for role, vector, first, names in groups for quantity in _quantities(model, role, vector, first, list(names))]
    shown, counted = tuple(shown_of(quantities, layout)), tuple(_counted(model, layout))
    n_kept = 0 if model.constraints is None else sum(part > 3 for part, _ in model.constraints.labels)
    return replace(
        layout, shown=shown, dense=np.arange(len(unknowns)), n_step_events=len(model.completed), counted=counted,
        importance=layout.discretes.index(model.importance) if model.importance else -1, least_importance=model.least_importance,
        may_reach=layout.discretes.index(model.may_reach) if model.may_reach else -1,
        goes_on=layout.discretes.index(model.goes_on) if model.goes_on else -1,
        n_forms=int(model.constraints is not None), n_constraints=n_kept,
    ), tuple(quantities)  # fmt: skip


def _counted(model: CallableModel, layout: Layout) -> Iterator[Counted]:
    recorded = {name: k for k, name in enumerate((*layout.unknowns, *layout.discretes, *model.outputs))}
    for counter, ranks in model.counted.items():
        places = np.array([recorded[name] for name in ranks], dtype=np.intp)
        yield Counted(layout.discretes.index(counter), places, np.array(list(ranks.values()), dtype=np.intp))


def _quantities(model: CallableModel, role: str, vector: str, first: int, names: Sequence[str]) -> Iterator[Quantity]:
    places = {name: first + k for k, name in enumerate(names)}
    arrays = ((name, element_of(name)[0]) for name in names if name not in model.hidden)
    # an array of which elements have different roles, as states and algebraic variables, is none here
    for whole in dict.fromkeys(array if _is_whole(array, model, places) else name for name, array in arrays):
        shape = model.arrays.get(whole, ())
        elements, (unit, text) = element_names(whole, shape), model.texts.get(whole, ("", ""))
        indices = np.array([places[name] for name in elements])
        yield Quantity(whole, tuple(elements), role, vector, indices, shape, unit, text, "real", Origin(), None, lambda name, number: "")


def _is_whole(array: str, model: CallableModel, places: Mapping[str, int]) -> bool:
    return array in model.arrays and all(name in places for name in element_names(array, model.arrays[array]))


def _guards(model: CallableModel) -> Guards:
    n = len(model.thresholds)
    numbers, no = np.arange(n), np.zeros(n, dtype=bool)
    strict = np.array([threshold.strict for threshold in model.thresholds], dtype=bool)
    return Guards(np.full(n, RELATION), numbers, strict, numbers, numbers, numbers, no, no, ~no, ((),) * n, KeptSides.none(n))


def _no_tapes(n_guards: int, layout: Layout) -> GuardTapes:
    none = np.zeros(n_guards, dtype=np.int64)
    n_registers = 2 + len(layout.parameters) + layout.n_m
    code, used = np.zeros((0, 4), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return GuardTapes(code, np.zeros(0), none, np.zeros((3, n_guards), dtype=np.int64), none, none, none, used, n_registers, used, used)


def corner_stops(model: CallableModel) -> Callable[[FloatArray, float, float, float], FloatArray]:
    """The instants at which functions have corners, as a compiled model gives them."""
    return partial(_stops, np.unique(np.array(model.corners, dtype=float)))


def _stops(corners: FloatArray, _p: FloatArray, t_start: float, t_now: float, t_end: float) -> FloatArray:
    """Corners that lie ahead, in the direction of the run."""
    ahead = corners[(corners > t_now) & (corners < t_end)] if t_end >= t_start else corners[(corners < t_now) & (corners > t_end)][::-1]
    return ahead.copy()


def _conditions(clause: CallableClause) -> Sequence[int | Callable[[At], bool]]:
    return [clause.when] if callable(clause.when) else clause.when


def _event_actions(model: CallableModel) -> tuple[EventAction, ...]:
    event_actions: list[EventAction] = []
    first = 0
    for chain, body in enumerate(model.bodies):
        indices = tuple(range(first, first + len(_conditions(body)))) if isinstance(body, CallableClause) else ()
        first += len(indices)
        messages = (body.message,) if body.message else ()
        is_noted = isinstance(body, Tick) or body.terminates or bool(messages)
        is_noted = is_noted or (body.is_noted if isinstance(body, Completed) else body.change is None)
        number = chain if isinstance(body, CallableClause) else -1
        event_actions.append(
            EventAction(
                body.label, number, indices, body.priority, Origin(), is_noted, body.terminates, messages, (), is_expected=model.happen is None
            )
        )
    return tuple(event_actions)


def identity(model: CallableModel) -> dict[str, dict[str, str]]:
    """Of functions only the names count."""
    kinds = {"variable": (*model.states, *model.algebraic, *model.parameters, *model.discretes), "output": tuple(model.outputs)}
    kinds["event clause"] = tuple(body.label for body in model.bodies)
    return {kind: dict.fromkeys(names, "") for kind, names in kinds.items()}
