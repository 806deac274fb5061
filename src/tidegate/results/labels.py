"""Names and numbers as people read them (stage: results). In go names and values, out come sentences and short texts."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import Final

from tidegate.errors import UnknownNameError

__all__ = ["FinalValues", "close_names", "number", "seconds", "unknown_name"]

_SHOWN_NAMES: Final = 8  # so many names fit a line of an error message


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names most like this one, best first; letter case does not count.

    Examples
    --------
    >>> close_names("Levle", ["level", "inflow"])
    ['level']
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    return [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)]


class FinalValues(dict[str, float]):
    """Values by name, that answer a name which is not there with those that are."""

    def __missing__(self, name: str) -> float:
        raise unknown_name("variable", name, list(self))


def unknown_name(kind: str, name: str, known: Sequence[str], *, of: str = "") -> UnknownNameError:
    """The error for a name that does not exist: the close names, or else those there are.

    Parameters
    ----------
    kind : what was asked for, e.g. ``"variable"``.
    name : as the caller gave it.
    known : every name that would have been right.
    of : what the names belong to, e.g. ``"model tank"``.
    """
    known = list(dict.fromkeys(known))
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        return UnknownNameError(f"a {kind} has a name, and {name!r} is none", hint=f"one of {', '.join(known[:_SHOWN_NAMES])}")
    close = close_names(name, known)
    shown = ", ".join(known[:_SHOWN_NAMES]) + (f" and {len(known) - _SHOWN_NAMES} more" if len(known) > _SHOWN_NAMES else "")
    if close:
        hint = " or ".join(close)
    elif known:
        hint = f"one of {shown}"
    else:
        hint = f"there is no {kind} at all"
    return UnknownNameError(f"no {kind} {name!r}" + (f" in {of}" if of else ""), hint=hint)


def number(value: float, digits: int = 6) -> str:
    """A number in few characters: ``12`` for 12.0, ``1e-9`` for 1e-09.

    Examples
    --------
    >>> number(12.0), number(1e-9), number(0.1 + 0.2)
    ('12', '1e-9', '0.3')
    """
    if not math.isfinite(value):
        return str(value)
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return f"{mantissa}e{int(exponent)}"


def seconds(duration: float) -> str:
    """A duration with the unit that suits it.

    Examples
    --------
    >>> seconds(0.0123), seconds(75.0)
    ('12.3 ms', '75 s')
    """
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if duration < limit:
            return f"{number(duration * factor, 3)} {unit}"
    return f"{number(duration, 3)} s"
