"""Dataclasses that take an eighth of the time to define (no stage): a run comes to 150 of them, and the library compiles four functions for each.

``dataclasses`` still finds the fields, and its ``field``, ``fields``, ``replace``, ``asdict`` and ``is_dataclass`` work as they do with its own.
Of what it would generate, comparison, hash, text and the refusal to be changed need no text to be compiled, and ``__init__`` waits for whoever asks
first. A class that inherits from one of these is made here, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

__all__ = ["dataclass", "quick_dataclass"]


class _NotGiven:
    def __repr__(self) -> str:
        return "<factory>"  # in signatures


_NOT_GIVEN: Final = _NotGiven()


def quick_dataclass(
    cls: Any = None, /, *, frozen: bool = False, eq: bool = True, slots: bool = False, kw_only: bool = False, repr: bool = True
) -> Any:
    """As ``dataclasses.dataclass``.

    Parameters
    ----------
    frozen : instances refuse to be changed.
    eq : they are equal if they are of one class with equal fields; frozen ones then have a hash of these.
    slots : they take no other attributes.
    kw_only : fields are given by name.
    repr : they are shown with their fields.

    Examples
    --------
    >>> @quick_dataclass(frozen=True)
    ... class Point:
    ...     "A point."
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0), Point(1.0) == Point(1.0, 0.0)
    (Point(x=1.0, y=0.0), True)
    """

    def made(plain: Any) -> Any:
        if plain.__doc__ is None:
            plain.__doc__ = plain.__name__  # else the library would look for parameters to show there
        own: set[str] = {*plain.__dict__}
        if "__eq__" in own and plain.__hash__ is None:
            own.discard("__hash__")  # Python says so by itself
        bare: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)  # noqa: TID251, see above
        whole = bare(plain)
        if "__init__" not in own:
            whole.__init__ = _Later(whole, frozen=frozen, slots=slots)
        if repr and "__repr__" not in own:
            whole.__repr__ = _shown
        if eq:
            _compare(whole, own, frozen=frozen)
        if frozen:
            _refuse(whole, own, slots=slots)
        return whole

    return made if cls is None else made(cls)


class _Later:
    """``__init__`` of a class, which is made for whoever asks for it first."""

    def __init__(self, owner: Any, *, frozen: bool, slots: bool) -> None:
        self._owner, self._frozen, self._slots = owner, frozen, slots

    def __get__(self, instance: Any, _kind: Any = None) -> Any:
        init = self._owner.__init__ = _init(self._owner, frozen=self._frozen, slots=self._slots)
        return init if instance is None else init.__get__(instance)


def _init(cls: Any, *, frozen: bool, slots: bool) -> Any:
    names: dict[str, Any] = {"_set": object.__setattr__, "_NOT_GIVEN": _NOT_GIVEN}
    parameters: dict[bool, list[str]] = {False: ["self"], True: []}
    body: list[str] = []
    for each in fields(cls):
        name, value = each.name, each.name
        if each.default is not MISSING:
            names[f"_default_{name}"] = each.default
            given = f"{name}=_default_{name}"
        elif each.default_factory is not MISSING:
            names[f"_make_{name}"] = each.default_factory
            given, value = f"{name}=_NOT_GIVEN", f"_make_{name}() if {name} is _NOT_GIVEN else {name}"
        else:
            given = name
        if each.init:
            parameters[bool(each.kw_only)].append(given)
        elif each.default_factory is not MISSING:
            value = f"_make_{name}()"
        elif slots and each.default is not MISSING:
            value = f"_default_{name}"
        else:
            continue  # the class has it
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    by_name = ["*", *parameters[True]] if parameters[True] else []
    exec(f"def __init__({', '.join(parameters[False] + by_name)}):\n " + "\n ".join(body or ["pass"]), names)  # noqa: S102, of names of fields
    init = names["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {each.name: each.type for each in fields(cls) if each.init} | {"return": None}
    return init


@recursive_repr()
def _shown(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{each.name}={getattr(self, each.name)!r}' for each in fields(self) if each.repr)})"


def _values(names: list[str]) -> Callable[[Any], Any]:
    """Of these attributes, in a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda self: (getattr(self, names[0]),)) if names else lambda _self: ()


def _compare(cls: Any, own: set[str], *, frozen: bool) -> None:
    compared = [each for each in fields(cls) if each.compare]
    values = _values([each.name for each in compared])

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    if "__eq__" not in own:
        cls.__eq__ = __eq__
    if "__hash__" in own:
        return
    hashed = _values([each.name for each in compared if each.hash is not False])

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(hashed(self))

    cls.__hash__ = __hash__ if frozen else None


def _refuse(cls: Any, own: set[str], *, slots: bool) -> None:
    names = frozenset(each.name for each in fields(cls))

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__
    if slots and not own & {"__getstate__", "__setstate__"}:
        cls.__getstate__, cls.__setstate__ = _state, _set_state


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass  # noqa: TID251, for the types it is this
else:
    dataclass = quick_dataclass
