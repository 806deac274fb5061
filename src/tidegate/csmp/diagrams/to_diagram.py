"""A program of the language as a diagram (front end of blocks): ``CsmpProgram`` in, ``Diagram`` with located events out.

What the language does at every half step a diagram does at every instant: integrators integrate, relays switch where their input crosses zero, a
reset holds an integrator at its P1 as long as it lasts. Four types know half steps by definition and get clocks that tick at them, if the interval of
the program is given: U and J (which need one), Z and T (which without it track and hold, and pulse at exact times). V and Y become an unknown and its
equation, solved to the integrator's tolerance; P1 and P2 of Y are left aside. What is not carried over: Q ends the run when it fires, not at the half
step after; a user routine sees its inputs, parameters and the time, but not the outputs of other blocks, and it is always at a complete step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, Final, Unpack

from tidegate.csmp.language.block_kinds import BlockStatement, Parameters, is_user_kind
from tidegate.csmp.language.diagnostics import say
from tidegate.csmp.language.program import CsmpProgram, Routine, RoutineOf
from tidegate.errors import CsmpError, ModelError, Origin, UsageError
from tidegate.expressions import Expr, as_real
from tidegate.expressions.tracing import function_origin
from tidegate.frontends.blocks import library as blocks
from tidegate.frontends.blocks.block import About, Block
from tidegate.frontends.blocks.diagram import Diagram
from tidegate.frontends.blocks.pen import Pen
from tidegate.quick_dataclass import dataclass

__all__ = ["RoutineBlock", "to_diagram"]

_KINDS: Final[Mapping[str, type[Block]]] = {kind.code: kind for kind in (getattr(blocks, name) for name in blocks.__all__) if kind.code}


class _Context:
    """What a user routine sees in a run with located events.

    Parameters
    ----------
    signals : time, x1, x2, x3, P1, P2 and P3.
    """

    def __init__(self, block: RoutineBlock, path: str, signals: Sequence[Any]) -> None:
        self.block = block.number
        self.label = block.label
        self.h = block.interval
        self.stage = 3
        self.time, self.x1, self.x2, self.x3, self.p1, self.p2, self.p3 = signals
        known = {1: self.time, **{number: signals[k + 1] for k, number in enumerate(block.statement.inputs) if number}}
        self.out = _BlockOutputs(known, path, block.origin)
        self.uo: dict[int, Any] = dict.fromkeys(block.extras, 0.0)

    def set_uo(self, number: int, value: Any) -> None:
        """Set an additional output."""
        _ = self.uo[number]
        self.uo[number] = value


class _BlockOutputs(dict[int, Any]):
    """Outputs of the blocks that a routine's block reads."""

    def __init__(self, known: Mapping[int, Any], path: str, origin: Origin) -> None:
        super().__init__(known)
        self._path = path
        self._origin = origin

    def __missing__(self, number: int) -> Expr:
        raise ModelError(
            f"the routine of {self._path} reads the output of block {number}, which is none of its inputs; with located events this is not possible",
            origin=self._origin,
            hint="make it an input of the block, or run with the language's own method: csmp.run(program, ...)",
        )


class RoutineBlock(blocks.UserBlock):
    """A block of type U1 to U15: a routine followed on symbols.

    Parameters
    ----------
    statement : its configuration statement.
    parameters : P1, P2, P3.
    routine : ``routine(ctx, number)``.
    extras : numbers of its UO blocks.
    interval : of the program, for ``ctx.h``.
    about : name, number, label, unit, units.
    """

    optional = frozenset({"x1", "x2", "x3"})

    def __init__(
        self,
        statement: BlockStatement,
        parameters: Parameters,
        routine: Routine,
        extras: tuple[int, ...],
        interval: float | None,
        **about: Unpack[About],
    ) -> None:
        shown = ("out", *(f"uo{number}" for number in extras))
        super().__init__(routine, 3, shown, dict(zip(("P1", "P2", "P3"), parameters, strict=True)), **about)
        self._statement, self._routine, self._extras, self._interval = statement, routine, extras, interval

    @property
    def statement(self) -> BlockStatement:
        """Its configuration statement."""
        return self._statement

    @property
    def extras(self) -> tuple[int, ...]:
        """Numbers of its UO blocks."""
        return self._extras

    @property
    def interval(self) -> float | None:
        """Of the program."""
        return self._interval

    def feedthrough(self) -> tuple[str, ...]:
        """Everything it reads."""
        return self.inputs

    def signals(self, pen: Pen) -> list[Expr]:
        """What the routine returns, and sets."""
        number, routine = self._statement.number, self._routine

        def everything(signals: Sequence[Any]) -> list[Any]:
            context = _Context(self, pen.path, signals)
            value = routine(context, number)
            return [value, *[context.uo[extra] for extra in context.uo]]

        signals = [pen.time, *(pen.x(port) for port in ("x1", "x2", "x3")), *(pen.p(name) for name in ("P1", "P2", "P3"))]
        followed = pen.follow(routine, signals, everything)
        values: list[Any] = [*followed.value]
        if values[0] is None:
            raise ModelError(f"the routine of {pen.path} returns nothing", origin=function_origin(routine), hint="return the block's output")
        return [as_real(value) for value in values]


