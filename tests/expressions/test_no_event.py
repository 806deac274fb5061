"""Relations without events are nodes of their own, with the values, derivatives, bounds and texts of those with events."""

from __future__ import annotations

import numpy as np
import pytest

import tidegate as tg
from tidegate.compiled.locking import Locking
from tidegate.expressions import Expr, Role, differentiate, evaluate, heard, is_quiet, makes_events, no_event, substitute, symbol, text, walk
from tidegate.expressions.evaluate_rows import evaluate_rows
from tidegate.expressions.interval import bounds
from tidegate.expressions.pickled import stored, unstored

X, Y = symbol(Role.UNKNOWN, "x"), symbol(Role.UNKNOWN, "y")
TABLE = tg.table([0.0, 1.0, 2.0, 4.0], [0.0, 3.0, 1.0, 1.0], name="valve")
WRITTEN: list[Expr] = [
    abs(X), tg.maximum(X, Y), tg.minimum(X, 0.5), tg.sign(X), tg.clip(X, -0.5, 0.5), np.floor(3 * X), X % 1.0, TABLE(X),
    tg.where((X > Y) | (Y >= 1), X, Y), tg.where(X == Y, 1.0, X * Y), tg.where(X, 2.0, Y),
]  # fmt: skip


@pytest.mark.parametrize("expr", WRITTEN, ids=text)
def test_only_events_go(expr: Expr) -> None:
    quiet = no_event(expr)
    assert quiet is not expr
    assert no_event(quiet) is quiet
    assert heard(quiet) is expr
    assert any(makes_events(item) for item in walk([expr]))
    assert not any(makes_events(item) for item in walk([quiet]))
    assert "no_event(" in text(quiet)
    assert "no_event(" not in text(expr)
    xs, ys = np.array([-1.5, -0.2, 0.0, 0.3, 1.0, 2.5]), np.array([0.7, -0.2, 1.0, 0.3, 1.0, -3.0])
    for root in (quiet, differentiate(quiet, X)):
        plain = expr if root is quiet else differentiate(expr, X)
        assert evaluate_rows([root], {X: xs, Y: ys}, 6).tolist() == evaluate_rows([plain], {X: xs, Y: ys}, 6).tolist()
    box = {X: (-0.3, 1.2), Y: (0.1, 0.4)}
    assert bounds([quiet], box) == bounds([expr], box)
    assert evaluate(substitute([quiet], {Y: X}), {X: 0.3}) == evaluate([expr], {X: 0.3, Y: 0.3})
    assert not any(makes_events(item) for item in walk(substitute([quiet], {Y: X + 1.0})))
    assert unstored(*stored(quiet)) is quiet


@pytest.mark.parametrize("expr", WRITTEN, ids=text)
def test_what_makes_no_event_is_not_locked(expr: Expr) -> None:
    quiet = no_event(expr)
    locking = Locking()
    assert locking.lock([quiet, expr])[0] is quiet
    assert locking.guards
    assert not any(is_quiet(item) for guard in locking.guards for item in walk([guard.function]))


def test_a_relation_around_locks_what_is_inside() -> None:
    locking = Locking()
    (locked,) = locking.lock([tg.where(no_event(abs(X)) > 1, no_event(abs(X)), 0.0)])
    assert [text(guard.function) for guard in locking.guards] == ["x", "(x if mode0 else -x) - 1"]
    assert text(locked) == "no_event(abs(x)) if mode1 else 0"


def test_texts() -> None:
    assert text(no_event(tg.where(X > 0, X, 0) + 1)) == "no_event(x if x > 0 else 0) + 1"
    assert text(no_event((X > 0) & (Y < 1))) == "no_event(x > 0 and y < 1)"
    assert text(no_event(np.floor(X))) == "no_event(floor(x))"


def test_numbers_and_arrays_pass() -> None:
    assert no_event(2.0) == 2.0
    assert no_event(True) is True
    assert [is_quiet(item.args[0]) for item in no_event(np.array([abs(X), abs(Y)]))] == [True, True]
