"""All signals of a connection at one point: outputs and inputs of its parts, in the order of calls. In: x, xd, u; out: ``Signals``, residuals.

Vectors hold numbers, or expressions where a connection is followed on symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import InitializationError, SingularSystemError, UsageError
from tidegate.frontends.dsblock.block import Entry, Reply, Run
from tidegate.frontends.dsblock.constrained import part_slices
from tidegate.frontends.dsblock.description import SignalKind
from tidegate.frontends.dsblock.forms import leading_matrix
from tidegate.frontends.dsblock.join.described import Layout
from tidegate.frontends.dsblock.join.loops import consistent, determines_nothing, differences, is_singular
from tidegate.frontends.dsblock.join.order import Call
from tidegate.frontends.dsblock.join.wiring import OUTSIDE
from tidegate.model import Form
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass

__all__ = ["Evaluation", "Place", "Signals"]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
_OTHER = 0.37  # of an input, how far it is moved to see whether outputs move


@dataclass(frozen=True)
class Signals:
    """What every part gives and is given.

    Parameters
    ----------
    u, y : of each part.
    rates : derivatives of those parts of which they were computed on the way.
    """

    u: list[FloatArray]
    y: list[FloatArray]
    rates: dict[int, FloatArray]


@dataclass(frozen=True)
class Place:
    """How one part is evaluated.

    Parameters
    ----------
    outside : elements of U that come from outside, and from where; linked : likewise from outputs of all parts; torn : likewise from X.
    y : where its outputs lie among those of all parts.
    waits : some inputs are not there yet when its outputs are called.
    needs_rates : its outputs are given derivatives, and it is an ODE.
    rates : where derivatives that are unknowns lie in X; differentiated : of which of its own x they are.
    """

    states: IndexArray
    parameters: IndexArray
    outside: tuple[IndexArray, IndexArray]
    linked: tuple[IndexArray, IndexArray]
    torn: tuple[IndexArray, IndexArray]
    y: slice
    n_inputs: int
    n_indicators: int
    is_dae: bool
    needs_rates: bool
    waits: bool
    rates: IndexArray
    differentiated: IndexArray


def _places(plan: Layout) -> list[Place]:
    wired = plan.wired
    ends = np.cumsum([0, *(part.described.size(SignalKind.OUTPUT) for part in wired.parts)]).tolist()
    places: list[Place] = []
    for number, part in enumerate(wired.parts):
        described, driver, element = part.described, wired.driver[number], wired.element[number]
        torn = [(k, plan.torn.start + place) for place, (owner, k) in enumerate(plan.order.torn) if owner == number]
        outside = np.flatnonzero(driver == OUTSIDE)
        linked = np.array([k for k in range(len(driver)) if driver[k] != OUTSIDE and (number, k) not in plan.order.torn], dtype=np.intp)
        sources = np.array([ends[driver[k]] + element[k] for k in linked], dtype=np.intp)
        pairs = np.array(torn, dtype=np.intp).reshape(-1, 2)
        is_dae = described.form is Form.DAE
        waits = any(not described.dependence.inputs[k] and source != OUTSIDE for k, source in enumerate(driver.tolist()))
        places.append(Place(
            plan.states[number], plan.parameters[number], (outside, element[outside]), (linked, sources), (pairs[:, 0], pairs[:, 1]),
            slice(ends[number], ends[number + 1]), len(driver), described.size(SignalKind.INDICATOR), is_dae,
            not is_dae and described.dependence.outputs_need_rates, waits, plan.rates[number], plan.differentiated[number],
        ))  # fmt: skip
    return places


class Evaluation:
    """Evaluates the runs of all parts together.

    Attributes
    ----------
    counts : how many states and indicators of each part are there.
    algebraic : which of its x are, of each DAE among the parts.
    """

    def __init__(self, plan: Layout, runs: Sequence[Run]) -> None:
        self.plan, self.runs = plan, runs
        self.places = _places(plan)
        self._is_dae, self._is_explicit = plan.order.form is Form.DAE, plan.order.is_explicit
        self._n_outputs = self.places[-1].y.stop
        self.counts = [(len(place.states), place.n_indicators) for place in self.places]
        self.algebraic: list[NDArray[np.bool_]] = [np.zeros(len(place.states), dtype=bool) for place in self.places]
        self._last: tuple[tuple[object, ...], Signals] | None = None

    def note_algebraic(self, at: Entry) -> None:
        """Find out which x of DAEs are algebraic, as far as they are there: those that may go later do so otherwise than states."""
        if not self._is_dae or at.xd is None:
            return
        found = self.signals(at)
        for part, place in enumerate(self.places):
            n = self.counts[part][0]
            if not place.is_dae or not n:
                continue
            entry = self.entry(part, at, found.u[part])
            assert entry.xd is not None

            def residual(x: FloatArray, xd: FloatArray, part: int = part, entry: Entry = entry) -> FloatArray:
                return self.runs[part].equations(replace(entry, x=x, xd=xd))

            self.algebraic[part][:n] = ~np.any(leading_matrix(residual, entry.x, entry.xd + _OTHER), axis=0)

    def take_numbers(self, part: int, reply: Reply) -> None:
        """How many states and indicators a part has from now on."""
        n_states, n_indicators = self.counts[part]
        self.counts[part] = (
            n_states if reply.n_states is None else reply.n_states, n_indicators if reply.n_indicators is None else reply.n_indicators,
        )  # fmt: skip

    def take_over(self, other: Evaluation) -> None:
        """What another knows of its parts."""
        self.counts, self.algebraic = list(other.counts), [one.copy() for one in other.algebraic]

    def forget(self) -> None:
        """Something may have changed in the memory of a part."""
        self._last = None

    # -- one part ---------------------------------------------------------------------------------------------------------------------------------

    def entry(self, part: int, at: Entry, u: FloatArray, rates: FloatArray | None = None) -> Entry:
        """Where a callback of a part is called."""
        place, (n_states, n_indicators) = self.places[part], self.counts[part]
        xd = rates
        if place.is_dae:
            xd = self._unknown_rates(place, at, 0.0) if len(place.rates) or at.xd is None else at.xd[place.states][:n_states]
        return Entry(at.time, at.x[place.states][:n_states], xd, u, at.p[place.parameters], n_indicators)

    @staticmethod
    def _unknown_rates(place: Place, at: Entry, other: float) -> FloatArray:
        """xd of a part whose derivatives are unknowns; what is algebraic has another value."""
        xd = np.full(len(place.states), other, dtype=at.x.dtype)
        xd[place.differentiated] = at.x[place.rates]
        return xd

    def outputs(self, part: int, at: Entry, signals: Signals) -> FloatArray:
        """Outputs of a part, whose inputs are there as far as they depend on them."""
        place = self.places[part]
        if place.y.start == place.y.stop:
            return np.zeros(0, dtype=at.x.dtype)
        rates = None
        if place.needs_rates and len(place.rates):
            rates = self._unknown_rates(place, at, np.nan)
        elif place.needs_rates:
            is_given = not self._is_explicit and at.xd is not None
            rates = at.xd[place.states][: self.counts[part][0]] if is_given and at.xd is not None else self.rates(part, at, signals)
        return self.runs[part].outputs(self.entry(part, at, signals.u[part], rates))

    def rates(self, part: int, at: Entry, signals: Signals) -> FloatArray:
        """Derivatives of an ODE among the parts."""
        if part not in signals.rates:
            none = not self.counts[part][0]
            signals.rates[part] = np.zeros(0, dtype=at.x.dtype) if none else self._rates(part, self.entry(part, at, signals.u[part]))
        return signals.rates[part]

    def _rates(self, part: int, entry: Entry) -> FloatArray:
        described = self.plan.wired.parts[part].described
        if described.form is not Form.HDAE:
            return self.runs[part].equations(entry)
        found = np.full(len(entry.x), np.nan, dtype=entry.x.dtype)  # those of x2 and x3 are in no equation
        n1 = described.parts[0]
        found[:n1] = self.runs[part].equations(entry, (True, False, False, False, False))[:n1]
        return found

    def indicators(self, part: int, at: Entry, u: FloatArray) -> FloatArray:
        """Indicators of a part; those that are not there are zero."""
        n = self.counts[part][1]
        found = np.zeros(self.places[part].n_indicators, dtype=at.x.dtype)
        if n:
            found[:n] = self.runs[part].indicators(self.entry(part, at, u))[:n]
        return found

    # -- all of them ------------------------------------------------------------------------------------------------------------------------------

    def signals(self, at: Entry) -> Signals:
        """Inputs and outputs of all parts; torn inputs are among x."""
        key = (at.time, at.x.tobytes(), None if at.xd is None else at.xd.tobytes(), at.u.tobytes(), at.p.tobytes())
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        found = self._signals(at)
        self._last = (key, found)
        return found

    def _signals(self, at: Entry) -> Signals:
        every = np.zeros(self._n_outputs, dtype=at.x.dtype)
        found = Signals([np.zeros(place.n_inputs, dtype=at.x.dtype) for place in self.places], [every[place.y] for place in self.places], {})
        for part in range(len(self.places)):
            self._gather(part, at, found, every)
        for call, part in self.plan.order.calls:
            place = self.places[part]
            found.u[part][place.linked[0]] = every[place.linked[1]]
            if call is Call.EQUATIONS:
                self.rates(part, at, found)
            elif place.y.start < place.y.stop:
                every[place.y] = self.outputs(part, at, found)
        for part, place in enumerate(self.places):
            if place.waits:
                # not into those that a part was given: it may have kept them
                self._gather(part, at, found, every)
        return found

    def _gather(self, part: int, at: Entry, found: Signals, every: FloatArray) -> None:
        """Inputs of a part, as far as they are known."""
        place, u = self.places[part], found.u[part].copy()
        found.u[part] = u
        u[place.outside[0]] = at.u[place.outside[1]]
        u[place.linked[0]] = every[place.linked[1]]
        u[place.torn[0]] = at.x[place.torn[1]]

    def check_dependence(self, at: Entry) -> None:
        """Refuse a part whose outputs change with an input of which it says that they do not depend on it: the order of calls rests on that.

        Raises
        ------
        UsageError : there is one.
        """
        found = self.signals(at)
        for part, described in enumerate(one.described for one in self.plan.wired.parts):
            free = ~np.array(described.dependence.inputs, dtype=bool)
            if not free.any() or not len(found.y[part]):
                continue
            u = found.u[part] + np.where(free, _OTHER * (np.abs(found.u[part]) + 1.0), 0.0)
            try:
                y = self.outputs(part, at, replace(found, u=[u if k == part else one for k, one in enumerate(found.u)], rates=dict(found.rates)))
            except Exception:  # noqa: BLE001, S112, it has no value there, so nothing is known
                continue
            if not np.array_equal(y, found.y[part], equal_nan=True):
                raise UsageError(
                    f"outputs of the block {self.plan.wired.parts[part].name} depend on inputs of which it declares that they do not",
                    hint="name those they depend on at once: declare.outputs_depend_on(inputs=[...])",
                )

    def equations(self, at: Entry, wanted: tuple[bool, ...] = ()) -> FloatArray:
        """Derivatives, residuals with those of the loops behind, or F1 ... F5 with those of the loops behind F2."""
        plan, found = self.plan, self.signals(at)
        if plan.described.form is Form.HDAE:
            return self._parts(at, found, wanted or (True,) * 5)
        f = np.zeros(len(at.x), dtype=at.x.dtype)
        for part, place in enumerate(self.places):
            where = place.states
            if not len(where):
                continue
            if place.is_dae:
                n = self.counts[part][0]
                f[where[:n]] = self.runs[part].equations(self.entry(part, at, found.u[part]))[:n]
                if n < len(where) and at.xd is not None:
                    # what is not there stays as it is, or is zero where it is algebraic
                    f[where[n:]] = np.where(self.algebraic[part][n:], at.x[where[n:]], at.xd[where[n:]])
            else:
                # what is not there stays as it is
                n = self.counts[part][0]
                f[where[:n]] = self.rates(part, at, found)
                if self._is_dae:
                    assert at.xd is not None
                    f[where] -= at.xd[where]
        if plan.order.torn:
            f[plan.torn] = at.x[plan.torn] - self._sources(found)
        return f

    def _parts(self, at: Entry, found: Signals, wanted: tuple[bool, ...]) -> FloatArray:
        plan = self.plan
        f = np.full(sum(plan.described.parts), np.nan, dtype=at.x.dtype)
        for part, (one, places) in enumerate(zip(plan.wired.parts, plan.equations, strict=True)):
            described = one.described
            place = self.places[part]
            v = at.x[place.rates]
            if described.form is Form.DAE:
                if wanted[0]:
                    f[places[0]] = v
                if wanted[1]:
                    f[places[1]] = self.runs[part].equations(self.entry(part, at, found.u[part]))
                continue
            if len(v) and wanted[1]:
                # x1' = v is F1, and what gives v is behind F2
                f[places[1]][len(f[places[1]]) - len(v) :] = self.rates(part, at, found)[: len(v)] - v
            if described.form is not Form.HDAE:
                if wanted[0]:
                    f[places[0]] = v if len(v) else self.rates(part, at, found)
                continue
            own = self.runs[part].equations(self.entry(part, at, found.u[part]), wanted)
            if len(v):
                own = own.copy()
                own[: len(v)] = v
            for is_wanted, where, mine in zip(wanted, places, part_slices(described.parts), strict=True):
                if is_wanted:
                    f[where.start : where.start + mine.stop - mine.start] = own[mine]
        if plan.order.torn and wanted[1]:
            f[plan.torn] = at.x[plan.torn] - self._sources(found)
        return f

    def check_constraints(self, at: Entry) -> None:
        """Refuse F4 and F5 that move with more than x1, through the inputs of their block.

        Raises
        ------
        UsageError : there is one.
        """
        plan = self.plan
        n1, _, _, n4, n5 = plan.described.parts
        if not n4 + n5:
            return
        kept, before = (False, False, False, True, True), self.equations(at)
        for k in range(n1, len(at.x)):
            x = at.x.copy()
            x[k] += _OTHER * (abs(x[k]) + 1.0)
            after = self.equations(replace(at, x=x), kept)
            for one, places in zip(plan.wired.parts, plan.equations, strict=True):
                if any(not np.array_equal(before[place], after[place], equal_nan=True) for place in places[3:]):
                    raise UsageError(
                        f"F4 or F5 of the block {one.name} of the connection {plan.described.name} moves with "
                        f"{plan.described.names(SignalKind.STATE)[k]}; constraints may look at x1 only",
                        hint="drive inputs that enter F4 and F5 from outside, or by outputs that depend on x1 alone",
                    )

    def _sources(self, found: Signals) -> FloatArray:
        """The outputs that drive torn inputs."""
        wired = self.plan.wired
        return np.array([found.y[int(wired.driver[part][k])][int(wired.element[part][k])] for part, k in self.plan.order.torn])

    # -- what equations determine together ----------------------------------------------------------------------------------------------------------

    def settled(self, at: Entry) -> Entry:
        """x and xd near these that fit: torn inputs, derivatives, algebraic variables.

        Raises
        ------
        SingularSystemError : a loop has no solution, or many.
        InitializationError : Newton's method has not found one.
        """
        if self.plan.order.form is Form.ODE:
            return at
        self.forget()
        xd = np.zeros(len(at.x)) if at.xd is None else at.xd
        residuals = self._determining if self.plan.described.form is Form.HDAE else self.equations
        try:
            found = consistent(lambda x, xd: residuals(replace(at, x=x, xd=xd)), at.x, xd)
        except InitializationError as error:
            self._check_loops(replace(at, xd=xd))
            raise self._unsolved(InitializationError, at, self._links(), f"was not solved: {error.args[0]}") from error
        settled = replace(at, x=found.x, xd=None if self.plan.described.form is Form.HDAE else found.xd)
        self._check_loops(settled)
        return settled

    def _determining(self, at: Entry) -> FloatArray:
        """F1 - x1', F2 and F3 of an HDAE, which determine x1', x2 and x3."""
        assert at.xd is not None
        n1 = self.plan.described.parts[0]
        f = self.equations(at, (True, True, True, False, False))[: len(at.x)]
        f[:n1] -= at.xd[:n1]
        return f

    def _check_loops(self, at: Entry) -> None:
        """Refuse loops that do not determine their values: in which what is put in comes out as it is."""
        first = self.plan.torn.start
        for loop in self.plan.order.loops:
            places = np.arange(first, first + len(loop.torn), dtype=np.intp)
            first += len(loop.torn)

            def open_(values: FloatArray, places: NDArray[np.intp] = places) -> FloatArray:
                x = at.x.copy()
                x[places] = values
                return self.equations(replace(at, x=x))[places]

            if is_singular(differences(open_, at.x[places])):
                raise self._unsolved(SingularSystemError, at, loop.links, "does not have exactly one solution")
        if self.plan.order.circles and self.plan.order.form is Form.HDAE:
            self._check_determined(at)
        elif self.plan.order.circles and not any(place.is_dae for place in self.places):
            self._check_circles(at)

    def _check_determined(self, at: Entry) -> None:
        """Likewise of an HDAE, among whose x2 derivatives are: F2 and F3 determine x2 and x3."""
        n1 = self.plan.described.parts[0]

        def open_(values: FloatArray) -> FloatArray:
            return self.equations(replace(at, x=np.concatenate([at.x[:n1], values])), (False, True, True, False, False))[n1 : len(at.x)]

        if determines_nothing(differences(open_, at.x[n1:])):
            raise self._unsolved(SingularSystemError, at, self._links(), "does not have exactly one solution")

    def _check_circles(self, at: Entry) -> None:
        """Likewise circles through derivatives, in a connection of ODEs."""
        assert at.xd is not None
        torn, n = self.plan.torn, len(at.x)

        def open_(values: FloatArray) -> FloatArray:
            x, xd = at.x.copy(), values.copy()
            x[torn], xd[torn] = values[torn], 0.0
            residuals = self.equations(replace(at, x=x, xd=xd))
            residuals[: torn.start] *= -1.0  # F - xd, but u - y
            return residuals

        values = at.xd.copy()
        values[torn] = at.x[torn]
        if n and is_singular(differences(open_, values)):
            raise self._unsolved(SingularSystemError, at, self._links(), "does not have exactly one solution")

    def _links(self) -> list[str]:
        return [link for loop in self.plan.order.loops for link in loop.links] + list(self.plan.order.circles)

    def _unsolved(self, kind: type[InitializationError], at: Entry, links: Sequence[str], what: str) -> InitializationError:
        name = self.plan.described.name
        subject = f"the loop {listed(links, 12)} of the connection {name}" if links else f"the equations of the connection {name}"
        hint = "put a state into the loop, or change a gain in it" if kind is SingularSystemError else "give guesses={input: value}, near a solution"
        return kind(f"{subject} {what}, at t = {at.time:g}", time=at.time, hint=hint)
