"""What clauses may ask for and write (stage: model). In: a neutral model. Out: sentences about what can never work, each with its origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.errors import Origin, told
from tidegate.expressions import Expr, Role, symbol, walk
from tidegate.model.events import Action, Assignment
from tidegate.model.model import Model
from tidegate.model.variables import VariableRole
from tidegate.names import users_name
from tidegate.quick_dataclass import dataclass

__all__ = ["previous_problems", "writer_problems"]


@dataclass(frozen=True, eq=False)
class _ClauseWriter:
    """A clause that assigns: ``triggers`` are what it happens at for certain."""

    label: str
    origin: Origin
    actions: tuple[Action, ...]
    priority: int
    triggers: frozenset[object]

    def assignments(self) -> Iterator[tuple[Expr, Expr]]:
        """Targets and new values."""
        for action in self.actions:
            if isinstance(action, Assignment):
                yield action.target, action.value


def _writers(model: Model) -> Iterator[_ClauseWriter]:
    """Clauses that lead their chain or need none; others may have to stand back."""
    for when in model.whens:
        for branch in when.branches[:1]:
            yield _ClauseWriter(branch.label, branch.origin, branch.actions, when.priority, frozenset(branch.conditions))
    for event in model.time_events:
        yield _ClauseWriter(event.label, event.origin, event.actions, event.priority, frozenset([(event.first, event.period, event.condition)]))


def writer_problems(model: Model) -> Iterator[tuple[str, Origin | None]]:
    """Several clauses may write one variable, but not two that always happen together and give it different values; the run sees to the others."""
    earlier: dict[tuple[Expr, object], list[tuple[_ClauseWriter, Expr]]] = {}
    reported: set[tuple[Expr, str, str]] = set()
    for writer in _writers(model):
        for target, value in writer.assignments():
            for trigger in writer.triggers:
                known = earlier.setdefault((target, trigger), [])
                for other, given in known:
                    # one body with several triggers is one writer
                    if other.priority != writer.priority or given is value or other.actions is writer.actions:
                        continue
                    if (target, other.label, writer.label) not in reported:
                        reported.add((target, other.label, writer.label))
                        yield _sentence(target, other, writer), writer.origin
                known.append((writer, value))


def _sentence(target: Expr, one: _ClauseWriter, other: _ClauseWriter) -> str:
    first = one.label or "one clause"
    where = f"; {first} stands at {told(one.origin)}" if str(one.origin) else ""
    both = f"{first} and {other.label or 'another clause'}"
    advice = "join them, as one event (tg.event) or as one chain with elsewhen (components), or give one of them a smaller priority=..."
    name = users_name(repr(target))
    return f"{name} is assigned by both {both}, which always happen together; which of them is last would be an accident: {advice}{where}"


def _asked(model: Model) -> Iterator[tuple[str, Origin, Iterable[Expr], bool]]:
    """What is looked at between events: its name, origin, expressions, and whether it is the condition of a clause."""
    for index, equation in enumerate(model.equations):
        yield equation.label or f"equation {index + 1}", equation.origin, (equation.left, equation.right), False
    for definition in model.definitions:
        yield f"the definition of {definition.name}", definition.origin, (definition.value,), False
    for when in model.whens:
        for branch in when.branches:
            yield f"the condition of {branch.label or 'a when clause'}", branch.origin, branch.conditions, True
    for event in model.time_events:
        triggers = (event.first, *(item for item in (event.period, event.condition) if item is not None))
        yield f"the time of {event.label or 'a time event'}", event.origin, triggers, False


def previous_problems(model: Model) -> Iterator[tuple[str, Origin | None]]:
    """The value that something moving had before the round is known in bodies, and in conditions of clauses if it is a state."""
    moving = {symbol(Role.PREVIOUS, name): variable for variable in model.unknowns for name in variable.names}
    if moving.keys().isdisjoint(walk(root for _, _, roots, _ in _asked(model) for root in roots)):
        return
    for label, origin, roots, is_condition in _asked(model):
        for item in (item for item in walk(roots) if item in moving):
            variable, name = moving[item], item.data.name
            if variable.role is not VariableRole.STATE:
                yield f"{label} asks for pre({name}), of an {variable.role.value} variable; keep its value in a discrete variable", origin
            elif not is_condition:
                yield f"{label} asks for pre({name}), which between events is {name} itself; keep the value in a discrete variable", origin
