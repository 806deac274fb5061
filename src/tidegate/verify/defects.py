"""Whether the equations hold along the run (stage: verification). In: plain residuals and the steps' polynomials. Out: findings for each unknown.

The polynomial p of a step leaves the defect d = r(t, p, p'), which is zero for an exact solution. Its size alone says little: where the model is
stiff, a defect of 1e6 in x' moves x by nothing. What it moves x by, e, obeys M e' = J e + d with M = -dr/dy' and J = dr/dy, and e = 0 before. Over a
length tau, with the defect held at its largest, one implicit Euler step gives (M / tau - J) e = d: tau times d in what is slow, d divided by the
rate in what is fast, the error itself in what is algebraic (there the row of M is zero). This e is what is compared with the tolerance
rtol |y| + atol; M and J are differences of plain calls. A step that was held to its tolerance inside has an e of a few of them, one in a wrong mode
one of 1 / rtol times the part of the step.

Where an unknown follows from the derivative of another (constraints between states, whose index a run has reduced: the run solves for that
derivative, and never takes it of a polynomial), e is no measure: it would be the error of the polynomial's derivative, which may be anything. Then
derivatives may be off by what moves their own unknown, over tau, by no more than the tolerance: looked for are the least e and f with M f - J e = d,
where tau f is compared as e is.

Where a difference is too large, its extent is looked for: tau is the length on which it lasts, since a branch that Python finds on the other side for
the last rounding before an event moves nothing. What only rounding decides (a quantity that came to rest where a condition changes, to the last
digits) is not held against a run, nor is the sign of what is smaller than its tolerance.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.model.plain_model import Instant, PlainModel
from tidegate.quick_dataclass import dataclass
from tidegate.verify.pieces import StepPiece
from tidegate.verify.verification import Tally

__all__ = ["Defects", "Tolerance", "differential", "moved_at_once", "noisy", "snapped"]

FloatArray = NDArray[np.float64]

_STEP: Final = 1e-7  # of a variable's size: difference quotients of plain calls
_TINY: Final = 1e-6  # of the unit: a variable that is zero is moved by as much of this
_REFRESH: Final = 16  # steps for which the matrices of an earlier one are tried first
_HALVINGS: Final = 40  # of a part of a step, towards the edge of where a difference lasts
_INSTANT: Final = 1e-7  # of a step: what lasts no longer is an event's own uncertainty in time
_LEFT: Final = 1e-3  # of what an equation changes by when an unknown moves by all that is allowed: so much may be left of its defect
_NOISE: Final = 16.0 * float(np.finfo(float).eps)  # of a variable's size in the run: rounding of what came from integration
_SOLVED: Final = 1e-12  # likewise of what came out of a system of equations


@dataclass(frozen=True, eq=False)
class Tolerance:
    """What a value may be off.

    Parameters
    ----------
    rtol, atol : of the run; atol for each unknown.
    allowed : how many times that.
    """

    rtol: float
    atol: FloatArray
    allowed: float

    def of(self, size: FloatArray) -> FloatArray:
        """For values of this size."""
        return self.allowed * (self.rtol * size + self.atol)


@dataclass(frozen=True, eq=False)
class _Matrices:
    """M = -dr/dy' and J = dr/dy at an instant."""

    M: FloatArray
    J: FloatArray

    def moved(self, defect: FloatArray, tau: float, part: float = 1.0) -> FloatArray:
        """What the defect (n,) or defects (n, k) move the unknowns by when they last this long."""
        try:
            return np.abs(np.linalg.solve(self.M / (part * tau) - self.J, defect)) / part
        except np.linalg.LinAlgError:
            return np.full_like(defect, np.inf)

    def moved_apart(self, defect: FloatArray, tau: float, allowed: FloatArray) -> FloatArray:
        """The shares of what is allowed that values, and derivatives over this length, must be moved by to make the defect vanish."""
        both = np.hstack((self.M * (allowed / abs(tau)), -self.J * allowed))
        scale = np.max(np.abs(both), axis=1)
        if not (np.all(scale > 0.0) and np.all(np.isfinite(both))):
            return np.full_like(defect, np.inf)
        found = np.linalg.lstsq(both / scale[:, None], defect / scale, rcond=None)[0]
        if np.any(np.abs(both @ found - defect) > _LEFT * scale):
            return np.full_like(defect, np.inf)
        return np.max(np.abs(found).reshape(2, -1), axis=0)

    def rounding(self, at: Instant, size: FloatArray, width: float, tau: float) -> FloatArray:
        """What the rounding of the polynomial moves the unknowns by: its derivative has that of its values, over the step."""
        eps = np.finfo(float).eps
        noise = 8.0 * eps * (np.abs(self.M) @ (size / abs(width) + np.abs(at.ydot)) + np.abs(self.J) @ size)
        try:
            return np.abs(np.linalg.inv(self.M / tau - self.J)) @ noise
        except np.linalg.LinAlgError:
            return np.zeros_like(size)


