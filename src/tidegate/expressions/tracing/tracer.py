"""The state of one trace: where it is, what it assumes, what it met (stage: tracing the user's Python).

One ``Tracer`` object is passed along by the files that follow expressions, statements and calls. What they need of one another they call
through it, so that they stay files of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final

from tidegate.errors import Origin, TidegateError, UntraceableError
from tidegate.expressions.chosen_texts import is_unknown_text, truth_of_text
from tidegate.expressions.evaluate import evaluate as number_at
from tidegate.expressions.nodes import FALSE, TRUE, Expr, as_boolean
from tidegate.expressions.tracing.branch_changes import EMPTY, Journal, Namespace, content, owner
from tidegate.expressions.tracing.call_frames import CallFrame, Exit, Flow, Yielded
from tidegate.expressions.tracing.conditional_elements import Sometimes
from tidegate.expressions.tracing.looked_into import TRUTH, look_into
from tidegate.expressions.tracing.merge import Diverged, MismatchError, Views, frozen, merge, merge_partly
from tidegate.expressions.tracing.source import SourceFile, origin_at
from tidegate.expressions.tracing.value_kinds import is_array, is_dict, is_sequence
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass

__all__ = ["OPAQUE_HINT", "Assumption", "Departure", "MergeReturns", "MergeYields", "TracedScope", "Tracer", "conjunction"]

MergeYields = Callable[[Expr, list[Yielded], list[Yielded]], list[Yielded]]
MergeReturns = Callable[[Expr, Any, Any], Any]
OPAQUE_HINT: Final = "mark the function that does it with tg.opaque; it is then called as it is, with finite differences for its derivatives"
_OF_THE_USERS_OWN: Final = (
    (NameError, "define it before the model is run, or give it as a parameter: p={...}, tg.Parameter"),
    (ZeroDivisionError, "two plain numbers are divided there: look at the second"),
    (IndexError, "places are counted from 0; look at how many there are"),
)
_CONDITIONS: Final = frozenset({"ge", "gt", "nonzero", "and", "or", "not", "floor", "segment"})


@dataclass(eq=False)
class TracedScope:
    """A call, a loop or a round of it that symbolic branches may leave early.

    Parameters
    ----------
    is_over : True of a loop of which only `else` is left, whose `break` is another's.
    """

    kind: Flow
    depth: int
    journal: Journal
    exits: list[Exit] = field(default_factory=list[Exit])
    is_over: bool = False


@dataclass(frozen=True, eq=False)
class Assumption:
    """A condition that holds, or does not, where the trace is; one that says that a scope was not left before names the scope."""

    condition: Expr
    truth: bool
    left: TracedScope | None = None

    @property
    def stated(self) -> Expr:
        """What is assumed, as a condition."""
        return self.condition if self.truth else ~self.condition


@dataclass(frozen=True, eq=False)
class Departure:
    """A branch left a scope: under which assumptions, and which scope."""

    scope: TracedScope
    assumptions: tuple[Assumption, ...]


def conjunction(assumptions: Iterable[Assumption]) -> Expr:
    """All of them together."""
    together = TRUE
    for item in assumptions:
        together = together & item.stated
    return together


@dataclass(eq=False)
class Tracer:
    """What is known at one moment of a trace.

    Parameters
    ----------
    evaluate : follows an expression of the syntax tree in a frame.
    run : follows statements in a frame and says how they ended.
    call : calls anything with arguments.
    merge_yields, make_equation, merge_returns, point : of the front end; see ``trace``.
    spoiled : objects that are of no use any more, and why.
    partly : dictionaries whose keys, or their order, depend on a condition: they can be changed, and handed on to a front end that reads such.
    handed_on : the expression whose value is only handed on, if it is one of these.
    hands_on : depths of the calls that return to where their value is handed on.
    ends : conditions under which the function raises an exception; None where that is not followed.
    tries : how many `try` are around.
    """

    evaluate: Callable[[Tracer, ast.expr, CallFrame], Any]
    run: Callable[[Tracer, list[ast.stmt], CallFrame], Flow]
    call: Callable[[Tracer, Any, tuple[Any, ...], dict[str, Any]], Any]
    merge_yields: MergeYields | None = None
    make_equation: Callable[[Any, Any], Any] | None = None
    merge_returns: MergeReturns | None = None
    point: Mapping[Expr, float] | None = None
    condition_origins: dict[Expr, Origin] = field(default_factory=dict[Expr, Origin])
    journals: list[Journal] = field(default_factory=list[Journal])
    scopes: list[TracedScope] = field(default_factory=list[TracedScope])
    frames: list[CallFrame] = field(default_factory=list[CallFrame])
    assumptions: list[Assumption] = field(default_factory=list[Assumption])
    departures: list[Departure] = field(default_factory=list[Departure])
    spoiled: dict[int, tuple[Any, str]] = field(default_factory=dict[int, tuple[Any, str]])
    partly: dict[int, tuple[Any, str]] = field(default_factory=dict[int, tuple[Any, str]])
    handed_on: ast.expr | None = None
    ends: list[Expr] | None = None
    tries: int = 0
    hands_on: set[int] = field(default_factory=set[int])
    position: tuple[SourceFile, ast.AST] | None = None
    failure: tuple[BaseException, Origin, int] | None = None
    returned: tuple[SourceFile, ast.expr] | None = None
    seen: dict[int, Expr] = field(default_factory=dict[int, Expr])
    may_raise: list[tuple[type[Exception], Origin]] = field(default_factory=list[tuple[type[Exception], Origin]])
    joined: dict[int, tuple[Any, Expr, list[Any]]] = field(default_factory=dict[int, tuple[Any, Expr, list[Any]]])
    iterators: dict[int, tuple[Any, int]] = field(default_factory=dict[int, tuple[Any, int]])

    def value_of(self, node: ast.expr, frame: CallFrame, *, is_handed_on: bool = False) -> Any:
        """The value of an expression; one that is only changed, named or returned may be a dictionary with keys under a condition."""
        self.handed_on = node if is_handed_on else None
        return self.evaluate(self, node, frame)

    # -- where it is, and what to say about it

    def here(self) -> Origin:
        """The place of the user's source that is being followed."""
        return origin_at(*self.position) if self.position is not None else Origin()

    def error(self, message: str, hint: str = OPAQUE_HINT, at: Origin | None = None) -> UntraceableError:
        """An error about the present place."""
        return UntraceableError(message, origin=at or self.here(), hint=hint)

    def mark(self, error: BaseException) -> None:
        """Note where an exception came up, and under how many assumptions, before frames are left."""
        if self.failure is None or self.failure[0] is not error:
            self.failure = (error, self.here(), len(self.assumptions))

    def located(self, error: Exception) -> TidegateError:
        """An exception of the user's code or of the graph, as an error that names the line."""
        origin = self.failure[1] if self.failure is not None and self.failure[0] is error else self.here()
        if isinstance(error, TidegateError):
            if error.origin is not None or not hasattr(error, "hint"):
                return error
            return type(error)(error.message, origin=origin, hint=error.hint)
        if isinstance(error, RecursionError):
            return UntraceableError(
                "functions call one another too deeply: a recursion whose end depends on symbols cannot be followed", origin=origin, hint=OPAQUE_HINT
            )
        if isinstance(error, IndexError) and "only integers" in str(error):
            return UntraceableError(
                "an array or a list is looked up at a place that changes during the run",
                origin=origin,
                hint="u = tg.table(times, values), called with the time: u(t); its corners are found; kind='cubic' for none",
            )
        if "'Expr' object is not subscriptable" in str(error):
            return UntraceableError(
                "a number is looked into as if it were an array",
                origin=origin,
                hint="the order of arguments is f(t, y), with the time first, and residual(t, y, ydot); in a component an array of a function "
                "says its shape: tg.Output(lambda self: 2 * self.x, shape=3)",
            )
        for kind, hint in _OF_THE_USERS_OWN:
            if isinstance(error, kind):
                return UntraceableError(f"this line fails with {type(error).__name__}: {error}", origin=origin, hint=hint)
        if "'complex'" in str(error):
            return UntraceableError(
                "complex numbers cannot be followed", origin=origin, hint="write real and imaginary part as two variables, each with its equation"
            )
        return UntraceableError(
            f"following this line on symbols failed with {type(error).__name__}: {error}",
            origin=origin,
            hint=f"call the function with plain numbers first; if that works, {OPAQUE_HINT}",
        )

    def note(self, value: Any) -> None:
        """Record the present place as the origin of every condition that is new in a value."""
        if is_array(value):
            if value.dtype == object:
                self.note(value.ravel().tolist())
            return
        if is_sequence(value):
            items: Any = value
            for item in items:
                self.note(item)
            return
        if not isinstance(value, Expr) or id(value) in self.seen:
            return
        stack = [value]
        origin: Origin | None = None
        while stack:
            item = stack.pop()
            if id(item) in self.seen:
                continue
            self.seen[id(item)] = item
            if item.op in _CONDITIONS:
                origin = origin or self.here()
                self.condition_origins.setdefault(item, origin)
            stack.extend(item.args)

    # -- what is assumed in the present branch

    def assume(self, condition: Expr, truth: bool) -> None:
        """Add a condition that holds, or does not, until the branch or scope ends."""
        self.assumptions.append(Assumption(condition, truth))
        if condition.op == "not":
            self.assume(condition.args[0], not truth)
        elif condition.op == ("and" if truth else "or"):
            for part in condition.args:
                self.assume(part, truth)

    def known(self, condition: Expr) -> bool | None:
        """What the assumptions say about a condition; None if nothing."""
        if condition.is_constant:
            return condition.value != 0.0
        if self.point is not None:
            return number_at([condition], self.point)[0] != 0.0
        opposite = condition.args[0] if condition.op == "not" else None
        for item in self.assumptions:
            if item.condition is condition:
                return item.truth
            if item.condition is opposite:
                return not item.truth
        return None

    def assumed_since(self, depth: int, leaving: TracedScope | None = None) -> Expr:
        """The conjunction of the assumptions made since there were ``depth`` of them.

        Parameters
        ----------
        leaving : a scope whose earlier exits need not be excluded: they are joined in their order.
        """
        return conjunction(item for item in self.assumptions[depth:] if leaving is None or item.left is not leaving)

    def exclude_departures(self, departures: Iterable[Departure]) -> None:
        """Assume that branches just followed have not left a scope that is still open: what comes next is reached only where none did."""
        depth = len(self.assumptions)
        for item in list(departures):
            if item.scope in self.scopes:
                gone = conjunction(item.assumptions[depth:])
                if gone is not FALSE:
                    self.assumptions.append(Assumption(gone, False, item.scope))

    def truth(self, value: Any) -> bool | Expr:
        """What ``if value:`` asks: a bool, or the condition it depends on."""
        if is_array(value) and value.dtype == object and len(value.ravel()) == 1:
            value = value.ravel()[0]
        if is_unknown_text(value):
            value = truth_of_text(value)
        elif isinstance(value, Sometimes):
            value = value.is_any()
        if not isinstance(value, Expr):
            look_into(self, TRUTH, value)
            return bool(value)
        condition = as_boolean(value)
        self.note(condition)
        known = self.known(condition)
        return condition if known is None else known

    # -- what changes

    def join_objects(self, condition: Expr, result: Any, *parts: Any) -> None:
        """Note that an object stands for one of two others, depending on a condition."""
        for part in parts:
            spoiled = self._why_spoiled(part)
            if spoiled is not None:
                self.spoiled[id(result)] = (result, spoiled)
            if is_dict(result) and len(result) != len(part):
                keys = listed(sorted(repr(key) for key in result if key not in part))
                self.partly[id(result)] = (result, f"a dict has {keys} in one branch of `{condition!r}` only ({self.here()})")
            self.has_keys_of(part, result)
            for item, other in ((result, part), (part, result)):
                place = self._changeable(item)
                if place is not None:
                    self.joined.setdefault(id(place), (place, condition, []))[2].append(other)

    def _why_spoiled(self, value: Any) -> str | None:
        """Why an object, or the array that it is a part of, is of no use any more."""
        if not self.spoiled:
            return None
        entry = self.spoiled.get(id(value)) or (self.spoiled.get(id(owner(value))) if is_array(value) else None)
        return None if entry is None else entry[1]

    def _changeable(self, value: Any) -> Any:
        found = owner(value)
        return getattr(value, "__dict__", None) if found is None else found

    def changes(self, place: Any) -> None:
        """Refuse later uses of objects that are the changed one in one branch only: their change would depend on a condition."""
        if not self.joined:
            return
        start = owner(place)
        waiting, seen = [start], set[int]()
        while waiting:
            entry = self.joined.get(id(waiting.pop()))
            if entry is None or id(entry[0]) in seen:
                continue
            seen.add(id(entry[0]))
            for other in entry[2]:
                held = self._changeable(other)
                if held is not start and id(held) not in seen:
                    kind = type(other).__name__
                    message = f"a {kind} is one object where `{entry[1]!r}` holds and another where not, and was changed under another name since"
                    self.spoiled[id(other)] = (other, message)
                    if is_array(held):
                        self.spoiled[id(held)] = (held, message)  # under its views, too
                    waiting.append(held)

    def touch(self, place: Any, *, is_changed: bool = True) -> None:
        """Note an object's contents in every open journal that is older than its present contents."""
        if is_changed:
            self.changes(place)
        if not self.journals:
            return
        target = owner(place)
        if target is None:
            return
        for journal in reversed(self.journals):
            if id(target) in journal.created:
                return
            if id(target) not in journal.touched:
                journal.touched[id(target)] = (target, content(target))

    def made(self, value: Any) -> Any:
        """Say that a container is new, so that no fork so far has to keep its contents."""
        if self.journals:
            self.journals[-1].created[id(value)] = value
        if hasattr(value, "__next__"):
            self.iterators[id(value)] = (value, len(self.assumptions))
        return value

    def is_new(self, value: Any) -> bool:
        """Whether an object was made by what is followed, as far as that is known."""
        key = id(getattr(value, "__dict__", value))
        return any(key in journal.created for journal in self.journals)

    def consumed(self, value: Any) -> None:
        """Refuse that something is taken from an iterator in one branch only: how far it is cannot differ between branches."""
        if not hasattr(value, "__next__") or not self.assumptions:
            return
        made = self.iterators.get(id(value))
        if len(self.assumptions) > (made[1] if made is not None else 0):
            raise self.error(
                "an iterator is moved on in a branch that depends on symbols; how far it is after the branch would be known only during the run",
                "make a list of it first, and use its elements",
            )

    def taken_in_turn(self, value: Any) -> None:
        """Refuse a generator function that changes what others see, where its values are not all taken at once."""
        if getattr(value, "changes_others", False):
            raise self.error(
                "a generator changes what stands outside of it while its values are used one by one; it is followed as a whole before the first is",
                "make a list of its values, or write the loop itself",
            )

    def has_changed_others(self, journal: Journal) -> bool:
        """Whether what was followed since a journal was opened has changed anything that others see."""
        seen = {id(variables) for variables in self.namespaces()}
        return any(not isinstance(place, Namespace) or id(place) in seen for place, _ in journal.touched.values())

    def namespaces(self) -> list[Namespace]:
        """The local variables of every function that is being followed, and of those it stands in."""
        found: dict[int, Namespace] = {}
        for running in self.frames:
            frame: CallFrame | None = running
            while frame is not None:
                found[id(frame.variables)] = frame.variables
                frame = frame.parent
        return list(found.values())

    @contextmanager
    def journal(self) -> Generator[Journal]:
        """A journal that is open for a while; what was made in it is new to the journals around it."""
        opened = Journal()
        self.journals.append(opened)
        try:
            yield opened
        finally:
            self.journals.pop()
            if self.journals:
                self.journals[-1].created.update(opened.created)

    # -- values of two branches

    def merge(self, condition: Expr, a: Any, b: Any, what: str, views: Views | None = None, *, partly: bool = False) -> Any:
        """One value for two branches; an error that says what differs if there is none.

        Parameters
        ----------
        views : what changed in the branches, if it was put back since.
        partly : whether it is only handed on, so that dictionaries need not have the same keys.
        """
        try:
            return (merge_partly if partly else merge)(condition, a, b, views)
        except MismatchError as mismatch:
            raise self.error(
                f"{what} has no common structure in the branches of `{condition!r}`: {mismatch}", "give both branches values of the same shape"
            ) from None

    def merge_result(self, condition: Expr, a: Any, b: Any, views: Views | None = None) -> Any:
        """One returned value for two branches; of the traced function itself as the front end wants it."""
        if self.merge_returns is not None and len(self.frames) == 1:
            return self.merge_returns(condition, self.settled(a), self.settled(b))
        return self.merge(condition, a, b, "the returned value", views, partly=self.returns_partly())

    def settled(self, value: Any) -> Any:
        """What is returned to the front end, with the keys that are there under a condition merged as it wants them."""
        if id(value) not in self.partly:
            return value
        merge_returns = self.merge_returns
        assert merge_returns is not None  # nothing else lets such a value be returned

        def with_entry(found: Any, key: Any, held: Any) -> Any:
            if held is EMPTY:
                return found
            if isinstance(held, Diverged):
                return merge_returns(held.condition, with_entry(found, key, held.if_true), with_entry(found, key, held.if_false))
            return {**found, key: held}

        found: Any = {}
        for key, held in value.items():
            found = with_entry(found, key, held)
        return found

    def returns_partly(self) -> bool:
        """Whether what the present call returns is only handed on to a front end."""
        return self.merge_returns is not None and (len(self.frames) == 1 or len(self.frames) in self.hands_on)

    def has_keys_of(self, given: Any, new: Any) -> Any:
        """The new object, which has keys under a condition only where a given one has."""
        if id(given) in self.partly:
            self.partly[id(new)] = (new, self.partly[id(given)][1])
        return new

    def frozen(self, value: Any) -> Any:
        """A copy that later changes of the user's containers do not reach."""
        return self.has_keys_of(value, frozen(value))

    def usable(self, value: Any, what: str | ast.AST, *, is_handed_on: bool = False) -> Any:
        """A value read by the user's code, unless branches left it undefined here.

        Parameters
        ----------
        is_handed_on : whether it is only changed or handed on, so that it may be a dictionary with keys that are there under a condition only.
        """
        if not isinstance(value, Diverged) and not self.spoiled and not self.partly:
            return value
        name = what if isinstance(what, str) else ast.unparse(what)
        while isinstance(value, Diverged):
            known = self.known(value.condition)
            if known is None:
                raise self._diverged(value, name)
            value = value.if_true if known else value.if_false
            if value is EMPTY:
                raise NameError(f"name {name!r} is not bound here")
        spoiled = self._why_spoiled(value)
        if spoiled is not None:
            raise self.error(spoiled, "build it the same way in both branches, e.g. with `a if condition else b` as an element")
        if id(value) in self.partly and not is_handed_on:
            raise self.error(self.partly[id(value)][1], "give it the same keys in one order, e.g. with `a if condition else b` as an entry")
        return value

    def require_usable(self, *given: Any) -> None:
        """Refuse what has become of no use in the containers that someone else's code is given."""
        if not self.spoiled and not self.partly:
            return
        waiting, seen = list(given), set[int]()
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            self.usable(value, "an element")
            if is_sequence(value):
                waiting += value
            elif is_dict(value):
                waiting += value.values()

    def _diverged(self, value: Diverged, name: str) -> UntraceableError:
        place = f" (line {value.origin.line})" if value.origin.line else ""
        if value.if_false is EMPTY or value.if_true is EMPTY:
            condition = value.condition if value.if_false is EMPTY else ~value.condition
            return self.error(f"{name!r} is bound only when `{condition!r}`{place}", f"bind {name!r} in both branches, or before the `if`")
        return self.error(
            f"{name!r} has no common structure in the branches of `{value.condition!r}`{place}: {value.reason}",
            "give both branches values of the same shape",
        )
