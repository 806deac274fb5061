"""Random hybrid models as text and as sources: saturations and what asks whether they are at their limit, branches, floors, tables with flat pieces,
fast parts that are forced, resets to a threshold, clocks, algebraic unknowns, outputs, block diagrams.

A model is written down as the Python text of a module, so that one that a run gets wrong can be read, shortened and kept. Every text is a plain
function with events, a residual function, a component, or a diagram with the function that it stands for. Derivatives are bounded and every state is
drawn back to the middle, so that runs stay of order one; what is asked of them is only what the judge asks. Many of the numbers are parameters, start
values among them, so that a model is followed and compiled once and run with many values.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

import tidegate as tg
from written_source import space_of

__all__ = ["Once", "RandomModel", "random_model"]

FAMILIES = ("function", "function", "function", "function", "dae", "dae", "component", "diagram", "diagram")


@dataclass(frozen=True)
class RandomModel:
    """A seed's model: its text, the source made of it, and how long it runs.

    Parameters
    ----------
    ranges : of its parameters.
    truth : what a run is judged by; None for the source itself.
    """

    seed: int
    family: str
    text: str
    source: Any
    t_end: float
    ranges: dict[str, tuple[float, float]]
    truth: Any = None

    def values(self, run: int) -> dict[str, float]:
        """Parameters of a run; those of run 0 are the model's own."""
        draw = random.Random(1_000_003 * self.seed + run)
        return {name: float(f"{draw.uniform(*given):.4g}") for name, given in self.ranges.items()} if run else {}


class Once:
    """A source that is followed once, and compiled once, however often it is run and judged.

    Parameters
    ----------
    source : any.
    truth : what is called as Python; the source if not given.
    """

    def __init__(self, source: Any, truth: Any = None) -> None:
        self._truth = source if truth is None else truth
        self._model = source.lower()
        if truth is not None:
            truth.lower()

    def lower(self) -> Any:
        return self._model

    def plainly(self, parameters: Any, model: Any) -> Any:
        return self._truth.plainly(parameters, model)


class _Writer:
    """Writes expressions of a few names."""

    def __init__(self, seed: int, names: list[str], owner: str) -> None:
        self.draw = random.Random(seed)
        self.names = names
        self.owner = owner
        self.parameters: dict[str, tuple[float, float, str]] = {}

    def literal(self, low: float = -1.0, high: float = 1.0) -> str:
        return repr(float(f"{self.draw.uniform(low, high):.3g}"))

    def parameter(self, low: float, high: float) -> str:
        name = f"c{len(self.parameters)}"
        self.parameters[name] = (low, high, self.literal(low, high))
        return self.owner.format(name)

    def number(self, low: float = -1.0, high: float = 1.0) -> str:
        return self.parameter(low, high) if self.owner and self.draw.random() < 0.4 else self.literal(low, high)

    def start(self) -> str:
        return self.parameter(-1.0, 1.0) if self.owner and self.draw.random() < 0.8 else self.draw.choice(["0.0", "0.5"])

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
                lambda: f"tg.table([-1.0, {self.literal(-0.6, 0.0)}, 0.5, 1.0], [0.0, {self.literal()}, {self.literal()}, 0.3])({self.smooth()})",
                lambda: f"tg.table([-1.0, {self.literal(-0.6, 0.0)}, 0.5, 1.0], [-0.4, *[{self.literal()}] * 2, 0.3])({self.smooth()})",
                lambda: f"max({self.smooth()} - {self.number(0.0, 0.5)}, 0.0) * {self.number(1.0, 5.0)}",
                lambda: f"({self.smooth()} if {self.condition()} else {self.smooth()})",
                lambda: f"np.where({self.condition()}, {self.number()}, {self.smooth()})",
                lambda: f"np.sign({self.smooth()})",
            ]
        )()

    def at_limit(self) -> str:
        """Whether a saturation is at its limit."""
        d, low, high = self.draw, self.literal(-0.8, -0.1), self.literal(0.1, 0.8)
        sat = f"np.clip({self.smooth()}, {low}, {high})"
        return d.choice(
            [
                f"{sat} == {high}",
                f"{sat} >= {high}",
                f"{sat} <= {low}",
                f"not {sat} > {low}",
                f"abs(np.clip({self.smooth()}, -{high}, {high})) >= {high}",
                f"max({self.smooth()} - {high}, 0.0) > 0",
                f"max({self.smooth()}, {low}) > {low}",
                f"min({self.smooth()}, {high}) < {high}",
                f"max({self.smooth()}, 0.0) * {self.literal(1.0, 9.0)} > 0",
                f"tg.table([-1.0, {low}, {high}, 1.0], [-0.4, 0.25, 0.25, 0.3])({self.smooth()}) {d.choice(['>', '>=', '<', '<='])} 0.25",
                f"(0.0 if {self.variable()} < {high} else {self.variable()} - {high}) > 0",
            ]
        )

    def condition(self, depth: int = 0) -> str:
        d = self.draw
        if d.random() < 0.2:
            return self.at_limit()
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
        if kind < 0.37:
            return f"0.0 if {self.at_limit()} else {self.smooth()} - {own}"  # anti-windup
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
    owner = {"function": "p['{}']", "dae": "p['{}']", "component": "self.{}", "diagram": ""}[family]
    writer = _Writer(seed, names, owner)
    text = {"function": _function, "dae": _dae, "component": _component, "diagram": _diagram}[family](writer, names)
    space = space_of(text, f"<random model {seed} {family}>", tg=tg, np=np, __name__="random_models")
    ranges = {name: (low, high) for name, (low, high, _) in writer.parameters.items()}
    return RandomModel(seed, family, text, space["model"], 3.0, ranges, space.get("truth"))


