"""Objects that flow are asked by the right names, and are not taken for their numbers: what is mistyped is told (stage: front end)."""

from __future__ import annotations

from typing import Any, ClassVar, Final, NoReturn

from tidegate.errors import UsageError
from tidegate.names import unknown_name

__all__ = ["Named", "NotANumber"]

_OF_OURS: Final = {"described", "flow", "kind", "number_in", "refuse_setting", "settable", "wake", "changed", "evaluate", "observe"}
_NUMBERS: Final = (int, float, complex)


class Named:
    """Has the attributes of its class, and no others: a mistyped one is an error in words, read or set.

    Attributes
    ----------
    settable : names that may be set.
    """

    settable: ClassVar[frozenset[str]] = frozenset()

    def __setattr__(self, name: str, value: Any, /) -> None:
        if name not in self.settable:
            self.refuse_setting(name)
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # protocols of Python's and of other libraries ask for these
            raise AttributeError(name)
        raise unknown_name("attribute", name, _public(type(self)), of=self.described())

    def refuse_setting(self, name: str) -> NoReturn:
        """Say that an attribute cannot be set.

        Raises
        ------
        UsageError
            Always.
        """
        if name in ("start", "stop", "active"):
            raise UsageError(f"{name} of {self.described()} cannot be set", hint="call start() or stop()")
        if hasattr(type(self), name):
            raise UsageError(f"{name} of {self.described()} cannot be set", hint=f"what can be set is {', '.join(sorted(_shown(self.settable)))}")
        raise unknown_name("attribute", name, _shown(self.settable), of=self.described())

    def described(self) -> str:
        """What it is, and its name, in a sentence."""
        return f"the {getattr(type(self), 'kind', type(self).__name__.lower())} {vars(self).get('name', '')}".rstrip()


def _shown(names: frozenset[str]) -> list[str]:
    return sorted(name for name in names if not name.startswith("_"))


def _public(kind: type[Named]) -> list[str]:
    return sorted({name for name in (*dir(kind), *kind.settable) if not name.startswith("_")} - _OF_OURS)


class NotANumber:
    """Has a number, and is none: whoever computes with it meant its number.

    Attributes
    ----------
    name : of the object.
    kind : what it is, in a sentence.
    number_in : the attribute that is meant.
    """

    is_equal_to_itself_only: ClassVar[bool] = True
    number_in: ClassVar[str]
    kind: ClassVar[str]
    name: str

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        where = f"{self.name}.{self.number_in}"
        raise UsageError(f"{self.name} is a {self.kind}, and no number itself; its number is {where}", hint=f"write {where}")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __divmod__ = __rdivmod__ = _refuse
    __neg__ = __pos__ = __abs__ = __round__ = __floor__ = __ceil__ = __trunc__ = __int__ = __float__ = __bool__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __array_ufunc__ = _refuse

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _NUMBERS):
            self._refuse()
        return self is other

    __hash__ = object.__hash__
