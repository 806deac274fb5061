"""How the equations of a block become ``M y' = f(t, y)``: as they are for an ODE; for a DAE by which derivatives enter its residuals.

Of an index-1 DAE ``0 = F(t, x, xd, u, p)`` (Otter, DSblock 3.3, form 1) nothing is known but values. Probed by differences, the leading matrix E
= dF/dxd says:

* where columns of E are zero and the others have full rank, x of the zero columns are algebraic, and every other x gets its derivative
  as an unknown w: x' = w, 0 = F(t, x, w). E may depend on anything then.
* where its rank is lower, and E is constant, E x' = -F(t, x, 0).

A connection of ODEs knows that its residuals are f - xd, and those of loops: x' = F(t, x, 0) there, and no further unknowns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.description import Description, SignalKind
from tidegate.quick_dataclass import dataclass

__all__ = ["Equations", "dae_equations", "explicit_equations", "leading_matrix", "ode_equations"]

FloatArray = NDArray[np.float64]
Residual = Callable[[FloatArray, FloatArray], FloatArray]  # of x and xd
_STEP: Final = float(np.cbrt(np.finfo(float).eps))
_SAME: Final = 1e-6  # of E's entries at two places, relative to the largest: differences have some nine digits
_EXACT: Final = 1e-14  # likewise: rounding of what is linear
_PROBES: Final = 3


@dataclass(frozen=True, eq=False)
class Equations:
    """The unknowns of a block's model.

    Parameters
    ----------
    n : number of x.
    with_rate : which x have their derivative as a further unknown.
    algebraic : which x are algebraic.
    mass : E, where the unknowns are x alone and E is neither the unit matrix nor diagonal.
    has_rates : whether the block's equations take xd at all.
    """

    names: tuple[str, ...]
    with_rate: NDArray[np.intp]
    algebraic: NDArray[np.intp]
    mass: FloatArray | None = None
    has_rates: bool = True

    @cached_property
    def differential(self) -> NDArray[np.intp]:
        """Which x are states."""
        return np.setdiff1d(np.arange(len(self.names)), self.algebraic)

    def states(self, x: FloatArray) -> dict[str, float]:
        """Start values of the states by name."""
        return {self.names[k]: float(x[k]) for k in self.differential}

    def others(self, x: FloatArray, xd: FloatArray) -> dict[str, float]:
        """Guesses of the algebraic unknowns by name."""
        return {f"der({self.names[k]})": float(xd[k]) for k in self.with_rate} | {self.names[k]: float(x[k]) for k in self.algebraic}

    def x(self, y: FloatArray) -> FloatArray:
        """The block's x."""
        if not len(self.algebraic):
            return y[: len(self.names)]
        x = np.empty(len(self.names))
        x[self.differential] = y[: len(self.differential)]
        x[self.algebraic] = y[len(y) - len(self.algebraic) :]
        return x

    def xd(self, y: FloatArray) -> FloatArray | None:
        """Its derivative, zero where it enters no equation; None where it is no unknown."""
        if not self.has_rates:
            return None
        xd = np.zeros(len(self.names))
        if self.mass is None:
            first = len(self.differential)
            xd[self.with_rate] = y[first : first + len(self.with_rate)]
        return xd

    def ranks(self) -> dict[str, int]:
        """Which of x every unknown belongs to."""
        return {name: k for k, name in enumerate(self.names)} | {f"der({self.names[k]})": int(k) for k in self.with_rate}

    def fits(self, residual: Residual, x: FloatArray, xd: FloatArray) -> bool:
        """Whether derivatives enter the residuals at a point as this form has it, of those x that are there.

        Looked at in one random direction, so that it costs three evaluations.
        """
        n = len(x)
        step = _STEP * np.random.default_rng(2).uniform(0.5, 1.5, n) * np.maximum(np.abs(xd[:n]), 1.0)

        def change(direction: FloatArray) -> FloatArray:
            moved = xd.copy()
            moved[:n] += direction
            return residual(x, moved) - residual(x, xd)

        found = change(step)
        if self.mass is not None:
            expected = self.mass[:n, :n] @ step
            return bool(np.max(np.abs(found - expected), initial=0.0) <= _SAME * max(np.max(np.abs(found)), np.max(np.abs(expected))))
        if not len(self.algebraic):
            return True
        alone = change(np.where(np.isin(np.arange(n), self.algebraic), step, 0.0))
        return bool(np.max(np.abs(alone), initial=0.0) <= _SAME * np.max(np.abs(found), initial=0.0))

    def rates(self, residual: Callable[[float, FloatArray], FloatArray], time: float, x: FloatArray) -> FloatArray:
        """xd where M is singular: M xd = -F, and the derivative of what M leaves of F = 0, by differences.

        Parameters
        ----------
        residual : F of time and x, with xd = 0.
        """
        assert self.mass is not None
        _, unseen = self.halves
        step = _STEP * max(abs(time), 1.0)
        slopes = (residual(time + step, x) - residual(time - step, x)) / (2.0 * step)
        jacobian = leading_matrix(lambda _, moved: residual(time, moved), x, x)
        rows = np.concatenate([self.mass, unseen @ jacobian])
        return np.linalg.lstsq(rows, -np.concatenate([residual(time, x), unseen @ slopes]))[0]

    @cached_property
    def halves(self) -> tuple[FloatArray, FloatArray]:
        """Rows that together are orthogonal, by which equations are multiplied: those that leave something of ``mass``, and those that do not."""
        assert self.mass is not None
        left, values, _ = np.linalg.svd(self.mass)
        rank = int(np.sum(values > _SAME * np.max(values, initial=0.0)))
        return left[:, :rank].T, left[:, rank:].T

    def jacobian(self, n_states: int, slopes: Callable[[float], FloatArray]) -> FloatArray:
        """Derivatives of ``right_side`` by the unknowns.

        Parameters
        ----------
        slopes : dF/dx + cj dF/dxd of the states that are there, for a cj (BLOCKJ).
        """
        n, by_x = len(self.names), np.zeros((len(self.names), len(self.names)))
        there = slice(0, n_states)
        by_x[there, there] = slopes(0.0)
        if not self.has_rates:
            return by_x
        if self.mass is not None:
            return -by_x
        by_rate = np.zeros((n, n))
        by_rate[there, there] = slopes(1.0) - by_x[there, there]
        absent = np.arange(n_states, n)
        is_algebraic = np.isin(absent, self.algebraic)
        by_x[absent[is_algebraic], absent[is_algebraic]] = 1.0
        by_rate[absent[~is_algebraic], absent[~is_algebraic]] = 1.0
        first, n_rates = len(self.differential), len(self.with_rate)
        places = np.empty(n, dtype=np.intp)
        places[self.differential] = np.arange(first)
        places[self.algebraic] = first + n_rates + np.arange(len(self.algebraic))
        found = np.zeros((n + n_rates, n + n_rates))
        found[np.arange(n_rates), first + np.arange(n_rates)] = 1.0
        found[n_rates:, places] = by_x
        found[n_rates:, first : first + n_rates] = by_rate[:, self.with_rate]
        return found

    def right_side(self, y: FloatArray, f: FloatArray, n_states: int) -> FloatArray:
        """f of ``M y' = f`` from what the block's equations give; x behind the first ``n_states`` stay as they are, or are zero where algebraic."""
        if not self.has_rates:
            return f
        if self.mass is not None:
            return -f
        first = len(self.differential)
        if n_states < len(f):
            rate, x = self.xd(y), self.x(y)
            assert rate is not None
            absent = np.arange(n_states, len(f))
            f[absent] = np.where(np.isin(absent, self.algebraic), x[absent], rate[absent])
        return np.concatenate([y[first : first + len(self.with_rate)], f])

    def new(self, x: FloatArray | None, xd: FloatArray | None) -> dict[str, float]:
        """New values of the unknowns by name."""
        new: dict[str, float] = {} if x is None else {self.names[k]: float(x[k]) for k in range(len(x))}
        if xd is not None and self.mass is None:
            new |= {f"der({self.names[k]})": float(xd[k]) for k in self.with_rate}
        return new


