"""What is wrong with what a run is asked for (stage: csmp): limits of time, interval, output blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tidegate.csmp.language.block_kinds import KINDS
from tidegate.csmp.language.control import RunControl
from tidegate.csmp.language.diagnostics import Diagnostic, say
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.language.sorting import store_order
from tidegate.csmp.language.written_numbers import HIGHEST_BLOCK
from tidegate.errors import CsmpError
from tidegate.wrong_calls import explained

__all__ = ["block_problems", "control_problems", "integration_problems", "output_blocks"]

_MOST_STEPS: Final = 1e15  # a machine for a year


@explained
def integration_problems(lower: float, upper: float, interval: float) -> list[Diagnostic]:
    """What is wrong with limits and interval: what INT refuses."""
    if not all(map(math.isfinite, (lower, upper, interval))):
        return [say("IMPROPER PARAM SPECIFICATION", hint="limits and interval must be finite numbers")]
    if upper < lower:
        return [say("FINAL TIME")]
    if upper == lower:
        return []
    if interval > upper - lower:
        return [say("INTEGN INTERVAL")]
    if interval > 0.0 and (upper - lower) / interval > _MOST_STEPS:
        return [say("IMPROPER PARAM SPECIFICATION", hint=f"{(upper - lower) / interval:.1g} steps would never end; give a larger interval")]
    if interval <= 0.0:
        return [say("IMPROPER PARAM SPECIFICATION", hint=f"the integration interval must be positive, not {interval:g}")]
    return []


def block_problems(program: CsmpProgram) -> list[Diagnostic]:
    """Numbers and types that no statement would have let in, but a program put together in Python may have."""
    found: list[Diagnostic] = []
    for number, block in program.blocks.items():
        if block.number != number or not 2 <= number <= HIGHEST_BLOCK:
            found.append(say("INVALID BLK NO.", n=number, highest=HIGHEST_BLOCK))
        if block.kind not in KINDS:
            found.append(say("ILLEGAL BLK TYPE", n=number, type=block.kind, types=" ".join(KINDS)))
    return found


@explained
def control_problems(program: CsmpProgram, control: RunControl) -> list[Diagnostic]:
    """Everything that is wrong with a run's control."""
    found = integration_problems(control.lower, control.upper, control.interval)
    found += [say("BLK NOT USED", n=n) for n in dict.fromkeys(control.outputs) if n != 1 and n not in program.blocks]
    if not (math.isfinite(control.every) and math.isfinite(control.percent) and control.every >= 0.0 and control.percent >= 0.0):
        found.append(say("IMPROPER PARAM SPECIFICATION", hint="output interval and percentage are numbers that are not negative"))
    return found


@explained
def output_blocks(program: CsmpProgram, wanted: str | int | Sequence[int | str]) -> tuple[int, ...]:
    """Block numbers of a list of numbers and labels, or of "A" for all blocks ascending and "AS" for all in sorted order.

    Raises
    ------
    CsmpError : a number or label that is not used.
    """
    if isinstance(wanted, str) and wanted.upper() in ("A", "ALL"):
        return tuple(program.numbers)
    if isinstance(wanted, str) and wanted.upper() == "AS":
        return tuple(store_order(program.blocks))
    by_label = {program.blocks[n].label.upper(): n for n in reversed(program.numbers) if program.blocks[n].label}
    items = [wanted] if isinstance(wanted, str | int) else list(wanted)
    found = [by_label.get(item.upper(), item) if isinstance(item, str) else int(item) for item in items]
    unknown = [item for item in found if item != 1 and item not in program.blocks]
    if unknown:
        known = ", ".join(f"{n} {program.blocks[n].label}".strip() for n in program.numbers)
        raise CsmpError([say("BLK NOT USED", n=item, hint=f"the blocks are {known}") for item in dict.fromkeys(unknown)])
    return tuple(int(item) for item in found)
