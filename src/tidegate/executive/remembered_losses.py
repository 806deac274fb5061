"""Derivatives that do not exist, part after part of one run (stage: executive).

``lost_derivatives`` looks at what is recorded at once. Here is remembered what it found, so that a derivative lost in one part of a run is lost in
the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate.executive.causes import crossed_guard
from tidegate.executive.lost_derivatives import Recorded, strike_out
from tidegate.integrators.interface import Problem, StepIntegrator

__all__ = ["LostDerivatives"]

FloatArray = NDArray[np.float64]


class LostDerivatives:
    """What is known of the derivatives of one run so far.

    Parameters
    ----------
    lost : (parameters, columns), 1 where a derivative does not exist any more; None at the start.
    """

    def __init__(self, lost: FloatArray | None = None) -> None:
        self.lost: NDArray[np.bool_] | None = None if lost is None else lost.astype(bool)
        self._told: set[str] = set()
        self._untold: list[str] = []
        self._last: tuple[float, FloatArray] | None = None

    def copy(self) -> LostDerivatives:
        """As much knowledge, to be gone on with separately."""
        other = LostDerivatives(None if self.lost is None else self.lost.astype(float))
        other._told, other._last = set(self._told), self._last
        return other

    def untold(self) -> list[str]:
        """Sentences that have not been asked for before."""
        sentences, self._untold = self._untold, []
        return sentences

    def strike(self, problem: Problem, integrator: StepIntegrator, recorded: Recorded) -> None:
        """Put NaN into the next part of a run where a derivative does not exist."""
        if self.lost is None and integrator.m[problem.model.layout.first_grazing] == 0.0 and np.isfinite(recorded.log["dt_dp"]).all():
            self._remember(recorded)
            return
        self._carry_over(problem, recorded)
        shape = recorded.sensitivities.shape[1:]
        # the row before tells what a parameter has moved, one behind the last is changed by whatever is lost for good
        times = [[] if self._last is None else [self._last[0]], recorded.times, [np.inf]]
        slopes = [np.zeros((0, *shape)) if self._last is None else self._last[1][None], recorded.sensitivities, np.zeros((1, *shape))]
        whole = Recorded(np.concatenate(times), np.concatenate(slopes), recorded.log)
        for sentence in strike_out(problem, integrator, whole):
            if sentence not in self._told:
                self._told.add(sentence)
                self._untold.append(sentence)
        recorded.sensitivities[:] = whole.sensitivities[len(times[0]) : -1]
        found = np.isnan(whole.sensitivities[-1])
        self.lost = found if self.lost is None else self.lost | found
        self._remember(recorded)

    def _remember(self, recorded: Recorded) -> None:
        if len(recorded.times):
            self._last = float(recorded.times[-1]), recorded.sensitivities[-1].copy()

    def _carry_over(self, problem: Problem, recorded: Recorded) -> None:
        if self.lost is None or not self.lost.any():
            return
        recorded.sensitivities[:, self.lost] = np.nan
        for entry in recorded.log:
            crossed = crossed_guard(len(problem.model.guards), entry)
            if crossed < 0:
                continue
            read = problem.model.words.read(crossed)
            columns = [k for k, column in enumerate(problem.model.layout.columns) if column.name in read]
            for i in np.flatnonzero(self.lost[:, columns].any(axis=1)):
                entry["dt_dp"][i] = np.nan
