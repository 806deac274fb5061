"""What the resets of plain functions assign (front end of plain functions).

In: what a reset returned: a dict of new values by name or place, all values in order, or nothing. Out: new values by element. A variable that is not
in it keeps its value, also where a condition decides what is returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, Role, as_real, select, symbol
from tidegate.expressions.tracing import Trace
from tidegate.expressions.tracing.value_kinds import is_mapping
from tidegate.frontends.equations.quantities import FunctionQuantities
from tidegate.frontends.equations.returned import flat
from tidegate.model import Action, Assignment, Message, Terminate
from tidegate.model.remarks import made_when
from tidegate.names import suggestion
from tidegate.quick_dataclass import dataclass

__all__ = ["ResetReader"]


@dataclass(eq=False)
class ResetReader:
    """Reads what one reset returns.

    Parameters
    ----------
    label : what messages call its event.
    y, d : unknowns, and discrete variables.
    origin : where it is written.
    places : where what it returned was written, by key; filled in when that is known.
    """

    label: str
    y: FunctionQuantities
    d: FunctionQuantities
    origin: Origin
    places: Mapping[Any, Origin] = field(default_factory=dict[Any, Origin])

    def __post_init__(self) -> None:
        both = (self.y, self.d)
        self._piece_of = {name: piece for one in both for piece in one.pieces for name in piece.elements}
        self._known = {name: [name] for one in both for name in one.elements} | {piece.name: piece.elements for one in both for piece in one.pieces}

    def _target(self, element: str) -> Expr:
        return symbol(Role.DISCRETE if element in self.d.elements else Role.UNKNOWN, element)

    def merged(self, condition: Expr, first: Any, second: Any) -> Any:
        """New values where a condition holds and where not, by element; what is returned in one case only keeps its value in the other."""
        if first is None and second is None:
            return None
        a, b = self._by_element(first), self._by_element(second)
        chosen = {name: select(condition, a.get(name, self._target(name)), b.get(name, self._target(name))) for name in {**a, **b}}
        return {name: self._piece_of[name].said_by(number, name) for name, number in chosen.items()}

    def actions(self, followed: Trace, said: Sequence[Message | Terminate]) -> tuple[Action, ...]:
        """What the reset assigns, and what it says; one that has something to say may return nothing."""
        self.places = followed.item_origins
        if followed.value is None and said:
            return tuple(said)
        return (*(Assignment(self._target(name), new, place) for name, (new, place) in self._assigned(followed.value).items()), *said)

    def effects(self, actions: Sequence[Action]) -> list[Expr]:
        """New values, and whether each remark is made."""
        return [item.value if isinstance(item, Assignment) else made_when(item, actions) for item in actions]

    def effects_at(self, point: Mapping[Expr, float], actions: Sequence[Action], returned: Any, made: Sequence[Message | Terminate]) -> list[float]:
        """The same of a plain call; what it does not name has its value at the point, and what else it does comes last."""
        new = {self._target(name): value.value for name, value in self._by_element(returned).items()}
        expected = [
            (new[item.target] if item.target in new else point[item.target]) if isinstance(item, Assignment) else float(item in made)
            for item in actions
        ]
        targets = {item.target for item in actions if isinstance(item, Assignment)}
        return [*expected, *(value for target, value in new.items() if target not in targets), *(1.0 for item in made if item not in actions)]

    def _by_element(self, returned: Any) -> dict[str, Expr]:
        return {} if returned is None else {name: new for name, (new, _) in self._assigned(returned).items()}

    def _assigned(self, returned: Any) -> dict[str, tuple[Expr, Origin]]:
        """New values by the names of elements, and where each is written.

        Raises
        ------
        UsageError
            for what is no new value: an unknown name, too many values, something else than numbers.
        """
        if not is_mapping(returned):
            values = flat(returned)
            if len(values) != len(self.y.elements) or not all(isinstance(value, int | float | Expr | np.number) for value in values):
                raise UsageError(
                    f"the reset of {self.label} returns {returned!r}",
                    origin=self.origin,
                    hint="return a dict with the new values of the variables that change",
                )
            return {name: (as_real(value), self.origin) for name, value in zip(self.y.elements, values, strict=True)}
        found: dict[str, tuple[Expr, Origin]] = {}
        entries: Any = returned
        for key, value in entries.items():
            place = self.places.get(key, self.origin)
            elements = self._elements(key, place)
            values = flat(value)
            if len(values) not in (1, len(elements)):
                raise UsageError(f"the reset of {self.label} gives {len(values)} values to the {len(elements)} elements of {key!r}", origin=place)
            for each, new in zip(elements, values * (len(elements) // len(values)), strict=True):
                found[each] = self._piece_of[each].number(new, each, place), place
        return found

    def _elements(self, key: Any, place: Origin) -> list[str]:
        name = self.y.elements[key] if isinstance(key, int) and -len(self.y.elements) <= key < len(self.y.elements) else key
        if name in self._known:
            return self._known[name]
        names = [piece.name for one in (self.y, self.d) for piece in one.pieces]
        besides = " or d" if self.d.pieces else ""
        hint = suggestion(name, self._known, f"the variables are {', '.join(names)}")
        raise UsageError(f"the reset of {self.label} names {key!r}, which is not a variable of y{besides}", origin=place, hint=hint)
