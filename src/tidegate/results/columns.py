"""The columns of a result and how elements gather into arrays (stage: results).

In go the recorder's columns, one for each scalar; out come groups, so that ``x[0]`` and ``x[1]`` are also ``x``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from tidegate.numbers_as_texts import TRUTHS, Texts
from tidegate.part_paths import across_parts, full_shape
from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import number
from tidegate.units import convert

__all__ = ["Column", "ColumnRole", "Group", "element_of", "group_across_parts", "group_columns", "storage_names", "told_row"]

ColumnRole = Literal["unknown", "output", "discrete", "input"]

_LONG: Final = 8  # elements; more of one array are not listed one by one
_ELEMENT: Final = re.compile(r"^(?P<base>.+)\[(?P<index>\d+(?:,\d+)*)\]$")
# what a stored dataset uses for itself; a variable called like this is stored with an underscore behind its name
_RESERVED: Final = frozenset(
    {"time", "parameter", "event", "event_variable", "event_parameter"}
    | {f"event_{name}" for name in ("time", "kind", "cause", "origin", "message", "priority", "rounds", "before", "after", "dt_dp")}
    | {f"dense_{name}" for name in ("start", "width", "coefficients", "step", "power", "variable")}
)


@dataclass(frozen=True, slots=True)
class Column:
    """One scalar that was recorded.

    Parameters
    ----------
    name : as the user knows it; elements of arrays as ``x[0]``, ``A[1,2]``.
    role : what it is in the model.
    unit, description : texts, "" where none.
    display_unit : in which people are shown it, "" for its unit.
    quantity : what it measures, as "Torque"; "" where that was not said.
    present_while : names of other columns; where one of them is zero there is no such variable, and what the run holds for it is only kept.
    texts : what its numbers say, each with the number, ``TRUTHS`` for truth values; () for a quantity.
    is_hidden : whether no result lists it: it was put in for the sake of others; its own name still leads to it.
    """

    name: str
    role: ColumnRole = "unknown"
    unit: str = ""
    description: str = ""
    display_unit: str = ""
    quantity: str = ""
    present_while: tuple[str, ...] = ()
    is_hidden: bool = False
    texts: Texts = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "present_while", tuple(self.present_while))  # a file has lists
        object.__setattr__(self, "texts", tuple((str(text), int(value)) for text, value in self.texts))

    @property
    def is_truth(self) -> bool:
        """Whether its numbers are truth values."""
        return self.texts == TRUTHS

    @property
    def is_held(self) -> bool:
        """Whether it stays as it is between events: a discrete variable, or what is one of a few texts or a truth value."""
        return self.role == "discrete" or bool(self.texts)

    def told(self, value: float, digits: int) -> str:
        """A value in few characters: its text where it has one, else its number in the unit that people are shown."""
        return next((text for text, own in self.texts if own == value), "") or number(float(self.shown(value)), digits)

    @property
    def shown_unit(self) -> str:
        """The unit that people are shown it in."""
        return self.display_unit or self.unit

    def shown(self, values: Any) -> Any:
        """Values, numbers or arrays, in that unit."""
        return convert(values, self.unit, self.display_unit) if self.display_unit and self.display_unit != self.unit else values


@dataclass(frozen=True, slots=True)
class Group:
    """A variable made of one column or, for an array, of several.

    Parameters
    ----------
    name : of the variable.
    shape : () for a scalar.
    columns : index of the column of every element in row order.
    dimensions : names of the axes, where they are those of parts; () for the usual ones.
    """

    name: str
    shape: tuple[int, ...]
    columns: tuple[int, ...]
    dimensions: tuple[str, ...] = ()


def element_of(name: str) -> tuple[str, tuple[int, ...]]:
    """The array and the place in it that an element's name says; the name itself and no place for any other.

    Examples
    --------
    >>> element_of("A[1,2]"), element_of("x")
    (('A', (1, 2)), ('x', ()))
    """
    match = _ELEMENT.match(name)
    return (match["base"], tuple(int(part) for part in match["index"].split(","))) if match else (name, ())


def group_columns(columns: Sequence[Column], *, is_whole: bool = False) -> list[Group]:
    """The variables of these columns, in order; elements that do not fill an array stay single.

    Parameters
    ----------
    columns : of a result.
    is_whole : True for hidden ones too.

    Examples
    --------
    >>> [group.name for group in group_columns([Column("x[0]"), Column("x[1]"), Column("y")])]
    ['x', 'y']
    """
    elements: dict[str, dict[tuple[int, ...], int]] = {}
    for i, column in enumerate(columns):
        match = _ELEMENT.match(column.name)
        if match:
            index = tuple(int(part) for part in match["index"].split(","))
            elements.setdefault(match["base"], {})[index] = i
    names = {column.name for column in columns}
    groups: list[Group] = []
    gathered: set[int] = set()
    arrays = {base: shape for base, indices in elements.items() if base not in names and (shape := full_shape(indices))}
    for i, column in enumerate(columns):
        if i in gathered or (column.is_hidden and not is_whole):
            continue
        match = _ELEMENT.match(column.name)
        base = match["base"] if match else ""
        if base in arrays:
            indices = elements[base]
            groups.append(Group(base, arrays[base], tuple(indices[index] for index in sorted(indices))))
            gathered.update(indices.values())
        else:
            groups.append(Group(column.name, (), (i,)))
    return groups


def told_row(columns: Sequence[Column], row: NDArray[np.float64]) -> list[tuple[str, str, str, str]]:
    """Names, values, units and descriptions for a page, without hidden ones; a long array has its first and last elements and dots between.

    Examples
    --------
    >>> [name for name, *_ in told_row([Column(f"x[{i}]") for i in range(20)] + [Column("y")], np.zeros(21))]
    ['x[0]', 'x[1]', 'x[2]', '...', 'x[19]', 'y']
    """
    told: list[tuple[str, str, str, str]] = []
    for group in group_columns(columns):
        is_long = len(group.columns) > _LONG
        for k in (*group.columns[:3], group.columns[-1]) if is_long else group.columns:
            if is_long and k == group.columns[-1]:
                told.append(("...", "", "", ""))
            told.append((columns[k].name, columns[k].told(row[k], 10), columns[k].shown_unit, columns[k].description))
    return told


def group_across_parts(columns: Sequence[Column], name: str) -> Group | None:
    """What ``cell.T`` stands for where there are ``cell[0].T, cell[1].T, ...``; None where there are none.

    Examples
    --------
    >>> group_across_parts([Column("cell[0].T"), Column("cell[1].T")], "cell.T")
    Group(name='cell.T', shape=(2,), columns=(0, 1), dimensions=('cell',))
    """
    found = across_parts(name, [column.name for column in columns])
    return None if found is None else Group(name, found.shape, found.places, found.dimensions)


def storage_names(groups: Sequence[Group]) -> dict[str, tuple[str, str]]:
    """For each variable the names in a dataset of its values and of its sensitivities, free of clashes.

    The sensitivities of ``level`` are ``d_level``; where a variable of that name exists, one underscore more.
    """
    taken: set[str] = set()
    values: dict[str, str] = {}
    for group in groups:
        name = group.name.replace("/", ":")  # NetCDF reads a slash as a folder
        while name in taken or name in _RESERVED:
            name += "_"
        taken.add(name)
        values[group.name] = name
    names: dict[str, tuple[str, str]] = {}
    for group in groups:
        derivative = f"d_{values[group.name]}"
        while derivative in taken:
            derivative += "_"
        taken.add(derivative)
        names[group.name] = (values[group.name], derivative)
    return names
