"""Statements of the user's code, followed on symbols (stage: tracing the user's Python).

In: statements of the syntax tree and a frame. Out: the frame's variables changed as Python would change them. An `if` on a symbolic condition is
followed in both branches; loops over concrete values unroll; what would have to be decided during the run is an error that names the line.
"""

from __future__ import annotations

import ast
import operator
import sys
import types
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import Any, Final, NoReturn

from tidegate.errors import ModelError, Origin, UntraceableError
from tidegate.expressions.nodes import Expr
from tidegate.expressions.tracing.assign import assign, assign_item, bind, delete, private_name, promoted
from tidegate.expressions.tracing.attributes import attribute, set_attribute
from tidegate.expressions.tracing.branch_changes import Namespace
from tidegate.expressions.tracing.branches import fork, in_scope
from tidegate.expressions.tracing.call_frames import BranchRaises, CallFrame, Closure, Flow
from tidegate.expressions.tracing.chosen_entries import entry_of
from tidegate.expressions.tracing.follow_expressions import BINARY, make_closure, note_division, pairs_over
from tidegate.expressions.tracing.looked_into import ARITHMETIC, look_into
from tidegate.expressions.tracing.patterns import matched
from tidegate.expressions.tracing.source import leaves_early, may_break
from tidegate.expressions.tracing.tracer import OPAQUE_HINT, Tracer
from tidegate.expressions.tracing.value_kinds import class_of, is_array
from tidegate.expressions.tracing.vector import is_symbolic

__all__ = ["run"]

_IN_PLACE: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
    ast.MatMult: operator.imatmul,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
}


_NAMED: Final = (ast.Name, ast.Attribute, ast.Subscript)
_MOST_EXITS: Final = 1000  # of a loop, each under a condition


def run(tracer: Tracer, statements: list[ast.stmt], frame: CallFrame) -> Flow:
    """Follow statements in turn until one of them leaves the block."""
    for statement in statements:
        tracer.position = (frame.file, statement)
        rule = _RULES.get(type(statement))
        if rule is None:
            raise tracer.error(f"`{type(statement).__name__}` cannot be followed on symbols")
        try:
            flow = rule(tracer, statement, frame)
        except BaseException as error:
            tracer.mark(error)
            raise
        if flow is not None and flow is not Flow.NEXT:
            return flow
    return Flow.NEXT


def _if(tracer: Tracer, node: ast.If, frame: CallFrame) -> Flow:
    test = tracer.truth(tracer.evaluate(tracer, node.test, frame))
    if not isinstance(test, Expr):
        return run(tracer, node.body if test else node.orelse, frame)
    flow = fork(tracer, frame, test, partial(run, tracer, node.body, frame), partial(run, tracer, node.orelse, frame))
    tracer.position = (frame.file, node.test)
    return flow


def _once(tracer: Tracer, node: ast.For | ast.While, frame: CallFrame, *, early: bool) -> Flow:
    """The body of a loop, once; ``early`` if a condition may leave it before its end."""
    if not early:
        return run(tracer, node.body, frame)
    return in_scope(tracer, frame, Flow.CONTINUE, partial(run, tracer, node.body, frame))


def _for(tracer: Tracer, node: ast.For, frame: CallFrame) -> Flow:
    items = pairs_over(tracer, node.iter, frame)

    def rounds() -> Flow:
        flow = _rounds_of_for(tracer, node, items, frame)
        is_left = may_break(node) and tracer.scopes[-1].exits
        if is_left and isinstance(node.iter, _NAMED) and hasattr(tracer.evaluate(tracer, node.iter, frame), "__next__"):
            raise tracer.error(
                "a loop over an iterator is left under a condition that depends on symbols; how far it is then would be known only during the run",
                "make a list of it first, and loop over that",
            )
        return flow

    return _loop(tracer, node, frame, rounds)


def _rounds_of_for(tracer: Tracer, node: ast.For, items: Iterator[tuple[Any, Expr]], frame: CallFrame) -> Flow:
    early = leaves_early(node)

    def once(item: Any) -> Flow:
        assign(tracer, node.target, item, frame)
        flow = _once(tracer, node, frame, early=early)
        return Flow.NEXT if flow is Flow.CONTINUE else flow

    for item, condition in items:
        is_there = tracer.truth(condition)
        if isinstance(is_there, Expr):
            flow = fork(tracer, frame, is_there, partial(once, item), lambda: Flow.NEXT)
        else:
            flow = once(item) if is_there else Flow.NEXT
        if flow in (Flow.RETURN, Flow.BREAK):
            return flow
        _check_exits(tracer, node, frame)
    return Flow.NEXT


