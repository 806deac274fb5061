"""Random automata whose states are texts or members of an enumeration, and what they do in plain Python.

A clock has a body that looks texts up, matches them, puts them together, and chooses what to do by them; in between a number rises at the rate that
belongs to the state.
"""

from __future__ import annotations

import enum
import random
from types import SimpleNamespace
from typing import Any

from written_source import space_of

__all__ = ["TICKS", "Automaton", "Light", "automaton_source", "functions_source", "plain_run"]

NAMES = ("idle", "heating", "off", "out of order")
TICKS = 6


class Light(enum.Enum):
    """What the second variable is one of."""

    RED = "red"
    AMBER = "amber"
    GREEN = "green"


class Automaton:
    """Writes one automaton.

    Parameters
    ----------
    rng : what is random.
    is_plain : whether new values are given by name, for plain Python.
    """

    def __init__(self, rng: random.Random, *, is_plain: bool) -> None:
        self.rng, self.is_plain = rng, is_plain
        self.lines: list[str] = []
        self.texts = ["self.state", "self.before"]

    def key(self, name: str) -> str:
        """What stands for a variable in what is returned."""
        return repr(name) if self.is_plain else f"self.{name}"

    def name(self) -> str:
        """A text that is known."""
        return repr(self.rng.choice(NAMES))

    def text(self, depth: int = 2) -> str:
        """A text of the automaton's."""
        if depth == 0 or self.rng.random() < 0.2:
            return self.rng.choice([*self.texts, *self.texts, self.name()])
        a, b = self.text(depth - 1), self.text(depth - 1)
        return self.rng.choice(
            [
                f"NEXT[{a}]",
                f"NEXT.get({a}, 'off')",
                f"SOME.get({a}, {b})",
                f"({a} if {self.condition(depth - 1)} else {b})",
                f"NAMES[(NAMES.index({a}) + {self.rng.randint(1, 3)}) % 4]",
                f"{a}.upper().lower()",
                f"f'{{{a}}}'",
                f"({a} + '!')[:-1]",
                f"('%s' % {a})",
                f"max(NAMES, key=lambda s: RATES[s] + {self.number(0)})" if self.rng.random() < 0.3 else f"str({a})",
                f"({a}).replace('idle', 'off')",
                f"helper({a})",
                f"(lambda u, v={b}: u if u != v else 'idle')({a})",
            ]
        )

    def light(self, depth: int = 1) -> str:
        """A member of the enumeration."""
        if depth == 0 or self.rng.random() < 0.4:
            return self.rng.choice(["self.light", "Light.RED", "Light.GREEN", "Light.AMBER"])
        chosen = f"({self.light(0)} if {self.condition(0)} else {self.light(0)})"
        return self.rng.choice([f"AFTER[{self.light(0)}]", chosen, "LIGHTS[int(self.x) % 3]"])

    def condition(self, depth: int = 1) -> str:
        """True or false."""
        a, b = self.text(max(depth - 1, 0)), self.text(max(depth - 1, 0))
        return self.rng.choice(
            [
                f"{a} == {b}",
                f"{a} != {self.name()}",
                f"{a} in ({self.name()}, {self.name()})",
                f"{a} not in {{{self.name()}, {self.name()}}}",
                f"{a} in SOME",
                f"{a}.startswith('o')",
                f"len({a}) > {self.rng.randint(3, 7)}",
                f"{a} < {self.name()}",
                f"self.x > {self.rng.uniform(0, 3):.3f}",
                f"{self.light(0)} == {self.light(0)}",
                f"{self.light(0)} in (Light.RED, Light.GREEN)",
                f"{self.light(0)}.name == 'RED'",
                f"({a} == {b} and self.n > 1)",
                f"not ({a} == {self.name()} or self.x > 1.3)",
                f"({a}, self.n > 1) == ({self.name()}, True)",
                f"isinstance({a}, str)",
            ]
        )

    def number(self, depth: int = 1) -> str:
        """A number of the automaton's."""
        a = self.text(depth - 1 if depth else 0)
        more = ["self.n", f"{a}.count('i')", f"len({self.light(0)}.value)"]
        return self.rng.choice([f"len({a})", f"RATES[{a}]", f"float(NAMES.index({a}))", f"float({self.condition(0)})", *more])

    def put(self, indent: int, line: str) -> None:
        """One line."""
        self.lines.append("    " * indent + line)

    def statement(self, indent: int, depth: int) -> None:
        """One statement."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.3:
            self.put(
                indent,
                self.rng.choice(
                    [
                        f"s = {self.text()}",
                        f"w = {self.text()}",
                        f"out[{self.key('n')}] = {self.number()}",
                        f"out[{self.key('light')}] = {self.light()}",
                        f"out.update({{{self.key('before')}: {self.text(1)}}})",
                        f"total[0] += {self.number()}",
                        f"tg.message(f'now {{{self.text(1)}}}')",
                        "out.update(ACTIONS[s](self))",
                        "w, s = s, w",
                    ]
                ),
            )
        elif kind < 0.55:
            self.put(indent, f"if {self.condition()}:")
            self.statement(indent + 1, depth - 1)
            if self.rng.random() < 0.4:
                self.put(indent + 1, f"return {{{self.key('state')}: {self.text(1)}}}")
            self.put(indent, f"elif {self.condition()}:")
            self.statement(indent + 1, depth - 1)
        elif kind < 0.85:
            self.put(indent, f"match {self.rng.choice(['s', 'w', 'self.state', '(s, w)', 'self.light'])}:")
            subject = self.lines[-1]
            is_light = "light" in subject
            cases = ["Light.RED | Light.GREEN", "Light.AMBER"] if is_light else [self.name(), f"{self.name()} | {self.name()}"]
            if "(" in subject:
                cases = [f"({self.name()}, q)", f"({self.name()}, {self.name()})"]
            for case in [*cases, "q" if self.rng.random() < 0.3 else "_"]:
                self.put(indent + 1, f"case {case}:")
                self.statement(indent + 2, depth - 1)
        else:
            self.put(indent, "for a, c in NEXT.items():")
            self.put(indent + 1, f"if {self.rng.choice(['s', 'w', 'self.state'])} == a:")
            self.put(indent + 2, self.rng.choice(["total[0] += len(c)", f"out[{self.key('n')}] = RATES[c]", f"return {{{self.key('state')}: c}}"]))

    def source(self) -> str:
        """The whole file; ``model`` in it is the model, if it is not written for plain Python."""
        names = list(NAMES)
        following = {name: self.rng.choice(names) for name in names}
        some = {name: self.rng.choice(names) for name in names[: self.rng.randint(1, 3)]}
        rates = {name: round(self.rng.uniform(0.3, 1.7), 3) for name in names}
        for line in (f"NAMES, NEXT, SOME, RATES = {NAMES}, {following}, {some}, {rates}", "LIGHTS = list(Light)"):
            self.put(0, line)
        self.put(0, "AFTER = {Light.RED: Light.GREEN, Light.GREEN: Light.AMBER, Light.AMBER: Light.RED}")
        for line in (
            "def helper(u):",
            "    if u == 'idle': return 'off'",
            "    for v in NAMES:",
            "        if u == v and v != 'off': return NEXT[v]",
            "    return u",
        ):
            self.put(0, line)
        for name in ("one", "two"):
            self.put(0, f"def {name}(self): return {{{self.key('n')}: {self.number()}, {self.key('before')}: {self.text(1)}}}")
        self.put(0, f"ACTIONS = {{'idle': one, 'heating': two, 'off': lambda self: {{{self.key('n')}: 1.0}}, 'out of order': two}}")
        self.put(0, "class A:" if self.is_plain else "class A(tg.Component):")
        if not self.is_plain:
            for line in (
                "x, n, light = tg.State(0.0), tg.Discrete(0.0), tg.Discrete(Light.RED)",
                "state, before = tg.Discrete('idle', values=NAMES), tg.Discrete('off', values=NAMES)",
                "def equations(self):",
                "    yield tg.der(self.x) == RATES[self.state]",
                "@tg.every(0.5, start=0.5)",
            ):
                self.put(1, line)
        self.put(1, "def step(self):")
        self.put(2, "s, w, out, total = self.state, self.before, {}, [0.0]")
        self.texts = ["self.state", "self.before", "s", "w"]
        for _ in range(self.rng.randint(1, 4)):
            self.statement(2, 2)
        self.put(2, f"return {{{self.key('state')}: s, {self.key('n')}: 0.5*self.n + total[0], **out}}")
        if not self.is_plain:
            self.put(0, "model = A()")
        return "\n".join(self.lines) + "\n"


def automaton_source(seed: int, *, is_plain: bool = False) -> str:
    """The text of the automaton of this number."""
    return Automaton(random.Random(seed), is_plain=is_plain).source()


_AS_FUNCTIONS = """
class Held:
    def __init__(self, y, d):
        self.x, self.n, self.light, self.state, self.before = y.x, d.n, d.light, d.state, d["before"]
