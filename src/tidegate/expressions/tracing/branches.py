"""Both branches of a symbolic `if`, and the scopes they may leave early (stage: tracing the user's Python).

In: a condition and what to do in each branch. Out: one state in which every variable that differs is joined by ``select``. Both branches start
from the same state: what the first changed is noted in a journal and put back. A branch that returns (or leaves a loop or its round) is kept with
its condition until its scope ends; the statements in between are followed for the other branch alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tidegate.expressions.nodes import Expr
from tidegate.expressions.tracing.branch_changes import Contents, Journal, Namespace, content, have_one_order, identities, write
from tidegate.expressions.tracing.call_frames import BranchRaises, CallFrame, Exit, Flow, Yielded
from tidegate.expressions.tracing.merge import MismatchError, Views, merge, merge_keys, merge_later
from tidegate.expressions.tracing.tracer import Assumption, Departure, TracedScope, Tracer, conjunction
from tidegate.expressions.tracing.value_kinds import is_dict, is_sequence
from tidegate.quick_dataclass import dataclass

__all__ = ["fork", "in_scope"]


_LEAVES_FARTHER: Final = (Flow.RAISE, Flow.RETURN, Flow.BREAK, Flow.CONTINUE, Flow.NEXT)


@dataclass(frozen=True, eq=False)
class _TracedBranch:
    flow: Flow
    result: Any
    contents: Contents
    yields: list[Yielded]
    exit_contents: Contents
    assumed: Expr
    assumptions: tuple[Assumption, ...]
    departures: list[Departure]


def fork(tracer: Tracer, frame: CallFrame, condition: Expr, when_true: Callable[[], Flow], when_false: Callable[[], Flow]) -> Flow:
    """Follow both branches, unless the assumptions decide, and join their states."""
    mark = len(tracer.departures)
    first = _follow(tracer, frame, condition, True, when_true)
    second = _follow(tracer, frame, condition, False, when_false)
    if first.flow is Flow.RAISE and second.flow is Flow.RAISE:
        raise BranchRaises
    if first.flow is second.flow:
        _join_states(tracer, condition, first.contents, second.contents)
        _join_yields(tracer, frame, condition, first.yields, second.yields)
        if first.flow is Flow.RETURN:
            frame.result = tracer.merge_result(condition, first.result, second.result)
        tracer.exclude_departures(tracer.departures[mark:])
        return first.flow
    leaves_first = _LEAVES_FARTHER.index(first.flow) < _LEAVES_FARTHER.index(second.flow)
    leaving, staying = (first, second) if leaves_first else (second, first)
    if leaving.flow is Flow.RAISE:
        # nobody comes behind it: all goes on as in the other branch
        for place, value in staying.contents.values():
            write(place, value)
        frame.result = staying.result
        frame.yields.extend(staying.yields)
        tracer.exclude_departures(staying.departures)
        return staying.flow
    if leaving.yields or staying.yields:
        raise tracer.error(
            f"`return` in one branch of `{condition!r}` only, in a function that yields", "yield in both branches of an `if`, and return after it"
        )
    target = _target(tracer, leaving.flow)
    target.exits.append(Exit(leaving.assumed, leaving.result, leaving.exit_contents, len(frame.yields)))
    for place, value in staying.contents.values():
        write(place, value)
    frame.result = staying.result
    tracer.exclude_departures(staying.departures)
    tracer.assume(condition, not leaves_first)
    tracer.departures.append(Departure(target, leaving.assumptions))
    return staying.flow


def _follow(tracer: Tracer, frame: CallFrame, condition: Expr, truth: bool, follow: Callable[[], Flow]) -> _TracedBranch:
    depth, yielded, mark = len(tracer.assumptions), len(frame.yields), len(tracer.departures)
    with tracer.journal() as journal:
        tracer.assume(condition, truth)
        try:
            try:
                flow = follow()
            except BranchRaises:
                flow = Flow.RAISE
            target = None if flow in (Flow.NEXT, Flow.RAISE) else _target(tracer, flow)
            exit_contents = _held(tracer, target) if target else {}
            result = tracer.frozen(frame.result) if flow is Flow.RETURN else None
            assumed = tracer.assumed_since(target.depth, target) if target else condition
            tracer.note(assumed)
            assumptions = tuple(tracer.assumptions)
        finally:
            del tracer.assumptions[depth:]
        yields = frame.yields[yielded:]
        del frame.yields[yielded:]
        branch = _TracedBranch(flow, result, journal.capture(), yields, exit_contents, assumed, assumptions, tracer.departures[mark:])
        journal.restore()
    return branch


def _held(tracer: Tracer, target: TracedScope) -> Contents:
    """What everything holds that a scope changed or made, for a branch that leaves it."""
    inside = tracer.journals[tracer.journals.index(target.journal) :]
    return {key: entry for journal in reversed(inside) for key, entry in journal.held().items()}


def _target(tracer: Tracer, flow: Flow) -> TracedScope:
    return next(scope for scope in reversed(tracer.scopes) if scope.kind is flow and not scope.is_over)


def _join_states(tracer: Tracer, condition: Expr, first: Contents, second: Contents) -> None:
    places = {key: place for key, (place, _) in {**first, **second}.items()}
    views = Views(first, second)
    joined: list[tuple[Any, Any]] = []
    for key, place in places.items():
        a = first[key][1] if key in first else content(place)
        b = second[key][1] if key in second else content(place)
        joined.append((place, _joined(tracer, condition, place, a, b, views)))
    # only now: until here every object holds what it held at the fork
    for place, value in joined:
        write(place, value)


def _joined(tracer: Tracer, condition: Expr, place: Any, a: Any, b: Any, views: Views) -> Any:
    """Contents of one object after both branches."""
    if isinstance(place, Namespace) or (is_dict(place) and set(a) != set(b) and _is_namespace(tracer, place)):
        return merge_keys(condition, a, b, views)
    if is_sequence(place) and len(a) == len(b):
        return [merge_later(condition, x, y, views) for x, y in zip(a, b, strict=True)]
    if is_dict(place) and set(a) == set(b):
        if not have_one_order(a, b):
            tracer.partly[id(place)] = (place, f"the keys of a dict stand in another order where `{condition!r}` holds ({tracer.here()})")
        return {key: merge_later(condition, a[key], b[key], views) for key in a}
    try:
        return merge(condition, a, b, views)
    except MismatchError as mismatch:
        message = f"a {type(place).__name__} was changed differently in the branches of `{condition!r}` ({tracer.here()}): {mismatch}"
        if is_dict(place):
            tracer.partly[id(place)] = (place, message)
            return merge_keys(condition, a, b, views)
        tracer.spoiled[id(place)] = (place, message)
        return a


def _is_namespace(tracer: Tracer, place: Any) -> bool:
    return any(place is frame.globals for frame in tracer.frames) or place is getattr(tracer.frames[-1].variables.get("self"), "__dict__", None)


def _join_yields(tracer: Tracer, frame: CallFrame, condition: Expr, first: list[Yielded], second: list[Yielded]) -> None:
    if not first and not second:
        return
    if tracer.merge_yields is not None:
        frame.yields.extend(tracer.merge_yields(condition, first, second))
        return
    if len(first) != len(second):
        raise tracer.error(
            f"{len(first)} values are yielded where `{condition!r}` holds and {len(second)} where it does not", "yield as many in both branches"
        )
    for a, b in zip(first, second, strict=True):
        frame.yields.append(Yielded(tracer.merge(condition, a.value, b.value, "the yielded value"), a.origin))


def in_scope(tracer: Tracer, frame: CallFrame, kind: Flow, follow: Callable[[], Flow]) -> Flow:
    """Follow a call, a loop or a round of it that branches may leave early; what left is joined with what stayed."""
    depth, mark = len(tracer.assumptions), len(tracer.departures)
    with tracer.journal() as journal:
        opened = TracedScope(kind, depth, journal)
        tracer.scopes.append(opened)
        try:
            try:
                flow = follow()
            except BranchRaises:
                if not opened.exits:
                    raise
                flow = Flow.RAISE
            flow = _closed(tracer, frame, opened, flow)
        finally:
            tracer.scopes.pop()
            del tracer.assumptions[depth:]
        tracer.exclude_departures(tracer.departures[mark:])
    return flow


def _closed(tracer: Tracer, frame: CallFrame, opened: TracedScope, flow: Flow) -> Flow:
    """Join what has left a scope early with what stayed to its end, and ended so."""
    kind, journal, exits = opened.kind, opened.journal, opened.exits
    result = frame.result if flow is Flow.RETURN else None
    if exits and tracer.merge_returns is not None and len(tracer.frames) == 1:
        result = tracer.frozen(result)
    _check_yields(tracer, frame, opened)
    # `break` in the `else` of a loop is that of another
    stays = (Flow.NEXT,) if kind is Flow.BREAK else (Flow.NEXT, kind)
    if exits and flow not in stays:
        opened.is_over = True
        if flow is not Flow.RAISE:
            _leave_for_good(tracer, frame, opened, flow)
        for place, held in _as_left(exits[-1], journal).values():
            write(place, held)
        exits, flow, result = exits[:-1], Flow.NEXT, exits[-1].result
    for left in reversed(exits):
        before = _rejoin(tracer, left, journal)
        if kind is Flow.RETURN:
            result = tracer.merge_result(left.condition, left.result, result, Views({}, before))
    if kind is Flow.RETURN:
        frame.result = result
    return flow


def _check_yields(tracer: Tracer, frame: CallFrame, opened: TracedScope) -> None:
    """Refuse a round or call that yields after it was left under a condition: what is yielded would depend on it."""
    for left in opened.exits:
        if left.n_yields != len(frame.yields):
            raise tracer.error(
                f"`{opened.kind.value}` under the condition `{left.condition!r}` leaves out what is yielded after it",
                "yield in both branches of an `if`, and return after it",
            )


def _leave_for_good(tracer: Tracer, frame: CallFrame, opened: TracedScope, flow: Flow) -> None:
    """What stayed to the end of a loop or round that others left earlier leaves what is around it; the others go on."""
    target = _target(tracer, flow)
    assumptions = (*tracer.assumptions, *(Assumption(left.condition, False, opened) for left in opened.exits))
    condition = conjunction(item for item in assumptions[target.depth :] if item.left is not target)
    tracer.note(condition)
    result = tracer.frozen(frame.result) if flow is Flow.RETURN else None
    target.exits.append(Exit(condition, result, _held(tracer, target), len(frame.yields)))
    tracer.departures.append(Departure(target, assumptions))
    frame.result = None


def _as_left(left: Exit, journal: Journal) -> Contents:
    """What objects held when a scope was left; those that were not touched until then, what they held when it was opened."""
    return journal.touched | left.contents


def _rejoin(tracer: Tracer, left: Exit, journal: Journal) -> Contents:
    """Let objects hold what they held where the scope was left, or what they hold now; what that was."""
    then = _as_left(left, journal)
    now = {key: (place, content(place)) for key, (place, _) in then.items()}
    # views are of no use for what is held now, and objects reached through names alone keep what they hold
    views = Views(then, {})
    joined = [
        (place, _joined(tracer, left.condition, place, then[key][1], held, views))
        for key, (place, held) in now.items()
        if key in journal.touched or identities(held) != identities(then[key][1])
    ]
    for place, value in joined:
        write(place, value)
    return now
