"""What the caller of a run may choose, checked once and frozen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import field, fields
from numbers import Real
from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UsageError
from tidegate.names import suggestion, unknown_name
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result
from tidegate.results.presence import RECORD_DISABLED

__all__ = [
    "ASSUMED_LENGTH",
    "DISC_HALVINGS",
    "MAX_HALVINGS",
    "METHODS",
    "NO_TIMES",
    "UNLIMITED",
    "Options",
    "changed",
    "check_names",
    "check_options",
    "finite_time",
    "numbers_given",
    "of_unknown_length",
    "output_times",
    "time_span",
    "times_behind",
]

METHODS: Final = ("auto", "radau", "rodas5p", "taylor", "ida", "bdf", "adams", "rke", "pc", "euler", "adams2", "trapezoid", "heun")
_SCIPY_METHODS: Final = dict.fromkeys(("RK45", "RK23", "DOP853"), '"taylor" is for what is not stiff, "auto" for everything') | {
    "LSODA": '"auto" is for everything, stiff or not'
}
MAX_HALVINGS: Final = 30
DISC_HALVINGS: Final = 10
UNLIMITED: Final = 1 << 30  # halvings; the resolution of the time ends them long before
_LATEST: Final = 1e100  # its third power, and products with values, are numbers
_FEWEST_TIMES: Final = 2.0**16  # in a run: with fewer, the rounding of times alone costs more than usual tolerances allow, and steps find no room
# before the first advance of a simulation nobody knows how long it will be; only values at the start are looked at on this assumption
ASSUMED_LENGTH: Final = 1.0
NO_TIMES: Final = np.zeros(0)  # one for all: who gets it again knows that it is the same
_UNCHANGEABLE: Final = {
    "parameters": 'set the parameter: simulation["k"] = 3',
    "sensitivities": "they are followed from the start: tg.Simulation(..., sensitivities=...)",
    "record_disabled": 'it is chosen at the start: tg.Simulation(..., record_disabled="nan")',
}
_SLACK: Final = 1e-9  # of the distance of output times: so close to the end a time is the end
_MOST_OUTPUTS: Final = 1e9  # times; more do not fit into memory, and are a slip of the pen

# options that one method has
_OF_ONE_METHOD: Final = {"min_step": "rke", "max_halvings": "pc", "disc_halvings": "pc"}
_INTEGERS: Final = {
    "max_steps": "max_steps=10_000; none at all for no limit", "max_halvings": "30 is usual", "disc_halvings": "10 is usual",
}  # fmt: skip
_EXAMPLES: Final = {
    "max_step": "max_step=0.1", "first_step": "first_step=1e-3", "max_steps": "max_steps=10_000", "min_step": "min_step=1e-9",
    "max_halvings": "max_halvings=30", "disc_halvings": "disc_halvings=10",
}  # fmt: skip

EVENTS: Final = ("fast", "proved")

_START_VALUES: Final = "y0={name: value}"
_TIMES: Final = "outputs=0.1 for a row every 0.1; how the method steps follows from rtol"
_FOLLOWED: Final = 'sensitivities=["k"], the names of the parameters'
_END: Final = "t_span=(start, end)"

# names that people bring from elsewhere, and where here the same thing is
_ELSEWHERE: Final = {
    "t_eval": "outputs=times, or outputs=0.1 for equidistant times",
    "dense_output": "result.at(t), which is always there; dense=False saves its memory",
    "args": "parameters belong to the model: tg.ode(f, y0=..., p={...}), read in f(t, y, p)",
    "p": "parameters={name: value} replaces values of the model's parameters",
    "jac": "nothing: derivatives are made from the model itself",
    "jac_sparsity": "nothing: the sparsity is found in the model itself",
    "vectorized": "nothing: the model is compiled",
    "hmax": "max_step=...",
    "h0": "first_step=...",
    "mxstep": "max_steps=...",
    "t": "t_span=(start, end)",
    "hdae": "only what tg.hdae makes, and a DSblock of the form HDAE, can be solved in several forms",
    "make_consistent": "only what tg.hdae makes, and a DSblock of the form HDAE, has constraints to move values onto",
    "record": "it belongs to a simulation: tg.Simulation(model, record=False)",
    "x0": _START_VALUES,
    "initial": _START_VALUES,
    "u": "inputs={name: function, table or array}",
    "dt": _TIMES,
    "step": _TIMES,
    "step_size": _TIMES,
    "h": _TIMES,
    "n": "outputs=np.linspace(start, end, n)",
    "n_points": "outputs=np.linspace(start, end, n)",
    "saveat": "outputs=times, or outputs=0.1 for equidistant times",
    "solver": 'method="auto"',
    "algorithm": 'method="auto"',
    "integrator": 'method="auto"',
    "stop_time": _END,
    "start_time": _END,
    "until": _END,
    "t0": _END,
    "tf": _END,
    "tend": _END,
    "t_end": _END,
    "params": "parameters={name: value}",
    "tol": "rtol=1e-6, and atol= for values near zero",
    "tolerance": "rtol=1e-6, and atol= for values near zero",
    "sens": _FOLLOWED,
    "sensitivity": _FOLLOWED,
    "verbose": "progress=True",
    "seed": "the seed belongs to the noise: tg.noise(seed=1)",
    "tcrit": "nothing: the times at which a condition changes are found in the model itself",
}


@dataclass(frozen=True)
class Options:
    """Options of a run.

    Parameters
    ----------
    outputs : times to record at, or one number: the distance of equidistant times. None records every step of the integrator and both sides of
        every event.
    sensitivities : parameters to differentiate by: names, ``"all"`` or None.
    method : integration method; "auto" chooses.
    rtol : relative tolerance of the states.
    atol : absolute tolerance: a number, one number an unknown, or by name; None is 0.01 rtol times the nominal size, where none is given times the
        largest value so far, if that is less than 1.
    max_step, first_step : limits of the step size; None for none.
    max_steps : stop with an error after so many steps; None for no limit.
    min_step : the least step of "rke", which ends the run where a shorter one would be needed; None for none.
    max_halvings, disc_halvings : of "pc": how often it may halve its step more than double it, and how many halvings in front of an easy step tell of
        a discontinuity; None for 30, or no limit where there is no max_step to count from, and 10.
    parameters : values that replace the model's, by name; an array has one, and so has every element of it.
    event_rows : record a row before and one after every event; None: only if ``outputs`` is None.
    dense : keep the polynomials of all steps, for ``result.at`` and smooth plots.
    progress : True for a bar with the simulated time, or a function that is called about ten times a second with it.
    on_rows : called about twenty times a second with a result of the rows, events and polynomials that are new.
    record_disabled : what rows show of variables of parts that are switched off: "held", their last values, or "nan", none.
    events : "fast", or "proved" to prove of every step that no event of it was missed; the statistics say of how many that is so.
    """

    outputs: ArrayLike | None = None
    sensitivities: str | Sequence[str] | None = None
    method: str = "auto"
    rtol: float = 1e-6
    atol: float | Sequence[float] | Mapping[str, float] | NDArray[np.float64] | None = None
    max_step: float | None = None
    first_step: float | None = None
    max_steps: int | None = None
    parameters: Mapping[str, ArrayLike] = field(default_factory=dict[str, ArrayLike])
    event_rows: bool | None = None
    dense: bool = True
    progress: bool | Callable[[float], None] | None = None
    on_rows: Callable[[Result], None] | None = None
    min_step: float | None = None
    max_halvings: int | None = None
    disc_halvings: int | None = None
    record_disabled: str = "held"
    events: str = "fast"

    def with_parameters(self, values: Mapping[str, ArrayLike]) -> Options:
        """The same with these values of parameters in place of all that were given."""
        other = object.__new__(Options)  # dataclasses.replace costs as much as half a short run
        vars(other).update(vars(self), parameters=values)
        return other

    def shown(self) -> dict[str, Any]:
        """The options as plain values, for the result file."""
        plain: dict[str, Any] = {"method": self.method, "rtol": self.rtol}
        for name in ("max_step", "first_step", "max_steps", *_OF_ONE_METHOD):
            if getattr(self, name) is not None:
                plain[name] = getattr(self, name)
        for name, usual in (("record_disabled", "held"), ("events", "fast")):
            if getattr(self, name) != usual:
                plain[name] = getattr(self, name)
        if self.atol is not None:
            plain["atol"] = dict(self.atol) if isinstance(self.atol, Mapping) else np.asarray(self.atol, dtype=float).tolist()
        return plain


def check_names(names: Iterable[str]) -> None:
    """UsageError for the first name that no option has, with the option that was meant."""
    known = [entry.name for entry in fields(Options)]
    for name in names:
        if name in known:
            continue
        if name in _ELSEWHERE:
            raise UsageError(f"no option {name!r}", hint=_ELSEWHERE[name])
        raise unknown_name("option", name, known)


def time_span(t_span: Any) -> tuple[float, float]:
    """Start and end as they were given, or UsageError."""
    try:
        # neither texts nor what has no order, though Python can take them apart
        start, end = (_time_number(time) for time in (t_span if not isinstance(t_span, str | bytes | AbstractSet | Mapping) else ()))
    except (TypeError, ValueError):
        raise UsageError(f"t_span must hold two numbers, the start and the end, not {t_span!r}", hint=_two_of(t_span)) from None
    if not (math.isfinite(start) and math.isfinite(end)):
        raise UsageError(f"the run from {start} to {end} has no finite length", hint="give finite times")
    _refuse_unresolved(*sorted((start, end)))
    return start, end


def _two_of(t_span: Any) -> str:
    """What to write in place of what holds no two numbers."""
    if isinstance(t_span, list | tuple | np.ndarray):
        given = cast("Sequence[Any]", t_span)
        if len(given) > len(("start", "end")) and all(isinstance(time, Real) for time in given):
            return f"t_span=({given[0]:g}, {given[-1]:g}) with outputs=times for rows at these times"
        if any(isinstance(time, str) for time in given):
            return 'times are numbers in seconds here; "5min" is for the command line'
    return "t_span=(0, 10)"


def _time_number(given: Any) -> float:
    """A time; TypeError or ValueError for what is no number, also for a text that reads like one."""
    if isinstance(given, str | bytes):
        raise TypeError
    return float(given)


def finite_time(name: str, value: float) -> float:
    """A time, or the error that tells which argument is none."""
    try:
        found = _time_number(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} must be a time, not {value!r}", hint=f"{name}=10.0") from None
    if not math.isfinite(found):
        raise UsageError(f"{name} must be a finite time, not {value}", hint=f"{name}=10.0")
    return found


def _refuse_unresolved(start: float, end: float) -> None:
    """Floats must be fine enough for the times within the run, and the powers of its length must be numbers."""
    largest = max(abs(start), abs(end))
    if largest > _LATEST:
        raise UsageError(f"the run from {start:g} to {end:g} is too long: numbers of this size overflow", hint="measure time in another unit")
    if end > start and end - start < _FEWEST_TIMES * math.ulp(largest):
        count = (end - start) / math.ulp(largest)
        raise UsageError(
            f"the run from {start!r} to {end!r} cannot be resolved: between these times there are only {count:.6g} floating-point numbers",
            hint="count the time from the start of the run, t_span=(0, length), and add what it started from in the model where it matters",
        )


def check_options(options: Options, t_span: Any) -> tuple[float, float]:
    """Start and end of the run, or UsageError naming what does not make sense and what was expected."""
    start, end = time_span(t_span)
    if end < start:
        raise UsageError(f"the run would go backwards, from {start} to {end}", hint="put the earlier time first, or replace t by -t in the model")
    if not 1e-14 <= _number(options, "rtol") < 1.0:
        raise UsageError(f"rtol must lie between 1e-14 and 1, not {options.rtol}", hint="1e-6 is usual, 1e-10 is tight")
    for name in ("max_step", "first_step", "max_steps", *_OF_ONE_METHOD):
        if getattr(options, name) is not None and not _number(options, name) > 0:
            raise UsageError(f"{name} must be positive, not {getattr(options, name)}", hint=f"{_EXAMPLES[name]}, or leave it out for no limit")
    for name, hint in _INTEGERS.items():
        value = getattr(options, name)
        if value is not None and value != int(min(value, 1e18)):
            raise UsageError(f"{name} must be an integer, not {value}", hint=hint)
    if not _is_one_of(options.method, METHODS):
        known, text = f"one of {', '.join(METHODS)}", str(options.method)
        raise UsageError(f"there is no method {options.method!r}", hint=_SCIPY_METHODS.get(text, "") or suggestion(text, METHODS, known))
    _check_steps_of_one_method(options)
    for name, kinds, expected, example in (
        ("sensitivities", (str, Sequence), '"all" or a list of names', 'sensitivities=["k"]'),
        ("parameters", Mapping, "a dict by name", 'parameters={"k": 2.0}'),
    ):
        if getattr(options, name) is not None and not isinstance(getattr(options, name), kinds):
            raise UsageError(f"{name} must be {expected}, not {getattr(options, name)!r}", hint=example)
    if options.progress is not None and not isinstance(options.progress, bool) and not callable(options.progress):
        raise UsageError(f"progress must be True or a function of the time, not {options.progress!r}", hint="progress=True, or progress=print")
    if options.on_rows is not None and not callable(options.on_rows):
        raise UsageError(f"on_rows must be a function, not {options.on_rows!r}", hint="on_rows=lambda part: print(part.t[-1])")
    _check_choices(options)
    return start, end


def _is_one_of(given: object, words: Sequence[str]) -> bool:
    return isinstance(given, str) and given in words


def _check_choices(options: Options) -> None:
    """Options of which there are two."""
    for name in ("dense", "event_rows"):
        value = getattr(options, name)
        if value is not None and not (isinstance(value, bool | int | np.bool_) and value in (0, 1)):
            raise UsageError(f"{name} must be True or False, not {getattr(options, name)!r}", hint=f"{name}=True")
    if not _is_one_of(options.record_disabled, RECORD_DISABLED):
        raise UsageError(
            f"record_disabled is {options.record_disabled!r}",
            hint='"held" for the values that variables of parts that are switched off had last, "nan" for none',
        )
    if not _is_one_of(options.events, EVENTS):
        # SciPy's option of this name takes functions
        is_text = isinstance(cast("object", options.events), str)
        hint = '"fast", or "proved" to have it proved for every step that none was missed'
        belong = "the events belong to the model: tg.ode(..., events=tg.event(condition, reset=...))"
        raise UsageError(f"events is {options.events!r}", hint=hint if is_text else belong)


def _check_steps_of_one_method(options: Options) -> None:
    """Options that mean something to one method only."""
    for name, method in _OF_ONE_METHOD.items():
        if getattr(options, name) is not None and options.method != method:
            hint = "max_steps limits the work" if method == "rke" else "its error test finds how short steps must be"
            raise UsageError(f"{name} is for method={method!r}; method={options.method!r} has no such limit", hint=hint)
    if options.min_step is not None and options.max_step is not None and options.min_step > options.max_step:
        raise UsageError(f"min_step = {options.min_step:g} is more than max_step = {options.max_step:g}", hint="min_step=1e-9 is usual")


def _number(options: Options, name: str) -> float:
    value = getattr(options, name)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UsageError(f"{name} must be a number, not {value!r}", hint=_EXAMPLES.get(name, f"{name}=1e-6"))
    return float(value)


def numbers_given(given: Any) -> NDArray[np.float64]:
    """What is made of numbers, as an array; TypeError or ValueError for texts that read like numbers, truth values and everything else."""
    found = np.asarray(given)
    if found.dtype.kind not in "iufO":
        raise TypeError
    return found.astype(np.float64)


def output_times(options: Options, start: float, end: float) -> NDArray[np.float64]:
    """The times asked for, checked; none if every step is recorded."""
    if options.outputs is None:
        return np.zeros(0)
    try:
        times = numbers_given(options.outputs)
    except (TypeError, ValueError):
        raise UsageError(
            f"outputs must be times or a distance of times, not {options.outputs!r}",
            hint="outputs=np.linspace(0, 10, 101); a result has all variables, and a sweep those of variables=[...]",
        ) from None
    if times.ndim == 0:
        return _equidistant(float(times), start, end)
    if times.ndim != 1 or times.size == 0 or not np.all(np.isfinite(times)):
        raise UsageError("outputs must be a list of finite times", hint="outputs=np.linspace(0, 10, 101)")
    if np.any(np.diff(times) <= 0):
        raise UsageError("outputs must be increasing times", hint="sort them and drop repetitions: np.unique(times)")
    if times[0] < start or times[-1] > end:
        raise UsageError(f"outputs from {times[0]:g} to {times[-1]:g} reach beyond the run from {start:g} to {end:g}", hint="make t_span cover them")
    return times


def _equidistant(distance: float, start: float, end: float) -> NDArray[np.float64]:
    """Times from start to end, both included; the last distance may be shorter."""
    if not (distance > 0 and math.isfinite(distance)):
        raise UsageError(f"outputs={distance} is no distance of output times", hint="a positive number, or a list of times")
    if (end - start) / distance > _MOST_OUTPUTS:
        raise UsageError(
            f"outputs={distance:g} asks for {(end - start) / distance:.2g} output times", hint=f"at most {_MOST_OUTPUTS:.0e} fit into a result"
        )
    count = math.floor((end - start) / distance * (1 + 1e-12))
    times: NDArray[np.float64] = start + distance * np.arange(count + 1, dtype=np.float64)
    if end - times[-1] > _SLACK * distance:
        return np.append(times, end)
    times[-1] = end
    return times


def of_unknown_length(options: Mapping[str, Any], t_start: float) -> Options:
    """Options of which the names and the output times are right, where the end is not known; the rest is checked when a run is prepared."""
    check_names(options)
    chosen = Options(**dict(options))
    # whatever times are given lie in the run
    last = t_start + ASSUMED_LENGTH
    with suppress(TypeError, ValueError):  # what is no number is refused below
        last = max(last, float(np.max(np.asarray(chosen.outputs, dtype=float), initial=t_start)))
    output_times(chosen, t_start, last)
    return chosen


def changed(options: Options, changes: Mapping[str, Any], t_start: float) -> Options:
    """The options with some replaced, of those that can be once a run has begun."""
    check_names(changes)
    for name, hint in _UNCHANGEABLE.items():
        if name in changes:
            raise UsageError(f"{name} cannot be changed once a simulation has begun", hint=hint)
    return of_unknown_length({entry.name: getattr(options, entry.name) for entry in fields(Options)} | dict(changes), t_start)


def times_behind(options: Options, t_start: float, after: float, until: float) -> NDArray[np.float64]:
    """The output times behind ``after`` and up to ``until``, which is always one of them; none if every step is recorded."""
    if options.outputs is None:
        return NO_TIMES
    times: NDArray[np.float64] = np.asarray(options.outputs, dtype=float)
    if times.ndim == 0:
        distance = float(times)
        first = max(math.floor((after - t_start) / distance), 0) if math.isfinite(after) else 0
        times = t_start + distance * np.arange(first, math.ceil((until - t_start) / distance) + 1, dtype=float)
        times = times[times < until - _SLACK * distance]
    return np.append(times[(times > after) & (times < until)], until)
