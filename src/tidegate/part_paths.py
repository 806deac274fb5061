"""Names that leave out which part of an array is meant (for every stage that looks names up): one of them and all full names go in, places come out.

``cell.T`` stands for ``cell[0].T, cell[1].T, ...``, as ``T`` stands for ``T[0], T[1], ...``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Final

from tidegate.quick_dataclass import dataclass

__all__ = ["AcrossParts", "across_parts", "full_shape", "without_indices"]

_INDEX: Final = r"(?:\[(\d+(?:,\d+)*)\])?"


@dataclass(frozen=True, slots=True)
class AcrossParts:
    """What such a name stands for.

    Parameters
    ----------
    places : of its elements among the names, in row order.
    shape : that they fill.
    dimensions : a name for each axis; variables of the same parts have the same.
    """

    places: tuple[int, ...]
    shape: tuple[int, ...]
    dimensions: tuple[str, ...]


def full_shape(indices: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape of the array that these indices fill; () if they fill none.

    Examples
    --------
    >>> full_shape([(0, 0), (0, 1)]), full_shape([(0, 0), (1, 1)])
    ((1, 2), ())
    """
    found = set(indices)
    ranks = {len(index) for index in found}
    if len(ranks) != 1:
        return ()
    shape = tuple(max(index[axis] for index in found) + 1 for axis in range(ranks.pop()))
    return shape if found == set(itertools.product(*map(range, shape))) else ()


def without_indices(name: str) -> str:
    """What all elements of an array of numbers or parts are called.

    Examples
    --------
    >>> without_indices("row[3].cell[0].T"), without_indices("level")
    ('row.cell.T', 'level')
    """
    return re.sub(_INDEX, "", name) if "[" in name else name


def across_parts(name: str, names: Sequence[str]) -> AcrossParts | None:
    """The elements that a name without some of its indices stands for; None where there are none, or not one for every place.

    Parameters
    ----------
    name : a path; what stands in brackets in it is meant as it is.
    names : full names of numbers.

    Examples
    --------
    >>> across_parts("cell.T", ["t", "cell[0].T", "cell[1].T"])
    AcrossParts(places=(1, 2), shape=(2,), dimensions=('cell',))
    >>> across_parts("cell[1].x", ["cell[0].x[0]", "cell[1].x[0]", "cell[1].x[1]"])
    AcrossParts(places=(1, 2), shape=(2,), dimensions=('cell[1].x_0',))
    """
    steps = name.split(".")
    pattern = re.compile(r"\.".join(re.escape(step) + ("" if step.endswith("]") else _INDEX) for step in steps))
    found: dict[tuple[int, ...], int] = {}
    ranks: set[tuple[int, ...]] = set()
    last = steps[-1]
    for place, full in enumerate(names):
        match = pattern.fullmatch(full) if last in full else None
        if match is not None:
            given = [tuple(map(int, text.split(","))) if text else () for text in match.groups()]
            ranks.add(tuple(map(len, given)))
            found[tuple(itertools.chain(*given))] = place
    shape = full_shape(found) if len(ranks) == 1 else ()
    if not shape:
        return None
    return AcrossParts(tuple(found[index] for index in sorted(found)), shape, _dimensions(steps, ranks.pop()))


def _dimensions(steps: Sequence[str], ranks: tuple[int, ...]) -> tuple[str, ...]:
    """Axes of parts are called as the parts, those of the variable itself as everywhere else."""
    open_steps = [k for k, step in enumerate(steps) if not step.endswith("]")]
    found: list[str] = []
    for k, rank in zip(open_steps, ranks, strict=True):
        path = ".".join(steps[: k + 1])
        is_one_of_parts = rank == 1 and k + 1 < len(steps)
        found += [path] if is_one_of_parts else [f"{path}_{axis}" for axis in range(rank)]
    return tuple(found)
