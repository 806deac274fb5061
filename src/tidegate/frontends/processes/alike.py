"""Conditions that will probably be waited for, so that one model serves them all (stage: front end).

Twenty processes of one kind wait for the same condition on twenty tanks, one after the other; each would ask for a model of its own. So conditions
are made in advance that have the code of a given one and what other processes hold under the same names, or another variable where it has one. Nobody
need ever wait for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from types import CellType, FrameType, FunctionType, MethodType
from typing import Any, Final

from tidegate.frontends.processes.flows import Variable
from tidegate.frontends.processes.surroundings import is_number

__all__ = ["conditions_alike"]

_MOST: Final = 500


def conditions_alike(condition: Any, variables: Iterable[Variable], generators: Iterable[Any], *, with_any_variable: bool) -> Iterator[Any]:
    """Conditions with the same code.

    Parameters
    ----------
    condition : somebody waits for this one.
    variables : all there are.
    generators : of the processes that live.
    with_any_variable : whether every variable may stand where this one has one.
    """
    if isinstance(condition, MethodType):
        yield from _methods_alike(condition, generators)
        return
    if isinstance(condition, partial):
        for function in conditions_alike(condition.func, variables, generators, with_any_variable=with_any_variable):
            yield partial(function, *condition.args, **condition.keywords)
        held = [k for k, value in enumerate(condition.args) if isinstance(value, Variable)]
        if with_any_variable and len(held) == 1:
            for _, variable in zip(range(_MOST), variables, strict=False):
                yield partial(condition.func, *(variable if k == held[0] else value for k, value in enumerate(condition.args)), **condition.keywords)
        return
    if not isinstance(condition, FunctionType) or not condition.__closure__:
        return
    names = condition.__code__.co_freevars
    own = [cell.cell_contents for cell in condition.__closure__]
    objects = [k for k, value in enumerate(own) if not is_number(value)]
    found: dict[tuple[int, ...], list[Any]] = {}
    for frame in _frames(generators):
        values = [frame.f_locals.get(names[k], own[k] if isinstance(own[k], FunctionType) else None) for k in objects]
        if all(type(value) is type(own[k]) for k, value in zip(objects, values, strict=True)):
            found.setdefault(tuple(map(id, values)), values)
    held = [k for k in objects if isinstance(own[k], Variable)]
    if with_any_variable and len(held) == 1:
        for variable in variables:
            values = [variable if k == held[0] else own[k] for k in objects]
            found.setdefault(tuple(map(id, values)), values)
    for _, values in zip(range(_MOST), found.values(), strict=False):
        contents = [*own]
        for k, value in zip(objects, values, strict=True):
            contents[k] = value
        yield FunctionType(
            condition.__code__, condition.__globals__, condition.__name__, condition.__defaults__, tuple(CellType(value) for value in contents)
        )


def _methods_alike(condition: MethodType, generators: Iterable[Any]) -> Iterator[MethodType]:
    """The method of what other processes hold of the same type, under whatever name."""
    owner = condition.__self__
    held = {
        id(value): value for frame in _frames(generators) for value in frame.f_locals.values() if type(value) is type(owner) and value is not owner
    }
    for _, value in zip(range(_MOST), held.values(), strict=False):
        yield MethodType(condition.__func__, value)


def _frames(generators: Iterable[Any]) -> Iterator[FrameType]:
    """Where processes stand, and the generators to which they have handed over."""
    for generator in generators:
        inner = generator
        while inner is not None:
            frame = getattr(inner, "gi_frame", None)
            if frame is not None:
                yield frame
            inner = getattr(inner, "gi_yieldfrom", None)
