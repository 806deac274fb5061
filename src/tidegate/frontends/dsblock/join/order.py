"""In which order connected blocks are called, and which inputs are unknowns since they close a loop. In: a ``Wiring``; out: an ``Order``.

Source: Otter, DSblock 3.3 (DLR 1994), BLO3UX. Outputs of a block come from those inputs that it names, and from its derivatives where it says so;
derivatives of an ODE come from all its inputs. Without a circle the connection is an ODE. Where circles go through derivatives only, these are
unknowns; where outputs and inputs close one, it is torn at as few elements of inputs as possible. All elements that go from one block to another
are torn together or not at all, so that the fewest are the lightest set of arcs between blocks whose removal leaves no circle: a minimum feedback
arc set, by dynamic programming over the sets of blocks that come first (E. L. Lawler, A comment on minimum feedback arc sets, IEEE Trans. Circuit
Theory 11 (1964) 296-297).
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import numpy as np

from tidegate.frontends.dsblock.description import SignalKind
from tidegate.frontends.dsblock.join.wiring import OUTSIDE, Wiring
from tidegate.model import Form
from tidegate.quick_dataclass import dataclass

__all__ = ["Call", "Loop", "Order", "components", "is_circle", "order"]

_EXACT: Final = 13  # blocks in one loop up to which the fewest elements are found; the sets of 13 blocks are 8192
_OF_A_GUESS: Final = 1e-3  # of the weight of an element: among equally good ones that is torn for which a guess was given

Arcs = Mapping[tuple[int, int], float]  # from one block to another, by weight


class Call(enum.Enum):
    """What is called."""

    OUTPUTS = 0
    EQUATIONS = 1


@dataclass(frozen=True)
class Loop:
    """One loop of outputs and inputs.

    Parameters
    ----------
    parts : its blocks.
    torn : elements of inputs that are unknowns, each a part and an element.
    links : as they were written.
    """

    parts: tuple[int, ...]
    torn: tuple[tuple[int, int], ...]
    links: tuple[str, ...]


@dataclass(frozen=True)
class Order:
    """How a connection is evaluated.

    Parameters
    ----------
    form : ODE, DAE or HDAE.
    is_explicit : derivatives of all parts are explicit; then only torn inputs are unknowns besides X. Else some are unknowns (``rates``).
    calls : for outputs of all parts; equations are among them only where outputs need derivatives that are no unknowns.
    loops : those that are torn.
    circles : links of circles that go through derivatives only.
    """

    form: Form
    is_explicit: bool
    calls: tuple[tuple[Call, int], ...]
    loops: tuple[Loop, ...]
    circles: tuple[str, ...]

    @property
    def torn(self) -> tuple[tuple[int, int], ...]:
        """Elements of inputs that are unknowns."""
        return tuple(one for loop in self.loops for one in loop.torn)


def order(wired: Wiring, guessed: Collection[tuple[int, int]] = ()) -> Order:
    """The order of calls.

    Parameters
    ----------
    guessed : elements of inputs for which there is a guess.
    """
    parts = range(len(wired.parts))
    direct = _arcs(wired, guessed)
    loops = tuple(_loop(wired, members, direct) for members in components(parts, direct) if is_circle(members, direct))
    torn = {one for loop in loops for one in loop.torn}
    explicit, circular = _sorted(wired, torn)
    if not circular and all(part.described.form is not Form.DAE for part in wired.parts):
        is_constrained = any(part.described.form is Form.HDAE for part in wired.parts)
        return Order(Form.HDAE if is_constrained else Form.DAE if torn else Form.ODE, True, tuple(explicit), loops, ())
    form = Form.HDAE if any(part.described.form is Form.HDAE for part in wired.parts) else Form.DAE
    kept = {arc for arc in direct if any(one not in torn for one in _elements(wired, *arc))}
    return Order(form, False, tuple((Call.OUTPUTS, part) for part in _topological(parts, kept)), loops, tuple(circular))


def _elements(wired: Wiring, source: int, part: int, *, direct: bool = True) -> list[tuple[int, int]]:
    """Elements of a part's inputs that a source drives, those that outputs depend on or all."""
    flags = wired.parts[part].described.dependence.inputs
    return [(part, int(k)) for k in np.flatnonzero(wired.driver[part] == source) if not direct or flags[k]]


