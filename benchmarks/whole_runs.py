"""What is not a comparison of solvers: microseconds an event, a cold start, and two runs in two threads."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
import threading
import time
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from numba import njit
from scipy.integrate import solve_ivp

from benchmarks.own import load, prepare_with
from benchmarks.problems import GOLDEN, Vector

__all__ = [
    "buck_microseconds",
    "cold_start_seconds",
    "free_cores_ratio",
    "overhead_microseconds",
    "scipy_buck_microseconds",
    "sweep_facts",
    "sweep_gains",
    "thread_ratio",
]

PERIOD: Final = 50e-6
SCIPY_PERIODS: Final = 60
ROOT: Final = Path(__file__).parents[1]
HASHED_BYTES: Final = 10**7  # about as long as a run of P8
TINY_RUNS: Final = 1000  # in a round
ENTER: Final = "_enter"  # where a run enters native code
SPARE, CALL = "_spare", "_copied"  # memory of a preparation's runs; where one that is run again enters it
SWEEP: Final = np.linspace(2.85, 2.95, 10_000)  # values of P2's parameter
SWEEP_ROUNDS: Final = 20  # for each round of others: two processors are seldom both left alone by neighbours


def buck_microseconds(rounds: int) -> float:
    """tidegate on P8, per event."""
    run = prepare_with("P8", 0.05, {"rtol": 1e-8, "atol": 1e-10})
    events = sum(event.kind not in ("initial", "final") for event in run().events)
    if events < GOLDEN["P8"]["n_events"]:
        raise AssertionError(f"{events} events instead of {GOLDEN['P8']['n_events']}")
    return 1e6 * median(_seconds(run) for _ in range(rounds)) / events


@njit
def _buck(t: float, y: Vector, on: bool, conducting: bool) -> Vector:
    out = np.zeros(2)
    if on:
        out[0] = (24.0 - y[1]) / 100e-6
    elif conducting:
        out[0] = -y[1] / 100e-6
    out[1] = (y[0] - y[1] / 40.0) / 100e-6
    return out


def scipy_buck_microseconds() -> float:
    """SciPy's RK45 on the first periods of P8, per event: a call for each half period, ended by the current's zero."""

    def empty(t: float, y: Vector, on: bool, conducting: bool) -> float:
        return float(y[0])

    empty.terminal = True  # type: ignore[attr-defined]
    empty.direction = -1.0  # type: ignore[attr-defined]

    def run() -> int:
        y, events = np.zeros(2), 0
        for k in range(2 * SCIPY_PERIODS):
            t, t_next, on, conducting = 0.5 * k * PERIOD, 0.5 * (k + 1) * PERIOD, k % 2 == 0, k % 2 == 1
            while True:
                guard = empty if conducting else None
                solution = solve_ivp(_buck, (t, t_next), y, rtol=1e-8, atol=1e-10, events=guard, args=(on, conducting))
                t, y = float(solution.t[-1]), solution.y[:, -1].copy()
                events += 1
                if solution.status != 1:
                    break
                y[0], conducting = 0.0, False
        return events

    run()
    began = time.perf_counter()
    events = run()
    return 1e6 * (time.perf_counter() - began) / events


def overhead_microseconds(rounds: int, *, event: bool) -> float:
    """A prepared run of one state, with one event or none: the fastest, less what was spent in native code during the same run."""
    import tidegate as tg

    halving = tg.event(lambda t, y: y[0] < 0.5, reset=lambda t, y: {0: 1.0})
    prepared = tg.prepare(tg.ode(lambda t, y: [-y[0]], y0=[1.0], events=[halving] if event else []), (0.0, 1.0))
    if len(prepared.run().events) != event:
        raise AssertionError(f"{len(prepared.run().events)} events")
    inside = 0.0

    def timed(call: Any) -> Any:
        def enter(*arguments: Any) -> int:
            nonlocal inside
            began = time.perf_counter()
            code: int = call(*arguments)
            inside += time.perf_counter() - began
            return code

        return enter

    prepared.run()
    (packed_runs,) = (integrator.packed_runs for integrator in getattr(prepared, SPARE))  # such a run is one call of native code
    call = getattr(packed_runs, CALL)
    best = math.inf
    try:
        setattr(packed_runs, CALL, timed(call))
        for _ in range(TINY_RUNS * rounds):
            inside = 0.0
            best = min(best, _seconds(prepared.run) - inside)
    finally:
        setattr(packed_runs, CALL, call)
    return 1e6 * best


def sweep_facts(rounds: int) -> tuple[float, float]:
    """A sweep of ten thousand runs of P2 by one thread: seconds of processor time; and microseconds of it a run that were not native."""
    import tidegate as tg

    inside = 0.0
    module: Any = import_module("tidegate.integrators.native_run").NativeRun
    enter = getattr(module, ENTER)

    def timed(*arguments: Any) -> int:
        nonlocal inside
        began = time.thread_time()
        code: int = enter(*arguments)
        inside += time.thread_time() - began
        return code

    best, outside = math.inf, math.inf
    try:
        setattr(module, ENTER, timed)
        for _ in range(rounds):
            inside, began = 0.0, time.process_time()
            tg.sweep(load("P2"), (0.0, 2.0), {"p": SWEEP}, workers=1, progress=False, rtol=1e-8)
            taken = time.process_time() - began
            best, outside = min(best, taken), min(outside, taken - inside)
    finally:
        setattr(module, ENTER, enter)
    return best, 1e6 * outside / len(SWEEP)


@cache
def sweep_gains(rounds: int) -> tuple[float, float]:
    """The same sweep: time of one thread over that of two threads, and over that of two processes with half of the runs each, which share
    nothing: what the machine gives. Of each the shortest, taken in turn: a neighbour on either processor is seen in the last two only.
    """
    best = {"one": math.inf, "threads": math.inf, "processes": math.inf}
    spawn = get_context("spawn")
    pipes = [spawn.Pipe() for _ in range(2)]
    helpers = [spawn.Process(target=_sweep_when_told, args=(theirs, half), daemon=True) for half, (_, theirs) in enumerate(pipes)]
    for helper in helpers:
        helper.start()
    ours = [own for own, _ in pipes]
    for own in ours:
        own.recv()
    _swept(SWEEP, 2)
    for _ in range(SWEEP_ROUNDS * rounds):
        best["one"] = min(best["one"], _swept(SWEEP, 1))
        best["threads"] = min(best["threads"], _swept(SWEEP, 2))
        for own in ours:
            own.send(True)
        best["processes"] = min(best["processes"], max(own.recv() for own in ours))
    for own in ours:
        own.send(False)
    return best["one"] / best["threads"], best["one"] / best["processes"]


def _swept(values: Vector, workers: int) -> float:
    """Seconds of a sweep over P2's parameter."""
    import tidegate as tg

    model = load("P2")
    return _seconds(lambda: tg.sweep(model, (0.0, 2.0), {"p": values}, workers=workers, progress=False, rtol=1e-8))


