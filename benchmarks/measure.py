"""Times and errors of all competitors on one problem, taken in turn within one process.

In: a problem and the competitors. Out: ``Sample`` records. A round runs every competitor at every tolerance once (short runs several times), and
the median over rounds counts, so that a slow moment of the machine falls on all of them alike.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from benchmarks.competitors import Competitor
from benchmarks.outcome import Run, error
from benchmarks.problems import Problem

__all__ = ["Sample", "Work", "at_error", "measure"]

TOLERANCES = tuple(10.0**-k for k in range(4, 13))
LEAST_SECONDS = 1e-3  # a timed piece of work is at least this long, to be far above the clock's resolution
SLOW_SECONDS = 0.05  # slower runs take part in a few rounds and at every second tolerance only
SLOW_ROUNDS = 3


@dataclass(eq=False)
class Sample:
    """One competitor at one tolerance: seconds of every round, error and events of the first run."""

    competitor: str
    rtol: float
    run: Run
    error: float
    events: int
    repeats: int
    slow: bool
    seconds: list[float] = field(default_factory=list[float])

    @property
    def milliseconds(self) -> float:
        """The median over the rounds."""
        return 1e3 * median(self.seconds)


@dataclass(eq=False)
class Work:
    """Everything measured on one problem; ``notes`` says of a competitor that takes no part why."""

    problem: Problem
    sensitivities: bool
    samples: list[Sample]
    notes: dict[str, str]

    @property
    def key(self) -> str:
        """``P6`` or ``P6+3``: with how many sensitivities."""
        return f"{self.problem.key}+{self.problem.p.size}" if self.sensitivities else self.problem.key

    def of(self, competitor: str) -> list[Sample]:
        """Its samples, from loose to tight."""
        return [sample for sample in self.samples if sample.competitor == competitor]

    def at(self, competitor: str, rtol: float) -> Sample | None:
        """Its sample at this tolerance."""
        return next((sample for sample in self.of(competitor) if math.isclose(sample.rtol, rtol)), None)


def _sample(competitor: Competitor, work: Work, rtol: float) -> Sample:
    run = competitor.prepare(work.problem, rtol, work.sensitivities)
    run()  # compiles, where there is something to compile
    began = time.perf_counter()
    outcome = run()
    seconds = time.perf_counter() - began
    repeats = max(1, math.ceil(LEAST_SECONDS / seconds))
    return Sample(competitor.name, rtol, run, error(work.problem, outcome), outcome.events, repeats, seconds > SLOW_SECONDS)


def _enter(competitor: Competitor, work: Work) -> None:
    """Prepare one competitor at every tolerance."""
    slow = False
    for number, rtol in enumerate(TOLERANCES):
        if slow and number % 2:
            continue
        try:
            sample = _sample(competitor, work, rtol)
        except NotImplementedError:
            return
        except Exception as reason:
            sentence = f"rtol {rtol:.0e}: {type(reason).__name__}: {reason}".splitlines()[0]
            work.notes.setdefault(competitor.name, sentence[:160])
            continue
        slow = slow or sample.slow
        work.samples.append(sample)


def measure(problem: Problem, sensitivities: bool, competitors: Iterable[Competitor], rounds: int) -> Work:
    """Run everybody, in turn, ``rounds`` times."""
    work = Work(problem, sensitivities, [], {})
    for competitor in competitors:
        _enter(competitor, work)
    for number in range(rounds):
        for sample in work.samples:
            if sample.slow and number >= SLOW_ROUNDS:
                continue
            began = time.perf_counter()
            for _ in range(sample.repeats):
                sample.run()
            sample.seconds.append((time.perf_counter() - began) / sample.repeats)
    return work


def at_error(samples: Sequence[Sample], level: float) -> float | None:
    """Milliseconds to reach an error, between the fastest runs that are more and less exact (linear in logarithms); None if never reached."""
    points = sorted((sample.milliseconds, max(sample.error, 1e-300)) for sample in samples if math.isfinite(sample.error))
    best: list[tuple[float, float]] = []
    for point in points:
        if not best or point[1] < best[-1][1]:
            best.append(point)
    enough = next((i for i, (_, reached) in enumerate(best) if reached <= level), None)
    if enough is None:
        return None
    if enough == 0:
        return best[0][0]
    (slower, lower), (faster, higher) = best[enough], best[enough - 1]
    weight = np.log(higher / level) / np.log(higher / lower)
    return float(np.exp((1.0 - weight) * np.log(faster) + weight * np.log(slower)))
