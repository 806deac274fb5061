"""Ctrl-C ends a run at once and leaves the result so far, whether the time goes into native code or into the user's Python."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import tidegate as tg

PROGRAM = """
import signal, time
import tidegate as tg

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have inherited "ignore"
{model}
run = tg.prepare(model, (0.0, 1e12), dense=False, outputs=[0.0, 1e12], progress=lambda t: print("running", flush=True))
try:
    run.run()
except KeyboardInterrupt as error:
    print(type(error).__name__, error.result.status, error.time > 0, flush=True)
"""
NATIVE = "model = tg.ode(lambda t, y: [y[1], -y[0]], y0=[1.0, 0.0])"
OPAQUE = """
def pull(x):
    time.sleep(0.001)
    return -x

pull = tg.opaque(pull)
model = tg.ode(lambda t, y: [y[1], pull(y[0])], y0=[1.0, 0.0])
"""


@pytest.mark.slow
@pytest.mark.parametrize("model", [NATIVE, OPAQUE], ids=["native", "opaque"])
def test_ctrl_c_keeps_the_result(model: str) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM.format(model=model)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
        finally:
            process.kill()
    assert rest.splitlines()[-1] == "InterruptedRunError failed True"


SPAN = 6e4  # so long does Drip run that what comes before and after its run is next to nothing


class Drip(tg.Component):
    level = tg.State(1.0)
    drops = tg.Discrete(0.0)

    def equations(self):
        yield tg.der(self.level) == -self.level

    @tg.when(lambda self: self.level < 0.5)
    def fill(self):
        return {self.level: 1.0, self.drops: tg.pre(self.drops) + 1.0}


def interrupted(run: Callable[[], tg.Result], delay: float) -> tuple[tg.Result | None, BaseException | None]:
    """What a deed returns or raises when a real SIGINT reaches this process so long after it began."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(delay, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    result: tg.Result | None = None
    try:
        timer.start()
        result = run()
        timer.join()
        time.sleep(1.0)  # it comes here
    except KeyboardInterrupt as error:
        return result, error
    finally:
        signal.signal(signal.SIGINT, before)
    raise AssertionError("the signal did not come")


def is_beginning_of(part: tg.Result, whole: tg.Result) -> bool:
    n, k = len(part.t), len(part.events)
    return bool(
        np.array_equal(part.t, whole.t[:n])
        and np.array_equal(part.values, whole.values[:n])
        and part.events.times.tolist() == whole.events.times[:k].tolist()
        and k >= np.sum(whole.events.times < part.t[-1])  # no event before the last row is missing
        and len(part.interpolant) == np.searchsorted(whole.interpolant.starts, part.t[-1])  # and no step
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["events", "rows", "segment"])
def test_ctrl_c_at_any_moment_loses_nothing(kind: str) -> None:
    """Also while rows are collected and the result is put together, which is half the time of the second."""
    sine = tg.ode(lambda t, y: [y[1], -y[0]], y0=[1.0, 0.0], outputs=lambda t, y: {"sum": y[0] + y[1]})
    prepared = tg.prepare(Drip(), (0.0, SPAN)) if kind != "rows" else tg.prepare(sine, (0.0, 30.0), outputs=np.linspace(0.0, 30.0, 1_000_001))

    there: list[tg.Simulation] = []

    def deed() -> Callable[[], tg.Result]:
        if kind != "segment":
            return prepared.run
        simulation = tg.Simulation(Drip())
        there.append(simulation)
        simulation.advance(1.0)  # so that what is left is the run alone

        def rest() -> tg.Result:
            simulation.advance(SPAN)
            return simulation.result

        return rest

    deed()()
    run = deed()
    began = time.perf_counter()
    whole = run()
    length = time.perf_counter() - began
    chance = random.Random(7)
    found = [interrupted(deed(), chance.uniform(0.1, 1.1) * length) for _ in range(12)]
    stopped = [error for _, error in found if isinstance(error, tg.InterruptedRunError)]
    assert len(stopped) > 3
    assert all(is_beginning_of(error.result, whole) for error in stopped)
    # bare, where nothing is computed yet or the result has been handed over
    lost = [k for k, (result, error) in enumerate(found) if result is None and not isinstance(error, tg.InterruptedRunError)]
    # a simulation keeps what it was asked for when the signal came, and gives it when it is asked again
    assert len([k for k in lost if not there or not is_beginning_of(there[k + 2].result, whole)]) <= 1


@pytest.mark.slow
def test_a_guarded_sweep_ends_with_ctrl_c() -> None:
    model = tg.prepare(Drip(), (0.0, 100.0))
    ran: list[int] = []

    def sweep() -> tg.Result:
        for k in range(100_000):
            try:
                model.run()
            except Exception:  # noqa: BLE001 - what a sweep does that goes on after failures
                continue
            ran.append(k)
        raise AssertionError("nothing ended it")

    _, error = interrupted(sweep, 0.2)
    assert isinstance(error, KeyboardInterrupt)
    assert not isinstance(error, Exception)
    assert len(ran) < 100_000


@pytest.mark.slow
def test_ctrl_c_in_a_function_of_the_user_is_raised_there_at_once() -> None:
    ended: list[bool] = []
    running = False

    def slow(x: float) -> float:
        if running:
            time.sleep(20.0)
            ended.append(True)
        return -x

    function = tg.opaque(slow, n_outputs=1)
    ready = tg.prepare(tg.ode(lambda t, y: [function(y["x"])], y0={"x": 1.0}), (0, 1))
    ready.run()
    running = True
    _, error = interrupted(ready.run, 0.5)
    assert isinstance(error, tg.InterruptedRunError)
    assert error.result.status == "failed"
    assert not ended


def test_the_user_s_own_handler_is_asked_and_is_there_again_afterwards() -> None:
    came: list[int] = []
    model = tg.ode(lambda t, y: [y[1], -y[0]], y0=[1.0, 0.0])

    def note(number: int, _frame: object) -> None:
        came.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        result = tg.simulate(model, (0, 10), progress=lambda t: signal.raise_signal(signal.SIGINT))
        assert signal.getsignal(signal.SIGINT) is note
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.status == "finished"
    assert signal.SIGINT in came
