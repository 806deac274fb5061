"""What a connection says of itself, and where the vectors of its parts lie in its own. In: a ``Wiring`` and its ``Order``; out: a ``Layout``.

Everything of a part is called ``part.NAME``. States of a connection are those of its parts one behind the other, then torn elements of inputs;
what its auxiliary variables add to those of its parts are inputs that other blocks drive, and outputs that it does not show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.dsblock.description import (
    Dependence,
    Description,
    Group,
    ParameterEntry,
    ParameterKind,
    Proposals,
    SignalEntry,
    SignalKind,
    element_names,
)
from tidegate.frontends.dsblock.join.order import Order
from tidegate.frontends.dsblock.join.rates import Unknowns, unknowns
from tidegate.frontends.dsblock.join.wiring import OUTSIDE, Part, Wiring
from tidegate.frontends.dsblock.proposals import COMMUNICATION, Environment
from tidegate.model import Form
from tidegate.quick_dataclass import dataclass

__all__ = ["Layout", "layout"]

IndexArray = NDArray[np.intp]
_LEAST = ("output_step", "first_step", "min_step", "max_step", "rtol", "delay_resolution", "max_evaluations", "max_order")
_MOST = ("t_end", "output_intervals", "precision")


@dataclass(frozen=True)
class Layout:
    """A connection on flat vectors.

    Parameters
    ----------
    states : where those of a part lie in X; of an HDAE x1 of all parts comes first, then x2 and torn elements of inputs, then x3.
    indicators, auxiliaries : likewise in Z and W.
    equations : of an HDAE, for each part where its F1 ... F5 lie in those of the connection; of an ODE part all are F1.
    parameters : places of a part's parameters in the connection's.
    rates : of each part, places in X of derivatives that are unknowns beside an HDAE; ``differentiated`` : of which of its x.
    torn : places in X of torn elements of inputs, in the order of ``order.torn``.
    outputs : of each element of Y its part and its place there.
    driven, hidden : likewise what is recorded besides: elements of inputs, and of outputs that the connection does not show.
    environment : what is known of the run.
    """

    wired: Wiring
    order: Order
    described: Description
    states: tuple[IndexArray, ...]
    indicators: tuple[slice, ...]
    auxiliaries: tuple[slice, ...]
    parameters: tuple[IndexArray, ...]
    torn: slice
    outputs: tuple[tuple[int, int], ...]
    driven: tuple[tuple[int, int], ...]
    hidden: tuple[tuple[int, int], ...]
    equations: tuple[tuple[slice, ...], ...] = ()
    rates: tuple[IndexArray, ...] = ()
    differentiated: tuple[IndexArray, ...] = ()
    environment: Environment = field(default_factory=Environment)


def layout(name: str, text: str, wired: Wiring, ordered: Order, guesses: Mapping[tuple[int, int], float]) -> Layout:
    """The description of a connection.

    Parameters
    ----------
    guesses : of torn elements, where they are not zero.
    """
    signals = _Entries()
    found = unknowns(wired, ordered)
    sizes = [one.equations for one in found]
    states, rates, first_torn = _states(wired, ordered, found, signals)
    for outer in (*wired.inputs, *wired.outputs):
        signals.add(outer.like)
    indicators = signals.of_parts(wired, SignalKind.INDICATOR)
    auxiliaries = signals.of_parts(wired, SignalKind.AUXILIARY)
    driven = _driven(wired, ordered, signals)
    shown = [(outer.part, element) for outer in wired.outputs for element in outer.elements]
    hidden = _hidden(wired, signals)
    entries, places = _parameters(wired)
    parts = [part.described for part in wired.parts]
    x0 = np.zeros(signals.size(SignalKind.STATE))
    for part, where in zip(parts, states, strict=True):
        x0[where] = part.x0
    for part, where, one in zip(parts, rates, found, strict=True):
        x0[where] = np.array(part.xd0)[one.rates] if part.xd0 else 0.0
    x0[first_torn : first_torn + len(ordered.torn)] = [guesses.get(one, 0.0) for one in ordered.torn]
    xd0 = [value for part in parts for value in (part.xd0 or (0.0,) * len(part.x0))] + [0.0] * len(ordered.torn)
    is_dae = ordered.form is Form.DAE
    needs_rates = is_dae and not ordered.is_explicit
    described = Description(
        name=name, form=ordered.form, signals=tuple(signals.entries), parameters=entries, text=text, t0=min(part.t0 for part in parts),
        x0=tuple(x0.tolist()), xd0=tuple(xd0) if is_dae else (),
        dependence=Dependence(_needed_inputs(wired, ordered, shown), outputs_need_rates=needs_rates, auxiliaries_need_rates=needs_rates),
        algebraic=tuple(range(first_torn, first_torn + len(ordered.torn))) if is_dae and ordered.is_explicit else None,
        proposals=_proposals([part.proposals for part in parts]), has_step_events=any(part.has_step_events for part in parts),
        groups=() if ordered.form is Form.HDAE else tuple(_groups(wired, states, indicators)), parts=_parts(ordered, sizes),
        has_communication=any(part.has_communication for part in parts), outputs_may_retry=any(part.outputs_may_retry for part in parts),
        discretes={f"{part.name}.{name}": value for part in wired.parts for name, value in part.described.discretes.items()},
    )  # fmt: skip
    torn = slice(first_torn, first_torn + len(ordered.torn))
    return Layout(
        wired, ordered, described, states, indicators, auxiliaries, places, torn, tuple(shown), driven, hidden, _equations(ordered, sizes), rates,
        tuple(one.rates for one in found),
    )  # fmt: skip


def _parts(ordered: Order, sizes: Sequence[tuple[int, int, int, int, int]]) -> tuple[int, int, int, int, int]:
    """NF1 ... NF5 of an HDAE; loops are among F2."""
    if ordered.form is not Form.HDAE:
        return 0, 0, 0, 0, 0
    n1, n2, n3, n4, n5 = (sum(one) for one in zip(*sizes, strict=True))
    return n1, n2 + len(ordered.torn), n3, n4, n5


def _equations(ordered: Order, sizes: Sequence[tuple[int, int, int, int, int]]) -> tuple[tuple[slice, ...], ...]:
    found: list[list[slice]] = [[] for _ in sizes]
    first = 0
    for k, total in enumerate(_parts(ordered, sizes)):
        end = first
        for places, size in zip(found, sizes, strict=True):
            places.append(slice(end, end := end + size[k]))
        first += total
    return tuple(map(tuple, found))


def _states(
    wired: Wiring, ordered: Order, found: Sequence[Unknowns], signals: _Entries
) -> tuple[tuple[IndexArray, ...], tuple[IndexArray, ...], int]:
    """Where the states of each part lie, and derivatives that are unknowns, and the first torn element of an input behind x2."""
    is_constrained = ordered.form is Form.HDAE
    places = tuple(np.zeros(len(part.described.x0), dtype=np.intp) for part in wired.parts)
    rates = tuple(np.zeros(len(one.rates), dtype=np.intp) for one in found)
    first_torn = 0
    for k in range(3):
        for where, part, one in zip(places, wired.parts, found, strict=True):
            signals.of_part(part, one.states[k].tolist(), where)
        if k == (1 if is_constrained else 2):
            for where, part, one in zip(rates, wired.parts, found, strict=True):
                names = part.described.names(SignalKind.STATE)
                for i, place in enumerate(one.rates.tolist()):
                    where[i] = signals.size(SignalKind.STATE)
                    signals.add(SignalEntry(f"der({part.name}.{names[place]})", SignalKind.STATE))
            first_torn = signals.size(SignalKind.STATE)
            for one in ordered.torn:
                signals.add(SignalEntry(wired.input_name(*one), SignalKind.STATE))
    return places, rates, first_torn


def _groups(wired: Wiring, states: Sequence[IndexArray], indicators: Sequence[slice]) -> Iterator[Group]:
    """Each part is one, unless it is itself a connection."""
    first = 0
    for part, places, z in zip(wired.parts, states, indicators, strict=True):
        x = slice(first, first := first + len(places))
        if not part.described.groups:
            yield Group(part.name, x, z)
        for group in part.described.groups:
            yield Group(f"{part.name}.{group.name}", _moved(group.states, x.start), _moved(group.indicators, z.start))


def _moved(places: slice, by: int) -> slice:
    return slice(places.start + by, places.stop + by)


class _Entries:
    """Signals, each behind the others of its kind."""

    def __init__(self) -> None:
        self.entries: list[SignalEntry] = []

    def size(self, kind: SignalKind) -> int:
        return sum(entry.size for entry in self.entries if entry.kind is kind)

    def add(self, entry: SignalEntry) -> None:
        self.entries.append(replace(entry, first=self.size(entry.kind)))

    def of_part(self, part: Part, wanted: Collection[int], places: IndexArray) -> None:
        """Some states of a part: whole entries, or elements of those of which others are not wanted. Their places are noted."""
        for entry in _with_nominal(part.described).of_kind(SignalKind.STATE):
            inside = [k for k in range(entry.first, entry.first + entry.size) if k in wanted]
            if not inside:
                continue
            first = self.size(SignalKind.STATE)
            if len(inside) == entry.size:
                self.add(replace(entry, name=f"{part.name}.{entry.name}"))
            else:
                names = element_names(entry.name, entry.shape)
                for k in inside:
                    self.add(replace(entry, name=f"{part.name}.{names[k - entry.first]}", shape=()))
            places[inside] = range(first, first + len(inside))

    def of_parts(self, wired: Wiring, kind: SignalKind) -> tuple[slice, ...]:
        places: list[slice] = []
        for part in wired.parts:
            first = self.size(kind)
            for entry in _with_nominal(part.described).of_kind(kind):
                self.add(replace(entry, name=f"{part.name}.{entry.name}"))
            places.append(slice(first, self.size(kind)))
        return tuple(places)


def _driven(wired: Wiring, ordered: Order, signals: _Entries) -> tuple[tuple[int, int], ...]:
    """Inputs that have no other name under which they are recorded: not torn, and not left open."""
    own = {outer.name.upper() for outer in wired.inputs}
    found: list[tuple[int, int]] = []
    for number, part in enumerate(wired.parts):
        for entry in part.described.of_kind(SignalKind.INPUT):
            names = element_names(entry.name, entry.shape)
            full = [f"{part.name}.{name}" for name in names]
            here = range(entry.first, entry.first + entry.size)
            if f"{part.name}.{entry.name}".upper() in own:
                continue
            left = [k for k, name in zip(here, full, strict=True) if (number, k) not in ordered.torn and name.upper() not in own]
            if len(left) == entry.size:
                signals.add(SignalEntry(f"{part.name}.{entry.name}", SignalKind.AUXILIARY, entry.shape, 0, entry.text, entry.unit))
            else:
                for k in left:
                    signals.add(SignalEntry(full[k - entry.first], SignalKind.AUXILIARY, (), 0, entry.text, entry.unit))
            found += [(number, k) for k in left]
    return tuple(found)


def _hidden(wired: Wiring, signals: _Entries) -> tuple[tuple[int, int], ...]:
    """Outputs that are not recorded under their own names."""
    own = {outer.name.upper() for outer in wired.outputs}
    found: list[tuple[int, int]] = []
    for number, part in enumerate(wired.parts):
        for entry in part.described.of_kind(SignalKind.OUTPUT):
            if f"{part.name}.{entry.name}".upper() in own:
                continue
            names = element_names(entry.name, entry.shape)
            left = [k for k, name in enumerate(names) if f"{part.name}.{name}".upper() not in own]
            if len(left) == entry.size:
                signals.add(replace(entry, name=f"{part.name}.{entry.name}", kind=SignalKind.AUXILIARY))
            else:
                for k in left:
                    signals.add(SignalEntry(f"{part.name}.{names[k]}", SignalKind.AUXILIARY, (), 0, entry.text, entry.unit))
            found += [(number, entry.first + k) for k in left]
    return tuple(found)


def _parameters(wired: Wiring) -> tuple[tuple[ParameterEntry, ...], tuple[IndexArray, ...]]:
    """All parameters in the order of declaration; and for each part where its own lie, kind after kind."""
    sizes = dict.fromkeys(ParameterKind, 0)
    entries: list[ParameterEntry] = []
    for part in wired.parts:
        for entry in part.described.parameters:
            entries.append(replace(entry, name=f"{part.name}.{entry.name}", first=sizes[entry.kind], number=len(entries) + 1))
            sizes[entry.kind] += entry.size
    begins = dict(zip(ParameterKind, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
    places: list[IndexArray] = []
    number = 0
    for part in wired.parts:
        mine = entries[number : (number := number + len(part.described.parameters))]
        own = [begins[kind] + k for kind in ParameterKind for one in mine if one.kind is kind for k in range(one.first, one.first + one.size)]
        places.append(np.array(own, dtype=np.intp))
    return tuple(entries), tuple(places)


def _needed_inputs(wired: Wiring, ordered: Order, shown: Iterable[tuple[int, int]]) -> tuple[bool, ...]:
    """Which elements of U outputs depend on at once: through outputs, and through derivatives where those are explicit."""
    needed: set[tuple[int, int]] = set()  # elements of inputs
    open_, seen = [part for part, _ in shown], set[int]()
    while open_:
        part = open_.pop()
        if part in seen:
            continue
        seen.add(part)
        needs = wired.parts[part].described.dependence
        everything = ordered.is_explicit and needs.outputs_need_rates
        for element, source in enumerate(wired.driver[part].tolist()):
            if (part, element) in ordered.torn or not (everything or needs.inputs[element]):
                continue
            needed.add((part, element))
            if source != OUTSIDE:
                open_.append(source)
    outside = {int(wired.element[part][element]) for part, element in needed if wired.driver[part][element] == OUTSIDE}
    return tuple(k in outside for k in range(sum(outer.like.size for outer in wired.inputs)))


def _proposals(every: list[Proposals]) -> Proposals:
    """What all parts can live with: the smallest steps and tolerance of those proposed, the latest end, the most exact communication."""

    def said(name: str) -> list[Any]:
        return [value for one in every if (value := getattr(one, name)) is not None]

    least = {name: min(said(name), default=None) for name in _LEAST}
    most = {name: max(said(name), default=None) for name in _MOST}
    stiff = said("prefers_stiff")
    communication = max(said("communication"), key=COMMUNICATION.index, default=None)
    prefers_stiff = None if not stiff or (not any(stiff) and len(stiff) < len(every)) else any(stiff)
    return Proposals(**least, **most, communication=communication, prefers_stiff=prefers_stiff)


def _with_nominal(described: Description) -> Description:
    """Typical sizes that are proposed for all states, said of each; of an array the smallest counts."""
    every = described.proposals.nominal
    if every is None:
        return described

    def sized(entry: SignalEntry) -> SignalEntry:
        if entry.kind is not SignalKind.STATE or entry.nominal is not None:
            return entry
        return replace(entry, nominal=min((abs(value) for value in every[entry.places]), default=None))

    return replace(described, signals=tuple(sized(entry) for entry in described.signals))
