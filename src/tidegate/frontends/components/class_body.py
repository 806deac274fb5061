"""Computations in the body of a component class (front end of components: an operation goes in, an error that shows the way comes out).

There a variable is still its declaration: no symbol stands for it before an instance is made, so nothing can be computed with it. Everything that is
computed belongs into a function of the instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, Final, NoReturn, cast

import numpy as np

from tidegate.errors import UsageError
from tidegate.expressions import Expr, Role, walk
from tidegate.expressions.tracing import users_frame, written_at

__all__ = ["class_names", "refuse_computations", "require_value"]

_BINARY: Final = {
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "and": "&", "or": "|",
}  # fmt: skip
_REFLECTED: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or")
_UNARY: Final = {"neg": "-{}", "pos": "+{}", "invert": "not {}", "abs": "abs({})", "float": "float({})", "bool": "{}, with and, or, not inside of it"}


def class_names() -> Mapping[str, Any]:
    """What the body of the class that called into this package has named so far; nothing where the caller is no body of a class."""
    names = users_frame().f_locals
    return names if "__module__" in names and "__qualname__" in names else {}


def require_value(value: Any, what: str) -> None:
    """An expression that was made in the body of a class, ``R=other.R``, names a variable that is not meant.

    Raises
    ------
    UsageError : for such an expression.
    """
    given: Any = list(value.attributes.values()) if hasattr(value, "attributes") and not isinstance(value, Expr) else value
    items = cast("Sequence[Any]", given if isinstance(given, list | tuple) else [given])
    for item in items:
        names = [node.data.name for node in walk([item]) if node.op == "symbol" and node.data.role is not Role.TIME] if isinstance(item, Expr) else []
        if names:
            raise UsageError(
                f"{what} is given an expression of {', '.join(dict.fromkeys(names))}, which is a variable of no instance yet",
                origin=written_at(),
                hint="give a function of the component around it: lambda self: self.part.R, or lambda self: self.R",
            )


def refuse_computations[T](kind: type[T]) -> type[T]:
    """Class decorator: operators, subscripts, truth values and numpy functions on instances of this class raise a ``UsageError``."""

    def refuse(method: str, template: str) -> None:
        def refused(self: Any, *others: Any) -> NoReturn:
            _refuse(self, others, template, kind)

        setattr(kind, f"__{method}__", refused)

    for method, sign in _BINARY.items():
        refuse(method, f"{{}} {sign} {{}}")
    for method in _REFLECTED:
        refuse(f"r{method}", f"{{1}} {_BINARY[method]} {{0}}")
    for method, template in _UNARY.items():
        refuse(method, template)
    refuse("getitem", "{}[{}] ...")

    def refuse_ufunc(self: Any, function: Any, _: str, *inputs: Any, **__: Any) -> NoReturn:
        _refuse(self, (), _call_text(self, function.__name__, inputs), kind)

    def equal(self: Any, other: object) -> bool:
        if isinstance(other, int | float):
            _refuse(self, (other,), "{} == {}", kind)
        return self is other

    # set here and not written into the class, so that editors and type checkers go on saying that declarations have no arithmetic
    for name, value in (("array_ufunc", refuse_ufunc), ("eq", equal), ("hash", object.__hash__), ("iter", None)):
        setattr(kind, f"__{name}__", value)
    return kind


def _refuse(declared: Any, others: tuple[Any, ...], template: str, kind: type) -> NoReturn:
    frame = users_frame()
    words = [_written(item, frame, kind) for item in (declared, *others)]
    name = words[0].removeprefix("self.")
    raise UsageError(
        f"{name} is computed with in the body of its class, where it has no value yet",
        origin=written_at(frame),
        hint=f"give a function of the component: lambda self: {template.format(*words)}",
    )


def _call_text(declared: Any, function: str, inputs: tuple[Any, ...]) -> str:
    # numpy hands its own scalars over as arrays without dimensions
    words = ("{}" if item is declared else f"{float(item):g}" if np.ndim(item) == 0 else "..." for item in inputs)
    return f"np.{function}({', '.join(words)})"


def _written(item: Any, frame: FrameType, kind: type) -> str:
    """How the user would write this in a function of the component."""
    if not isinstance(item, kind):
        return repr(item) if isinstance(item, int | float | str) else "..."
    name = getattr(item, "name", "") or next((name for name, value in frame.f_locals.items() if value is item), "...")
    return f"self.{name}"
