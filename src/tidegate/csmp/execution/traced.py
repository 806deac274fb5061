"""User routines followed on symbols and compiled (stage: csmp), where that gives the same as calling them.

A routine is followed only if nothing it does can be seen from outside: it calls functions of ``math`` and ``numpy``, reads numbers and modules of its
surroundings, and writes to nothing but its own names and, by ``ctx.set_uo``, its additional outputs. Every other routine is called as it is.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from tidegate.compiled.emit_llvm import FunctionSpec, emit_module
from tidegate.compiled.native import NativeModule, load
from tidegate.csmp.execution.context import RunFacts
from tidegate.csmp.execution.routines import Routine
from tidegate.csmp.language.block_kinds import BlockStatement
from tidegate.csmp.language.program import CsmpProgram
from tidegate.errors import UntraceableError, UsageError
from tidegate.expressions import Expr, Role, as_real, select, symbol, walk
from tidegate.expressions.tracing import compare, path_condition, trace
from tidegate.quick_dataclass import dataclass

__all__ = ["TracedRoutine", "compile_traced", "is_followable", "trace_interpolation", "trace_user"]

_Places = dict[Expr, tuple[str, int]]
_Point = Mapping[Expr, float]

_ARGUMENTS: Final = ("t", "x", "p", "given", "taken")
_NOT_PURE: Final = "it may have effects or a memory, reads more than numbers of its surroundings, or its source is not known"
_PURE_MODULES: Final = ("math", "numpy")
_PURE_BUILTINS: Final = frozenset({"abs", "bool", "enumerate", "float", "len", "max", "min", "pow", "range", "reversed", "sum", "tuple", "zip"})
_FORBIDDEN: Final = (
    ast.AsyncFor, ast.AsyncFunctionDef, ast.AsyncWith, ast.Await, ast.ClassDef, ast.Delete, ast.Global, ast.Import, ast.ImportFrom, ast.Nonlocal,
    ast.Raise, ast.Try, ast.TryStar, ast.With, ast.Yield, ast.YieldFrom,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TracedRoutine:
    """What a routine computes: the block's output, then its additional outputs in the order of ``extras``."""

    block: int
    outputs: tuple[Expr, ...]
    extras: tuple[int, ...]
    inputs: Mapping[Expr, tuple[str, int]]


class _Symbols:
    """Stands for the context while a routine is followed; it lacks what changes the model. At a point, what it has are numbers."""

    def __init__(
        self, block: BlockStatement, run: RunFacts, numbers: Sequence[int], extras: Sequence[int], places: _Places, point: _Point | None
    ) -> None:
        def known(name: str, argument: str, place: int) -> Any:
            item = symbol(Role.TIME if argument == "t" else Role.UNKNOWN, name)
            places[item] = (argument, place)
            return item if point is None else point.get(item, 1.0)

        n = block.number
        self.block = n
        self.label = block.label
        self.run = run
        self.h = run.interval
        self.x1, self.x2, self.x3, self.stage = (known(name, "given", i) for i, name in enumerate(("x1", "x2", "x3", "stage")))
        self.p1, self.p2, self.p3 = (known(f"p{i + 1}", "p", 3 * n + i) for i in range(3))
        self.time = known("time", "t", 0)
        self.out = {number: known(f"output {number}", "x", number) for number in numbers}
        self.out[1] = self.time
        # what a routine reads of its own additional outputs depends on whether it has set them before: such a routine is called
        self.additional = {number: self.out.pop(number) for number in extras}

    def set_uo(self, number: int, value: Any) -> None:
        # a block that is not there stops the trace; called as it is, the routine gets the diagnostic
        self.additional[number] = select(path_condition(), as_real(value), self.additional[number])


def trace_user(routine: Routine, block: BlockStatement, program: CsmpProgram, run: RunFacts) -> TracedRoutine | str:
    """Follow a routine of a user block; why not, if it cannot or must not be followed."""
    if not is_followable(routine):
        return _NOT_PURE
    extras = tuple(n for n in program.numbers if program.blocks[n].kind == "UO" and program.blocks[n].inputs[0] == block.number)

    def context_of(places: _Places, point: _Point | None) -> _Symbols:
        return _Symbols(block, run, program.numbers, extras, places, point)

    return _routine(routine, block.number, extras, context_of, lambda context: (context, block.number))


