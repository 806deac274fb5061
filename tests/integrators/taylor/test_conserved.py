"""What a solution keeps, runs by Taylor series must keep: the energy of Lorenz' ring without forcing, and of a chain of pendulums."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg

__all__: list[str] = []


def _free_ring(n: int) -> Any:
    """Lorenz' ring without damping and forcing, whose sum of squares stays; its rates in the form that loops over the order where n is large."""
    return tg.ode(lambda t, y: [(y[(i + 1) % n] - y[i - 2]) * y[i - 1] for i in range(n)], y0=[math.sin(3.0 * i + 1.0) for i in range(n)])


@pytest.mark.parametrize("n", [5, 20, 61])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-13])
def test_a_free_ring_keeps_its_energy(n: int, rtol: float) -> None:
    result = tg.simulate(_free_ring(n), (0.0, 10.0), method="taylor", rtol=rtol, atol=0.01 * rtol)
    y: NDArray[np.float64] = np.array([np.asarray(result[f"y[{i}]"]) for i in range(n)])
    energy: NDArray[np.float64] = (y * y).sum(axis=0)
    assert energy == pytest.approx(float(energy[0]), rel=100 * rtol)


def _chain(n: int) -> Any:
    def rates(t: float, y: Any) -> list[Any]:
        angle, rate = y[:n], y[n:]
        pulls = [np.sin(angle[k + 1] - angle[k]) if k + 1 < n else 0.0 for k in range(n)]
        return [*rate, *[-np.sin(angle[k]) + pulls[k] - (pulls[k - 1] if k > 0 else 0.0) for k in range(n)]]

    return tg.ode(rates, y0=[0.5 + 0.1 * k for k in range(n)] + [0.0] * n)


@pytest.mark.parametrize("n", [2, 10])
@pytest.mark.parametrize("rtol", [1e-7, 1e-12])
def test_a_chain_of_pendulums_keeps_its_energy(n: int, rtol: float) -> None:
    result = tg.simulate(_chain(n), (0.0, 20.0), method="taylor", rtol=rtol, atol=0.01 * rtol)
    y: NDArray[np.float64] = np.array([np.asarray(result[f"y[{k}]"]) for k in range(2 * n)])
    energy: NDArray[np.float64] = (0.5 * y[n:] ** 2 - np.cos(y[:n])).sum(axis=0) - np.cos(np.diff(y[:n], axis=0)).sum(axis=0)
    assert energy == pytest.approx(float(energy[0]), abs=1000 * n * rtol)


def _swing(t: float, y: Any) -> list[Any]:
    return [y["v"], -y["x"]]


@pytest.mark.parametrize("t_start", [0.0, 1e6])
def test_times_of_steps_are_exact_sums_of_their_lengths_however_many_there_are(t_start: float) -> None:
    """No time is lost to rounding, as if it were summed up with a compensation: steps end where time can be told, and are as long as that."""
    model = tg.ode(_swing, y0={"x": 1.0, "v": 0.0})
    result = tg.simulate(model, (t_start, t_start + 3000.0), method="taylor", rtol=1e-9)
    steps = result.interpolant
    assert steps is not None
    starts, widths = (list(map(Fraction, array.tolist())) for array in (steps.starts, steps.widths))
    assert len(starts) > 1000
    # but for the first, of which time from zero has more digits than at their ends
    assert all(start + width == later for start, width, later in zip(starts, widths, starts[1:], strict=False) if start >= width)
    assert result.final["x"] == pytest.approx(math.cos(3000.0), abs=1e-6)
