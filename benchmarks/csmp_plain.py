"""The language's method in plain Python: what the native machine is measured against, and a second way to its values.

Written from the specification as straightforward Python would be, with dictionaries by block number; user routines and debug listings are left out.
"""

from __future__ import annotations

import math

from tidegate.csmp.language.program import CsmpProgram

__all__ = ["Plain"]


class Plain:
    """A program, its values, and what it remembers."""

    def __init__(self, program: CsmpProgram, t0: float, h: float, seed: int = 524287) -> None:
        self.program = program
        self.t0, self.h, self.seed = t0, h, seed
        self.order = [b for b in program.sort_list() if program.blocks[b].kind not in ("K", "U")]
        self.delays = [b for b in program.numbers if program.blocks[b].kind == "U"]
        self.states = [b for b in program.numbers if program.blocks[b].kind in ("I", "T1")]
        self.p = {b: list(program.parameter(b)) for b in program.numbers}
        self.x = {0: 0.0, 1: t0} | {b: self.p[b][0] for b in program.numbers}
        self.full = {b: self.p[b][0] for b in self.states}
        self.rate = dict.fromkeys(self.states, 0.0)
        self.behind = dict.fromkeys(self.delays, 0.0)  # what a delay of a delay gives next
        self.held = {b: 0.0 for b in program.numbers if program.blocks[b].kind == "Z"}
        self.pulse: dict[int, float] = {}
        self.fired: dict[int, bool] = {}
        self.k = 0
        self.stage = "initial"
        self._exchange()
        self._pass()

    def half_step(self) -> None:
        """Go on by half an integration interval."""
        self.k += 1
        self.stage = "half" if self.k % 2 else "full"
        width = self.h / 2 if self.stage == "half" else self.h
        new = {b: self.full[b] + width * self.rate[b] for b in self.states}
        blocks, x = self.program.blocks, self.x
        delayed = {b: self.behind[b] if self._is_delay(blocks[b].inputs[0]) else x[blocks[b].inputs[0]] for b in self.delays}
        x.update(delayed)
        self._exchange()
        x.update(new)
        if self.stage == "full":
            self.full.update(new)
        x[1] = self.t0 + self.k * self.h / 2
        self._pass()

    def _is_delay(self, b: int) -> bool:
        return b in self.program.blocks and self.program.blocks[b].kind == "U"

    def _exchange(self) -> None:
        for b in self.delays:
            source = self.program.blocks[b].inputs[0]
            if self._is_delay(source):
                self.behind[b] = self.x[source]

    def _pass(self) -> None:
        self.fired.clear()
        for b in self.order:
            self._execute(b, again=False)

    def _execute(self, b: int, again: bool) -> None:  # noqa: C901, one case a block type, as in the report's table
        block = self.program.blocks[b]
        x, (p1, p2, p3) = self.x, self.p[b]
        i1, i2, i3 = block.inputs
        x1, x2, x3 = x[i1], x[i2], x[i3]
        match block.kind:
            case "G":
                x[b] = p1 * x1
            case "W":
                x[b] = p1 * x1 + p2 * x2 + p3 * x3
            case "+":
                s1, s2, s3 = block.signs
                x[b] = s1 * x1 + s2 * x2 + s3 * x3
            case "X":
                x[b] = x1 * x2
            case "I":
                if x3 != 0:
                    x[b] = p1
                    if self.stage != "half":
                        self.full[b] = p1
                self.rate[b] = 0.0 if x2 != 0 else x1 * (1 + p2) + p3
            case "T1":
                self.rate[b] = (x1 + x2 + x3 - x[b]) / p2
            case "-":
                x[b] = -x1
            case "/":
                x[b] = x1 / x2
            case "O":
                x[b] = x1 + p1
            case "M":
                x[b] = abs(x1)
            case "H":
                x[b] = math.sqrt(x1)
            case "B":
                x[b] = 1.0 if x1 >= 0 else -1.0
            case "D":
                x[b] = x1 - p1 if x1 > p1 else x1 - p2 if x1 < p2 else 0.0
            case "L":
                x[b] = p1 if x1 > p1 else max(x1, p2)
            case "N":
                x[b] = x1 if x1 > 0 else 0.0
            case "P":
                x[b] = x1 if x1 < 0 else 0.0
            case "R":
                x[b] = x2 if x1 >= 0 else x3
            case "F":
                x[b] = self._function(b, int(p1) or 1, x1)
            case "Q":
                self.fired[b] = x1 > x2
            case "Z":
                if not again:
                    self.held[b] = x[b]
                if self.stage != "initial":
                    x[b] = x1 if x2 > 0 else self.held[b]
            case "J" if not again:
                self.seed = 14**29 * self.seed % (2**31 - 1)
                x[b] = 2 * self.seed / (2**31 - 1) - 1
            case "T" if not again:
                self._pulse(b, p1, x1)
            case "Y":
                self._solve(b, p1, int(p2) or 20)
            case _:
                pass

    def _pulse(self, b: int, period: float, x1: float) -> None:
        x = self.x
        if x1 < 0:
            x[b] = 0.0
            self.pulse.pop(b, None)
        elif b not in self.pulse:
            x[b] = 1.0
            self.pulse[b] = (self.h - period) / 2 + 1e-4 * min(self.h, period)
        else:
            while self.pulse[b] >= 0:
                x[b] = 1 - x[b]
                self.pulse[b] -= period / 2
            self.pulse[b] += self.h / 2

    def _function(self, b: int, degree: int, x: float) -> float:
        pairs = self.program.functions[b]
        n_left = sum(a <= x for a, _ in pairs)
        nearest = min(range(len(pairs)), key=lambda i: abs(pairs[i][0] - x))
        start = n_left - (degree + 1) // 2 if degree % 2 else nearest - degree // 2
        start = min(max(start, 0), len(pairs) - degree - 1)
        window = pairs[start : start + degree + 1]
        if degree == 1:
            (xa, ya), (xb, yb) = window
            return ya + (yb - ya) / (xb - xa) * (x - xa)
        total = 0.0
        for i, (xi, yi) in enumerate(window):
            term = yi
            for j, (xj, _) in enumerate(window):
                if i != j:
                    term *= (x - xj) / (xi - xj)
            total += term
        return total

    def _solve(self, y: int, tolerance: float, limit: int) -> None:
        f, v, _ = self.program.blocks[y].inputs
        x = self.x
        loop = self.order[self.order.index(v) + 1 : self.order.index(y)]
        guess, value = x[v], x[f]
        new, n = value, 0
        while not (abs(new - guess) < abs(guess) * tolerance or (abs(guess) <= 1e-30 and abs(new) < 1e-30)):
            n += 1
            if n > limit:
                break
            before, value_before, guess = guess, value, new
            x[v] = guess
            for b in loop:
                self._execute(b, again=True)
            new = value = x[f]
            if guess != before and (a := (value - value_before) / (guess - before)) != 1:
                q = a / (a - 1)
                new = q * guess + (1 - q) * value
        x[v] = x[y] = new
