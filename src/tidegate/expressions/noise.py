"""``noise`` (stage: expressions): time and a seed in, a random number that is new in every interval out.

The number of an interval is a function of its index and of nothing else, so that it is the same whatever was asked before, by whatever method, in
whatever process: the index is enciphered by rounds of ``h <- a h^5 + c`` modulo 2^31 - 1, where x^5 is a permutation since 5 does not divide 2^31 - 2
(the construction of MiMC: Albrecht and others 2016). Keys come from seed and stream by SHA-256. All products are split so that no part exceeds 2^53,
and doubles hold them exactly.
"""

from __future__ import annotations

import math
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from tidegate.errors import UsageError
from tidegate.expressions import elementary as f
from tidegate.expressions.nodes import Expr, as_real, node
from tidegate.wrong_calls import explained

__all__ = ["noise", "random_integers"]

_PRIME: Final = 2**31 - 1
_ROUNDS: Final = 5
_KINDS: Final = ("normal", "uniform")


@explained
def noise(t: Any, *, seed: int, every: Any = 1.0, deviation: Any = 1.0, kind: str = "normal", stream: int = 0) -> Any:
    """Random numbers, constant over every interval of time and independent from one to the next.

    With the same seed, stream and interval it is the same signal wherever it stands, in every run, by every method and on every machine; with another
    seed or stream an independent one. Every change is a time event.

    Parameters
    ----------
    t : the model's time: the argument ``t`` of a function, ``tg.time`` in a component.
    seed : an integer.
    every : how long each number lasts: from 0 to ``every``, from there to twice that, and so on.
    deviation : standard deviation of a normal distribution, half the width of a uniform one; the mean is zero.
    kind : "normal" or "uniform".
    stream : an integer, for independent signals of one seed.

    Raises
    ------
    UsageError : a seed is no integer, a kind unknown, an interval not positive.

    Examples
    --------
    >>> from tidegate import noise
    >>> [round(noise(t, seed=1, every=0.1), 6) for t in (0.0, 0.05, 0.1)]
    [0.593955, 0.593955, 0.494329]
    """
    for name, value in (("seed", seed), ("stream", stream)):
        if not isinstance(value, int) or isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
            raise UsageError(f"{name} is {value!r}", hint="an integer: tg.noise(t, seed=1)")
    if kind not in _KINDS:
        raise UsageError(f"kind is {kind!r}", hint="'normal' or 'uniform'")
    if not isinstance(every, Expr) and not (isinstance(every, int | float) and 0.0 < every < math.inf):
        raise UsageError(f"every is {every!r}", hint="a positive time: tg.noise(t, seed=1, every=0.1)")
    first: Any
    second: Any
    if isinstance(t, Expr) or isinstance(every, Expr):
        index = node("floor", (as_real(t) / as_real(every),))
        first, second = (_enciphered(index, _keys(seed, stream, which)) for which in ("first", "second"))
    else:
        first, second = random_integers(seed, stream, math.floor(t / every))
    u = (first + 1) / (_PRIME + 1.0)
    if kind == "uniform":
        return deviation * (2.0 * u - 1.0)
    size, angle = f.sqrt(-2.0 * f.log(u)), f.cos(2.0 * math.pi / _PRIME * second)
    return deviation * size * angle


def random_integers(seed: int, stream: int, index: int) -> tuple[int, int]:
    """Two independent integers from 0 to 2^31 - 2 that belong to an index, in the arithmetic of integers.

    Examples
    --------
    >>> random_integers(1, 0, 0) != random_integers(1, 1, 0)
    True
    """
    found: list[int] = []
    for which in ("first", "second"):
        h = index % _PRIME
        for a, c in _keys(seed, stream, which):
            h = (a * pow(h, 5, _PRIME) + c) % _PRIME
        found.append(h)
    return found[0], found[1]


@lru_cache(maxsize=1024)
def _keys(seed: int, stream: int, which: str) -> list[tuple[int, int]]:
    """Factor and summand of every round."""
    keys: list[tuple[int, int]] = []
    for k in range(_ROUNDS):
        digest = sha256(f"{seed} {stream} {which} {k}".encode()).digest()
        keys.append((1 + int.from_bytes(digest[:8], "big") % (_PRIME - 1), int.from_bytes(digest[8:16], "big") % _PRIME))
    return keys


def _enciphered(index: Expr, keys: list[tuple[int, int]]) -> Expr:
    h = _remainder(index)
    for a, c in keys:
        square = _product(h, h)
        h = _remainder(_product(_product(_product(square, square), h), as_real(float(a))) + float(c))
    return h


def _remainder(x: Expr) -> Expr:
    return x - float(_PRIME) * node("floor", (x / float(_PRIME),))


def _product(a: Expr, b: Expr) -> Expr:
    """a b modulo the prime, of integers below it."""
    high = node("floor", (a / 65536.0,))
    low = a - 65536.0 * high
    return _remainder(_remainder(high * b) * 65536.0 + low * b)
