"""Random hybrid models as text and as sources: saturations, branches, floors, tables, fast parts that are forced, resets, clocks, algebraic unknowns.

A model is written down as the Python text of a module, so that one that a run gets wrong can be read, shortened and kept. Every text is a plain
function with events, a residual function, or a component. Derivatives are bounded and every state is drawn back to the middle, so that runs stay of
order one; what is asked of them is only what the judge asks.
"""

from __future__ import annotations

import linecache
import random
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

import tidegate as tg

__all__ = ["RandomModel", "random_model"]

FAMILIES = ("function", "function", "function", "dae", "component", "component")


@dataclass(frozen=True)
class RandomModel:
    """A seed's model: its text, the source made of it, and how long it runs."""

    seed: int
    family: str
    text: str
    source: Any
    t_end: float


class _Writer:
    """Writes expressions of a few names."""

    def __init__(self, seed: int, names: list[str]) -> None:
        self.draw = random.Random(seed)
        self.names = names

    def number(self, low: float = -1.0, high: float = 1.0) -> str:
        return f"{self.draw.uniform(low, high):.3g}"

    def variable(self) -> str:
        return self.draw.choice(self.names)

    def smooth(self) -> str:
        d = self.draw
        return d.choice(
            [
                self.variable,
                lambda: f"np.sin({self.number(0.5, 4.0)} * t + {self.number()})",
                lambda: f"{self.number()} * {self.variable()}",
                lambda: f"{self.variable()} * {self.variable()}",
                lambda: f"({self.variable()} - {self.number()})",
            ]
        )()

    def corner(self) -> str:
        d = self.draw
        return d.choice(
            [
                lambda: f"max({self.smooth()}, {self.number()})",
                lambda: f"min({self.smooth()}, {self.number()})",
                lambda: f"abs({self.smooth()})",
                lambda: f"np.clip({self.smooth()}, {self.number(-1.0, -0.1)}, {self.number(0.1, 1.0)})",
                lambda: f"np.floor({self.number(0.5, 3.0)} * {self.variable()})",
                lambda: f"np.floor({self.number(0.5, 3.0)} * t)",
                lambda: f"({self.smooth()} % {self.number(0.3, 1.0)})",
                lambda: f"tg.table([-1.0, {self.number(-0.6, 0.0)}, 0.5, 1.0], [0.0, {self.number()}, {self.number()}, 0.3])({self.smooth()})",
                lambda: f"({self.smooth()} if {self.condition()} else {self.smooth()})",
                lambda: f"np.where({self.condition()}, {self.number()}, {self.smooth()})",
                lambda: f"np.sign({self.smooth()})",
            ]
        )()

    def condition(self, depth: int = 0) -> str:
        d = self.draw
        left = self.smooth() if d.random() < 0.65 else self.corner() if depth == 0 else self.variable()
        relation = f"{left} {d.choice(['>', '<', '>=', '<='])} {self.number(-0.8, 0.8) if d.random() < 0.7 else self.draw.choice(['0.0', '0.5'])}"
        if depth == 0 and d.random() < 0.25:
            return f"({relation} {d.choice(['and', 'or'])} {self.condition(1)})"
        return f"not ({relation})" if d.random() < 0.08 else relation

    def value(self) -> str:
        parts = [f"{self.number()} * {self.corner() if self.draw.random() < 0.5 else self.smooth()}" for _ in range(self.draw.randint(1, 3))]
        return " + ".join(parts)

    def rate(self, own: str) -> str:
        kind = self.draw.random()
        if kind < 0.15:
            return f"{self.draw.choice(['1e3', '1e5'])} * ({self.smooth()} - {own})"  # a fast part that is forced
        if kind < 0.25:
            return f"{self.number(0.3, 1.0)} if {self.condition()} else {self.number(-1.0, -0.3)}"
        if kind < 0.32:
            return f"-{self.number(0.3, 1.0)} if {own} > 0 else 0.0"  # comes to rest
        return f"-{self.number(0.2, 2.0)} * {own} + np.clip({self.value()}, -2.0, 2.0)"

    def branches(self, indent: str, target: str) -> list[str]:
        """A nested if that gives the target a value."""
        lines = [f"{indent}if {self.condition()}:", f"{indent}    {target} = {self.value()}"]
        if self.draw.random() < 0.5:
            lines += [f"{indent}elif {self.condition()}:", f"{indent}    {target} = {self.smooth()}"]
        return [*lines, f"{indent}else:", f"{indent}    {target} = {self.number()}"]


def random_model(seed: int, family: str | None = None) -> RandomModel:
    """The model of a seed; the same every time."""
    draw = random.Random(seed)
    family = family or draw.choice(FAMILIES)
    n = draw.randint(1, 3)
    names = [f"x{k}" for k in range(n)]
    text = {"function": _function, "dae": _dae, "component": _component}[family](seed, names)
    module = f"<random model {seed} {family}>"
    linecache.cache[module] = (len(text), None, text.splitlines(keepends=True), module)
    space: dict[str, Any] = {"tg": tg, "np": np, "__name__": "random_models"}
    exec(compile(text, module, "exec"), space)
    return RandomModel(seed, family, text, space["model"], 3.0)


