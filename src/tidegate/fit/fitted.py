"""What a fit has found (stage: fit): values, how sure they are, what is left of the data, as numbers and in words.

Covariance is s^2 (J^T J)^-1 with J the derivatives of the weighted differences (Bates and Watts 1988, 1.3); s^2 is 1 where standard deviations were
given, otherwise the mean of squares of what is left. Directions along which the data say nothing are found in the singular values of J with columns
of length one, and told by the names of the parameters in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.fit.observations import Series
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result
from tidegate.results.labels import number
from tidegate.wrong_calls import explained
from tidegate.wrong_names import answering

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["Fit", "Outcome", "Question"]

FloatArray = NDArray[np.float64]
_PART: Final = 0.1  # of a direction of length one: a parameter with less is none of those that it is about
_STRONG: Final = 0.9  # a correlation worth a line
_MOST: Final = 3
_OPEN: Final = 1e-300  # a limit of zero that is itself excluded is the next number


@dataclass(frozen=True, eq=False)
class Question:
    """What was asked: parameters, where they began, their limits and units, and the data."""

    model: str
    names: tuple[str, ...]
    start: FloatArray
    lower: FloatArray
    upper: FloatArray
    units: Mapping[str, str]
    series: Sequence[Series]
    resolution: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """What least squares came to: the place, weighted differences and derivatives there, which limits are reached, why it ended, what it cost."""

    x: FloatArray
    model: Sequence[FloatArray]
    differences: FloatArray
    slopes: FloatArray
    at_limit: NDArray[np.bool_]
    success: bool
    message: str
    runs: int
    failures: Sequence[str]


_WORDS: Final = {
    "parameters": "fit.values are the values found", "params": "fit.values are the values found", "x": "fit.values are the values found",
    "popt": "fit.values are the values found", "best_values": "fit.values are the values found", "pcov": "fit.covariance",
    "stderr": "fit.standard_errors", "errors": "fit.standard_errors", "cost": "fit.chi_square", "fun": "fit.residuals", "model": "fit.result",
    "report": "print(fit)", "fit_report": "print(fit)", "summary": "print(fit)", "nfev": "fit.runs",
}  # fmt: skip


@answering("fit", _WORDS)
@partial(explained, instead_of_call="fit.values are the values found, fit.result the run with them")
class Fit:
    """Parameters that fit data; made by ``tg.fit``.

    Parameters
    ----------
    question, outcome : what was asked, and what was found.
    result : the run with the fitted values.

    Attributes
    ----------
    values : of the parameters, by name.
    success, message : whether least squares came to a minimum, and why it ended.
    runs : how many runs it took.
    failures : why those failed from which it stepped back.
    """

    def __init__(self, question: Question, outcome: Outcome, result: Result) -> None:
        self._question, self._outcome = question, outcome
        self.result = result
        self.values: dict[str, float] = dict(zip(question.names, outcome.x.tolist(), strict=True))
        self.success, self.message, self.runs, self.failures = outcome.success, outcome.message, outcome.runs, tuple(outcome.failures)

    # -- how well ---------------------------------------------------------------------------------------------------------------------------------

    @property
    def residuals(self) -> dict[str, FloatArray]:
        """Data less model, in the units of the data, by the names that the data have."""
        return {one.name: one.values - model for one, model in zip(self._question.series, self._outcome.model, strict=True)}

    @property
    def n_data(self) -> int:
        """Number of data."""
        return self._outcome.differences.size

    @property
    def chi_square(self) -> float:
        """Sum of squares of differences over standard deviations; of the differences themselves where none were given."""
        return float(self._outcome.differences @ self._outcome.differences)

    @property
    def degrees_of_freedom(self) -> int:
        """Data less parameters that the data determine."""
        return self.n_data - int(self._free.sum()) + len(self._blind)

    # -- how sure ---------------------------------------------------------------------------------------------------------------------------------

    @property
    def at_limits(self) -> tuple[str, ...]:
        """Parameters that ended at a limit; nothing is said of how sure they are."""
        return tuple(name for name, is_there in zip(self._question.names, self._outcome.at_limit, strict=True) if is_there)

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        return ~self._outcome.at_limit

    @cached_property
    def _decomposed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Lengths of the columns of free parameters; singular values and directions of columns of length one."""
        slopes = self._outcome.slopes[:, self._free]
        lengths = np.linalg.norm(slopes, axis=0)
        scaled = slopes / np.where(lengths > 0.0, lengths, 1.0)
        _, sizes, directions = np.linalg.svd(scaled, full_matrices=True)
        return lengths, np.append(sizes, np.zeros(len(directions) - len(sizes))), directions

    @cached_property
    def _blind(self) -> FloatArray:
        """Directions (in scaled parameters) along which the data say nothing."""
        _, sizes, directions = self._decomposed
        return directions[sizes <= self._question.resolution * max(sizes.max(initial=0.0), 1e-300)]

    @cached_property
    def unidentified(self) -> tuple[str, ...]:
        """A sentence for each combination of parameters that these data do not determine."""
        names = [name for name, is_free in zip(self._question.names, self._free, strict=True) if is_free]
        lengths = self._decomposed[0]
        sentences: list[str] = [f"the data do not depend on {name}" for name, length in zip(names, lengths, strict=True) if length == 0.0]
        for direction in self._blind:
            involved = [name for name, part in zip(names, direction, strict=True) if abs(part) > _PART]
            if len(involved) == 1 and lengths[names.index(involved[0])] == 0.0:
                continue
            told = " and ".join(filter(None, (", ".join(involved[:-1]), involved[-1])))
            sentences.append(f"the data do not tell {told} apart: together they can be changed so that nothing that was measured changes")
        return tuple(sentences)

    @cached_property
    def _covariance(self) -> FloatArray:
        lengths, sizes, directions = self._decomposed
        seen = sizes > self._question.resolution * max(sizes.max(initial=0.0), 1e-300)
        inverse = (directions[seen].T / sizes[seen] ** 2) @ directions[seen]
        spread = 1.0
        if any(one.sigma is None for one in self._question.series):
            spread = self.chi_square / self.degrees_of_freedom if self.degrees_of_freedom > 0 else np.nan
        scale = np.where(lengths > 0.0, lengths, 1.0)
        free = spread * inverse / np.outer(scale, scale)
        hidden = (np.abs(directions[~seen]) > _PART).any(axis=0)
        free[hidden, :], free[:, hidden] = np.nan, np.nan
        free[hidden, hidden] = np.inf
        n = len(self._question.names)
        whole = np.full((n, n), np.nan)
        whole[np.ix_(self._free, self._free)] = free
        return whole

    @property
    def covariance(self) -> xr.DataArray:
        """Of the parameters, along ``parameter`` and ``other``; infinite where the data determine nothing, NaN at a limit."""
        return self._labelled(self._covariance)

    @property
    def correlation(self) -> xr.DataArray:
        """The same, divided by both standard errors."""
        errors = np.sqrt(np.diag(self._covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._labelled(self._covariance / np.outer(errors, errors))

    @property
    def standard_errors(self) -> dict[str, float]:
        """Standard error of each parameter, by name."""
        return dict(zip(self._question.names, np.sqrt(np.diag(self._covariance)).tolist(), strict=True))

    def confidence(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Interval of each parameter that holds its true value so often, if the model is right and its curvature small.

        Raises
        ------
        UsageError : the level is no probability.
        """
        from scipy.stats import norm, t

        if not 0.0 < level < 1.0:
            raise UsageError(f"level is {level!r}", hint="a probability between 0 and 1, such as 0.95")
        is_known = all(one.sigma is not None for one in self._question.series)
        quantile = 0.5 + 0.5 * level
        width = float(norm.ppf(quantile) if is_known else t.ppf(quantile, max(self.degrees_of_freedom, 1)))
        errors = self.standard_errors
        return {name: (value - width * errors[name], value + width * errors[name]) for name, value in self.values.items()}

    def _labelled(self, matrix: FloatArray) -> xr.DataArray:
        import xarray as xr

        names = list(self._question.names)
        return xr.DataArray(matrix, dims=("parameter", "other"), coords={"parameter": names, "other": names})

    # -- in words and pictures --------------------------------------------------------------------------------------------------------------------

    def _rows(self) -> list[tuple[str, ...]]:
        question, errors = self._question, self.standard_errors
        rows = [("parameter", "value", "standard error", "start", "limits", "unit")]
        for k, (name, value) in enumerate(self.values.items()):
            is_blind, is_bare = np.isinf(errors[name]), np.isnan(errors[name])
            error = "not determined" if is_blind else "no data left" if is_bare else number(errors[name], 3)
            error = "at its limit" if name in self.at_limits else error
            low, high = (0.0 if abs(limit) < _OPEN else float(limit) for limit in (question.lower[k], question.upper[k]))
            limits = f"{number(low)} to {number(high)}"
            has_limits = np.isfinite([question.lower[k], question.upper[k]]).any()
            start = number(float(question.start[k]))
            rows.append((name, number(value, 8), error, start, limits if has_limits else "", question.units.get(name, "")))
        kept = [k for k in range(len(rows[0])) if any(row[k] for row in rows[1:])]
        return [tuple(row[k] for k in kept) for row in rows]

    def _sentences(self) -> list[str]:
        names = list(self._question.names)
        data = listed([f"{one.values.size} {one.label if one.is_events else f'values of {one.name}'}" for one in self._question.series])
        known = all(one.sigma is not None for one in self._question.series)
        what = "chi square" if known else "sum of squares"
        lines = [f"{what} {number(self.chi_square, 4)}; {data}; {self.degrees_of_freedom} degrees of freedom"]
        correlation = self.correlation.to_numpy()
        pairs = [(a, b) for a in range(len(names)) for b in range(a) if abs(correlation[a, b]) > _STRONG]
        lines += [f"{names[b]} and {names[a]} are correlated by {number(float(correlation[a, b]), 3)}" for a, b in pairs]
        lines += self.unidentified
        lines.append(f"{'ended' if self.success else 'did not come to a minimum'}: {self.message}; {self.runs} runs")
        if self.failures:
            count, why = len(self.failures), listed(dict.fromkeys(self.failures), _MOST, "; ")
            lines.append(f"{count} step{'' if count == 1 else 's'} taken back, where a run failed: {why}")
        return lines

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"fit of {self._question.model}", *lines, *self._sentences()])

    def __repr__(self) -> str:
        return f"<Fit of {self._question.model}: {', '.join(f'{name} = {number(value)}' for name, value in self.values.items())}>"

    def _repr_html_(self) -> str:
        head, *rows = self._rows()
        lines = [f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows]
        told = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._sentences())
        header = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        return f"<table><caption>fit of {escape(self._question.model)}</caption><tr>{header}</tr>{''.join(lines)}</table>{told}"

    def plot(self, path: str | Path | None = None) -> Figure:
        """Data against the fitted run: a panel for each variable, and one for each kind of event, by its number.

        Parameters
        ----------
        path : file to save the picture in, .png, .svg or .pdf.
        """
        from tidegate.fit.picture import picture

        return picture(self._question.series, self._outcome.model, self.result, path)
