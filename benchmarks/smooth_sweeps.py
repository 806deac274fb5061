"""Ten thousand runs of a model with other parameters, by one thread: tidegate's sweep beside heyoka's integrator of several runs at once.

In: nothing. Out: microseconds of both a run. heyoka takes as many runs at a time as its library recommends for the processor; who calls it puts start
values and parameters in and takes the ends out. tidegate gives the dataset of the sweep. Shortest times count. And what a limit costs, one that no
run reaches, and one that each run crosses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from benchmarks.taylor_series import RTOL

__all__ = ["SWEPT_MODELS", "SweptModel", "microseconds_of_both", "microseconds_with_limit"]

RUNS: Final = 10_000
_AGREE: Final = 1e-4  # of the unknowns' size: both are right


def _orbit(y: Any, p: Any) -> list[Any]:
    cubed = (y[0] * y[0] + y[1] * y[1]) ** 1.5
    return [y[2], y[3], -p * y[0] / cubed, -p * y[1] / cubed]


def _oscillator(y: Any, p: Any) -> list[Any]:
    return [y[1], p * (1.0 - y[0] * y[0]) * y[1] - y[0]]


def _lorenz(y: Any, p: Any) -> list[Any]:
    return [10.0 * (y[1] - y[0]), y[0] * (p - y[2]) - y[1], y[0] * y[1] - y[2] * (8.0 / 3.0)]


class SweptModel:
    """One model for both.

    Parameters
    ----------
    title : of it.
    rates : of numbers and expressions, with one parameter.
    start, t_end : of all runs.
    values : the least and the largest of the parameter.
    """

    def __init__(
        self, title: str, rates: Callable[[Any, Any], list[Any]], start: tuple[float, ...], t_end: float, values: tuple[float, float]
    ) -> None:
        self.title, self.rates, self.start, self.t_end = title, rates, start, t_end
        self.values = np.linspace(*values, RUNS)

    def own(self) -> Callable[[], np.ndarray]:
        """tidegate's sweep."""
        import tidegate as tg

        n, rates = len(self.start), self.rates
        model = tg.ode(lambda t, y, p: rates([y[k] for k in range(n)], p["c"]), y0=list(self.start), p={"c": float(self.values[0])})

        def run() -> np.ndarray:
            found = tg.sweep(model, (0.0, self.t_end), {"c": self.values}, workers=1, progress=False, method="taylor", rtol=RTOL, atol=1e-2 * RTOL)
            return found["y"].values.T

        return run

    def rival(self) -> Callable[[], np.ndarray]:
        """heyoka's batches."""
        import heyoka as hy

        n, wide = len(self.start), hy.recommended_simd_size()
        y = hy.make_vars(*(f"y{k}" for k in range(n)))
        start = np.repeat(np.array(self.start)[:, None], wide, axis=1)
        ta = hy.taylor_adaptive_batch(list(zip(y, self.rates(y, hy.par[0]), strict=True)), start.copy(), tol=RTOL, pars=np.zeros((1, wide)))
        ends = np.zeros((n, RUNS))

        def run() -> np.ndarray:
            for first in range(0, RUNS, wide):
                ta.set_time(0.0)
                ta.state[:] = start
                ta.pars[0] = self.values[first : first + wide]
                ta.propagate_until(self.t_end)
                ends[:, first : first + wide] = ta.state
            return ends

        return run


SWEPT_MODELS: Final = (
    SweptModel("an orbit, two turns", _orbit, (0.4, 0.0, 0.0, 2.0), 12.0, (0.9, 1.1)),
    SweptModel("van der Pol", _oscillator, (2.0, 0.0), 20.0, (0.5, 2.0)),
    SweptModel("Lorenz, before it is chaos", _lorenz, (1.0, 1.0, 1.0), 3.0, (20.0, 30.0)),
)


def microseconds_with_limit(limit: float, rounds: int) -> float:
    """tidegate's time a run of van der Pol's equation that changes where its unknown is above a limit; it goes from -2 to 2."""
    import tidegate as tg

    model = tg.ode(lambda t, y, p: [y[1], p["c"] * (1.0 - y[0] * y[0]) * y[1] - y[0] - (0.1 if y[0] > limit else 0.0)], y0=[2.0, 0.0], p={"c": 0.5})
    best = np.inf
    for _ in range(max(rounds, 3)):
        began = time.perf_counter()
        tg.sweep(model, (0.0, 20.0), {"c": np.linspace(0.5, 2.0, RUNS)}, workers=1, progress=False, method="taylor", rtol=RTOL, atol=1e-2 * RTOL)
        best = min(best, 1e6 * (time.perf_counter() - began) / RUNS)
    return best


def microseconds_of_both(model: SweptModel, rounds: int) -> tuple[float, float]:
    """tidegate's time a run, and heyoka's.

    Raises
    ------
    ImportError : heyoka is not installed.
    """
    runs = model.own(), model.rival()
    own, other = (run() for run in runs)
    size = np.abs(other).max()
    if not np.abs(own - other).max() <= _AGREE * size:
        raise RuntimeError(f"{model.title}: the two programs disagree by {np.abs(own - other).max():g}")
    best = [np.inf, np.inf]
    for _ in range(max(rounds, 3)):
        for k, run in enumerate(runs):
            began = time.perf_counter()
            run()
            best[k] = min(best[k], 1e6 * (time.perf_counter() - began) / RUNS)
    return best[0], best[1]
