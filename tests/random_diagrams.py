"""Random block diagrams, and what they do in small steps of plain Python: every block is written here a second time, as its page describes it.

Signals are computed in an order in which a block comes after those it needs at once; states go by Runge and Kutta's method of fourth order from one
instant at which something is scheduled to the next, in steps of ``h`` at most. What a relation decides is then known to within a step: two runs, one
with half the step, tell how well the truth is known.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

import tidegate as tg

__all__ = ["TIMES", "Unclear", "Written"]

b = tg.blocks
TIMES = [round(0.0371 + 0.1983 * k, 6) for k in range(20)]
_LARGEST = 1e3


class Unclear(Exception):
    """Values run away, or small steps do not tell them."""


def number(draw: random.Random, low: float, high: float) -> float:
    return round(draw.uniform(low, high), 3)


class Piece:
    """A block: what it is made of, its states ``s``, and what comes out of its inputs ``u``."""

    n_in = 1
    needs_now = True  # whether what comes out depends on what goes in at the same instant
    ports = ("x1", "x2", "x3")

    def __init__(self, draw: random.Random) -> None:
        self.make(draw)

    def make(self, draw: random.Random) -> None:
        """Draw the parameters."""

    def block(self) -> Any:
        raise NotImplementedError

    def begin(self) -> list[float]:
        """States at the start."""
        return []

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        raise NotImplementedError

    def rates(self, t: float, s: list[float], u: list[float]) -> list[float]:
        return []

    def after(self, s: list[float], u: list[float]) -> list[float]:
        """States behind a step, with what goes in there."""
        return s

    def next_time(self, t: float) -> float:
        """When something is scheduled."""
        return math.inf

    def show(self) -> None:
        """At a tick, before anything is sampled."""

    def tick(self, u: list[float]) -> None:
        """Sample."""


def plain(n_in: int, make_block: Callable[..., Any], compute: Callable[..., float], *ranges: tuple[float, float]) -> type[Piece]:
    """A block without a memory: ``compute(t, inputs, parameters)``."""

    class Plain(Piece):
        def make(self, draw: random.Random) -> None:
            self.n_in, self.p = n_in, [number(draw, *limits) for limits in ranges]

        def block(self) -> Any:
            return make_block(*self.p)

        def out(self, t: float, s: list[float], u: list[float]) -> float:
            return float(compute(t, u, self.p))

    return Plain


def line(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """Straight lines through points, the outer ones continued."""
    k = min(max(bisect_right(xs, x) - 1, 0), len(xs) - 2)
    return ys[k] + (ys[k + 1] - ys[k]) * (x - xs[k]) / (xs[k + 1] - xs[k])


class Scheduled(Piece):
    """A source with corners or jumps at known times."""

    n_in = 0
    times: list[float]

    def next_time(self, t: float) -> float:
        return next((time for time in self.times if time > t + 1e-12), math.inf)


class Step(Scheduled):
    def make(self, draw: random.Random) -> None:
        self.times, self.high, self.low = [number(draw, 0.2, 3)], number(draw, -2, 2), number(draw, -1, 1)

    def block(self) -> Any:
        return b.Step(self.times[0], self.high, self.low)

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return self.high if t >= self.times[0] else self.low


class Ramp(Scheduled):
    def make(self, draw: random.Random) -> None:
        self.slope, self.times = number(draw, -2, 2), [number(draw, 0.1, 3)]

    def block(self) -> Any:
        return b.Ramp(self.slope, self.times[0])

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return self.slope * max(t - self.times[0], 0.0)


class Pulse(Scheduled):
    def make(self, draw: random.Random) -> None:
        period, width, self.height, start = number(draw, 0.3, 2), number(draw, 0.1, 0.9), number(draw, -2, 2), number(draw, 0.05, 1)
        self.given = period, width, self.height, start
        self.times = sorted(start + (k + part) * period for k in range(20) for part in (0.0, width))

    def block(self) -> Any:
        return b.Pulse(*self.given)

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return self.height if bisect_right(self.times, t + 1e-12) % 2 else 0.0


class Table(Scheduled):
    def make(self, draw: random.Random) -> None:
        self.times = sorted({number(draw, 0, 1), number(draw, 1.1, 2), *(number(draw, 2.1, 4) for _ in range(3))})
        self.values = [number(draw, -2, 2) for _ in self.times]

    def block(self) -> Any:
        return b.TableSource(self.times, self.values)

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return line(self.times, self.values, t)


class Curve(Piece):
    """Polynomials through points, by Lagrange's formula."""

    def make(self, draw: random.Random) -> None:
        self.degree = draw.choice([1, 1, 2, 3])
        count = draw.randint(self.degree + 1, 6)
        first, apart = number(draw, -2, -1), [number(draw, 0.2, 0.8) for _ in range(count - 1)]
        self.x = [round(first + sum(apart[:k]), 3) for k in range(count)]
        self.y = [number(draw, -1, 1) for _ in self.x]

    def block(self) -> Any:
        return b.Function(self.x, self.y, self.degree)

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        x, n = u[0], self.degree
        if n == 1:
            return line(self.x, self.y, x)
        if n % 2:
            first = min(max(bisect_right(self.x, x) - 1, 0), len(self.x) - 2) - (n - 1) // 2
        else:
            first = min(range(len(self.x)), key=lambda k: abs(self.x[k] - x)) - n // 2
        first = min(max(first, 0), len(self.x) - n - 1)
        xs, ys = self.x[first : first + n + 1], self.y[first : first + n + 1]
        return sum(ys[i] * math.prod((x - xs[j]) / (xs[i] - xs[j]) for j in range(n + 1) if j != i) for i in range(n + 1))