def _while(tracer: Tracer, node: ast.While, frame: CallFrame) -> Flow:
    return _loop(tracer, node, frame, partial(_rounds_of_while, tracer, node, frame))


def _rounds_of_while(tracer: Tracer, node: ast.While, frame: CallFrame) -> Flow:
    early = leaves_early(node)
    while True:
        tracer.position = (frame.file, node.test)
        test = tracer.truth(tracer.evaluate(tracer, node.test, frame))
        if isinstance(test, Expr):
            fork(tracer, frame, test, lambda: Flow.NEXT, partial(_end_of_while, tracer, node, frame))
        elif not test:
            return Flow.NEXT
        flow = _once(tracer, node, frame, early=early)
        if flow in (Flow.RETURN, Flow.BREAK):
            return flow
        _check_exits(tracer, node, frame)


def _end_of_while(tracer: Tracer, node: ast.While, frame: CallFrame) -> Flow:
    """Where its condition does not hold any more, the loop is left behind its `else`."""
    if any(map(may_break, node.orelse)):
        raise tracer.error("`break` in the `else` of a `while` whose condition depends on symbols", "write it behind the loop, under a condition")
    flow = run(tracer, node.orelse, frame)
    return Flow.BREAK if flow is Flow.NEXT else flow


def _loop(tracer: Tracer, node: ast.For | ast.While, frame: CallFrame, rounds: Callable[[], Flow]) -> Flow:
    """All rounds of a loop, and its `else`; what has left it by `break` in a branch goes on behind it."""
    if isinstance(node, ast.For) and not may_break(node):
        flow = rounds()
        return run(tracer, node.orelse, frame) if flow is Flow.NEXT else flow

    def follow() -> Flow:
        flow = rounds()
        tracer.scopes[-1].is_over = True
        if flow is Flow.NEXT:
            return run(tracer, node.orelse, frame)
        return Flow.NEXT if flow is Flow.BREAK else flow

    return in_scope(tracer, frame, Flow.BREAK, follow)


def _check_exits(tracer: Tracer, node: ast.For | ast.While, frame: CallFrame) -> None:
    """Refuse a loop that is left under conditions again and again."""
    loop = tracer.scopes[-1] if tracer.scopes else None
    if loop is not None and loop.kind is Flow.BREAK and len(loop.exits) > _MOST_EXITS:
        tracer.position = (frame.file, node.test if isinstance(node, ast.While) else node.iter)
        what = "while" if isinstance(node, ast.While) else "for"
        raise tracer.error(
            f"a `{what}` loop of more than {_MOST_EXITS} rounds, of each of which is known only during the run whether it is the last",
            "give it a limit, as `for _ in range(20)` or `while error > 1e-9 and n < 20`; or " + OPAQUE_HINT,
        )


def _return(tracer: Tracer, node: ast.Return, frame: CallFrame) -> Flow:
    frame.result = None if node.value is None else tracer.value_of(node.value, frame, is_handed_on=tracer.returns_partly())
    frame.return_node = frame.return_node or node.value
    return Flow.RETURN


def _expression(tracer: Tracer, node: ast.Expr, frame: CallFrame) -> None:
    said = node.value
    if tracer.make_equation is not None and isinstance(said, ast.Compare) and isinstance(said.ops[0], ast.Eq):
        text = ast.unparse(said)
        raise ModelError(f"`{text}` stands there alone, and says nothing", origin=tracer.here(), hint=f"write `yield {text}`")
    tracer.evaluate(tracer, node.value, frame)


def _assign(tracer: Tracer, node: ast.Assign, frame: CallFrame) -> None:
    value = tracer.value_of(node.value, frame, is_handed_on=all(isinstance(target, ast.Name) for target in node.targets))
    for target in node.targets:
        assign(tracer, target, value, frame)


