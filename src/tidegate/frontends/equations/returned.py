"""What a user's function returns, read as expressions (front end of plain functions).

In: lists, arrays or dicts of expressions, as returned. Out: flat lists of real expressions, and where each was written; errors name the function and
say how many values were expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidegate.errors import Origin, UsageError
from tidegate.expressions import Expr, as_real
from tidegate.expressions.tracing import Trace
from tidegate.expressions.tracing.value_kinds import is_array, is_mapping, is_sequence
from tidegate.frontends.equations.quantities import FunctionQuantities
from tidegate.names import listed, suggestion
from tidegate.quick_dataclass import dataclass

__all__ = ["Returned", "flat"]


def flat(value: Any) -> list[Any]:
    """All numbers of nested lists and arrays, in order."""
    if is_array(value):
        array: Any = value
        return array.ravel().tolist()
    if is_sequence(value):
        items: Any = value
        return [element for item in items for element in flat(item)]
    return [value]


@dataclass(frozen=True, eq=False)
class Returned:
    """What following a function gave, with the function's name and place for messages."""

    followed: Trace
    name: str
    origin: Origin

    def by_elements(self, y: FunctionQuantities) -> tuple[list[Expr], list[Origin]]:
        """Derivatives in the order of the unknowns, and their places."""
        if not is_mapping(self.followed.value):
            values, places, _ = self.in_order(y, "derivatives", "return the derivative of each of them, in that order")
            return values, places
        entries: Any = self.followed.value
        self._check_names(list(entries), [piece.name for piece in y.pieces])
        values: list[Expr] = []
        places: list[Origin] = []
        for piece in y.pieces:
            part = flat(entries[piece.name])
            if len(part) != len(piece.values):
                raise UsageError(
                    f"{self.name} returns {len(part)} derivatives for {piece.name!r}, which has {len(piece.values)} elements", origin=self.origin
                )
            values.extend(self._real(item) for item in part)
            places.extend([self._place(piece.name)] * len(part))
        return values, places

    def in_order(
        self, y: FunctionQuantities, what: str = "residuals", hint: str = "there must be as many equations as unknowns"
    ) -> tuple[list[Expr], list[Origin], list[str]]:
        """Values in the order they were returned in, their places, and what messages call them."""
        value: Any = self.followed.value
        if self.followed.yields or isinstance(value, Iterator):
            raise UsageError(
                f"{self.name} is a generator: it yields values instead of returning them",
                origin=self.origin,
                hint=f"return a list of {len(y.elements)} {what}: return [...], without yield",
            )
        if value is None:
            raise UsageError(f"{self.name} returns nothing", origin=self.origin, hint=f"return a list of {len(y.elements)} {what}")
        is_named = is_mapping(value)
        entries: list[tuple[Any, Any]] = list(value.items()) if is_named else list(enumerate(value if is_sequence(value) else [value]))  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        values: list[Expr] = []
        places: list[Origin] = []
        labels: list[str] = []
        for key, item in entries:
            for element in flat(item):
                values.append(self._real(element))
                places.append(self._place(key))
                labels.append(f"equation {key!r}" if is_named else f"equation {len(values)}")
        if len(values) != len(y.elements):
            names = listed(y.elements)
            raise UsageError(
                f"{self.name} returns {len(values)} {what}, but y0 has {len(y.elements)} values ({names})", origin=self.origin, hint=hint
            )
        return values, places, labels

    def residuals(self) -> tuple[list[Expr], list[Origin]]:
        """Values in the order they were returned in, however many, and their places."""
        value: Any = self.followed.value
        if value is None:
            raise UsageError(f"{self.name} returns nothing", origin=self.origin, hint="return a list of what is zero")
        entries: list[tuple[Any, Any]] = list(value.items()) if is_mapping(value) else list(enumerate(value if is_sequence(value) else [value]))  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
        found = [(self._real(element), self._place(key)) for key, item in entries for element in flat(item)]
        return [expr for expr, _ in found], [place for _, place in found]

    def _check_names(self, given: list[Any], names: list[str]) -> None:
        unknown, missing = [key for key in given if key not in names], [name for name in names if name not in given]
        if not unknown and not missing:
            return
        sentences = [*(f"{key!r} is not a variable" for key in unknown), *(f"{name!r} is missing" for name in missing)]
        hint = suggestion(unknown[0] if unknown else "", names, f"the names are those of y0: {', '.join(names)}")
        raise UsageError(f"{self.name} returns derivatives by name: {'; '.join(sentences)}", origin=self.origin, hint=hint)

    def _real(self, value: Any) -> Expr:
        try:
            return as_real(value)
        except TypeError:
            raise UsageError(f"{self.name} returns {value!r} among its values; a number is expected", origin=self.origin) from None

    def _place(self, key: Any) -> Origin:
        """Where an entry is written: its own place in what is written out after `return`, else the place of the `return`."""
        places = self.followed.item_origins
        return places.get(key, places.get(None, self.origin))
