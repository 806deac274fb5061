"""Expressions of the user's code, followed on symbols (stage: tracing the user's Python).

In: an expression of the syntax tree and a frame. Out: its value, as Python would compute it, except that `and`, `or`, `not`, comparisons and
conditional expressions of symbolic values become nodes of the graph instead of being decided.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from tidegate.expressions.chosen_texts import NamingText, is_unknown_text
from tidegate.expressions.nodes import TRUE, Expr, as_boolean, is_condition
from tidegate.expressions.scipy_functions import is_sparse, product_with_sparse
from tidegate.expressions.tracing.assign import assign, private_name
from tidegate.expressions.tracing.attributes import attribute
from tidegate.expressions.tracing.branch_changes import EMPTY
from tidegate.expressions.tracing.branches import fork
from tidegate.expressions.tracing.call_frames import CallFrame, Closure, Flow, Yielded
from tidegate.expressions.tracing.chosen_entries import entry_of
from tidegate.expressions.tracing.conditional_calls import as_list
from tidegate.expressions.tracing.conditional_elements import FollowedGenerator, length_is_unknown, pairs_of
from tidegate.expressions.tracing.follow_calls import is_followed
from tidegate.expressions.tracing.is_and_type import among_numbers, check_key, check_member, equal_sequences, is_among_numbers, same_object
from tidegate.expressions.tracing.looked_into import ARITHMETIC, COMPARISON, ITERATION, MEMBERSHIP, TEXT, look_into, look_into_all
from tidegate.expressions.tracing.merge import filled
from tidegate.expressions.tracing.source import FunctionSource
from tidegate.expressions.tracing.tracer import Tracer
from tidegate.expressions.tracing.unknown_texts import are_members, by_texts, computed, equal_texts, has_unknown_text, is_member
from tidegate.expressions.tracing.value_kinds import is_array
from tidegate.expressions.tracing.vector import is_symbolic, plain, stored

__all__ = ["BINARY", "evaluate", "make_closure", "note_division", "pairs_over"]

BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_CONVERSIONS: Final[dict[int, Callable[[Any], str]]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}
_JUMPING: Final = (ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)


def evaluate(tracer: Tracer, node: ast.expr, frame: CallFrame) -> Any:
    """The value of an expression."""
    tracer.position = (frame.file, node)
    rule = _RULES.get(type(node))
    if rule is None:
        raise tracer.error(f"`{type(node).__name__.lower()}` cannot be followed on symbols")
    return rule(tracer, node, frame)


def _constant(_tracer: Tracer, node: ast.Constant, _frame: CallFrame) -> Any:
    return node.value


def _name(tracer: Tracer, node: ast.Name, frame: CallFrame) -> Any:
    return tracer.usable(frame.lookup(node.id), node.id, is_handed_on=tracer.handed_on is node)


def _binary(tracer: Tracer, node: ast.BinOp, frame: CallFrame) -> Any:
    are_handed_on = tracer.handed_on is node and isinstance(node.op, ast.BitOr)
    left, right = (tracer.value_of(part, frame, is_handed_on=are_handed_on) for part in (node.left, node.right))
    tracer.position = (frame.file, node)
    if id(left) in tracer.partly or id(right) in tracer.partly:
        return _laid_over(tracer, _laid_over(tracer, {}, left), right)
    note_division(tracer, node.op, left, right)
    look_into(tracer, ARITHMETIC, left, right)
    if has_unknown_text(left, right):
        return computed(tracer, BINARY[type(node.op)], left, right)
    if isinstance(node.op, ast.MatMult) and (is_sparse(left) or is_sparse(right)) and is_symbolic(left, right):
        return stored(product_with_sparse(plain(left), plain(right)))
    value = BINARY[type(node.op)](left, right)
    if isinstance(value, list):
        tracer.made(value)
    elif is_array(value) and value.dtype == object:
        return _noted(tracer, node, stored(value))
    return _noted(tracer, node, value)


def note_division(tracer: Tracer, operation: ast.operator, left: Any, right: Any) -> None:
    """Remember, for a `try` around it, that an operation on symbols may raise when it meets numbers."""
    if isinstance(operation, ast.Div | ast.FloorDiv | ast.Mod | ast.Pow) and is_symbolic(left if isinstance(operation, ast.Pow) else right, right):
        tracer.may_raise.append((ZeroDivisionError, tracer.here()))
        if isinstance(operation, ast.Pow):
            tracer.may_raise.append((OverflowError, tracer.here()))


def _noted(tracer: Tracer, node: ast.BinOp, value: Any) -> Any:
    if isinstance(node.op, _JUMPING):
        tracer.note(value)
    return value


def _unary(tracer: Tracer, node: ast.UnaryOp, frame: CallFrame) -> Any:
    value = evaluate(tracer, node.operand, frame)
    tracer.position = (frame.file, node)
    if not isinstance(node.op, ast.Not):
        look_into(tracer, ARITHMETIC, value)
    if isinstance(node.op, ast.USub | ast.UAdd):
        sign = operator.neg if isinstance(node.op, ast.USub) else operator.pos
        return by_texts(tracer, sign, value) if is_unknown_text(value) else sign(value)
    if isinstance(node.op, ast.Invert):
        result = ~value
    else:
        test = tracer.truth(value)
        result = ~test if isinstance(test, Expr) else not test
    tracer.note(result)
    return result


def _boolean(tracer: Tracer, node: ast.BoolOp, frame: CallFrame) -> Any:
    return _operands(tracer, node, frame, 0)


def _operands(tracer: Tracer, node: ast.BoolOp, frame: CallFrame, at: int) -> Any:
    """The value of `and` or `or` from one operand on; the later ones are followed under what the earlier ones imply."""
    value = evaluate(tracer, node.values[at], frame)
    if at == len(node.values) - 1:
        return value
    is_and = isinstance(node.op, ast.And)
    tracer.position = (frame.file, node.values[at])
    test = tracer.truth(value)
    if not isinstance(test, Expr):
        if test is is_and:
            return _operands(tracer, node, frame, at + 1)
        return test if isinstance(value, Expr) and value.is_boolean else value
    rest = _under(tracer, frame, test, is_and, node.values[at + 1 :], lambda: _operands(tracer, node, frame, at + 1))
    tracer.position = (frame.file, node)
    if is_condition(value) and is_condition(rest):
        result = test & as_boolean(rest) if is_and else test | as_boolean(rest)
    else:
        first, second = (rest, value) if is_and else (value, rest)
        result = tracer.merge(test, first, second, f"the value of `{'and' if is_and else 'or'}`")
    tracer.note(result)
    return result


def _under(tracer: Tracer, frame: CallFrame, test: Expr, truth: bool, parts: list[ast.expr], follow: Callable[[], Any]) -> Any:
    """What parts of an expression give that Python only looks at where a condition is ``truth``; what they change is changed there only."""
    if any(isinstance(inner, _MAY_CHANGE) for part in parts for inner in ast.walk(part)):
        values: list[Any] = []

        def followed() -> Flow:
            values.append(follow())
            return Flow.NEXT

        def nothing() -> Flow:
            return Flow.NEXT

        fork(tracer, frame, test, followed if truth else nothing, nothing if truth else followed)
        return values[0]
    depth = len(tracer.assumptions)
    tracer.assume(test, truth)
    try:
        return follow()
    finally:
        del tracer.assumptions[depth:]


def _compare(tracer: Tracer, node: ast.Compare, frame: CallFrame) -> Any:
    result = _chain(tracer, node, frame, 0, evaluate(tracer, node.left, frame))
    tracer.note(result)
    return result


def _chain(tracer: Tracer, node: ast.Compare, frame: CallFrame, at: int, left: Any) -> Any:
    """The value of ``left < b < c`` from one comparison on; the later ones are looked at where the earlier ones hold."""
    right = evaluate(tracer, node.comparators[at], frame)
    tracer.position = (frame.file, node)
    single = _compared(tracer, node.ops[at], left, right)
    if at == len(node.ops) - 1 or (not isinstance(single, Expr) and not single):
        return single
    if not isinstance(single, Expr):
        return _chain(tracer, node, frame, at + 1, right)
    rest = _under(tracer, frame, as_boolean(single), True, node.comparators[at + 1 :], lambda: _chain(tracer, node, frame, at + 1, right))
    return as_boolean(single) & as_boolean(rest)


def _compared(tracer: Tracer, kind: ast.cmpop, left: Any, right: Any) -> Any:
    if isinstance(kind, ast.Is | ast.IsNot) and are_members(left, right):
        kind = ast.Eq() if isinstance(kind, ast.Is) else ast.NotEq()
    if isinstance(kind, ast.Is | ast.IsNot):
        return same_object(tracer, left, right) is isinstance(kind, ast.Is)
    look_into_all(tracer, (left, right), COMPARISON)
    if isinstance(kind, ast.In | ast.NotIn):
        look_into(tracer, MEMBERSHIP, right)
        has_texts = is_unknown_text(left) or has_unknown_text(right)
        if has_texts or is_among_numbers(left, right):
            found = is_member(tracer, left, right) if has_texts else among_numbers(left, right)
            return found if isinstance(kind, ast.In) else ~as_boolean(found)
        check_member(tracer, left, right)
    elif isinstance(kind, ast.Eq | ast.NotEq):
        is_one = is_unknown_text(left) or is_unknown_text(right)
        equal = equal_texts(tracer, left, right) if is_one else equal_sequences(left, right)
        if equal is not None:
            return equal if isinstance(kind, ast.Eq) else ~equal if isinstance(equal, Expr) else not equal
    elif is_unknown_text(left) or is_unknown_text(right):
        return by_texts(tracer, _COMPARISONS[type(kind)], left, right)
    # NumPy would ask each condition whether it is true
    if is_array(left) and isinstance(right, Expr):
        left = stored(left.astype(object))
    elif is_array(right) and isinstance(left, Expr):
        right = stored(right.astype(object))
    return _COMPARISONS[type(kind)](left, right)


def _conditional(tracer: Tracer, node: ast.IfExp, frame: CallFrame) -> Any:
    is_handed_on = tracer.handed_on is node
    test = tracer.truth(evaluate(tracer, node.test, frame))
    if not isinstance(test, Expr):
        return tracer.value_of(node.body if test else node.orelse, frame, is_handed_on=is_handed_on)
    values: dict[bool, Any] = {}

    def branch(truth: bool, part: ast.expr) -> Callable[[], Flow]:
        def follow() -> Flow:
            values[truth] = tracer.value_of(part, frame, is_handed_on=is_handed_on)
            return Flow.NEXT

        return follow

    fork(tracer, frame, test, branch(True, node.body), branch(False, node.orelse))
    tracer.position = (frame.file, node)
    result = tracer.merge(test, values[True], values[False], "the conditional expression", partly=is_handed_on)
    tracer.note(result)
    return result


def _call(tracer: Tracer, node: ast.Call, frame: CallFrame) -> Any:
    special = _own_frame_call(node, frame)
    if special is not None:
        return special
    is_handed_on = tracer.handed_on is node
    function = evaluate(tracer, node.func, frame)
    held: Any = getattr(function, "__self__", None)
    is_update = type(held) is dict and getattr(function, "__name__", "") == "update" and len(node.args) == 1 and not node.keywords
    args = (tracer.value_of(node.args[0], frame, is_handed_on=True),) if is_update else tuple(_spread(tracer, node.args, frame))
    if is_update and id(args[0]) in tracer.partly:
        tracer.touch(held)
        _laid_over(tracer, cast("dict[Any, Any]", held), args[0])
        return None
    kwargs: dict[str, Any] = {}
    for item in node.keywords:
        value = evaluate(tracer, item.value, frame)
        if item.arg is None:
            look_into(tracer, ITERATION, value)
            kwargs.update({key: value[key] for key in value.keys()})  # noqa: SIM118 - a vector iterates over elements
        else:
            kwargs[item.arg] = value
    tracer.position = (frame.file, node)
    depth = len(tracer.frames) + 1
    if is_handed_on and is_followed(function):
        tracer.hands_on.add(depth)
    try:
        result = tracer.call(tracer, function, args, kwargs)
    finally:
        tracer.hands_on.discard(depth)
    tracer.position = (frame.file, node)
    tracer.note(result)
    return tracer.usable(result, "the returned value", is_handed_on=is_handed_on)


def _own_frame_call(node: ast.Call, frame: CallFrame) -> Any:
    """Calls that look at the frame they stand in: ``super()``, ``locals()``, ``globals()``."""
    if not isinstance(node.func, ast.Name) or node.args or node.keywords:
        return None
    home = frame.binding_frame()
    if node.func.id == "super":
        return _parent(frame.lookup("__class__"), home.variables[home.first_argument])
    if node.func.id == "locals":
        return dict(home.variables)
    return home.globals if node.func.id == "globals" else None


def _parent(enclosing: Any, instance: Any) -> Any:
    # the type checker knows no class here
    return super(enclosing, instance)  # pyright: ignore[reportUnknownVariableType]


def _spread(tracer: Tracer, items: list[ast.expr], frame: CallFrame) -> Iterator[Any]:
    for item in items:
        if isinstance(item, ast.Starred):
            spread = evaluate(tracer, item.value, frame)
            look_into(tracer, ITERATION, spread)
            tracer.consumed(spread)
            yield from spread
        else:
            yield evaluate(tracer, item, frame)


def _attribute(tracer: Tracer, node: ast.Attribute, frame: CallFrame) -> Any:
    value = tracer.value_of(node.value, frame, is_handed_on=node.attr == "update")
    tracer.position = (frame.file, node)
    return tracer.usable(attribute(tracer, value, private_name(node.attr, frame)), node.attr)


def _subscript(tracer: Tracer, node: ast.Subscript, frame: CallFrame) -> Any:
    value, index = evaluate(tracer, node.value, frame), evaluate(tracer, node.slice, frame)
    tracer.position = (frame.file, node)
    if value is frame.globals and isinstance(index, str) and index in value:
        frame.lookup_global(index)  # remembers it
    found = by_texts(tracer, operator.getitem, value, index) if is_unknown_text(value) else entry_of(tracer, value, index)
    if type(found) is list:
        tracer.made(found) if isinstance(node.slice, ast.Slice) else None
    return tracer.usable(found, node)


def _slice(tracer: Tracer, node: ast.Slice, frame: CallFrame) -> Any:
    ends = [None if part is None else evaluate(tracer, part, frame) for part in (node.lower, node.upper, node.step)]
    return slice(*ends)


def _list(tracer: Tracer, node: ast.List, frame: CallFrame) -> Any:
    return tracer.made(list(_spread(tracer, node.elts, frame)))


def _tuple(tracer: Tracer, node: ast.Tuple, frame: CallFrame) -> Any:
    return tuple(_spread(tracer, node.elts, frame))


def _set(tracer: Tracer, node: ast.Set, frame: CallFrame) -> Any:
    return tracer.made({_element(tracer, item) for item in _spread(tracer, node.elts, frame)})


def _element(tracer: Tracer, item: Any) -> Any:
    check_key(tracer, item, frozenset())
    return item


def _dict(tracer: Tracer, node: ast.Dict, frame: CallFrame) -> Any:
    entries: dict[Any, Any] = {}
    is_handed_on = tracer.handed_on is node
    for key, item in zip(node.keys, node.values, strict=True):
        if key is None:
            _laid_over(tracer, entries, tracer.value_of(item, frame, is_handed_on=is_handed_on))
        else:
            name = evaluate(tracer, key, frame)
            if tracer.merge_returns is None:  # what a body returns is read by the front end
                check_key(tracer, name)
            entries[name] = evaluate(tracer, item, frame)
    return tracer.made(entries)


def _laid_over(tracer: Tracer, entries: dict[Any, Any], over: Any) -> dict[Any, Any]:
    """A dictionary with the entries of another in place of its own; its own stay where a condition decides that the other has none."""
    for name in over.keys():  # noqa: SIM118 - a vector iterates over elements
        entries[name] = filled(over[name], entries.get(name, EMPTY))
    return tracer.has_keys_of(over, entries)


def _elements(
    tracer: Tracer, element: ast.expr, generators: list[ast.comprehension], frame: CallFrame, over: Iterator[tuple[Any, Expr]] | None = None
) -> Iterator[tuple[Any, Expr]]:
    """Every element of nested comprehension loops, and the condition that it is there; ``over`` is what the outermost runs over."""
    head, *rest = generators
    for item, condition in pairs_over(tracer, head.iter, frame) if over is None else over:
        assign(tracer, head.target, item, frame)
        if condition is TRUE:
            yield from _filtered(tracer, element, head.ifs, rest, frame)
        else:
            for value, other in _under_condition(tracer, element, condition, head.ifs, rest, frame):
                yield value, condition & other


def _under_condition(
    tracer: Tracer, element: ast.expr, condition: Expr, tests: list[ast.expr], rest: list[ast.comprehension], frame: CallFrame
) -> list[tuple[Any, Expr]]:
    """Those of a round that is there under a condition."""
    parts = [element, *tests, *(part for item in rest for part in (item.iter, *item.ifs))]
    return _under(tracer, frame, condition, True, parts, lambda: list(_filtered(tracer, element, tests, rest, frame)))


def _filtered(
    tracer: Tracer, element: ast.expr, tests: list[ast.expr], rest: list[ast.comprehension], frame: CallFrame
) -> Iterator[tuple[Any, Expr]]:
    """Those of one round of the outermost loop, as far as these tests let them be there."""
    if not tests:
        if rest:
            yield from _elements(tracer, element, rest, frame)
        else:
            yield evaluate(tracer, element, frame), TRUE
        return
    first, *others = tests
    test = tracer.truth(evaluate(tracer, first, frame))
    if isinstance(test, Expr):
        for value, condition in _under_condition(tracer, element, test, others, rest, frame):
            yield value, test & condition
    elif test:
        yield from _filtered(tracer, element, others, rest, frame)


def _certain(tracer: Tracer, elements: Iterator[tuple[Any, Expr]]) -> Iterator[Any]:
    """The elements of what cannot hold some under conditions."""
    for value, condition in elements:
        if condition is not TRUE:
            hint = "keep every element and choose its value: `[a if condition else 0.0 for a in ...]`"
            raise length_is_unknown(condition, tracer.here(), hint)
        yield value


def pairs_over(tracer: Tracer, node: ast.expr, frame: CallFrame) -> Iterator[tuple[Any, Expr]]:
    """What a loop runs over, each with the condition that it is there."""
    value = evaluate(tracer, node, frame)
    if isinstance(value, Expr):
        raise tracer.error(f"a loop over `{value!r}`, which is a single symbolic number")
    look_into(tracer, ITERATION, value)
    tracer.consumed(value)
    tracer.taken_in_turn(value)
    return iter(pairs_of(value))


def _inner(frame: CallFrame) -> CallFrame:
    return CallFrame(frame.file, frame.name, frame.globals, parent=frame, class_name=frame.class_name, kind="comprehension", yields=frame.yields)


def _list_comprehension(tracer: Tracer, node: ast.ListComp, frame: CallFrame) -> Any:
    return tracer.made(as_list(tracer, _elements(tracer, node.elt, node.generators, _inner(frame))))


def _set_comprehension(tracer: Tracer, node: ast.SetComp, frame: CallFrame) -> Any:
    elements = _elements(tracer, node.elt, node.generators, _inner(frame))
    return tracer.made({_element(tracer, item) for item in _certain(tracer, elements)})


def _dict_comprehension(tracer: Tracer, node: ast.DictComp, frame: CallFrame) -> Any:
    entries: dict[Any, Any] = {}
    pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node.key)
    for name, value in _certain(tracer, _elements(tracer, pair, node.generators, _inner(frame))):
        check_key(tracer, name)
        entries[name] = value
    return tracer.made(entries)


def _generator(tracer: Tracer, node: ast.GeneratorExp, frame: CallFrame) -> Any:
    inner = _inner(frame)
    over = pairs_over(tracer, node.generators[0].iter, frame)  # at once, as Python does
    return tracer.made(FollowedGenerator(_elements(tracer, node.elt, node.generators, inner, over)))


def make_closure(tracer: Tracer, node: ast.Lambda | ast.FunctionDef, frame: CallFrame) -> Closure:
    """A function defined inside the trace."""
    wanted = node.args
    positional = [item.arg for item in (*wanted.posonlyargs, *wanted.args)]
    defaults = {
        name: evaluate(tracer, value, frame)
        for name, value in zip(positional[len(positional) - len(wanted.defaults) :], wanted.defaults, strict=True)
    }
    for item, value in zip(wanted.kwonlyargs, wanted.kw_defaults, strict=True):
        if value is not None:
            defaults[item.arg] = evaluate(tracer, value, frame)
    parent = frame.parent if frame.kind == "class" else frame
    source = FunctionSource(node, frame.file, frame.class_name)

    def follow(closure: Closure, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return tracer.call(tracer, closure, args, kwargs)

    return Closure(source, frame.globals, defaults, follow, frame.cells if parent is None else {}, parent)


def _named(tracer: Tracer, node: ast.NamedExpr, frame: CallFrame) -> Any:
    value = evaluate(tracer, node.value, frame)
    assign(tracer, node.target, value, frame.binding_frame())
    return value


def _formatted(tracer: Tracer, node: ast.FormattedValue, frame: CallFrame) -> Any:
    value = evaluate(tracer, node.value, frame)
    pattern = "" if node.format_spec is None else evaluate(tracer, node.format_spec, frame)
    look_into_all(tracer, (value,), TEXT)

    def written(one: Any) -> str:
        shown: Any = _CONVERSIONS[node.conversion](one) if node.conversion in _CONVERSIONS else one
        return NamingText(repr(shown), shown) if isinstance(shown, Expr) else format(shown, pattern)

    return by_texts(tracer, written, value)


def _joined(tracer: Tracer, node: ast.JoinedStr, frame: CallFrame) -> Any:
    return by_texts(tracer, _put_together, *(evaluate(tracer, part, frame) for part in node.values))


def _put_together(*parts: Any) -> str:
    item = next((part.item for part in parts if isinstance(part, NamingText)), None)
    text = "".join(map(str, parts))
    return text if item is None else NamingText(text, item)


def _yield(tracer: Tracer, node: ast.Yield, frame: CallFrame) -> Any:
    home = frame.binding_frame()
    item = node.value
    is_equation = tracer.make_equation is not None and isinstance(item, ast.Compare) and len(item.ops) == 1 and isinstance(item.ops[0], ast.Eq)
    if is_equation and isinstance(item, ast.Compare) and tracer.make_equation is not None:
        left = evaluate(tracer, item.left, frame)
        right = evaluate(tracer, item.comparators[0], frame)
        tracer.position = (frame.file, item)
        value = tracer.make_equation(left, right)
    else:
        value = None if item is None else evaluate(tracer, item, frame)
        tracer.position = (frame.file, node)
    home.yields.append(Yielded(value, tracer.here()))


def _yield_from(tracer: Tracer, node: ast.YieldFrom, frame: CallFrame) -> Any:
    source = evaluate(tracer, node.value, frame)
    tracer.position = (frame.file, node)
    look_into(tracer, ITERATION, source)
    home = frame.binding_frame()
    made = getattr(source, "yielded", None)
    if made is not None:
        home.yields.extend(made)
        return source.result
    home.yields.extend(Yielded(value, tracer.here()) for value in source)
    return None


def _starred(tracer: Tracer, node: ast.Starred, _frame: CallFrame) -> Any:
    raise tracer.error(f"`{ast.unparse(node)}` cannot stand here")


_MAY_CHANGE: Final = (ast.Call, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Attribute)
_RULES: Final[dict[type[ast.expr], Callable[[Tracer, Any, CallFrame], Any]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.ListComp: _list_comprehension,
    ast.SetComp: _set_comprehension,
    ast.DictComp: _dict_comprehension,
    ast.GeneratorExp: _generator,
    ast.Lambda: make_closure,
    ast.NamedExpr: _named,
    ast.FormattedValue: _formatted,
    ast.JoinedStr: _joined,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Starred: _starred,
}
