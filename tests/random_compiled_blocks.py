"""Random blocks for ``random_compiled_source`` to write in C or Fortran 77, and what they do by exponentials of matrices.

No integrator and no front end is used but in ``judge``. Between events each is linear in its states, with inputs that are linear in pieces, so
that x(t) has a closed form. What an event does depends on how many there were, and each is kept in a signature: one too many, too few, of another
kind or in another order changes all that follows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

import tidegate as tg

END, MODES, MAX_STEP = 4.0, 6, 0.05
MODULUS = 10007
CLEAR = 1e-4  # what is nearer to something else is not judged


class Unclear(Exception):
    """Rounding would decide here."""


class Drawn:
    """What a random block is.

    Attributes
    ----------
    n, n_q : states; algebraic unknowns behind them (DAE only).
    a, aq, c, b, d : per mode, x' = (a + d w) x + aq q + c + parameters + b s with s = gains u + slope t.
    qx, qs, qc : q = qx x + qs s + qc.
    mixing : of a DAE, F = mixing (xd - rates, q - ...).
    """

    def __init__(self, seed: int) -> None:
        r = self.random = np.random.default_rng(seed)
        self.seed, self.prefix = seed, f"r{seed}"
        self.is_dae = bool(r.random() < 0.45)
        self.n = n = int(r.integers(1, 4))
        self.n_q = int(self.is_dae and r.random() < 0.6)
        self.n_u, self.n_z = int(r.integers(0, 3)), int(r.integers(0, 4))
        self.has_jacobian, self.has_steps = bool(r.random() < 0.5), bool(r.random() < 0.35)
        self.uses_rates, self.scales = bool(r.random() < 0.5), bool(r.random() < 0.5)
        self.gains, self.slope = r.normal(size=self.n_u), float(r.choice([0.0, 0.4]))
        self.a = r.normal(size=(MODES, n, n)) * 0.6 - 0.7 * np.eye(n)
        self.c, self.b, self.d = r.normal(size=(MODES, n)) * 1.5, r.normal(size=(MODES, n)), r.normal(size=(MODES, n)) * 0.4
        self.aq = r.normal(size=(MODES, n)) * 0.5 * self.n_q
        self.w = r.normal(size=n)
        self.qx, self.qs, self.qc = r.normal(size=n) * 0.5, float(r.normal()), float(r.normal())
        m = n + self.n_q
        self.mixing = np.eye(m) * 1.5 + r.normal(size=(m, m)) * 0.25
        self.zx, self.zs, self.zc = r.normal(size=(MODES, self.n_z, n)), r.normal(size=(MODES, self.n_z)) * 0.3, r.normal(size=(MODES, self.n_z))
        self.directions = r.integers(-1, 2, size=(MODES, self.n_z))
        varies = r.random() < 0.4 and not self.n_q
        lowest = 1 if self.is_dae or self.has_steps else 0
        self.nx = r.integers(lowest, n + 1, size=MODES) if varies else np.full(MODES, n)
        self.nz = r.integers(0, self.n_z + 1, size=MODES) if r.random() < 0.4 else np.full(MODES, self.n_z)
        self.nz = np.where(self.nx == 0, 0, self.nz)
        self.restarts = (r.random(MODES) < 0.7).astype(int)  # by the number of the event
        self.ticks = np.where(r.random(MODES + 1) < 0.6, r.uniform(0.15, 0.9, MODES + 1), 0.0)
        self.reach = np.where(r.random(MODES + 1) < 0.3, r.uniform(0.01, 0.2, MODES + 1), 0.0)
        self.resets = np.where(r.random((MODES, n)) < 0.3, r.normal(size=(MODES, n)), np.nan)
        self.x0, self.threshold = r.normal(size=n), float(r.normal() * 0.5)
        self.y = r.normal(size=(2, n))
        self.kinds = [str(k) for k in r.permutation(["real", "reals", "integer", "logical", "integers"])]
        self.values = {"real": r.normal(size=1), "reals": r.normal(size=6), "integer": r.integers(-3, 4, 1), "logical": r.integers(0, 2, 1),
                       "integers": r.integers(-3, 4, 4)}  # fmt: skip
        self.changed = {k: v for k, v in (
            ("real", r.normal(size=1)), ("reals", r.normal(size=6)), ("integer", r.integers(-3, 4, 1)), ("logical", r.integers(0, 2, 1))
        ) if r.random() < 0.4}  # fmt: skip
        self.splits = [int(r.integers(0, 3)) for _ in "xz"]
        self.tables = [(np.array([0.0, *np.sort(r.uniform(0.3, END - 0.3, 2)), END]), r.normal(size=4)) for _ in range(self.n_u)]
        self.language = "c" if r.random() < 0.5 else "f"

    # the parameters by which rates are shifted: (name, place, factor) of state i
    def parameter_of(self, i: int) -> tuple[str, int, float]:
        return [("reals", 3, 0.5), ("integer", 0, 0.2), ("logical", 0, 0.7)][i % 3]

    def run_parameters(self) -> dict[str, object]:
        """As the user gives them; arrays in natural order, of two dimensions (2, 3) in columns inside."""
        shapes = {"reals": (2, 3)}
        found: dict[str, object] = {}
        for kind, value in self.changed.items():
            found[kind.upper()] = value.reshape(shapes[kind], order="F") if kind in shapes else bool(value[0]) if kind == "logical" else value[0]
        return found

    def shift(self, i: int, *, with_changes: bool = True) -> float:
        name, place, factor = self.parameter_of(i)
        values = self.changed.get(name, self.values[name]) if with_changes else self.values[name]
        return factor * float(values[place])

    def rates(self, k: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x' = A x + c + b s, without algebraic unknowns."""
        a = self.a[k][:n, :n] + np.outer(self.d[k][:n], self.w[:n])
        c, b = self.c[k][:n] + [self.shift(i) for i in range(n)], self.b[k][:n].copy()
        if self.n_q:
            a, c, b = a + np.outer(self.aq[k], self.qx), c + self.aq[k] * self.qc, b + self.aq[k] * self.qs
        return a, c, b


