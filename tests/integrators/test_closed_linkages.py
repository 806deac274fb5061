"""Linkages that close, with events, solved in all five forms: as the angle of the crank says, derivatives by parameters as well."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate as tg
from closed_linkages import Linkage
from constrained_systems import FORMS

_END = 3.0


@cache
def linkage(seed: int) -> tuple[Linkage, Any, NDArray[np.float64], int]:
    """A linkage, its model, where it is at the end, and how many events there are."""
    found = Linkage.random(np.random.default_rng(seed))
    truth, happened = found.final(_END)
    return found, tg.hdae(**found.functions()), truth, len(happened)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["radau", "ida"])
@pytest.mark.parametrize("form", FORMS)
def test_four_bars_and_slider_cranks_move_as_the_angle_of_the_crank_says(form: str, method: str) -> None:
    for seed in (200, 220):  # one of each kind
        found, model, truth, n_events = linkage(seed)
        result = tg.simulate(model, (0, _END), method=method, hdae=form, rtol=1e-7, make_consistent=True)
        assert len(result.events) == n_events
        # errors of positions are those of accelerations, integrated twice over the run
        assert [result.final[name] for name in found.names] == pytest.approx(truth, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("rtol", [4e-4, 1e-5, 2e-7])
def test_forces_that_are_corrected_behind_positions_do_not_stop_the_iteration(rtol: float) -> None:
    found, model, truth, n_events = linkage(371)
    for form in ("index2", "index2_stabilised"):
        result = tg.simulate(model, (0, _END), method="radau", hdae=form, rtol=rtol, make_consistent=True)
        assert len(result.events) == n_events
        assert [result.final[name] for name in found.names] == pytest.approx(truth, abs=300 * rtol)


@pytest.mark.hunt
@pytest.mark.parametrize("method", ["radau", "ida"])
def test_derivatives_of_linkages_are_those_of_differences(method: str) -> None:
    found, model, _, n_events = linkage(228)
    expected = {name: found.derivative(name, _END) for name in ("friction", "torque", "place")}
    for form in FORMS:
        result = tg.simulate(model, (0, _END), method=method, hdae=form, rtol=1e-8, make_consistent=True, sensitivities=list(expected))
        assert len(result.events) == n_events
        for name, slopes in expected.items():
            got = [float(result.sensitivity(one, name)[-1]) for one in found.names]
            assert got == pytest.approx(slopes, abs=2e-5 * (1 + abs(slopes).max()))
