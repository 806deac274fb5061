"""How a run began, ended, and what it did last (stage: verification). In: plain bodies, event log, last row. Out: findings."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.model.plain_model import Instant, PlainAction, PlainModel
from tidegate.results import Event, Result
from tidegate.results.labels import number
from tidegate.verify.defects import Tolerance, moved_at_once
from tidegate.verify.happenings import Happenings
from tidegate.verify.pieces import StepPiece
from tidegate.verify.rounds import carried_out
from tidegate.verify.verification import Tally

__all__ = ["Endings"]

FloatArray = NDArray[np.float64]

LAST: Final = "end of the run"
_FIRST: Final = "start of the run"


class Endings:
    """Looks at the first and the last event.

    Parameters
    ----------
    model : in plain numbers.
    result : with the log.
    tolerance : of the run, times what is allowed.
    tally : where findings go.
    happenings : that have read the log.
    """

    def __init__(self, model: PlainModel, result: Result, tolerance: Tolerance, tally: Tally, happenings: Happenings) -> None:
        self._model, self._result, self._tolerance, self._tally, self._happenings = model, result, tolerance, tally, happenings

    def look(self, first: StepPiece, last: StepPiece, states: NDArray[np.bool_], *, is_explicit: bool) -> None:
        """Judge both.

        Parameters
        ----------
        states : which unknowns are states.
        """
        initial = self._model.initial(first.at(0.0))
        begins = [event for event in self._result.events if event.kind == "initial"]
        if initial is not None and (begins or not self._result.is_part):
            told = {sentence for event in begins for sentence in event.messages}
            self._happenings.compare_words(_FIRST, first.start, told, [initial])
        self._check_end(last.end, initial)
        self._check_last(last, states, is_explicit=is_explicit)

    def _check_end(self, end: float, initial: PlainAction | None) -> None:
        """That the run was ended by a body that ends it, and by none that the log has before."""
        by_body = (initial is not None and initial.ends) or any(self._happenings.is_end(time) for _, time in self._happenings.ends)
        if self._result.status == "terminated" and not by_body:
            self._tally.note("end", "no body", end, np.inf, f"the run was ended by the model at t = {number(end, 9)}, and no body ends it there")

    def _check_last(self, piece: StepPiece, states: NDArray[np.bool_], *, is_explicit: bool) -> None:
        model, tally = self._model, self._tally
        found = [event for event in self._result.events if event.kind == "final"]
        if not self._result.success or (self._result.is_part and not found):
            return
        before = self._instant(found[0], found[0].before, piece) if found else piece.at(1.0)
        final = model.final(before)
        if final is None or not found:
            is_missing = final is not None
            if is_missing or found:
                says = "the log has none, and the model has a body for it" if is_missing else "the log has one, and the model has no body for it"
                tally.note("missed event" if is_missing else "spurious event", LAST, piece.end, np.inf, says)
            return
        self._happenings.compare_words(LAST, piece.end, set(found[0].messages), [final])
        wanted = carried_out(model, before, final.values)
        share, name, says = self._happenings.missed(found[0], wanted)
        tally.note("reset", LAST, piece.end, share, f"{name} {says}" if share > 1.0 else "")
        self._check_last_row(found[0], piece, states, is_explicit=is_explicit)

    def _instant(self, event: Event, values: object, piece: StepPiece) -> Instant:
        given = dict(event.before if values is event.before else event.after)
        y = np.array([given[name] for name in self._model.unknowns])
        d = np.array([given[name] for name in self._model.discretes])
        return Instant(event.time, y, piece.at(1.0).ydot, d, d)

    def _check_last_row(self, event: Event, piece: StepPiece, states: NDArray[np.bool_], *, is_explicit: bool) -> None:
        """The algebraic equations hold with the last values, and outputs follow from them."""
        model, tally, tolerance = self._model, self._tally, self._tolerance
        after = self._instant(event, event.after, piece)
        if not np.all(states):
            allowed = tolerance.of(np.maximum(piece.size, np.abs(after.y))) / tolerance.allowed
            # between two rows of an implicit solution lies as much as between the ends of a step
            shares = moved_at_once(model, after, piece.size, piece.width) / (tolerance.allowed * allowed)
            for name, share in zip(np.array(model.unknowns)[~states].tolist(), shares[~states].tolist(), strict=True):
                tally.note("equation", f"{name} at the end of the run", piece.end, share, "does not follow from what was assigned last")
        place = {column.name: k for k, column in enumerate(self._result.columns)}
        if not any(column.role == "output" for column in self._result.columns) or not self._result.t.size:
            return
        slopes = model.residuals(Instant(after.t, after.y, np.zeros_like(after.y), after.d, after.pre)) if is_explicit else after.ydot
        last = model.outputs(Instant(after.t, after.y, slopes, after.d, after.pre))
        for name, wanted in last.items():
            if name not in place:
                continue
            got = float(self._result.values[-1, place[name]])
            size = max(abs(got), abs(wanted), float(np.nanmax(np.abs(self._result.values[:, place[name]]), initial=0.0)))
            share = abs(got - wanted) / (100.0 * tolerance.rtol * size) if got != wanted else 0.0
            tally.note("output", name, piece.end, share, f"is {number(got, 9)} in the last row, and Python gives {number(wanted, 9)}")