def _arcs(wired: Wiring, guessed: Collection[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """From block to block, how many elements outputs of the second depend on at once."""
    arcs: dict[tuple[int, int], float] = {}
    for part in range(len(wired.parts)):
        for source in {int(k) for k in wired.driver[part]} - {OUTSIDE}:
            if elements := _elements(wired, source, part):
                arcs[source, part] = len(elements) - _OF_A_GUESS * sum(one in guessed for one in elements) / len(elements)
    return arcs


def components(nodes: Iterable[int], arcs: Collection[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Strongly connected components, each after those that lead to it."""
    nodes = list(nodes)
    after = {node: {b for a, b in arcs if a == node} for node in nodes}
    reach: dict[int, set[int]] = {}
    for node in nodes:
        seen, open_ = {node}, [node]
        while open_:
            new = after[open_.pop()] - seen
            seen |= new
            open_ += new
        reach[node] = seen
    groups = list(dict.fromkeys(tuple(other for other in nodes if other in reach[node] and node in reach[other]) for node in nodes))
    ordered: list[tuple[int, ...]] = []
    while groups:
        first = next(g for g in groups if not any(g[0] in reach[other[0]] for other in groups if other is not g))
        ordered.append(first)
        groups.remove(first)
    return ordered


def is_circle(members: tuple[int, ...], arcs: Collection[tuple[int, int]]) -> bool:
    """Whether a component is more than one node that does not lead to itself."""
    return len(members) > 1 or any((member, member) in arcs for member in members)


def _loop(wired: Wiring, members: tuple[int, ...], direct: Arcs) -> Loop:
    inside = {arc: weight for arc, weight in direct.items() if arc[0] in members and arc[1] in members}
    sequence = _lightest(members, inside) if len(members) <= _EXACT else _light(members, inside)
    place = {part: k for k, part in enumerate(sequence)}
    back = [arc for arc in inside if place[arc[0]] >= place[arc[1]]]
    torn = sorted(one for arc in back for one in _elements(wired, *arc))
    links = tuple(wired.link(*one) for arc in sorted(inside, key=lambda arc: (arc[1], arc[0])) for one in _elements(wired, *arc))
    return Loop(members, tuple(torn), links)


def _lightest(members: tuple[int, ...], arcs: Arcs) -> list[int]:
    """The sequence of blocks with the lightest arcs backwards."""
    n = len(members)
    weight = np.array([[arcs.get((a, b), 0.0) if a != b else 0.0 for b in members] for a in members])
    best, last = np.full(1 << n, np.inf), np.zeros(1 << n, dtype=int)
    best[0] = 0.0
    for chosen in range(1, 1 << n):
        inside = [k for k in range(n) if chosen >> k & 1]
        for k in inside:
            # k is the last of those chosen; its arcs to the others go backwards
            cost = best[chosen & ~(1 << k)] + weight[k, inside].sum()
            if cost < best[chosen] - 1e-12:
                best[chosen], last[chosen] = cost, k
    sequence: list[int] = []
    chosen = (1 << n) - 1
    while chosen:
        sequence.insert(0, members[int(last[chosen])])
        chosen &= ~(1 << int(last[chosen]))
    return sequence


def _light(members: tuple[int, ...], arcs: Arcs) -> list[int]:
    """A sequence with light arcs backwards: sinks and sources first, then the block that gives most and takes least (Eades, Lin, Smyth 1993)."""
    left, head, tail = list(members), list[int](), list[int]()
    while left:
        gives = {a: sum(w for (s, t), w in arcs.items() if s == a and t in left and t != a) for a in left}
        takes = {a: sum(w for (s, t), w in arcs.items() if t == a and s in left and s != a) for a in left}
        if sinks := [a for a in left if not gives[a]]:
            tail.insert(0, sinks[0])
            left.remove(sinks[0])
            continue
        chosen = next((a for a in left if not takes[a]), max(left, key=lambda a: gives[a] - takes[a]))
        head.append(chosen)
        left.remove(chosen)
    return head + tail


def _topological(nodes: Iterable[int], arcs: Collection[tuple[int, int]]) -> list[int]:
    return [node for group in components(nodes, arcs) for node in group]


def _sorted(wired: Wiring, torn: Collection[tuple[int, int]]) -> tuple[list[tuple[Call, int]], list[str]]:
    """Calls with all derivatives explicit; and the links of circles that are left, which go through derivatives."""
    n = len(wired.parts)  # node k: outputs of part k; node n + k: its equations
    arcs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for part, one in enumerate(wired.parts):
        is_ode, flags = one.described.form is not Form.DAE, one.described.dependence.inputs
        for element, source in enumerate(wired.driver[part].tolist()):
            if source == OUTSIDE or (part, element) in torn:
                continue
            if is_ode:
                arcs.setdefault((source, n + part), []).append((part, element))
            if flags[element]:
                arcs.setdefault((source, part), []).append((part, element))
        if is_ode and one.described.dependence.outputs_need_rates and one.described.size(SignalKind.STATE):
            arcs[n + part, part] = []
    groups = components(range(2 * n), arcs)
    circular = [set(group) for group in groups if len(group) > 1]
    links = {link for group in circular for arc, at in arcs.items() if arc[0] in group and arc[1] in group for link in at}
    needed = {a for a, b in arcs if a >= n and b < n}
    calls = [(Call.EQUATIONS, k - n) if k >= n else (Call.OUTPUTS, k) for group in groups for k in group if k < n or k in needed]
    return calls, [wired.link(*link) for link in sorted(links)]