def names_of(name: str, n: int, split: int) -> list[str]:
    """By which the result knows the elements."""
    first = 0 if split == 1 else min(1 if split == 2 else n, n)
    return [*(f"{name}{i}" for i in range(first)), *(f"{name}A[{i}]" for i in range(n - first))]


def reset(drawn: Drawn, e: int, k: int, i: int) -> float:
    """The new value of state i by event number e in mode k; that of a state which was not there must be given."""
    value = float(drawn.resets[e][i])
    return 0.3 if i >= drawn.nx[k] and math.isnan(value) else value


# -- what it does -----------------------------------------------------------------------------------------------------------------------------------


@dataclass
class Piece:
    """From ``start`` on, x' = A x + c + b (s0 + s1 (t - start))."""

    start: float
    k: int
    x: np.ndarray
    matrix: np.ndarray
    s: tuple[float, float]
    signature: int
    count: int

    def at(self, t: float) -> np.ndarray:
        return self.at_all(np.array([t]))[0]

    def at_all(self, t: np.ndarray) -> np.ndarray:
        return (expm(self.matrix * (t - self.start)[:, None, None]) @ [*self.x, 1.0, 0.0])[:, : len(self.x)]

    def source(self, t: float) -> float:
        return self.s[0] + self.s[1] * (t - self.start)

    def many(self, h: float, count: int) -> np.ndarray:
        """At the start and ``count`` distances h behind it."""
        step, v, found = expm(self.matrix * h), np.array([*self.x, 1.0, 0.0]), []
        for _ in range(count + 1):
            found.append(v[: len(self.x)])
            v = step @ v
        return np.array(found)


@dataclass
class Happened:
    time: float
    word: tuple[int, int, int]
    hinfo: int


@dataclass
class Truth:
    pieces: list[Piece] = field(default_factory=list)
    events: list[Happened] = field(default_factory=list)


def source_at(drawn: Drawn, t: float) -> float:
    return float(sum(g * np.interp(t, *table) for g, table in zip(drawn.gains, drawn.tables, strict=True)) + drawn.slope * t)


