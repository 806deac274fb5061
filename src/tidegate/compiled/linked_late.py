"""How Numba compiles native functions (stage: compiled): each is translated once, and made machine code only within the entries that call it.

Left to itself Numba makes machine code of every function on its own, with all that it calls in it, and again in every caller, although nobody but an
entry is ever called from outside. Here a function waits as it was translated; an entry takes all that it reaches, each once, and that is optimised.
Arithmetic is the same: nothing is reassociated or contracted in either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Final

from llvmlite import ir
from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options
from numba.core import ccallback, codegen, compiler, typed_passes
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass

from tidegate.compiled.native import address_in_library
from tidegate.compiled.numba_passes import Passes, RememberedTypes
from tidegate.no_collections import no_collections

__all__ = ["NativeCompiler", "object_of"]


_RAISES: Final = "tidegate_native_function_raises"  # what stands where a native function would raise, if it is not seen that none does
_TOLD_OF: Final = ("llvm.", "tidegate_")  # LLVM's own; our entries, which name themselves
# Packages whose functions are carried out at events: to take several elements at a time, or to write loops out, takes longer than it saves. Short
# loops of what is carried out in every step are written out.
_AT_EVENTS: Final = ("tidegate.events.", "tidegate.integrators.hybrid_loop.", "tidegate.sensitivity.")
_EVERY_STEP: Final = ("tidegate.integrators.hybrid_loop.loop", "tidegate.integrators.hybrid_loop.record")


class _Late(codegen.JITCodeLibrary):
    """Machine code that is made when all that belongs to it is there: until then nothing is linked and nothing optimised."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout  # noqa: SLF001, what Numba's own does beside

    def finalize(self) -> None:
        """Nothing is added any more; what it calls stays beside it."""
        self._finalized = True


class _Waiting(_Late):
    """A native function as it was translated, without what it calls."""

    def get_pointer_to_function(self, name: str) -> int:
        """None: it has no machine code of its own."""
        del name
        return 0

    @property
    def codegen(self) -> Any:
        """Numba's, but for the environment, which is set where machine code is."""
        return _WithoutEnvironment(self._codegen)

    def reached(self) -> Iterator[Any]:
        """What it calls."""
        yield from self._linking_libraries


class _WithoutEnvironment:
    def __init__(self, whole: Any) -> None:
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Native functions need nothing of Python."""


def _require(name: str) -> None:
    """A function must be one that the linker finds in any process: what it does not find it takes to be at address 0, without a word."""
    if name == _RAISES:
        raise LookupError(
            "it is not seen that no function beneath this entry raises: see to divisions of complex numbers, to x ** whole, to places in tuples"
        )
    if not name.startswith(_TOLD_OF) and not address_in_library(name):
        raise LookupError(f"no library of this process has the function {name}")


class _Entry(_Late):
    """A kernel entry with all that it reaches; it is not linked, but made an object file of."""

    def made(self, wrapper: str, name: str, module: str) -> tuple[bytes, bytes]:
        """The object file, and what it was made of once that had been optimised: each function that is reached once, one name for the outside."""
        for library in self._reached():
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)  # noqa: SLF001, Numba's way from a library to its code
        for function in self._final_module.functions:
            if function.name == wrapper:
                function.name = name
            elif not function.is_declaration:
                function.linkage = "internal"
        machine = self._codegen._tm  # noqa: SLF001, this processor, as Numba sets it up
        has_long_loops = not module.startswith(_AT_EVENTS)
        options = create_pipeline_tuning_options(speed_level=3 if has_long_loops else 2)
        options.slp_vectorization = False
        options.loop_vectorization = has_long_loops
        options.loop_unrolling = has_long_loops or module in _EVERY_STEP
        builder = create_pass_builder(machine, options)
        builder.getModulePassManager().run(self._final_module, builder)
        self._final_module.verify()
        for function in self._final_module.functions:
            if function.is_declaration:
                _require(function.name)
        self._verify_declare_only_symbols()
        return bytes(machine.emit_object(self._final_module)), bytes(self._final_module.as_bitcode())

    def _reached(self) -> list[Any]:
        """A function is taken in only if something there calls it, so it comes behind all that may."""
        found: list[Any] = []
        known: set[Any] = set()

        def visit(library: Any) -> None:
            known.add(library)
            if isinstance(library, _Waiting):
                for called in library.reached():
                    if called not in known:
                        visit(called)
            found.append(library)

        for library in self._linking_libraries:
            if library not in known:
                visit(library)
        return found[::-1]


class _Settled(compiler.Flags):  # type: ignore[misc]
    """Options that nobody changes any more. Numba looks for types under them and compares all thirty each time; these are the same or are not."""

    __slots__ = ("_hashed",)

    def __init__(self, copy_from: Any) -> None:
        super().__init__(copy_from)
        self._hashed = super().__hash__()

    def copy(self) -> Any:
        """Itself."""
        return self

    def __hash__(self) -> int:
        return self._hashed

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)


_settled: dict[Any, _Settled] = {}


@cache
def _size_in_memory(context: Any) -> Callable[[Any], int]:
    """How many bytes a type of LLVM's takes: Numba asks for every variable, and LLVM reads a module each time."""
    sizes: dict[str, int] = {}

    def size(kind: Any) -> int:
        name = str(kind)
        if name not in sizes:
            sizes[name] = kind.get_abi_size(context.target_data)
        return sizes[name]

    return size


