"""``tg.linearize`` (stage: operating_point): from a model and a place to A, B, C, D under the user's names, by exact derivatives of the equations.

Algebraic unknowns are eliminated: of ``M y' = f(y, u)`` the rows that no derivative enters give dependent unknowns in terms of states and inputs,
and the others x' (Kunkel and Mehrmann 2006, section 3.1, for index one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.errors import UsageError
from tidegate.executive import Standing, find_parameters, finite_time
from tidegate.names import given_by_name, listed, unknown_name
from tidegate.operating_point.begin import begin, refuse_what_is_not_covered
from tidegate.operating_point.equations_at import Along, EquationsAt, FloatArray, Matrix
from tidegate.operating_point.linear_model import LinearModel
from tidegate.operating_point.steady_point import SteadyState
from tidegate.operating_point.steady_state import steady_state
from tidegate.quick_dataclass import dataclass
from tidegate.simulation import NamedValues, Simulation
from tidegate.wrong_calls import explained

__all__ = ["linearize"]

_LINEAR: Final[Any] = scipy.linalg  # which has no types
_RANK: Final = 1e-12  # of the largest singular value; below it is rounding
_SINGULAR: Final = 1e-13


@explained
def linearize(
    source: Any, *, at: SteadyState | Simulation | Mapping[str, ArrayLike] | None = None, inputs: str | Sequence[str] | None = None,
    outputs: str | Sequence[str] | None = None, parameters: Mapping[str, ArrayLike] | None = None, time: float | None = None,
) -> LinearModel:  # fmt: skip
    """The linear model of small deviations from a place: ``x' = A x + B u``, ``y = C x + D u``.

    All derivatives are exact, made from the model's own equations; conditions and discrete variables stay as they are at that place.

    Parameters
    ----------
    source : anything that ``tg.simulate`` takes.
    at : a steady state, a simulation as it stands, or values by name (``result.final``); None for the steady state that ``tg.steady_state`` finds.
    inputs : names of inputs and parameters that are to deviate; None for the model's inputs.
    outputs : names of variables to look at; None for the model's outputs, or for its states where it has none.
    parameters : values that replace the model's; a steady state and a simulation bring theirs.
    time : at which everything that depends on time is taken, 0 where nothing is said; likewise.

    Returns
    -------
    LinearModel : labelled A, B, C and D; poles, zeros, pictures, and the same as an object of SciPy or of python-control.

    Raises
    ------
    UsageError : a name does not fit, or no such model exists at that place.
    SteadyStateError : no place was given, and no steady state was found.

    Examples
    --------
    >>> import tidegate as tg
    >>> tank = tg.ode(lambda t, y, p: [p["inflow"] - p["k"] * y["level"] ** 0.5], y0={"level": 1.0}, p={"inflow": 0.2, "k": 0.1})
    >>> linear = tg.linearize(tank, inputs=["inflow"])
    >>> print(f"{linear.A.item():.4f} {linear.B.item():.1f} {linear.at['level']:.1f}")
    -0.0250 1.0 4.0
    """
    place, standing, compiled, given = _placed(source, at, parameters, time)
    equations = EquationsAt(compiled, standing.time, standing.p)
    wanted = _inputs(compiled, inputs)
    seen = _outputs(compiled, outputs)
    y, m = standing.y, standing.m
    jacobian, mass = _dense(equations.jacobian(y, m)), _dense(equations.mass(y, m))
    form = _Eliminated.of(compiled, mass, jacobian)
    rates = form.rates(equations.residual(y, m))
    columns = [_moves(compiled, given, standing, one) for one in wanted]
    inflow = np.zeros((equations.n, len(wanted)))
    for k, move in enumerate(columns):
        inflow[:, k] = equations.tangent("residual_tangent", equations.n, y, m, replace(move, v=form.spread @ rates))
    state_matrix, input_matrix, through = form.reduced(inflow, [one.name for one in wanted])
    n_outputs = compiled.layout.n_outputs
    asks_outputs = any(one.vector == "outputs" for one in seen)
    slopes = equations.moved("outputs_tangent", n_outputs, y, m) if asks_outputs else np.zeros((0, equations.n))
    direct = np.zeros((n_outputs, len(wanted)))
    for k, move in enumerate(columns if asks_outputs else ()):
        direct[:, k] = equations.tangent("outputs_tangent", n_outputs, y, m, move)
    C, D = np.zeros((len(seen), len(form.states))), np.zeros((len(seen), len(wanted)))
    for i, one in enumerate(seen):
        if one.vector == "y":
            C[i], D[i] = one.sign * form.spread[one.index], one.sign * through[one.index]
        elif one.vector == "outputs":
            C[i] = one.sign * (slopes[one.index] @ form.spread)
            D[i] = one.sign * (slopes[one.index] @ through + direct[one.index])
        else:
            D[i] = [float(own.vector == one.vector and own.index == one.index) for own in wanted]
    names = [compiled.layout.unknowns[k] for k in form.states]
    return LinearModel.of(
        (state_matrix, input_matrix, C, D), (names, [one.name for one in wanted], [one.name for one in seen]),
        rates=rates, at=place, model_name=compiled.name, time_unit=compiled.time_unit, units=_units(compiled),
    )  # fmt: skip


def _placed(
    source: Any, at: Any, parameters: Mapping[str, ArrayLike] | None, time: float | None
) -> tuple[Mapping[str, Any], Standing, CompiledModel, Mapping[str, Any]]:
    """Values by name, vectors, the model, and the parameters that the caller gave."""
    start = 0.0 if time is None else finite_time("time", time)
    if at is None:
        at = steady_state(source, parameters=parameters, time=start)
    elif isinstance(at, SteadyState | Simulation) and (parameters is not None or time is not None):
        raise UsageError("parameters and time are those of the place that at= gives", hint="leave them out")
    if isinstance(at, SteadyState):
        refuse_what_is_not_covered(at.compiled)
        return at, at.standing, at.compiled, at.given
    if isinstance(at, Simulation):
        simulation, given = at, dict(at.options.get("parameters") or {})
    elif isinstance(at, Mapping):
        given = given_by_name("parameters", parameters, 'parameters={"k": 2.0}')
        simulation = Simulation(source, start, parameters=given)
        begin(simulation, cast("Mapping[str, ArrayLike]", at))
    else:
        raise UsageError(f"at must be a steady state, a simulation or values by name, not {at!r}", hint="at=result.final")
    refuse_what_is_not_covered(simulation.compiled)
    values = {name: simulation[name] for name in simulation if name not in simulation.parameters}
    return values, simulation.standing, simulation.compiled, given


# -- names ---------------------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """One number of the model."""

    name: str
    vector: str
    index: int
    sign: float = 1.0


def _elements(compiled: CompiledModel, names: str | Sequence[str], what: str) -> list[_Place]:
    found: list[_Place] = []
    for name in [names] if isinstance(names, str) else names:
        if not isinstance(name, str) or name not in compiled.located:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise unknown_name(what, name, list(compiled.located), of=f"model {compiled.name}")
        located = compiled.located[name]
        signs = np.ones(len(located.names)) if located.signs is None else located.signs
        for own, index, sign in zip(located.names, located.indices.tolist(), signs.tolist(), strict=True):
            found.append(_Place(own, located.quantity.vector, index, sign))
    twice = [one.name for k, one in enumerate(found) if one.name in {other.name for other in found[:k]}]
    if twice:
        raise UsageError(f"{twice[0]} is named twice among the {what}s", hint="once is enough")
    return found


def _inputs(compiled: CompiledModel, names: str | Sequence[str] | None) -> list[_Place]:
    quantities = NamedValues(compiled)
    own = quantities.names("input")
    found = _elements(compiled, own if names is None else names, "input")
    for one in found:
        role = compiled.located[one.name].quantity.role
        if role not in ("input", "parameter"):
            known = [*own, *quantities.names("parameter")]
            raise UsageError(f"{one.name} is no input and no parameter of {compiled.name}", hint=f"these are {listed(known) or '(none)'}")
    return found


def _outputs(compiled: CompiledModel, names: str | Sequence[str] | None) -> list[_Place]:
    quantities = NamedValues(compiled)
    found = _elements(compiled, (quantities.names("output") or quantities.names("state")) if names is None else names, "output")
    for one in found:
        if compiled.located[one.name].quantity.role == "discrete":
            raise UsageError(
                f"{one.name} is a discrete variable, which does not follow small deviations", hint="name a state, an output or an unknown"
            )
    return found


def _moves(compiled: CompiledModel, given: Mapping[str, Any], standing: Standing, one: _Place) -> Along:
    """What moves with an input: itself, and parameters whose defaults follow from it."""
    if one.vector == "m":
        return Along(dm=one.index)
    known = set(find_parameters(compiled, list(given)))
    return Along(dp=compiled.start.directions([one.index], known, standing.p)[0])


def _units(compiled: CompiledModel) -> dict[str, str]:
    return {name: located.quantity.unit for name, located in compiled.located.items() if located.quantity.unit}


# -- matrices ------------------------------------------------------------------------------------------------------------------------------------


def _dense(matrix: Matrix) -> FloatArray:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


@dataclass(frozen=True, eq=False)
class _Eliminated:
    """M and J split into states and what follows from them.

    Parameters
    ----------
    mass, jacobian : of ``M y' = f``.
    states : indices of the unknowns that are left; dependent : of the others.
    moving, holding : bases of what M reaches, and of the rows that it leaves out.
    spread : all unknowns from the states.
    factors : of the constraints' derivatives by the dependent unknowns.
    """

    mass: FloatArray
    jacobian: FloatArray
    states: list[int]
    dependent: list[int]
    moving: FloatArray
    holding: FloatArray
    spread: FloatArray
    factors: Any
    names: Sequence[str]

    @classmethod
    def of(cls, compiled: CompiledModel, mass: FloatArray, jacobian: FloatArray) -> _Eliminated:
        """Choose states and eliminate the others."""
        names, n = compiled.layout.unknowns, len(mass)
        left, sizes, _ = np.linalg.svd(mass)
        rank = int(np.sum(sizes > _RANK * sizes.max(initial=0.0)))
        moving, holding = left[:, :rank], left[:, rank:]
        constraints = holding.T @ jacobian
        algebraic = np.flatnonzero(~np.any(mass != 0.0, axis=0)).tolist()
        dependent = [*algebraic, *_more(constraints, algebraic, n - rank - len(algebraic))]
        states = [k for k in range(n) if k not in set(dependent)]
        own = constraints[:, dependent]
        spread = np.zeros((n, len(states)))
        spread[states, range(len(states))] = 1.0
        factors = None
        if dependent:
            scale = np.max(np.abs(own), axis=1, initial=0.0)
            if len(dependent) != n - rank or not np.all(scale > 0.0) or 1.0 / np.linalg.cond(own / scale[:, None]) < _SINGULAR:
                raise UsageError(
                    f"at this place the equations of {compiled.name} do not determine {listed([names[k] for k in dependent])} from its states",
                    hint="another place; a mode that ties states to each other has no linear model in all of them",
                )
            factors = _LINEAR.lu_factor(own)
            spread[dependent] = -_LINEAR.lu_solve(factors, constraints[:, states])
        return cls(mass, jacobian, states, dependent, moving, holding, spread, factors, names)

    @property
    def _inertia(self) -> FloatArray:
        return self.moving.T @ self.mass @ self.spread

    def rates(self, f: FloatArray) -> FloatArray:
        """x'."""
        return np.linalg.solve(self._inertia, self.moving.T @ f) if self.states else np.zeros(0)

    def reduced(self, inflow: FloatArray, inputs: Sequence[str]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A, B, and all unknowns from the inputs, where f depends on these by ``inflow``."""
        through = np.zeros((len(self.mass), inflow.shape[1]))
        if self.dependent:
            through[self.dependent] = -_LINEAR.lu_solve(self.factors, self.holding.T @ inflow)
        by_rate = self.moving.T @ self.mass @ through
        for k, name in enumerate(inputs):
            if np.any(np.abs(by_rate[:, k]) > _RANK * np.max(np.abs(self.mass), initial=0.0) * np.max(np.abs(through[:, k]), initial=0.0)):
                raise UsageError(
                    f"the rate of {name} enters the equations, through states that follow from others, and no A, B, C, D says that",
                    hint="let the input pass a short lag first",
                )
        if not self.states:
            return np.zeros((0, 0)), np.zeros((0, inflow.shape[1])), through
        forces = self.moving.T @ np.hstack([self.jacobian @ self.spread, self.jacobian @ through + inflow])
        solved = np.linalg.solve(self._inertia, forces)
        return solved[:, : len(self.states)], solved[:, len(self.states) :], through


def _more(constraints: FloatArray, algebraic: Sequence[int], count: int) -> list[int]:
    """So many unknowns whose derivatives occur, and that the constraints determine best beside the algebraic ones."""
    if count <= 0:
        return []
    own = constraints[:, algebraic]
    left = constraints - own @ np.linalg.lstsq(own, constraints, rcond=None)[0] if algebraic else constraints.copy()
    left[:, algebraic] = 0.0
    _, _, order = _LINEAR.qr(left, pivoting=True)
    return order[:count].tolist()
