"""What is likeliest missing where unknowns are left over (stage: structure). In: a neutral model that cannot be solved; out: what to try.

Two faults make most singular networks: a connector that is connected with nothing, and a network of which nothing says what a potential is, since all
equations have only differences of them (a ground is missing). The second is found by what an equation does when all its potentials are shifted by the
same amount: nothing, where the sum of its derivatives by them is zero. Networks that no equation ties to anything else float.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np

from tidegate.expressions import Expr, Role, dependencies, differentiate, evaluate, symbol
from tidegate.model import Model
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass
from tidegate.structure.aliases import eliminate_aliases
from tidegate.structure.passes import reduced

__all__ = ["floating", "what_is_missing"]

_NONE_THERE: Final = " is not connected"
_MOST_NAMED: Final = 4
_SEED: Final = 7  # of the point at which derivatives are taken
_ROUNDING: Final = 1e-9  # of derivatives that add up to nothing
_GROUNDS: Final = {"V": "a ground", "m": "a fixed point", "rad": "a fixed point"}


def what_is_missing(model: Model, unknowns: Collection[str], equations: Sequence[int] = ()) -> str:
    """What to try, in a sentence; empty where nothing is known.

    Parameters
    ----------
    model : as the user wrote it.
    unknowns : names of those that the equations do not determine.
    equations : numbers of those that are too many.
    """
    every = dict(_loose(model))
    near = [end for end, row in every.items() if row in equations or any(name.startswith(f"{end}.") for name in unknowns)]
    found = [_connect(near, [end for end in every if end not in near])] if near else []
    for island in floating(model):
        if not (island.names | island.solved).isdisjoint(unknowns):
            found.append(f"{'or, where that is meant so, c' if near else 'c'}{_ground(island)[1:]}")
            break
    return "; ".join(found)


def _loose(model: Model) -> Iterator[tuple[str, int]]:
    """Connectors that are connected with nothing, each with one of the equations that say so."""
    for k, equation in enumerate(model.equations):
        if equation.label.endswith(_NONE_THERE):
            end = equation.label.rpartition("since ")[2].removesuffix(_NONE_THERE)
            around = equation.label.rpartition(": ")[0].replace(": ", ".")  # labels of parts begin with their path
            yield f"{around}.{end}" if around else end, k


def _connect(near: Sequence[str], others: Sequence[str]) -> str:
    """The likeliest connection: with the only other one that is open, else with whatever is meant."""
    first, second = near[0], near[1] if len(near) == 2 else others[0] if len(near) == 1 == len(others) else ""
    around = first.rpartition(".")[0].rpartition(".")[0]
    own = [end.removeprefix(f"{around}.") if around else end for end in (first, second) if end]
    if len(own) == 1 or own[1].count(".") > 1 or own[0].rpartition(".")[0] == own[1].rpartition(".")[0]:
        own = [own[0], "..."]  # elsewhere, or the other end of the same part
    text = ", ".join(end if end == "..." else f"self.{end}" for end in own)
    is_one = len(near) == 1
    where = f" in {around}" if around else ""
    return f"{listed(near, _MOST_NAMED)} {'is' if is_one else 'are'} not connected: `yield tg.connect({text})`{where}"


@dataclass(frozen=True, eq=False)
class _Island:
    """Potentials of which only differences stand in equations: their names, those of the unknowns that are solved for, and the unit."""

    names: frozenset[str]
    solved: frozenset[str]
    unit: str


def _ground(island: _Island) -> str:
    what = _GROUNDS.get(island.unit, "a part that gives one of them a value")
    return f"connect {what}: nothing says what {listed(sorted(island.names), _MOST_NAMED)} are, all equations have only differences of them"


def floating(model: Model) -> list[_Island]:
    """Networks whose potentials can all be shifted together without any equation noticing.

    Parameters
    ----------
    model : as the user wrote it.
    """
    known = reduced(model, [eliminate_aliases])
    owner: dict[Expr, list[str]] = {}
    units: dict[Expr, str] = {}
    for variable in model.unknowns:
        for item in variable.symbols() if variable.is_potential else ():
            stays = known.replaced.get(item, item)
            if stays.op == "symbol":  # a negative, or a number, is no potential to be shifted with others
                owner.setdefault(stays, []).append(item.data.name)
                units.setdefault(stays, variable.unit)
    tied = _Sets(owner)
    values = _somewhere(known.model)
    for equation in known.model.equations:
        residual = equation.residual
        read = dependencies(residual)
        own = [item for item in read if item in owner]
        for item in read:
            if item.data.role is Role.DERIVATIVE and symbol(Role.UNKNOWN, item.data.name) in owner:
                tied.anchor(symbol(Role.UNKNOWN, item.data.name))  # a state has a start value
        if own:
            tied.look(own, evaluate([differentiate(residual, item) for item in own], values))
    return [
        _Island(frozenset(name for item in members for name in owner[item]), frozenset(item.data.name for item in members), units[members[0]])
        for members in tied.free()
    ]


def _somewhere(model: Model) -> dict[Expr, float]:
    """Numbers for all symbols, of which none has a reason to make anything zero."""
    random = np.random.default_rng(_SEED)
    read = sorted(dependencies(*(equation.residual for equation in model.equations)), key=lambda item: (item.data.role.name, item.data.name))
    return dict(zip(read, random.uniform(0.5, 1.5, len(read)).tolist(), strict=True))


class _Sets:
    """Potentials that equations tie to each other (union-find), and those that they tie to something else."""

    def __init__(self, items: Collection[Expr]) -> None:
        self._next = {item: item for item in items}
        self._anchored: set[Expr] = set()

    def _end(self, item: Expr) -> Expr:
        while self._next[item] is not item:
            self._next[item] = self._next[self._next[item]]
            item = self._next[item]
        return item

    def anchor(self, item: Expr) -> None:
        """Something says what it is."""
        self._anchored.add(self._end(item))

    def _join(self, one: Expr, other: Expr) -> None:
        a, b = self._end(one), self._end(other)
        if a is not b:
            self._next[b] = a
            if b in self._anchored:
                self._anchored.add(a)

    def look(self, items: Sequence[Expr], slopes: Sequence[float]) -> None:
        """One equation with its derivatives by potentials: pairs that cancel are shifted together, what does not cancel cannot be shifted at all."""
        present = [(item, slope) for item, slope in zip(items, slopes, strict=True) if slope != 0.0]
        size = sum(abs(slope) for _, slope in present)
        if not math.isfinite(size) or abs(sum(slope for _, slope in present)) > _ROUNDING * size:
            for item, _ in present:
                self.anchor(item)
            return
        pairs = [[item for item, slope in present if abs(abs(slope) - wanted) <= _ROUNDING * size] for wanted in {abs(s) for _, s in present}]
        for pair in pairs if all(len(pair) == 2 for pair in pairs) else [[item for item, _ in present]]:
            for item in pair[1:]:
                self._join(pair[0], item)

    def free(self) -> list[list[Expr]]:
        """Sets of which nothing says where they are."""
        found: dict[Expr, list[Expr]] = {}
        for item in self._next:
            found.setdefault(self._end(item), []).append(item)
        return [members for end, members in found.items() if end not in self._anchored]
