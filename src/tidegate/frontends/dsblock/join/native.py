"""A connection whose parts are native, as one native block: ``tg_joined`` of joined.c filled in. In: a ``Layout``, runs; out: an address."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.frontends.dsblock.compiled.adapter import HasStructure
from tidegate.frontends.dsblock.compiled.requests import runtime
from tidegate.frontends.dsblock.compiled.vectors import BlockStructure, Vectors
from tidegate.frontends.dsblock.description import ParameterKind, SignalKind
from tidegate.frontends.dsblock.join.described import Layout
from tidegate.frontends.dsblock.join.order import Call
from tidegate.frontends.dsblock.join.signals import Evaluation, Place
from tidegate.frontends.dsblock.join.wiring import OUTSIDE
from tidegate.model import Form

__all__ = ["NativeJoin"]

_POINTER: Final = ctypes.c_void_p
_FORMS: Final = (Form.ODE, Form.DAE, Form.HDAE)
_ARRAYS: Final = (
    "rates", "x_from", "dp_from", "ip_from", "lp_from", "outside", "outside_from", "linked", "linked_from", "torn", "torn_from", "differentiated",
    "rates_from", "is_algebraic",
)  # fmt: skip
_FLAGS: Final = (
    "outputs_need_rates", "auxiliaries_need_rates", "has_steps", "communicates", "knows_rates", "asks_step", "has_communicated",
)  # fmt: skip


class _PartStructure(ctypes.Structure):
    _fields_ = (
        ("block", _POINTER),
        *((name, _POINTER) for name in _ARRAYS),
        *((name, ctypes.c_int) for name in ("n_outside", "n_linked", "n_torn", "n_rates", "n_x", "n_z", "form")),
        *((name, ctypes.c_int) for name in ("first_u", "first_y", "first_w", "first_z")),
        ("f_from", ctypes.c_int * 5),
        ("sizes", ctypes.c_int * 5),
        *((name, ctypes.c_int) for name in _FLAGS),
    )


class _JoinedStructure(ctypes.Structure):
    _fields_ = (
        *((name, _POINTER) for name in ("parts", "u", "y", "calls", "shown", "driven", "hidden", "torn_source")),
        *((name, ctypes.c_int) for name in ("n_parts", "n_calls", "n_y", "n_shown", "n_driven", "n_hidden", "n_torn", "first_torn", "own_w")),
        *((name, ctypes.c_int) for name in ("form", "is_explicit")),
        ("asked_at", ctypes.c_double),
    )


class NativeJoin:
    """See the module; of one run, whose parts are native themselves."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._library = runtime()
        assert self._library.library.tg_size_of_part() == ctypes.sizeof(_PartStructure)
        assert self._library.library.tg_size_of_joined() == ctypes.sizeof(_JoinedStructure)
        self._kept: list[Any] = []
        self._algebraic: list[NDArray[np.intc]] = []
        plan, places = evaluation.plan, evaluation.places
        self._parts = (_PartStructure * len(places))()
        first_u: list[int] = np.cumsum([0, *(place.n_inputs for place in places)]).tolist()
        self._joined, self.structure = self._whole(plan, places, first_u), BlockStructure(name=plan.described.name.encode())
        self.address = ctypes.addressof(self.structure)
        for number, (run, place) in enumerate(zip(evaluation.runs, places, strict=True)):
            assert isinstance(run, HasStructure)
            self._fill(self._parts[number], plan, number, place)
            self._parts[number].block, self._parts[number].first_u = run.structure_address, first_u[number]
        self._vectors = self._block(plan)
        self.update(evaluation)

    def _whole(self, plan: Layout, places: Sequence[Place], first_u: Sequence[int]) -> _JoinedStructure:
        """What is of no part."""
        wired, calls = plan.wired, [(int(call is Call.EQUATIONS), part) for call, part in plan.order.calls]
        torn = [places[int(wired.driver[part][k])].y.start + int(wired.element[part][k]) for part, k in plan.order.torn]
        assert all(wired.driver[part][k] != OUTSIDE for part, k in plan.order.torn)
        n_y = places[-1].y.stop
        return _JoinedStructure(
            parts=ctypes.addressof(self._parts), u=self._address(np.zeros(first_u[-1] + 1)), y=self._address(np.zeros(n_y + 1)),
            calls=self._integers([each for pair in calls for each in pair]),
            shown=self._integers([places[part].y.start + k for part, k in plan.outputs]),
            driven=self._integers([first_u[part] + k for part, k in plan.driven]),
            hidden=self._integers([places[part].y.start + k for part, k in plan.hidden]),
            torn_source=self._integers(torn), n_parts=len(places), n_calls=len(calls), n_y=n_y, n_shown=len(plan.outputs),
            n_driven=len(plan.driven), n_hidden=len(plan.hidden), n_torn=len(torn), first_torn=plan.torn.start,
            own_w=plan.auxiliaries[-1].stop, form=_FORMS.index(plan.order.form), is_explicit=plan.order.is_explicit, asked_at=np.nan,
        )  # fmt: skip

    def _fill(self, at: _PartStructure, plan: Layout, number: int, place: Place) -> None:
        """What belongs to one part, but its place among inputs."""
        described, whole = plan.wired.parts[number].described, plan.described
        real, integer, logical = (described.size(kind) for kind in ParameterKind)
        first_integer, first_logical = whole.size(ParameterKind.REAL), whole.size(ParameterKind.REAL) + whole.size(ParameterKind.INTEGER)
        mine = place.parameters
        at.rates, at.x_from = self._address(np.zeros(len(place.states) + 1)), self._integers(place.states)
        at.dp_from = self._integers(mine[:real])
        at.ip_from = self._integers(mine[real : real + integer] - first_integer)
        at.lp_from = self._integers(mine[real + integer : real + integer + logical] - first_logical)
        for name, (own, source) in {"outside": place.outside, "linked": place.linked, "torn": place.torn}.items():
            setattr(at, name, self._integers(own))
            setattr(at, f"{name}_from", self._integers(source))
            setattr(at, f"n_{name}", len(own))
        at.differentiated, at.rates_from, at.n_rates = self._integers(place.differentiated), self._integers(place.rates), len(place.rates)
        at.form, at.first_y = _FORMS.index(described.form), place.y.start
        at.first_w, at.first_z = plan.auxiliaries[number].start, plan.indicators[number].start
        if plan.equations:
            at.f_from = tuple(each.start for each in plan.equations[number])
        at.sizes = described.parts if described.form is Form.HDAE else (len(place.states), 0, 0, 0, 0)
        at.outputs_need_rates, at.auxiliaries_need_rates = place.needs_rates, described.dependence.auxiliaries_need_rates
        at.has_steps, at.communicates = described.has_step_events, described.communicates
        self._algebraic.append(np.zeros(len(place.states), dtype=np.intc))
        at.is_algebraic = self._algebraic[-1].ctypes.data

    def _block(self, plan: Layout) -> Vectors:
        """The connection as a block, with vectors of its own."""
        described, structure = plan.described, self.structure
        sizes = {kind.value.lower(): described.size(kind) for kind in (*SignalKind, *ParameterKind)}
        n_f = sum(described.parts) if described.form is Form.HDAE else sizes["x"]
        vectors = Vectors(
            {name: sizes[name] for name in ("x", "u", "y", "z", "w", "dp")} | {"xd": sizes["x"], "fout": n_f, "duser": 0, "jac": 0},
            {"ip": sizes["ip"], "lp": sizes["lp"], "iuser": 0, "luser": 0},
        )
        for name, address in vectors.addresses.items():
            setattr(structure, name, address)
        for name, size in sizes.items():
            setattr(structure, f"n_{name}", size)
        structure.n_f, structure.is_dae = n_f, described.form is Form.DAE
        for letter in ("f", "g", "h", *("k" if described.communicates else "")):
            setattr(structure, letter, self._library.address(f"tg_joined_{letter}"))
        structure.joined = ctypes.addressof(self._joined)
        return vectors

    def _integers(self, values: Any) -> int:
        return self._address(np.ascontiguousarray([*values, 0], dtype=np.intc))

    def _address(self, vector: NDArray[Any]) -> int:
        self._kept.append(vector)
        return int(vector.ctypes.data)

    def update(self, evaluation: Evaluation) -> None:
        """Something has happened: other numbers of states and indicators, another memory of parts."""
        for part, counts, here, algebraic in zip(self._parts, evaluation.counts, self._algebraic, evaluation.algebraic, strict=True):
            part.n_x, part.n_z = counts
            here[:] = algebraic
        self.structure.knows_point = 0

    def asked(self, time: float) -> frozenset[int]:
        """Which parts have asked for a step event at a time, where they were asked natively."""
        is_asked = self._joined.asked_at == time
        return frozenset(number for number, part in enumerate(self._parts) if is_asked and part.asks_step)

    def communicated(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Parts that have written their row already, where another part has ended the run in BLOCKK, and what they wrote."""
        if self.structure.failed_in != ord("K"):
            return
        for number, part in enumerate(self._parts):
            if part.has_communicated:
                size = BlockStructure.from_address(part.block).n_w
                yield number, self._vectors["w"][part.first_w : part.first_w + size].copy()