def truth(drawn: Drawn, step_events: list[float]) -> Truth:
    """All of it; step events happen at these times, which must be possible."""
    found, t, x, k = Truth(), 0.0, drawn.x0[: drawn.nx[0]].copy(), 0
    signature = count = 0
    kinks = sorted({float(time) for times, _ in drawn.tables for time in times[1:]} | {END})
    tick = t + drawn.ticks[-1] if drawn.ticks[-1] else math.inf
    waiting, passed = list(step_events), False
    directions = drawn.directions[0]
    while True:
        n = len(x)
        a, c, b = drawn.rates(k, n)
        stop = min([kink for kink in kinks if kink > t + 1e-12])
        s0, s1 = source_at(drawn, t), (source_at(drawn, stop) - source_at(drawn, t)) / (stop - t)
        matrix = np.zeros((n + 2, n + 2))
        matrix[:n, :n], matrix[:n, n], matrix[:n, n + 1], matrix[n + 1, n] = a, c + b * s0, b * s1, 1.0
        piece = Piece(t, k, x, matrix, (s0, s1), signature, count)
        found.pieces.append(piece)
        crossing, which = _crossing(drawn, piece, min(stop, tick), directions)
        step = waiting[0] if waiting else math.inf
        now = min(crossing, tick, step, stop)
        times = sorted([crossing, tick, step, *kinks])
        if now < END and np.any(np.abs(np.array(times) - now) < CLEAR) and sum(abs(one - now) < CLEAR for one in times) > 1:
            raise Unclear
        if now >= END or now == stop:
            x = piece.at(min(now, END))
            if now >= END:
                return found
            t = stop
            continue
        x = piece.at(now)
        word = (int(now == tick), int(now == crossing), int(now == step))
        if word[2]:
            waiting.pop(0)
            assert x[0] > drawn.threshold - 1e-9
            assert not passed
            passed = True
        hinfo = 1 << which if word[1] else 0
        found.events.append(Happened(now, word, hinfo))
        signature = (7 * signature + word[0] + 2 * word[1] + 4 * word[2] + 8 * hinfo) % MODULUS
        e, t = count % MODES, now
        count += 1
        if count > 60:
            raise Unclear
        if word[0]:
            tick = t + drawn.ticks[e] if drawn.ticks[e] else math.inf
        if drawn.restarts[e]:
            new = (k + 1) % MODES
            values = [reset(drawn, e, k, i) for i in range(int(drawn.nx[new]))]
            x = np.array([x[i] if math.isnan(value) else value for i, value in enumerate(values)])
            k = new
            if word[1]:
                directions = drawn.directions[k]  # HCROSS is looked at after state events only
            z = indicators(drawn, k, x, source_at(drawn, t))
            if len(z) and np.min(np.abs(z)) < CLEAR:
                raise Unclear


def indicators(drawn: Drawn, k: int, x: np.ndarray, s: float) -> np.ndarray:
    """Without their positive factor."""
    m = int(drawn.nz[k])
    return drawn.zx[k][:m, : len(x)] @ x + drawn.zs[k][:m] * s + drawn.zc[k][:m]


def _indicator(drawn: Drawn, piece: Piece, j: int, t: float) -> float:
    return float(indicators(drawn, piece.k, piece.at(t), piece.source(t))[j])


def _crossing(drawn: Drawn, piece: Piece, stop: float, directions: np.ndarray) -> tuple[float, int]:
    """The first, after where the piece starts."""
    m, length = int(drawn.nz[piece.k]), stop - piece.start
    if not m or length <= 0:
        return math.inf, -1
    points = max(20, int(length * 400))
    xs, h = piece.many(length / points, points), length / points
    z = np.array([indicators(drawn, piece.k, x, piece.source(piece.start + i * h)) for i, x in enumerate(xs)])
    best = (math.inf, -1)
    for j in range(m):
        column = z[:, j].copy()
        if abs(column[0]) < 1e-9:
            column[0] = column[1]  # the zero where it starts has been told
        for i, (before, after) in enumerate(pairwise(column)):
            if before * after < 0:
                direction = int(directions[j])
                if direction in (0, int(np.sign(after - before))):
                    start = piece.start + (i * h if i else h * 1e-3)
                    root = brentq(lambda t, j=j: _indicator(drawn, piece, j, t), start, piece.start + (i + 1) * h, xtol=1e-14)
                    if root < best[0]:
                        if abs(root - best[0]) < CLEAR:
                            raise Unclear
                        best = (float(root), j)
                    break
            elif (
                0 < i < points - 1
                and abs(after) < 1e-3
                and abs(after) < abs(before)
                and abs(after) <= abs(column[i + 2])
                and before * column[i + 2] > 0
            ):
                raise Unclear  # touches zero, or nearly
    return best


# -- the judge --------------------------------------------------------------------------------------------------------------------------------------


def judge(drawn: Drawn, block: tg.DSblock, method: str) -> None:
    """Run it and compare events and every recorded number."""
    judge_together({"": drawn}, block, method)


