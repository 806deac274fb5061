"""What of Numba's passes native functions need (stage: compiled), each done once: most of the time to compile is theirs and not the machine code's.

Native functions have no closures, no generators and no Python objects, and nobody counts who refers to what they see. So where variables live and die
is not asked for, as Numba does behind every pass; a type found for an operation and types of operands is remembered; nothing is noted for diagnosis.
"""

from __future__ import annotations

from functools import cache
from types import BuiltinFunctionType
from typing import Any, Final, Literal

from numba.core import errors, ir_utils, ssa, transforms, typed_passes, types, untyped_passes
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default

from tidegate.compiled.written_in_place import OF_PYTHON

__all__ = ["Passes", "RememberedTypes"]


class _CanonicalBlocks(untyped_passes.IRProcessing):  # type: ignore[misc]
    """``IRProcessing`` without lifetimes: blocks that nobody reaches are gone."""

    def run_pass(self, state: Any) -> Literal[True]:
        """As Numba asks for it."""
        state.func_ir.blocks = transforms.canonicalize_cfg(state.func_ir.blocks)
        return True


class _SingleAssignments(untyped_passes.ReconstructSSA):  # type: ignore[misc]
    """``ReconstructSSA`` without lifetimes."""

    def run_pass(self, state: Any) -> Literal[True]:
        """As Numba asks for it."""
        state.func_ir = ssa.reconstruct_ssa(state.func_ir)
        self._patch_locals(state)
        state.func_ir._definitions = ir_utils.build_definitions(state.func_ir.blocks)  # noqa: SLF001, as that pass does
        return True


class _WithoutPhis(typed_passes.PreLowerStripPhis):  # type: ignore[misc]
    """``PreLowerStripPhis`` without lifetimes."""

    def run_pass(self, state: Any) -> Literal[True]:
        """As Numba asks for it."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = ir_utils.build_definitions(state.func_ir.blocks)  # noqa: SLF001, as that pass does
        state.type_annotation = None
        return True


_BEFORE: Final = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    _CanonicalBlocks,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.RewriteDynamicRaises,
    _SingleAssignments,
    typed_passes.NopythonTypeInference,
    _WithoutPhis,
    typed_passes.InlineOverloads,
)


class Passes:
    """What Numba takes for a pipeline.

    Parameters
    ----------
    lowering : what comes behind types.
    """

    pipeline_name: Final = "tidegate"

    def __init__(self, lowering: type) -> None:
        self.exec_times: dict[str, Any] = {}
        self._kinds = (*_BEFORE, lowering, typed_passes.NoPythonBackend)

    def run(self, state: Any) -> None:
        """One behind the other."""
        for kind in self._kinds:
            one = _pass_of(kind)
            try:
                one.run_pass(state)
            except errors.NumbaError as error:
                error.add_note(f"in the pass {one.name()} of {state.func_id.modname}.{state.func_id.func_qualname}")
                raise


@cache
def _pass_of(kind: type) -> Any:
    made: Any = kind()
    made.analysis = {kind: ()}  # of other passes, which one asks for to show how
    return made


class _Operation(types.Function):  # type: ignore[misc]
    """A function of Numba's whose types for types of operands are found once, and not at each place and in every stage."""

    def __init__(self, templates: Any) -> None:
        super().__init__(templates)
        self._found: dict[Any, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """A signature, as Numba asks for it."""
        if kws:
            return super().get_call_type(context, args, kws)
        found = self._found.get(args)
        if found is None:
            found = self._found[args] = super().get_call_type(context, args, kws)
        return found


register_default(_Operation)(models.OpaqueModel)


class RememberedTypes:
    """Numba's typing context with functions that remember.

    Parameters
    ----------
    context : Numba's.
    """

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_value_type(self, value: Any) -> Any:
        """The type of something global."""
        if isinstance(value, type | BuiltinFunctionType) and value in OF_PYTHON:
            return OF_PYTHON[value]
        found = self._context.resolve_value_type(value)
        return _operation(found) if type(found) is types.Function else found


@cache
def _operation(function: Any) -> _Operation:
    return _Operation(function.templates)