def _function_for_c(context: Any, library: Any, described: Any, _environment: Any, _call_helper: Any) -> None:
    """A function with C's types around that with Numba's, which may not raise: nobody beneath it could say so."""
    module = context.create_module("function_for_c")
    called = ir.Function(module, context.call_conv.get_function_type(described.restype, described.argtypes), described.llvm_func_name)
    kinds = [context.get_value_type(kind) for kind in described.argtypes]
    function = ir.Function(module, ir.FunctionType(context.get_value_type(described.restype), kinds), described.llvm_cfunc_wrapper_name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    status, returned = context.call_conv.call_function(builder, called, described.restype, described.argtypes, function.args)
    with builder.if_then(status.is_error, likely=False):
        builder.call(ir.Function(module, ir.FunctionType(ir.VoidType(), ()), _RAISES), ())
    builder.ret(returned)
    library.add_ir_module(module)


def _lowering(kind: type, called: str) -> Any:
    @register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(typed_passes.NativeLowering):
        """Numba's, into a library of ours."""

        _name = called

        def run_pass(self, state: Any) -> Any:
            """Make the library first."""
            state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            state.targetctx.typing_context = state.typingctx
            state.targetctx.enable_nrt = False  # views own nothing: nobody counts who refers to them
            state.targetctx.get_abi_sizeof = _size_in_memory(state.targetctx)
            state.targetctx.create_cfunc_wrapper = partial(_function_for_c, state.targetctx)
            return super().run_pass(state)

    return Lowering


def _compiler(kind: type, called: str) -> Any:
    lowering = _lowering(kind, called)

    class Pipeline(compiler.CompilerBase):
        """Numba's passes that are needed."""

        def _compile_core(self) -> Any:
            options = _Settled(self.state.flags)
            self.state.flags = _settled.setdefault(options, options)
            return super()._compile_core()

        def define_pipelines(self) -> list[Any]:
            """One, since there is no falling back to Python."""
            self.state.typingctx = RememberedTypes(self.state.typingctx)
            return [Passes(lowering)]

    return Pipeline


NativeCompiler: Final = _compiler(_Waiting, "tidegate_native")
_EntryCompiler: Final = _compiler(_Entry, "tidegate_entry")


def object_of(function: Callable[..., Any], signature: Any, name: str) -> tuple[bytes, bytes]:
    """An object file with a function for C, and LLVM's bitcode of the same.

    Parameters
    ----------
    function : in Python.
    signature : Numba's types.
    name : of the function in the file.
    """
    with global_compiler_lock, no_collections():
        entry: Any = ccallback.CFunc(function, (signature.args, signature.return_type), {}, {"error_model": "numpy"}, pipeline_class=_EntryCompiler)
        made = entry._compile_uncached()  # noqa: SLF001, the step of Numba's that neither stores nor links
        return made.library.made(made.fndesc.llvm_cfunc_wrapper_name, name, function.__module__)
