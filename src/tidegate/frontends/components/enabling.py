"""Which parts take part, and when (front end of components: what users yield to switch a part off and on)."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, as_boolean
from tidegate.expressions.tracing import written_at
from tidegate.frontends.components.conditional import Absent
from tidegate.frontends.components.connectors import Connector
from tidegate.frontends.components.part import Part
from tidegate.frontends.components.statements import noted
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Enable", "enable"]


@dataclass(frozen=True, eq=False)
class Enable:
    """What ``tg.enable`` gives: to be yielded among the equations.

    Parameters
    ----------
    path : of the part, in the names of the component that says it; empty for one that is not there.
    condition : while it holds, the part is on.
    """

    path: str
    condition: Expr
    origin: Origin = field(default_factory=Origin)


@explained
def enable(part: Any, when: Any) -> Enable:
    """A part that takes part only while a condition holds; to be yielded by ``equations``.

    Off, it has no equations and no states: its variables keep their values, and nothing flows through its connectors. On again, it goes on from them.
    ``tg.simulate(..., record_disabled="nan")`` shows them as missing while it is off.

    Parameters
    ----------
    part : of the component itself.
    when : the condition, of variables of this component and its parts.

    Raises
    ------
    UsageError : for what is no part.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, State, der
    >>> class Mixer(Component):
    ...     c = State(0.0)
    ...     def equations(self):
    ...         yield der(self.c) == 1 - self.c
    >>> class Tank(Component):
    ...     h = State(0.0)
    ...     mixer = Mixer()
    ...     def equations(self):
    ...         yield der(self.h) == 1.0
    ...         yield enable(self.mixer, when=self.h > 0.5)
    >>> [variable.name for variable in Tank().lower().discretes]
    ['mixer.enabled']
    """
    place = written_at()
    if isinstance(part, Absent):
        return noted(Enable("", as_boolean(when), place), "tg.enable", place)
    if not isinstance(part, Part) or isinstance(part, Connector):
        raise UsageError(f"tg.enable is given {part!r}; a part is expected", origin=place, hint="write e.g. tg.enable(self.mixer, when=self.h > 0.5)")
    if not part._path:  # noqa: SLF001 - one package
        raise UsageError(
            f"tg.enable is given {part!r}, which is no part of this component", origin=place, hint="the component around says it of its part"
        )
    return noted(Enable(part._path, as_boolean(when), place), "tg.enable", place)  # noqa: SLF001
