"""A flat vector under the names of its entries: ``x.height``, ``x["A"][1, 2]``, ``height, speed = x``. Out: numbers and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.description import ParameterEntry, ParameterKind, SignalEntry
from tidegate.names import listed, suggestion, unknown_name

__all__ = ["Named", "flat"]

FloatArray = NDArray[np.float64]
Entries = Sequence[SignalEntry | ParameterEntry]


class Named:
    """Values by name, index or unpacking; they can be read only.

    Parameters
    ----------
    owner : what messages call it, as "x of DSblock ball".
    entries : in the order in which they lie in the vector.
    vector : all elements, in column order.
    """

    __slots__ = ("_entries", "_owner", "_places", "_vector")

    def __init__(self, owner: str, entries: Entries, vector: FloatArray) -> None:
        self._owner, self._vector = owner, vector
        self._entries, self._places = places_of(entries)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, key: str | int) -> Any:
        if not isinstance(key, str):
            return self._value(self._entries[key])
        entry = self._places.get(key.upper())
        if entry is None:
            raise unknown_name(f"{self._owner} has no {key!r}", key, [entry.name for entry, _ in self._entries])
        return self._value(entry)

    def _value(self, place: tuple[SignalEntry | ParameterEntry, slice]) -> Any:
        entry, where = place
        if entry.shape:
            return self._vector[where].reshape(entry.shape, order="F")
        value = float(self._vector[where.start])
        kind = entry.kind
        return int(value) if kind is ParameterKind.INTEGER else bool(value) if kind is ParameterKind.LOGICAL else value

    def __iter__(self) -> Iterator[Any]:
        return (self._value(place) for place in self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __dir__(self) -> list[str]:
        return [entry.name for entry, _ in self._entries]

    def __repr__(self) -> str:
        return f"<{', '.join(f'{entry.name}={self._value((entry, where))}' for entry, where in self._entries)}>"

    @property
    def flat(self) -> FloatArray:
        """All elements in column order."""
        return self._vector


def places_of(entries: Entries) -> tuple[list[tuple[SignalEntry | ParameterEntry, slice]], dict[str, tuple[SignalEntry | ParameterEntry, slice]]]:
    """Entries one behind the other, as a list and by name."""
    places: list[tuple[SignalEntry | ParameterEntry, slice]] = []
    first = 0
    for entry in entries:
        places.append((entry, slice(first, first + entry.size)))
        first += entry.size
    return places, {entry.name.upper(): place for place in places for entry in [place[0]]}


def flat(what: str, values: Any, entries: Entries, before: FloatArray | None = None, dtype: type = float) -> NDArray[Any]:
    """The vector of what a callback returned: by name, one value an entry, or the whole vector.

    Parameters
    ----------
    what : says in messages what was returned, as "derivatives of DSblock ball".
    before : what entries keep that a dict does not name; without it all must be there.
    dtype : of the vector; object for expressions.

    Raises
    ------
    UsageError : something is missing, unknown or has another shape.
    """
    if isinstance(values, Named):
        values = values.flat
    if isinstance(values, Mapping):
        return _by_name(what, cast("Mapping[object, Any]", values), entries, before, dtype)
    size = sum(entry.size for entry in entries)
    out = _missing(size, dtype) if before is None else before.copy()
    if len(entries) == 1 and entries[0].shape and np.shape(values) == entries[0].shape:
        _put(out, places_of(entries)[0][0], values, what)
        return out
    items: list[Any] = [values] if np.ndim(values) == 0 and not isinstance(values, Sequence) else list(cast("Sequence[Any]", values))
    if len(items) == len(entries) and not (len(items) == size and all(np.ndim(item) == 0 for item in items)):
        for place, value in zip(places_of(entries)[0], items, strict=True):
            _put(out, place, value, what)
        return out
    if len(items) != size or any(np.ndim(item) for item in items):
        raise UsageError(
            f"{what} are {len(items)} values; there are {len(entries)} entries with {size} elements: {listed(e.name for e in entries)}",
            hint="return one value an entry, in the order of declaration, or a dict by name",
        )
    out[:] = items
    return out


def _missing(size: int, dtype: type) -> NDArray[Any]:
    return cast("NDArray[Any]", np.full(size, np.nan, dtype=dtype))


def _by_name(what: str, values: Mapping[object, Any], entries: Entries, before: FloatArray | None, dtype: type) -> NDArray[Any]:
    out = _missing(sum(entry.size for entry in entries), dtype) if before is None else before.copy()
    places, known = places_of(entries)[1], [entry.name for entry in entries]
    given = {str(name).upper(): value for name, value in values.items()}
    for name, upper in zip(values, given, strict=False):
        if upper not in places:
            raise UsageError(f"{what} name {name!r}", hint=suggestion(name, known, f"the names are {listed(known)}"))
    for upper, value in given.items():
        _put(out, places[upper], value, what)
    missing = [name for name in known if before is None and name.upper() not in given]
    if missing:
        raise UsageError(f"{what} lack {listed(missing)}", hint="return a value for every name, or a sequence in the order of declaration")
    return out


def _put(out: NDArray[Any], place: tuple[SignalEntry | ParameterEntry, slice], value: Any, what: str) -> None:
    entry, where = place
    if np.shape(value) != entry.shape:
        raise UsageError(f"{what}: {entry.name} has the shape {entry.shape}, and {np.shape(value)} was given")
    out[where] = np.asarray(value, dtype=out.dtype).ravel(order="F")
