"""Random bodies of events, as resets of functions and as clauses of components, and the runs of their models in plain Python.

Two clocks and one threshold have bodies that branch, loop, leave early, build up what they return, and say something. Between events the states are
straight lines, so that the truth needs no integration: the next crossing is a division, and what happens there Python itself carries out.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Literal

from random_functions import Writer
from written_source import space_of

__all__ = ["END", "Form", "PlainRun", "body_source"]

Form = Literal["functions", "component"]
END = 2.0
_CLOCKS = {"one": (0.31, 0.17), "two": (0.47, 0.23)}  # period and first tick; they never tick together before the end
_LEVEL = 0.55
_STARTS = {"x": 0.1, "w": 0.0, "u": 0.7, "v": -0.4, "m": 0.2, "q": 1.0}
_K = 0.9
_CLOSE = 1e-6  # to a threshold, or of two instants: what rounding decides says nothing
_ASSIGNED = ("u", "v", "x", "m", "q")  # the last is a whole number


class BodyWriter(Writer):
    """Writes the bodies of one model.

    Parameters
    ----------
    rng : what is random.
    form : which front end it is for.
    is_plain : whether it is written for plain Python: clauses name variables by text.
    """

    def __init__(self, rng: random.Random, form: Form, *, is_plain: bool) -> None:
        super().__init__(rng)
        self.form = form
        self.is_plain = is_plain

    def key(self, name: str) -> str:
        """What stands for a variable in what is returned."""
        return f"self.{name}" if self.form == "component" and not self.is_plain else repr(name)

    def given(self, name: str) -> str:
        """What stands for its value."""
        if self.form == "component":
            return f"self.{name}"
        return f'{"given" if name == "k" else "states" if name in "xw" else "held"}["{name}"]'

    def condition(self, depth: int = 1) -> str:
        """An expression that is true or false; some ask which whole number it is."""
        if self.rng.random() < 0.85:
            return super().condition(depth)
        number = self.rng.randint(0, 2)
        asked = [f"mode == {number}", f"mode != {number}", f"mode in (0, {number})", f"mode not in [{number}, 7]", "mode in range(1, 3)"]
        return self.rng.choice([*asked, f"(mode == {number} and {super().condition(0)})"])

    def number(self, depth: int = 2) -> str:
        """An expression that is a number; some depend on which whole number it is."""
        if depth == 0 or self.rng.random() < 0.9:
            return super().number(depth)
        inner = [super(BodyWriter, self).number(depth - 1) for _ in range(3)]
        entries = [f"[{', '.join(inner)}][int(mode)]", f"{{0: {inner[0]}, 1: 0.5, 2: 0.7}}[int(mode)]"]
        return self.rng.choice([*entries, f"({inner[0]} if mode == 1 else {inner[1]})"])

    def value(self, name: str) -> str:
        """A new value of a variable, of size one."""
        if name == "q":
            return f"({self.rng.choice(['mode', str(self.rng.randint(0, 2))])} + {self.rng.randint(1, 2)}) % 3"
        return self.rng.choice(
            [
                f"math.sin({self.number(1)})",
                f"max(-1.0, min(1.0, {self.number(1)}))",
                f"float({self.condition(0)})",
                f"float(np.clip({self.number(1)}, -1, 1))",
                f"0.5*math.tanh({self.number(1)})",
            ]
        )

    def returned(self) -> str:
        """A statement that returns new values."""
        kind = self.rng.random()
        if kind < 0.12:
            return self.rng.choice(["return {}", "return"])
        items = [f"{self.key(name)}: {self.value(name)}" for name in self.rng.sample(_ASSIGNED, self.rng.randint(1, 3))]
        every = "{" + ", ".join(items) + "}"
        if kind < 0.3:
            return f"return {{{items[0]}}} if {self.condition()} else {every}"
        helped = f"common({self.value('u')})"
        return "return " + self.rng.choice([f"{every} | out", f"{{**out, {items[0]}}}", f"{{{items[0]}, **out}}", helped, every, every, every])

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        """One statement; one in six builds up what is returned, or says something."""
        if self.rng.random() > 0.16:
            super().statement(indent, in_loop, depth)
            return
        self.budget -= 1
        name = self.rng.choice(_ASSIGNED)
        key, value = self.key(name), self.value(name)
        texts = [f"out[{key}] = {value}", f"out[{key}] = {value}", f"out.update({{{key}: {value}}})", f"out |= {{{key}: {value}}}"]
        texts += [f"out = {{**out, {key}: {value}}}", f"tg.message('m{self.rng.randint(0, 5)}')", f"s = {self.number(0)} + {self.given('k')}"]
        self.put(indent, self.rng.choice(texts))

    def body(self, indent: int) -> None:
        """The statements of one body."""
        self.budget = 16
        self.put(indent, f"a, b, c = {', '.join(self.given(name) for name in self.rng.sample(['x', 'u', 'v', 'm', 'k'], 3))}")
        for line in (
            "kind, act = 'high', early",
            f"r, s, k0, shared, out, mode = 0.1, -0.2, 0.0, 0.4, {{}}, {self.given('q')}",
            "xs, z, record = [a, b, 0.3], np.zeros(3), SimpleNamespace(u=c, v=0.0)",
            "alias, part = xs, z[1:]",
            "def record_it(u):",
            "    if u > record.u: record.v += 0.25",
            "    return record.v - u",
            "def bump(u):",
            "    nonlocal shared",
            "    if u > 0: shared += u; return",
            "    shared -= 0.1",
            "def tally(u):",
            "    nonlocal shared",
            "    shared = shared*0.5 + 0.1",
            "    return shared - u if u > 0 else shared",
            "def common(u):",
            f"    if u > 0.2: return {{{self.key('u')}: u}}",
            f"    out[{self.key('v')}] = 0.25",
            "    return out",
        ):
            self.put(indent, line)
        for _ in range(self.rng.randint(1, 4)):
            self.statement(indent, False, 2)
        self.put(indent, self.rng.choice(["return out", self.returned(), self.returned()]))

    def text(self) -> str:
        """The whole file; ``model`` in it is the model, if it is not written for plain Python."""
        self.lines = []
        for line in ("import math", "from types import SimpleNamespace", "import numpy as np"):
            self.put(0, line)
        self.helpers()
        (self._functions if self.form == "functions" else self._component)()
        return "\n".join(self.lines) + "\n"

    def _functions(self) -> None:
        for name in ("one", "two", "over"):
            self.put(0, f"def {name}(time, states, given, held):")
            self.body(1)
        if self.is_plain:
            return
        clocks = ", ".join(f"tg.event(every={period}, start={start}, reset={name})" for name, (period, start) in _CLOCKS.items())
        self.put(0, f"events = [{clocks}, tg.event(lambda t, y: y['x'] > {_LEVEL}, reset=over)]")
        y0, discrete = ({name: _STARTS[name] for name in names} for names in ("xw", "uvmq"))
        self.put(0, "rates = lambda t, y, p, d: [d['u'], 0.3*d['v']]")
        self.put(0, f"model = tg.ode(rates, y0={y0}, p={{'k': {_K}}}, discrete={discrete}, events=events)")

    def _component(self) -> None:
        self.put(0, "class M:" if self.is_plain else "class M(tg.Component):")
        if not self.is_plain:
            for name, start in _STARTS.items():
                self.put(1, f"{name} = tg.{'State' if name in 'xw' else 'Discrete'}({start})")
            for line in (
                f"k = tg.Parameter({_K})",
                "def equations(self):",
                "    yield tg.der(self.x) == self.u",
                "    yield tg.der(self.w) == 0.3*self.v",
            ):
                self.put(1, line)
        for name in ("one", "two", "over"):
            if not self.is_plain:
                period, start = _CLOCKS.get(name, (0.0, 0.0))
                self.put(1, f"@tg.every({period}, start={start})" if period else f"@tg.when(lambda self: self.x > {_LEVEL})")
            self.put(1, f"def {name}(self):")
            self.body(2)
        if not self.is_plain:
            self.put(0, "model = M()")


def body_source(seed: int, form: Form, *, is_plain: bool = False) -> str:
    """The text of the model of this number."""
    return BodyWriter(random.Random(seed), form, is_plain=is_plain).text()


@dataclass
class PlainRun:
    """A run of a model in plain Python.

    Parameters
    ----------
    seed, form : which model.
    shift : of the start, to see what rounding decides.
    values : of all variables, at the end.
    said : all messages.
    is_clear : False where two things happen at about one instant, or bodies happen for ever.
    """

    seed: int
    form: Form
    shift: float = 0.0
    values: dict[str, float] = field(default_factory=lambda: dict(_STARTS))
    said: set[str] = field(default_factory=set[str])
    is_clear: bool = True

    def __post_init__(self) -> None:
        written = body_source(self.seed, self.form, is_plain=True)
        self._space = space_of(written, f"<plain {self.form} {self.seed}>", tg=SimpleNamespace(message=self.said.add))
        self.values["x"] += self.shift
        self._t = 0.0
        self._is_above = False
        self._run()

    def differs(self, other: PlainRun) -> bool:
        """Whether another run ends elsewhere or says something else."""
        return self.said != other.said or any(abs(value - other.values[name]) > 1e-4 for name, value in self.values.items())

    def _call(self, name: str) -> dict[str, float]:
        values = self.values
        if self.form == "functions":
            y, d = ({each: values[each] for each in names} for names in ("xw", "uvmq"))
            returned = self._space[name](self._t, y, {"k": _K}, d)
        else:
            instance = self._space["M"]()
            vars(instance).update(values, k=_K)
            returned = getattr(instance, name)()
        return {key: float(new) for key, new in (returned or {}).items()}

    def _move(self, to: float) -> None:
        self.values["x"] += self.values["u"] * (to - self._t)
        self.values["w"] += 0.3 * self.values["v"] * (to - self._t)
        self._t = to

    def _crossing(self) -> float:
        rate = self.values["u"]
        is_coming = rate < 0 if self._is_above else rate > 0
        return self._t + max(0.0, (_LEVEL - self.values["x"]) / rate) if is_coming else math.inf

    def _run(self) -> None:
        ticks = dict.fromkeys(_CLOCKS, 0)
        while self.is_clear:
            due = {name: start + ticks[name] * period for name, (period, start) in _CLOCKS.items()}
            clock = min(due, key=lambda name: due[name])
            crossing = self._crossing()
            then = min(due[clock], crossing)
            self.is_clear = abs(crossing - due[clock]) > _CLOSE
            if then > END:
                self._move(END)
                return
            self._move(then)
            if crossing < due[clock]:
                self._is_above = not self._is_above
                self.values["x"] = _LEVEL + (1e-13 if self._is_above else -1e-13)
                if self._is_above:
                    self._happen("over")
            else:
                ticks[clock] += 1
                self._happen(clock)

    def _happen(self, name: str) -> None:
        """A body, and those that follow from it in later rounds."""
        for _ in range(20):
            new = self._call(name)
            self.values |= new
            gap = self.values["x"] - _LEVEL
            if "x" in new:
                self.is_clear = self.is_clear and abs(gap) > _CLOSE
                was_above, self._is_above = self._is_above, gap > 0
                if self._is_above and not was_above:
                    name = "over"
                    continue
            return
        self.is_clear = False
