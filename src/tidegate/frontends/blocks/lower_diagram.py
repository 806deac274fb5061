"""From a diagram to the neutral model (the last step of the front end of blocks).

In: the innermost blocks and their drivers. Out: a ``Model``. Every signal becomes an expression of states, discrete variables, time and parameters,
put together in an order in which a block comes after those whose signals it needs at once. A loop of such blocks is refused, or cut: the signal at
which it is cut becomes an algebraic unknown, and the model a DAE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from tidegate.errors import InvalidModelError, Origin, StructureError
from tidegate.expressions import Expr, Role, as_real, symbol, walk
from tidegate.expressions.delays import has_delays
from tidegate.frontends.blocks.block import Block, Composite, OutPort
from tidegate.frontends.blocks.flatten import Flat, Leaf, flatten
from tidegate.frontends.blocks.loops import loops, order, shortest_loop
from tidegate.frontends.blocks.pen import Ink, Pen
from tidegate.model import Definition, Equation, Form, Model, Variable, VariableRole
from tidegate.quick_dataclass import dataclass

__all__ = ["lower"]


@dataclass(eq=False)
class _Sheet:
    """The model as far as it is written."""

    flat: Flat
    ink: Ink = field(default_factory=Ink)
    signals: dict[OutPort, Expr] = field(default_factory=dict[OutPort, Expr])
    truths: set[OutPort] = field(default_factory=set[OutPort])
    cut: set[Block] = field(default_factory=set[Block])

    def pen(self, leaf: Leaf, ports: Sequence[str]) -> Pen:
        values = {port: self.signals[leaf.drivers[port]] for port in ports if port in leaf.drivers}
        return Pen(leaf.block, leaf.path, self.ink, values)


def lower(diagram: Composite, *, is_part: bool = False) -> Model:
    """Make the neutral model of a diagram.

    Parameters
    ----------
    diagram : the outermost.
    is_part : of something greater, where its inputs move at events.

    Raises
    ------
    InvalidModelError : for connections that are missing, doubled or lead nowhere, all at once.
    StructureError : for algebraic loops, each named block by block.
    """
    flat = flatten(diagram)
    if not flat.leaves:
        flat.problems.append((f"diagram {diagram.path} has no blocks", diagram.origin))
    if flat.problems:
        raise InvalidModelError(flat.problems)
    sheet = _Sheet(flat, Ink(inputs_move=is_part))
    needs = _needs(sheet)
    _cut_loops(sheet, needs, solve=diagram.algebraic_loops == "solve")
    leaves = [flat.leaves[block] for block in order(needs)]
    for block in sheet.cut:
        leaf = flat.leaves[block]
        for port in block.outputs:
            sheet.signals[OutPort(block, port)] = sheet.pen(leaf, ()).unknown(_local(block, port))
    for leaf in leaves:
        _write_output(sheet, leaf)
    for leaf in flat.leaves.values():
        leaf.block.dynamics(sheet.pen(leaf, leaf.block.inputs))
    _check_sampling(sheet)
    return _assembled(diagram, sheet)


def _needs(sheet: _Sheet) -> dict[Block, list[Block]]:
    """For every block those whose signals it needs at the same instant."""
    return {
        block: list(dict.fromkeys(leaf.drivers[port].block for port in block.feedthrough() if port in leaf.drivers))
        for block, leaf in sheet.flat.leaves.items()
    }


def _cut_loops(sheet: _Sheet, needs: dict[Block, list[Block]], *, solve: bool) -> None:
    found = loops(needs)
    refused = [group for group in found if not solve or any(block.is_sampled for block in group)]
    if refused:
        texts = [_loop_text(sheet, shortest_loop(group, needs)) for group in refused]
        sampled = solve or all(any(block.is_sampled for block in group) for group in refused)
        hint = (
            "put a UnitDelay into it"
            if sampled
            else "put an Integrator, FirstOrderLag or UnitDelay into it, or have it solved with Diagram(algebraic_loops='solve')"
        )
        many = f"{len(texts)} algebraic loops" if len(texts) > 1 else "an algebraic loop"
        origin = sheet.flat.leaves[refused[0][0]].block.origin
        raise StructureError("\n  - ".join([f"the diagram has {many}:", *texts]), origin=origin, hint=hint)
    while found:
        for group in found:
            path = shortest_loop(group, needs)
            # where most loops of the group go through, so that few unknowns are made
            users = {block: sum(block in needs[other] for other in group) for block in path}
            best = max(path, key=lambda block: users[block])
            sheet.cut.add(best)
            for other, needed in needs.items():
                needs[other] = [block for block in needed if block is not best]
        found = loops(needs)


def _loop_text(sheet: _Sheet, path: Sequence[Block]) -> str:
    texts: list[str] = []
    for k, block in enumerate(path):
        following = sheet.flat.leaves[path[(k + 1) % len(path)]]
        port, source = next(
            (port, source) for port, source in following.drivers.items() if source.block is block and port in following.block.feedthrough()
        )
        texts += [f"{sheet.flat.leaves[block].path}.{source.name}", f"{following.path}.{port}"]
    return " -> ".join([*texts, texts[0]])


def _local(block: Block, port: str) -> str:
    """The first output has the block's own name."""
    return "" if port == block.outputs[0] else port


