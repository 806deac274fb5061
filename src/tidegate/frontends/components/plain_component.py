"""A component's methods called as plain Python with numbers (front end of components): what a run is judged by.

In: a component and values of its parameters. Out: a ``PlainModel``. The instance that the methods are called on is a copy whose attributes are
numbers: nothing is followed on symbols but ``tg.time``, which is one wherever it is imported, and takes its value when Python asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.expressions import evaluate
from tidegate.expressions.tracing.choices import Choice, Choices, PlainText
from tidegate.expressions.tracing.value_kinds import is_function
from tidegate.frontends.components.called import AttributeValues, assigned_in, forget_cached, instance_in_numbers, read_sides, standing_at
from tidegate.frontends.components.clauses import Clause, Trigger
from tidegate.frontends.components.declarations import UNSET, Declaration, Output
from tidegate.frontends.components.elements import flat
from tidegate.frontends.components.known_numbers import Moment, Number, Pending, Sides, WantedFirst, number_of
from tidegate.model import Model, Terminate, VariableRole, element_names
from tidegate.model.plain_model import Instant, PlainAction
from tidegate.model.remarks import collect_remarks, sentences
from tidegate.quick_dataclass import dataclass

__all__ = ["PlainComponent"]

FloatArray = NDArray[np.float64]

_PASSES: Final = 12  # outputs that need each other are found one after the other


@dataclass(frozen=True, eq=False)
class _CalledClause:
    """A ``when`` in numbers, or what it is for one element of an array of conditions."""

    label: str
    clause: Any  # typed, it would answer as its method
    trigger: Trigger
    chain: int
    owner: PlainComponent
    is_noted: bool
    element: int | None = None

    @property
    def priority(self) -> int:
        return self.trigger.priority

    def conditions(self, at: Instant) -> list[bool]:
        found, _ = self.owner.conditions(self.trigger, at)
        return found if self.element is None else [found[self.element]]

    def action(self, at: Instant) -> PlainAction:
        if self.element is None:
            return self.owner.done(self.clause, at)
        return self.owner.done(self.clause, at, (self.owner.conditions(self.trigger, at)[1], self.element))


@dataclass(frozen=True, eq=False)
class _CalledClock:
    """An ``at`` or ``every`` in numbers."""

    label: str
    clause: Any  # typed, it would answer as its method
    trigger: Trigger
    owner: PlainComponent

    @property
    def priority(self) -> int:
        return self.trigger.priority

    def ticks(self, at: Instant) -> bool:  # noqa: ARG002, as clocks of parts have it
        """Always: there are no parts that could be off."""
        return True

    def times(self, at: Instant) -> list[float]:
        return self.owner.numbers_given(self.trigger.times, at)

    def period(self, at: Instant) -> float | None:
        if self.trigger.kind == "at":
            return None
        return self.owner.numbers_given([self.trigger.period], at)[0]

    def action(self, at: Instant) -> PlainAction:
        return self.owner.done(self.clause, at)


class PlainComponent:
    """A component in numbers.

    Parameters
    ----------
    parts : the instance and what it declares.
    model : the neutral model, for names, shapes and roles only.
    parameters : values by element name.
    """

    truth: str = "the component's methods, called as Python"
    notes: Sequence[str] = ()

    def __init__(self, component: Any, model: Model, parameters: Mapping[str, float]) -> None:
        declarations, clauses = component.own_declarations(), component.all_clauses()
        self.unknowns: Sequence[str] = [name for variable in model.unknowns for name in variable.names]
        own = [variable for variable in model.discretes if variable.name in declarations]  # not the next times of clocks
        self.discretes: Sequence[str] = [name for variable in own for name in variable.names]
        self._declarations = declarations
        self._outputs = [name for variable in model.by_role(VariableRole.OUTPUT) for name in variable.names]
        self._values = AttributeValues({variable.name: variable.shape for variable in model.variables}, self._want)
        self._at: Instant | None = None
        self._moment = Moment(0.0)
        self._is_missing = False
        self._is_put_off = True  # what outputs are, and derivatives of what is no variable, as long as nothing needs them
        self._asked: dict[Trigger, tuple[list[bool], tuple[int, ...]]] = {}
        self.instance = instance_in_numbers(component, self._values)
        for name, value in parameters.items():
            self._values.set(name, value)
        for variable in model.by_role(VariableRole.INPUT):
            starts = evaluate(variable.starts(), {item: parameters[item.data.name] for v in model.parameters for item in v.symbols()})
            for name, value in zip(variable.names, starts, strict=True):
                self._values.set(name, value)
        self._every: list[Any] = list(clauses.values())
        triggers = [(name, clause, trigger) for name, clause in clauses.items() for trigger in clause.triggers]
        labels = {branch.label: not branch.actions for when in model.whens for branch in when.branches}
        whens = [each for each in triggers if each[2].kind == "when"]
        self.clauses = [item for name, clause, trigger in whens for item in self._happenings(name, clause, trigger, labels)]
        self.clocks = [_CalledClock(name, clause, trigger, self) for name, clause, trigger in triggers if trigger.kind in ("at", "every")]
        if sorted(clause.label for clause in self.clauses) != sorted(labels):
            raise UsageError("called with numbers, the component has other clauses than its model")
        self.equations: list[str] = [f"equation {k + 1}" for k in range(len(self.unknowns))]

    def _happenings(self, name: str, clause: Any, trigger: Trigger, labels: Mapping[str, bool]) -> list[_CalledClause]:
        """One, or one for each element where the model has one for each; ``labels`` has the model's, and whether they are without a body."""
        head = id(clause.head)
        if name in labels:
            return [_CalledClause(name, clause, trigger, head, self, labels[name])]
        elements = [label for label in labels if label.startswith(f"{name}[")]
        return [_CalledClause(label, clause, trigger, hash((head, k)), self, labels[label], k) for k, label in enumerate(elements)]

    @contextmanager
    def standing(self, at: Instant) -> Generator[None]:
        """The instance has the values of this instant."""
        if at is not self._at:
            forget_cached(self.instance)
            y_before = at.y if at.y_before is None else at.y_before
            for name, value, rate, before in zip(self.unknowns, at.y.tolist(), at.ydot.tolist(), y_before.tolist(), strict=True):
                self._values.set(name, value, rate, before)
            for name, value, before in zip(self.discretes, at.d.tolist(), at.pre.tolist(), strict=True):
                self._values.set(name, value, 0.0, before)
            for name in self._outputs:
                if self._is_put_off:
                    self._values.put_off(name)
                else:
                    self._values.set(name, float("nan"))
            self._at, self._is_missing = at, bool(self._outputs) and not self._is_put_off
            self._asked.clear()
            if self._moment.t != at.t or self._moment.has_rates is self._is_put_off:
                self._moment = Moment(float(at.t), has_rates=not self._is_put_off)
        with standing_at(self._moment):
            yield

    def given(self, item: Any) -> Any:
        """What stands in a declaration or a decorator: a number, a name, a declaration, or a function of the component."""
        if isinstance(item, Declaration):
            return self._values[item.name]
        if isinstance(item, str):
            return self._values[item]
        return item(self.instance) if is_function(item) else item

    def whatever_is_wanted[T](self, function: Callable[[Instant], T], at: Instant) -> T:
        """The function of an instant; if it needs what was put off, again with that, and so from then on."""
        if self._is_put_off:
            try:
                return function(at)
            except WantedFirst:
                self._is_put_off, self._at = False, None
        return function(at)

    # -- equations

    def _sides(self) -> list[Sides]:
        found: list[Sides] = []
        for method in self.instance.equation_methods():
            for item in method() or ():
                found += read_sides(item)
        return found

    def _want(self, name: str) -> None:
        if self._is_missing and self._is_output(name):
            self._is_missing = False
            self._find_outputs()

    def _find_outputs(self) -> None:
        """AttributeValues of outputs: as declared, and by equations with the output alone on one side."""
        before: list[float] = []
        for _ in range(_PASSES):
            for name, declaration in self._declarations.items():
                if self._is_given(name, declaration):
                    for element, value in zip(*self._elements_and_values(name, declaration), strict=True):
                        self._values.set(element, number_of(value), value.rate if isinstance(value, Number) else 0.0)
            for name, value in self._defined(self._sides()).items():
                self._values.set(name, number_of(value), value.rate if isinstance(value, Number) else 0.0)
            found = [float(self._values.numbers[name]) for name in self._outputs]
            if np.array_equal(found, before, equal_nan=True):
                return
            before = found

    def _is_given(self, name: str, declaration: Declaration) -> bool:
        """Whether it is an output that is declared with its value."""
        return isinstance(declaration, Output) and declaration.value is not UNSET and self._is_output(name)

    def _elements_and_values(self, name: str, declaration: Declaration) -> tuple[list[str], list[Any]]:
        names, values = element_names(name, self._values.shapes[name]), flat(self.given(declaration.value))
        return names, values * (len(names) // len(values))

    def _is_output(self, name: str) -> bool:
        return element_names(name, self._values.shapes[name])[0] in self._outputs

    def _defined(self, sides: Sequence[Sides]) -> dict[str, Any]:
        """Which equations define an output: the first with it on a side."""
        found: dict[str, Any] = {}
        for item in sides:
            name, value = self._definition(item, found)
            if name:
                found[name] = value
        return found

    def _definition(self, item: Sides, known: Mapping[str, Any]) -> tuple[str, Any]:
        for target, value in ((item.left, item.right), (item.right, item.left)):
            name = target.name if isinstance(target, Number | Pending) else ""
            if name in self._outputs and name not in known and not self._has_value(name):
                return name, value
        return "", None

    def _has_value(self, name: str) -> bool:
        declaration = self._declarations[self._values.owner[name]]
        return declaration.value is not UNSET

    def residuals(self, at: Instant) -> FloatArray:
        """See ``PlainModel``."""
        return self.whatever_is_wanted(self._residuals, at)

    def _residuals(self, at: Instant) -> FloatArray:
        with self.standing(at):
            defined: dict[str, Any] = {}
            found: list[float] = []
            for item in self._sides():
                name, value = self._definition(item, defined)
                if name:
                    defined[name] = value
                else:
                    found.append(number_of(item.right) - number_of(item.left))
        if len(found) != len(self.unknowns):
            raise UsageError(f"called with numbers, the component has {len(found)} equations for {len(self.unknowns)} unknowns")
        return np.array(found)

    def outputs(self, at: Instant) -> dict[str, float]:
        """See ``PlainModel``."""
        return self.whatever_is_wanted(self._output_values, at) if self._outputs else {}

    def _output_values(self, at: Instant) -> dict[str, float]:
        with self.standing(at):
            if self._is_put_off:
                found = {name: number_of(value) for name, value in self._defined(self._sides()).items()}
                for name, declaration in self._declarations.items():
                    if self._is_given(name, declaration):
                        elements, values = self._elements_and_values(name, declaration)
                        found.update(zip(elements, map(number_of, values), strict=True))
                return {name: found[name] for name in self._outputs}
            for name in self._outputs[:1]:
                self._want(self._values.owner[name])
            return {name: float(self._values.numbers[name]) for name in self._outputs}

    # -- events

    def numbers_given(self, items: Sequence[Any], at: Instant) -> list[float]:
        """What stands in a decorator, in numbers."""

        def asked(at: Instant) -> list[float]:
            with self.standing(at):
                return [number_of(item) for one in items for item in flat(self.given(one))]

        return self.whatever_is_wanted(asked, at)

    def conditions(self, trigger: Trigger, at: Instant) -> tuple[list[bool], tuple[int, ...]]:
        """The conditions of a ``when``, and their shape if there is one function that gives an array."""
        return self.whatever_is_wanted(lambda at: self._conditions(trigger, at), at)

    def _conditions(self, trigger: Trigger, at: Instant) -> tuple[list[bool], tuple[int, ...]]:
        with self.standing(at):
            if trigger not in self._asked:
                values = [self.given(one) for one in trigger.conditions]
                only: Any = values[0] if len(values) == 1 else ()
                shape = () if type(only) in (list, tuple) else np.shape(only)
                self._asked[trigger] = [bool(item) for value in values for item in flat(value)], shape
            return self._asked[trigger]

    def done(self, clause: Clause, at: Instant, part: tuple[tuple[int, ...], int] | None = None) -> PlainAction:
        """What a body does.

        Parameters
        ----------
        part : a shape and an element: of arrays of this shape only this element is assigned.
        """
        return self.whatever_is_wanted(lambda at: self._done(clause, at, part), at)

    def _done(self, clause: Clause, at: Instant, part: tuple[tuple[int, ...], int] | None) -> PlainAction:
        with self.standing(at), collect_remarks() as said:
            returned = clause.body(self.instance)
            found, is_clear = assigned_in(returned, self._values.shapes, part), self._tells_apart(returned)
        return PlainAction(found, sentences(said), any(isinstance(item, Terminate) for item in said), is_clear)

    def _tells_apart(self, returned: Any) -> bool:
        """Whether no two of the texts of now that may be keys of what a body returned are equal."""
        keys = [key for key in returned or () if isinstance(key, Choice | PlainText)]
        if not keys:
            return True
        held = [getattr(self.instance, name) for name, declaration in self._declarations.items() if declaration.texts]
        texts = [each for item in held for each in (flat(list(item)) if isinstance(item, Choices) else [item])]
        return not any(key.variable != each.variable and hash(key) == hash(each) and key == each for key in keys for each in texts)

    def initial(self, at: Instant) -> PlainAction | None:
        """See ``PlainModel``."""
        early = [item.action(at) for item in self.clauses if item.trigger.at_start and any(item.conditions(at))]
        return self._all_done("initially", at, early)

    def final(self, at: Instant) -> PlainAction | None:
        """See ``PlainModel``."""
        return self._all_done("finally", at)

    def _all_done(self, kind: str, at: Instant, besides: Sequence[PlainAction] = ()) -> PlainAction | None:
        """What the bodies of a kind do together, and then others."""
        actions = [self.done(clause, at) for clause in self._every if any(trigger.kind == kind for trigger in clause.triggers)]
        actions += besides
        if not actions:
            return None
        values = {name: value for action in actions for name, value in action.values.items()}
        return PlainAction(values, tuple(item for action in actions for item in action.says), any(action.ends for action in actions))
