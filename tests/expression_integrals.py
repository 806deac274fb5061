"""Random nested expressions of motions that are known in closed form, and their integrals: branches, whole parts, remainders, saturations, and
tables, relations of all of them, as a user writes them.

The truth shares no code with a run. The same text is called by Python with numbers, with functions that note which branch they took; where the notes
of two instants differ, the instant in between at which they change is found by bisection, and pieces are integrated by Gauss's rule. It is computed
for motions moved by a little, too: where that makes a difference, something only touches its threshold, and nothing is known (``Unsure``).
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

import numpy as np

import tidegate as tg
from written_source import space_of

__all__ = ["T_END", "Integrals", "Unsure", "integrals"]

T_END: Final = 3.0
_PARTS: Final = 2000
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_MOVED: Final = 1e-5
_DIFFERENT: Final = 1e-3


class Unsure(Exception):
    """Of such a model nobody knows."""


@dataclass(frozen=True)
class Integrals:
    """A model with four integrals, q0 to q3, of these texts, and n, how often the third becomes true."""

    source: Any
    texts: list[str]
    values: list[float]
    rises: int
    text: str


class _Writer:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def number(self, low: float = -1.0, high: float = 1.0) -> str:
        return repr(float(f"{self.draw.uniform(low, high):.3g}"))

    def atom(self) -> str:
        return self.draw.choice(["s", "c", "d", "l", "g", "p", "t", f"np.sin({self.number(0.5, 6.0)} * t + {self.number()})", self.number()])

    def value(self, depth: int) -> str:
        d, n = self.draw, self.number
        if depth == 0:
            return self.atom()

        def e() -> str:
            return self.value(depth - 1 - (d.random() < 0.4) if depth > 1 else 0)

        kind = d.random()
        if kind < 0.22:
            return f"({e()} {d.choice('+-*')} {e()})"
        if kind < 0.27:
            return self.atom()
        if kind < 0.36:
            return d.choice([f"max({e()}, {e()})", f"min({e()}, {e()}, {n()})", f"np.maximum({e()}, {e()})", f"max([{e()}, {e()}, {n()}])"])
        if kind < 0.44:
            return f"({e()} if {self.condition(depth - 1)} else {e()})"
        if kind < 0.50:
            return f"np.where({self.condition(depth - 1)}, {e()}, {e()})"
        if kind < 0.54:
            return f"({self.condition(depth - 1)}) * {e()}"
        one = e()
        return d.choice(
            [
                lambda: f"abs({one})",
                lambda: f"np.sign({one})",
                lambda: f"np.floor({n(0.7, 3.0)} * {one})",
                lambda: f"np.ceil({one} * {n(0.7, 3.0)})",
                lambda: f"np.clip({one}, {n(-0.9, -0.1)}, {n(0.1, 0.9)})",
                lambda: f"({one} % {n(0.3, 1.0)})",
                lambda: f"({one} // {n(0.3, 1.0)})",
                lambda: f"np.tanh({one})",
                lambda: f"np.sqrt({one} ** 2 + {n(0.05, 0.3)})",
                lambda: f"np.cos({one})",
                lambda: f"np.hypot({one}, {n(0.1, 0.3)})",
                lambda: f"np.arctan2({one}, 2.5 + np.cos({e()}))",
                lambda: f"({one} / (1.3 + {e()} ** 2))",
                lambda: f"np.interp({one}, [-0.7, -0.1, 0.4, 0.8], [{n()}, {n()}, {n()}, {n()}])",
                lambda: f"np.heaviside({one}, 0.5)",
                lambda: f"np.exp(-abs({one}))",
                lambda: f"np.trunc({n(1.0, 3.0)} * {one})",
                lambda: f"np.fmod({one}, {n(0.3, 1.0)})",
                lambda: f"np.round({n(1.0, 3.0)} * {one})",
            ]
        )()

    def condition(self, depth: int) -> str:
        d = self.draw

        def e() -> str:
            return self.value(max(0, depth - 1)) if d.random() < 0.6 else self.value(0)

        def relation() -> str:
            return f"{e()} {d.choice(['>', '<', '>=', '<='])} {self.number() if d.random() < 0.6 else e()}"

        kind = d.random()
        if depth <= 0 or kind < 0.4:
            return relation()
        if kind < 0.55:
            return f"({self.condition(depth - 1)} {d.choice(['and', 'or'])} {self.condition(depth - 1)})"
        if kind < 0.62:
            return f"(not {self.condition(depth - 1)})"
        if kind < 0.72:
            return f"{self.number(-0.9, 0.0)} {d.choice(['<', '<='])} {e()} {d.choice(['<', '<='])} {self.number(0.0, 0.9)}"
        if kind < 0.78:
            return f"({self.condition(0)}) {d.choice(['!=', '=='])} ({self.condition(0)})"
        if kind < 0.86:
            return f"{d.choice(['any', 'all'])}([{self.condition(0)}, {self.condition(0)}, {self.condition(depth - 1)}])"
        return relation()


class _Noted(ast.NodeTransformer):
    """Every comparison, remainder and whole quotient is noted."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("holds", ast.Load()), [node], [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = {ast.Mod: "remainder", ast.FloorDiv: "quotient"}.get(type(node.op))
        return node if name is None else ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], [])


