"""User routines put into a machine (stage: csmp). In: the routines of a program. Out: addresses in the machine, and what keeps them alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidegate.compiled.native import NativeModule
from tidegate.csmp.execution.context import Context, RunFacts
from tidegate.csmp.execution.routine_callbacks import CalledRoutine, Failure, call_back
from tidegate.csmp.execution.routines import Routine, Routines
from tidegate.csmp.execution.traced import compile_traced, trace_interpolation, trace_user
from tidegate.csmp.language.block_kinds import is_user_kind
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.machine import offsets as m
from tidegate.csmp.machine.machine import Machine
from tidegate.errors import UsageError
from tidegate.quick_dataclass import dataclass

__all__ = ["Loaded", "load_routines"]


@dataclass(frozen=True, eq=False)
class Loaded:
    """Routines of a run, by block; of those called as Python the reason. The pointers must live as long as the machine runs."""

    native: tuple[int, ...]
    called: dict[int, str]
    failure: Failure
    keep_alive: tuple[CalledRoutine | NativeModule | None, ...]


def load_routines(machine: Machine, routines: Routines, facts: RunFacts) -> Loaded:
    """Put every routine's address into the machine: compiled where that comes to the same, else as a function that calls Python."""
    program, failure = machine.program, Failure()
    _refuse_strays(routines, program)
    found = [(block, routine) for block in program.blocks.values() if (routine := routines.of(block, program.parameter(block.number)))]
    followed = {
        block.number: (trace_user if is_user_kind(block.kind) else trace_interpolation)(routine, block, program, facts) for block, routine in found
    }
    traced = [one for one in followed.values() if not isinstance(one, str)]
    called = {number: why for number, why in followed.items() if isinstance(why, str)}
    module, addresses = compile_traced(traced)
    for one in traced:
        machine.load(one.block, addresses[one.block], hands_back=len(one.extras))
    pointers: list[CalledRoutine] = []
    for block, routine in found:
        if block.number in called:
            call = _bound(routine, block.number, machine, facts)
            pointers.append(call_back(call, block.number, machine.memory, failure))
            machine.load(block.number, pointers[-1].address)
    return Loaded(tuple(addresses), called, failure, (module, *pointers))


def _refuse_strays(routines: Routines, program: CsmpProgram) -> None:
    """A routine for a block that takes none would never be called, and nobody would know."""
    for number in routines.blocks:
        block = program.blocks.get(number)
        if block is None or not (is_user_kind(block.kind) or block.kind == "F"):
            what = "there is no such block" if block is None else f"that block is of type {block.kind}"
            raise UsageError(
                f"a user routine is given for block {number}, but {what}", hint="they compute blocks of type U1 to U15, and interpolate in F blocks"
            )


def _bound(routine: Routine, block: int, machine: Machine, facts: RunFacts) -> Callable[[float], Any]:
    context = Context(block, machine.program, machine.memory, facts)
    pairs = tuple(machine.program.functions.get(block, ()))
    kind = machine.program.blocks[block].kind
    written, h = context.out.written, machine.memory.h

    def user(_: float) -> Any:
        written.clear()
        value = routine(context, block)
        if value is None and block not in written and not h[m.IS_QUIT]:
            raise UsageError(f"USER{kind[1:]} must set C(L)", hint=f"let it return the output of block {block}, or set ctx.out[block]")
        return value

    def interpolate(x: float) -> Any:
        value = routine(x, pairs, context)
        if value is None:
            raise UsageError("it must return the ordinate", hint="an interpolation is a function f(x, pairs, ctx) that returns a number")
        return value

    return user if is_user_kind(kind) else interpolate
