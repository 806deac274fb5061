"""Large models: heat in a rod and in a plate, a row of ten thousand unknowns, and what others take for them, in turn within one process.

The truth is a closed form: the plate begins as a sum of modes of the discrete Laplacian, each of which decays by itself. Of every competitor the
fastest run counts whose error at the end is at most ``ERROR``.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tidegate as tg
from benchmarks.problems import Vector

__all__ = ["plate_ratios", "rod_milliseconds", "row_of_ten_thousand"]

ERROR = 1e-6
SIDE = 50
END = 0.05
RTOLS = (1e-4, 1e-5, 1e-6, 1e-7)
MODES = ((1, 1, 1.0), (2, 1, 0.7), (3, 4, 0.4), (7, 5, 0.2))
Run = Callable[[], Vector]


def _rod(n: int) -> Any:
    scale = (n + 1.0) ** 2

    def heat(_t: float, y: Any) -> list[Any]:
        u = [0.0, *y, 0.0]
        return [scale * (u[i - 1] - 2.0 * u[i] + u[i + 1]) for i in range(1, n + 1)]

    return tg.ode(heat, y0={"u": np.sin(np.pi * np.arange(1, n + 1) / (n + 1))}, check_units=False)


def rod_milliseconds(rounds: int) -> float:
    """Five hundred cells, to the end, by the default method and tolerances."""
    run = tg.prepare(_rod(500), (0.0, 0.1))
    return 1e3 * min(_seconds(run.run) for _ in range(max(rounds, 2)))


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _plate(n: int) -> tuple[Vector, Vector]:
    """Start and exact end."""
    at = np.arange(1, n + 1) / (n + 1)
    start, end = np.zeros((n, n)), np.zeros((n, n))
    for j, k, size in MODES:
        shape = size * np.outer(np.sin(j * np.pi * at), np.sin(k * np.pi * at))
        rate = 4.0 * (n + 1) ** 2 * sum(math.sin(m * math.pi / (2 * (n + 1))) ** 2 for m in (j, k))
        start += shape
        end += shape * math.exp(-rate * END)
    return start.ravel(), end.ravel()


def _couplings(n: int) -> Iterator[tuple[int, int, float]]:
    """Rows, columns and values of the discrete Laplacian."""
    scale = (n + 1.0) ** 2
    for i in range(n):
        for j in range(n):
            yield i * n + j, i * n + j, -4.0 * scale
            for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if 0 <= a < n and 0 <= b < n:
                    yield i * n + j, a * n + b, scale


def _tidegate_runs(start: Vector) -> Iterator[tuple[str, float, Run]]:
    rows: list[list[tuple[int, float]]] = [[] for _ in start]
    for i, j, value in _couplings(SIDE):
        rows[i].append((j, value))
    model = tg.ode(lambda _t, y: [sum(value * y[j] for j, value in row) for row in rows], y0={"u": start}, check_units=False)
    for method in ("radau", "bdf"):
        for rtol in RTOLS:
            prepared = tg.prepare(model, (0.0, END), method=method, rtol=rtol, atol=rtol, outputs=[END], dense=False)
            yield f"tidegate {method}", rtol, lambda prepared=prepared: np.asarray(prepared.run()["u"])[-1]


def _scipy_runs(start: Vector) -> Iterator[tuple[str, float, Run]]:
    from scipy.integrate import solve_ivp
    from scipy.sparse import csr_matrix

    i, j, values = zip(*_couplings(SIDE), strict=True)
    matrix: Any = csr_matrix((values, (i, j)))
    banded = np.zeros((2 * SIDE + 1, len(start)))
    for a, b, value in _couplings(SIDE):
        banded[SIDE + a - b, b] = value
    for rtol in RTOLS:
        tolerances = {"rtol": rtol, "atol": rtol, "t_eval": [END]}
        lsoda = {"method": "LSODA", "lband": SIDE, "uband": SIDE, "jac": lambda _t, _y: banded}
        bdf = {"method": "BDF", "jac": matrix}
        for name, options in (("SciPy LSODA, banded", lsoda), ("SciPy BDF, sparse", bdf)):
            yield (
                name,
                rtol,
                lambda options=options, tolerances=tolerances: solve_ivp(lambda _t, y: matrix @ y, (0.0, END), start, **options, **tolerances).y[
                    :, -1
                ],
            )


def _diffsol_runs(start: Vector) -> Iterator[tuple[str, float, Run]]:
    import pydiffsol

    entries = ", ".join(f"({i}, {j}): {value:.17g}" for i, j, value in sorted(_couplings(SIDE)))
    begin = ", ".join(f"{value:.17g}" for value in start)
    text = f"in_i {{ unused = 0 }}\nA_ij {{ {entries} }}\nu_i {{ {begin} }}\nF_i {{ A_ij * u_j }}\n"
    solver: Any = pydiffsol.Ode(text, matrix_type=pydiffsol.faer_sparse, ode_solver=pydiffsol.bdf, linear_solver=pydiffsol.lu)

    def run(rtol: float) -> Vector:
        solver.rtol, solver.atol = rtol, rtol
        return np.asarray(solver.solve(np.ones(1), END).ys)[:, -1]

    for rtol in RTOLS:
        yield "diffsol BDF, sparse", rtol, lambda rtol=rtol: run(rtol)


def plate_ratios(rounds: int) -> dict[str, float]:
    """Milliseconds of every solver at the error, by its name; infinite for one that does not get there."""
    start, end = _plate(SIDE)
    best: dict[str, float] = {}
    for family in (_tidegate_runs, _scipy_runs, _diffsol_runs):
        try:
            runs = list(family(start))
        except Exception:  # one that is not installed, or does not take the problem
            continue
        for name, _, run in runs:
            best.setdefault(name, math.inf)
            try:
                wrong = float(np.abs(run() - end).max())
            except Exception:
                continue
            if wrong <= ERROR:
                best[name] = min(best[name], *(1e3 * _seconds(run) for _ in range(max(rounds // 2, 2))))
    return best


_ROW = """
import re, time
from pathlib import Path
import tidegate as tg
from benchmarks.large import _rod

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

tg.simulate(_rod(50), (0.0, 1e-3))
before = peak()
began = time.process_time()
run = tg.prepare(_rod(10_000), (0.0, 0.01))
took = time.process_time() - began
run.run()
print(took, (peak() - before) / 1024.0)
"""


def row_of_ten_thousand() -> tuple[float, float]:
    """Processor seconds from the user's function to machine code, in a fresh process, and MiB it takes with its run above a small model's."""
    told = subprocess.run([sys.executable, "-c", _ROW], check=True, capture_output=True, text=True).stdout
    seconds, mebibytes = map(float, told.split()[-2:])
    return seconds, mebibytes
