"""What is asked in front of a numbered error: whether to stop, what to change (stage: front end)."""

from __future__ import annotations

from typing import Any, Final

from tidegate.errors import ProcessError
from tidegate.frontends.processes.dialogue.prologue import FIXED_STEP, ask_limits, ask_method, at_least_0
from tidegate.frontends.processes.dialogue.questions import Debugging, Talk, ask_choice, ask_real, ask_whether, ask_whole
from tidegate.quick_dataclass import dataclass

__all__ = ["Leave", "error_talk"]

_MAX_HALVINGS: Final = 30  # what is offered, whatever holds
_DISC_HALVINGS: Final = 10
_ALWAYS: Final = ("METHOD", "DTMIN", "ERROR", "DEBUGGER", "STOP")
_OF_PC: Final = ("MAX_HALVINGS", "DISC_HALVINGS")
_COMMANDS: Final = (*_ALWAYS, *_OF_PC, "CONTINUE", "SIMDDT")
_HELP: Final = """METHOD: another method
DTMIN: other limits of the step, dtmin and dtmax
ERROR: other tolerances of the variable that fails
DEBUGGER: look around and change things with Python's debugger, then come back here
STOP: leave the run
MAX_HALVINGS: how often pc may halve its step
DISC_HALVINGS: how many halvings tell pc that it has passed a discontinuity
CONTINUE: go on with the run"""


@dataclass(frozen=True, slots=True)
class Leave:
    """The run is to be left."""


def error_talk(error: ProcessError, settings: Any) -> Talk[dict[str, Any] | Leave]:
    """The dialogue in front of an error; ``settings`` are those that hold. Out comes what is to be changed, or that the run is left."""
    yield error.message
    if error.number == 1:
        return (yield from _integration_error(error, settings))
    if error.number in (4, 5):
        return (yield from ask_limits(settings.dtmin, settings.dtmax))
    if error.number == 6:
        return (yield from _sample_error())
    wants_debugger = yield from ask_whether("enter the debugger?", default=False)
    if error.number == 21:
        if wants_debugger:
            yield Debugging(comes_back=True)
        return {}
    if wants_debugger:
        yield Debugging(comes_back=False)
    return Leave()


def _sample_error() -> Talk[dict[str, Any] | Leave]:
    if (yield from ask_whether("stop?", default=True, explanation="no: give the sample a longer interval, or look around with the debugger")):
        return Leave()
    if (yield from ask_whether("enter the debugger?", default=False)):
        yield Debugging(comes_back=True)
        return {}
    return {"every": (yield from ask_real("every", lambda value: "" if value > 0 else "it must be above 0"))}


def _integration_error(error: ProcessError, settings: Any) -> Talk[dict[str, Any] | Leave]:
    if (yield from ask_whether("stop?", default=True, explanation="no: change what hinders the step, and go on")):
        return Leave()
    changes: dict[str, Any] = {}
    listing = (*_ALWAYS, *(_OF_PC if error.kind == "pc" else ()))
    while True:
        command = yield from ask_choice("change what?", _COMMANDS, listing=listing, explanation=_HELP)
        listing = (*_ALWAYS, *(_OF_PC if error.kind == "pc" else ()), "CONTINUE")
        if command == "CONTINUE":
            return changes
        if command == "STOP":
            return Leave()
        if command in ("DEBUGGER", "SIMDDT"):
            yield Debugging(comes_back=True, changes=changes)
            changes = {}
        else:
            changes |= yield from _change(command, error, settings, changes)


def _change(command: str, error: ProcessError, settings: Any, changes: dict[str, Any]) -> Talk[dict[str, Any]]:
    dtmin, dtmax = (changes.get(name, getattr(settings, name)) for name in ("dtmin", "dtmax"))
    if command == "METHOD":
        method = yield from ask_method(changes.get("method", settings.method))
        if method not in FIXED_STEP or not (yield from ask_whether("change dtmax? every step is as long", default=True)):
            return {"method": method}
        return {"method": method} | (yield from ask_limits(dtmin, dtmax))
    if command == "DTMIN":
        return (yield from ask_limits(dtmin, dtmax))
    if command == "MAX_HALVINGS":
        yield f"max_halvings is {settings.max_halvings}"
        return {"max_halvings": (yield from ask_whole("max_halvings", _above_0, _MAX_HALVINGS))}
    if command == "DISC_HALVINGS":
        yield f"disc_halvings is {settings.disc_halvings}"
        return {"disc_halvings": (yield from ask_whole("disc_halvings", _above_0, _DISC_HALVINGS))}
    return (yield from _tolerances(error, changes))


def _tolerances(error: ProcessError, changes: dict[str, Any]) -> Talk[dict[str, Any]]:
    """Those of the variable that fails; others keep theirs."""
    relerror, abserror = (changes.get(name, getattr(error.culprit, name)) for name in ("relerror", "abserror"))
    yield f"of {error.name}: abserror {abserror:.2e}, relerror {relerror:.2e}, state {error.state:.2e}"
    yield f"error allowed {error.allowed:.2e}, estimated {error.estimated:.2e}"
    wanted = {"relerror": (yield from ask_real("relerror", at_least_0, relerror))}
    wanted["abserror"] = yield from ask_real("abserror", _above_0, abserror)
    return wanted


def _above_0(value: float) -> str:
    return "" if value > 0 else "it must be above 0"
