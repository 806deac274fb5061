"""Random expressions as Python text, of states, a counter and a parameter: operators, and functions of Python, math and NumPy that are followed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

__all__ = ["RandomText"]

_LEAVES: Final = ("x", "y", "w", "n", "k", "n/2", "k/2")
_OF_ONE: Final = (
    "abs", "math.floor", "math.ceil", "math.trunc", "round", "np.rint", "np.sign", "np.floor", "np.ceil", "np.trunc", "-", "+", "math.sin", "np.cos",
    "np.arctan", "np.tanh", "np.fabs", "float", "np.square", "np.positive", "np.negative", "math.radians", "np.degrees", "math.erf", "np.cbrt",
)  # fmt: skip
_OF_TWO: Final = (
    "max", "min", "np.maximum", "np.minimum", "np.hypot", "math.atan2", "math.hypot", "np.arctan2", "math.copysign", "np.fmin", "np.fmax",
    "np.heaviside",
)  # fmt: skip
_REMAINDERS: Final = (
    "(({}) % 2)", "(({}) % -1.5)", "(({}) // 3)", "(({}) // 0.7)", "math.fmod({}, -1.5)", "np.mod({}, 2)", "divmod({}, 2)[0]", "divmod({}, 0.7)[1]",
)  # fmt: skip


class RandomText:
    """A writer of expressions.

    Parameters
    ----------
    seed : of what is drawn.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, depth: int) -> str:
        """An expression that is a number, nested so deep."""
        draw = self.random
        if depth <= 0 or draw.random() < 0.12:
            return draw.choice([*_LEAVES, repr(round(draw.uniform(-3, 3), 2)), str(draw.randint(-3, 3))])

        def one() -> str:
            return self.number(depth - 1)

        kinds: list[tuple[int, Callable[[], str]]] = [
            (5, lambda: f"({one()} {draw.choice('+-*')} {one()})"),
            (4, lambda: f"{draw.choice(_OF_ONE)}({one()})"),
            (3, lambda: f"({one()} if {self.condition(depth - 1)} else {one()})"),
            (3, lambda: f"{draw.choice(_OF_TWO)}({one()}, {one()})"),
            (2, lambda: f"np.where({self.condition(depth - 1)}, {one()}, {one()})"),
            (1, lambda: f"np.clip({one()}, -1.0, 1.5)"),
            (1, lambda: f"np.select([{self.condition(depth - 1)}, {self.condition(depth - 1)}], [{one()}, {one()}], default={one()})"),
            (1, lambda: f"({one()}) ** {draw.choice([2, 3, 0])}"),
            (1, lambda: f"{draw.choice(['max', 'min'])}({one()}, {one()}, {one()})"),
            (1, lambda: draw.choice(_REMAINDERS).format(one())),
            (1, lambda: f"round({one()}, {draw.choice([0, 1, 2])})"),
            (1, lambda: f"({self.condition(depth - 1)} * 1.0)"),
        ]
        return self._one_of(kinds)

    def condition(self, depth: int) -> str:
        """An expression that holds or not."""
        draw = self.random

        def one() -> str:
            return self.number(depth - 1)

        def other() -> str:
            return self.condition(depth - 1)

        order = draw.choice(["<", "<=", ">", ">="])
        if depth <= 0:
            return f"({one()} {order} {one()})"
        kinds: list[tuple[int, Callable[[], str]]] = [
            (4, lambda: f"({one()} {order} {one()})"),
            (2, lambda: f"({other()} {draw.choice(['and', 'or'])} {other()})"),
            (1, lambda: f"(not {other()})"),
            (1, lambda: f"({one()} < {one()} <= {one()})"),
            (2, lambda: f"np.logical_{draw.choice(['and', 'or', 'xor'])}({other()}, {other()})"),
            (1, lambda: f"(n {draw.choice(['==', '!='])} {draw.randint(-1, 3)})"),
            (1, lambda: f"{draw.choice(['any', 'all'])}([{other()}, {other()}])"),
            (1, lambda: f"{draw.choice(['np.greater', 'np.less_equal'])}({one()}, {one()})"),
        ]
        return self._one_of(kinds)

    def _one_of(self, kinds: list[tuple[int, Callable[[], str]]]) -> str:
        """What one of these writes, drawn by their weights."""
        return self.random.choices([write for _, write in kinds], [weight for weight, _ in kinds])[0]()
