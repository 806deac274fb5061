"""What is asked before a run, and in part again in front of an error: the method, the limits of the step, the tolerances (stage: front end)."""

from __future__ import annotations

from typing import Any, Final

from tidegate.frontends.processes.dialogue.questions import Talk, ask_choice, ask_real
from tidegate.frontends.processes.numbered_errors import METHODS

__all__ = ["FIXED_STEP", "ask_limits", "ask_method", "at_least_0", "prologue_talk"]

FIXED_STEP: Final = METHODS[2:]

_HELP_ON_METHODS: Final = """rke: Runge-Kutta-England, order 4, variable step
pc: Hamming's predictor-corrector, order 4, variable step, finds discontinuities
euler: order 1, every step is dtmax
adams2, trapezoid, heun: order 2, every step is dtmax
RK, ADAMS and TRAPEZ are understood as well"""
_HELP_ON_DTMIN: Final = "the least step of rke, and how closely the time is found at which a condition begins to hold"
_HELP_ON_DTMAX: Final = "the longest step; the step of the methods of fixed step"

_HELP_ON_RELERROR: Final = "the error a step may have, as a fraction of each state"
_HELP_ON_ABSERROR: Final = "the error a step may have beside relerror; it counts where a state passes 0"


def ask_method(default: str) -> Talk[str]:
    """The method, by its name, that of CONDIS, or the beginning of either: RK is rke, ADAMS is adams2, TRAPEZ is trapezoid."""
    return (yield from ask_choice("method", METHODS, default, explanation=_HELP_ON_METHODS))


def ask_limits(dtmin: float, dtmax: float) -> Talk[dict[str, float]]:
    """Both limits of the step; the actual ones are offered."""
    least = yield from ask_real("dtmin", _above_0, dtmin, explanation=_HELP_ON_DTMIN)

    def rule(value: float) -> str:
        return "" if value >= least else f"dtmax must be at least dtmin, {least:g}"

    return {"dtmin": least, "dtmax": (yield from ask_real("dtmax", rule, dtmax, explanation=_HELP_ON_DTMAX))}


def prologue_talk(actual: dict[str, Any]) -> Talk[dict[str, Any]]:
    """Method, limits and tolerances of a run; in go those that hold, out come those that are wanted.

    For the tolerances there is no default, and abserror must be above 0: a state may pass 0.
    """
    answers: dict[str, Any] = {"method": (yield from ask_method(actual["method"]))}
    answers |= yield from ask_limits(actual["dtmin"], actual["dtmax"])
    answers["relerror"] = yield from ask_real("relerror", at_least_0, explanation=_HELP_ON_RELERROR)
    answers["abserror"] = yield from ask_real("abserror", _above_0, explanation=_HELP_ON_ABSERROR)
    return answers


def at_least_0(value: float) -> str:
    """What is wrong with a number that must not be negative."""
    return "" if value >= 0 else "it must be at least 0"


def _above_0(value: float) -> str:
    return "" if value > 0 else "it must be above 0"