def _starts(writer: _Writer, names: list[str]) -> dict[str, str]:
    return {name: writer.number() if writer.draw.random() < 0.8 else "0.0" for name in names}


def _function(seed: int, names: list[str]) -> str:
    w = _Writer(seed, names)
    lines = ["def rates(t, y):", f"    {', '.join(names)}, q = y"]
    lines += w.branches("    ", "u")
    w.names = [*names, "u"]
    rates = [w.rate(name) for name in names]
    counter = f"1.0 if {w.condition()} else 0.0"
    lines.append("    return [" + ", ".join([*rates, counter]) + "]")
    w.names = names
    events: list[str] = []
    for k in range(w.draw.randint(0, 2)):
        target = names[k % len(names)]
        condition = f"{target} {w.draw.choice(['>', '<'])} {w.number()}" if w.draw.random() < 0.6 else w.condition()
        take = f"({', '.join(names)}, q)"
        new = f"{w.number(-0.8, 0.2)} * {target} + {w.number(-0.3, 0.3)}"
        lines += [f"def when{k}(t, y):", f"    {take} = y", f"    return {condition}", f"def reset{k}(t, y):", f"    {take} = y"]
        lines += [f"    return {{{target!r}: {new}}}"]
        events.append(f"tg.event(when{k}, reset=reset{k}, name='clause{k}')")
    starts = ", ".join(f"{name!r}: {value}" for name, value in {**_starts(w, names), "q": "0.0"}.items())
    return "\n".join([*lines, f"model = tg.ode(rates, y0={{{starts}}}, events=[{', '.join(events)}])", ""])


def _dae(seed: int, names: list[str]) -> str:
    w = _Writer(seed, names)
    lines = ["def residual(t, y, ydot):", f"    {', '.join(names)}, z, q = y", f"    {', '.join('d' + name for name in names)}, _, dq = ydot"]
    known = w.value()
    w.names = [*names, "z"]
    residuals = [f"d{name} - ({w.rate(name)})" for name in names]
    kind = w.draw.random()
    residuals.append(f"z - ({known})" if kind < 0.6 else f"z + {w.number(0.1, 0.5)} * z ** 3 - ({known})")
    residuals.append(f"dq - (1.0 if {w.condition()} else 0.0)")
    lines.append("    return [" + ", ".join(residuals) + "]")
    starts = ", ".join(f"{name!r}: {value}" for name, value in {**_starts(w, names), "z": "0.0", "q": "0.0"}.items())
    return "\n".join([*lines, f"model = tg.dae(residual, y0={{{starts}}})", ""])


def _component(seed: int, names: list[str]) -> str:
    w = _Writer(seed, names)
    starts = _starts(w, names)
    lines = ["class Model(tg.Component):"]
    lines += [f"    {name} = tg.State({value})" for name, value in starts.items()]
    lines += ["    k = tg.Discrete(0.0)", "    on = tg.Discrete(False)", "    q = tg.State(0.0)"]
    has_algebraic = w.draw.random() < 0.35
    if has_algebraic:
        lines.append("    z = tg.Algebraic()")
    lines.append("    out = tg.Output()")
    def written(text: str) -> str:
        for name in (*names, "z"):
            text = _renamed(text, name)
        return text.replace("* t ", "* tg.time ").replace("* t)", "* tg.time)")

    lines.append("    def equations(self):")
    known = w.value()
    w.names = [*names, *(["z"] if has_algebraic else [])]
    for name in names:
        extra = f" + {w.number()} * self.k" if w.draw.random() < 0.4 else f" + (0.5 if self.on else {w.number()})" if w.draw.random() < 0.5 else ""
        rate = w.rate(name)
        rate = f"({rate})" if " if " in rate else rate
        lines.append(f"        yield tg.der(self.{name}) == {written(rate)}{extra}")
    lines.append(f"        yield tg.der(self.q) == (1.0 if {written(w.condition())} else 0.0)")
    if has_algebraic:
        lines.append(f"        yield self.z == {written(known)} + 0.1 * self.k")
    lines.append(f"        yield self.out == {written(w.corner())}")
    w.names = names
    free = names.copy()
    w.draw.shuffle(free)
    condition = f"{free[0]} {w.draw.choice(['>', '<'])} {w.number()}" if w.draw.random() < 0.6 else w.condition()
    lines += [f"    @tg.when(lambda self: {written(condition)})", "    def clause(self):"]
    lines += [f"        return {{self.{free[0]}: {w.number(-0.8, 0.2)} * self.{free[0]} + {w.number(-0.3, 0.3)}, self.k: self.k + 1}}"]
    if w.draw.random() < 0.6:
        lines += [f"    @tg.every({w.number(0.2, 0.7)}, start={w.number(0.1, 0.5)})", "    def tick(self):", "        return {self.on: not self.on}"]
    elif w.draw.random() < 0.5:
        lines += [f"    @tg.when(lambda self: {written(w.condition())})", "    def other(self):", "        return {self.on: not self.on}"]
    return "\n".join([*lines, "model = Model()", ""])


def _renamed(text: str, name: str) -> str:
    return re.sub(rf"(?<![\w.]){name}(?!\w)", f"self.{name}", text)
