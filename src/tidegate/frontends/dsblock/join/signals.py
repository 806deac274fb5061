"""All signals of a connection at one point: outputs and inputs of its parts, in the order of calls. In: x, xd, u; out: ``Signals``, residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import InitializationError, SingularSystemError, UsageError
from tidegate.frontends.dsblock.block import Entry, Run
from tidegate.frontends.dsblock.description import SignalKind
from tidegate.frontends.dsblock.join.described import Layout
from tidegate.frontends.dsblock.join.loops import consistent, differences, is_singular
from tidegate.frontends.dsblock.join.order import Call
from tidegate.frontends.dsblock.join.wiring import OUTSIDE
from tidegate.model import Form
from tidegate.names import listed

__all__ = ["Evaluation", "Signals"]

FloatArray = NDArray[np.float64]
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


class Evaluation:
    """Evaluates the runs of all parts together."""

    def __init__(self, plan: Layout, runs: Sequence[Run]) -> None:
        self.plan, self.runs = plan, runs
        self._described = [part.described for part in plan.wired.parts]
        self._last: tuple[tuple[object, ...], Signals] | None = None

    def forget(self) -> None:
        """Something may have changed in the memory of a part."""
        self._last = None

    # -- one part ---------------------------------------------------------------------------------------------------------------------------------

    def entry(self, part: int, at: Entry, u: FloatArray, rates: FloatArray | None = None) -> Entry:
        """Where a callback of a part is called."""
        plan, described = self.plan, self._described[part]
        xd = rates
        if described.form is Form.DAE and at.xd is not None:
            xd = at.xd[plan.states[part]]
        n_indicators = described.size(SignalKind.INDICATOR)
        return replace(at, x=at.x[plan.states[part]], xd=xd, u=u, p=at.p[plan.parameters[part]], n_indicators=n_indicators)

    def outputs(self, part: int, at: Entry, signals: Signals) -> FloatArray:
        """Outputs of a part, whose inputs are there as far as they depend on them."""
        described = self._described[part]
        if not described.size(SignalKind.OUTPUT):
            return np.zeros(0)
        rates = None
        if described.form is Form.ODE and described.dependence.outputs_need_rates:
            rates = at.xd[self.plan.states[part]] if self.plan.order.form is Form.DAE and at.xd is not None else self.rates(part, at, signals)
        return self.runs[part].outputs(self.entry(part, at, signals.u[part], rates))

    def rates(self, part: int, at: Entry, signals: Signals) -> FloatArray:
        """Derivatives of an ODE among the parts."""
        if part not in signals.rates:
            none = not len(at.x[self.plan.states[part]])
            signals.rates[part] = np.zeros(0) if none else self.runs[part].equations(self.entry(part, at, signals.u[part]))
        return signals.rates[part]

    def indicators(self, part: int, at: Entry, u: FloatArray) -> FloatArray:
        """Indicators of a part."""
        return self.runs[part].indicators(self.entry(part, at, u))

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
        plan, wired = self.plan, self.plan.wired
        y = [np.full(described.size(SignalKind.OUTPUT), np.nan) for described in self._described]
        found = Signals([np.zeros(len(driver)) for driver in wired.driver], y, {})
        known = np.zeros(len(wired.parts), dtype=bool)
        for call, part in plan.order.calls:
            self._gather(part, at, found, known)
            if call is Call.EQUATIONS:
                self.rates(part, at, found)
            else:
                y[part] = self.outputs(part, at, found)
                known[part] = True
        for part in range(len(wired.parts)):
            self._gather(part, at, found, known)
        return found

    def _gather(self, part: int, at: Entry, found: Signals, known: NDArray[np.bool_]) -> None:
        """Inputs of a part as far as they are known."""
        plan, driver, element = self.plan, self.plan.wired.driver[part], self.plan.wired.element[part]
        u = found.u[part]
        for k, source in enumerate(driver.tolist()):
            if source == OUTSIDE:
                u[k] = at.u[element[k]]
            elif known[source]:
                u[k] = found.y[source][element[k]]
        for place, (owner, k) in enumerate(plan.order.torn, plan.torn.start):
            if owner == part:
                u[k] = at.x[place]

    def check_dependence(self, at: Entry) -> None:
        """Refuse a part whose outputs change with an input of which it says that they do not depend on it: the order of calls rests on that.

        Raises
        ------
        UsageError : there is one.
        """
        found = self.signals(at)
        for part, described in enumerate(self._described):
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

    def equations(self, at: Entry) -> FloatArray:
        """Derivatives, or residuals with those of the loops behind."""
        plan, found = self.plan, self.signals(at)
        f = np.zeros(len(at.x))
        for part, described in enumerate(self._described):
            where = plan.states[part]
            if where.start == where.stop:
                continue
            if described.form is Form.DAE:
                f[where] = self.runs[part].equations(self.entry(part, at, found.u[part]))
            elif plan.order.form is Form.ODE:
                f[where] = self.rates(part, at, found)
            else:
                assert at.xd is not None
                f[where] = self.rates(part, at, found) - at.xd[where]
        f[plan.torn] = at.x[plan.torn] - self._sources(found)
        return f

    def _sources(self, found: Signals) -> FloatArray:
        """The outputs that drive torn inputs."""
        wired = self.plan.wired
        values = [float(found.y[int(wired.driver[part][k])][int(wired.element[part][k])]) for part, k in self.plan.order.torn]
        return np.array(values)

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
        try:
            found = consistent(lambda x, xd: self.equations(replace(at, x=x, xd=xd)), at.x, xd)
        except InitializationError as error:
            self._check_loops(replace(at, xd=xd))
            raise self._unsolved(InitializationError, at, self._links(), f"was not solved: {error.args[0]}") from error
        settled = replace(at, x=found.x, xd=found.xd)
        self._check_loops(settled)
        return settled

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
        if self.plan.order.circles and all(described.form is Form.ODE for described in self._described):
            self._check_circles(at)

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
