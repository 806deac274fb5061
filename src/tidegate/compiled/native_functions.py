"""The native functions of a compiled model, as expressions with a place for every symbol.

In: the locked, reduced parts of a model. Out: function descriptions for ``emit_llvm``; a function with nothing to compute is there all the same and
does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.emit_llvm import FunctionSpec
from tidegate.compiled.explicit_rates import explicit_rates
from tidegate.compiled.jacobian_pattern import Sparsity
from tidegate.compiled.vector_symbols import Symbols, seed
from tidegate.expressions import FALSE, ONE, ZERO, Expr, Role, as_real, node, raw_node, select, symbol
from tidegate.expressions.differentiate import differentiate, jacobian, tangent
from tidegate.expressions.rounding import roundings, spreads
from tidegate.expressions.substitute import substitute
from tidegate.quick_dataclass import dataclass

__all__ = ["FunctionParts", "function_specs"]

_Maker = Callable[[str, Sequence[tuple[int, Expr]]], FunctionSpec]
_VALUE = ("t", "y", "p", "m", "out")
_TANGENT = ("t", "y", "v", "p", "m", "dt", "dy", "dp", "dm", "out")
_BY_VALUE = frozenset({"t", "dt"})
_FEW: Final = 20
_TIME: Final = symbol(Role.TIME, "time")
_LARGEST: Final = 1e300  # bound of rounding that says anything
_LEAST: Final = 2e-300  # rounding of functions of zero, which is none by their size


@dataclass(frozen=True, eq=False)
class FunctionParts:
    """Everything the functions are made of; all expressions are locked and free of derivative symbols.

    Parameters
    ----------
    symbols : of the flat vectors.
    rhs, mass : the form M y' = f.
    guards : discontinuity functions; ``is_time`` marks those of time only, ``is_curved`` those of which bounds are known and that
        are not affine; ``activity`` says when one matters (None: never).
    conditions : of the ``when`` branches.
    state_conditions : (activity, value) pairs.
    enabled, times : of the time events.
    new_values : target symbol -> value after the bodies.
    conflict : holds where bodies do not agree.
    outputs : recorded outputs.
    slopes : df/dy, entries that are not structurally zero, by row and column.
    sparsity : where elements stand in the vector of J; None: all n x n of them, by rows.
    is_diagonal : True if M is kept as its diagonal.
    constraints : F4 and F5 of an HDAE; hdae_parts : F2 to F5.
    divisors : what the right sides divide by, where it matters.
    """

    symbols: Symbols
    rhs: tuple[Expr, ...]
    mass: dict[tuple[int, int], Expr]
    guards: tuple[Expr, ...]
    is_time: NDArray[np.bool_]
    is_curved: NDArray[np.bool_]
    activity: tuple[Expr | None, ...]
    conditions: tuple[Expr, ...]
    state_conditions: tuple[tuple[Expr, Expr], ...]
    enabled: tuple[Expr, ...]
    times: tuple[Expr, ...]
    new_values: dict[Expr, Expr]
    conflict: Expr
    outputs: tuple[Expr, ...]
    slopes: dict[tuple[int, int], Expr]
    sparsity: Sparsity | None
    is_diagonal: bool
    constraints: tuple[Expr, ...] = ()
    hdae_parts: tuple[Expr, ...] = ()
    divisors: tuple[Expr, ...] = ()


def function_specs(parts: FunctionParts) -> list[FunctionSpec]:
    """One description for each native function that computes anything.

    ========================  =============================================================================
    rhs, residual_tangent     f; derivative of f - M v in a direction
    jacobian                  df/dy by rows, or as the pattern says; only entries that are not structurally zero are written
    mass                      M by rows, or its diagonal, likewise
    guards, guards_tangent    g; derivative in a direction
    guard_scale               sum over |dg/dy_k| dy_k and |dg/dt| dt
    guard_rounding            the same, with what rounding makes of g inside where g is not affine; there if any is not
    activity                  1 where a guard matters
    conditions                1 where a when condition holds; then value + 2 of active state conditions, 0 for inactive
    bodies, bodies_tangent    y and the discrete variables after the bodies of the set flags; behind room for two of these 1 where they do not agree
    times, times_tangent      next times: of guards of time only, then of time events (infinite while not enabled)
    outputs, outputs_tangent  recorded outputs
    divisors                  what f divides by, 1 where that does not matter; what exponentials are taken of, 0 likewise
    rates                     y' where it follows by expressions that f and M do not give at once, of small models with relations
    constraints and others    F4 and F5 of an HDAE, their derivative in a direction, the sum of its absolute values, their gradients by rows; F2 to F5
    ========================  =============================================================================
    """
    symbols = parts.symbols
    n = len(symbols.unknowns)
    seeds = symbols.seeds()
    positions = symbols.positions
    all_positions = positions | symbols.seed_positions()

    def values(name: str, exprs: Sequence[tuple[int, Expr]]) -> FunctionSpec:
        return FunctionSpec(name, _VALUE, _BY_VALUE, positions, list(exprs))

    def tangents(name: str, exprs: Sequence[tuple[int, Expr]]) -> FunctionSpec:
        return FunctionSpec(name, _TANGENT, _BY_VALUE, all_positions, list(exprs))

    number = parts.sparsity.numbers if parts.sparsity is not None else None
    flows = tangent([*parts.rhs], seeds, past_overflow=True)
    mass_flows: dict[int, Expr] = {}
    moving = tangent(list(parts.mass.values()), seeds)
    for (i, j), change in zip(parts.mass, moving, strict=True):
        mass_flows[i] = mass_flows.get(i, ZERO) + change * seed("v", j)
    specs = [
        values("rhs", list(enumerate(parts.rhs))),
        tangents("residual_tangent", [(i, flow - mass_flows.get(i, ZERO)) for i, flow in enumerate(flows)]),
        values("jacobian", [(number[i, j] if number else i * n + j, entry) for (i, j), entry in parts.slopes.items()]),
        values("mass", [(i if parts.is_diagonal else i * n + j, entry) for (i, j), entry in parts.mass.items()]),
        values("outputs", list(enumerate(map(as_real, parts.outputs)))),
        tangents("outputs_tangent", list(enumerate(tangent(list(map(as_real, parts.outputs)), seeds, past_overflow=True)))),
    ]
    if parts.divisors:
        specs.append(values("divisors", list(enumerate(parts.divisors))))
    specs += _guard_specs(parts, values, tangents, seeds)
    if parts.hdae_parts:
        specs.append(values("hdae_parts", list(enumerate(parts.hdae_parts))))
    if parts.constraints:
        gradients = jacobian(list(parts.constraints), list(symbols.unknowns))
        specs += [
            values("constraints", list(enumerate(parts.constraints))),
            tangents("constraints_tangent", list(enumerate(tangent(list(parts.constraints), seeds)))),
            tangents("constraint_scale", list(enumerate(_scales(parts.constraints, symbols)))),
            values("constraint_slopes", [(i * n + j, entry) for (i, j), entry in gradients.items()]),
        ]
    specs += _transition_specs(parts, values, tangents, seeds)
    explicit = explicit_rates(symbols.unknowns, parts.rhs, parts.mass) if _is_looked_along(parts) else None
    return specs if explicit is None else [*specs, values("rates", list(enumerate(explicit.rates)))]


def _is_looked_along(parts: FunctionParts) -> bool:
    """Whether events often ask for rates that right sides do not give, and of so few unknowns that expressions for them are short."""
    n = len(parts.rhs)
    is_given = len(parts.mass) == n and all(i == j for i, j in parts.mass)
    return len(parts.guards) > 0 and n <= _FEW and not (is_given or parts.constraints or parts.hdae_parts)


def _guard_specs(parts: FunctionParts, values: _Maker, tangents: _Maker, seeds: dict[Expr, Expr]) -> list[FunctionSpec]:
    guards = list(parts.guards)
    scales = _scales(guards, parts.symbols)
    specs = [
        values("guards", list(enumerate(guards))),
        tangents("guards_tangent", list(enumerate(tangent(guards, seeds, past_overflow=True)))),
        tangents("guard_scale", list(enumerate(scales))),
        values("activity", [(k, as_real(a) if a is not None else ZERO) for k, a in enumerate(parts.activity)]),
    ]
    if parts.is_curved.any():
        inside = roundings([g if curved else ZERO for g, curved in zip(guards, parts.is_curved, strict=True)], [_TIME, *parts.symbols.unknowns])
        specs.append(tangents("guard_rounding", list(enumerate(map(_with_rounding, scales, inside)))))
    return specs


def _scales(guards: Sequence[Expr], symbols: Symbols) -> list[Expr]:
    return spreads(guards, {_TIME: seed("dt", 0), **{x: seed("dy", k) for k, x in enumerate(symbols.unknowns)}})


def _with_rounding(scale: Expr, rounding: Expr) -> Expr:
    """At a pole nothing is known of rounding; and what reads nothing but zeros is not beyond all doubt."""
    return scale if rounding is ZERO else scale + select(raw_node("gt", (_LARGEST - rounding,)), rounding + _LEAST, ZERO)


def _transition_specs(parts: FunctionParts, values: _Maker, tangents: _Maker, seeds: dict[Expr, Expr]) -> list[FunctionSpec]:
    symbols = parts.symbols
    conditions = [as_real(c) for c in parts.conditions]
    conditions += [select(active, as_real(value) + 2.0, ZERO) for active, value in parts.state_conditions]
    n = len(symbols.unknowns)
    index_of = {s: k for k, s in enumerate(symbols.unknowns)} | {s: n + k for k, s in enumerate(symbols.discretes)}
    bodies = sorted(((index_of[target], value) for target, value in parts.new_values.items()), key=lambda item: item[0])
    body_tangents = tangent([value for _, value in bodies], seeds, past_overflow=True)
    times = _guard_times(parts) + [select(on, t, as_real(float("inf"))) for on, t in zip(parts.enabled, parts.times, strict=True)]
    specs = [
        values("conditions", list(enumerate(conditions))),
        values("bodies", bodies if parts.conflict is FALSE else [*bodies, (2 * len(index_of), as_real(parts.conflict))]),
        tangents("bodies_tangent", [(index, change) for (index, _), change in zip(bodies, body_tangents, strict=True)]),
    ]
    if times:
        specs.append(values("times", list(enumerate(times))))
        specs.append(tangents("times_tangent", list(enumerate(tangent(times, seeds)))))
    return specs


def _guard_times(parts: FunctionParts) -> list[Expr]:
    """For a guard of time only, affine: the time of its zero; infinite for every other guard."""
    never = as_real(float("inf"))
    times: list[Expr] = []
    for guard, is_time in zip(parts.guards, parts.is_time, strict=True):
        if not is_time:
            times.append(never)
            continue
        slope = differentiate(guard, _TIME)
        (at_zero,) = substitute([guard], {_TIME: ZERO})
        moves = node("nonzero", (slope,))
        times.append(select(moves, -at_zero / select(moves, slope, ONE), never))
    return times
