"""Calls whose machine code is written where they stand (stage: compiled): of kernel entries, and Python's own ``min``, ``max`` and ``int``.

Numba compiles a function around each of these, for each kind of arguments. Loaded where something is compiled.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.registry import cpu_target
from numba.core.typing.templates import signature
from numba.cpython.builtins import do_minmax

__all__ = ["OF_PYTHON", "InPlace", "call_of_entry"]


class InPlace(types.Callable, types.Opaque):  # type: ignore[misc]
    """The type of a function without machine code of its own.

    Parameters
    ----------
    name : of the type, which no other has.
    typed : the signature of a call, of Numba's typing context and the types of arguments; None where it does not take them.
    written : generates the code, as Numba asks for it.
    """

    def __init__(self, name: str, typed: Callable[[Any, tuple[Any, ...]], Any], written: Callable[..., Any]) -> None:
        super().__init__(name)
        self._typed = typed
        context: Any = cpu_target.target_context
        context.insert_func_defn([(written, self, (types.VarArg(types.Any),))])

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """A signature, as Numba asks for it."""
        return None if kws else self._typed(context, tuple(map(types.unliteral, args)))

    def get_call_signatures(self) -> Any:
        """None that could be told."""
        return (), False

    def get_impl_key(self, sig: Any) -> Any:
        """What the code is found under."""
        del sig
        return self


register_default(InPlace)(models.OpaqueModel)


def call_of_entry(name: str, kinds: Any) -> InPlace:
    """A kernel entry of a run, which takes that as two pointers.

    Parameters
    ----------
    name : for the linker.
    kinds : its signature in Numba's types, the run first.
    """

    def written(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        run, *others = values
        given = [builder.extract_value(run, 0), builder.extract_value(run, 1), *others]
        kind = ir.FunctionType(context.get_value_type(kinds.return_type), [one.type for one in given])
        return builder.call(get_or_insert_function(builder.module, kind, name), given)

    return InPlace(f"tidegate.entry({name})", lambda _context, args: kinds if len(args) == len(kinds.args) else None, written)


def _are_plain(args: tuple[Any, ...]) -> bool:
    return all(isinstance(one, types.Integer | types.Float | types.Boolean) for one in args)


def _chosen(compare: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def typed(context: Any, args: tuple[Any, ...]) -> Any:
        kind = context.unify_types(*args) if args and _are_plain(args) else None
        return None if kind is None else signature(kind, *args)

    def written(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return do_minmax(context, builder, sig.args, values, compare)

    return typed, written


def _whole(_context: Any, args: tuple[Any, ...]) -> Any:
    return signature(args[0] if isinstance(args[0], types.Integer) else types.intp, *args) if len(args) == 1 and _are_plain(args) else None


def _cast(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    return context.cast(builder, values[0], sig.args[0], sig.return_type)


# By the functions themselves; of numbers only, as native code has them.
OF_PYTHON: Final[dict[Any, InPlace]] = {
    min: InPlace("tidegate.min", *_chosen(operator.lt)),
    max: InPlace("tidegate.max", *_chosen(operator.gt)),
    int: InPlace("tidegate.int", _whole, _cast),
}
