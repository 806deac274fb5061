"""The extended section of a model file: integration and output control, which the report's files do not hold. In and out go lines.

It stands behind the last empty line of the file under the heading ``CONTROL :``, which the old reader never looks for.
"""

from __future__ import annotations

from typing import Final, TypedDict

from tidegate.csmp.language import written_numbers
from tidegate.csmp.language.diagnostics import Diagnostic, say
from tidegate.csmp.language.fields import split
from tidegate.errors import Origin
from tidegate.names import suggestion
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Control", "RunControl", "control_lines", "take_control"]

_WIDTH: Final = 72  # characters of a line, by the report


class Control(TypedDict, total=False):
    """How the model is run; each is there if it was given.

    Parameters
    ----------
    lower, upper, interval : time limits and step (INT).
    outputs : numbers of the output blocks (OUT); ``A`` for all of them, ``AS`` for all in sorted order.
    every, percent : interval of the output, and the change in per cent below which a value is not stored again.
    seed : of jitter blocks.
    """

    lower: float
    upper: float
    interval: float
    outputs: tuple[int, ...] | str
    every: float
    percent: float
    seed: int


@explained
@dataclass(frozen=True)
class RunControl:
    """Integration and output control.

    Parameters
    ----------
    lower, upper : limits of time.
    interval : of integration; any number if the limits are equal.
    outputs : numbers of the blocks whose outputs are stored; 1 is the time.
    every : output interval; below ``interval`` every half step is stored.
    percent : a value is stored only if it differs by more than so much from the one stored last, which is repeated otherwise.
    """

    lower: float
    upper: float
    interval: float
    outputs: tuple[int, ...]
    every: float
    percent: float = 0.0


_NUMBERS: Final = ("lower", "upper", "interval", "every", "percent")
_NAMES: Final = (*_NUMBERS, "outputs", "seed")
_ALL: Final = (["A"], ["AS"])


def control_lines(control: Control) -> list[str]:
    """The lines of the section, without its heading.

    Raises
    ------
    ValueError : for numbers that are not finite.

    >>> control_lines({"upper": 20.0, "outputs": (9, 4)})
    ['UPPER 20', 'OUTPUTS 9 4']
    """
    lines: list[str] = []
    for name in _NUMBERS:
        value = control.get(name)
        if value is not None:
            lines.append(f"{name.upper()} {written_numbers.exact(value)}")
    line = "OUTPUTS"
    outputs = control.get("outputs", ())
    for number in [outputs] if isinstance(outputs, str) else outputs:
        if len(line) + len(f" {number}") > _WIDTH:
            lines.append(line)
            line = "OUTPUTS"
        line += f" {number}"
    if line != "OUTPUTS":
        lines.append(line)
    if "seed" in control:
        lines.append(f"SEED {control['seed']}")
    return lines


def take_control(control: Control, line: str, origin: Origin | None = None) -> Diagnostic | None:
    """Put a line of the section into a control, or say what is wrong with it."""
    fields = split(line)
    name = (fields.values[0] or "").lower()
    texts = [text or "" for text in fields.values[1:]]
    if name not in _NAMES:
        known = [each.upper() for each in _NAMES]
        return _incorrect(line, suggestion(name, known, f"a line of CONTROL begins with {', '.join(known)}"), origin)
    if name == "outputs":
        if [text.upper() for text in texts] in _ALL:
            control["outputs"] = texts[0].upper()
            return None
        blocks = [written_numbers.whole(text) for text in texts]
        if any(block is None or not 1 <= block <= written_numbers.HIGHEST_BLOCK for block in blocks):
            return _incorrect(line, "give block numbers, or A for all, AS for all in sorted order", origin)
        before = control.get("outputs", ())
        control["outputs"] = (*(() if isinstance(before, str) else before), *(block for block in blocks if block is not None))
        return None
    if len(texts) != 1:
        return _incorrect(line, f"give one number behind {name.upper()}", origin)
    try:
        value = written_numbers.parse(texts[0])
    except ValueError as fault:
        return _incorrect(line, str(fault), origin)
    if name == "seed":
        if not value.is_integer():
            return _incorrect(line, "a seed is an integer", origin)
        control["seed"] = int(value)
    else:
        control.update({name: value})  # pyright: ignore[reportCallIssue, reportArgumentType]  one of _NUMBERS, which pyright does not follow
    return None


def _incorrect(line: str, hint: str, origin: Origin | None) -> Diagnostic:
    return say("INCORRECT RECORD", record=line.strip(), hint=hint).at(origin)
