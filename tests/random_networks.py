"""Random networks of random linear blocks, and the matrix exponential of the whole, put together by one linear system of all their equations.

The truth knows no order of calls and no tearing: unknowns are all derivatives, algebraic variables, inputs and outputs at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import expm, solve

import tidegate as tg

END = 0.7


@dataclass
class Written:
    """``M x' = A x + B u``, ``y = C x + D u + H x'``; of an ODE M is the unit matrix, of a DAE its last rows and columns may be zero.

    The block itself speaks of z with ``x = T z``, so that M T may be singular without a column that is zero.
    """

    is_dae: bool
    M: np.ndarray
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    H: np.ndarray
    x0: np.ndarray
    n_algebraic: int
    T: np.ndarray
    shaped: bool  # inputs and outputs are arrays
    links: dict[int, tuple[int, int]] = field(default_factory=dict)  # by element of U the block and element of Y


class Block(tg.DSblock):
    """The block that is written there."""

    def __init__(self, written: Written) -> None:
        self.written = written

    def define(self, declare: Any) -> None:
        w = self.written
        if w.is_dae:
            declare.form("dae")
        declare.state("X", start=solve(w.T, w.x0))
        nu, ny = w.B.shape[1], len(w.C)
        names = [("U", (nu,))] if w.shaped else [(f"U{k}", ()) for k in range(nu)]
        for name, shape in names:
            declare.input(name, shape=shape)
        for name, shape in [("Y", (ny,))] if w.shaped else [(f"Y{k}", ()) for k in range(ny)]:
            declare.output(name, shape=shape)
        used = [bool(np.any(w.D)) for _ in names] if w.shaped else np.any(w.D, axis=0)
        declare.outputs_depend_on([name for (name, _), is_used in zip(names, used, strict=True) if is_used], xdot=bool(np.any(w.H)))

    def derivatives(self, t: float, x: Any, u: Any, p: Any, m: Any) -> Any:
        return [self.written.A @ self.written.T @ x.flat + self.written.B @ u.flat]

    def residual(self, t: float, x: Any, xdot: Any, u: Any, p: Any, m: Any) -> Any:
        w = self.written
        return [w.M @ w.T @ xdot.flat - w.A @ w.T @ x.flat - w.B @ u.flat]

    def outputs(self, t: float, x: Any, *others: Any) -> Any:
        w, u = self.written, others[-3].flat
        y = w.C @ w.T @ x.flat + w.D @ u
        if np.any(w.H):
            y = y + w.H @ w.T @ others[0].flat
        return [y] if w.shaped else list(y)


def element(block: int, letter: str, k: int, w: Written) -> str:
    """The name of one element."""
    return f"b{block}.{letter}[{k}]" if w.shaped else f"b{block}.{letter}{k}"


def drawn(seed: int) -> list[Written]:
    """A random network whose loops can be solved well."""
    random = np.random.default_rng(seed)
    while True:
        blocks: list[Written] = []
        for _ in range(random.integers(2, 5)):
            nx, nu, ny = random.integers(1, 4), random.integers(1, 3), random.integers(1, 3)
            is_dae = bool(random.random() < 0.25)
            n_algebraic = int(is_dae and nx > 1 and random.random() < 0.5)
            M = np.eye(nx) if not is_dae else np.eye(nx) + 0.3 * random.normal(size=(nx, nx))
            if n_algebraic:
                M[-1], M[:, -1] = 0.0, 0.0
            D = 0.6 * random.normal(size=(ny, nu)) * (random.random(nu) < 0.4)
            H = 0.4 * random.normal(size=(ny, nx)) * (random.random() < 0.25)
            if n_algebraic:
                H[:, -1] = 0.0  # the derivative of an algebraic variable is none of the block's
            T = np.eye(nx)
            if n_algebraic and random.random() < 0.5:
                T += 0.4 * random.normal(size=(nx, nx))
            blocks.append(Written(is_dae, M, random.normal(size=(nx, nx)), random.normal(size=(nx, nu)), random.normal(size=(ny, nx)), D, H,
                                  random.normal(size=nx), n_algebraic, T, bool(random.random() < 0.4)))  # fmt: skip
        for w in blocks:
            for k in range(w.B.shape[1]):
                if random.random() < 0.75:
                    source = int(random.integers(len(blocks)))
                    w.links[k] = (source, int(random.integers(len(blocks[source].C))))
        if np.linalg.cond(whole(blocks)[0]) < 200:
            return blocks


def outer(block: int, k: int) -> float:
    """The constant that an open input is given."""
    return 0.3 + 0.2 * block - 0.5 * k


def whole(blocks: list[Written]) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """All equations as ``left [x'; xa; u; y] = right [xs; 1]``, and where things lie."""
    place: dict[str, Any] = {}
    n = 0
    n_differential = sum(len(w.A) - w.n_algebraic for w in blocks)
    xs = 0
    for b, w in enumerate(blocks):
        nd = len(w.A) - w.n_algebraic
        place["xs", b] = np.arange(xs, xs + nd)
        xs += nd
        for what, size in (("xd", nd), ("xa", w.n_algebraic), ("u", w.B.shape[1]), ("y", len(w.C))):
            place[what, b] = np.arange(n, n + size)
            n += size
    left, right = np.zeros((n, n)), np.zeros((n, n_differential + 1))
    row = 0
    for b, w in enumerate(blocks):
        nd = len(w.A) - w.n_algebraic
        xd, xa, u, y, s = (place[what, b] for what in ("xd", "xa", "u", "y", "xs"))
        rows = np.arange(row, row + len(w.A))
        left[np.ix_(rows, xd)], left[np.ix_(rows, xa)], left[np.ix_(rows, u)] = w.M[:, :nd], -w.A[:, nd:], -w.B
        right[np.ix_(rows, s)] = w.A[:, :nd]
        row += len(w.A)
        rows = np.arange(row, row + len(w.C))
        left[np.ix_(rows, y)] = np.eye(len(w.C))
        left[np.ix_(rows, u)], left[np.ix_(rows, xd)], left[np.ix_(rows, xa)] = -w.D, -w.H[:, :nd], -w.C[:, nd:]
        right[np.ix_(rows, s)] = w.C[:, :nd]
        row += len(w.C)
        for k in range(w.B.shape[1]):
            left[row, u[k]] = 1.0
            if k in w.links:
                left[row, place["y", w.links[k][0]][w.links[k][1]]] = -1.0
            else:
                right[row, -1] = outer(b, k)
            row += 1
    return left, right, place


def truth(blocks: list[Written]) -> dict[str, float]:
    """All quantities at the end."""
    left, right, place = whole(blocks)
    gives = solve(left, right)
    n = right.shape[1]
    rates = np.zeros((n, n))
    for b in range(len(blocks)):
        rates[place["xs", b]] = gives[place["xd", b]]
    start = np.concatenate([*(w.x0[: len(w.A) - w.n_algebraic] for w in blocks), [1.0]])
    xs = expm(rates * END) @ start
    others = gives @ xs
    found: dict[str, float] = {}
    for b, w in enumerate(blocks):
        x = np.concatenate([xs[place["xs", b]], others[place["xa", b]]])
        found |= {f"b{b}.X[{k}]": value for k, value in enumerate(solve(w.T, x))}
        found |= {element(b, "U", k, w): value for k, value in enumerate(others[place["u", b]])}
        found |= {element(b, "Y", k, w): value for k, value in enumerate(others[place["y", b]])}
    return found


def joined(blocks: list[Written]) -> Any:
    links = {element(b, "U", k, w): element(source, "Y", j, blocks[source]) for b, w in enumerate(blocks) for k, (source, j) in w.links.items()}
    return tg.dsblock.join({f"b{b}": Block(w) for b, w in enumerate(blocks)}, links)