def rate(t, y, d):
    return [RATES[d.state]]
def reset(t, y, d):
    return A.step(Held(y, d))
model = tg.ode(
    rate, y0={"x": 0.0}, discrete={"n": 0.0, "light": Light.RED, "state": "idle", "before": "off"}, events=tg.event(every=0.5, start=0.5, reset=reset)
)
"""


def functions_source(seed: int) -> str:
    """The text of the same automaton as functions of time, state and discrete variables; ``model`` in it is the model."""
    return automaton_source(seed, is_plain=True) + _AS_FUNCTIONS


def plain_run(seed: int, shift: float = 0.0) -> tuple[dict[str, Any], set[str]]:
    """Where it is after all ticks, and what it has said."""
    said: set[str] = set()
    space = space_of(automaton_source(seed, is_plain=True), f"<plain automaton {seed}>", Light=Light, tg=SimpleNamespace(message=said.add))
    held: dict[str, Any] = {"x": shift, "n": 0.0, "light": Light.RED, "state": "idle", "before": "off"}
    for _ in range(TICKS):
        held["x"] += 0.5 * space["RATES"][held["state"]]
        instance = space["A"]()
        vars(instance).update(held)
        held |= instance.step()
    held["x"] += 0.1 * space["RATES"][held["state"]]
    return held, said
