"""Times and errors of all competitors on one problem, taken in turn within one process.

In: a problem and the competitors. Out: ``Sample`` records. A round runs every competitor at every tolerance once (short runs several times), and
the shortest time over the rounds counts: whatever else the machine does can only add to a time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.competitors import Competitor
from benchmarks.outcome import Run, error
from benchmarks.problems import Problem

__all__ = ["Sample", "Work", "at_error", "measure"]

TOLERANCES = tuple(10.0 ** (-k / 2) for k in range(6, 26))
LEAST_SECONDS = 1e-3  # a timed piece of work is at least this long, to be far above the clock's resolution
MODERATE_SECONDS = 2e-3  # slower runs take part at whole decades only
SLOW_SECONDS = 0.02  # still slower ones at every second decade, and in a few rounds
ENDLESS_SECONDS = 0.3  # after a run like this, none with a tighter tolerance
SLOW_ROUNDS = 2


@dataclass(eq=False)
class Sample:
    """One competitor at one tolerance: seconds of every round, error and events of the first run; it is right if it has all events."""

    competitor: str
    rtol: float
    run: Run
    error: float
    events: int
    is_right: bool
    repeats: int
    first_seconds: float
    seconds: list[float] = field(default_factory=list[float])

    @property
    def milliseconds(self) -> float:
        """The shortest of the rounds; the first run of one that was too slow for them."""
        return 1e3 * min(self.seconds, default=self.first_seconds)


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
    began = time.perf_counter()
    outcome = run()  # compiles, where there is something to compile
    seconds = time.perf_counter() - began
    if seconds < ENDLESS_SECONDS or not work.of(competitor.name):
        began = time.perf_counter()
        outcome = run()
        seconds = time.perf_counter() - began
    repeats = max(1, math.ceil(LEAST_SECONDS / seconds))
    reached = error(work.problem, outcome)
    is_right = math.isfinite(reached) and outcome.events == work.problem.n_events
    return Sample(competitor.name, rtol, run, reached, outcome.events, is_right, repeats, seconds)


def _enter(competitor: Competitor, work: Work) -> None:
    """Prepare one competitor at every tolerance that it is quick enough for."""
    seconds = 0.0
    for number, rtol in enumerate(TOLERANCES):
        if (seconds > MODERATE_SECONDS and number % 2) or (seconds > SLOW_SECONDS and number % 4):
            continue
        if seconds > ENDLESS_SECONDS:
            work.notes.setdefault(competitor.name, f"tighter tolerances were not tried after a run of {seconds:.1f} s")
            return
        try:
            sample = _sample(competitor, work, rtol)
        except NotImplementedError:
            return
        except Exception as reason:
            sentence = f"rtol {rtol:.0e}: {type(reason).__name__}: {reason}".splitlines()[0]
            work.notes.setdefault(competitor.name, sentence[:160])
            continue
        seconds = max(seconds, sample.first_seconds)
        work.samples.append(sample)


def measure(problem: Problem, sensitivities: bool, competitors: Iterable[Competitor], rounds: int) -> Work:
    """Run everybody, in turn, ``rounds`` times."""
    work = Work(problem, sensitivities, [], {})
    for competitor in competitors:
        _enter(competitor, work)
    for number in range(rounds):
        for sample in work.samples:
            if number >= (rounds if sample.first_seconds <= SLOW_SECONDS else SLOW_ROUNDS if sample.first_seconds <= ENDLESS_SECONDS else 0):
                continue
            began = time.perf_counter()
            for _ in range(sample.repeats):
                sample.run()
            sample.seconds.append((time.perf_counter() - began) / sample.repeats)
    return work


def at_error(samples: Sequence[Sample], level: float) -> float | None:
    """Milliseconds to reach an error, between the fastest runs that are more and less exact (linear in logarithms); None if never reached."""
    points = sorted((sample.milliseconds, max(sample.error, 1e-300)) for sample in samples if sample.is_right)
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
