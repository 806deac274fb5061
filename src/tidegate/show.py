"""What a model is made of, and what becomes of it (the pipeline's first half, told instead of run): any source goes in, a text comes out.

Its parts as a tree, aliases, states with the reasons why they are, and the blocks in which the unknowns are solved for, in the order of that.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from tidegate.model import Lowerable
from tidegate.model.validate import validate
from tidegate.names import shortened
from tidegate.structure import StructureReport, check_structure, structure_report

__all__ = ["Shown", "parts_of", "show"]

_MOST: Final = 40  # lines of a kind


@dataclass(frozen=True, eq=False)
class Shown:
    """A model told.

    Parameters
    ----------
    name : of the model.
    parts : lines of its tree of parts; none where it has no parts.
    report : what becomes of its unknowns.
    """

    name: str
    parts: tuple[str, ...]
    report: StructureReport

    def lines(self) -> Iterator[str]:
        """The text, of long lists the beginning."""
        if self.parts:
            yield "parts"
            yield from (f"  {line}" for line in shortened(self.parts, _MOST))
        report = self.report
        kind = "explicit differential equations" if report.is_ode else "differential and algebraic equations"
        yield f"{report.n_unknowns} unknowns, of which {report.n_solved} are solved for, by {kind}"
        if report.aliases:
            yield "aliases"
            yield from (f"  {line}" for line in shortened(list(map(str, report.aliases)), _MOST))
        yield "states"
        yield from (f"  {line}" for line in report.states.lines())
        if report.blocks:
            yield "blocks, in the order in which they are solved"
            yield from (f"  {line}" for line in shortened([f"{k + 1}: {block}" for k, block in enumerate(report.blocks)], _MOST))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def show(source: Lowerable) -> Shown:
    """Tell what a model is made of and how it will be solved, without running it.

    Parameters
    ----------
    source : anything that can be simulated.

    Raises
    ------
    ModelError, UsageError : the model is wrong.

    Examples
    --------
    >>> import tidegate as tg
    >>> class Pair(tg.Component):
    ...     x, y, w = tg.State(1.0), tg.Algebraic(), tg.Algebraic()
    ...     def equations(self):
    ...         yield tg.der(self.x) == -self.y
    ...         yield self.y == self.w
    ...         yield self.w == 2 * self.x
    >>> tg.show(Pair())
    3 unknowns, of which 1 are solved for, by explicit differential equations
    aliases
      y = w
    states
      1 state: x
    blocks, in the order in which they are solved
      1: y from self.w == 2 * self.x (by an expression)
      2: der(x) from tg.der(self.x) == -self.y (by an expression)
    """
    model = source.lower()
    validate(model)
    check_structure(model)
    return Shown(model.name, tuple(parts_of(source)), structure_report(model))


def parts_of(source: Any, depth: int = 0) -> Iterator[str]:
    """The tree of parts of a component, a line each; nothing of another source."""
    parts = getattr(source, "parts", None)
    found = cast("dict[str, Any]", parts() if callable(parts) else {})
    for name, part in found.items():
        yield f"{'  ' * depth}{name}: {type(part).__name__}"
        yield from parts_of(part, depth + 1)
