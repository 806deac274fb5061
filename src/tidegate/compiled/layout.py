"""Where everything stands in the flat vectors of a compiled model, y, p and m, and what of it a result shows: names and numbers only.

``m`` is [modes | discrete variables | their previous values | inputs | action flags | counts of periodic time events | drops of states | grazings |
form of an HDAE].
A recorded row is [unknowns | discrete variables | outputs].
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from tidegate.quick_dataclass import dataclass
from tidegate.results import Column

__all__ = ["GRAZING_NUMBERS", "Counted", "Layout", "Shown"]

FloatArray = NDArray[np.float64]

GRAZING_NUMBERS: Final = ("grazing guard", "grazing time", "grazing slope")


@dataclass(frozen=True, eq=False)
class Shown:
    """One number that results show: its name, its source, its index among what comes from there, the sign with which it is taken.

    An unknown that the system is solved without has the index of the one that it is, or whose negative it is; it may be computed as an output is,
    or be a number.

    Parameters
    ----------
    column : name and role.
    index : among what comes from the source.
    sign : with which it is taken.
    source : where it comes from.
    number : that it is, where that is its source.
    """

    column: Column
    index: int
    sign: float = 1.0
    source: Literal["unknown", "discrete", "output", "number"] = "unknown"
    number: float = 0.0


@dataclass(frozen=True, eq=False)
class Counted:
    """Recorded numbers of which as many are there as a discrete variable says.

    Parameters
    ----------
    counter : index of it among the discrete variables.
    places : indices in a recorded row.
    ranks : which of those that are counted each is, from 0.
    """

    counter: int
    places: NDArray[np.intp]
    ranks: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Layout:
    """Names in the order of the flat vectors.

    Parameters
    ----------
    unknowns, parameters, discretes, inputs : names.
    n_modes : number of modes.
    n_actions : number of when branches, remarks, time events and step events.
    n_time_events, n_step_events : number of these.
    n_pasts : 1 for a model that looks back, whose past stands somewhere else in memory.
    n_forms : 1 for an HDAE, whose equations are others while it is integrated than where consistent values are computed; else 0.
    n_constraints : how many F4 and F5 an HDAE has.
    n_outputs : number of outputs.
    dropping : indices of the states whose values before a round a condition asks for.
    shown : what a result shows, in its order.
    dense : indices of the unknowns that dense output holds: those that are shown, and those that an output reads.
    counted : numbers that are not always there.
    importance : index of the discrete variable that says how important an event was, 1 to 100; -1 where events say it themselves.
    least_importance : beyond which events have no rows.
    may_reach, goes_on : indices of the discrete variables that say how far a step may go beyond the next time event, and, by 1, that the last event
        has left everything as it was; -1 where no step passes an event, and each makes the method begin anew.
    tolerance : index of the discrete variable that holds the relative tolerance of the run; -1 where the model reads none.
    """

    unknowns: tuple[str, ...]
    parameters: tuple[str, ...]
    discretes: tuple[str, ...]
    inputs: tuple[str, ...]
    n_modes: int
    n_actions: int
    n_time_events: int
    n_outputs: int = 0
    n_step_events: int = 0
    n_forms: int = 0
    n_pasts: int = 0
    n_constraints: int = 0
    dropping: tuple[int, ...] = ()
    shown: tuple[Shown, ...] = ()
    dense: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    counted: tuple[Counted, ...] = ()
    importance: int = -1
    least_importance: int = 100
    may_reach: int = -1
    goes_on: int = -1
    tolerance: int = -1

    @cached_property
    def first_discrete(self) -> int:
        """Index of the first discrete variable in m."""
        return self.n_modes

    @cached_property
    def first_previous(self) -> int:
        """Index of the first previous value in m."""
        return self.first_discrete + len(self.discretes)

    @cached_property
    def first_input(self) -> int:
        """Index of the first input in m."""
        return self.first_previous + len(self.discretes)

    @cached_property
    def first_action(self) -> int:
        """Index of the first action flag in m."""
        return self.first_input + len(self.inputs)

    @cached_property
    def first_count(self) -> int:
        """Index of the first count in m."""
        return self.first_action + self.n_actions

    @cached_property
    def first_drop(self) -> int:
        """Index of the first drop of a state in m."""
        return self.first_count + self.n_time_events

    @cached_property
    def first_grazing(self) -> int:
        """Index of what is noted of grazing.

        Of the first one more than the guard's number, or zero, and its time; then the square of the slope
        below which the crossing found last is no more than a grazing.
        """
        return self.first_drop + len(self.dropping)

    @cached_property
    def first_form(self) -> int:
        """Index of what says which equations of an HDAE hold: 1 those that are integrated, 0 those that consistent values follow from."""
        return self.first_grazing + len(GRAZING_NUMBERS)

    @cached_property
    def first_past(self) -> int:
        """Index of what says where the past stands; 0 where there is none."""
        return self.first_form + self.n_forms

    @cached_property
    def n_m(self) -> int:
        """Length of m."""
        return self.first_past + self.n_pasts

    @cached_property
    def n_recorded(self) -> int:
        """Length of a recorded row."""
        return len(self.unknowns) + len(self.discretes) + self.n_outputs

    @cached_property
    def columns(self) -> list[Column]:
        """One column of a result for each number that is shown; made once, so that a thousand results share it."""
        return [shown.column for shown in self.shown]

    @cached_property
    def recorded(self) -> NDArray[np.intp]:
        """For each column its index in a recorded row; 0 for a number."""
        first = {"unknown": 0, "discrete": len(self.unknowns), "output": len(self.unknowns) + len(self.discretes), "number": 0}
        return np.array([first[shown.source] + shown.index for shown in self.shown], dtype=np.intp)

    @cached_property
    def _signs(self) -> FloatArray | None:
        signs = np.array([shown.sign for shown in self.shown])
        return signs if np.any(signs < 0.0) else None

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.intp], FloatArray] | None:
        """Columns that are numbers, and these."""
        found = {k: shown.number for k, shown in enumerate(self.shown) if shown.source == "number"}
        return (np.array(list(found), dtype=np.intp), np.array(list(found.values()))) if found else None

    def absent(self, rows: FloatArray) -> NDArray[np.bool_]:
        """True for every number of recorded rows, (..., recorded), that is not there."""
        found = np.zeros(rows.shape, dtype=bool)
        for one in self.counted:
            counts = rows[..., len(self.unknowns) + one.counter]
            found[..., one.places] = one.ranks >= counts[..., None]
        return found

    def taken(self, rows: FloatArray, *, are_slopes: bool = False) -> FloatArray:
        """What is shown, (..., columns), of recorded rows, (..., recorded), or of derivatives of these."""
        nothing = (*rows.shape[:-1], len(self.shown))
        if self.counted and not are_slopes:
            rows = np.where(self.absent(rows), np.nan, rows)
        found = rows[..., self.recorded] if rows.shape[-1] else np.zeros(nothing)
        if self._signs is not None:
            found = found * self._signs + 0.0  # no zero is shown as -0
        if self._numbers is not None:
            found[..., self._numbers[0]] = 0.0 if are_slopes else self._numbers[1]
        return found

    def of_lasting(self, rows: FloatArray) -> FloatArray:
        """What is shown of unknowns and discrete variables, (..., lasting), of recorded rows."""
        return self.taken(rows)[..., self.lasting]

    @cached_property
    def computed(self) -> bool:
        """Whether an unknown is computed as outputs are."""
        return any(shown.source == "output" and shown.column.role != "output" for shown in self.shown)

    def put(self, columns: FloatArray, rows: FloatArray) -> None:
        """The inverse of ``taken`` for unknowns of the system and discrete variables: rows take over what columns say."""
        held = [k for k in self.lasting if self.shown[k].source in ("unknown", "discrete")]
        values = columns[..., held]
        rows[..., self.recorded[held]] = values if self._signs is None else values * self._signs[held]

    @cached_property
    def interpolated(self) -> tuple[list[str], NDArray[np.intp], FloatArray]:
        """Of the polynomials that dense output holds the names, the indices of the unknowns, and the signs."""
        held = {self.unknowns[index]: (int(index), 1.0) for index in self.dense}
        held |= {shown.column.name: (shown.index, shown.sign) for shown in self.shown if shown.source == "unknown"}
        return list(held), np.array([index for index, _ in held.values()], dtype=np.intp), np.array([sign for _, sign in held.values()])

    @cached_property
    def numbers(self) -> dict[str, float]:
        """Unknowns that are numbers."""
        return {shown.column.name: shown.number for shown in self.shown if shown.source == "number"}

    @cached_property
    def lasting(self) -> list[int]:
        """Numbers of the columns that are no outputs: what an event has values of."""
        return [k for k, shown in enumerate(self.shown) if shown.column.role != "output"]

    @cached_property
    def lasting_names(self) -> list[str]:
        """Names of these columns."""
        return [self.shown[k].column.name for k in self.lasting]
