"""Random models of functions whose parameters stand everywhere: in rates, in what `if` compares, in thresholds, times, jumps, and start values.

The text is Python as a user writes it. States decay, so that most runs stay of the size of one. ``equations="dae"`` adds one or two unknowns that
equations hold, and factors of derivatives.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import tidegate as tg

__all__ = ["END", "SensitiveModel"]

END: Final = 2.0
_DELAYS: Final = ("0.4", '0.2 + 0.3 * p["a"]', '0.5 + 0.1 * np.tanh(y["x0"])')
_LIMITS: Final = {"a": (0.3, 1.5), "b": (0.3, 1.5), "c": (-0.8, 0.8), "T": (0.4, 1.1)}


class SensitiveModel:
    """A model, its text, and the names of its unknowns and parameters.

    Parameters
    ----------
    seed : of what is drawn.
    equations : ``"ode"``, ``"dae"``, or ``"delay"``, which has rates that look back.
    """

    def __init__(self, seed: int, equations: str = "ode") -> None:
        self._draw = random.Random(f"{equations} {seed}")
        draw = self._draw
        self._looks_back = equations == "delay"
        self.states = [f"x{k}" for k in range(draw.randint(2, 4))]
        self._held = {f"u{k}": self._between(-1, 1) for k in range(draw.randint(0, 2))}
        self._algebraic = [f"w{k}" for k in range(draw.randint(1, 2))] if equations == "dae" else []
        self.unknowns = [*self.states, *self._algebraic]
        self.parameters = {name: self._between(low, high) for name, (low, high) in _LIMITS.items()}
        self._arguments = "t, y, p, d" if self._held else "t, y, p"
        self.text = self._written(equations)
        name = f"<sensitive {equations} {seed}>"
        linecache.cache[name] = (len(self.text), None, self.text.splitlines(keepends=True), name)
        made: dict[str, Any] = {"np": np, "tg": tg}
        exec(compile(self.text, name, "exec"), made)
        self.model = made["model"]

    def _between(self, low: float, high: float) -> float:
        return round(self._draw.uniform(low, high), 2)

    # ---- operands

    def _parameter(self) -> str:
        return self._draw.choice(['p["a"]', 'p["b"]', 'p["c"]', repr(self._between(-2, 2))])

    def _unknown(self) -> str:
        return f'y["{self._draw.choice(self.unknowns)}"]'

    def _held_one(self) -> str:
        return f'd["{self._draw.choice(list(self._held))}"]' if self._held else self._unknown()

    def _one_of(self, kinds: list[Callable[[], str]]) -> str:
        return self._draw.choice(kinds)()

    def _time(self) -> str:
        return self._draw.choice(['p["T"]', repr(self._between(0.2, 1.9))])

    def _term(self) -> str:
        p, y = self._parameter, self._unknown
        return self._one_of([
            lambda: f"{p()} * {y()}",
            lambda: f"np.sin({y()} * {p()})",
            lambda: f"np.tanh({y()} - ({p()})) * {p()}",
            lambda: f"{p()} * np.cos(t * {p()})",
            lambda: f"{self._held_one()} * {p()}",
            lambda: f"({p()} if {y()} > {p()} else {y()})",
            lambda: f"min({y()}, {p()})",
            lambda: f"abs({y()} - ({p()}))",
            lambda: f"max({y()} * {self._between(-2, 2)}, {y()})",
            lambda: f"({p()} * {y()} if t > {self._time()} else {p()})",
            lambda: f"{y()} * {y()} / (1 + {y()} ** 2)",
            lambda: f"np.exp(-({y()} ** 2)) * {p()}",
            *([lambda: f"tg.delay({y()}, {self._draw.choice(_DELAYS)}) * {p()}"] * 4 if self._looks_back else []),
        ])  # fmt: skip

    # ---- the model

    def _rate(self, name: str) -> str:
        return f'{self._term()} + {self._term()} - {self._between(0.3, 1.2)} * y["{name}"]'

    def _equation(self, name: str) -> str:
        if name in self.states:
            factor = self._draw.choice(["1.0", '(1.5 + p["a"] ** 2)', "2.0"])
            return f'yd["{name}"] * {factor} - ({self._rate(name)})'
        own = f'y["{name}"]'
        bent = self._draw.choice([f"0.3 * np.tanh({own})", f"0.1 * {own} ** 3", "0.0", f"0.4 * abs({own})"])
        return f"{own} + {bent} - 0.3 * ({self._term()} + {self._term()})"

    def _assigned(self) -> str:
        name = self._draw.choice([*self.states, *self._held])
        own = f'd["{name}"]' if name in self._held else f'y["{name}"]'
        p, y = self._parameter, self._unknown
        value = self._one_of([
            lambda: f"{p()} * {own}",
            lambda: f"{own} + {p()} * 0.5",
            lambda: f"{p()} + 0.3 * {y()}",
            lambda: f"np.sin({y()} + {p()}) * t * 0.3",
        ])  # fmt: skip
        return f'"{name}": {value}'

    def _event(self) -> str:
        function = f"lambda {self._arguments}:"
        p, y, draw = self._parameter, self._unknown, self._draw
        condition = f"{function} {y()} {draw.choice('<>')} {p()}"
        product = f"{function} {y()} * {y()} {draw.choice('<>')} {p()} * t"
        period = draw.choice(['"T"', "0.7", 'lambda p: 0.5 + p["a"] * 0.3'])
        start = draw.choice(["0.3", 'lambda p: p["T"] * 0.5'])
        times = f"[{draw.choice(['0.9', '1.3', '"T"'])}, lambda p: 1.5 + 0.2 * p['b']]"
        when = draw.choice([condition, product, f"every={period}, start={start}", f"at={times}"])
        return f"tg.event({when}, reset={function} {{{self._assigned()}}})"

    def _written(self, equations: str) -> str:
        start = ", ".join(
            f'"{name}": {self._draw.choice([repr(self._between(-1.5, 1.5)), 'p["a"] - 0.4', 'p["b"] * p["c"]'])}' for name in self.states
        )
        start += "".join(f', "{name}": 0.1' for name in self._algebraic)
        events = ", ".join(self._event() for _ in range(self._draw.randint(0, 3)))
        besides = f"discrete={self._held!r}, events=[{events}]" if self._held else f"events=[{events}]"
        if equations == "dae":
            rows = ", ".join(self._equation(name) for name in self.unknowns)
            head = f"def f({self._arguments.replace('y,', 'y, yd,')}):\n    return [{rows}]\n"
            return f"{head}model = tg.dae(f, lambda p: {{{start}}}, None, {self.parameters!r}, {besides})\n"
        rates = ", ".join(f'"{name}": {self._rate(name)}' for name in self.states)
        return f"def f({self._arguments}):\n    return {{{rates}}}\nmodel = tg.ode(f, lambda p: {{{start}}}, {self.parameters!r}, {besides})\n"
