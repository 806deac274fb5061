"""A diagram as a program of the language (front end of blocks): ``Diagram`` in, ``CsmpProgram`` out, for runs by the language's own method.

Only blocks of Table 1 have a counterpart. Nested diagrams are made flat. A block keeps its number; the others get the next free ones. Clocks are not
carried over: in the language U, J and Z act at every half step, so that the program is the diagram only if its interval is twice their period.
"""

from __future__ import annotations

from tidegate.csmp.language.block_kinds import BlockStatement, Parameters
from tidegate.csmp.language.fields import title_of
from tidegate.csmp.language.program import CsmpProgram
from tidegate.errors import InvalidModelError, Origin
from tidegate.frontends.blocks.block import Block
from tidegate.frontends.blocks.diagram import Diagram
from tidegate.frontends.blocks.flatten import Flat, flatten
from tidegate.frontends.blocks.library import Constant, Function, Integrator, Summer, Time, UserBlock, Wye, ZeroOrderHold

__all__ = ["from_diagram"]

_LABEL = 10  # characters that a label of the language has
_TOLERANCE = 1e-9  # of implicit equations, which diagrams solve to the integrator's


def from_diagram(diagram: Diagram) -> CsmpProgram:
    """The program of a diagram that is made of blocks of Table 1.

    Parameters
    ----------
    diagram : complete.

    Returns
    -------
    CsmpProgram

    Raises
    ------
    InvalidModelError : naming every block without a counterpart, and every wrong connection.
    """
    flat = flatten(diagram)
    problems = flat.problems + [problem for block in flat.leaves for problem in _problems(block, flat)]
    periods = {float(block.parameters["period"]): block for block in flat.leaves if "period" in block.parameters and block.code}
    if len(periods) > 1:
        names = " and ".join(f"{block.path} ({period:g})" for period, block in periods.items())
        problems.append((f"{names} have different periods; in the language all act at half steps", None))
    if problems:
        raise InvalidModelError(problems)
    numbers = _numbers(flat)
    program = CsmpProgram(title_of(diagram.name))
    for block, leaf in flat.leaves.items():
        if isinstance(block, Time):
            continue
        sources = [numbers[leaf.drivers[port].block] if port in leaf.drivers else 0 for port in block.inputs]
        if isinstance(block, ZeroOrderHold) and "x2" not in leaf.drivers:
            sources[1] = _always(program, numbers)
        first, second, third = ([*sources, 0, 0, 0])[:3]
        signs = (*block.signs, 1, 1, 1)[:3] if isinstance(block, Summer) else (1, 1, 1)
        label = (block.label or block.name)[:_LABEL].rstrip()
        number = numbers[block]
        program.configure(BlockStatement(number, block.code, (first, second, third), (signs[0], signs[1], signs[2]), label, origin=block.origin))
        values = _parameters(block)
        if any(values):
            program.parameters[number] = values
        if isinstance(block, Function):
            program.functions[number] = block.points
    return program


def _problems(block: Block, flat: Flat) -> list[tuple[str, Origin | None]]:
    path = flat.leaves[block].path
    if isinstance(block, Time):
        return []
    if not block.code or isinstance(block, UserBlock):
        return [(f"{path} ({block.kind}) has no counterpart in the language", block.origin)]
    if isinstance(block, Summer) and len(block.inputs) > 3:
        return [(f"{path} adds {len(block.inputs)} signals; a summer of the language has three inputs", block.origin)]
    if isinstance(block, Integrator) and {"lower", "upper"} & set(block.parameters):
        return [(f"{path} has limits; an integrator of the language has none", block.origin)]
    if isinstance(block, Function) and not block.points:
        return [(f"{path} has no points", block.origin)]
    return []


def _numbers(flat: Flat) -> dict[Block, int]:
    """Own numbers where they are free, others from 2 on; time is 1."""
    numbers: dict[Block, int] = {}
    for block in flat.leaves:
        if isinstance(block, Time):
            numbers[block] = 1
        elif block.number is not None and block.number > 1 and block.number not in numbers.values():
            numbers[block] = block.number
    taken = set(numbers.values())
    following = 2
    for block in flat.leaves:
        if block not in numbers:
            while following in taken:
                following += 1
            numbers[block] = following
            taken.add(following)
    return numbers


def _always(program: CsmpProgram, numbers: dict[Block, int]) -> int:
    """The number of a constant 1, by which a hold follows its input at every half step."""
    always = next((block for block in numbers if isinstance(block, Constant) and block.name == "always"), None)
    if always is None:
        always = Constant(1.0, name="always")
        numbers[always] = max(numbers.values()) + 1
        program.configure(BlockStatement(numbers[always], "K", label="ALWAYS"))
        program.parameters[numbers[always]] = (1.0, 0.0, 0.0)
    return numbers[always]


def _parameters(block: Block) -> Parameters:
    if isinstance(block, Wye):
        return _TOLERANCE, 100.0, 0.0
    if isinstance(block, Function):
        return (0.0 if block.degree == 1 else float(block.degree)), 0.0, 0.0
    found = [float(block.parameters[name]) for name in block.table_parameters] + [0.0, 0.0, 0.0]
    return found[0], found[1], found[2]
