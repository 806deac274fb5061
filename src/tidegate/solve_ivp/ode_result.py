"""What ``tg.solve_ivp`` gives back, with the names of SciPy's result. In: arrays and the polynomials of a run. Out: one object."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import UsageError
from tidegate.results import Interpolant, Result
from tidegate.solve_ivp.arguments import turned
from tidegate.solve_ivp.retold import Ran, retold

__all__ = ["OdeResult", "OdeSolution"]

FloatArray = NDArray[np.float64]


class OdeResult(dict[str, Any]):
    """What ``solve_ivp`` found; every entry is an attribute too, as in SciPy's result.

    Parameters
    ----------
    t : (k,), times.
    y : (n, k), values at them.
    sol : ``OdeSolution`` if ``dense_output`` was asked for, else None.
    t_events, y_events : for each event its times, and the values there as (times, n); None without events.
    nfev, njev, nlu : evaluations of the function, of its Jacobian, and factorizations.
    status : 0 at the end of the interval, 1 stopped by an event, -1 failed.
    message : why it ended.
    success : whether it did not fail.
    traced : whether the function and all events were followed on symbols and run as machine code, with the conditions in them located.
    called : the others, which are called as they are: ``"fun"`` or ``"events[i]"``, each with the reason.

    What was run is kept beside the entries, for ``tg.verify``, and does not go with a pickled or copied result.
    """

    t: FloatArray
    y: FloatArray
    sol: OdeSolution | None
    t_events: list[FloatArray] | None
    y_events: list[FloatArray] | None
    nfev: int
    njev: int
    nlu: int
    status: int
    message: str
    success: bool
    traced: bool
    called: dict[str, str]

    def keep(self, ran: Ran) -> Self:
        """Know what was run."""
        vars(self)["ran"] = ran
        return self

    def __getstate__(self) -> None:
        """Copies have the entries alone: functions of the user may know no way to another process."""

    def as_result(self) -> Result:
        """The solution, as it stands, as a ``Result`` that knows what it is of: what ``tg.verify`` reads.

        Raises
        ------
        UsageError
            It has no dense output, or is a copy that does not know what was run.
        """
        ran: Ran | None = vars(self).get("ran")
        if ran is None:
            raise UsageError("this solution is a copy, which does not know its function any more", hint="verify what tg.solve_ivp returned")
        return retold(self, ran)

    def __getattr__(self, name: str) -> Any:
        """The entry of that name."""
        if name not in self:
            raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self)}")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise AttributeError(name)
        del self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:>{width}}: {repr(value).replace('\n', '\n' + ' ' * (width + 2))}" for name, value in self.items())


class OdeSolution:
    """Values at any time of the run: ``sol(t)`` is (n,) for one time and (n, k) for k times.

    Parameters
    ----------
    interpolant : of the run, in its own direction of time.
    n : number of unknowns.
    sign : -1 for a run backwards.
    """

    def __init__(self, interpolant: Interpolant, n: int, sign: float) -> None:
        self.interpolant = interpolant
        self._n = n
        self._sign = sign
        ends = interpolant.starts + interpolant.widths
        self.ts: FloatArray = turned(np.append(interpolant.starts, ends[-1:]), sign)
        self.t_min, self.t_max = float(self.ts.min()), float(self.ts.max())
        self.n_segments = len(interpolant)

    def __call__(self, t: ArrayLike) -> FloatArray:
        """Values at these times, which must lie within the run.

        Raises
        ------
        UsageError
            For a time outside the run, where SciPy extrapolates, and for more than one dimension of times.
        """
        times = np.asarray(t, dtype=float)
        if times.ndim > 1:
            raise UsageError(f"sol was given times of shape {times.shape}; a number or a list of numbers is expected")
        outside = times[~((times >= self.t_min) & (times <= self.t_max))]
        slack = 1e-12 * (self.t_max - self.t_min)
        if outside.size and not np.all((outside >= self.t_min - slack) & (outside <= self.t_max + slack)):
            raise UsageError(f"time {outside[0]:g} lies outside the run, which goes from {self.t_min:g} to {self.t_max:g}", hint="make t_span longer")
        return self.interpolant(turned(times, self._sign))[..., : self._n].T
