"""Random Python functions as source text: branches, loops left early, aliases, helpers, patterns; each takes three numbers and returns two.

Every one ends, and none raises an exception: what following it on symbols gives has to be what Python gives, or it is refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from written_source import space_of

__all__ = ["Writer", "random_function", "source_of"]

_COMPARED = ("<", "<=", ">", ">=")


class Writer:
    """Writes one function.

    Parameters
    ----------
    rng : what is random.
    raises : whether it raises errors under conditions.
    """

    def __init__(self, rng: random.Random, *, raises: bool = False) -> None:
        self.rng, self.raises = rng, raises
        self.lines: list[str] = []
        self.numbers = ["a", "b", "c", "r", "s"]
        self.loops = 0
        self.budget = 26

    # -- expressions

    def number(self, depth: int = 2) -> str:
        """An expression that is a number."""
        choose = self.rng.random
        if depth == 0 or choose() < 0.25:
            return self.rng.choice([*self.numbers, *self.numbers, "xs[0]", "xs[1]", f"{self.rng.uniform(-2, 2):.3f}", "z[1]"])
        inner = [self.number(depth - 1) for _ in range(3)]
        return self.rng.choice(
            [
                f"({inner[0]} + {inner[1]})",
                f"({inner[0]} - {inner[1]})",
                f"0.5*{inner[0]}*{self.rng.uniform(-1, 1):.3f}",
                f"min({inner[0]}, {inner[1]})",
                f"max({inner[0]}, {inner[1]}, {inner[2]})",
                f"abs({inner[0]})",
                f"({inner[0]} if {self.condition(depth - 1)} else {inner[1]})",
                f"float(np.where({self.condition(0)}, {inner[0]}, {inner[1]}))",
                f"np.clip({inner[0]}, -1.5, 1.25)",
                f"helper({inner[0]}, {inner[1]})",
                f"early({inner[0]})",
                f"sum([v*0.5 if v > {self.rng.uniform(-1, 1):.3f} else -v for v in xs])",
                f"sum(v for k, v in enumerate(xs) if k != {self.rng.randint(0, 2)})",
                f"max([{inner[0]}, *xs])",
                f"float({self.condition(0)})",
                f"(k0 := {inner[0]})",
                f"math.sin({inner[0]})",
                f"np.sign({inner[0]})",
                f"{{'p': {inner[0]}, 'q': {inner[1]}}}[{self.rng.choice(['p', 'q'])!r}]",
                f"(lambda u, w={inner[0]}: u + w if u > w else w)({inner[1]})",
                f"[{inner[0]}, {inner[1]}][::-1][0]",
                f"({inner[0]} and {inner[1]})",
                f"({inner[0]} or {inner[1]})",
                f"({inner[0]} and tally({inner[1]}))",
                f"({inner[0]} or (k0 := {inner[1]}))",
                f"max(xs, key=lambda v: v*{self.rng.uniform(-1, 1):.3f})",
                f"min(({inner[0]}, {inner[1]}), ({inner[2]}, 1.0))[1]",
                f"sum(map(tally, [{inner[0]}, 0.2]))",
                f"{{'low': {inner[0]}, 'high': {inner[1]}}}[kind]",
                f"{{'high': {inner[0]}}}.get(kind, {inner[1]})",
                f"act({inner[0]})",
                f"{{'low': tally, 'high': helper}}[kind]({inner[0]})",
                f"(max if {self.condition(0)} else min)({inner[0]}, {inner[1]})",
                "float(len(kind))",
                f"sorted([{inner[0]}, {inner[1]}, {inner[2]}])[{self.rng.randint(0, 2)}]",
                f"sum(v for v in xs if v > {inner[0]})",
                f"max((v for v in [*xs, {inner[0]}] if v < {self.rng.uniform(-1, 1):.3f}), default={inner[1]})",
                f"next((v for v in xs if v > {inner[0]}), {inner[1]})",
                f"float(len([v for v in xs if tally(v) > {inner[0]}]))",
                f"sum(filter(lambda v: v > {inner[0]}, xs))",
                f"sum(xs[:int({inner[0]})])",
                f"sum(k*{inner[1]} for k in range(min(int({inner[0]}), 3)) if k != 1)",
                f"sum(v*w for v in xs if v > 0 for w in alias if w < {inner[0]})",
            ]
        )

    def condition(self, depth: int = 1) -> str:
        """An expression that is true or false."""
        a, b, c = (self.number(0 if depth == 0 else 1) for _ in range(3))
        simple = f"{a} {self.rng.choice(_COMPARED)} {b}"
        if depth == 0 or self.rng.random() < 0.4:
            return simple
        return self.rng.choice(
            [
                f"({simple} and {self.condition(depth - 1)})",
                f"({simple} or {self.condition(depth - 1)})",
                f"not ({simple})",
                f"{a} < {b} < {c}",
                f"{a} <= {b} > {c}",
                f"any(v > {b} for v in xs)",
                f"all([v < {b} for v in xs])",
                f"bool({simple})",
                f"({simple} and tally({a}) > {c})",
                f"({simple} or tally({a}) > {c})",
                f"{a} < tally({b}) < tally({c})",
                f"({simple}) == ({self.condition(0)})",
                f"({simple}) != ({self.condition(0)})",
                f"[{simple}] == [{self.condition(0)}]",
                f"({simple}) is not None",
                f"len(xs) > {self.rng.randint(1, 3)}",
                "kind == 'low'",
                f"(kind != 'high' and {simple})",
                "kind in ('high', 'other')",
                "kind.startswith('l')",
            ]
        )

    # -- statements

    def block(self, indent: int, in_loop: bool, depth: int) -> None:
        """A few statements."""
        for _ in range(self.rng.randint(1, 3)):
            self.statement(indent, in_loop, depth)

    def put(self, indent: int, text: str) -> None:
        """One line."""
        self.lines.append("    " * indent + text)

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        """One statement."""
        self.budget -= 1
        simple: list[Callable[[], None]] = [
            lambda: self.put(indent, f"{self.rng.choice('rs')} = {self.number()}"),
            lambda: self.put(indent, f"{self.rng.choice('rs')} {self.rng.choice(['+=', '-='])} {self.number(1)}"),
            lambda: self.put(indent, f"r, s = {self.number(1)}, {self.number(1)}"),
            lambda: self.put(indent, f"xs[{self.rng.randint(0, 2)}] = {self.number(1)}"),
            lambda: self.put(indent, f"alias[{self.rng.randint(0, 2)}] += {self.number(0)}"),
            lambda: self.put(indent, f"z[{self.rng.randint(0, 2)}] = {self.number(1)}"),
            lambda: self.put(indent, f"part[{self.rng.randint(0, 1)}] += {self.number(0)}"),
            lambda: self.put(indent, f"record.{self.rng.choice('uv')} = {self.number(1)}"),
            lambda: self.put(indent, f"s = record.u - record.v + {self.number(0)}"),
            lambda: self.put(indent, f"bump({self.number(1)})"),
            lambda: self.put(indent, f"s = shared + {self.number(0)}"),
            lambda: self.put(indent, f"xs = {self.rng.choice(['xs[::-1]', '[v + 0.1 for v in xs]', 'list(alias)', 'sorted(xs, key=lambda v: 0)'])}"),
            lambda: self.put(indent, f"r, *rest = xs; s += rest[{self.rng.randint(0, 1)}]"),
            lambda: self.put(
                indent, self.rng.choice(["xs = sorted(xs)", "xs.sort(reverse=True)", "alias.sort(key=abs)", "r, s = sorted((s, r), key=tally)"])
            ),
            lambda: self.put(indent, f"few = [v for v in xs if v > {self.number(0)}] if {self.condition(0)} else [{self.number(0)}]; r += sum(few)"),
            lambda: self.put(indent, f"some = [v for v in xs if v > {self.number(0)}]; r = sum(some)/len(some) if some else {self.number(0)}"),
            lambda: self.put(indent, f"kind = 'low' if {self.condition()} else {self.rng.choice(['kind', repr('high')])}"),
            lambda: self.put(indent, f"act = {self.rng.choice(['tally', 'early', 'helper', 'abs', 'float', 'math.sin', 'record_it'])}"),
            lambda: self.put(indent, "kind = {'low': 'high', 'high': 'low'}[kind]"),
        ]
        if self.rng.random() < 0.45 or depth == 0 or self.budget < 0:
            self.rng.choice(simple)()
            return
        compound = [self.branch, self.branch, self.leave, self.leave, self.loop, self.repeat, self.search, self.pattern, self.guard]
        self.rng.choice(compound)(indent, in_loop, depth)

    def branch(self, indent: int, in_loop: bool, depth: int) -> None:
        """An `if`, with all its parts."""
        self.put(indent, f"if {self.condition()}:")
        self.block(indent + 1, in_loop, depth - 1)
        if self.rng.random() < 0.3:
            self.put(indent, f"elif {self.condition()}:")
            self.block(indent + 1, in_loop, depth - 1)
        if self.rng.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 1, in_loop, depth - 1)

    def leave(self, indent: int, in_loop: bool, depth: int) -> None:
        """Leave the function or the loop's round early, under a condition or without one."""
        kinds = ["return"] * 2 + ["continue"] * 3 * in_loop + ["break"] * 3 * in_loop
        kind = self.rng.choice([*kinds, *["raise", "assert"] * 2 * self.raises])
        text = {"return": self.returned, "raise": lambda: "raise ValueError(f'{r}')", "assert": self.claimed}.get(kind, lambda: kind)()
        if self.rng.random() < (0.9 if kind != "return" or not in_loop else 0.7):
            self.put(indent, f"if {self.condition()}:")
            if self.rng.random() < 0.5:
                self.statement(indent + 1, in_loop, 0)
            self.put(indent + 1, text)
        else:
            self.put(indent, text)

    def returned(self) -> str:
        """A statement that returns something."""
        return f"return [{self.number(1)}, {self.number(0)}]"

    def claimed(self) -> str:
        """A statement that raises an error where something is not so."""
        return f"assert {self.condition()}, 'no answer'"

    def loop(self, indent: int, in_loop: bool, depth: int) -> None:
        """A `for` over something of known length."""
        self.loops += 1
        name = f"k{self.loops}"
        over, target = self.rng.choice(
            [
                (f"range({self.rng.randint(1, 3)})", f"i{self.loops}"),
                ("xs", name),
                ("list(alias)", name),
                ("enumerate(list(xs))", f"i{self.loops}, {name}"),
                ("zip(reversed(xs), [1.0, 2.0])", f"{name}, i{self.loops}"),
                ("[v for v in xs if v is not None]", name),
                (f"[v for v in xs if v > {self.number(0)}]", name),
                (f"(0.5*v for v in tuple(xs) if v < {self.number(0)})", name),
                ("filter(lambda v: v > 0.1, tuple(xs))", name),
                (f"range(min(max(int({self.number(0)}), -1), 3))", f"i{self.loops}"),
                (f"tuple(xs)[int({self.number(0)}):]", name),
            ]
        )
        if over == "xs":
            over = "tuple(xs)"
        self.put(indent, f"for {target} in {over}:")
        known = list(self.numbers)
        self.numbers += [item.strip() for item in target.split(",")]
        self.block(indent + 1, True, depth - 1)
        self.numbers = known
        if self.rng.random() < 0.25:
            self.put(indent, "else:")
            self.block(indent + 1, in_loop, 0)

    def repeat(self, indent: int, in_loop: bool, depth: int) -> None:
        """A `while` with a count."""
        self.loops += 1
        name = f"n{self.loops}"
        self.put(indent, f"{name} = 0")
        count, also = f"{name} < {self.rng.randint(1, 3)}", self.condition()
        self.put(indent, f"while {self.rng.choice([count, f'{count} and {also}', f'{also} and {count}'])}:")
        self.put(indent + 1, f"{name} += 1")
        known = list(self.numbers)
        self.numbers.append(name)
        self.block(indent + 1, True, depth - 1)
        self.numbers = known
        if self.rng.random() < 0.25:
            self.put(indent, "else:")
            self.block(indent + 1, in_loop, 0)

    def search(self, indent: int, in_loop: bool, depth: int) -> None:
        """A loop that is left where something is found, or is near enough."""
        self.loops += 1
        name = f"k{self.loops}"
        if self.rng.random() < 0.5:
            self.put(indent, f"for {name} in ({self.number(0)}, 0.4, -0.2, {self.number(0)}):")
            self.put(indent + 1, f"if {name} {self.rng.choice(_COMPARED)} {self.number(1)}: break")
        else:
            self.put(indent, f"{name} = {self.number(0)}")
            self.put(indent, f"for i{self.loops} in range(4):")
            self.put(indent + 1, f"{name} = 0.5*{name} + {self.number(0)}")
            self.put(indent + 1, f"if abs({name} - s) < {self.rng.uniform(0.1, 1.0):.3f}: break")
        if self.rng.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 1, in_loop, 0)
        self.put(indent, f"{self.rng.choice('rs')} = {name} + {self.number(0)}")

    def pattern(self, indent: int, in_loop: bool, depth: int) -> None:
        """A `match`."""
        subject, cases = self.rng.choice(
            [
                (f"np.sign({self.number(1)})", ["1.0", "-1.0 | 0.0", "_"]),
                (f"({self.number(0)}, {self.number(0)}, 'x')", [f"(p, q, 'x') if {self.condition(0)}", "(p, _, 'y')", "(p, *q)", "_"]),
                ("kind", ["'low'", "'high'"]),
                ("xs", ["[p, q]", f"[p, q, w] if p {self.rng.choice(_COMPARED)} q", "[p, *w]"]),
                (f"{{'kind': 'm', 'value': float({self.condition(0)})}}", ["{'kind': 'n'}", "{'value': 1.0}", "{'value': q}"]),
            ]
        )
        self.put(indent, f"match {subject}:")
        for case in cases:
            self.put(indent + 1, f"case {case}:")
            self.block(indent + 2, in_loop, depth - 1)

    def guard(self, indent: int, in_loop: bool, depth: int) -> None:
        """A `try`."""
        self.put(indent, "try:")
        self.block(indent + 1, in_loop, depth - 1)
        if self.rng.random() < 0.4:
            self.put(indent, "except KeyError:")
            self.put(indent + 1, "r = 99.0")
            if self.rng.random() < 0.5:
                self.put(indent, "else:")
                self.block(indent + 1, in_loop, 0)
        if self.rng.random() < 0.6 or self.lines[-1].strip() == "" or not any("except" in line for line in self.lines[-6:]):
            self.put(indent, "finally:")
            self.put(indent + 1, f"s += {self.number(0)}")

    def helpers(self) -> None:
        """Functions that everything written may call."""
        refusal = ["    if u > 1.9: raise ValueError('too large')"] * self.raises
        for line in (
            "def helper(u, w=0.5):",
            *refusal,
            "    u = u if u > w else 0.5*w",
            "    for q in (u, w):",
            "        if q < -0.5: continue",
            "        return q - 0.25",
            "    return u",
            "def early(u):",
            "    if u > 0.7: return 1.0 - u",
            "    if u > 0.2:",
            "        if u < 0.4: return 0.3",
            "        u = u + 0.1",
            "    return u*0.5",
        ):
            self.put(0, line)

    def text(self) -> str:
        """The whole file."""
        self.lines = []
        self.put(0, "import math")
        self.put(0, "from types import SimpleNamespace")
        self.put(0, "import numpy as np")
        self.helpers()
        self.put(0, "def f(y):")
        self.put(1, "a, b, c = y")
        self.put(1, "r, s, k0 = 0.1, -0.2, 0.0")
        self.put(1, "xs = [a, b, 0.3]")
        self.put(1, "alias = xs")
        self.put(1, "z = np.zeros(3)")
        self.put(1, "part = z[1:]")
        self.put(1, "record = SimpleNamespace(u=c, v=0.0)")
        self.put(1, "shared, kind, act = 0.4, 'high', early")
        self.put(1, "def record_it(u):")
        self.put(2, "if u > record.u: record.v += 0.25")
        self.put(2, "return record.v - u")
        self.put(1, "def bump(u):")
        self.put(2, "nonlocal shared")
        self.put(2, "if u > 0: shared += u; return")
        self.put(2, "shared -= 0.1")
        self.put(1, "def tally(u):")
        self.put(2, "nonlocal shared")
        self.put(2, "shared = shared*0.5 + 0.1")
        self.put(2, "return shared - u if u > 0 else shared")
        for _ in range(self.rng.randint(2, 5)):
            self.statement(1, False, 3)
        self.put(1, "return [r + 0.3*xs[1] + shared, s + z[1] + 0.7*alias[0] + record.u]")
        return "\n".join(self.lines) + "\n"


def source_of(seed: int, *, raises: bool = False) -> str:
    """The text of the function of this number."""
    return Writer(random.Random(seed), raises=raises).text()


def random_function(seed: int, *, raises: bool = False) -> Any:
    """The function of this number, with its text where it can be read."""
    return space_of(source_of(seed, raises=raises), f"<random {seed}{' raises' * raises}>")["f"]
