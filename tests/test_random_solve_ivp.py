"""Random calls of ``solve_ivp`` end, stop, answer and are shaped as SciPy's own with short steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp as scipy_solve_ivp

import tidegate as tg
from random_ivp import RandomCall

__all__: list[str] = []

# SciPy finds one zero a step at most: its steps are short; both follow the motion to 1e-8, which zeros that are crossed slowly make more of
_TIMES, _VALUES = 3e-5, 1e-4


def check(seed: int) -> None:
    call = RandomCall(seed)
    theirs = scipy_solve_ivp(call.fun, call.t_span, call.y0, method="DOP853", rtol=1e-10, atol=1e-12, max_step=0.02, **call.options)
    mine = tg.solve_ivp(call.fun, call.t_span, call.y0, method=call.method, rtol=1e-9, atol=1e-11, **call.options)
    assert mine.status == theirs.status, call.text
    assert (mine.t_events is None) == (theirs.t_events is None)
    for times, values, their_times, their_values in zip(
        mine.t_events or (), mine.y_events or (), theirs.t_events or (), theirs.y_events or (), strict=True
    ):
        assert len(times) == len(their_times), (times, their_times, call.text)
        assert np.all(np.abs(np.asarray(times) - their_times) < _TIMES), call.text
        if len(times):
            assert values.shape == their_values.shape
            assert np.all(np.abs(values - their_values) < _VALUES), call.text
    if "t_eval" in call.options:
        assert np.shape(mine.t) == np.shape(theirs.t), call.text
        assert np.size(theirs.t) == 0 or np.all(np.abs(mine.y - theirs.y) < _VALUES), call.text
    else:
        assert abs(mine.t[-1] - theirs.t[-1]) < _TIMES, call.text
        assert np.all(np.abs(mine.y[:, -1] - theirs.y[:, -1]) < _VALUES), call.text
    ends = [abs(found.t[-1] - call.t_span[0]) if np.size(found.t) else 0.0 for found in (mine, theirs)]
    times = call.t_span[0] + np.sign(call.t_span[1] - call.t_span[0]) * np.linspace(0.0, min(ends), 7)
    assert np.all(np.abs(mine.sol(times) - theirs.sol(times)) < _VALUES), call.text


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_random_call_is_answered_as_by_scipy(seed: int) -> None:
    check(seed)


@pytest.mark.hunt
@pytest.mark.parametrize("seed", range(100, 120))
def test_more_random_calls_are_answered_as_by_scipy(seed: int) -> None:
    check(seed)
