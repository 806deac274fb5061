"""Periods of an environment moved by compiled code (stage: front end; what runs the code is found by name).

In: the values that an event has left. Out: those at the next event, or where a condition begins to hold; samples look on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UntraceableError
from tidegate.frontends.processes.compose import Composer, Composition
from tidegate.later_stages import later

__all__ = ["CompiledFlow"]

_MOST_MODELS: Final = 24  # of one environment: where what flows is put together ever anew, calling it costs less than compiling it
_MOST_TIMES: Final = 4096  # at which samples look, asked for at once
_NUDGES: Final = 48  # doublings of the shortest time, to the side on which a condition holds in Python's arithmetic too

FloatArray = NDArray[np.float64]


class CompiledFlow:
    """Moves what flows by compiled code, as long as all of it can be followed on symbols.

    Parameters
    ----------
    composer : makes models of what flows.
    options : for the runs, as of ``tg.simulate``.
    is_limited : whether no step may be longer than dtmax.
    must : whether what cannot be followed is an error, since the method knows compiled code only.
    record : what is written down of the run.
    set_time : puts the time where bodies and conditions read it.

    Attributes
    ----------
    reason : why bodies are called now; empty if they are not.
    steps, evaluations : by compiled code so far.
    seconds : spent on making models.
    """

    def __init__(
        self, composer: Composer, options: dict[str, Any], record: Any, set_time: Callable[[float], None], *, must: bool, is_limited: bool
    ) -> None:
        self._composer, self._options, self._must, self._record, self._set_time = composer, options, must, record, set_time
        self._is_limited = is_limited
        self._segments: dict[tuple[Composition, float], Any] = {}
        self._now: Composition | None = None
        self._refused: Any = None
        self._fired: tuple[str, ...] = ()
        self.reason = ""
        self.steps = self.evaluations = 0

    # -- whether

    def takes(self, motion: Any) -> bool:
        """Whether the period that begins is moved by compiled code."""
        self._now = None
        if not (motion.variables or motion.waiting or motion.bodies):
            return False
        subject = (tuple(motion.bodies), tuple(wait.process.condition for wait in motion.waiting))
        if self._refused == subject:
            return False
        try:
            composition = self._composer.compose(motion)
        except UntraceableError as error:
            if self._must:
                raise
            self._refused, self.reason = subject, str(error)
            return False
        if (composition, motion.settings.dtmax) not in self._segments and len(self._segments) >= _MOST_MODELS and not self._must:
            self.reason = f"what flows was put together in more than {_MOST_MODELS} ways"
            return False
        self.reason = ""
        if not composition.states and not composition.model.whens:
            return False  # nothing moves, and no condition changes
        self._now = composition
        return True

    def needs_evaluation(self, motion: Any) -> bool:
        """Whether bodies are called around events although compiled code moves what flows: they do more than set rates, or samples look at them."""
        return len(motion.samples) > 0 or (self._now is not None and not self._now.is_pure)

    # -- a period

    def move(self, motion: Any) -> Generator[Any]:
        """From the present time to the event ahead, or where a condition begins to hold, which is the event then."""
        composition = self._now
        assert composition is not None
        dtmax = motion.settings.dtmax
        segments = self._segments.get((composition, dtmax))
        if segments is None:
            segments = self._segments[composition, dtmax] = self._prepared(composition, dtmax)
        begin, states = motion.time, composition.states
        motion.lasttime = begin
        self._begin(motion, composition, segments)
        before, is_inside = segments.counters, False
        try:
            while True:
                times, until = _asked(motion)
                broken: BaseException | None = None
                try:
                    stretch = segments.run(until, times)
                except BaseException as error:  # noqa: BLE001, it is raised when samples have seen what was passed before
                    broken, stretch = error, segments.cut_off
                try:
                    yield from self._show(motion, states, stretch.rows, times, begin)
                except BaseException:
                    is_inside = True  # where a sample has raised: the code starts again from there
                    raise
                finally:
                    self._record.stretch(states, stretch.rows, stretch.polynomials, motion.time if is_inside else stretch.time)
                if broken is not None:
                    raise broken
                if stretch.fired or until >= motion.event:
                    break
        finally:
            if not is_inside:
                self._take_over(motion, states, segments, begin)
            after = segments.counters
            self.steps += after.steps - before.steps
            self.evaluations += after.evaluations - before.evaluations
        self._fired = stretch.fired
        if stretch.fired and segments.time < motion.event:
            self._hit(motion, states)
        else:
            motion.time = motion.event
            self._set_time(motion.time)
        motion.next_sample = min(motion.next_sample, motion.time)
        motion.end, motion.dt, motion.last = motion.time, motion.time - begin, "compiled"
        motion.remainder = motion.step = 0.0
        if self.needs_evaluation(motion):
            motion.evaluate()

    def _prepared(self, composition: Composition, dtmax: float) -> Any:
        states = composition.states
        relative = [abs(item.relerror) for item in states]
        options = self._options | {"rtol": max(min(relative, default=1e-6), 1e-13)}
        if self._is_limited:
            options["max_step"] = dtmax
        if states:
            options["atol"] = [max(abs(item.abserror), 1e-290) for item in states]
        names = tuple(item.data.name for item in composition.held)
        return later("Segments")(later("compiled_of")(composition.model), tuple(item.name for item in states), names, options)

    def _begin(self, motion: Any, composition: Composition, segments: Any) -> None:
        values = self._composer.values(motion, composition)
        y = np.array([item.state for item in composition.states])
        if self._fired:
            # a condition that has just begun to hold is waited for again: it begins to hold once more only after it was not waited for
            asleep = values.copy()
            for label in self._fired:
                for item, at in composition.held.items():
                    if item.data.name == label:
                        asleep[at] = 0.0
            segments.begin(motion.time, motion.event, y, asleep)
            self._fired = ()
        segments.begin(motion.time, motion.event, y, values)

    def _show(self, motion: Any, states: tuple[Any, ...], rows: list[NDArray[np.void]], times: FloatArray, begin: float) -> Generator[Any]:
        """Let samples look at what was passed: at their times, and at every step."""
        samples = motion.samples
        if not samples.timed and not samples.at_steps:
            return
        asked = set(times.tolist())
        for block in rows:
            for row in block:
                time = float(row["time"])
                is_due = time in asked
                if time >= motion.event or not (is_due or samples.at_steps):
                    continue
                motion.time, motion.dt = time, time - begin
                for variable, state in zip(states, row["values"][: len(states)].tolist(), strict=True):
                    variable.state = state
                motion.evaluate()
                if is_due:
                    yield from later("run_due")(motion)
                    asked.discard(time)
                else:
                    for sample in samples.at_steps:
                        sample.observe()

    def _take_over(self, motion: Any, states: tuple[Any, ...], segments: Any, begin: float) -> None:
        """States, rates and the time are those where the compiled code stands."""
        for variable, state, rate in zip(states, segments.y.tolist(), segments.rates().tolist(), strict=True):
            variable.state, variable.rate = state, rate
        motion.time, motion.dt = segments.time, segments.time - begin
        self._set_time(motion.time)

    def _hit(self, motion: Any, states: tuple[Any, ...]) -> None:
        """Who waits for what has begun to hold; in Python's arithmetic too, if a rounding error of time leads there."""
        waits = [self._composer.waiting_at(label) for label in self._fired]
        found = next((wait for wait in motion.waiting if wait in waits), None)
        assert found is not None
        due, motion.event, motion.hit = motion.event, motion.time, found
        if found.condition():
            return
        time, at, rates = motion.time, [item.state for item in states], [item.rate for item in states]
        shift = np.spacing(max(abs(time), 1.0)) / 16.0
        for _ in range(_NUDGES):
            for variable, state, rate in zip(states, at, rates, strict=True):
                variable.state = state + rate * shift
            motion.time = motion.event = time + shift
            self._set_time(motion.time)
            if found.condition():
                return
            shift *= 2.0
            if shift > motion.settings.dtmin or time + shift >= due:
                break
        for variable, state in zip(states, at, strict=True):
            variable.state = state
        motion.time = motion.event = time
        self._set_time(time)


def _asked(motion: Any) -> tuple[FloatArray, float]:
    """Times up to the event at which samples with an interval look, and how far to run for so many."""
    due = [(sample.sampletime, sample.frequency) for sample in motion.samples.timed]
    if not due:
        return np.zeros(0), motion.event
    found: set[float] = set()
    last = math.inf
    for first, interval in due:
        time, k = first, 0
        while time < motion.event and k < _MOST_TIMES and time + interval > time:
            if time > motion.time:
                found.add(time)
            time += interval
            k += 1
        if k == _MOST_TIMES:
            last = min(last, time)
    if math.isinf(last):
        return np.array(sorted(found)), motion.event
    return np.array(sorted(time for time in found if time <= last)), last