def _write_output(sheet: _Sheet, leaf: Leaf) -> None:
    block = leaf.block
    if block in sheet.cut:
        return
    for port, value in zip(block.outputs, _values(sheet, leaf), strict=True):
        sheet.signals[OutPort(block, port)] = value


def _values(sheet: _Sheet, leaf: Leaf) -> list[Expr]:
    pen = sheet.pen(leaf, leaf.block.feedthrough())
    given = leaf.block.signals(pen)
    written = [given] if isinstance(given, Expr) else [*given]
    sheet.truths.update(OutPort(leaf.block, port) for port, item in zip(leaf.block.outputs, written, strict=False) if item.is_boolean)
    values = [as_real(item) for item in written]
    sheet.ink.note(values, pen.origin)
    return values


def _check_sampling(sheet: _Sheet) -> None:
    """Refuse to sample what is solved for together with values that ticks change: at a tick it is not yet solved for again."""
    unknowns = {item for variable in sheet.ink.variables.values() if variable.role is VariableRole.ALGEBRAIC for item in variable.symbols()}
    if not unknowns and not sheet.cut:
        return
    cut = {sheet.signals[OutPort(block, port)] for block in sheet.cut for port in block.outputs}
    moved = {
        item
        for equation in (*sheet.ink.equations, *_loop_equations(sheet))
        for item in walk([equation.left, equation.right])
        if item.op == "symbol" and item.data.role is Role.DISCRETE
    }
    problems: list[tuple[str, Origin | None]] = []
    for path, value, origin in sheet.ink.sampled:
        solved = sorted(item.data.name for item in walk([value]) if item in unknowns | cut)
        if solved and moved:
            names = ", ".join(sorted(item.data.name for item in moved))
            instead = "add them up behind the delay, or sample a state" if _has_delays(sheet) else "sample a state instead"
            problems.append(
                (
                    f"{path} samples {', '.join(solved)}, solved for together with {names}, which ticks change: {instead}",
                    origin,
                )
            )
    if problems:
        raise InvalidModelError(problems)


def _has_delays(sheet: _Sheet) -> bool:
    """Whether what is solved for together is what a delay gives out, into which the ticks go."""
    return has_delays([equation.right for equation in sheet.ink.equations])


def _loop_equations(sheet: _Sheet) -> list[Equation]:
    """What the signals are at which loops were cut."""
    found: list[Equation] = []
    for block in sheet.flat.leaves:
        if block in sheet.cut:
            leaf = sheet.flat.leaves[block]
            for port, value in zip(block.outputs, _values(sheet, leaf), strict=True):
                place = replace(block.origin, path=leaf.path, text="")
                found.append(Equation(sheet.signals[OutPort(block, port)], value, place, f"the loop through {leaf.path}"))
    return found


def _assembled(diagram: Composite, sheet: _Sheet) -> Model:
    ink = sheet.ink
    definitions = _definitions(sheet)
    variables = [variable for variable in ink.variables.values() if variable.role is not VariableRole.PARAMETER]
    variables += [variable for variable, _ in definitions]
    variables += [variable for variable in ink.variables.values() if variable.role is VariableRole.PARAMETER]
    algebraic = [*ink.equations, *_loop_equations(sheet)]
    return Model(
        diagram.name or "diagram",
        Form.DAE if algebraic else Form.ODE,
        tuple(variables),
        (*(ink.rates[symbol(Role.UNKNOWN, v.name)] for v in variables if v.role is VariableRole.STATE), *algebraic),
        tuple(definition for _, definition in definitions),
        whens=tuple(ink.whens),
        time_events=tuple(ink.time_events),
        initial_actions=tuple(ink.initial),
        condition_origins=ink.condition_origins,
        origin=replace(diagram.origin, text="", path=""),
        time_unit=diagram.time_unit,
        check_units=diagram.check_units,
    )


def _definitions(sheet: _Sheet) -> list[tuple[Variable, Definition]]:
    """Signals that are no variables of their own, under the names of blocks and of diagrams' outputs."""
    wanted: dict[str, tuple[OutPort, Block]] = {}
    for block, leaf in sheet.flat.leaves.items():
        if block.is_recorded:
            for port in block.outputs:
                local = _local(block, port)
                wanted[f"{leaf.path}.{local}" if local else leaf.path] = OutPort(block, port), block
    for path, source in sheet.flat.exits.items():
        wanted.setdefault(path, (source, source.block))
    found = [_definition(name, sheet, source, block) for name, (source, block) in wanted.items() if name not in sheet.ink.variables]
    return [*found, *sheet.ink.shown.items()]


def _definition(name: str, sheet: _Sheet, source: OutPort, block: Block) -> tuple[Variable, Definition]:
    origin = replace(block.origin, path=sheet.flat.leaves[block].path, text="")
    unit, kind = block.unit if source.name == block.outputs[0] else "", "boolean" if source in sheet.truths else "real"
    variable = Variable(name, VariableRole.OUTPUT, (), unit, block.label, kind=kind, origin=origin)
    return variable, Definition(name, sheet.signals[source], origin)
