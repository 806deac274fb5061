"""tidegate's way through SUNDIALS beside a C program of ours that calls SUNDIALS and nothing else (``benchmarks/c``).

In: nothing. Out: ``Comparison`` records. The C program is compiled here, once against each library that can be found: the one inside the
``sundials4py`` wheel, which tidegate uses, so that nothing differs but the caller; and Debian's (``apt-get install libsundials-dev``), which
is older and, as Debian ships 6.4.1, compiled without optimisation. Both take the same steps and end at the same digits.
"""

from __future__ import annotations

import importlib.util
import math
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.outcome import Run
from benchmarks.own import prepare_by
from benchmarks.problems import RELAY, ROBERTSON, Problem
from benchmarks.smooth_problems import POLLUTION

__all__ = ["LIBRARIES", "Comparison", "Library", "compare"]

SOURCES: Final = Path(__file__).parent / "c"
BUILD: Final = Path(__file__).parents[1] / "build"
LEAST_SECONDS: Final = 0.02  # of a timed piece of work
# its name in the C program, tidegate's method, the tolerance; the relay loses its last event at looser ones
CASES: Final = ((POLLUTION, "pollution", "bdf", 1e-8), (RELAY, "relay", "bdf", 1e-10), (ROBERTSON, "robertson", "ida", 1e-8))


@dataclass(frozen=True, slots=True)
class Library:
    """A SUNDIALS library that the C program can be linked to.

    Parameters
    ----------
    name : as printed.
    options : gives the compiler's options, or raises OSError with what is missing.
    """

    name: str
    options: Callable[[], list[str]]


@dataclass(eq=False)
class Comparison:
    """One problem: milliseconds of tidegate and of the C program with each library, shortest of the rounds; ``notes`` says why one has none."""

    problem: Problem
    method: str
    rtol: float
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    notes: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, name: str, milliseconds: float) -> None:
        """Keep the shortest."""
        self.milliseconds[name] = min(milliseconds, self.milliseconds.get(name, math.inf))


def _wheel() -> list[str]:
    spec = importlib.util.find_spec("sundials4py")
    if spec is None or spec.origin is None:
        raise OSError("not available: pip install sundials4py")
    headers = Path(spec.origin).parent / "include"
    if not (headers / "cvodes" / "cvodes.h").exists() or not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        raise OSError("not available: the wheel's headers, or a shared libpython that its library needs, are missing")
    folders = [str(Path(spec.origin).parent), str(sysconfig.get_config_var("LIBDIR"))]
    python = f"-lpython{sysconfig.get_config_var('LDVERSION')}"
    return [f"-I{headers}", spec.origin, "-Wl,--no-as-needed", f"-L{folders[1]}", python, *(f"-Wl,-rpath,{folder}" for folder in folders)]


def _debian() -> list[str]:
    if not Path("/usr/include/cvodes/cvodes.h").exists():
        raise OSError("not available: apt-get install libsundials-dev")
    return ["-lsundials_cvodes", "-lsundials_idas", "-lsundials_nvecserial"]


LIBRARIES: Final = (Library("C, the wheel's 7.9", _wheel), Library("C, Debian's", _debian))


def _program(library: Library) -> Path:
    """Compile the C program for this library."""
    options = library.options()
    compiler = shutil.which("cc")
    if compiler is None:
        raise OSError("not available: there is no C compiler called cc")
    BUILD.mkdir(exist_ok=True)
    program = BUILD / f"sundials_in_c_{LIBRARIES.index(library)}"
    sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]
    done = subprocess.run([compiler, "-std=gnu11", "-O2", "-o", program, *sources, *options, "-lm"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"does not compile: {done.stderr.strip().splitlines()[-1][:120]}")
    return program


def _in_c(program: Path, name: str, comparison: Comparison) -> Callable[[int], float]:
    """Milliseconds of a run, the mean of so many repeats."""
    atol = comparison.problem.atol(comparison.rtol)

    def measure(repeats: int) -> float:
        command = [program, name, f"{comparison.rtol:g}", f"{atol:g}", "1", str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        _, milliseconds, events, *_ = done.stdout.split()
        if int(events) != comparison.problem.n_events:
            raise OSError(f"{events} events instead of {comparison.problem.n_events}")
        return float(milliseconds)

    return measure


def _in_tidegate(run: Run, problem: Problem) -> Callable[[int], float]:
    events = run().events
    if events != problem.n_events:
        raise OSError(f"{events} events instead of {problem.n_events}")

    def measure(repeats: int) -> float:
        began = time.perf_counter()
        for _ in range(repeats):
            run()
        return 1e3 * (time.perf_counter() - began) / repeats

    return measure


def compare(rounds: int) -> list[Comparison]:
    """Measure all problems, everybody in turn."""
    comparisons: list[Comparison] = []
    for problem, name, method, rtol in CASES:
        comparison = Comparison(problem, method, rtol)
        comparisons.append(comparison)
        who: dict[str, Callable[[int], float]] = {}
        try:
            who["tidegate"] = _in_tidegate(prepare_by(method, problem, rtol), problem)
        except Exception as reason:
            comparison.notes["tidegate"] = f"{type(reason).__name__}: {reason}".splitlines()[0][:120]
        for library in LIBRARIES:
            try:
                who[library.name] = _in_c(_program(library), name, comparison)
            except OSError as reason:
                comparison.notes[library.name] = str(reason)
        for _ in range(rounds):
            for title, measure in who.items():
                try:
                    once = measure(1)
                    comparison.take(title, measure(max(1, math.ceil(1e3 * LEAST_SECONDS / once))))
                except (OSError, subprocess.SubprocessError, RuntimeError) as reason:
                    comparison.notes[title] = str(reason)[:120]
    return comparisons
