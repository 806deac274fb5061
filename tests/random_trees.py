"""Random components of parts of parts whose values are given at every level, and what each value is: the outermost that says anything counts.

Leaves stand in two kinds of trunks, by themselves and in arrays, and these in a whole. A value is a number, or follows from a parameter of the
component in which it is written; it is given by name, in a dictionary, by a path, to one element of an array or to all, to the instance and the run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Tree"]

Find = Callable[[str], float]
_LEAVES = ("Leaf", "OwnLeaf")


class _Given(NamedTuple):
    """A value as it is written, and what it is: in a component in which ``find`` gives parameters, for one place of an array."""

    text: str
    value: Callable[[Find, int], float]


@dataclass
class _Part:
    kind: str
    length: int  # of an array; 0 for a part by itself
    given: dict[str, _Given]


@dataclass
class Tree:
    """One of them, by its seed.

    Attributes
    ----------
    parameters : for the run.
    """

    seed: int
    parameters: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        rng = self._rng = random.Random(self.seed)
        self._p = {kind: self._number() for kind in _LEAVES}
        self._factor, self._s = self._number(), self._number()
        self._r = {kind: self._number() for kind in ("Trunk", "OwnTrunk")}
        self._trunk = {name: self._part(rng.choice(_LEAVES), rng.random() < 0.5 and name == "b", ("p", "q"), ("r", "w")) for name in "ab"}
        self._own_a = _Part("Leaf", 0, {"p": self._given(0, ("r", "w"))}) if rng.random() < 0.4 else self._trunk["a"]
        self._whole: dict[str, _Part] = {}
        for name in "mk":
            paths = ["r", "a.p", "a.q", "b.p", "b.q"]
            part = self._part(rng.choice([*self._r]), rng.random() < 0.3, paths, ("s",))
            if self._trunk["b"].length and "b.p" not in part.given and rng.random() < 0.4:
                part.given[f"b[{rng.randrange(2)}].p"] = self._given(0, ("s",))
            self._whole[name] = part
        self._instance = {path: self._number() for path in self._all("p", "r") if rng.random() < 0.12}
        self.parameters = {path: self._number() for path in (*self._all("p", "q", "r"), "s") if rng.random() < 0.12}

    def _number(self) -> float:
        return round(self._rng.uniform(0.3, 1.7), 3)

    def _given(self, length: int, names: tuple[str, ...]) -> _Given:
        number, name, kind = self._number(), self._rng.choice(names), self._rng.random()
        if length and kind < 0.4:
            numbers = [self._number() for _ in range(length)]
            return _Given(repr(numbers), lambda _, place: numbers[place])
        if kind < 0.5:
            return _Given(repr(number), lambda *_: number)
        if kind < 0.7:
            return _Given(f"lambda self: {number}*self.{name}", lambda find, _: number * find(name))
        return _Given(f"lambda self: {number} + self.{name}", lambda find, _: number + find(name))

    def _part(self, kind: str, is_array: bool, paths: tuple[str, ...] | list[str], names: tuple[str, ...]) -> _Part:
        length = 2 if is_array else 0
        chosen = [path for path in paths if self._rng.random() < 0.4]
        return _Part(kind, length, {path: self._given(length if "." not in path else 0, names) for path in chosen})

    # -- where things stand -----------------------------------------------------------------------------------------------------------------------

    def _leaves_in(self, kind: str) -> dict[str, _Part]:
        return self._trunk if kind == "Trunk" else {**self._trunk, "a": self._own_a}

    def _trunks(self) -> Iterator[tuple[str, _Part, int]]:
        for name, part in self._whole.items():
            yield from ((f"{name}[{k}]" if part.length else name, part, k) for k in range(part.length or 1))

    def _all(self, *names: str) -> list[str]:
        """Paths of parameters of these names."""
        found = [f"{trunk}.r" for trunk, _, _ in self._trunks() if "r" in names]
        return found + [f"{leaf}.{name}" for leaf in self.leaves() for name in names if name != "r"]

    def leaves(self) -> list[str]:
        """Paths of all leaves."""
        found: list[str] = []
        for trunk, part, _ in self._trunks():
            for name, leaf in self._leaves_in(part.kind).items():
                found += [f"{trunk}.{name}[{k}]" for k in range(leaf.length)] if leaf.length else [f"{trunk}.{name}"]
        return found

    # -- what is written ---------------------------------------------------------------------------------------------------------------------------

    def source(self) -> str:
        """The file; ``model`` in it is the model."""
        lines = ["import tidegate as tg", "class Leaf(tg.Component):", f"    p = tg.Parameter({self._p['Leaf']})"]
        lines += [f"    q = tg.Parameter(lambda self: {self._factor}*self.p)", "    x = tg.State(lambda self: self.p)"]
        lines += ["    def equations(self):", "        yield tg.der(self.x) == -self.q*self.x"]
        lines += ["class OwnLeaf(Leaf):", f"    p = {self._p['OwnLeaf']}"]
        lines += ["class Trunk(tg.Component):", f"    r = tg.Parameter({self._r['Trunk']})", "    w = tg.Parameter(lambda self: 1.5*self.r)"]
        lines += [self._made(name, part) for name, part in self._trunk.items()]
        lines += ["class OwnTrunk(Trunk):", f"    r = {self._r['OwnTrunk']}"]
        lines += [self._made("a", self._own_a)] if self._own_a is not self._trunk["a"] else []
        lines += ["class Whole(tg.Component):", f"    s = tg.Parameter({self._s})"]
        lines += [self._made(name, part) for name, part in self._whole.items()]
        return "\n".join([*lines, f"model = Whole(mods={self._instance})", ""])

    def _made(self, name: str, part: _Part) -> str:
        by_name, inside, by_path = dict[str, str](), dict[str, dict[str, str]](), dict[str, str]()
        for path, given in part.given.items():
            head, _, rest = path.partition(".")
            if not rest:
                by_name[head] = given.text
            elif "[" in head or self._rng.random() < 0.5:
                by_path[path] = given.text
            else:
                inside.setdefault(head, {})[rest] = given.text
        arguments = [f"{key}={text}" for key, text in by_name.items()]
        arguments += [f"{head}={_dictionary(texts)}" for head, texts in inside.items()]
        arguments += [f"mods={_dictionary(by_path)}"] if by_path else []
        if part.length:
            return f"    {name} = tg.Array({', '.join([part.kind, str(part.length), *arguments])})"
        return f"    {name} = {part.kind}({', '.join(arguments)})"

    # -- what it is ----------------------------------------------------------------------------------------------------------------------------------

    def value(self, path: str) -> float:
        """Of a parameter, by what was said of it furthest out."""
        for said in (self.parameters, self._instance):
            if path in said:
                return said[path]
        if path == "s":
            return self._s
        trunk, *rest = path.split(".")
        kind, place = self._whole[trunk[0]], _place(trunk)
        for key in (".".join(rest), ".".join(_without_place(item) for item in rest)):
            if key in kind.given:
                return kind.given[key].value(self.value, place)
        if len(rest) == 1:
            return self._r[kind.kind] if rest[0] == "r" else 1.5 * self.value(f"{trunk}.r")
        leaf, name = self._leaves_in(kind.kind)[rest[0][0]], rest[1]
        if name in leaf.given:
            return leaf.given[name].value(lambda own: self.value(f"{trunk}.{own}"), _place(rest[0]))
        return self._p[leaf.kind] if name == "p" else self._factor * self.value(f"{trunk}.{rest[0]}.p")


def _dictionary(texts: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key!r}: {text}" for key, text in texts.items()) + "}"


def _place(name: str) -> int:
    return int(name.partition("[")[2].rstrip("]") or 0)


def _without_place(name: str) -> str:
    return name.partition("[")[0]
