"""Settings that a block proposes for a run, and what a run tells the block of itself (DSblock 3.3: BLO3DD, BLO3DE, BLO3DI; BLOSID, BLOSII).

In: a description, what the caller has chosen. Out: what the run is made with; the caller's own choices win. What this program has no use for is
noted in the log.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.description import Description, ParameterEntry, ParameterKind, SignalKind
from tidegate.model import Form
from tidegate.names import suggestion
from tidegate.quick_dataclass import dataclass

__all__ = ["COMMUNICATION", "OWN_OPTIONS", "Environment", "RunOptions", "nominal_sizes", "proposed"]

FloatArray = NDArray[np.float64]
OWN_OPTIONS: Final = ("inputs", "communication", "store_priority", "max_evaluations", "traced", "hdae", "make_consistent")
COMMUNICATION: Final = ("interpolate", "exact", "restart")
_SAME_TIME: Final = 1e-10  # instants so close, relative to the time since the start of the run, are one
_ROUNDING: Final = 8 * float(np.finfo(float).eps)  # of a time, relative to its size
_EVENT_EPSILON: Final = 1e-12
_MOST_ROUNDS: Final = 20
_DOUBLE: Final = 3
_RTOL: Final = 1e-6
_LEAST_PRIORITY: Final = 100
_LOG: Final = logging.getLogger("tidegate.dsblock")


@dataclass(frozen=True)
class Environment:
    """What a block may ask of the run it is in.

    Parameters
    ----------
    t_start, t_end : of the run; infinite where nobody has said how long it is.
    rtol : relative tolerance of the states.
    time_tolerance : two times that are this much of the time since the start apart are one.
    event_epsilon : below it an indicator counts as zero.
    delay_resolution : how close stored values of a delayed signal may be; None where nothing was said.
    precision : of numbers: 2 for single, 3 for double precision.
    debug : how much output for finding faults is wanted; 0 for none.
    max_event_rounds : how often things may follow from each other at one instant.
    """

    t_start: float = 0.0
    t_end: float = float("inf")
    rtol: float = _RTOL
    time_tolerance: float = _SAME_TIME
    event_epsilon: float = _EVENT_EPSILON
    delay_resolution: float | None = None
    precision: int = _DOUBLE
    debug: int = 0
    max_event_rounds: int = _MOST_ROUNDS

    def is_same_time(self, a: float, b: float) -> bool:
        """Whether two times are one instant.

        The source's DVAL * min(t1, t2) means nothing where times are zero or negative, and is far too much where a run starts at a large time; the
        time since the start is what they have in common with it for a run from zero.
        """
        return math.isfinite(a) and math.isfinite(b) and abs(a - b) <= max(self.same_within(a), self.same_within(b))

    def same_within(self, time: float) -> float:
        """How far behind a time another is still the same instant."""
        return max(self.time_tolerance * abs(time - self.t_start), _ROUNDING * abs(time))


@dataclass(frozen=True, eq=False)
class RunOptions:
    """Options of one run that blocks have and other models have not.

    Parameters
    ----------
    inputs : as ``signals.InputSignals`` takes them.
    communication : "interpolate" where a step passes a communication point, "exact" to end a step there, "restart" to begin anew there too.
    points : communication points, where they are not interpolated.
    store_priority : event points that are less important are not recorded; None for no limit.
    max_evaluations : of the equations; None for no limit.
    hdae : of an HDAE, in which of its forms it is solved; None for the usual one.
    make_consistent : whether values off the constraints of an HDAE are moved onto them.
    traced : whether callbacks are followed on symbols: True where they must be, False for none, None where they can be.
    parameters : of the run, by name; of what form the equations are is found out with these.
    has_sensitivities : derivatives by parameters are wanted.
    """

    inputs: Mapping[str, Any]
    communication: str = "interpolate"
    points: FloatArray | None = None
    store_priority: int | None = None
    max_evaluations: int | None = None
    environment: Environment = Environment()
    hdae: object = None
    make_consistent: bool = False
    traced: bool | None = None
    has_sensitivities: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])


def proposed(
    described: Description, t_span: tuple[float, float] | None, options: Mapping[str, Any]
) -> tuple[tuple[float, float], dict[str, Any], RunOptions]:
    """The time span, the options of every run, and those of blocks.

    Raises
    ------
    UsageError : nobody says where the run ends, or an option of blocks is wrong.
    """
    wants = described.proposals
    if t_span is None:
        if wants.t_end is None:
            raise UsageError(f"nobody says where the run of {described.name} ends", hint="tg.simulate(block, (0, 10)), or declare.defaults(t_end=10)")
        t_span = described.t0, wants.t_end
    chosen = {name: value for name, value in options.items() if value is not None and name not in OWN_OPTIONS}
    usual = {"rtol": wants.rtol, "first_step": wants.first_step, "max_step": wants.max_step, "outputs": _outputs(described, t_span)}
    for name, value in usual.items():
        if value is not None:
            chosen.setdefault(name, value)
    unused: dict[str, Any] = {"delay_resolution": wants.delay_resolution, "max_order": wants.max_order}
    unused["precision"] = None if wants.precision == _DOUBLE else wants.precision
    if chosen.get("method", "auto") == "auto" and wants.prefers_stiff is False and described.form is Form.ODE:
        chosen["method"] = "adams"
    if chosen.get("method") == "rke" and wants.min_step is not None:
        chosen.setdefault("min_step", wants.min_step)
    elif "min_step" not in chosen:
        unused["min_step"] = wants.min_step
    for name, value in unused.items():
        if value is not None:
            _LOG.info("DSblock %s proposes %s = %s, which is not used here", described.name, name, value)
    if chosen.get("sensitivities"):
        chosen["sensitivities"] = _differentiable(described, chosen["sensitivities"])
    own = _own_options(described, t_span, options, chosen)
    if own.store_priority is not None:
        chosen.setdefault("event_rows", True)
    return t_span, chosen, own


def nominal_sizes(described: Description) -> dict[str, float]:
    """Typical sizes of states; what is declared of one counts more than a proposal for all."""
    states, every = described.names(SignalKind.STATE), described.proposals.nominal
    found = {} if every is None else dict(zip(states, map(abs, every), strict=False))
    for entry in described.of_kind(SignalKind.STATE):
        if entry.nominal is not None:
            found |= dict.fromkeys(states[entry.places], abs(entry.nominal))
    return found


def _differentiable(described: Description, wanted: Any) -> Any:
    """The real parameters, where all are wanted.

    Raises
    ------
    UsageError : one of the others is.
    """
    if wanted == "all":
        return [entry.name for entry in described.parameters if entry.kind is ParameterKind.REAL]
    for name in [wanted] if isinstance(wanted, str) else wanted:
        entry = described.by_name.get(str(name).partition("[")[0].upper())
        if isinstance(entry, ParameterEntry) and entry.kind is not ParameterKind.REAL:
            kind = "an integer" if entry.kind is ParameterKind.INTEGER else "true or false"
            hint = "leave it out of sensitivities="
            raise UsageError(f"the parameter {name} of {described.name} is {kind}: there is no derivative by it", hint=hint)
    return wanted


def _outputs(described: Description, t_span: tuple[float, float]) -> Any:
    wants = described.proposals
    if wants.output_step is not None:
        return wants.output_step
    return None if wants.output_intervals is None or not np.isfinite(t_span[1]) else np.linspace(*t_span, wants.output_intervals + 1)


def _own_options(described: Description, t_span: tuple[float, float], options: Mapping[str, Any], chosen: Mapping[str, Any]) -> RunOptions:
    wants = described.proposals
    communication = options.get("communication") or wants.communication or "interpolate"
    if communication not in COMMUNICATION:
        hint = suggestion(str(communication), COMMUNICATION, "it is 'interpolate', 'exact' or 'restart'")
        raise UsageError(f"communication={communication!r}", hint=hint)
    limit = options.get("max_evaluations", wants.max_evaluations)
    if limit is not None and (isinstance(limit, bool) or int(limit) != limit):
        raise UsageError(f"max_evaluations={limit!r}", hint="a whole number; 0 for no limit")
    priority = options.get("store_priority")
    if priority is not None and (isinstance(priority, bool) or int(priority) != priority or not 0 <= priority <= _LEAST_PRIORITY):
        raise UsageError(f"store_priority={priority!r}", hint="from 0 (no event point is recorded) to 100 (all are)")
    inputs = options.get("inputs")
    points = None if communication == "interpolate" else _points(chosen.get("outputs"), t_span)
    rtol = chosen.get("rtol", _RTOL)
    environment = Environment(float(t_span[0]), float(t_span[1]), float(rtol) if isinstance(rtol, int | float) else _RTOL,
                              delay_resolution=wants.delay_resolution)  # fmt: skip
    for name in ("hdae", "make_consistent"):
        if options.get(name) is not None and described.form is not Form.HDAE:
            raise UsageError(
                f"{name} is chosen for DSblock {described.name}, which is of the form {described.form.value}",
                hint="only the form HDAE has constraints, and several ways to keep them",
            )
    return RunOptions(
        {} if inputs is None else inputs, communication, points, priority, limit if limit and limit > 0 else None, environment,
        options.get("hdae"), bool(options.get("make_consistent")), options.get("traced"), bool(chosen.get("sensitivities")),
        options.get("parameters") or {},
    )  # fmt: skip


def _points(outputs: Any, t_span: tuple[float, float]) -> FloatArray:
    """Communication points; what they cannot be is refused where the run is prepared."""
    try:
        times = np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        return np.zeros(0)
    start, end = t_span
    if outputs is not None and times.ndim == 0 and not np.isfinite(end):
        raise UsageError("communication points are to be stepped to, and nobody knows how many there are", hint="give all of them: outputs=times")
    if times.ndim == 0 and outputs is not None and times > 0:
        times = start + float(times) * np.arange(1, int((end - start) / float(times)) + 2)
    elif times.ndim != 1 or outputs is None:
        return np.zeros(0)
    return cast("FloatArray", times[(times > start) & (times < end)])
