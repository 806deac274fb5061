"""Names in sentences: which known one is meant by a name that is not there, and the first of many. In go names, out come texts and one error."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from tidegate.errors import UnknownNameError, UsageError

__all__ = ["MULTIPLIER", "Spelling", "close_names", "given_by_name", "listed", "shortened", "suggestion", "unknown_name", "users_name"]

MULTIPLIER: Final = "(mu"  # what names of multipliers of constraints begin with: names of users cannot
_HIDDEN: Final = re.compile(r"^(.*?)(?:kept|given|source|was)\((.*)\)$")
_SHOWN: Final = 8  # so many names fit a line of an error message
_MOST_CLOSE: Final = 3
_ALIKE: Final = 0.6  # difflib's own measure of what is close


def given_by_name(what: str, given: Any, example: str) -> dict[Any, Any]:
    """What a user gives by name, as a dict of its own; None is nothing.

    Raises
    ------
    UsageError
        For anything that is no dict; ``example`` is the hint.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(f"{what} must be a dict by name, not {given!r:.80}", hint=example)
    return dict(cast("Mapping[Any, Any]", given))


def close_names(name: object, known: Iterable[str], alike: float = _ALIKE) -> list[str]:
    """The known names most like this one, best first; letter case does not count, and of a path the end or the beginning may be given.

    Examples
    --------
    >>> close_names("Levle", ["level", "inflow"])
    ['level']
    >>> close_names("R", ["source.V", "R1.R"])
    ['R1.R']
    >>> close_names("motor", ["motor.state1", "rate"])
    ['motor.state1']
    """
    by_folded: dict[str, list[str]] = {}
    for candidate in dict.fromkeys(known):
        by_folded.setdefault(candidate.casefold(), []).append(candidate)
    matches = difflib.get_close_matches(str(name).casefold(), by_folded, n=_MOST_CLOSE, cutoff=alike)
    own = str(name).casefold()
    ending = [folded for folded in by_folded if folded.endswith(f".{own}")]
    below = [folded for folded in by_folded if own and folded.startswith(f"{own}.")]
    return [candidate for match in dict.fromkeys([*ending, *below, *matches]) for candidate in by_folded[match]][:_MOST_CLOSE]


class Spelling:
    """How names are spelled that are found in any letter case.

    Parameters
    ----------
    names : all of them; of those that differ by letter case alone the last counts.

    Examples
    --------
    >>> spelled = Spelling(["HEIGHT", "v"])
    >>> spelled("height"), spelled("V"), spelled("g")
    ('HEIGHT', 'v', 'g')
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_folded = {name.casefold(): name for name in names}

    def __call__(self, name: Any) -> Any:
        """The name that is meant; itself where there is none."""
        return self._by_folded.get(name.casefold(), name) if self._by_folded and isinstance(name, str) else name


def suggestion(name: object, known: Iterable[str], otherwise: str, alike: float = _ALIKE) -> str:
    """A hint: which known names may be meant, or what is said otherwise.

    Examples
    --------
    >>> suggestion("levle", ["level", "inflow"], "it has level and inflow")
    "did you mean 'level'?"
    """
    close = close_names(name, known, alike)
    return f"did you mean {', '.join(map(repr, close))}?" if close else otherwise


def shortened(items: Iterable[str], most: int) -> list[str]:
    """The first of them, and at the end how many more there are."""
    every = list(items)
    return every[:most] + ([f"and {len(every) - most} more"] if len(every) > most else [])


def listed(items: Iterable[str], most: int = _SHOWN, between: str = ", ") -> str:
    """The first of them as a text.

    Examples
    --------
    >>> listed("abcd", 2)
    'a, b and 2 more'
    """
    every = list(items)
    return between.join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def users_name(name: str) -> str:
    """The variable of the user's that a hidden one is for: what is kept of it, or which clause determines it; any other name as it is.

    Examples
    --------
    >>> users_name("tank.source(level)"), users_name("level")
    ('tank.level', 'level')
    """
    return _HIDDEN.sub(r"\1\2", name)


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
    those = f"one of {listed(known)}" if known else f"there is no {kind} at all"
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        return UnknownNameError(f"a {kind} has a name, and {name!r} is none", hint=those)
    return UnknownNameError(f"no {kind} {name!r}" + (f" in {of}" if of else ""), hint=" or ".join(close_names(name, known)) or those)