def _annotated(tracer: Tracer, node: ast.AnnAssign, frame: CallFrame) -> None:
    if node.value is not None:
        assign(tracer, node.target, tracer.evaluate(tracer, node.value, frame), frame)


def _augmented(tracer: Tracer, node: ast.AugAssign, frame: CallFrame) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        old = tracer.usable(frame.lookup(target.id), target.id, is_handed_on=isinstance(node.op, ast.BitOr))
        new = _changed(tracer, node, old, frame)
        bind(tracer, target.id, new, frame)
    elif isinstance(target, ast.Attribute):
        place, name = tracer.evaluate(tracer, target.value, frame), private_name(target.attr, frame)
        new = _changed(tracer, node, tracer.usable(attribute(tracer, place, name), name), frame)
        set_attribute(tracer, place, name, new)
    else:
        place, index = tracer.evaluate(tracer, target.value, frame), tracer.evaluate(tracer, target.slice, frame)
        new = _changed(tracer, node, tracer.usable(entry_of(tracer, place, index), target), frame, place)
        place = tracer.evaluate(tracer, target.value, frame)
        assign_item(tracer, place, index, new)


def _changed(tracer: Tracer, node: ast.AugAssign, old: Any, frame: CallFrame, place: Any = None) -> Any:
    """What ``old`` in ``place`` becomes: the same object, where it can be changed."""
    value = tracer.evaluate(tracer, node.value, frame)
    tracer.position = (frame.file, node)
    if is_array(old) and isinstance(node.target, ast.Name):
        old = promoted(tracer, old, value)
    elif is_array(old) and old.dtype != object and is_symbolic(value):
        if not is_array(place):
            raise tracer.error(
                "an array of numbers that stands in a list or an object is changed in place by a symbolic value",
                "write it as `a = a + b`; or make the array of expressions, np.array([*y]) or np.zeros(n)",
            )
        return BINARY[type(node.op)](old, value)
    tracer.touch(old)
    note_division(tracer, node.op, old, value)
    look_into(tracer, ARITHMETIC, old, value)
    new = _IN_PLACE.get(type(node.op), BINARY[type(node.op)])(old, value)
    tracer.note(new)
    return new


def _assert(tracer: Tracer, node: ast.Assert, frame: CallFrame) -> None:
    test = tracer.truth(tracer.evaluate(tracer, node.test, frame))
    if isinstance(test, Expr):
        if tracer.ends is None or tracer.tries:
            what = f"`assert` on the condition `{test!r}`, which depends on symbols"
            raise tracer.error(what, "state it as an event that ends the run, or leave it out of the model")

        def fails() -> Flow:
            tracer.position = (frame.file, node)
            _end(tracer)

        fork(tracer, frame, test, lambda: Flow.NEXT, fails)
    elif not test and tracer.assumptions and tracer.ends is not None and not tracer.tries:
        _end(tracer)
    elif not test:
        raise AssertionError(None if node.msg is None else tracer.evaluate(tracer, node.msg, frame))


def _raise(tracer: Tracer, node: ast.Raise, frame: CallFrame) -> None:
    if tracer.assumptions and tracer.ends is not None and not tracer.tries:
        _end(tracer)
    if tracer.assumptions:
        condition = tracer.assumed_since(0)
        raise tracer.error(
            f"`raise` in a branch that depends on symbols (`{condition!r}`)", "use an event that ends the run, or leave it out of the model"
        )
    if node.exc is None:
        if frame.handling is None:
            raise RuntimeError("no exception to raise again")
        raise frame.handling
    error = tracer.evaluate(tracer, node.exc, frame)
    if node.cause is None:
        raise error
    raise error from tracer.evaluate(tracer, node.cause, frame)


def _end(tracer: Tracer) -> NoReturn:
    """Note that the run ends where the function that is followed would come to where it is now, and leave the branch."""
    assert tracer.ends is not None
    condition = tracer.assumed_since(0)
    tracer.ends.append(condition)
    # nothing says it better than the line itself, if the run comes to it
    tracer.condition_origins[condition.args[0] if condition.op == "not" else condition] = tracer.here()
    raise BranchRaises


