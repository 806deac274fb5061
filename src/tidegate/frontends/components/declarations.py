"""Declarations of a component's variables (front end of components: class attributes go in, neutral variables come out later).

On the class an attribute is its declaration; on an instance it is the symbol that stands for the variable, alone or in an array.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any, ClassVar, Final, Literal, Never, Self, TypedDict, Unpack, cast, overload

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Role
from tidegate.expressions.tracing import written_at
from tidegate.expressions.tracing.choices import choice_of, enumeration_of, number_among, texts_among
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.class_body import refuse_computations, require_value
from tidegate.frontends.components.elements import Given
from tidegate.frontends.components.elements import quantity as symbols_named
from tidegate.model import Bound, VariableRole
from tidegate.names import suggestion
from tidegate.wrong_calls import explained

__all__ = [
    "ATTRIBUTES",
    "UNSET",
    "Algebraic",
    "Constant",
    "Declaration",
    "Discrete",
    "Input",
    "Kind",
    "Modification",
    "Output",
    "Parameter",
    "State",
    "StateSelect",
    "Texts",
    "only_variables_of",
    "start",
]

Kind = Literal["real", "integer", "boolean"]
Limit = float | Bound | None
StateSelect = Literal["never", "avoid", "default", "prefer", "always"]
# what a modifier may change
ATTRIBUTES: Final = ("start", "fixed", "min", "max", "nominal", "unit", "display_unit", "quantity", "description", "state_select")
NO_START: Final = float("0")  # of a state of which no start value was given: this very object
TEXTS: Final = ("unit", "display_unit", "quantity", "description")
_IN_MODELICA: Final = {"displayUnit": "display_unit", "stateSelect": "state_select", "units": "unit", "comment": "description", "doc": "description"}
_CHOICES: Final = ("never", "avoid", "default", "prefer", "always")


class _Unset:
    """What stands where the user gave no value."""

    def __repr__(self) -> str:
        return "no value"


UNSET: Final = _Unset()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)


def _choice(given: Any, place: Origin) -> StateSelect:
    if given not in _CHOICES:
        raise UsageError(f"state_select is {given!r}", origin=place, hint=f"it is one of {', '.join(map(repr, _CHOICES))}")
    return given


def _bound(limit: Limit, what: str, place: Origin) -> Bound | None:
    if limit is None or isinstance(limit, Bound):
        return limit
    if not _is_number(limit) or math.isnan(limit):
        raise UsageError(f"{what} is {limit!r}; a number is expected", origin=place, hint="write e.g. min=0.0, or tg.Bound(0.0, is_open=True)")
    return Bound(float(limit))


_followed: Final[ContextVar[Any]] = ContextVar("followed", default=None)


def _shape(given: Any, place: Origin) -> tuple[int, ...] | None:
    """Numbers of elements along each axis; None where they follow from the value."""
    sizes = (given,) if isinstance(given, int) else given
    if sizes is None:
        return None
    if isinstance(sizes, list | tuple) and all(isinstance(size, int) and size >= 0 for size in cast("Sequence[Any]", sizes)):
        return tuple(cast("Sequence[int]", sizes))
    raise UsageError(f"shape is {given!r:.60}; numbers of elements are expected", origin=place, hint="write e.g. shape=3 or shape=(2, 3)")


@contextmanager
def only_variables_of(component: Any) -> Generator[None]:
    """While this lasts, variables of instances that are no part of this component are refused: they have the names of its own."""
    token = _followed.set(component)
    try:
        yield
    finally:
        _followed.reset(token)


def _require_own(instance: object, name: str) -> None:
    followed = _followed.get()
    if followed is None:
        return
    whole = instance
    while whole is not followed:
        around: object = cast("dict[str, object]", vars(whole)).get("_outer")
        if around is None:
            path, kind, own = vars(instance).get("_place", ""), whole.__class__.__name__, type(followed).__name__
            within = f"{path}.{name}" if path else name
            raise UsageError(
                f"{within} is asked of a{'nother' if kind == own else ''} {kind} that is no part of {own}",
                hint=f"make it a part, `{kind.lower()} = {kind}()` in the body of the class, and take self.{kind.lower()}.{within}"
                + (f"; its own is self.{within}" if isinstance(followed, whole.__class__) else ""),
            )
        whole = around


class Modification:
    """Values of a variable's attributes that differ from those declared; what ``tg.start`` makes.

    Parameters
    ----------
    attributes : by name, of ``ATTRIBUTES``.
    """

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.attributes = dict(attributes)

    @classmethod
    def of(cls, given: Any) -> Modification:
        """What was given so far, a value or attributes."""
        if isinstance(given, Modification):
            return given
        return cls({} if given is UNSET else {"start": given})

    def and_attribute(self, name: str, value: Any) -> Modification:
        """With one more."""
        return Modification({**self.attributes, name: value})

    def __repr__(self) -> str:
        return f"start({', '.join(f'{name}={value!r}' for name, value in self.attributes.items())})"


@explained
def start(value: Any = UNSET, **attributes: Any) -> Modification:
    """A start value with attributes, for a variable of a part or an instance: ``Capacitor(C=0.01, v=tg.start(5.0, fixed=True))``.

    Parameters
    ----------
    value : the start value; as declared if there is none.
    attributes : fixed, min, max, nominal, unit, display_unit, quantity, description, state_select.

    Raises
    ------
    UsageError : for a name that is no attribute.

    Examples
    --------
    >>> start(5.0, nominal=10.0)
    start(start=5.0, nominal=10.0)
    """
    for name in attributes:
        if name not in ATTRIBUTES:
            hint = suggestion(name, ATTRIBUTES, f"there are {', '.join(ATTRIBUTES)}")
            raise UsageError(f"tg.start has no attribute {name!r}", origin=written_at(), hint=hint)
    return Modification({**({} if value is UNSET else {"start": value}), **attributes})


class Texts(TypedDict, total=False):
    """What every declaration takes besides: texts for results, units among them."""

    unit: str
    display_unit: str
    quantity: str
    description: str


def _require_keywords(declared: Declaration, value: object, unnamed: Sequence[object], given: Mapping[str, Any]) -> None:
    """There is a value where one is needed, only that comes without a name, and every name is known."""
    kind, taken = type(declared).__name__, inspect.signature(type(declared).__init__).parameters
    first = next((name for name in ("start", "value") if name in taken), "")
    named = [name for name, item in taken.items() if item.kind is item.KEYWORD_ONLY]
    known = [*filter(None, [first]), *TEXTS, *named]
    if unnamed:
        what = f"takes {'one value' if first else 'no value'} without a name"
        hint = f"write description={unnamed[0]!r} or unit={unnamed[0]!r}" if isinstance(unnamed[0], str) else f"it takes {', '.join(known)}"
        raise UsageError(f"tg.{kind} {what}, and was given {unnamed[0]!r} besides", origin=declared.origin, hint=hint)
    for name in given:
        if name not in TEXTS:
            hint = suggestion(_IN_MODELICA.get(name, name), known, f"it takes {', '.join(known)}")
            raise UsageError(f"tg.{kind} takes no {name}", origin=declared.origin, hint=hint)
    if value is UNSET and declared.role is not VariableRole.OUTPUT:
        raise UsageError(f"tg.{kind} is given no value", origin=declared.origin, hint=f"write tg.{kind}(1.0); an instance can have another")


def _of_the_component(value: Any) -> Any:
    """A value as it is; a variable declared above, ``x = State(x0)``, as a function of the component, which has it then."""
    if not isinstance(value, Declaration):
        return value
    declared = value

    def of_the_component(component: Any) -> Any:
        return getattr(component, declared.name)

    return of_the_component


@refuse_computations
class Declaration:
    """A variable of a component class; the subclasses say which role it has."""

    role: ClassVar[VariableRole]
    symbol_role: ClassVar[Role]

    def __init__(  # noqa: PLR0913, what can be said of a variable are keywords, and editors show them with their defaults
        self,
        value: Any,
        unnamed: Sequence[object] = (),
        texts: Mapping[str, Any] | None = None,
        *,
        limits: tuple[Limit, Limit] = (None, None),
        nominal: float | None = None,
        fixed: bool | None = None,
        shape: tuple[int, ...] | int | None = None,
        kind: Kind | None = None,
        state_select: StateSelect = "default",
        values: Any = None,
    ) -> None:
        self.name = ""
        self.owner = ""
        self.origin = written_at()
        given = texts or {}
        _require_keywords(self, value, unnamed, given)
        require_value(value, type(self).__name__)
        self.value = _of_the_component(value)
        self.unit, self.display_unit, self.quantity, self.description = (given.get(name, "") for name in TEXTS)
        self.minimum = _bound(limits[0], "min", self.origin)
        self.maximum = _bound(limits[1], "max", self.origin)
        self.nominal = nominal
        self.fixed = fixed
        self.kind: Kind | None = kind
        self.state_select: StateSelect = _choice(state_select, self.origin)
        self.present_while: tuple[str, ...] = ()  # of a model that is a part, what that says of its own parts
        self.is_potential = False  # likewise
        self.is_hidden = False  # likewise
        self.held_by: tuple[str, ...] = ()  # likewise
        self.texts, self.enumeration = texts_among(values, self.value, self.origin), enumeration_of(values, self.value)
        if self.texts:
            self.kind, self.value = "integer", number_among(self.texts, self.value, type(self).__name__, self.origin)
        self.shape = _shape(shape, self.origin)
        for name, text in given.items():
            if not isinstance(text, str):
                raise UsageError(f"{name} is {text!r}; a text is expected", origin=self.origin, hint='write e.g. unit="m/s"')

    def __set_name__(self, owner: type, name: str) -> None:
        if self.name and self.name != name:
            raise UsageError(
                f"{owner.__name__}.{name} is the same declaration as {self.owner}.{self.name}",
                origin=self.origin,
                hint="declare every variable on its own",
            )
        self.name, self.owner = name, owner.__name__

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Any: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        path, own = vars(instance).get("_place", ""), self.name
        name = f"{path}.{own}" if path else own
        plain = vars(instance).get("_plain")  # numbers stand for the variables while a run is judged
        if plain is not None:
            return choice_of(plain[name], self.texts, name, self.enumeration) if self.texts else plain[name]
        _require_own(instance, own)
        overrides = vars(instance).get("_overrides", {})
        symbols = symbols_named(self.symbol_role, name, self.shape_of(overrides[own]) if own in overrides else self.shape_of(self.value))
        return choice_of(symbols, self.texts, name, self.enumeration) if self.texts else symbols

    def __set__(self, instance: object, value: object) -> None:
        raise UsageError(
            f"{type(instance).__name__}.{self.name} stands for a variable and cannot be assigned in Python",
            hint=f"yield an equation `self.{self.name} == ...`, return {{self.{self.name}: ...}} from an event, or construct with {self.name}=...",
        )

    def with_value(self, value: Any) -> Self:
        """The same declaration with another value; how a subclass or an instance overrides it."""
        other = copy(self)
        other.value = number_among(self.texts, value, self.name, self.origin) if self.texts and value is not UNSET else value
        if other.kind is None and np.asarray(self.value).dtype.kind == "f":
            other.kind = "real"  # Resistor(R=10) is no resistor of whole ohms
        return other

    def modified(self, given: Any) -> Self:
        """The same declaration with a value, or with other attributes."""
        if not isinstance(given, Modification):
            return self.with_value(given)
        changed = dict(given.attributes)
        other = self.with_value(changed.pop("start", self.value))
        other.minimum = _bound(changed.pop("min"), "min", self.origin) if "min" in changed else self.minimum
        other.maximum = _bound(changed.pop("max"), "max", self.origin) if "max" in changed else self.maximum
        for name, value in changed.items():
            setattr(other, name, _choice(value, self.origin) if name == "state_select" else value)
        return other

    def shape_of(self, value: Any) -> tuple[int, ...]:
        """Shape of this variable when it has this value: as declared, or that of the value."""
        if isinstance(value, Modification):
            value = value.attributes.get("start", self.value)
        if self.shape is not None:
            return self.shape
        if value is UNSET or callable(value):
            return ()
        return np.shape(value)


class State(Declaration):
    """A variable that the equations give a derivative.

    Parameters
    ----------
    start : number, array, or ``lambda self: ...`` of parameters.
    unit, description : texts for results.
    display_unit : in which results are printed and drawn; what is computed and given is in ``unit``.
    quantity : what it is, as ``"Torque"`` is of the unit N m, and ``"Energy"`` too.
    min, max : limits; a number, or a ``Bound`` that excludes the value itself.
    nominal : typical size.
    fixed : True if the start value must hold exactly, False if it is a guess; by default it holds if the variable stays a state.
    shape : of an array whose start is one number or a function.
    state_select : whether it should be a state where the equations allow a choice.

    Examples
    --------
    >>> height = State(1.0, unit="m", min=0.0)
    """

    role = VariableRole.STATE
    symbol_role = Role.UNKNOWN

    def __init__(
        self,
        start: Given = NO_START,
        *unnamed: Never,
        min: Limit = None,
        max: Limit = None,
        nominal: float | None = None,
        fixed: bool | None = None,
        shape: tuple[int, ...] | int | None = None,
        state_select: StateSelect = "default",
        **texts: Unpack[Texts],
    ) -> None:
        super().__init__(start, unnamed, texts, limits=(min, max), nominal=nominal, fixed=fixed, shape=shape, state_select=state_select)


class Algebraic(Declaration):
    """A variable that the equations determine without its derivative; ``start`` is the guess of its first value.

    Parameters
    ----------
    fixed : True if the start value must hold; the start value of a state gives way to it.
    start, shape, min, max, nominal, state_select and texts : as of a ``State``.

    Examples
    --------
    >>> current = Algebraic(unit="A")
    """

    role = VariableRole.ALGEBRAIC
    symbol_role = Role.UNKNOWN

    def __init__(
        self,
        start: Given = 0.0,
        *unnamed: Never,
        min: Limit = None,
        max: Limit = None,
        nominal: float | None = None,
        fixed: bool = False,
        shape: tuple[int, ...] | int | None = None,
        state_select: StateSelect = "default",
        **texts: Unpack[Texts],
    ) -> None:
        super().__init__(start, unnamed, texts, limits=(min, max), nominal=nominal, fixed=fixed, shape=shape, state_select=state_select)


class Input(Declaration):
    """A variable given from outside; holds its value.

    Examples
    --------
    >>> voltage = Input(24.0, unit="V")
    """

    role = VariableRole.INPUT
    symbol_role = Role.INPUT

    def __init__(
        self,
        value: Given = 0.0,
        *unnamed: Never,
        min: Limit = None,
        max: Limit = None,
        shape: tuple[int, ...] | int | None = None,
        **texts: Unpack[Texts],
    ) -> None:
        super().__init__(value, unnamed, texts, limits=(min, max), shape=shape)


class Output(Declaration):
    """A variable to look at: defined by ``lambda self: ...`` here, or by an equation ``self.name == ...``.

    Examples
    --------
    >>> energy = Output(lambda self: 0.5 * self.v**2, unit="J/kg")
    """

    role = VariableRole.OUTPUT
    symbol_role = Role.UNKNOWN

    def __init__(
        self,
        value: Given = UNSET,
        *unnamed: Never,
        shape: tuple[int, ...] | int | None = None,
        **texts: Unpack[Texts],
    ) -> None:
        super().__init__(value, unnamed, texts, shape=shape)


class Discrete(Declaration):
    """A variable that changes at events only.

    Parameters
    ----------
    start : its kind is inferred from it: a truth value, an integer or a real number.
    kind : to choose the kind otherwise.
    values : texts of which it is one, or an enumeration; then it is compared with them and given them, and held as a number.

    Examples
    --------
    >>> is_open = Discrete(False)
    >>> state = Discrete("idle", values=("idle", "heating"))
    """

    role = VariableRole.DISCRETE
    symbol_role = Role.DISCRETE

    def __init__(
        self,
        start: Given = UNSET,
        *unnamed: Never,
        min: Limit = None,
        max: Limit = None,
        shape: tuple[int, ...] | int | None = None,
        kind: Kind | None = None,
        values: Any = None,
        **texts: Unpack[Texts],
    ) -> None:
        super().__init__(start, unnamed, texts, limits=(min, max), shape=shape, kind=kind, values=values)


class Parameter(Declaration):
    """A value that stays the same during a run; ``lambda self: ...`` makes it follow other parameters.

    ``values`` are texts of which it is one, or an enumeration, as of ``Discrete``.

    Examples
    --------
    >>> stiffness = Parameter(2.0, unit="N/m", min=0.0)
    >>> program = Parameter("eco", values=("eco", "full"))
    """

    role = VariableRole.PARAMETER
    symbol_role = Role.PARAMETER

    def __init__(
        self,
        value: Given = UNSET,
        *unnamed: Never,
        min: Limit = None,
        max: Limit = None,
        nominal: float | None = None,
        shape: tuple[int, ...] | int | None = None,
        kind: Kind | None = None,
        values: Any = None,
        **texts: Unpack[Texts],
    ) -> None:
        super().__init__(value, unnamed, texts, limits=(min, max), nominal=nominal, shape=shape, kind=kind, values=values)


class Constant(Declaration):
    """A number that decides how a model is built: how many parts, which equations. It stays itself in Python, so that ``range(self.n)`` works.

    Parameters
    ----------
    value : number, truth value or text, or a function of other constants.

    Examples
    --------
    >>> n = Constant(10)
    """

    role = VariableRole.PARAMETER
    symbol_role = Role.PARAMETER

    def __init__(self, value: Given = UNSET, *unnamed: Never, **texts: Unpack[Texts]) -> None:
        super().__init__(value, unnamed, texts)

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        value = vars(instance).get("_overrides", {}).get(self.name, self.value)
        return value(instance) if is_function(value) else value