class Hysteresis(Piece):
    def make(self, draw: random.Random) -> None:
        self.low = number(draw, -1, 0.3)
        self.high = round(self.low + number(draw, 0.2, 1), 3)
        self.off, self.on, self.begins_on = number(draw, -1, 1), number(draw, -1, 1), draw.random() < 0.5

    def block(self) -> Any:
        return b.Hysteresis(self.low, self.high, self.off, self.on, is_on=self.begins_on)

    def begin(self) -> list[float]:
        self.is_on = self.begins_on
        return []

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return self.on if self.is_on else self.off

    def after(self, s: list[float], u: list[float]) -> list[float]:
        self.is_on = u[0] >= self.high or (u[0] > self.low and self.is_on)
        return s


class Integrator(Piece):
    needs_now = False

    def make(self, draw: random.Random) -> None:
        self.start, self.kind = number(draw, -1, 1), draw.choice(["plain", "plain", "limits", "reset"])
        self.low, self.high = round(self.start - number(draw, 0.1, 1), 3), round(self.start + number(draw, 0.1, 1), 3)
        self.n_in, self.ports = (2, ("x1", "x3")) if self.kind == "reset" else (1, ("x1",))

    def block(self) -> Any:
        return b.Integrator(self.start, lower=self.low, upper=self.high) if self.kind == "limits" else b.Integrator(self.start)

    def begin(self) -> list[float]:
        return [self.start]

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return min(max(s[0], self.low), self.high) if self.kind == "limits" else s[0]

    def rates(self, t: float, s: list[float], u: list[float]) -> list[float]:
        if self.kind == "reset" and u[1] != 0.0:
            return [0.0]
        stands = self.kind == "limits" and ((s[0] >= self.high and u[0] > 0) or (s[0] <= self.low and u[0] < 0))
        return [0.0 if stands else u[0]]

    def after(self, s: list[float], u: list[float]) -> list[float]:
        if self.kind == "reset" and u[1] != 0.0:
            return [self.start]
        return [min(max(s[0], self.low), self.high)] if self.kind == "limits" else s


class Lag(Piece):
    needs_now = False

    def make(self, draw: random.Random) -> None:
        self.start, self.time, self.n_in = number(draw, -1, 1), number(draw, 0.1, 2), draw.choice([1, 2, 3])

    def block(self) -> Any:
        return b.FirstOrderLag(self.start, self.time)

    def begin(self) -> list[float]:
        return [self.start]

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return s[0]

    def rates(self, t: float, s: list[float], u: list[float]) -> list[float]:
        return [(sum(u) - s[0]) / self.time]


