"""Values at the starts of many runs at once (stage: compiled): what ``start`` says of one, to the last bit, for all of them.

In go expressions and the parameters of all runs, out come arrays. What cannot be said in this way (start values that are solved for, functions of the
user among them) is said of one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.compiled_model import Direction
from tidegate.compiled.many_starts import ManyStarts
from tidegate.compiled.vector_symbols import Symbols
from tidegate.expressions import Expr, Role, dependencies, differentiate, symbol, walk
from tidegate.expressions.evaluate_many import Values, evaluate_many, is_arithmetic
from tidegate.model import Model, Variable, VariableRole
from tidegate.model.validate import checked_starts, checked_times, have_problem
from tidegate.quick_dataclass import dataclass
from tidegate.structure.linear_solution import are_rounding
from tidegate.structure.passes import Demand

__all__ = ["StartTogether"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StartTogether:
    """Start values of runs whose model asks nothing but arithmetic for them.

    Parameters
    ----------
    given : the model as its checks know it.
    symbols : of the compiled one.
    defaults : of the parameters.
    starts : of unknowns, discrete variables and inputs, initial actions carried out.
    rates : of derivatives, by the name of the unknown.
    guessed : modes with the relations that they are guessed from.
    demands : on parameters.
    smallest : a demand for zero is met by what is not larger.
    """

    given: Model
    symbols: Symbols
    defaults: Sequence[Expr]
    starts: Mapping[Expr, Expr]
    rates: Mapping[str, Expr]
    guessed: Sequence[tuple[Expr, Expr]]
    demands: Sequence[Demand]
    smallest: float

    @property
    def is_possible(self) -> bool:
        """Whether all of it is arithmetic."""
        roots = [*self.defaults, *self.starts.values(), *self.rates.values(), *(source for source, _ in self.guessed)]
        checked = [start for _, _, start in checked_starts(self.given)] + [time for _, time in checked_times(self.given)]
        return is_arithmetic([*roots, *checked, *(demand.value for demand in self.demands)])

    def parameters(self, given: Mapping[int, Values]) -> dict[Expr, Values]:
        """Values of all parameters, some given by index; a default may follow from others."""
        values: dict[Expr, Values] = {}
        for k, (parameter, default) in enumerate(zip(self.symbols.parameters, self.defaults, strict=True)):
            values[parameter] = given[k] if k in given else evaluate_many([default], values)[0]
        return values

    def at(self, given: Mapping[int, Values], count: int, t: float, directions: Sequence[Direction]) -> ManyStarts:
        """Where the runs start.

        Parameters
        ----------
        given : values of parameters, by index, that are not the defaults.
        count : of the runs.
        directions : in which derivatives are wanted; the same for all.
        """
        symbols, layout = self.symbols, self.symbols.layout
        known = self.parameters(given)
        values: dict[Expr, Values] = {**known, symbol(Role.TIME, "time"): t}
        values |= dict(zip(self.starts, evaluate_many(self.starts.values(), values), strict=True))
        m = np.zeros((count, layout.n_m))
        for first in (layout.first_discrete, layout.first_previous):
            _fill(m, first, (values[s] for s in symbols.discretes))
        _fill(m, layout.first_input, (values[s] for s in symbols.inputs))
        m[:, layout.first_form : layout.first_past] = 1.0
        values |= {symbol(Role.PREVIOUS, s.data.name): values[s] for s in symbols.discretes} | dict.fromkeys(symbols.drops, 0.0)
        dy, dd = (self._slopes(targets, directions, values, count) for targets in (symbols.unknowns, symbols.discretes))
        self._guess_modes(values, m)
        p, y = np.empty((count, len(symbols.parameters))), np.empty((count, len(symbols.unknowns)))
        _fill(p, 0, known.values())
        _fill(y, 0, (values[s] for s in symbols.unknowns))
        return ManyStarts(p, y, m, dy, dd, self._periods(known, count), self._doubtful(known, count))

    def doubtful(self, given: Mapping[int, Values], count: int) -> BoolArray:
        """Which runs the model may have something against; as ``at`` has it, without start values."""
        return self._doubtful(self.parameters(given), count)

    def _slopes(self, targets: Sequence[Expr], directions: Sequence[Direction], values: Mapping[Expr, Values], count: int) -> FloatArray:
        slopes = np.zeros((count, len(directions), len(targets)))
        for k, target in enumerate(targets if directions else ()):
            needs = dependencies(self.starts[target])
            for row, direction in enumerate(directions):
                for index, rate in direction.items():
                    parameter = self.symbols.parameters[index]
                    if parameter in needs:
                        slopes[:, row, k] += rate * evaluate_many([differentiate(self.starts[target], parameter)], values)[0]
        return slopes

    def _guess_modes(self, values: dict[Expr, Values], m: FloatArray) -> None:
        for name, value in self.rates.items():
            values.setdefault(symbol(Role.DERIVATIVE, name), evaluate_many([value], values)[0])
        for unknown in self.symbols.unknowns:
            values.setdefault(symbol(Role.DERIVATIVE, unknown.data.name), 0.0)
        found = evaluate_many([source for source, _ in self.guessed], values)
        for (_, mode), number in zip(self.guessed, found, strict=True):
            m[:, self.symbols.positions[mode][1]] = np.where(np.isfinite(number), number, 0.0)

    def _periods(self, known: Mapping[Expr, Values], count: int) -> FloatArray:
        events = self.given.time_events
        periods = np.full((count, len(events)), math.nan)
        for k, event in enumerate(events):
            if event.period is not None and all(item.op != "symbol" or item in known for item in walk([event.period])):
                periods[:, k] = evaluate_many([event.period], known)[0]
        return periods

    def _doubtful(self, known: Mapping[Expr, Values], count: int) -> BoolArray:
        found = np.zeros(count, dtype=bool)
        starts = [(variable, start) for variable, start in self._checked() if not start.is_constant]
        for (variable, _), number in zip(starts, evaluate_many([start for _, start in starts], known), strict=True):
            found |= have_problem(variable, np.asarray(number))
        for word, time in checked_times(self.given):
            if all(item in known for item in walk([time]) if item.op == "symbol"):
                (number,) = evaluate_many([time], known)
                found |= ~np.isfinite(number) | (np.asarray(number) <= 0.0 if word == "period" else False)
        for demand in self.demands:
            found |= np.abs(evaluate_many([demand.value], known)[0]) > self.smallest if demand.is_zero else are_rounding(demand.value, known)
        return found

    def _checked(self) -> Iterator[tuple[Variable, Expr]]:
        for variable, item, start in checked_starts(self.given):
            yield variable, item if variable.role is VariableRole.PARAMETER else start


def _fill(table: FloatArray, first: int, columns: Iterable[Values]) -> None:
    for k, column in enumerate(columns, first):
        table[:, k] = column
