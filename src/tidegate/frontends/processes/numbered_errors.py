"""The numbered errors in the words of this front end: whom one is about, what to try, what may be repaired (stage: front end)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final

from tidegate.errors import Origin, ProcessError, UsageError
from tidegate.expressions.tracing.source import written_at
from tidegate.names import listed, suggestion

__all__ = ["CHANGES", "METHODS", "checked", "told", "users_line"]

METHODS: Final = ("rke", "pc", "euler", "adams2", "trapezoid", "heun")

CHANGES: Final[dict[int, tuple[str, ...]]] = {
    1: ("method", "dtmin", "dtmax", "abserror", "relerror", "max_halvings", "disc_halvings"),
    4: ("dtmin", "dtmax"),
    5: ("dtmin", "dtmax"),
    6: ("every",),
    21: (),
}

_IN_EVENTS: Final = "do it in a process, between two of its yields; what is to happen at a condition waits for it with env.wait_until"
_HINTS: Final = {
    1: "where a rate jumps, let a process wait for the jump with env.wait_until, which finds it; or go on by error.resume(dtmin=...), abserror=..., "
    "method=...",
    2: "a greater dtmin and dtmax",
    3: "schedule something, or let a process wait for a condition",
    4: "error.resume(dtmin=...)",
    5: "error.resume(dtmin=..., dtmax=...)",
    6: "error.resume(every=...) with a longer interval",
    7: "look at the condition; env.run(until=...) ends a run in any case",
    21: "put there what env.variable, env.continuous and env.sample give; error.resume() goes on without it",
}
_OF_NUMBER_1: Final = {
    "pc": "error.resume(max_halvings=...), abserror=... or method=...",
    "fixed": "error.resume(dtmax=...), if the rates are numbers again",
}


def told(trouble: Any, traceback: TracebackType | None = None) -> ProcessError:
    """The error for what was found; with the traceback of a refusal the place of the user's line."""
    number = trouble.number
    name = _name(trouble.culprit)
    about = f" ({name})" if name else ""
    if number == 1 and trouble.kind != "fixed":
        about = f" ({name}: {float(trouble.allowed):.3g} is allowed, {float(trouble.estimated):.3g} estimated)"
    limits = f"dt {float(trouble.dt):g}, dtmin {float(trouble.dtmin):g}, dtmax {float(trouble.dtmax):g}"
    return ProcessError(
        f"{number}: {trouble.sentence}{about}, at t = {float(trouble.time):g} ({limits})",
        trouble=trouble,
        name=name,
        changes=CHANGES.get(number),
        origin=users_line(traceback),
        hint=_OF_NUMBER_1.get(trouble.kind, _HINTS.get(number, _IN_EVENTS)),
    )


def _name(culprit: Any) -> str:
    if culprit is None:
        return ""
    return str(getattr(culprit, "name", "")) or repr(culprit)


def users_line(traceback: TracebackType | None) -> Origin | None:
    """The innermost line of a traceback that is neither ours nor SimPy's."""
    found = None
    while traceback is not None:
        module = str(traceback.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] not in ("tidegate", "simpy"):
            found = traceback.tb_frame
        traceback = traceback.tb_next
    return None if found is None else written_at(found)


def checked(error: ProcessError, changes: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """The changes, if this error allows them and they make sense together with what is not changed.

    Raises
    ------
    UsageError
        If not; in words that name what is allowed.
    """
    allowed = error.changes or ()
    for name in changes:
        if name not in allowed:
            those = f"{listed(allowed)} may" if allowed else "go on with error.resume() as it is"
            raise UsageError(f"behind number {error.number} {name} cannot be changed", hint=those)
    for name, value in changes.items():
        _check_one(name, value)
    dtmin, dtmax = (changes.get(name, getattr(settings, name)) for name in ("dtmin", "dtmax"))
    if not 0 <= dtmin <= dtmax:
        raise UsageError(f"dtmin would be {dtmin:g} and dtmax {dtmax:g}", hint="dtmin is at least 0 and at most dtmax")
    return dict(changes)


def _check_one(name: str, value: Any) -> None:
    if name == "method":
        if value not in METHODS:
            raise UsageError(f"no method {value!r}", hint=suggestion(value, METHODS, f"one of {listed(METHODS)}"))
        return
    is_count = name.endswith("_halvings")
    is_number = isinstance(value, int if is_count else int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0 or (value == 0 and (is_count or name == "every")):
        least = "a whole number above 0" if is_count else "a number above 0" if name == "every" else "a number that is at least 0"
        raise UsageError(f"{name} is {least}, not {value!r}")