class Transfer(Piece):
    """Of second order, in controllable canonical form, which is not the block's own."""

    def make(self, draw: random.Random) -> None:
        self.needs_now = draw.random() < 0.4
        self.a = [number(draw, 0.5, 2), number(draw, 0.2, 2), number(draw, 0.5, 4)]
        self.c = [number(draw, -1, 1) for _ in range(3 if self.needs_now else 2)]

    def block(self) -> Any:
        return b.TransferFunction(self.c, self.a)

    def begin(self) -> list[float]:
        return [0.0, 0.0]

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        c = [x / self.a[0] for x in ([0.0] * (3 - len(self.c)) + self.c)]
        through = c[0] * u[0] if self.needs_now else 0.0
        return (c[1] - self.a[1] / self.a[0] * c[0]) * s[1] + (c[2] - self.a[2] / self.a[0] * c[0]) * s[0] + through

    def rates(self, t: float, s: list[float], u: list[float]) -> list[float]:
        return [s[1], u[0] - (self.a[1] * s[1] + self.a[2] * s[0]) / self.a[0]]


class Pid(Piece):
    def make(self, draw: random.Random) -> None:
        self.kp, self.ki, self.kd, self.filter = number(draw, 0, 2), number(draw, 0, 1), number(draw, 0.01, 0.3), number(draw, 0.05, 0.3)
        self.low, self.high, self.tracking, self.start = number(draw, -1, -0.1), number(draw, 0.1, 1), number(draw, 0.2, 2), number(draw, -0.3, 0.3)

    def options(self) -> dict[str, float]:
        return {"filter_time": self.filter, "lower": self.low, "upper": self.high, "tracking_time": self.tracking, "start": self.start}

    def block(self) -> Any:
        return b.PID(self.kp, self.ki, self.kd, **self.options())

    def begin(self) -> list[float]:
        return [self.start, 0.0]

    def _whole(self, s: list[float], u: list[float]) -> float:
        return self.kp * u[0] + s[0] + self.kd * (u[0] - s[1]) / self.filter

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return min(max(self._whole(s, u), self.low), self.high)

    def rates(self, t: float, s: list[float], u: list[float]) -> list[float]:
        return [self.ki * u[0] + (self.out(t, s, u) - self._whole(s, u)) / self.tracking, (u[0] - s[1]) / self.filter]


class RateLimiter(Piece):
    needs_now = False

    def make(self, draw: random.Random) -> None:
        self.up, self.down, self.time, self.start = number(draw, 0.2, 2), number(draw, 0.2, 2), number(draw, 0.05, 0.2), number(draw, -1, 1)

    def block(self) -> Any:
        return b.RateLimiter(self.up, self.down, time_constant=self.time, start=self.start)

    def begin(self) -> list[float]:
        return [self.start]

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return s[0]

    def rates(self, t: float, s: list[float], u: list[float]) -> list[float]:
        return [min(max((u[0] - s[0]) / self.time, -self.down), self.up)]


class Sampled(Piece):
    """With a clock of its own, which never ticks together with another."""

    def make(self, draw: random.Random) -> None:
        self.period, self.offset = number(draw, 0.1, 0.9) + draw.random() * 1e-3, number(draw, 0.02, 0.5) + draw.random() * 1e-3
        self.start = number(draw, -1, 1)
        self.more(draw)

    def more(self, draw: random.Random) -> None:
        pass

    def next_time(self, t: float) -> float:
        return next(time for time in (self.offset + k * self.period for k in range(100)) if time > t + 1e-12)

    def begin(self) -> list[float]:
        self.value = self.start
        return []

    def out(self, t: float, s: list[float], u: list[float]) -> float:
        return self.value


class Hold(Sampled):
    def more(self, draw: random.Random) -> None:
        self.n_in = draw.choice([1, 2])

    def block(self) -> Any:
        return b.ZeroOrderHold(self.period, self.start, self.offset)

    def tick(self, u: list[float]) -> None:
        if len(u) == 1 or u[1] > 0:
            self.value = u[0]


class Delay(Sampled):
    needs_now = False

    def block(self) -> Any:
        return b.UnitDelay(self.period, self.start, self.offset)

    def begin(self) -> list[float]:
        self.value = self.last = self.start
        return []

    def show(self) -> None:
        self.value = self.last

    def tick(self, u: list[float]) -> None:
        self.last = u[0]


