"""Parts that are there or not (front end of components: a part and a condition go in; the placed part, or what stands in its place, comes out).

Whether a part is there is decided when an instance is made, by numbers that are known then. A part that is not there takes its connections with it
(Modelica 3, section 4.4.5): a connector of it counts for nothing among those that ``tg.connect`` is given. Nothing else can be asked of it.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr
from tidegate.expressions.tracing import written_at
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.declarations import Constant, Declaration
from tidegate.frontends.components.elements import Given
from tidegate.frontends.components.part import Part, Parts
from tidegate.wrong_calls import explained

__all__ = ["Absent", "conditional"]


class Absent:
    """What stands where a part is not there; its attributes are not there either.

    Parameters
    ----------
    name : path of what was asked for.
    owner : class of the component that the part would belong to.
    """

    def __init__(self, name: str, owner: str) -> None:
        self._name, self._owner = name, owner

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("_"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}", self._owner)

    def __getitem__(self, place: object) -> Absent:
        return Absent(f"{self._name}[{place}]", self._owner)

    def __iter__(self) -> Any:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{self._name} (not there)"

    def named(self, _: str) -> dict[str, Any]:
        """The parts of this name: none."""
        return {}


def _refuse(self: Absent, *_: Any, **__: Any) -> NoReturn:
    path, owner = vars(self)["_name"], vars(self)["_owner"]
    part = path.partition(".")[0]
    raise UsageError(
        f"{path} is asked for, but this {owner} has no {part}: the condition of tg.conditional does not hold",
        hint=f"only connections may name what is not there; ask `if self.{part}:` before, or let the equation depend on the same tg.Constant",
    )


# set here and not written into the class, so that editors and type checkers go on saying that it has no arithmetic
for _operator in ("add", "sub", "mul", "truediv", "pow", "floordiv", "mod", "radd", "rsub", "rmul", "rtruediv", "rpow", "rfloordiv", "rmod"):
    setattr(Absent, f"__{_operator}__", _refuse)
for _operator in ("neg", "pos", "abs", "float", "lt", "le", "gt", "ge", "eq", "ne", "call", "array_ufunc"):
    setattr(Absent, f"__{_operator}__", _refuse)
Absent.__hash__ = object.__hash__


class _Conditional(Parts):
    """See ``conditional``."""

    def __init__(self, part: Any, condition: Any, origin: Origin) -> None:
        self._written, self._condition, self._origin, self._name = part, condition, origin, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        if isinstance(self._written, Parts):
            vars(self._written)["_name"] = name

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        return instance.part(self._name) if isinstance(instance, Part) else self

    @property
    def origin(self) -> Origin:
        return self._origin

    def placed(self, outer: Part, name: str) -> Any:
        if not self._holds(outer, name):
            return Absent(name, type(outer).__name__)
        return self._written.placed(outer, name) if isinstance(self._written, Parts) else outer._with_path(self._written, name)  # noqa: SLF001

    def _holds(self, outer: Part, name: str) -> bool:
        given: Any = self._condition
        if isinstance(given, Declaration):
            given = getattr(outer, given.name)
        elif isinstance(given, str):
            given = getattr(outer, given)
        elif is_function(given):
            given = given(outer)
        if isinstance(given, Expr):
            raise UsageError(
                f"whether {type(outer).__name__} has {name} depends on {given!r}, which is known only in a run",
                origin=self._origin,
                hint="declare it as tg.Constant; a part that comes and goes in a run is switched by tg.enable(self.part, when=...)",
            )
        return bool(given)


@explained
def conditional(part: Any, condition: Given | Constant) -> Any:
    """A part that is there only if a condition holds, which is known when the instance is made.

    Parameters
    ----------
    part : an instance, or a ``tg.Array``.
    condition : a ``tg.Constant`` of the class, its name, or ``lambda self: ...`` of such constants.

    Raises
    ------
    UsageError : for what is no part, or a condition on what is known only in a run.

    Examples
    --------
    >>> from tidegate.frontends.components import Component, State, der
    >>> class Heater(Component):
    ...     T = State(20.0)
    ...     def equations(self):
    ...         yield der(self.T) == 1.0
    >>> class House(Component):
    ...     is_heated = Constant(True)
    ...     heater = conditional(Heater(), is_heated)
    >>> House().heater, House(is_heated=False).heater
    (heater (Heater), heater (not there))
    """
    place = written_at()
    if isinstance(part, type) and issubclass(part, Part):
        part = part()
    if not isinstance(part, Part | Parts):
        raise UsageError(f"tg.conditional is given {part!r}; a part is expected", origin=place, hint="write tg.conditional(Heater(), has_heater)")
    return _Conditional(part, condition, place)