def _try(tracer: Tracer, node: ast.Try, frame: CallFrame) -> Flow:
    scopes, mark = list(tracer.scopes), len(tracer.departures)
    tracer.tries += 1
    try:
        flow = _guarded(tracer, node, frame)
    except Exception:
        last = run(tracer, node.finalbody, frame)
        if last is not Flow.NEXT:
            return last
        raise
    finally:
        tracer.tries -= 1
    if node.finalbody and any(item.scope in scopes for item in tracer.departures[mark:]):
        raise tracer.error(
            "`return` or `continue` under a condition that depends on symbols inside a `try` with `finally`",
            "leave the `try` in both branches or in none; in a model nothing has to be cleaned up",
        )
    last = run(tracer, node.finalbody, frame)
    return flow if last is Flow.NEXT else last


def _guarded(tracer: Tracer, node: ast.Try, frame: CallFrame) -> Flow:
    """The body with its handlers, or what follows it if nothing is raised."""
    depth, outer, tracer.may_raise = len(tracer.assumptions), tracer.may_raise, []
    try:
        flow = run(tracer, node.body, frame)
    except Exception as error:
        handler = _handler(tracer, node, error, frame)
        if handler is None:
            raise
        if tracer.failure is not None and tracer.failure[2] > depth:
            raise tracer.error(
                f"`try` around an exception ({type(error).__name__}) in a branch that depends on symbols", at=tracer.failure[1]
            ) from error
        return _handled(tracer, handler, error, frame)
    finally:
        found, tracer.may_raise = tracer.may_raise, [*outer, *tracer.may_raise]
    _check_handlers(tracer, node, found, frame)
    return run(tracer, node.orelse, frame) if flow is Flow.NEXT else flow


def _handled(tracer: Tracer, handler: ast.ExceptHandler, error: Exception, frame: CallFrame) -> Flow:
    if handler.name is not None:
        bind(tracer, handler.name, error, frame)
    outer, frame.handling = frame.handling, error
    try:
        return run(tracer, handler.body, frame)
    finally:
        frame.handling = outer


def _check_handlers(tracer: Tracer, node: ast.Try, found: list[tuple[type[Exception], Origin]], frame: CallFrame) -> None:
    """Refuse handlers of what an operation on symbols may raise when it meets numbers."""
    for handler in node.handlers:
        kinds: Any = Exception if handler.type is None else tracer.evaluate(tracer, handler.type, frame)
        for kind, origin in found:
            if issubclass(kind, kinds):
                raise tracer.error(
                    f"`except` would catch a {kind.__name__} that this operation raises for some values; which ones is known only during the run",
                    "ask before: `if x != 0:` instead of `except ZeroDivisionError`, `if x >= 0:` before a square root; or " + OPAQUE_HINT,
                    at=origin,
                )


def _handler(tracer: Tracer, node: ast.Try, error: Exception, frame: CallFrame) -> ast.ExceptHandler | None:
    if isinstance(error, UntraceableError):
        return None
    for handler in node.handlers:
        if handler.type is None or isinstance(error, tracer.evaluate(tracer, handler.type, frame)):
            return handler
    return None


def _with(tracer: Tracer, node: ast.With, frame: CallFrame) -> Flow:
    return _with_items(tracer, node, node.items, frame)


def _with_items(tracer: Tracer, node: ast.With, items: list[ast.withitem], frame: CallFrame) -> Flow:
    if not items:
        return run(tracer, node.body, frame)
    head, *rest = items
    given: Any = tracer.evaluate(tracer, head.context_expr, frame)
    if tracer.assumptions and hasattr(given, "gen") and hasattr(given, "__enter__"):
        raise tracer.error(
            "a context manager that is a generator, in a branch that depends on symbols: what it changes would be changed in both",
            "write it as a class, with __enter__ and __exit__; or enter it outside of the branch",
        )
    with _entered(tracer, given) as value:
        if head.optional_vars is not None:
            assign(tracer, head.optional_vars, value, frame)
        return _with_items(tracer, node, rest, frame)
    return Flow.NEXT


@contextmanager
def _entered(tracer: Tracer, given: Any) -> Generator[Any]:
    """A context manager; one whose methods are Python functions has them followed, unless an exception leaves it."""
    kind = class_of(given)
    if not all(isinstance(getattr(kind, name, None), FunctionType | Closure) for name in ("__enter__", "__exit__")):
        with given as value:
            yield value
        return
    value = tracer.call(tracer, kind.__enter__, (given,), {})
    try:
        yield value
    except Exception:
        if not given.__exit__(*sys.exc_info()):
            raise
    else:
        tracer.call(tracer, kind.__exit__, (given, None, None, None), {})