def _given(w: _Writer, names: list[str]) -> str:
    """The arguments that give a function its start values and parameters."""
    starts = ", ".join(f"{name!r}: {value}" for name, value in {**{name: w.start() for name in names}, "q": "0.0"}.items())
    values = ", ".join(f"{name!r}: {value}" for name, (_, _, value) in w.parameters.items())
    return f"y0=lambda p: {{{starts}}}, p={{{values}}}"


def _function(w: _Writer, names: list[str]) -> str:
    lines = ["def rates(t, y, p):", f"    {', '.join(names)}, q = y"]
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
        if w.draw.random() < 0.2:  # to its threshold
            level = w.number()
            condition, new = f"{target} {w.draw.choice(['>', '<', '>=', '<='])} {level}", level
        lines += [f"def when{k}(t, y, p):", f"    {take} = y", f"    return {condition}", f"def reset{k}(t, y, p):", f"    {take} = y"]
        lines += [f"    return {{{target!r}: {new}}}"]
        events.append(f"tg.event(when{k}, reset=reset{k}, name='clause{k}')")
    lines += ["def shown(t, y, p):", f"    {', '.join(names)}, q = y", f"    return {{'out': {w.corner()}, 'sum': {w.value()}}}"]
    return "\n".join([*lines, f"model = tg.ode(rates, {_given(w, names)}, outputs=shown, events=[{', '.join(events)}])", ""])


def _dae(w: _Writer, names: list[str]) -> str:
    lines = ["def residual(t, y, ydot, p):", f"    {', '.join(names)}, z, q = y", f"    {', '.join('d' + name for name in names)}, _, dq = ydot"]
    known = w.value()
    w.names = [*names, "z"]
    residuals = [f"d{name} - ({w.rate(name)})" for name in names]
    kind = w.draw.random()
    limited = w.draw.choice([f"max({known}, {w.number(-0.5, 0.0)})", f"np.clip({known}, {w.literal(-0.8, -0.1)}, {w.literal(0.1, 0.8)})"])
    w.names = names if kind < 0.3 else w.names
    residuals.append(f"z - {limited}" if kind < 0.3 else f"z - ({known})" if kind < 0.6 else f"z + {w.number(0.1, 0.5)} * z ** 3 - ({known})")
    w.names = [*names, "z"]
    residuals.append(f"dq - (1.0 if {w.condition()} else 0.0)")
    lines.append("    return [" + ", ".join(residuals) + "]")
    return "\n".join([*lines, f"model = tg.dae(residual, {_given(w, [*names, 'z'])})", ""])


