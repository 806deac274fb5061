"""A run begins again in the memory of the last one, whatever that left in arrays that are said to be written before they are read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled.schema import FIELDS, WRITTEN_FIRST
from tidegate.integrators.native_run import NativeRun

METHODS = ("taylor", "radau", "rodas5p", "bdf", "adams", "ida", "rke")


def _ball() -> Any:
    bounce = tg.event(lambda t, y, p: y["h"] < 0.0, reset=lambda t, y, p: {"v": -p["e"] * y["v"]})
    return tg.ode(lambda t, y, p: {"h": y["v"], "v": -p["g"]}, {"h": 1.0, "v": 0.0}, p={"g": 9.81, "e": 0.8}, events=bounce)


def _curved() -> Any:
    level = tg.event(lambda t, y: y["a"] * y["b"] > 0.3, reset=lambda t, y: {"b": -0.5 * y["b"]})
    return tg.ode(lambda t, y: {"a": -1000.0 * (y["a"] - np.cos(t)), "b": y["a"]}, {"a": 0.0, "b": 0.0}, events=level)


def _peak() -> Any:
    return tg.ode(lambda t, y: {"x": np.exp(-(((t - 1.7) / 1e-3) ** 2)) - 0.1 * y["x"] / (1.2 + np.sin(t))}, {"x": 0.0})


def _algebraic() -> Any:
    return tg.dae(
        lambda t, y, yd: {"x": yd["x"] + y["z"] - np.sin(t), "z": y["z"] + 0.1 * y["z"] ** 3 - y["x"]}, {"x": 1.0, "z": 0.0},
        events=tg.event(lambda t, y: y["x"] * y["z"] > 0.5),
    )  # fmt: skip


MODELS = {"ball": (_ball, 2.5), "curved guard": (_curved, 5.0), "peak": (_peak, 3.0), "algebraic": (_algebraic, 5.0)}


def _filled(run: NativeRun, value: float) -> None:
    """Leave something in these arrays."""
    for field in FIELDS:
        if field.name in WRITTEN_FIRST:
            offset, size = run._work.extent(field.name)
            if offset < len(run._work.r):  # others belong to methods that this memory is not for
                run._work.r[offset : offset + size] = value


@contextmanager
def _with_leftovers(value: float) -> Iterator[None]:
    made, reset = NativeRun.__init__, NativeRun.reset

    def make(self: NativeRun, *given: Any) -> None:
        made(self, *given)
        _filled(self, value)

    def go_back(self: NativeRun) -> None:
        reset(self)
        _filled(self, value)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(NativeRun, "__init__", make)
        patched.setattr(NativeRun, "reset", go_back)
        yield


def _outcome(name: str, method: str) -> Any:
    model, end = MODELS[name][0](), MODELS[name][1]
    try:
        run = tg.prepare(model, (0.0, end), method=method, rtol=1e-6, sensitivities="all" if name == "ball" else None)
        results = [run.run() for _ in range(2)]
    except tg.TidegateError as error:
        return str(error)
    return [(one.t.tobytes(), one.values.tobytes(), one.events.times.tobytes(), str(one.sensitivities)) for one in results]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MODELS)
def test_what_is_left_in_memory_makes_no_difference(name: str, method: str) -> None:
    expected = _outcome(name, method)
    for value in (math.nan, 1e300):
        with _with_leftovers(value):
            assert _outcome(name, method) == expected, value