def _match(tracer: Tracer, node: ast.Match, frame: CallFrame) -> Flow:
    return _cases(tracer, tracer.evaluate(tracer, node.subject, frame), node.cases, frame)


def _cases(tracer: Tracer, subject: Any, cases: list[ast.match_case], frame: CallFrame) -> Flow:
    """The first of these cases that matches, and whose guard holds."""
    if not cases:
        return Flow.NEXT
    case, *rest = cases
    tracer.position = (frame.file, case.pattern)
    condition, names = matched(tracer, subject, case.pattern, frame)
    test = tracer.truth(condition)

    def other() -> Flow:
        return _cases(tracer, subject, rest, frame)

    def take() -> Flow:
        for name, value in names.items():
            bind(tracer, name, value, frame)
        if case.guard is None:
            return run(tracer, case.body, frame)
        allowed = tracer.truth(tracer.evaluate(tracer, case.guard, frame))
        if isinstance(allowed, Expr):
            return fork(tracer, frame, allowed, partial(run, tracer, case.body, frame), other)
        return run(tracer, case.body, frame) if allowed else other()

    if isinstance(test, Expr):
        return fork(tracer, frame, test, take, other)
    return take() if test else other()


def _function(tracer: Tracer, node: ast.FunctionDef, frame: CallFrame) -> None:
    value: Any = make_closure(tracer, node, frame)
    for decorator in reversed(node.decorator_list):
        value = tracer.call(tracer, tracer.evaluate(tracer, decorator, frame), (value,), {})
    bind(tracer, node.name, value, frame)


def _class(tracer: Tracer, node: ast.ClassDef, frame: CallFrame) -> None:
    bases = tuple(tracer.evaluate(tracer, base, frame) for base in node.bases)
    keywords = {item.arg: tracer.evaluate(tracer, item.value, frame) for item in node.keywords if item.arg is not None}
    body = CallFrame(frame.file, node.name, frame.globals, Namespace(), frame.cells, frame, node.name, "class")
    body.variables["__module__"], body.variables["__qualname__"] = frame.globals.get("__name__", ""), node.name
    run(tracer, node.body, body)
    value: Any = types.new_class(node.name, bases, keywords, lambda space: space.update(body.variables))
    for decorator in reversed(node.decorator_list):
        value = tracer.call(tracer, tracer.evaluate(tracer, decorator, frame), (value,), {})
    bind(tracer, node.name, value, frame)


def _import(tracer: Tracer, node: ast.Import | ast.ImportFrom, frame: CallFrame) -> None:
    space: dict[str, Any] = {}
    scope_names = {key: frame.globals[key] for key in ("__name__", "__package__", "__spec__", "__builtins__") if key in frame.globals}
    exec(compile(ast.Module([node], []), frame.file.name, "exec"), scope_names, space)  # noqa: S102 - an import of the user's own code
    for name, value in space.items():
        bind(tracer, name, value, frame)


def _declare(_tracer: Tracer, node: ast.Global | ast.Nonlocal, frame: CallFrame) -> None:
    kind = "global" if isinstance(node, ast.Global) else "nonlocal"
    frame.outer_names.update(dict.fromkeys(node.names, kind))


def _delete(tracer: Tracer, node: ast.Delete, frame: CallFrame) -> None:
    for target in node.targets:
        delete(tracer, target, frame)


def _pass(_tracer: Tracer, _node: ast.stmt, _frame: CallFrame) -> None:
    return None


def _break(_tracer: Tracer, _node: ast.Break, _frame: CallFrame) -> Flow:
    return Flow.BREAK


def _continue(_tracer: Tracer, _node: ast.Continue, _frame: CallFrame) -> Flow:
    return Flow.CONTINUE


_RULES: Final[dict[type[ast.stmt], Callable[[Tracer, Any, CallFrame], Flow | None]]] = {
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Try: _try,
    ast.With: _with,
    ast.Match: _match,
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Global: _declare,
    ast.Nonlocal: _declare,
    ast.Delete: _delete,
    ast.Pass: _pass,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.TypeAlias: _pass,
}
