"""Which methods give a component's equations (front end of components: a class goes in, its ``equations`` methods come out).

Inheritance extends: every class of the method resolution order gives its own equations once, those of base classes first (Modelica's ``extends``).
Python's overriding would drop the equations of a base class without a word.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from tidegate.errors import Origin, UsageError
from tidegate.wrong_calls import explained

__all__ = ["equation_methods", "refuse_super", "replaces", "require_self"]


@explained
def replaces(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of ``equations``: they stand in place of those of base classes, and are not added to them.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, State, der
    >>> class Tank(Component):
    ...     h = State(1.0)
    ...     def equations(self):
    ...         yield der(self.h) == -self.h
    >>> class Full(Tank):
    ...     @replaces
    ...     def equations(self):
    ...         yield der(self.h) == 0.0 * self.h
    >>> len(Full().lower().equations)
    1
    """
    if not hasattr(method, "__dict__"):
        raise UsageError(f"tg.replaces is given {method!r:.60}, which is no method", hint="write @tg.replaces above `def equations(self):`")
    method.__dict__["_replaces"] = True
    return method


def refuse_super(kind: type) -> None:
    """An error where a class's equations call those of its base class, which apply anyway.

    Raises
    ------
    UsageError : at the method.
    """
    method = vars(kind).get("equations")
    code = getattr(method, "__code__", None)
    if code is not None and {"super", "equations"} <= set(code.co_names) and not vars(method).get("_replaces"):
        raise UsageError(
            f"{kind.__name__}.equations calls super().equations(), whose equations apply anyway",
            origin=Origin(file=code.co_filename, line=code.co_firstlineno),
            hint="yield only what this class adds, or write @tg.replaces above the method",
        )


def require_self(kind: type) -> None:
    """An error for ``def equations():``.

    Raises
    ------
    UsageError : at the method.
    """
    code = getattr(vars(kind).get("equations"), "__code__", None)
    if code is not None and not code.co_argcount and not code.co_flags & inspect.CO_VARARGS:
        place = Origin(file=code.co_filename, line=code.co_firstlineno)
        raise UsageError(f"{kind.__name__}.equations has no argument for the component", origin=place, hint="write def equations(self):")


def equation_methods(component: Any, *, last: type) -> list[Callable[[], Any]]:
    """The ``equations`` methods of an instance, those of base classes first.

    Parameters
    ----------
    last : the base class of all components, whose own method gives nothing.
    """
    found: list[Callable[[], Any]] = []
    own = cast("Any", vars(component).get("equations"))
    if own is not None:
        return [own]
    for kind in type(component).__mro__:
        method = cast("Any", vars(kind).get("equations"))
        if method is None or kind is last:
            continue
        found.insert(0, method.__get__(component))
        if getattr(method, "__dict__", {}).get("_replaces"):
            break
    return found