def _component(w: _Writer, names: list[str]) -> str:
    states = [f"    {name} = tg.State(lambda self: {w.start()})" for name in names]
    lines: list[str] = []
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
    if w.draw.random() < 0.25:
        lines += ["    @clause.elsewhen(lambda self: " + written(w.condition()) + ")", "    def otherwise(self):", "        tg.message('otherwise')"]
        lines += ["        return {self.k: self.k - 1}"]
    if w.draw.random() < 0.6:
        lines += [f"    @tg.every({w.literal(0.2, 0.7)}, start={w.literal(0.1, 0.5)})", "    def tick(self):"]
        lines += ["        return {self.on: not self.on}"]
    elif w.draw.random() < 0.5:
        lines += [f"    @tg.when(lambda self: {written(w.condition())})", "    def other(self):", "        return {self.on: not self.on}"]
    parameters = [f"    {name} = tg.Parameter({value})" for name, (_, _, value) in w.parameters.items()]
    return "\n".join(["class Model(tg.Component):", *parameters, *states, *lines, "model = Model()", ""])


def _diagram(w: _Writer, names: list[str]) -> str:
    """Limiters, dead spaces, relays and absolute values between integrators, and the same as a function; the two are written side by side."""
    d = w.draw
    starts = {name: w.literal() for name in [*names, "q"]}
    blocks = ["b = tg.blocks", "d = tg.Diagram('blocks')", *(f"d.{name} = b.Integrator(start={value})" for name, value in starts.items())]
    plain = ["def signals(t, y):", f"    {', '.join(names)}, q = y"]
    signals = list(names)
    for k in range(d.randint(3, 6)):
        name, one, other = f"s{k}", d.choice(signals), d.choice(signals)
        gain, low, high = w.literal(), w.literal(-0.8, -0.1), w.literal(0.1, 0.8)
        kind = d.choice(["limiter", "dead", "relay", "sum", "abs", "positive"])
        made = {
            "limiter": (f"b.Limiter({high}, {low})({gain} * d.{one})", f"max({low}, min({high}, {gain} * {one}))"),
            "dead": (
                f"b.DeadSpace({high}, {low})(d.{one})",
                f"{one} - {high} if {one} > {high} else {one} - {low} if {one} < {low} else 0.0",
            ),
            "relay": (
                f"b.Relay()(d.{one} - {gain}, {high} * d.{other}, {low} * d.{one})",
                f"{high} * {other} if {one} - {gain} >= 0 else {low} * {one}",
            ),
            "sum": (f"{gain} * d.{one} + {low} * d.{other}", f"{gain} * {one} + {low} * {other}"),
            "abs": (f"abs({gain} * d.{one})", f"abs({gain} * {one})"),
            "positive": (f"b.NegativeClipper()(d.{one} - {high})", f"{one} - {high} if {one} - {high} > 0 else 0.0"),
        }[kind]
        blocks.append(f"d.{name} = {made[0]}")
        plain.append(f"    {name} = {made[1]}")
        signals.append(name)
    rates: list[str] = []
    for name in names:
        pull, gain, one = w.literal(0.2, 2.0), w.literal(), d.choice(signals)
        blocks.append(f"d.{name}({gain} * d.{one} - {pull} * d.{name})")
        rates.append(f"{gain} * {one} - {pull} * {name}")
    last, level = signals[-1], d.choice(["0.0", w.literal(-0.3, 0.3)])
    blocks += ["d.one, d.zero = b.Constant(1.0), b.Constant(0.0)", f"d.q(b.Relay()(d.{last} - {level}, d.one, d.zero))"]
    rates.append(f"1.0 if {last} - {level} >= 0 else 0.0")
    given = ", ".join(f"{name!r}: {value}" for name, value in starts.items())
    returned = f"    return dict(rates=[{', '.join(rates)}], shown=dict({', '.join(f'{name}={name}' for name in signals[len(names) :])}))"
    parts = ["def of(name):", "    return lambda t, y: signals(t, y)[name]"]
    truth = f"truth = tg.ode(of('rates'), y0={{{given}}}, outputs=of('shown'))"
    return "\n".join([*blocks, "model = d", *plain, returned, *parts, truth, ""])


def _renamed(text: str, name: str) -> str:
    return re.sub(rf"(?<![\w.]){name}(?!\w)", f"self.{name}", text)