def _matrices(model: PlainModel, at: Instant, size: FloatArray, width: float, *, is_explicit: bool = False) -> _Matrices:
    """By difference quotients to both sides, of which the smaller counts: on one of them there may be a jump."""
    base = residuals(model, at)
    n = base.size
    M, J = np.eye(n) if is_explicit else np.zeros((n, n)), np.zeros((n, n))
    for k in range(n):
        step = _STEP * max(abs(at.y[k]), size[k], _TINY)
        J[:, k] = _smaller([_quotient(model, at, base, k, sign * step, 0.0) for sign in (1.0, -1.0)])
        if is_explicit:
            continue
        step = _STEP * max(abs(at.ydot[k]), size[k] / abs(width), _TINY)
        M[:, k] = -_smaller([_quotient(model, at, base, k, 0.0, sign * step) for sign in (1.0, -1.0)])
    return _Matrices(M, J)


def residuals(model: PlainModel, at: Instant) -> FloatArray:
    """Of the model; NaN where Python has no value."""
    try:
        return model.residuals(at)
    except (ArithmeticError, ValueError):
        return np.full(at.y.size, np.nan)


def _quotient(model: PlainModel, at: Instant, base: FloatArray, k: int, value: float, slope: float) -> FloatArray:
    y, ydot = at.y.copy(), at.ydot.copy()
    y[k] += value
    ydot[k] += slope
    return (residuals(model, Instant(at.t, y, ydot, at.d, at.pre)) - base) / ((y[k] - at.y[k]) + (ydot[k] - at.ydot[k]))


def _smaller(pair: list[FloatArray]) -> FloatArray:
    one, other = pair
    return np.where(np.abs(one) <= np.abs(other), one, other)


def differential(model: PlainModel, piece: StepPiece) -> NDArray[np.bool_]:
    """Which unknowns are states: those whose derivatives the residuals depend on."""
    found = _matrices(model, piece.at(0.5), piece.size, piece.width).M
    return np.any(np.abs(found) > 0.0, axis=0)


def moved_at_once(model: PlainModel, at: Instant, size: FloatArray, width: float) -> FloatArray:
    """What the defects of the algebraic equations move the unknowns by while the states stay where they are."""
    found = _matrices(model, at, size, width)
    defect = np.where(np.any(np.abs(found.M) > 0.0, axis=1), 0.0, residuals(model, at))
    return found.moved(defect, _INSTANT * abs(width))