def trace_interpolation(routine: Routine, block: BlockStatement, program: CsmpProgram, run: RunFacts) -> TracedRoutine | str:
    """Follow a routine of a function block; why not, if it cannot or must not be followed."""
    if not is_followable(routine):
        return _NOT_PURE
    pairs = tuple(program.functions.get(block.number, ()))

    def context_of(places: _Places, point: _Point | None) -> _Symbols:
        return _Symbols(block, run, program.numbers, (), places, point)

    return _routine(routine, block.number, (), context_of, lambda context: (context.x1, pairs, context))


def _routine(
    routine: Routine,
    block: int,
    extras: tuple[int, ...],
    context_of: Callable[[_Places, _Point | None], _Symbols],
    arguments: Callable[[_Symbols], tuple[Any, ...]],
) -> TracedRoutine | str:
    """What a routine computes; why not, where it cannot be followed, or gives other numbers when it is called."""
    places: _Places = {}

    def values(point: _Point | None = None) -> list[Any]:
        context = context_of(places, point)
        given = arguments(context)
        value = as_real(trace(routine, given).value) if point is None else routine(*given)
        return [value, *context.additional.values()]

    try:
        found = values()
    except (UntraceableError, UsageError) as error:
        return str(error)
    except TypeError:
        return "it returns no number"  # the call says so
    symbols = {item for item in walk(found) if item.op == "symbol"}
    difference = compare(found, values, dict.fromkeys(symbols, 1.0))
    if difference is not None:
        return "it gives two answers to one question" if difference.is_own else "followed on symbols, it gives other numbers than when it is called"
    return TracedRoutine(block, tuple(found), extras, places)


def compile_traced(routines: Sequence[TracedRoutine]) -> tuple[NativeModule | None, dict[int, int]]:
    """Machine code of traced routines: the module, which must live as long as the addresses by block are used."""
    if not routines:
        return None, {}
    specs = [
        FunctionSpec(f"routine_{one.block}", _ARGUMENTS, frozenset({"t"}), one.inputs, list(enumerate(one.outputs)), output_argument="taken")
        for one in routines
    ]
    module = load(emit_module(specs))
    return module, {one.block: module.address(f"routine_{one.block}") for one in routines}


def is_followable(routine: Routine) -> bool:
    """Whether following a routine once on symbols comes to the same as calling it at every half step."""
    if not isinstance(routine, FunctionType) or routine.__defaults__ or routine.__kwdefaults__:
        return False
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(routine))).body
        outer = inspect.getclosurevars(routine)
    except (OSError, TypeError, ValueError, SyntaxError):
        return False
    if not isinstance(tree, ast.FunctionDef):
        return False
    surroundings = {**outer.globals, **outer.nonlocals}
    if any(not _is_constant(value) for value in surroundings.values()) or _written_elsewhere(routine) & surroundings.keys():
        return False
    if any(name not in _PURE_BUILTINS for name in outer.builtins) or outer.unbound - _attributes(tree):
        return False
    context = tree.args.args[-1 if len(tree.args.args) > 2 else 0].arg if tree.args.args else ""
    return all(_is_harmless(node, context, surroundings) for statement in tree.body for node in ast.walk(statement))


def _is_constant(value: object) -> bool:
    if isinstance(value, tuple):
        items: tuple[Any, ...] = value  # pyright: ignore[reportUnknownVariableType] - the user's
        return all(_is_constant(item) for item in items)
    return isinstance(value, bool | int | float | str) or (isinstance(value, ModuleType) and value.__name__ in _PURE_MODULES)


def _attributes(tree: ast.AST) -> set[str]:
    """Names of attributes, which the inspection of a closure takes for names that are not bound."""
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _written_elsewhere(routine: FunctionType) -> set[str]:
    """Global names that some function of the same module rebinds."""
    names: set[str] = set()
    for value in list(routine.__globals__.values()):
        if isinstance(value, FunctionType) and value.__globals__ is routine.__globals__:
            names |= _rebound(value.__code__)
    return names


def _rebound(code: CodeType) -> set[str]:
    import dis

    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")}
    return names.union(*(_rebound(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _is_harmless(node: ast.AST, context: str, surroundings: Mapping[str, Any]) -> bool:
    if isinstance(node, _FORBIDDEN):
        return False
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return False
    if isinstance(node, ast.Call):
        return _is_pure_call(node.func, context, surroundings)
    return True


def _is_pure_call(called: ast.expr, context: str, surroundings: Mapping[str, Any]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _PURE_BUILTINS and called.id not in surroundings and hasattr(builtins, called.id)
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        owner = called.value.id
        return isinstance(surroundings.get(owner), ModuleType) or (owner == context and called.attr == "set_uo")
    return False
