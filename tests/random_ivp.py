"""Random calls of SciPy's ``solve_ivp`` as people write them: functions as source text, in seven styles, and events, arguments, times, directions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from written_source import space_of

__all__ = ["RandomCall"]

_STYLES = ("matrix", "list", "unpacked", "loop", "object", "stacked", "in place")


class RandomCall:
    """One call.

    Attributes
    ----------
    text : the source of its functions.
    fun, t_span, y0, options : what both solvers are called with.
    """

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.n = rng.randint(1, 4)
        self.names = ["k", "q"][: rng.choice([0, 0, 1, 2])]
        self.k = self.names[0] if self.names else "1.1"
        self.q = self.names[1] if len(self.names) > 1 else "0.7"
        weights = [[self._number(-1, 1) for _ in range(self.n)] for _ in range(self.n)]
        self.lines = [
            "import math",
            "import numpy as np",
            f"W = np.array({weights})",
            f"b = np.array({[self._number(-1, 1) for _ in range(self.n)]})",
        ]
        self._function(rng.choice(_STYLES))
        events = [self._event(number) for number in range(rng.randint(0, 3))]
        self.text = "\n".join(self.lines)
        space = space_of(self.text, f"<call {seed} of solve_ivp>")
        self.fun = space["f"]
        self.y0 = [self._number(-1, 1) for _ in range(self.n)]
        start = self._number(-1, 1)
        self.t_span = start, start + rng.choice([1, 1, 1, -1]) * self._number(2, 7)
        self.options: dict[str, Any] = {"dense_output": True}
        if self.names:
            self.options["args"] = tuple(self._number(0.5, 1.5) for _ in self.names)
        if events:
            self.options["events"] = [space[name] for name in events] if len(events) > 1 or rng.random() < 0.5 else space[events[0]]
        if rng.random() < 0.5:
            parts = sorted(rng.random() for _ in range(rng.randint(1, 9)))
            self.options["t_eval"] = np.array([start + (self.t_span[1] - start) * part for part in parts])
        self.method = rng.choice(["RK45", "DOP853", "Radau", "BDF", "LSODA", "RK23"])

    def _number(self, low: float, high: float) -> float:
        return round(self.rng.uniform(low, high), 3)

    @property
    def _head(self) -> str:
        return ", ".join(["t", "y", *self.names])

    def _term(self, names: list[str]) -> str:
        number, a, c = self._number, self.rng.choice(names), self.rng.choice(names)
        return self.rng.choice(
            [
                f"{number(-1, 1)}*np.sin({a})",
                f"{self.k}*np.cos({number(0.5, 2)}*t)",
                f"-{self.q}*{a}",
                f"{number(-0.5, 0.5)}*np.tanh({c})",
                f"np.exp(-{a}**2)*{number(-1, 1)}",
                f"{number(-1, 1)}*max({a}, {number(-0.3, 0.3)})",
                f"{number(0.2, 0.8)}*abs({a} - {number(-0.5, 0.5)})",
                f"{number(-0.5, 0.5)}*np.where({a} > {number(-0.5, 0.5)}, {c}, {number(-0.5, 0.5)})",
                f"{number(0.1, 0.5)}*np.clip({a}, -0.5, {number(0, 0.8)})",
                f"math.sqrt(1 + {c}*{c})*{number(-0.5, 0.5)}",
                f"{number(-0.6, 0.6)}*((t % {number(0.5, 2)}) < {number(0.1, 0.5)})",
            ]
        )

    def _sum(self, own: str, names: list[str]) -> str:
        return " + ".join([f"-0.3*{own}", *(self._term(names) for _ in range(self.rng.randint(1, 3)))])

    def _function(self, style: str) -> None:
        number, n, k, q = self._number, self.n, self.k, self.q
        entries = [f"y[{i}]" for i in range(n)]
        body: list[str]
        if style == "matrix":
            body = [f"return np.tanh(W @ y)*{k} - {q}*y + b*np.sin({number(0.5, 2)}*t)"]
        elif style == "list":
            body = [f"return [{', '.join(self._sum(entry, entries) for entry in entries)}]"]
        elif style == "unpacked":
            names = [f"x{i}" for i in range(n)]
            rates = ", ".join(f"d{i}" for i in range(n))
            body = [f"{', '.join(names)}, = y", *(f"d{i} = {self._sum(names[i], names)}" for i in range(n))]
            body.append(self.rng.choice([f"return np.array([{rates}])", f"return ({rates},)"]))
        elif style == "loop":
            body = ["dy = np.zeros_like(y)", f"for i in range({n}):", f"    for j in range({n}):", "        dy[i] += W[i, j]*np.sin(y[j])"]
            body += [f"    dy[i] -= {q}*y[i]", f"    if y[i] > {number(-0.3, 0.6)}:", f"        dy[i] += {number(0.1, 0.6)}", "return dy"]
        elif style == "object":
            self.lines += [
                "class Law:",
                "    gain = 0.8",
                "    def rate(self, v, t):",
                "        return -self.gain*v + math.sin(t)*0.5",
                "law = Law()",
            ]
            body = [f"return [law.rate(v, t + i*{k}) + {number(-0.5, 0.5)}*np.tanh(y[i - 1]) for i, v in enumerate(y)]"]
        elif style == "stacked":
            body = ["r = np.roll(y, 1) - y", f"return np.concatenate([r[:1]*{k}, r[1:]*{q} - 0.2*y[1:]]) - 0.3*y + {number(-1, 1)}*np.cos(t)"]
        else:
            body = [
                "u = y.copy()",
                "u = -0.4*u",
                f"u[0] += {k}*np.sin({number(0.6, 2)}*t)",
                f"u[-1] -= {number(0.1, 0.9)}*np.minimum(y[0], 0.1)",
                "return u",
            ]
        self.lines += [f"def f({self._head}):", *(f"    {line}" for line in body)]

    def _event(self, number: int) -> str:
        value, i, j = self._number, self.rng.randrange(self.n), self.rng.randrange(self.n)
        shown = self.rng.choice(
            [
                f"y[{i}] - {value(-0.8, 0.8)}",
                f"y[{i}] - {value(-0.5, 0.5)}*np.sin(t)",
                f"y[{i}] - y[{j}]*{value(-0.9, 0.9)} + {value(-0.2, 0.2)}",
                f"np.sin({value(0.5, 2)}*t) - {value(-0.7, 0.7)}",
                f"y[{i}]**2 - {value(0.05, 0.5)}",
                f"t - {value(0.3, 5)}",
                f"np.max(np.abs(y)) - {value(0.3, 1)}",
                f"math.cos(y[{i}]*2) - {value(-0.3, 0.8)}",
            ]
        )
        self.lines.append(f"def event{number}({self._head}): return {shown}")
        direction, terminal = self.rng.choice([None, 1, -1, 0]), self.rng.choice([None, None, None, True, 2, 3])
        if direction is not None:
            self.lines.append(f"event{number}.direction = {direction}")
        if terminal is not None:
            self.lines.append(f"event{number}.terminal = {terminal}")
        return f"event{number}"