@dataclass(eq=False)
class _Maker:
    """Makes a block of each statement."""

    program: CsmpProgram
    interval: float | None
    start: float
    routine_of: RoutineOf | None
    names: dict[int, str] = field(default_factory=dict[int, str])
    waiting: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        labels = Counter(statement.label for statement in self.program.blocks.values())
        for number, statement in self.program.blocks.items():
            # names of parameters have a point in them, and those of blocks without a label begin like this
            is_taken = statement.label in ("", "time") or "." in statement.label or statement.label.startswith("block ")
            is_good = labels[statement.label] == 1 and not is_taken
            self.names[number] = statement.label if is_good else f"block {number}"

    def extras(self, number: int) -> tuple[int, ...]:
        """Numbers of the UO blocks of a user block."""
        return tuple(n for n in self.program.numbers if self.program.blocks[n].kind == "UO" and self.program.blocks[n].inputs[0] == number)

    def half_step(self, statement: BlockStatement) -> float:
        """Half of the interval, for a block that cannot do without."""
        if self.interval is None:
            self.waiting.append(f"{self.names[statement.number]} (type {statement.kind})")
            return 1.0
        return self.interval / 2.0

    def block(self, statement: BlockStatement) -> Block:
        """The block of a statement."""
        n, kind, p = statement.number, statement.kind, self.program.parameter(statement.number)
        about = About(name=self.names[n], number=n, label=statement.label)
        own: Mapping[str, Callable[[], Block]] = {
            "U": lambda: blocks.UnitDelay(self.half_step(statement), p[0], self.start, **about),
            "J": lambda: blocks.Jitter(self.half_step(statement), n, **about),
            "T": lambda: blocks.TimePulse(p[0], sampling=None if self.interval is None else self.interval / 2.0, offset=self.start, **about),
            # at the very start a hold shows its P1
            "Z": lambda: (
                blocks.ZeroOrderHold(None, p[0], **about)
                if self.interval is None
                else blocks.ZeroOrderHold(self.interval / 2.0, p[0], self.start + self.interval / 2.0, **about)
            ),
            "+": lambda: blocks.Summer([s for _, s in zip(range(3), statement.signs, strict=True)], **about),
            "F": lambda: self._function(statement, p, about),
        }
        if kind in own:
            return own[kind]()
        if is_user_kind(kind):
            return RoutineBlock(statement, p, self._routine(statement, p), self.extras(n), self.interval, **about)
        values = dict(zip(_KINDS[kind].table_parameters, p, strict=False))
        return _KINDS[kind](**values, **about)

    def _function(self, statement: BlockStatement, p: Parameters, about: About) -> Block:
        pairs = self.program.functions[statement.number]
        x, y = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        if p[0] >= 0:
            return blocks.Function(x, y, max(int(p[0]), 1), **about)
        routine = self._routine(statement, p)
        return blocks.Function(x, y, interpolate=partial(_interpolate, routine), **about)

    def _routine(self, statement: BlockStatement, p: Parameters) -> Routine:
        routine = self.routine_of(statement, p) if self.routine_of else None
        if routine is None:
            raise CsmpError([say("USER-DEFINED SUBROUTINE NOT LOADED", n=statement.number).at(statement.origin)])
        return routine


def _interpolate(routine: Routine, x: Expr, pairs: Any) -> Any:
    return routine(x, pairs, None)


def to_diagram(program: CsmpProgram, interval: float | None = None, start: float = 0.0, routine_of: RoutineOf | None = None) -> Diagram:
    """The diagram that a program describes, for runs with located events.

    Parameters
    ----------
    program : complete.
    interval : the integration interval that clocks follow; None if the program has neither U nor J blocks.
    start : time of the program's first step, from which clocks count.
    routine_of : knows the routines of user blocks: ``csmp.routines_of(module).of``.

    Returns
    -------
    Diagram
        whose blocks have the program's numbers, and its labels for names where they are no one else's; ``"block 9"`` otherwise.

    Raises
    ------
    CsmpError : the program cannot be run.
    UsageError : it needs an interval.
    """
    problems = program.problems()
    if problems:
        raise CsmpError(problems)
    maker = _Maker(program, interval, start, routine_of)
    diagram = Diagram(program.title or "program")
    made: dict[int, Block] = {}
    for number in program.numbers:
        statement = program.blocks[number]
        made[number] = diagram.add(_made(maker, statement))
        object.__setattr__(made[number], "origin", statement.origin or Origin())
    if maker.waiting:
        raise UsageError(
            f"{', '.join(maker.waiting)} act at half steps of the program, and no interval is given", hint="program.to_diagram(interval=0.1)"
        )
    for number in program.numbers:
        _connect(diagram, made, program.blocks[number])
    return diagram


def _made(maker: _Maker, statement: BlockStatement) -> Block:
    """The block of a statement; what it refuses stands where the statement is, not where a run was asked for."""
    try:
        return maker.block(statement)
    except UsageError as error:
        raise UsageError(error.message, origin=statement.origin, hint=error.hint) from None


def _connect(diagram: Diagram, made: Mapping[int, Block], statement: BlockStatement) -> None:
    block, place = made[statement.number], statement.origin or Origin()
    for port, source in zip(block.inputs, statement.inputs, strict=False):
        if source == 1:
            block.take(port, diagram.time, place)
        elif source == 0:
            block.leave_open(port)
        elif isinstance(made[source], RoutineBlock) and statement.kind == "UO":
            block.take(port, made[source].port(f"uo{statement.number}"), place)
        else:
            block.take(port, made[source], place)
