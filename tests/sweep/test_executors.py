"""Runs of a sweep in other processes are the same to the last bit; each process makes machine code once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
import xarray as xr

import tidegate as tg
from random_models import Once
from tidegate.sweep import workers


class Tank(tg.Component):
    level = tg.State(0.0, unit="m")
    k = tg.Parameter(3.0)
    inflow = tg.Parameter(0.5)

    def equations(self):
        yield tg.der(self.level) == self.inflow - (self.k * (self.level - 1.0) if self.level > 1.0 else 0.0)


OPTIONS: dict[str, Any] = {"grid": {"k": [0.5, 1.0, 3.0], "inflow": [0.2, 0.5, 0.9, 2.0]}, "outputs": 0.5, "sensitivities": "k"}
T_SPAN = (0.0, 5.0)


@pytest.fixture(scope="module")
def alone() -> xr.Dataset:
    return tg.sweep(Once(Tank()), T_SPAN, workers=1, **OPTIONS)


@pytest.mark.slow
def test_threads_of_the_caller(alone: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bytes] = []
    here = workers._Here
    monkeypatch.setattr(workers, "_Here", lambda payload: made.append(payload) or here(payload))
    with ThreadPoolExecutor(3) as pool:
        xr.testing.assert_identical(tg.sweep(Tank(), T_SPAN, executor=pool, **OPTIONS), alone)
    assert len(made) == 1


def test_functions_without_a_name_go_along() -> None:
    scale = 2.0
    model = tg.ode(lambda t, y, p: [-p["k"] * scale * y["x"]], y0={"x": 1.0}, p={"k": 1.0})
    here = tg.sweep(model, (0.0, 1.0), grid={"k": [0.5, 1.0]})
    with ThreadPoolExecutor(2) as pool:
        xr.testing.assert_identical(tg.sweep(model, (0.0, 1.0), grid={"k": [0.5, 1.0]}, executor=pool), here)


def test_what_cannot_be_sent_is_told() -> None:
    outside = tg.opaque(lambda x: -x)
    model = tg.ode(lambda t, y, p: [p["k"] * outside(y["x"])], y0={"x": 1.0}, p={"k": 1.0})
    with ThreadPoolExecutor(2) as pool, pytest.raises(tg.UsageError, match="cannot be sent to other processes"):
        tg.sweep(model, (0.0, 1.0), grid={"k": [0.5, 1.0]}, executor=pool)


@pytest.mark.slow
def test_processes(alone: xr.Dataset) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        xr.testing.assert_identical(tg.sweep(Tank(), T_SPAN, executor=pool, **OPTIONS), alone)


@pytest.fixture
def client() -> Iterator[Any]:
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of another package, about its own ports and sockets
def test_a_dask_cluster_of_two_processes(alone: xr.Dataset, client: Any) -> None:
    found = tg.sweep(Tank(), T_SPAN, executor=client, **OPTIONS)
    xr.testing.assert_identical(found, alone)
