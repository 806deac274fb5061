"""Runs of a fit (stage: fit). In go values of the parameters, out come weighted differences of model and data, and their exact derivatives.

A run that fails before the last datum, or has fewer events than were measured, has no differences: it gives NaN, from which the trust region of
SciPy's least squares steps back. Why is noted.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import RunError, SensitivityWarning, TidegateError, UsageError
from tidegate.executive import Prepared
from tidegate.fit.observations import Series
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result
from tidegate.results.labels import number

__all__ = ["Evaluation", "Objective"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Model and data at one place: model values, weighted differences, their derivatives (data, parameters)."""

    model: list[FloatArray]
    differences: FloatArray
    slopes: FloatArray


@dataclass(eq=False)
class Objective:
    """What least squares calls.

    Parameters
    ----------
    prepared : recorded at the times of all data, with sensitivities by all parameters; the next is longer, for runs whose events come late.
    names : of the parameters.
    series : the data.

    Attributes
    ----------
    runs : how many there were.
    failures : why those that failed did.
    """

    prepared: Sequence[Prepared]
    names: tuple[str, ...]
    series: Sequence[Series]
    runs: int = 0
    failures: list[str] = field(default_factory=list[str])
    _last: tuple[bytes, Evaluation] | None = None

    def differences(self, x: FloatArray) -> FloatArray:
        """Weighted differences; NaN where the run failed."""
        try:
            return self.at(x).differences
        except TidegateError as error:
            self.failures.append(f"{error.message} ({self.told(x)})")
            return np.full(sum(one.values.size for one in self.series), np.nan)

    def slopes(self, x: FloatArray) -> FloatArray:
        """Their derivatives."""
        return self.at(x).slopes

    def told(self, x: FloatArray) -> str:
        """The values as people read them."""
        return ", ".join(f"{name} = {number(value)}" for name, value in zip(self.names, x.tolist(), strict=True))

    def at(self, x: FloatArray) -> Evaluation:
        """Differences and derivatives.

        Raises
        ------
        RunError, UsageError : there are none.
        """
        key = x.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._evaluated(dict(zip(self.names, x.tolist(), strict=True)))
        return self._last[1]

    def _evaluated(self, values: Mapping[str, float]) -> Evaluation:
        missing = ""
        for prepared in self.prepared:
            found = self._compared(prepared, values)
            if not isinstance(found, str):
                return found
            missing = found
        raise UsageError(missing, hint="other start values, a longer t_span, or fewer data")

    def _compared(self, prepared: Prepared, values: Mapping[str, float]) -> Evaluation | str:
        """Model and data, or what is missing in a run that may be too short."""
        self.runs += 1
        failure: RunError | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SensitivityWarning)  # a derivative that does not exist is refused below
            run = prepared.with_parameters(**values)
            try:
                result = run.run()
            except RunError as error:
                if error.result is None:
                    raise
                failure, result = error, error.result
        models: list[FloatArray] = []
        differences: list[FloatArray] = []
        slopes: list[FloatArray] = []
        for series in self.series:
            found = _events(result, series) if series.is_events else _values(result, series)
            if isinstance(found, str):
                if failure is not None and not (series.is_events and _is_unknown(result, series)):
                    raise failure
                return found
            sigma = np.ones(series.values.size) if series.sigma is None else series.sigma
            models.append(found[0])
            differences.append((found[0] - series.values) / sigma)
            slopes.append(found[1] / sigma[:, None])
        evaluation = Evaluation(models, np.concatenate(differences), np.concatenate(slopes))
        if not (np.isfinite(evaluation.differences).all() and np.isfinite(evaluation.slopes).all()):
            raise UsageError("a value at a datum, or its derivative, does not exist", hint="an event is only touched there; other start values")
        return evaluation


def _values(result: Result, series: Series) -> tuple[FloatArray, FloatArray] | str:
    """Values at the times and their derivatives, or what is missing; of several rows of one time the last."""
    if not series.places.size:
        return np.zeros(0), np.zeros((0, len(result.sensitivity_parameters)))
    rows = np.searchsorted(result.t, series.places, side="right") - 1
    if not result.t.size or (result.t[np.maximum(rows, 0)] != series.places).any() or (rows < 0).any():
        end = result.t[-1] if result.t.size else result.events[-1].time if len(result.events) else np.nan
        return f"the run ended near t = {number(float(end))}, before the last datum of {series.name} at t = {number(float(series.places[-1]))}"
    assert result.sensitivities is not None
    return result.values[rows, series.column], result.sensitivities[rows, :, series.column]


def _is_unknown(result: Result, series: Series) -> bool:
    """Whether there are events, and none of them is meant."""
    causes = result.events.columns().causes
    return bool(causes) and not any(series.name in cause for cause in causes)


def _events(result: Result, series: Series) -> tuple[FloatArray, FloatArray] | str:
    """Times of events and their derivatives, or what is missing."""
    found = result.events.columns()
    own = np.flatnonzero([series.name in cause for cause in found.causes])
    last = int(series.places[-1]) if series.places.size else -1
    if last >= len(own):
        known = ", ".join(f"`{cause}`" for cause in dict.fromkeys(found.causes)) or "none at all"
        return f"the run has {len(own)} events of `{series.name}`, and {last + 1} were measured; its events are {known}"
    rows = own[series.places.astype(np.intp)]
    return found.times[rows], found.dt_dp[rows]
