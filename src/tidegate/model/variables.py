"""Variables of the neutral model: every named quantity with its role, shape, unit, bounds and start value."""

from __future__ import annotations

import enum
from dataclasses import field
from typing import Any, Final, Literal, get_args

import numpy as np

from tidegate.errors import Origin
from tidegate.expressions import Expr, Role, as_expr, symbol
from tidegate.numbers_as_texts import Texts
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["MAX_DIMENSIONS", "STATE_SELECTS", "Bound", "StateSelect", "Variable", "VariableRole", "element_names"]

StateSelect = Literal["never", "avoid", "default", "prefer", "always"]
STATE_SELECTS: Final[tuple[str, ...]] = get_args(StateSelect)
MAX_DIMENSIONS: Final = 6  # DSblock 3.3, section 5: an array has at most six dimensions


class VariableRole(enum.Enum):
    """DSblock's vectors: X and algebraic unknowns, U, Y, Z, W, discrete M, parameters."""

    STATE = "state"
    ALGEBRAIC = "algebraic"
    INPUT = "input"
    OUTPUT = "output"
    INDICATOR = "indicator"
    AUXILIARY = "auxiliary"
    DISCRETE = "discrete"
    PARAMETER = "parameter"


_SYMBOL_ROLE: Final = {
    VariableRole.STATE: Role.UNKNOWN,
    VariableRole.ALGEBRAIC: Role.UNKNOWN,
    VariableRole.INPUT: Role.INPUT,
    VariableRole.DISCRETE: Role.DISCRETE,
    VariableRole.PARAMETER: Role.PARAMETER,
}


@explained
@dataclass(frozen=True, slots=True)
class Bound:
    """A lower or upper limit; ``is_open`` excludes the value itself.

    Parameters
    ----------
    value : the limit.
    is_open : True if the value itself is beyond it.

    Examples
    --------
    >>> import tidegate as tg
    >>> tg.Parameter(1.0, unit="kg", min=tg.Bound(0.0, is_open=True)).minimum
    Bound(value=0.0, is_open=True)
    """

    value: float
    is_open: bool = False


def element_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the elements in row order: ``x`` itself, ``x[0]``, ``A[1,2]``."""
    if not shape:
        return [name]
    heads = [f"{name}["]
    for length in shape[:-1]:
        heads = [f"{head}{k}," for head in heads for k in range(length)]
    return [f"{head}{k}]" for head in heads for k in range(shape[-1])]


@dataclass(frozen=True, eq=False)
class Variable:
    """One named quantity of a model.

    Parameters
    ----------
    name : as the user knows it; with a path in front inside components, e.g. ``"pump.flow"``.
    role : which of DSblock's vectors it belongs to.
    shape : () for a scalar, up to six dimensions.
    unit, description : texts, "" where none.
    start : start value (parameters: the value), one expression an element in row order; parameters may appear in it.
    fixed : True if the start value must hold exactly, False if it is a guess, None for the usual of the role.
    minimum, maximum : limits, each open or closed; None for none.
    nominal : typical size, used for scaling; None if unknown.
    kind : what the values are.
    origin : where the user wrote it.
    start_source : "default" for what the class of a part says, which gives way to others; "given" for what was said of this one part, and may not
        be lost without a word; else "declared".
    state_select : whether it is to be a state where constraints leave a choice; "never" and "always" are orders, "avoid" and "prefer" wishes.
    display_unit : in which people are shown it, "" for its unit.
    quantity : what it measures, "" where its unit says enough.
    present_while : names of discrete variables; where one of them is zero, this variable is not there, and what it is said to be is only kept.
    is_potential : whether connections make it equal to others: a voltage, a position.
    texts : what its numbers say, each with the number; () for a quantity.
    held_by : names of the discrete variables that hold its elements from one instant to the next, where only equations of clauses determine it.
    is_hidden : whether it was put in for the sake of others, and no user asks for it: what is kept for a part that is off, the next time of a clock.
    """

    name: str
    role: VariableRole
    shape: tuple[int, ...] = ()
    unit: str = ""
    description: str = ""
    start: tuple[Expr, ...] = ()
    fixed: bool | None = None
    minimum: Bound | None = None
    maximum: Bound | None = None
    nominal: float | None = None
    kind: Literal["real", "integer", "boolean"] = "real"
    origin: Origin = field(default_factory=Origin)
    state_select: StateSelect = "default"
    start_source: Literal["declared", "default", "given"] = "declared"
    display_unit: str = ""
    quantity: str = ""
    present_while: tuple[str, ...] = ()
    is_potential: bool = False
    is_hidden: bool = False
    texts: Texts = ()
    held_by: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int)) if self.shape else 1

    @property
    def names(self) -> list[str]:
        """Names of the elements in row order."""
        return element_names(self.name, self.shape)

    def symbols(self) -> list[Expr]:
        """The symbol of every element in row order; outputs and the like are defined by expressions and have none."""
        role = _SYMBOL_ROLE.get(self.role)
        if role is None:
            raise ValueError(f"{self.role.value} {self.name} is defined by an expression and has no symbol")
        # every stage asks for them, and who made them anew each time would spend a tenth of a translation on it
        if "_symbols" not in vars(self):
            vars(self)["_symbols"] = [symbol(role, name) for name in self.names]
        return list(vars(self)["_symbols"])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_symbols"}

    def starts(self) -> tuple[Expr, ...]:
        """Start value of every element; zero where none was given."""
        return self.start or (as_expr(0.0),) * self.size
