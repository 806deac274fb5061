"""How far the movement through a period has come: everything about it that changes, in one place that its parts pass along."""

from __future__ import annotations

from tidegate.executive.monitor.bodies import Bodies
from tidegate.executive.monitor.counters import Counters
from tidegate.executive.monitor.interface import Variable
from tidegate.executive.monitor.samples import Samples
from tidegate.executive.monitor.settings import Settings
from tidegate.executive.monitor.tracks import Track, VariableSet
from tidegate.executive.monitor.troubles import Trouble
from tidegate.executive.monitor.waiting import Wait, Waiting

__all__ = ["Motion"]


class Motion:
    """What moves, and where it stands.

    Attributes
    ----------
    settings, variables, bodies, samples, waiting, counters : what moves, who looks and who waits.
    time, lasttime, dt : now, the start of the step, the difference; in events of the last step, behind them, where a period begins, dt is 0.
    remainder : what adding the steps so far has lost of the time by rounding.
    step, end : the length of the step being taken, and the time at its end; a state event shortens both.
    full : the length the step had when its polynomial was made.
    proposal : the step to try next; 0 for none yet. It outlives events.
    event : when the next event is due; the present time once a condition was found true.
    next_sample : when a sample with an interval is due next, `event` at the latest.
    hit : who is continued by a condition that was found true.
    last : method of the last step: "rk", "pc", "fixed", "" for none.
    has_polynomial : the step's polynomial has been made.
    is_searched : a state event was looked for inside the step, which has therefore ended at its polynomial.
    spacing : half the step of Runge-Kutta-England, the step of the predictor-corrector.
    is_first : the next step of Runge-Kutta-England begins a history; if not, it is the second that "pc" starts with.
    is_pc : the next step is one of the predictor-corrector.
    known : points of history.
    halvings : of the steps, less doublings.
    is_halved : no ordinary step of the predictor-corrector since its last halving.
    last_fixed : length of the last step if it was of fixed step and in this period, else 0.
    starts : the integrated variables with state and rate where the step starts, while it is being taken.
    """

    def __init__(self, settings: Settings, time: float) -> None:
        self.settings = settings
        self.variables = VariableSet()
        self.bodies = Bodies()
        self.samples = Samples()
        self.waiting = Waiting()
        self.counters = Counters()
        self.time = self.lasttime = self.end = self.event = self.next_sample = time
        self.dt = self.remainder = self.step = self.full = self.proposal = self.spacing = self.last_fixed = 0.0
        self.hit: Wait | None = None
        self.last = ""
        self.has_polynomial = self.is_searched = False
        self.is_first, self.is_pc, self.is_halved = True, False, False
        self.known = self.halvings = 0
        self.starts: list[tuple[Variable, float, float]] = []

    def evaluate(self) -> None:
        """All active bodies set the rates for the present time and states."""
        self.counters.evaluations += 1
        for track in self.variables:
            track.variable.rate = 0.0
        for body in self.bodies:
            body.evaluate()

    def evaluate_at(self, time: float, dt: float) -> None:
        """As `evaluate`, at another time."""
        self.time, self.dt = time, dt
        self.evaluate()

    def end_after(self, step: float) -> float:
        """The time at the end of a step that starts at `lasttime`, not behind the next event."""
        end = self.lasttime + (self.remainder + step)
        return min(end, self.event)

    def limit(self) -> None:
        """A dtmax that has become smaller holds at once."""
        dtmax = self.settings.dtmax
        self.proposal = min(self.proposal, dtmax)
        if self.is_pc and self.spacing > dtmax:
            self.is_pc, self.is_first = False, True
        if self.step > dtmax:
            self.step = dtmax
            self.end = self.end_after(dtmax)

    def jump(self, time: float) -> None:
        """Nothing flows, looks or waits: to the event at once."""
        self.counters.periods += 1
        self.lasttime, self.dt, self.last = self.time, time - self.time, ""
        self.time = self.event = self.end = time
        self.remainder = 0.0

    def trouble(self, number: int, culprit: object = None) -> Trouble:
        """A numbered error, here and now."""
        return Trouble(number, self.time, self.dt, self.settings.dtmin, self.settings.dtmax, culprit=culprit)

    def begin_step(self) -> None:
        """A step starts here, and here everything is found again if it is not accepted."""
        self.lasttime = self.time
        self.has_polynomial = self.is_searched = False
        self.starts = [(track.variable, track.variable.state, track.variable.rate) for track in self.variables]

    def retreat(self) -> None:
        """The step is not accepted: nobody is to see what it tried."""
        for variable, state, rate in self.starts:
            variable.state = variable.laststate = state
            variable.rate = rate
        self.time, self.dt = self.lasttime, 0.0

    def step_too_long(self, kind: str, track: Track, allowed: float) -> Trouble:
        """Number 1: a variable has a greater error than is allowed, and the step cannot be made smaller."""
        variable: Variable = track.variable
        dtmin, dtmax = self.settings.dtmin, self.settings.dtmax
        trouble = Trouble(1, self.time, self.dt, dtmin, dtmax, kind, variable, allowed, abs(track.err), variable.state)
        self.retreat()
        return trouble
