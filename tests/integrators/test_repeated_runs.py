"""Machine code of a model alone gives what the kernel entries give, to the last bit, and comes by itself where runs are repeated."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from random_automata import TICKS, Light, automaton_source
from tidegate.executive.run import Prepared
from tidegate.integrators import repeated_runs
from tidegate.integrators.packed_run import PackedRuns
from written_source import space_of


def _ball() -> Any:
    bounce = tg.event(lambda t, y, p: y["h"] < 0.0, reset=lambda t, y, p: {"h": 0.0, "v": -p["e"] * y["v"]})
    return tg.ode(lambda t, y, p: {"h": y["v"], "v": -p["g"]}, y0={"h": 1.0, "v": 0.0}, p={"e": 0.9, "g": 9.81}, events=bounce)


def _powers() -> Any:
    """Powers that LLVM would write as products, functions of the library, a table, a curved guard that reads the time."""

    def rates(t: float, y: Any, p: Any) -> dict[str, Any]:
        rise = p["k"] * (1.0 + np.interp(y["a"], [0.0, 0.5, 2.0, 4.0], [0.1, 0.4, 0.3, 0.9]))
        return {
            "a": rise - y["a"] ** 2.0 * (y["b"] + 3.0) ** 0.5 + math.tanh(y["b"]),
            "b": math.sin(3.0 * t) - y["b"] ** 3.0 + math.exp(-(y["a"] ** p["n"])),
        }

    high = tg.event(lambda t, y, p: y["a"] * y["b"] + 0.2 * math.cos(5.0 * t) > 0.3, reset=lambda t, y, p: {"b": -0.5 * y["b"]})
    return tg.ode(rates, y0={"a": 0.3, "b": 0.1}, p={"k": 1.3, "n": 2.0}, events=high)


def _packed(prepared: Prepared) -> PackedRuns:
    packed = prepared._spare[-1].packed_runs
    assert packed is not None
    return packed


def _both(prepared: Prepared) -> tuple[bytes, bytes]:
    """What is written down of a run by the entries, and by machine code of the model alone."""
    prepared.run()
    prepared.run()
    packed = _packed(prepared)
    packed._until_look = repeated_runs.NEVER
    before = packed.run()
    assert not isinstance(before, int)
    before = bytes(before)
    address = packed._places[0]
    assert prepared.compile() is prepared
    assert _packed(prepared) is packed
    assert packed._places[0] != address
    after = packed.run()
    assert not isinstance(after, int)
    return before, bytes(after)


@pytest.mark.parametrize(("model", "t_end"), [(_ball, 3.5), pytest.param(_powers, 2.0, marks=pytest.mark.slow)])
def test_results_are_the_same_to_the_last_bit(model: Callable[[], Any], t_end: float) -> None:
    prepared = tg.prepare(model(), (0.0, t_end), rtol=1e-8, atol=1e-10, sensitivities="all")
    before, after = _both(prepared)
    assert len(before) > 2000
    assert before == after


@pytest.mark.slow  # ten seconds of compiling each
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.hunt) for seed in range(1, 3))])
def test_random_automata_give_the_same_to_the_last_bit(seed: int) -> None:
    model = space_of(automaton_source(seed), f"<automaton {seed}>", tg=tg, Light=Light)["model"]
    before, after = _both(tg.prepare(model, (0.0, TICKS + 0.5), rtol=1e-7, atol=1e-9))
    assert before == after


@pytest.mark.slow
def test_other_parameters_run_by_the_same_code() -> None:
    prepared = tg.prepare(_ball(), (0.0, 3.5)).compile()
    packed = _packed(prepared)
    other = prepared.with_parameters(e=0.8)
    assert other.run().events.times == pytest.approx(tg.simulate(_ball(), (0.0, 3.5), parameters={"e": 0.8}).events.times, abs=0.0)
    assert _packed(other) is packed


@pytest.mark.slow
def test_repeated_runs_get_it_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_runs, "_LOOK_FOR", 0.0)
    prepared = tg.prepare(_ball(), (0.0, 3.125), rtol=1e-7)
    first = prepared.run()
    prepared.run()
    packed = _packed(prepared)
    packed._own_code._patience = 0.0
    address, last = packed._places[0], time.monotonic() + 120.0
    while packed._places[0] == address and time.monotonic() < last:
        result = prepared.run()
        assert np.array_equal(result.values, first.values)
    assert packed._places[0] != address
    result = prepared.run()
    assert np.array_equal(result.values, first.values)
    assert result.events.times.tolist() == first.events.times.tolist()
    # and another process would find it on disk
    assert packed._own_code._making is not None
    assert packed._own_code._making._path.exists()


def test_runs_go_on_where_it_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(_program: list[str], **options: Any) -> Any:
        return begin([repeated_runs.sys.executable, "-c", "raise SystemExit('no room')"], **options)

    begin = subprocess.Popen
    monkeypatch.setattr(repeated_runs, "safe_directory", lambda: tmp_path)
    monkeypatch.setattr(repeated_runs, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(repeated_runs.subprocess, "Popen", fails)
    monkeypatch.setattr(repeated_runs, "_known", {})  # other tests have asked for the same
    prepared = tg.prepare(_ball(), (0.0, 2.875))
    prepared.run()
    with pytest.raises(tg.TidegateError, match=r"no machine code of its own could be made: no room\n.*runs go on without it"):
        prepared.compile()
    assert prepared.run().status == "finished"
    packed = _packed(prepared)
    packed._until_look = 1
    for _ in range(3):
        prepared.run()
    assert packed._until_look > repeated_runs.NEVER - 10


def test_a_place_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(repeated_runs, "safe_directory", lambda: tmp_path / "file")
    monkeypatch.setattr(repeated_runs, "_known", {})  # other tests have asked for the same
    prepared = tg.prepare(_ball(), (0.0, 2.75))
    for _ in range(2):
        with pytest.raises(tg.TidegateError, match=r"no machine code of its own could be made: .*directory"):
            prepared.compile()
    assert prepared.run().status == "finished"


def test_runs_that_python_takes_part_in_say_that_there_is_nothing_to_compile() -> None:
    prepared = tg.prepare(_ball(), (0.0, 1.0), max_steps=1000)
    with pytest.raises(tg.UsageError, match="not one call of machine code each"):
        prepared.compile()
    assert prepared.run().status == "finished"


@pytest.mark.hunt
@pytest.mark.parametrize("sensitivities", [None, ["e"]], ids=["side by side", "one after the other"])
def test_several_runs_get_it_too(monkeypatch: pytest.MonkeyPatch, sensitivities: list[str] | None) -> None:
    values = np.linspace(0.5, 0.9, 300)

    def study() -> Any:
        options: dict[str, Any] = {"rtol": 1e-7, "sensitivities": sensitivities, "progress": False}
        return tg.sweep(_ball(), (0.0, 2.5), {"e": values}, workers=1, **options)

    before, linked = study(), []
    link = repeated_runs._Making._link

    def noted(making: Any, code: bytes) -> None:
        linked.append(making)
        link(making, code)

    monkeypatch.setattr(repeated_runs, "_LOOK_FOR", 0.0)
    monkeypatch.setattr(repeated_runs, "_WHERE_ALL_ARE_BUSY", 0.0)
    monkeypatch.setattr(repeated_runs._Making, "_link", noted)
    last = time.monotonic() + 120.0
    while not linked and time.monotonic() < last:
        assert study().identical(before)
    assert linked
    assert study().identical(before)
