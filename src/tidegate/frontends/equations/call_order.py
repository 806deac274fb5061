"""What functions of the user are called with (front end of plain functions). In: a function, its first arguments, what the model has. Out: the rest.

Behind the first ones, an argument that is called p or d is what its name says, in either order; any other is p, or d where p is taken or the model
has none. An argument with a value of its own keeps that, unless it is called p or d.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from tidegate.errors import UsageError
from tidegate.expressions.tracing import function_origin
from tidegate.quick_dataclass import dataclass

__all__ = ["CallOrder", "Taken"]

Taken = Literal["p", "d"]
_GIVEN: Final = {"p": "p={'name': value, ...}", "d": "discrete={'name': value, ...}"}
_MEANT: Final = {"p": "parameters", "d": "discrete variables"}


@dataclass(frozen=True)
class CallOrder:
    """How the functions of one model are called.

    Parameters
    ----------
    maker : who calls them, for messages: ``"tg.ode"``.
    has_p, has_d : whether the model has parameters and discrete variables.
    """

    maker: str
    has_p: bool
    has_d: bool

    def behind(self, function: Callable[..., Any], first: Sequence[str], name: str, shown: str = "f") -> tuple[Taken, ...]:
        """What a function takes behind its first arguments.

        Parameters
        ----------
        first : names of those, as documented.
        name : of the function, for messages; shown : what stands for it where a call is written.

        Raises
        ------
        UsageError : it cannot be called so, or would take one thing for another.

        Examples
        --------
        >>> CallOrder("tg.ode", has_p=True, has_d=True).behind(lambda t, y, d, p: None, ("t", "y"), "rates")
        ('d', 'p')
        """
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return self._there
        positional = [item for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
        is_open = any(item.kind is item.VAR_POSITIONAL for item in parameters)
        required = sum(item.default is item.empty for item in positional)
        only_named = [item.name for item in parameters if item.kind is item.KEYWORD_ONLY and item.default is item.empty]
        if "t" in first:
            self._require_time_first(function, [item.name for item in positional[:required]], first, name, shown)
        takes = f"{name} takes {required} argument{'s' * (required != 1)}"
        if only_named:
            takes = f"{name} takes {' and '.join(only_named)} by name only"
        elif len(positional) >= len(first) or is_open:
            self._require_own_places(positional, first, function, name, shown)
            behind = [item.name for item in positional[len(first) :] if item.default is item.empty or item.name in self._there]
            found = self._named(behind, function, name)
            if found is not None:
                self._require_no_gap(positional[len(first) :], behind, function, name)
                return (*found, *(one for one in self._there if is_open and one not in found))
        is_short = not only_named and len(positional) < len(first)
        hint = "let it take these, whether it needs them or not" if is_short else "give everything else through p={...}, or close over it"
        raise UsageError(f"{takes}; {self.maker} calls {self._calls(first, shown)}", origin=function_origin(function), hint=hint)

    @property
    def _there(self) -> tuple[Taken, ...]:
        of_p: tuple[Taken, ...] = ("p",) if self.has_p else ()
        return (*of_p, "d") if self.has_d else of_p

    def _named(self, behind: Sequence[str], function: Callable[..., Any], name: str) -> tuple[Taken, ...] | None:
        """What each of these is; None where there are more of them than there is to give."""
        left: list[Taken] = [one for one in self._there if one not in behind]
        if sum(one not in ("p", "d") for one in behind) > len(left):
            return None
        found: list[Taken] = []
        for one in behind:
            if one == "p" and self.has_p:
                found.append("p")
            elif one == "d" and self.has_d:
                found.append("d")
            elif one == "p" or (not left and one == "d"):
                what = f"{name} takes {_MEANT[one]} {one}, but {self.maker} was given no {_GIVEN[one].partition('=')[0]}"
                raise UsageError(what, origin=function_origin(function), hint=_GIVEN[one])
            elif not left:
                return None
            else:
                found.append(left.pop(0))
        return tuple(found)

    def _require_no_gap(self, given: Sequence[inspect.Parameter], behind: Sequence[str], function: Callable[..., Any], name: str) -> None:
        """Arguments are handed over by their places: none that keeps its own value may stand before one that is given."""
        kept = next((item.name for item in given[: len(behind)] if item.name not in behind), None)
        if kept is not None:
            what = f"{name} takes {behind[-1]} behind {kept}, which has a value of its own"
            raise UsageError(what, origin=function_origin(function), hint=f"let {behind[-1]} stand before {kept}")

    def _require_own_places(
        self, positional: Sequence[inspect.Parameter], first: Sequence[str], function: Callable[..., Any], name: str, shown: str
    ) -> None:
        """A value of its own, as in ``lambda t, q=q: t > q``, is not meant to be overwritten by the unknowns."""
        for meant, given in zip(first, positional, strict=False):
            if given.default is not given.empty and given.default is not None and given.name != meant:
                what = f"{name} takes {given.name}, with a value of its own, in the place of {meant}; {self.maker} calls {self._calls(first, shown)}"
                hint = f"let it take {', '.join(first)} in front of {given.name}, whether it needs them or not"
                raise UsageError(what, origin=function_origin(function), hint=hint)

    def _require_time_first(self, function: Callable[..., Any], names: Sequence[str], first: Sequence[str], name: str, shown: str) -> None:
        """A function that is written for odeint gets the unknowns first, and would take the time for them."""
        if "t" in names[1:]:
            what = f"{name} takes {', '.join(names)}; {self.maker} calls {self._calls(first, shown)}, with the time first"
            raise UsageError(what, origin=function_origin(function), hint="let it take the time first, or wrap it: lambda t, y: f(y, t)")

    def _calls(self, first: Sequence[str], shown: str) -> str:
        behind = [(), ("p",)] if not self.has_d else [("d",), ("p", "d")] if self.has_p else [(), ("d",)]
        return " or ".join(f"{shown}({', '.join((*first, *one))})" for one in behind)