def judge_together(drawn: Mapping[str, Drawn], block: tg.DSblock, method: str) -> None:
    """Likewise blocks that know nothing of each other, at most one of which has step events; each is what stands in front of its names."""
    inputs = {f"{front}U{i}": table for front, one in drawn.items() for i, table in enumerate(one.tables)}
    parameters = {front + name: value for front, one in drawn.items() for name, value in one.run_parameters().items()}
    has_steps = any(one.has_steps for one in drawn.values())
    result = tg.simulate(block, (0.0, END), rtol=1e-9, method=method, inputs=inputs, parameters=parameters, max_step=MAX_STEP if has_steps else 0.5)
    steps = [float(event.time) for event in result.events if "step" in str(event.kind)]
    expected = {front: truth(one, steps if one.has_steps else []) for front, one in drawn.items()}
    kinks = {float(time) for one in drawn.values() for times, _ in one.tables for time in times}
    found = [float(event.time) for event in result.events if event.time not in kinks]
    events = sorted(event.time for one in expected.values() for event in one.events)
    if np.any(np.diff(events) < CLEAR):
        raise Unclear
    assert len(found) == len(events), (found, events)
    np.testing.assert_allclose(found, events, atol=2e-7, rtol=0)
    for front, one in drawn.items():
        _judge_rows(one, result, expected[front], front)
        _judge_step_events(one, expected[front])


def _judge_rows(drawn: Drawn, result: tg.Result, expected: Truth, front: str) -> None:
    names = {
        "x": names_of("X", drawn.n + drawn.n_q, drawn.splits[0]), "z": names_of("Z", drawn.n_z, drawn.splits[1]),
    }  # fmt: skip
    starts = np.array([piece.start for piece in expected.pieces])
    time = np.asarray(result.time)
    recorded = [*names["x"], *names["z"], "SIG", "MODE", "STORED", "COUNT", "Y0", "Y1"]
    columns = {name: result[front + name.partition("[")[0]].values for name in recorded}
    number = np.searchsorted(starts, time, side="right") - 1
    is_near = np.min(np.abs(time[:, None] - np.append(starts[1:], math.inf)), axis=1) < 1e-6  # of two rows there
    for k, piece in enumerate(expected.pieces):
        rows = np.flatnonzero((number == k) & ~is_near)
        for row, x in zip(rows, piece.at_all(time[rows]), strict=True):
            for name, value in _row(drawn, piece, float(time[row]), x, names).items():
                given = columns[name][row]
                given = given[int(name.partition("[")[2][:-1])] if "[" in name else given
                tolerance = 2e-6 * max(1.0, abs(value)) if math.isfinite(value) else 0.0
                is_right = (math.isnan(value) and np.isnan(given)) or abs(given - value) <= tolerance
                assert is_right, (front + name, float(time[row]), float(given), value)


def _row(drawn: Drawn, piece: Piece, t: float, x: np.ndarray, names: dict[str, list[str]]) -> dict[str, float]:
    s, k, n = piece.source(t), piece.k, len(x)
    a, c, b = drawn.rates(k, n)
    rates = a @ x + c + b * s
    q = float(drawn.qx[:n] @ x + drawn.qs * s + drawn.qc) if drawn.n_q else 0.0
    stored = float(drawn.w[:n] @ x)
    row = {"SIG": float(piece.signature), "MODE": float(k), "STORED": stored, "COUNT": float(piece.count)}
    row["Y0"] = float(drawn.y[0][:n] @ x) + s + 0.5 * t + 1.5 * q
    row["Y1"] = float(drawn.y[1][:n] @ x) + s + 0.5 * t + (2.0 * float(rates[0]) if n and drawn.uses_rates else 0.0)
    row |= dict(zip(names["x"], [*x, *([q] if drawn.n_q else []), *[math.nan] * (drawn.n - n)], strict=True))
    z = indicators(drawn, k, x, s) * (1.0 + stored**2 if drawn.scales else 1.0)
    row |= dict(zip(names["z"], [*z, *[math.nan] * (drawn.n_z - len(z))], strict=True))
    return row


def _judge_step_events(drawn: Drawn, found: Truth) -> None:
    """No step may have ended long before one, above the threshold, without a word."""
    if not drawn.has_steps:
        return
    first, since = next((event.time for event in found.events if event.word[2]), END), -math.inf
    for piece, after in zip(found.pieces, [*(piece.start for piece in found.pieces[1:]), END], strict=True):
        since = -math.inf  # a step that an event cuts is not looked at
        times = np.linspace(piece.start, after, 200)
        for t, x in zip(times, piece.at_all(times), strict=True):
            if t >= first:
                return
            since = -math.inf if x[0] <= drawn.threshold else t if since == -math.inf else since
            assert since == -math.inf or t - since <= 2 * MAX_STEP, ("no step event", float(t), float(since))