class Filter(Sampled):
    def more(self, draw: random.Random) -> None:
        self.c, self.a = [number(draw, -1, 1), number(draw, -1, 1)], [number(draw, 0.5, 2), number(draw, -0.4, 0.4)]

    def block(self) -> Any:
        return b.DiscreteTransferFunction(self.c, self.a, self.period, self.offset)

    def begin(self) -> list[float]:
        self.value = self.last = 0.0
        return []

    def tick(self, u: list[float]) -> None:
        self.value = (self.c[0] * u[0] + self.c[1] * self.last - self.a[1] * self.value) / self.a[0]
        self.last = u[0]


class SampledPid(Sampled):
    def more(self, draw: random.Random) -> None:
        self.of = Pid(draw)

    def block(self) -> Any:
        of = self.of
        return b.PID(of.kp, of.ki, of.kd, **of.options(), period=self.period, offset=self.offset)

    def begin(self) -> list[float]:
        self.value = self.derivative = self.last = 0.0
        self.integral = self.of.start
        return []

    def tick(self, u: list[float]) -> None:
        of, e = self.of, u[0]
        self.derivative = (of.filter * self.derivative + of.kd * (e - self.last)) / (of.filter + self.period)
        self.last, whole = e, of.kp * e + self.integral + self.derivative
        self.value = min(max(whole, of.low), of.high)
        self.integral += self.period * (of.ki * e + (self.value - whole) / of.tracking)


_SINE = plain(
    0, b.Sine, lambda t, u, p: p[3] + p[1] * math.sin(2 * math.pi * p[0] * t + p[2]), (0.1, 2), (0.3, 2), (0, 6), (-0.5, 0.5)
)  # fmt: skip
_LOGIC = [
    plain(2, lambda: b.Compare(">"), lambda t, u, p: u[0] > u[1]),
    plain(2, lambda: b.Compare("<="), lambda t, u, p: u[0] <= u[1]),
    plain(2, b.And, lambda t, u, p: u[0] != 0 and u[1] != 0),
    plain(2, b.Or, lambda t, u, p: u[0] != 0 or u[1] != 0),
    plain(1, b.Not, lambda t, u, p: u[0] == 0),
]
SOURCES = [
    plain(0, b.Constant, lambda t, u, p: p[0], (-2, 2)), _SINE, _SINE, plain(0, b.Time, lambda t, u, p: t), Step, Ramp, Pulse, Table,
]  # fmt: skip
OTHERS: list[type[Piece]] = [
    plain(1, b.Gain, lambda t, u, p: p[0] * u[0], (-1.5, 1.5)),
    plain(1, b.Offset, lambda t, u, p: p[0] + u[0], (-1.5, 1.5)),
    plain(1, b.Inverter, lambda t, u, p: -u[0]),
    plain(3, lambda: b.Summer("+-+"), lambda t, u, p: u[0] - u[1] + u[2]),
    plain(3, b.WeightedSummer, lambda t, u, p: sum(w * x for w, x in zip(p, u, strict=True)), (-1, 1), (-1, 1), (-1, 1)),
    plain(2, b.Multiplier, lambda t, u, p: u[0] * u[1]),
    plain(1, b.Magnitude, lambda t, u, p: abs(u[0])),
    plain(1, b.BangBang, lambda t, u, p: 1.0 if u[0] >= 0 else -1.0),
    plain(3, b.Relay, lambda t, u, p: u[1] if u[0] >= 0 else u[2]),
    plain(3, b.Switch, lambda t, u, p: u[0] if u[1] != 0 else u[2]),
    plain(1, lambda a, c: b.Limiter(a + c, a), lambda t, u, p: min(max(u[0], p[0]), p[0] + p[1]), (-1.5, 0.5), (0.2, 2)),
    plain(1, lambda a, c: b.DeadSpace(c, a), lambda t, u, p: max(u[0] - p[1], 0.0) + min(u[0] - p[0], 0.0), (-1, 0), (0, 1)),
    plain(1, b.NegativeClipper, lambda t, u, p: max(u[0], 0.0)),
    plain(1, b.PositiveClipper, lambda t, u, p: min(u[0], 0.0)),
    plain(1, lambda k: b.UserBlock(lambda x: x * x if x > k else k * k), lambda t, u, p: u[0] ** 2 if u[0] > p[0] else p[0] ** 2, (-1, 1)),
    *_LOGIC, Curve, Hysteresis, Pid, Transfer, Hold, Filter, SampledPid,
]  # fmt: skip
STATES: list[type[Piece]] = [Integrator, Integrator, Integrator, Lag, Transfer, RateLimiter, Delay]


