"""What makes two models the same one (stage: model). In: neutral models; out: short digests by name.

A digest follows an expression's structure and not its text, which can be exponentially longer than the graph. Of an opaque function only the name
counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from tidegate.expressions import Expr, walk
from tidegate.model.events import Action, Assignment, Message, Terminate
from tidegate.model.model import Model

__all__ = ["identity"]

_LENGTH: Final = 16  # hexadecimal digits of a digest: 64 bits, far from any chance collision


def identity(model: Model) -> dict[str, dict[str, str]]:
    """For every variable, equation and event clause a digest, by kind and name."""
    digests: dict[int, str] = {}

    def of(exprs: Iterable[Expr | None]) -> str:
        roots = list(exprs)
        for item in walk(root for root in roots if root is not None):
            if id(item) not in digests:
                digests[id(item)] = _digest(item.op, _data(item.data), *(digests[id(arg)] for arg in item.args))
        return _digest(*("" if root is None else digests[id(root)] for root in roots))

    def does(actions: Iterable[Action]) -> list[str]:
        return [of([a.target, a.value]) if isinstance(a, Assignment) else _digest(type(a).__name__, _words(a), of([a.condition])) for a in actions]

    found: dict[str, dict[str, str]] = {"unit": {"of time": model.time_unit}, "variable": {}, "equation": {}, "definition": {}, "event clause": {}}
    for variable in model.variables:
        facts = (variable.role.value, str(variable.shape), variable.unit, variable.kind, of(variable.start))
        found["variable"][variable.name] = _digest(*facts)
    for k, equation in enumerate(model.equations):
        found["equation"][f"{k + 1}" + (f" ({equation.label})" if equation.label else "")] = of([equation.left, equation.right])
    for definition in model.definitions:
        found["definition"][definition.name] = of([definition.value])
    clauses = found["event clause"]
    for k, when in enumerate(model.whens):
        for i, branch in enumerate(when.branches):
            clauses[f"when {k + 1}.{i + 1}" + (f" ({branch.label})" if branch.label else "")] = _digest(of(branch.conditions), *does(branch.actions))
    for k, event in enumerate(model.time_events):
        name = f"at {k + 1}" + (f" ({event.label})" if event.label else "")
        clauses[name] = _digest(of([event.first, event.period, event.condition]), *does(event.actions))
    for k, event in enumerate(model.step_events):
        clauses[f"step {k + 1}" + (f" ({event.label})" if event.label else "")] = _digest(of([event.condition]), *does(event.actions))
    for k, equation in enumerate(model.initial_equations):
        found["equation"][f"at the start {k + 1}"] = of([equation.left, equation.right])
    clauses["initially"] = _digest(*does(model.initial_actions))
    clauses["finally"] = _digest(*does(model.final_actions))
    return found


def _words(action: Message | Terminate) -> str:
    return action.text if isinstance(action, Message) else action.message


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_LENGTH]


def _data(data: Any) -> str:
    if data is None or isinstance(data, bool | int | str):
        return repr(data)
    if isinstance(data, float):
        return data.hex()
    if isinstance(data, tuple | list):
        return f"{'quiet' if getattr(data, 'is_quiet', False) else ''}({','.join(map(_data, data))})"  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(data, np.ndarray):
        return _data(data.tolist())
    # symbols by role and name, tables by their numbers, opaque functions by their names
    parts = (getattr(data, name) for name in ("role", "name", "grid", "coefficients", "n_outputs") if hasattr(data, name))
    return f"{type(data).__name__}:{','.join(_data(getattr(part, 'value', part)) for part in parts)}"
