"""Names of a model's quantities and where their numbers are in the vectors of a run (stage: simulation). In: names, values; out: numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.compiled.callbacks import OpaqueCalls, ValueFunction
from tidegate.compiled.compiled_model import CompiledModel, Point
from tidegate.compiled.quantities import Located
from tidegate.errors import UsageError
from tidegate.executive import callback_error, numbers_for
from tidegate.names import unknown_name, users_name
from tidegate.numbers_as_texts import texts_to_numbers

__all__ = ["NamedValues", "Values"]

FloatArray = NDArray[np.float64]


class NamedValues:
    """Everything of a model that has a name and a value.

    Parameters
    ----------
    compiled : the model.
    """

    def __init__(self, compiled: CompiledModel) -> None:
        self._compiled = compiled
        self.model_name = compiled.name
        self._located = compiled.located
        self._settable: dict[str, Located] = {}

    def names(self, *roles: str) -> list[str]:
        """Names of variables with these roles, of all if none is given; an array has one. What is hidden is not among them."""
        every = [(name, located.quantity) for name, located in self._located.items()]
        return [name for name, own in every if name == own.name and not own.is_hidden and (not roles or own.role in roles)]

    def located(self, name: str) -> Located:
        """Where a variable or an element of an array is.

        Raises
        ------
        UsageError
            If there is none of this name.
        """
        known = dict[str, Located].get(self._located, name) if isinstance(name, str) else None  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        if known is not None:
            return known
        if not isinstance(name, str) or name not in self._located:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise unknown_name("variable or parameter", name, list(self._located), of=f"model {self.model_name}")
        return self._located[name]

    def whole(self, name: str) -> str:
        """Name of the quantity that an element belongs to, or of itself; "" for what is none."""
        return self._located[name].quantity.name if name in self._located else ""

    def read(self, point: Point, final: Mapping[str, float], name: str) -> Any:
        """A number, a truth value or an array; from the vectors of a point, or from the values at the end where these are by name."""
        located = self.located(name)
        if final and all(element in final for element in located.names):
            values = np.array([final[element] for element in located.names])
        else:
            values = located.of(self._vector(point, located.quantity.vector))
        return located.seen(values)

    def is_free(self, name: str) -> bool:
        """Whether nothing determines it between events: a state of the system, a discrete variable, an input."""
        located = self.located(name)
        return (
            located.quantity.vector == "m"
            or bool(located.quantity.held_by)
            or (located.quantity.vector == "y" and not self._compiled.algebraic[located.indices].any())
        )

    def checked(self, name: str, value: ArrayLike) -> tuple[Located, FloatArray]:
        """Where a value is to be put, and its numbers.

        Raises
        ------
        UsageError
            If there is no such name, or it follows from others, or the value does not fit.
        """
        located = self._settable.get(name) or self._checked_name(name)
        variable = located.quantity
        new = numbers_for(name, texts_to_numbers(name, value, variable.texts), located.shape)
        if variable.kind != "real" and np.any(new != np.round(new)):
            raise UsageError(f"{name} is {variable.kind}, and {value} is not", hint="an integer" if variable.kind == "integer" else "True or False")
        for element, number in zip(located.names, new.tolist(), strict=True):
            sentence = variable.problem(users_name(element), number)
            if sentence:
                raise UsageError(sentence, origin=variable.origin)
        return located, new

    def _checked_name(self, name: str) -> Located:
        located = self.located(name)
        variable = located.quantity
        if len(variable.held_by) == 1:
            self._settable[name] = self._located[variable.held_by[0]]
            return self._settable[name]
        follows = variable.vector in ("outputs", "numbers")
        is_solved_for = variable.vector == "y" and bool(self._compiled.algebraic[located.indices].any())
        if variable.role == "algebraic" or is_solved_for or (follows and variable.role == "state"):
            states = [name for name in self.names("state") if self.is_free(name)]
            hint = f"set a state ({', '.join(states[:6])}) or a parameter" if states else "set a parameter"
            raise UsageError(f"{name} is an algebraic variable: the equations determine it at every instant", hint=hint)
        if follows:
            raise UsageError(
                f"{name} is an output and follows from other variables", hint="set a state, a discrete variable, an input or a parameter"
            )
        self._settable[name] = located
        return located

    def check_parameters(self, p: FloatArray) -> None:
        """UsageError if a clock could not go on with these parameters."""
        problem = self._compiled.start.problem(p, has_started=True)
        if problem is not None:
            raise UsageError(problem[0], origin=problem[1])

    def _vector(self, point: Point, name: str) -> FloatArray:
        layout = self._compiled.layout
        if name == "numbers":
            return np.zeros(0)
        vector: FloatArray = self._outputs(point) if name == "outputs" else getattr(point, name)
        if name not in ("y", "outputs") or not layout.counted:
            return vector
        outputs = np.zeros(layout.n_outputs)
        absent = layout.absent(np.concatenate([point.y, point.m[layout.first_discrete : layout.first_previous], outputs]))
        return np.where(absent[: len(vector)] if name == "y" else absent[len(absent) - len(vector) :], np.nan, vector)

    @cached_property
    def _outputs_of(self) -> ValueFunction:
        return ValueFunction(self._compiled, "outputs", self._compiled.layout.n_outputs)

    def _outputs(self, point: Point) -> FloatArray:
        calls = OpaqueCalls()
        out = self._outputs_of.at(point, calls)
        error = callback_error(calls, point.time)
        if error is not None:
            raise error from error.__cause__
        return out


class _Owner(Protocol):
    """What values are read from and written to."""

    def __getitem__(self, name: str) -> float | FloatArray: ...

    def __setitem__(self, name: str, value: ArrayLike) -> None: ...


class Values(Mapping[str, Any]):
    """The current values of some of a simulation's quantities, by name; setting one sets it in the simulation.

    Parameters
    ----------
    owner : the simulation.
    quantities : all that it has.
    role : of these quantities.
    what : they are, for messages.
    """

    def __init__(self, owner: _Owner, quantities: NamedValues, role: str, what: str) -> None:
        self._owner = owner
        self._names = quantities.names(role)
        self._whole = quantities.whole
        self._what = what

    def _checked(self, name: str) -> str:
        # an element of an array is one of them too
        if not isinstance(name, str) or self._whole(name) not in self._names:  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise unknown_name(self._what, name, self._names)
        return name

    def __getitem__(self, name: str) -> Any:
        return self._owner[self._checked(name)]

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        self._owner[self._checked(name)] = value

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))