class _Python:
    """What Python and NumPy make of a text at an instant, and the branches taken."""

    def __init__(self) -> None:
        self.notes: list[Any] = []
        self.names = {
            "np": self,
            "abs": lambda x: x if self._note(x >= 0) else -x,
            "max": lambda *x: self._best(max, x),
            "min": lambda *x: self._best(min, x),
            "holds": lambda x: self._note(bool(x)),
            "remainder": lambda x, m: x - m * self._note(math.floor(x / m)),
            "quotient": lambda x, m: float(self._note(math.floor(x / m))),
            "any": any,
            "all": all,
        }

    sin, cos, exp, tanh, sqrt, hypot, arctan2 = map(staticmethod, (math.sin, math.cos, math.exp, math.tanh, math.sqrt, math.hypot, math.atan2))

    def _note(self, what: Any) -> Any:
        self.notes.append(what)
        return what

    def _best(self, choose: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        values = given[0] if len(given) == 1 else given
        return values[self._note(choose(range(len(values)), key=values.__getitem__))]

    def floor(self, x: float) -> float:
        return float(self._note(math.floor(x)))

    def ceil(self, x: float) -> float:
        return float(self._note(math.ceil(x)))

    def trunc(self, x: float) -> float:
        return float(self._note(math.trunc(x)))

    def round(self, x: float) -> float:
        return float(self._note(round(x)))

    def sign(self, x: float) -> float:
        return float(self._note((x > 0) - (x < 0)))

    def fmod(self, x: float, m: float) -> float:
        return x - m * self._note(math.trunc(x / m))

    def clip(self, x: float, low: float, high: float) -> float:
        return (low, x, high)[self._note(0 if x < low else 2 if x > high else 1)]

    def where(self, condition: bool, a: float, b: float) -> float:
        return a if self._note(bool(condition)) else b

    def heaviside(self, x: float, at_zero: float) -> float:
        return (0.0, at_zero, 1.0)[self._note((x > 0) - (x < 0)) + 1]

    def maximum(self, a: float, b: float) -> float:
        return self._best(max, (a, b))

    def interp(self, x: float, xs: list[float], ys: list[float]) -> float:
        self._note(sum(x >= edge for edge in xs))
        return float(np.interp(x, xs, ys))


def _integral(code: CodeType, motion: Callable[[float], dict[str, float]]) -> tuple[float, int]:
    """The integral over the time of a run, and how often the value goes from 0 to 1."""
    python = _Python()

    def at(t: float) -> tuple[float, tuple[Any, ...]]:
        python.notes.clear()
        value = float(eval(code, {**python.names, **motion(float(t))}))
        return value, tuple(python.notes)

    cuts, rises = [0.0], 0
    ends = np.linspace(0.0, T_END, _PARTS + 1).tolist()
    low, here = 1e-12, at(1e-12)
    if at(0.0)[0] != here[0] and here[0] in (0.0, 1.0):
        raise Unsure
    for end in ends[1:]:
        there = at(end)
        for _ in range(12):
            if here[1] == there[1]:
                break
            a, b = low, end
            while b - a > 4e-16 * max(b, 1e-3):
                middle = 0.5 * (a + b)
                a, b = (middle, b) if at(middle)[1] == here[1] else (a, middle)
            low = min(b + 1e-12, end)
            behind = at(low)
            rises += here[0] == 0.0 and behind[0] == 1.0
            cuts.append(b)
            here = behind
        else:
            raise Unsure
        low, here = end, there
    total = 0.0
    for a, b in zip(cuts, [*cuts[1:], T_END], strict=True):
        if b - a > 1e-11:
            pieces = max(1, math.ceil((b - a) / 0.1))
            h = (b - a) / pieces
            total += sum(0.5 * h * w * at(a + h * (k + 0.5 + 0.5 * z))[0] for k in range(pieces) for z, w in zip(_NODES, _WEIGHTS, strict=True))
    return total, rises


def integrals(seed: int) -> Integrals:
    """The model of a seed.

    Raises
    ------
    Unsure : a little more or less makes a difference.
    """
    writer = _Writer(seed)
    texts = [*(writer.value(3) for _ in range(2)), *(writer.condition(2) for _ in range(2))]
    w, k, a, l0, r, v0 = (float(writer.number(*given)) for given in ((0.7, 5.0), (0.3, 3.0), (-0.6, 0.6), (-1.0, 1.0), (1.0, 4.0), (1.0, 4.0)))

    def motion(moved: float) -> Callable[[float], dict[str, float]]:
        def at(t: float) -> dict[str, float]:
            grown = 0.1 * math.exp(r * t)
            s, c = (1.0 + moved) * math.sin(w * t), (1.0 + moved) * math.cos(w * t)
            return {"t": t, "s": s, "c": c, "d": math.exp(-k * t), "l": l0 + a * t, "g": grown / (0.9 + grown), "p": v0 * t - 1.25 * t * t}

        return at

    codes = [compile(ast.fix_missing_locations(_Noted().visit(ast.parse(text, mode="eval"))), "<truth>", "eval") for text in texts]
    try:
        found = [[_integral(code, motion(moved)) for code in codes] for moved in (0.0, _MOVED, -_MOVED)]
    except (ValueError, OverflowError, ZeroDivisionError):
        raise Unsure from None
    for others in found[1:]:
        for (one, counted), (other, counted_there) in zip(found[0], others, strict=True):
            if abs(one - other) > _DIFFERENT or counted != counted_there:
                raise Unsure
    rates = [
        f"{w} * c",
        f"-{w} * s",
        f"-{k} * d",
        f"{a}",
        f"{r} * g * (1 - g)",
        "v",
        "-2.5",
        *texts[:2],
        *(f"1.0 if {text} else 0.0" for text in texts[2:]),
    ]
    start = {"s": 0.0, "c": 1.0, "d": 1.0, "l": l0, "g": 0.1, "p": 0.0, "v": v0, "q0": 0.0, "q1": 0.0, "q2": 0.0, "q3": 0.0}
    lines = [
        "def rates(t, y):",
        "    s, c, d, l, g, p, v, *_ = y",
        f"    return [{', '.join(rates)}]",
        "def becomes_true(t, y):",
        "    s, c, d, l, g, p = (y[name] for name in 'scdlgp')",
        f"    return {texts[2]}",
        "def count(t, y, d):",
        "    return {'n': d['n'] + 1}",
        f"model = tg.ode(rates, y0={start!r}, discrete={{'n': 0.0}}, events=[tg.event(becomes_true, reset=count)])",
        "",
    ]
    text = "\n".join(lines)
    source = space_of(text, f"<integrals {seed}>", tg=tg, np=np, __name__="expression_integrals")["model"]
    return Integrals(source, texts, [value for value, _ in found[0]], found[0][2][1], text)
