"""Dates and lengths of time are no numbers of a model: numpy would make microseconds of them without a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import tidegate as tg

VALUES = np.array([1.0, 0.4, 0.1, 0.05])
NUMBERS = np.arange(4.0)


def model() -> Any:
    return tg.ode(lambda t, y, p: [-p["k"] * y["x"] + p["u"]], y0={"x": 1.0}, p={"k": 1.0, "u": 0.0})


DATES = pd.date_range("2020-01-01", periods=4, freq="s")
GIVEN = {
    "dates": DATES,
    "dates of numpy": DATES.to_numpy(),
    "whole seconds": DATES.to_numpy().astype("M8[s]"),
    "a list of dates": list(DATES),
    "lengths": DATES - DATES[0],
    "lengths of numpy": (DATES - DATES[0]).to_numpy(),
}
ASKED = {
    "fit, a pair": lambda x: tg.fit(model(), {"x": (x, VALUES)}, ["k"]),
    "fit, a table": lambda x: tg.fit(model(), pd.DataFrame({"x": VALUES, "time": x}), ["k"]),
    "fit, its index": lambda x: tg.fit(model(), pd.DataFrame({"x": VALUES}, index=x), ["k"]),
    "fit, a dataset": lambda x: tg.fit(model(), xr.Dataset({"x": ("time", VALUES)}, coords={"time": x}), ["k"]),
    "fit, values": lambda x: tg.fit(model(), {"x": (NUMBERS, x)}, ["k"]),
    "fit, sigma": lambda x: tg.fit(model(), {"x": (NUMBERS, VALUES)}, ["k"], sigma=x),
    "fit, events": lambda x: tg.fit(model(), {"x": (NUMBERS, VALUES)}, ["k"], events={"x": x}),
    "an input": lambda x: tg.simulate(model(), (0, 3), inputs={"u": (x, VALUES)}),
    "an input's values": lambda x: tg.simulate(model(), (0, 3), inputs={"u": (NUMBERS, x)}),
    "a table": lambda x: tg.table(x, VALUES),
    "a table's values": lambda x: tg.table(NUMBERS, x),
    "a source": lambda x: tg.blocks.TableSource(x, VALUES),
    "a block": lambda x: tg.blocks.StateSpace([[1.0]], [[1.0]], [[1.0]], start=x),
    "outputs": lambda x: tg.simulate(model(), (0, 3), outputs=x),
    "a span": lambda x: tg.simulate(model(), (x[0], x[3])),
    "a parameter": lambda x: tg.simulate(model(), (0, 1), parameters={"k": x[1]}),
    "a start": lambda x: tg.simulate(model(), (0, 1), y0={"x": x[1]}),
    "starts": lambda x: tg.ode(lambda t, y: -y, y0=x),
    "a sweep": lambda x: tg.sweep(model(), (0, 1), grid={"k": x}),
    "solve_ivp": lambda x: tg.solve_ivp(lambda t, y: -y, (0, 3), [1.0], t_eval=x),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_dates_are_refused_wherever_numbers_are_wanted(asked: Any) -> None:
    for given in GIVEN.values():
        with pytest.raises(tg.TidegateError):
            asked(given)


def test_the_advice_works() -> None:
    seconds = (DATES - DATES[0]) / np.timedelta64(1, "s")
    with pytest.raises(tg.UsageError, match="are dates, and a model's time is a number") as caught:
        tg.table(DATES, VALUES)
    assert caught.value.hint.endswith('(dates - dates[0]) / np.timedelta64(1, "s")')
    assert tg.table(seconds, VALUES).x == (0.0, 1.0, 2.0, 3.0)
