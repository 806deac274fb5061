"""A sweep compared with the loop of single runs that it stands for, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

import tidegate as tg

__all__ = ["assert_is_the_loop", "looped"]


def looped(model: Any, rows: Sequence[Mapping[str, Any]], t_span: tuple[float, float], **options: Any) -> list[tg.Result]:
    results: list[tg.Result] = []
    for row in rows:
        try:
            results.append(tg.simulate(model, t_span, parameters=row, **options))
        except tg.RunError as error:
            results.append(error.result)
    return results


def assert_is_the_loop(found: xr.Dataset, results: Sequence[tg.Result], names: Sequence[str]) -> None:
    """Members along one dimension, values at times or at the end, sensitivities, events."""
    (dim,) = found["status"].dims
    assert found[names[0]].dims[0] == dim
    held = {str(name): found[name].values for name in found.variables}
    at_end = "time" not in found.dims
    last = np.cumsum(held["event_count"])
    for k, result in enumerate(results):
        assert held["status"][k] == result.status
        n = 1 if at_end else len(result.t)
        for name in names:
            expected = np.atleast_1d(result.values[-1 if at_end else slice(None), result.column(name)])
            if result.status == "failed" and at_end:
                expected = np.array([np.nan])
            own = np.atleast_1d(held[name][k])
            assert own[:n].tobytes() == expected.tobytes(), name
            assert np.isnan(own[n:]).all()
            if result.sensitivities is not None and result.status != "failed":
                slopes = held[f"d_{name}"][k].reshape(-1, len(result.sensitivity_parameters))
                expected = np.atleast_2d(result.sensitivities[-1 if at_end else slice(None), :, result.column(name)])
                assert slopes[:n].tobytes() == expected.tobytes()
        events = slice(last[k] - held["event_count"][k], last[k])
        assert held["event_time"][events].tobytes() == result.events.times.tobytes()
        assert held["event_kind"][events].tolist() == [event.kind for event in result.events]
        assert held["event_cause"][events].tolist() == [event.cause for event in result.events]
        assert (held["event_member"][events] == k).all()
        if "event_dt_dp" in found:
            expected = [[event.dt_dp[name] for name in result.sensitivity_parameters] for event in result.events]
            np.testing.assert_array_equal(held["event_dt_dp"][events], np.array(expected).reshape(-1, len(result.sensitivity_parameters)))
    assert last[-1] == found.sizes["event"]