def _sweep_when_told(told: Any, half: int) -> None:
    """In a process of its own: half of the sweep, when it is asked for; out go its seconds."""
    values = np.array_split(SWEEP, 2)[half]
    _swept(values, 1)
    told.send(0.0)
    while told.recv():
        told.send(_swept(values, 1))


def _seconds(run: Any) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def cold_start_seconds(rounds: int) -> float:
    """``tidegate run`` on P1 in a fresh process, after one that filled the cache."""
    command = [str(Path(sys.executable).with_name("tidegate")), "run", "examples/bouncing_ball.py", "--until", "3.5"]
    # an installed package has its bytecode, of which this variable would make nothing in a checkout
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        done = subprocess.run(command, cwd=ROOT, env=variables, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"tidegate run ended with status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")

    run()
    return median(_seconds(run) for _ in range(rounds))


def thread_ratio(rounds: int) -> float:
    """tidegate on P8: time of two threads that each do the same work, over the time of one."""
    return _ratio([prepare_with("P8", 0.05, {"rtol": 1e-8, "atol": 1e-10}) for _ in range(2)], rounds)


def free_cores_ratio(rounds: int) -> float:
    """The same for work that never needs Python: how far above 1 the machine itself is, whose cores may be busy."""
    return _ratio([lambda: hashlib.sha256(bytes(HASHED_BYTES)).digest()] * 2, rounds)


def _ratio(runs: list[Any], rounds: int, repeats: int = 20) -> float:
    for run in runs:
        run()

    def work(run: Any) -> None:
        for _ in range(repeats):
            run()

    def together(count: int) -> float:
        threads = [threading.Thread(target=work, args=(run,)) for run in runs[:count]]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - began

    pairs = [(together(2), together(1)) for _ in range(rounds)]
    return median(two for two, _ in pairs) / median(one for _, one in pairs)
