"""Random rings of ``random_rings`` in Python move as the angle of their pendulum does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tidegate as tg
from constrained_systems import FORMS
from random_rings import T_END, Link, Ring


def check(seed: int, form: str, method: str = "radau", **options: Any) -> str:
    """What is wrong with a run; nothing if all is right."""
    ring = Ring.random(seed)
    result = tg.simulate(ring.connection(), (0, T_END), rtol=1e-8, hdae=form, method=method, make_consistent=True, **options)
    names = ["p.P[0]", "p.P[1]", "p.V[0]", "p.V[1]", *(f"b{k}.X" for k in range(len(ring.links)))]
    found = np.array([float(result.final[name]) for name in names])
    gap = float(np.max(np.abs(found - ring.final())))
    return "" if gap < 3e-6 else f"seed {seed}, {form}, {method}: off by {gap:.1e}"


@pytest.mark.hunt
@pytest.mark.parametrize("share", range(2))
def test_rings_of_pendulums_daes_and_rates_move_as_their_angles_do(share: int) -> None:
    assert [text for seed in range(share, 10, 2) if (text := check(seed, FORMS[seed % 5]))] == []


@pytest.mark.hunt
def test_rings_that_are_called_move_as_those_that_are_followed() -> None:
    assert [text for seed in (1,) if (text := check(seed, "index1_stabilised", traced=False))] == []


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_a_dae_beside_a_pendulum_moves_as_the_angle_does(method: str) -> None:
    assert check(1, "index1_stabilised", method) == ""


@pytest.mark.slow
def test_a_circle_through_derivatives_without_a_solution_is_refused_by_name() -> None:
    # the acceleration is u + ..., and what drives u is the acceleration: nothing determines it
    link = Link(False, (1.0, -1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    with pytest.raises(tg.SingularSystemError, match=r"p\.U|b0\.U"):
        tg.simulate(Ring(0.5, True, (link,)).connection(), (0, T_END), make_consistent=True)
