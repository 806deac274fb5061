"""Numba's types of what modules of native code hold (stage: compiled): functions, intrinsics, C functions, each when it is first come across.

Loaded where something is compiled.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import extending, njit, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.registry import cpu_target

from tidegate.compiled.kinds import RUN, Kind, Signature
from tidegate.compiled.linked_late import NativeCompiler
from tidegate.compiled.numba_later import External, ExternalOfRun, Intrinsic, NativeFunction
from tidegate.compiled.run_type import RUN as RUN_TYPE
from tidegate.compiled.written_in_place import call_of_entry

__all__ = ["numba_signature"]


def _type_of(kind: Kind) -> Any:
    if kind == RUN:
        return RUN_TYPE
    plain = getattr(types, kind.name)
    return types.CPointer(plain) if kind.is_pointer else plain


def numba_signature(signature: Signature) -> Any:
    """The same in Numba's types."""
    return _type_of(signature.returned)(*map(_type_of, signature.arguments))


@cache
def _dispatcher(function: NativeFunction) -> Any:
    for called in function.calls:
        extending.register_jitable(_nrt=False, error_model="numpy")(called)
    decorate: Any = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=NativeCompiler)
    return decorate(function.written)


@cache
def _own_intrinsic(intrinsic: Intrinsic) -> Any:
    return extending.intrinsic(intrinsic.written)


class _Native(types.Dispatcher):  # type: ignore[misc]
    """A native function: the same machine code for all numbers of one type, where Numba would make some for each that is written at a call."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """A signature, as Numba asks for it."""
        return super().get_call_type(context, tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()})


register_default(_Native)(models.OpaqueModel)


@extending.typeof_impl.register(NativeFunction)
def _native_type(value: NativeFunction, _context: Any) -> Any:
    return _Native(_dispatcher(value))


@extending.typeof_impl.register(Intrinsic)
def _intrinsic_type(value: Intrinsic, _context: Any) -> Any:
    own = _own_intrinsic(value)
    context: Any = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(own)


@cache
def _own_entry(value: ExternalOfRun) -> Any:
    return call_of_entry(value.name, numba_signature(value.signature))


@extending.typeof_impl.register(ExternalOfRun)
def _entry_type(value: ExternalOfRun, _context: Any) -> Any:
    return _own_entry(value)


@cache
def _own_external(value: External) -> Any:
    return types.ExternalFunction(value.name, numba_signature(value.signature))


@extending.typeof_impl.register(External)
def _external_type(value: External, _context: Any) -> Any:
    return _own_external(value)
