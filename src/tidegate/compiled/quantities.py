"""What of a compiled model has a name and a value (stage: compiled), and where each is found: names go in, places in the run's vectors come out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import Origin
from tidegate.names import Spelling
from tidegate.numbers_as_texts import TRUTHS, Texts
from tidegate.part_paths import across_parts
from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import number

__all__ = ["Located", "Places", "Quantity"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Quantity:
    """What has a name and a value.

    Parameters
    ----------
    name : of the whole; names : of its elements in row order.
    role : "state", "algebraic", "input", "discrete", "parameter", or what an output is called.
    vector : "y", "m", "p", "outputs", or "numbers"; indices : of its elements there; signs : with which they are taken, where not all are 1.
    shape, unit, description, kind, origin : as in the neutral model.
    nominal : typical size; None if unknown.
    problem : for an element's name and a number a sentence if it cannot have that value, else nothing.
    numbers : that its elements are, where the vector is "numbers".
    display_unit, measures : for people: in which unit they are shown it, and of what kind it is.
    present_while : names of discrete variables; where one of them is zero it is not there, and its value only kept.
    texts : what its numbers say, () for a quantity.
    is_hidden : whether no result lists it.
    held_by : names of the discrete variables that hold its elements, where it is unknown only at instants.
    """

    name: str
    names: Sequence[str]
    role: str
    vector: str
    indices: NDArray[np.intp]
    shape: tuple[int, ...]
    unit: str
    description: str
    kind: str
    origin: Origin
    nominal: float | None
    problem: Callable[[str, float], str]
    signs: FloatArray | None = None
    numbers: FloatArray | None = None
    display_unit: str = ""
    measures: str = ""
    present_while: tuple[str, ...] = ()
    is_hidden: bool = False
    texts: Texts = ()
    held_by: tuple[str, ...] = ()

    @property
    def meanings(self) -> Texts:
        """What is shown of its numbers: the texts that are its values, or truth values; () for a quantity."""
        return TRUTHS if self.kind == "boolean" else self.texts


@dataclass(frozen=True, eq=False)
class Located:
    """Where a quantity, or one element of it, is: names of its elements, where they are in the quantity's vector, and its shape, () for a number."""

    quantity: Quantity
    names: Sequence[str]
    indices: NDArray[np.intp]
    shape: tuple[int, ...]
    signs: FloatArray | None = None

    def of(self, vector: FloatArray) -> FloatArray:
        """Its values in the quantity's vector."""
        if self.quantity.numbers is not None:
            return self.quantity.numbers[self.indices]
        return vector[self.indices] if self.signs is None else vector[self.indices] * self.signs + 0.0

    def seen(self, values: FloatArray) -> Any:
        """Values of its elements as a user sees them: a number, an array of its shape, truth values as such."""
        own = self.by_element(values)
        return own.reshape(self.shape) if self.shape else own.item()

    def by_element(self, values: FloatArray) -> NDArray[Any]:
        """The same element by element."""
        return values.astype(bool) if self.quantity.kind == "boolean" and bool(np.all((values == 0.0) | (values == 1.0))) else values

    def told(self, value: Any) -> str:
        """What is seen of one value, or of an array, as a short text."""
        if np.ndim(value):
            return np.array2string(np.asarray(value), precision=6)
        text = next((text for text, own in self.quantity.texts if own == value), "")
        return text or number(value, 10)


class Places(dict[str, Located]):
    """Of every quantity, and of every element of one, by name; also ``cell.R`` of parts ``cell[0], cell[1], ...``, which is an array as long.

    Parameters
    ----------
    quantities : of a model.
    folds : names are found in other letter case too.
    """

    def __init__(self, quantities: Iterable[Quantity], folds: bool = False) -> None:
        every = tuple(quantities)
        super().__init__((item.name, Located(item, item.names, item.indices, item.shape, item.signs)) for item in every)
        for quantity in every:
            for k, name in enumerate(quantity.names):
                signs = None if quantity.signs is None else quantity.signs[k : k + 1]
                self.setdefault(name, Located(quantity, [name], quantity.indices[k : k + 1], (), signs))
        self._across: dict[str, Located | None] = {}
        self._spelled = Spelling(self if folds else ())

    def __missing__(self, name: str) -> Located:
        spelled = self._spelled(name)
        if spelled != name:
            return self[spelled]
        found = self._of_all_parts(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name) or not isinstance(name, str):
            return super().__contains__(name)
        return self._spelled(name) != name or self._of_all_parts(name) is not None

    def get(self, name: Any, default: Any = None) -> Any:
        """What has this name, as a user may give it."""
        return self[name] if self.__contains__(name) else default

    def _of_all_parts(self, name: str) -> Located | None:
        if name not in self._across:
            self._across[name] = self._gathered(name)
        return self._across[name]

    def _gathered(self, name: str) -> Located | None:
        elements = [(element, self[element]) for item in list(self.values()) for element in item.names if len(item.names) == 1 and not item.shape]
        found = across_parts(name, [element for element, _ in elements])
        if found is None:
            return None
        members = [elements[k][1] for k in found.places]
        first = members[0].quantity
        if any(item.quantity.vector != first.vector or item.quantity.numbers is not None for item in members):
            return None
        checks = {elements[k][0]: item.quantity.problem for k, item in zip(found.places, members, strict=True)}
        names = list(checks)
        indices = np.concatenate([item.indices for item in members])
        signs = np.concatenate([np.ones(1) if item.signs is None else item.signs for item in members])
        whole = replace(
            first,
            name=name,
            names=names,
            indices=indices,
            shape=found.shape,
            signs=signs,
            problem=lambda element, value: checks[element](element, value),
        )
        return Located(whole, names, indices, found.shape, signs)