class Written:
    """A random diagram.

    Parameters
    ----------
    seed : of everything.
    """

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        kinds = [draw.choices(kinds, k=draw.randint(*many)) for kinds, many in ((SOURCES, (1, 3)), (STATES, (1, 4)), (OTHERS, (2, 8)))]
        self.pieces = [kind(draw) for several in kinds for kind in several]
        free = [k for k, piece in enumerate(self.pieces) if piece.n_in == 0 or not piece.needs_now]
        self._drivers: dict[int, list[int]] = {}
        self._order = [*free]
        for k, piece in enumerate(self.pieces):
            if piece.n_in and piece.needs_now:
                self._drivers[k] = draw.choices(self._order, k=piece.n_in)
                self._order.append(k)
        for k in free:
            self._drivers[k] = draw.choices(range(len(self.pieces)), k=self.pieces[k].n_in)

    def model(self) -> Any:
        """The diagram; block k is called b<k>."""
        made = tg.Diagram("written")
        blocks = [made.add(piece.block(), f"b{k}") for k, piece in enumerate(self.pieces)]
        for k, piece in enumerate(self.pieces):
            for port, driver in zip(piece.ports, self._drivers[k], strict=False):
                made.connect(blocks[driver].out, getattr(blocks[k], port))
        return made

    def _inputs(self, signals: list[float], k: int) -> list[float]:
        return [signals[driver] for driver in self._drivers[k]]

    def _signals(self, t: float, states: list[list[float]]) -> list[float]:
        found = [0.0] * len(self.pieces)
        for k in self._order:
            found[k] = self.pieces[k].out(t, states[k], self._inputs(found, k) if self.pieces[k].needs_now else [])
        return found

    def _rates(self, t: float, states: list[list[float]]) -> list[list[float]]:
        signals = self._signals(t, states)
        return [piece.rates(t, states[k], self._inputs(signals, k)) for k, piece in enumerate(self.pieces)]

    def _settled(self, t: float, states: list[list[float]]) -> list[list[float]]:
        for _ in range(3):
            signals = self._signals(t, states)
            states = [piece.after(states[k], self._inputs(signals, k)) for k, piece in enumerate(self.pieces)]
        return states

    def _ticked(self, t: float, states: list[list[float]], due: Sequence[Piece]) -> list[list[float]]:
        for piece in due:
            piece.show()
        states = self._settled(t, states)
        signals = self._signals(t, states)
        for k, piece in enumerate(self.pieces):
            if piece in due:
                piece.tick(self._inputs(signals, k))
        return self._settled(t, states)

    def in_steps(self, h: float) -> list[list[float]]:
        """All signals at ``TIMES``."""

        def moved(states: list[list[float]], by: float, rates: list[list[float]]) -> list[list[float]]:
            return [[x + by * rate for x, rate in zip(*pair, strict=True)] for pair in zip(states, rates, strict=True)]

        t, found, todo = 0.0, [], [*TIMES]
        states = self._settled(t, [piece.begin() for piece in self.pieces])
        while todo:
            # a tick at the start is one, a corner there is none
            ahead = [piece.next_time(t) for piece in self.pieces]
            end = min(t + h, todo[0], *ahead)
            width = end - t
            k1 = self._rates(t, states)
            k2 = self._rates(t + width / 2, moved(states, width / 2, k1))
            k3 = self._rates(t + width / 2, moved(states, width / 2, k2))
            k4 = self._rates(end - width * 1e-9, moved(states, width, k3))
            for part, rates in ((1, k1), (2, k2), (2, k3), (1, k4)):
                states = moved(states, width * part / 6, rates)
            t = end
            if any(not abs(x) < _LARGEST for own in states for x in own):
                raise Unclear
            states = self._settled(t, states)
            due = [piece for piece, time in zip(self.pieces, ahead, strict=True) if isinstance(piece, Sampled) and time == t]
            if due:
                states = self._ticked(t, states, due)
            if t == todo[0]:
                found.append(self._signals(t, states))
                todo.pop(0)
        return found
