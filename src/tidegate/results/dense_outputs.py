"""Outputs between the recorded rows (stage: results): their formulas, called with the dense states and the conditions as they were held.

In a mode a condition keeps its truth whatever rounding says of its two sides, so an output has at every time the value that the run gave it: a step's
end belongs to the mode before an event, the next step's start to the mode after it. No machine code is needed.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.quick_dataclass import dataclass
from tidegate.results.interpolant import Interpolant

__all__ = ["ARRAYS", "DenseOutputs", "OutputFormulas", "UnknownFormulas"]

FloatArray = NDArray[np.float64]
ARRAYS: Final = ("constants", "first_pieces", "changes", "modes", "first_modes")  # of ``DenseOutputs``


class OutputFormulas(Protocol):
    """What the outputs of a model are, the same for all its runs."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the outputs."""
        ...

    @property
    def parameters(self) -> tuple[int, ...]:
        """Places of the parameters that they read."""
        ...

    @property
    def inputs(self) -> tuple[int, ...]:
        """Places of the inputs that they read."""
        ...

    @property
    def modes(self) -> tuple[int, ...]:
        """Places of the modes that they read."""
        ...

    def as_text(self) -> str:
        """For a file; empty where they cannot be written."""
        ...

    def at(self, times: FloatArray, dense: FloatArray, constants: FloatArray, modes: FloatArray) -> FloatArray:
        """Values, (times, outputs), from the rows of an interpolant, of what is constant (parameters, then inputs), and of modes."""
        ...


class UnknownFormulas(OutputFormulas, Protocol):
    """What unknowns are that are computed as outputs are."""

    def only(self, names: Container[str]) -> UnknownFormulas:
        """Those of some of them."""
        ...


@dataclass(frozen=True, eq=False)
class DenseOutputs:
    """Outputs of one run, or of successive parts of one.

    Parameters
    ----------
    formulas : of the model; an empty tuple where they could not be kept.
    constants : (parts, constants), values in each part.
    first_pieces : (parts,), number of the piece of the interpolant that a part begins with.
    changes : times at which modes changed.
    modes : (changes + parts, modes): in each part first those at its start, then those after each change.
    first_modes : (parts + 1,), number of the row of modes that a part begins with, and of all.
    """

    formulas: OutputFormulas | tuple[()]
    constants: FloatArray
    first_pieces: NDArray[np.int64]
    changes: FloatArray
    modes: FloatArray
    first_modes: NDArray[np.int64]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the outputs that can be had."""
        return self.formulas.names if self.formulas else ()

    def at(self, times: FloatArray, dense: FloatArray, pieces: NDArray[np.intp], interpolant: Interpolant) -> FloatArray:
        """(times, outputs).

        Parameters
        ----------
        times : (times,).
        dense : (times, names), the interpolant's values there.
        pieces : (times,), the piece in which each lies.
        """
        formulas = self.formulas
        assert formulas
        part = np.clip(np.searchsorted(self.first_pieces, pieces, side="right") - 1, 0, None)
        # modes change between pieces only; what changes at the start of a piece has changed in it
        starts = interpolant.starts[pieces] if len(interpolant) else times
        row = np.empty(times.size, dtype=np.int64)
        for k in np.unique(part):
            first, last = self.first_modes[k], self.first_modes[k + 1]
            mine = part == k
            row[mine] = first + np.searchsorted(self.changes[first - k : last - k - 1], starts[mine], side="right")
        return formulas.at(times, dense, self.constants[part], self.modes[row])

    def as_text(self) -> str:
        """The formulas for a file; empty where they cannot be written."""
        return self.formulas.as_text() if self.formulas else ""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything but the formulas, by name."""
        return {name: getattr(self, name) for name in ARRAYS}

    def shapes(self) -> dict[str, list[int]]:
        """Of the arrays."""
        return {name: list(array.shape) for name, array in self.arrays().items()}

    @classmethod
    def with_arrays(cls, formulas: OutputFormulas, arrays: Mapping[str, NDArray[Any]], shapes: Mapping[str, Any]) -> DenseOutputs:
        """What these arrays were of, each with its shape; those without numbers may be missing.

        Raises
        ------
        ValueError, KeyError, TypeError : they do not fit.
        """
        found: dict[str, Any] = {}
        for name in ARRAYS:
            shape = tuple(np.atleast_1d(shapes[name]).astype(int).tolist())
            kind = np.int64 if name.startswith("first") else np.float64
            found[name] = arrays.get(name, np.zeros(0)).reshape(shape).astype(kind)
        return cls(formulas, **found)

    @classmethod
    def joined(cls, parts: Sequence[DenseOutputs | None], sizes: Sequence[int]) -> DenseOutputs | None:
        """Of successive parts; None where one has none.

        Parameters
        ----------
        sizes : how many pieces the interpolant of each part has.
        """
        known = [part for part in parts if part is not None and part.formulas]
        if not known or len(known) < len(parts):
            return None
        before = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        rows = np.concatenate([[0], np.cumsum([len(part.modes) for part in known])]).astype(np.int64)
        return cls(
            known[0].formulas,
            np.concatenate([part.constants for part in known]),
            np.concatenate([part.first_pieces + first for part, first in zip(known, before, strict=True)]),
            np.concatenate([part.changes for part in known]),
            np.concatenate([part.modes for part in known]),
            np.concatenate([*(part.first_modes[:-1] + first for part, first in zip(known, rows[:-1], strict=True)), rows[-1:]]),
        )
