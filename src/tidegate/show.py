"""What a model is made of, and what becomes of it (the pipeline's first half, told instead of run): any source goes in, a text comes out.

Its parts as a tree, aliases, states with the reasons why they are, and the blocks in which the unknowns are solved for, in the order of that.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, cast

from tidegate.errors import StructureError, TidegateError, UnknownNameError, UsageError
from tidegate.frontends.components import Connector
from tidegate.model import Lowerable, Model, Variable, VariableRole
from tidegate.model.validate import validate
from tidegate.names import listed, shortened, suggestion
from tidegate.pictures import Picture, connections_scene, equations_scene, levels
from tidegate.quick_dataclass import dataclass
from tidegate.structure import StructureReport, check_structure, structure_report
from tidegate.wrong_calls import explained

__all__ = ["Shown", "as_html", "parts_of", "show"]

_MOST: Final = 40  # lines of a kind
_DRAWN: Final = 400  # parts of which a notebook shows pictures without being asked


@dataclass(frozen=True, eq=False)
class Shown:
    """A model told.

    Parameters
    ----------
    name : of the model.
    parts : lines of its tree of parts; none where it has no parts.
    report : what becomes of its unknowns; None for a part of which that depends on what it is connected with.
    source : what was told of.
    alone : of such a part what it has, a line each under its heading.
    """

    name: str
    parts: tuple[str, ...]
    report: StructureReport | None
    source: Any = None
    alone: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def lines(self) -> Iterator[str]:
        """The text, of long lists the beginning."""
        if self.parts:
            yield "parts"
            yield from (f"  {line}" for line in shortened(self.parts, _MOST))
        report = self.report
        if report is None:
            yield from _under_headings(self.alone)
            return
        yield report.head
        if report.aliases:
            yield "aliases"
            yield from (f"  {line}" for line in shortened(list(map(str, report.aliases)), _MOST))
        yield "states"
        yield from (f"  {line}" for line in report.states.lines())
        if report.starts:
            yield "start values"
            yield from (f"  {line}" for line in report.starts)
        if report.blocks:
            yield "blocks, in the order in which they are solved"
            yield from (f"  {line}" for line in shortened([f"{k + 1}: {block}" for k, block in enumerate(report.blocks)], _MOST))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def picture(self, what: Literal["connections", "equations"] | None = None, part: str = "") -> Picture:
        """A picture of it, which a notebook shows; ``save`` writes it to a file.

        Parameters
        ----------
        what : ``"connections"``, the parts of a component and what connects them; ``"equations"``, which unknown stands in which equation, in the
            order in which they are solved. The first where there are parts, if not given.
        part : path of the part whose inside is drawn.

        Raises
        ------
        UsageError : there are no parts, or too many of them, or no such part.

        Examples
        --------
        >>> import tidegate as tg
        >>> show(tg.ode(lambda t, y: [-y["x"]], y0={"x": 1.0})).picture()
        <picture of model: explicit equations, one for each state, 430 by 80>
        """
        if what not in (None, "connections", "equations"):
            raise UsageError(f"there is no picture of {what!r}", hint="picture('connections') or picture('equations')")
        if self.report is not None and (what == "equations" or (what is None and not self.parts)):
            return Picture(equations_scene(self.name, self.report))
        if what == "equations":
            raise UsageError(f"how {self.name} is solved depends on what it is connected with", hint="show the component that it is a part of")
        inside: Any = self.source
        for name in part.split(".") if part else ():
            found = parts_at(inside)
            if name not in found:
                raise UnknownNameError(f"{self.name} has no part {part!r}", hint=suggestion(name, found, f"there are {listed(found) or 'none'}"))
            inside = found[name]
        return Picture(connections_scene(inside, f"{part} ({type(inside).__name__})" if part else self.name))

    def pictures(self) -> dict[str, Picture]:
        """Pictures of connections: of the whole under the name "", and of each class of parts that have parts, by the path of the first."""
        return {path: self.picture("connections", path) for path, _ in levels(self.source)} if self.parts else {}

    def _repr_html_(self) -> str:
        drawn: list[Picture] = []
        if len(self.parts) <= _DRAWN:
            drawn = list(self.pictures().values()) or ([] if self.report else [self.picture()])
            drawn += [self.picture("equations")] if self.report else []
        return f"<pre>{html.escape(str(self))}</pre>" + "".join(f"<div>{item.svg}</div>" for item in drawn)


@explained
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
    3 unknowns, of which 1 is solved for, by explicit differential equations
    aliases
      y = w
    states
      1 state: x
    blocks, in the order in which they are solved
      1: y from self.w == 2 * self.x (by an expression)
      2: der(x) from tg.der(self.x) == -self.y (by an expression)
    """
    given: Any = source
    if isinstance(given, type) and hasattr(given, "lower"):
        raise UsageError(f"{given.__name__} is a class, of which an instance can be shown", hint=f"tg.show({given.__name__}())")
    if isinstance(given, type) or not isinstance(given, Lowerable):
        raise UsageError(f"{given!r} is not made of expressions, and there is no structure to show", hint="a function, a component or a diagram")
    model = source.lower()
    validate(model)
    parts = tuple(parts_of(source))
    ends = [name for name, part in parts_at(source).items() if isinstance(part, Connector)]
    try:
        check_structure(model)
    except StructureError:
        if not ends:
            raise
        return Shown(model.name, parts, None, source, tuple(_alone(model, ends)))
    return Shown(model.name, parts, structure_report(model), source)


def as_html(source: Any) -> str:
    """What a notebook shows of a model: what ``show`` tells, or the error that it is not one yet."""
    try:
        return show(source)._repr_html_()
    except TidegateError as error:
        return f"<pre>{html.escape(repr(source))}\n{html.escape(str(error))}</pre>"


def _alone(model: Model, ends: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a part has whose unknowns depend on what it is connected with."""
    names = list(ends)
    yield f"how it is solved depends on what its connector{'s' * (len(names) > 1)} {listed(names)} will be connected with", ("",)
    others = [variable for variable in model.variables if variable.role is not VariableRole.PARAMETER and not variable.is_hidden]
    for heading, variables in (("variables", others), ("parameters", model.parameters)):
        yield heading, tuple(map(_declared, variables))
    own = [item for item in model.equations if not item.label.endswith("is not connected")]
    yield "equations", tuple(f"{item.origin.path.removeprefix(model.name).lstrip('.')}: {item.label}".removeprefix(": ") for item in own)


def _declared(variable: Variable) -> str:
    unit = f" [{variable.unit}]" if variable.unit else ""
    return f"{variable.name}{unit}{f': {variable.description}' if variable.description else ''}"


def _under_headings(told: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[str]:
    for heading, lines in told:
        if lines:
            yield heading
            yield from (f"  {line}" for line in shortened(lines, _MOST) if line)


def parts_at(source: Any) -> dict[str, Any]:
    """The parts of a component by name; none of another source."""
    parts = getattr(source, "parts", None)
    return cast("dict[str, Any]", parts()) if callable(parts) else {}


def parts_of(source: Any, depth: int = 0) -> Iterator[str]:
    """The tree of parts of a component, a line each; nothing of another source."""
    for name, part in parts_at(source).items():
        yield f"{'  ' * depth}{name}: {type(part).__name__}"
        yield from parts_of(part, depth + 1)