@dataclass(eq=False)
class Defects:
    """Looks at the equations, step after step.

    Parameters
    ----------
    model : in plain numbers.
    tolerance : of the run, times what is allowed.
    largest : (n,), of each unknown in the run.
    tally : where findings go.
    is_explicit : whether each residual is a right-hand side minus a derivative.
    """

    model: PlainModel
    tolerance: Tolerance
    largest: FloatArray
    tally: Tally
    is_explicit: bool
    _kept: _Matrices | None = field(default=None, init=False)
    _age: int = field(default=0, init=False)

    def look(self, piece: StepPiece, thetas: FloatArray, at_rest: NDArray[np.bool_]) -> None:
        """Judge one step at these parts of it.

        Parameters
        ----------
        at_rest : unknowns whose value in this piece is exact: nothing about them is rounding.
        """
        if not piece.size.size:
            return  # nothing but discrete variables
        if piece.first or self._age >= _REFRESH:
            self._kept = None
        self._age = 0 if self._kept is None else self._age + 1
        allowed = self.tolerance.of(piece.size)
        shares = self._shares(piece, thetas, allowed)
        good = thetas[np.all(shares <= 1.0, axis=1)]
        for k in np.flatnonzero(~np.all(shares <= 1.0, axis=1)):
            theta = float(thetas[k])
            lower, upper = max(good[good < theta], default=0.0), min(good[good > theta], default=1.0)
            share, defect = self._lasting(piece, theta, (lower, upper), allowed)
            if not np.all(share <= 1.0) and self._is_rounding(piece, theta, allowed, at_rest):
                share = np.zeros_like(share)
            shares[k] = share
            if not np.all(share <= 1.0):
                self._note(piece, theta, share, self._said(piece, defect), 1)
        kept = np.all(shares <= 1.0, axis=1)
        if kept.any():
            worst = int(np.argmax(np.max(shares[kept], axis=1)))
            self._note(piece, float(thetas[kept][worst]), np.max(shares[kept], axis=0), "", int(kept.sum()))

    def _note(self, piece: StepPiece, theta: float, shares: FloatArray, says: str, count: int) -> None:
        for name, share in zip(self.model.unknowns, shares.tolist(), strict=True):
            self.tally.note("equation", name, piece.start + theta * piece.width, share, says, count)

    def _shares(self, piece: StepPiece, thetas: FloatArray, allowed: FloatArray) -> FloatArray:
        """(points, n): what the defects at these points move the unknowns by, over what is allowed."""
        defects = np.array([residuals(self.model, at) for at in piece.instants(thetas)])
        if self._kept is not None:
            shares = self._kept.moved(defects.T, piece.width).T / allowed
            if np.all(shares <= 1.0):
                return shares
        return np.array([self._share(piece, theta, allowed) for theta in thetas.tolist()])

    def _said(self, piece: StepPiece, defect: FloatArray) -> str:
        worst = int(np.argmax(np.abs(np.where(np.isnan(defect), np.inf, defect))))
        return f"{self.model.equations[worst]} is off by {abs(defect[worst]):.3g} in the step of {piece.width:.3g} from {piece.start:.8g}"

    def _share(self, piece: StepPiece, theta: float, allowed: FloatArray, tau: float | None = None) -> FloatArray:
        """What the defect at a point moves the unknowns by, over what is allowed."""
        at = piece.at(theta)
        defect = residuals(self.model, at)
        tau = piece.width if tau is None else tau
        if self._kept is not None:
            share = self._kept.moved(defect, tau) / allowed
            if np.all(share <= 1.0):
                return share
        if not np.all(np.isfinite(defect)):
            return np.full(defect.size, np.nan)
        fresh = _matrices(self.model, at, piece.size, piece.width, is_explicit=self.is_explicit)
        if not (np.all(np.isfinite(fresh.M)) and np.all(np.isfinite(fresh.J))):
            return np.full(defect.size, np.nan)
        self._kept = fresh
        allowed = allowed + fresh.rounding(at, piece.size, piece.width, tau)
        share = fresh.moved(defect, tau) / allowed
        if np.all(share <= 1.0):
            return share
        # a mode that grows by e in tau makes the matrix singular: the same by two halves
        share = np.minimum(share, fresh.moved(defect, tau, 0.5) / allowed)
        if np.all(share <= 1.0) or self.is_explicit:
            return share
        apart = fresh.moved_apart(defect, tau, allowed)
        return apart if np.all(apart <= 1.0) else share

    def _lasting(self, piece: StepPiece, theta: float, between: tuple[float, float], allowed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same, over the length on which the defect lasts, and the defect."""
        defect = residuals(self.model, piece.at(theta))
        edges = [self._edge(piece, theta, other, defect) for other in between]
        length = edges[1] - edges[0]
        if length <= _INSTANT:
            return np.zeros_like(allowed), defect
        return self._share(piece, theta, allowed, length * piece.width), defect

    def _edge(self, piece: StepPiece, inside: float, outside: float, defect: FloatArray) -> float:
        """Between a point with the defect and one without, where it ends: where it is no more than half."""
        most = 0.5 * np.max(np.abs(defect))

        def lasts(theta: float) -> bool:
            return not np.max(np.abs(residuals(self.model, piece.at(theta)))) <= most

        if lasts(outside):
            return outside
        for _ in range(_HALVINGS):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if lasts(middle) else (inside, middle)
        return inside

    def _is_rounding(self, piece: StepPiece, theta: float, allowed: FloatArray, at_rest: NDArray[np.bool_]) -> bool:
        """Whether the defect vanishes within the rounding of what was integrated."""
        for moved in noisy(piece.at(theta), at_rest, self.largest, self.tolerance):
            defect = residuals(self.model, moved)
            if self._kept is not None and np.all(self._kept.moved(defect, piece.width) / allowed <= 1.0):
                return True
        return False


def snapped(at: Instant, solved: NDArray[np.bool_], largest: FloatArray) -> Instant:
    """With unknowns that are a discrete variable but for the rounding of the system they come out of exactly at it."""
    if not at.d.size or not at.y.size:
        return at
    gaps = at.d - at.y[:, None]
    close = solved & (np.min(np.abs(gaps), axis=1) <= _SOLVED * largest)
    y = np.where(close, at.d[np.argmin(np.abs(gaps), axis=1)], at.y)
    return Instant(at.t, y, at.ydot, at.d, at.pre)


def noisy(
    at: Instant, exact: NDArray[np.bool_], largest: FloatArray, tolerance: Tolerance | None = None, *, solved: NDArray[np.bool_] | None = None
) -> list[Instant]:
    """The instant with its values moved by the rounding of what was integrated: all together, and each alone.

    Parameters
    ----------
    exact : unknowns that are not moved.
    largest : of each unknown in the run.
    tolerance : if given, what is smaller than that, as what has died out, is moved to either side of zero, and there: its sign is chance.
    solved : unknowns that come out of systems of equations; theirs is the rounding of these, in which they are moved to discrete variables too.
    """
    noise = np.where(exact, 0.0, _NOISE * largest)
    if solved is not None:
        noise = np.where(solved, _SOLVED * largest, noise)
    is_small = np.zeros(noise.size, dtype=bool) if tolerance is None else np.abs(at.y) <= tolerance.of(largest) / tolerance.allowed
    middle = np.where(is_small & ~exact, 0.0, at.y)
    rows = [noise > 0.0, *(np.arange(noise.size) == k for k in np.flatnonzero(noise))] if noise.any() else []
    sides = (1.0, -1.0, 0.0) if np.any(middle != at.y) else (1.0, -1.0)
    found = [Instant(at.t, np.where(row, middle + side * noise, at.y), at.ydot, at.d, at.pre) for row in rows for side in sides]
    if solved is not None:
        exactly = snapped(at, solved, largest)
        found += [exactly] if np.any(exactly.y != at.y) else []
    return found
