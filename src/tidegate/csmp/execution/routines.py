"""User routines of the language (stage: csmp): USER1 to USER15 and INTRP1 to INTRP3 as Python functions.

In: a module, a file, a mapping or functions marked with ``user`` and ``interpolation``. Out: ``Routines``, which knows the function of each block.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from tidegate.csmp.language.block_kinds import MOST_USER_TYPES, BlockStatement, Parameters, is_user_kind
from tidegate.csmp.language.program import Routine
from tidegate.errors import UsageError
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Routine", "Routines", "interpolation", "routines_of", "user"]

_MARK: Final = "tidegate_csmp_routine"
_NAME: Final = re.compile(r"(?:user|u)(?P<user>\d+)|(?:intrp|interpolation)(?P<interpolation>\d+)", re.IGNORECASE)
_MOST_INTERPOLATIONS: Final = 3


@explained
def user(number: int) -> Callable[[Routine], Routine]:
    """Mark a function as the routine USERm, which computes the blocks of type Um.

    It is called as ``function(ctx, block)`` at every half step and returns the block's output; ``ctx`` is described in ``csmp.context``.

    Parameters
    ----------
    number : m, from 1 to 15.

    Raises
    ------
    UsageError : there is no such routine.

    Examples
    --------
    >>> from tidegate import csmp
    >>> @csmp.user(1)
    ... def drag(ctx, block):
    ...     return -ctx.p1 * ctx.x1 * abs(ctx.x1)
    """
    return _marked("user", number, MOST_USER_TYPES, "types of user blocks are U1 to U15")


@explained
def interpolation(number: int) -> Callable[[Routine], Routine]:
    """Mark a function as the routine INTRPk, which interpolates in the function blocks whose P1 is -k.

    It is called as ``function(x, pairs, ctx)`` with the abscissa and the block's coordinate pairs, and returns the ordinate.

    Parameters
    ----------
    number : k, from 1 to 3.

    Raises
    ------
    UsageError : there is no such routine.

    Examples
    --------
    >>> from tidegate import csmp
    >>> @csmp.interpolation(1)
    ... def staircase(x, pairs, ctx):
    ...     return max((pair for pair in pairs if pair[0] <= x), default=pairs[0])[1]
    """
    return _marked("interpolation", number, _MOST_INTERPOLATIONS, "P1 of a function block names them as -1, -2 and -3")


def _marked(role: str, number: int, most: int, hint: str) -> Callable[[Routine], Routine]:
    if number not in range(1, most + 1):
        raise UsageError(f"there is no csmp.{role}({number!r}); the number is from 1 to {most}", hint=hint)

    def mark(function: Routine) -> Routine:
        setattr(function, _MARK, [*getattr(function, _MARK, []), (role, number)])
        return function

    return mark


@explained
@dataclass(frozen=True)
class Routines:
    """Which function computes what.

    Parameters
    ----------
    users, interpolations : by the number in their name.
    blocks : of single blocks, by block number; they come before the others.
    """

    users: Mapping[int, Routine] = field(default_factory=dict[int, Routine])
    interpolations: Mapping[int, Routine] = field(default_factory=dict[int, Routine])
    blocks: Mapping[int, Routine] = field(default_factory=dict[int, Routine])

    def of(self, block: BlockStatement, parameters: Parameters) -> Routine | None:
        """The function of a user block or of a function block; None where it needs none or has none."""
        if block.number in self.blocks:
            return self.blocks[block.number]
        if is_user_kind(block.kind):
            return self.users.get(int(block.kind[1:]))
        if block.kind == "F" and parameters[0] < 0:
            return self.interpolations.get(int(-parameters[0]))
        return None


@explained
def routines_of(source: object) -> Routines:
    """The routines in whatever a user hands over.

    Parameters
    ----------
    source : a module or the path of one, whose functions ``user1`` to ``user15`` and ``intrp1`` to ``intrp3``, and those marked by the decorators,
        are taken; a mapping from ``"user1"``, ``"U1"``, ``"intrp1"`` or a block number to a function; a function or several that are marked; None.

    Raises
    ------
    UsageError : it is none of these, or the file cannot be read.
    """
    if source is None:
        return Routines()
    if isinstance(source, Routines):
        return source
    if isinstance(source, str | Path):
        return routines_of(_module(Path(source)))
    if isinstance(source, ModuleType):
        named = {name: value for name, value in vars(source).items() if callable(value) and (_NAME.fullmatch(name) or _marks(value))}
        return _gathered(named.items(), source.__name__)
    if isinstance(source, Mapping):
        entries: Mapping[Any, Any] = source  # pyright: ignore[reportUnknownVariableType] - whatever the user gave
        for name in entries:
            match = _NAME.fullmatch(str(name))
            most = MOST_USER_TYPES if match and match["user"] else _MOST_INTERPOLATIONS
            if match and int(match["user"] or match["interpolation"]) not in range(1, most + 1):
                raise UsageError(f"there is no routine {name!r}", hint="user1 to user15, intrp1 to intrp3, or the number of a block")
        return _gathered(entries.items(), "the mapping")
    functions: list[Any] = list(source) if isinstance(source, Iterable) else [source]  # pyright: ignore[reportUnknownArgumentType]
    for function in functions:
        if not callable(function) or not _marks(function):
            raise UsageError(f"{function!r} is no user routine", hint="mark it with @csmp.user(1), or give {'user1': function}")
    return _gathered(((None, function) for function in functions), "the functions")


def _marks(function: object) -> list[tuple[str, int]]:
    return getattr(function, _MARK, [])


def _gathered(entries: Iterable[tuple[Any, Any]], where: str) -> Routines:
    """Routines by the names they stand under and by their marks; a mark counts more than a name."""
    found: dict[str, dict[int, Routine]] = {"user": {}, "interpolation": {}, "block": {}}
    named: list[tuple[str, int, Routine]] = []
    marked: list[tuple[str, int, Routine]] = []
    for name, function in entries:
        marks = _marks(function)
        marked += [(role, number, function) for role, number in marks]
        if isinstance(name, int):
            named.append(("block", name, function))
        elif (match := _NAME.fullmatch(str(name))) and not marks:
            role = "user" if match["user"] else "interpolation"
            named.append((role, int(match[role]), function))
        elif not marks:
            raise UsageError(f"{name!r} in {where} names no user routine", hint="user1 to user15, intrp1 to intrp3, or the number of a block")
        if not callable(function):
            raise UsageError(f"{name!r} in {where} is {function!r}, no function", hint="give a function f(ctx, block)")
    for role, number, function in [*named, *marked]:
        found[role][number] = function
    return Routines(found["user"], found["interpolation"], found["block"])


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"there is no file {path} with user routines", hint="give the path of a Python file")
    name = f"tidegate_user_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file", hint="give a file that ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # source of functions, dataclasses and pickles are found through it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UsageError(
            f"the user routines in {path} could not be loaded: {type(error).__name__}: {error}", hint="run the file with python"
        ) from error
    return module
