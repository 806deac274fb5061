"""Following the functions of a component on its symbols (front end of components: methods and lambdas go in, expressions come out)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tidegate.errors import ModelError, Origin, UsageError
from tidegate.expressions import Expr, as_boolean, as_real, select
from tidegate.expressions.tracing import Yielded, trace
from tidegate.expressions.tracing.kinds import is_function
from tidegate.frontends.components.declarations import Declaration
from tidegate.frontends.components.elements import elements, flat, is_array
from tidegate.frontends.components.equalities import Equality, make_equality, merge_equalities, read_equalities
from tidegate.model import Action, Assignment
from tidegate.model.remarks import collect_remarks

__all__ = ["Follower"]


def _mapping(result: Any, name: str, origin: Origin) -> Mapping[Any, Any]:
    if isinstance(result, Mapping):
        return cast("Mapping[Any, Any]", result)
    raise ModelError(
        f"{name} returns {result!r}; a dictionary is expected",
        origin=origin,
        hint="return {self.v: new_value}, or nothing after tg.message or tg.terminate",
    )


@dataclass(eq=False)
class Follower:
    """Calls what the user wrote with one component, and keeps where each condition was written.

    Parameters
    ----------
    component : the instance whose attributes are symbols.
    name : how messages name it.
    declarations : its variables.
    condition_origins : filled while following.
    """

    component: Any
    name: str
    declarations: Mapping[str, Declaration]
    condition_origins: dict[Expr, Origin] = field(default_factory=dict[Expr, Origin])

    def placed(self, origin: Origin) -> Origin:
        """The origin with the component's path."""
        return replace(origin, path=self.name)

    def _keep(self, origins: Mapping[Expr, Origin]) -> None:
        for condition, origin in origins.items():
            self.condition_origins.setdefault(condition, self.placed(origin))

    def value(self, given: Any, origin: Origin) -> Any:
        """A number as it is; a name or declaration as that variable; a function by following it."""
        if isinstance(given, Declaration):
            return getattr(self.component, given.name)
        if isinstance(given, str):
            if given not in self.declarations:
                close = difflib.get_close_matches(given, self.declarations, n=3)
                hint = f"did you mean {', '.join(close)}?" if close else f"its variables are {', '.join(self.declarations)}"
                raise UsageError(f"{self.name} has no variable {given!r}", origin=self.placed(origin), hint=hint)
            return getattr(self.component, given)
        if is_function(given):
            followed = trace(given, (self.component,))
            self._keep(followed.condition_origins)
            return followed.value
        return given

    def number(self, given: Any, what: str, origin: Origin) -> Expr:
        """One real expression."""
        found = elements(self.value(given, origin), what, self.placed(origin))
        if len(found) != 1:
            raise UsageError(f"{what} has {len(found)} values; one is expected", origin=self.placed(origin))
        return as_real(found[0])

    def conditions(self, given: Sequence[Any], what: str, origin: Origin) -> tuple[Expr, ...]:
        """The conditions of a ``when``; each function may give several."""
        return tuple(as_boolean(item) for one in given for item in elements(self.value(one, origin), what, self.placed(origin)))

    def equations(self, method: Callable[[], Any], place: Origin) -> list[Equality]:
        """The equations that a method yields or returns, merged over the branches of its conditions."""

        def read(items: Sequence[Yielded]) -> list[Equality]:
            return [equality for item in items for equality in read_equalities(item.value, self.placed(item.origin if item.origin.line else place))]

        def merge(condition: Expr, first: list[Yielded], second: list[Yielded]) -> list[Yielded]:
            merged = merge_equalities(condition, read(first), read(second), self.placed(place))
            return [Yielded(item, item.origin) for item in merged]

        followed = trace(method, (), merge_yields=merge, make_equation=make_equality)
        returned: Any = followed.value if is_array(followed.value) else ()
        items = [*followed.yields, *(Yielded(item, place) for item in returned)]
        yielded = {item.value for item in items if isinstance(item.value, Expr)}
        self._keep({condition: origin for condition, origin in followed.condition_origins.items() if condition not in yielded})
        return read(items)

    def actions(self, method: Callable[[], Any], name: str, origin: Origin) -> tuple[Action, ...]:
        """What the body of an event does."""

        def merge(condition: Expr, first: Any, second: Any) -> Any:
            return self._merged_returns(condition, first, second, name, origin)

        with collect_remarks() as said:
            followed = trace(method, (), merge_returns=merge)
        self._keep(followed.condition_origins)
        if followed.value is None:
            return tuple(said)
        result = _mapping(followed.value, name, origin)
        found: list[Action] = []
        for key, value in result.items():
            found.extend(self._assignments(key, value, name, origin))
        return (*found, *said)

    def _merged_returns(self, condition: Expr, first: Any, second: Any, name: str, origin: Origin) -> Any:
        """New values of two branches; what only one of them assigns keeps its value in the other."""
        branches: list[Mapping[Any, Any]] = [{} if branch is None else _mapping(branch, name, origin) for branch in (first, second)]
        merged: dict[Any, Any] = {}
        for key in {**branches[0], **branches[1]}:
            old = flat(self.value(key, origin) if isinstance(key, str | Declaration) else key)
            values = [flat(branch[key]) if key in branch else old for branch in branches]
            size = max(map(len, values))
            pairs = zip(*(value * size if len(value) == 1 else value for value in values), strict=True)
            merged[key] = [select(condition, *pair) for pair in pairs]
        return merged

    def _assignments(self, key: Any, value: Any, name: str, origin: Origin) -> list[Assignment]:
        target = self.value(key, origin) if isinstance(key, str | Declaration) else key
        targets = flat(target)
        if not all(isinstance(item, Expr) and item.op == "symbol" for item in targets):
            raise ModelError(
                f"{name} assigns to `{key!r}`, which is no variable", origin=origin, hint="the keys are variables: return {self.v: new_value}"
            )
        values = [as_real(item) for item in elements(value, f"the new value of {key!r} in {name}", origin)]
        if len(values) not in (1, len(targets)):
            raise ModelError(f"{name} gives {len(values)} values to the {len(targets)} elements of {key!r}", origin=origin)
        return [Assignment(item, new, origin) for item, new in zip(targets, values * (len(targets) // len(values)), strict=True)]