def ode_equations(described: Description) -> Equations:
    """Every x a state."""
    none = np.zeros(0, dtype=np.intp)
    return Equations(described.names(SignalKind.STATE), none, none, has_rates=False)


def explicit_equations(described: Description, algebraic: Sequence[int]) -> Equations:
    """Of a DAE whose residuals are ``f - xd``, and behind them those of the algebraic x, the last ones."""
    return Equations(described.names(SignalKind.STATE), np.zeros(0, dtype=np.intp), np.array(algebraic, dtype=np.intp))


def leading_matrix(residual: Residual, x: FloatArray, xd: FloatArray, part: float = _STEP) -> FloatArray:
    """dF/dxd by central differences, whose steps are a part of xd or of one."""
    columns: list[FloatArray] = []
    for k in range(len(x)):
        step = part * max(abs(xd[k]), 1.0)
        above, below = xd.copy(), xd.copy()
        above[k], below[k] = xd[k] + step, xd[k] - step
        columns.append((residual(x, above) - residual(x, below)) / (above[k] - below[k]))
    return np.array(columns).T.reshape(len(x), len(x))


def dae_equations(described: Description, residual: Residual, n_states: int) -> Equations:
    """Unknowns of an index-1 DAE, found by probing its residuals near its start.

    Parameters
    ----------
    n_states : how many x are there at the start. Of the others the residuals may say nothing yet; they are states then, and whoever lets them come
        looks whether that is so (``fits``).

    Raises
    ------
    UsageError : its leading matrix has a low rank and is not constant, or is not whole.
    """
    names = described.names(SignalKind.STATE)
    x0, xd0 = np.array(described.x0), np.array(described.xd0 or [0.0] * len(names))
    random = np.random.default_rng(1)
    probes = [leading_matrix(residual, x0, xd0)]
    for _ in range(_PROBES - 1):
        x = x0 + 1e-3 * random.standard_normal(len(x0)) * np.maximum(np.abs(x0), 1.0)
        probes.append(leading_matrix(residual, x, xd0 + random.standard_normal(len(x0))))
    finite = [probe for probe in probes if np.all(np.isfinite(probe))]
    if not finite:
        raise UsageError(f"the residuals of DSblock {described.name} are not finite at its start values")
    size = max(float(np.max(np.abs(probe), initial=0.0)) for probe in finite)
    is_zero = np.max([np.max(np.abs(probe), axis=0, initial=0.0) for probe in finite], axis=0) <= _SAME * size
    unknown = is_zero & (np.arange(len(names)) >= n_states)
    if unknown.any():
        unknown &= np.all(leading_matrix(lambda xd, x: residual(x, xd), xd0, x0) == 0.0, axis=0)
    algebraic, differential = np.flatnonzero(is_zero & ~unknown), np.flatnonzero(~is_zero)
    if all(np.linalg.matrix_rank(probe[:, differential], tol=_SAME * size) == len(differential) for probe in finite):
        return Equations(names, np.union1d(differential, np.flatnonzero(unknown)), algebraic)
    if unknown.any():
        raise UsageError(
            f"DSblock {described.name} starts with {n_states} of {len(names)} x, and their derivatives enter its residuals through a singular matrix",
            hint="state it with algebraic variables of their own, whose derivatives enter nowhere",
        )
    if any(np.max(np.abs(probe - finite[0])) > _SAME * size for probe in finite):
        raise UsageError(
            f"the derivatives of DSblock {described.name} enter its residuals through a matrix that is singular and not constant",
            hint="state it with algebraic variables of their own, whose derivatives enter nowhere",
        )
    # F is linear in xd, so that long steps leave rounding alone: the rank of E rests on its last digits
    exact = leading_matrix(residual, x0, np.zeros(len(x0)), 1.0)
    if not np.all(np.abs(exact - finite[0]) <= _SAME * size):
        exact = finite[0]
    exact = np.where(np.abs(exact) > _SAME * size, exact, 0.0)
    rounded = np.round(exact, 9)  # small whole numbers and simple fractions, as they are written
    return Equations(
        names, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp), np.where(np.abs(rounded - exact) <= _EXACT * size, rounded, exact)
    )
