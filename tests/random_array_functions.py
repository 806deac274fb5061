"""Random functions of arrays as source text: views, changes in place, masks, functions of NumPy, in branches and loops; each takes three numbers.

Where NumPy itself would cut off fractions (arrays of whole numbers), tidegate refuses; everything else has to be what NumPy gives, or is refused.
"""

from __future__ import annotations

import random
from typing import Any

from written_source import space_of

__all__ = ["random_array_function"]

_HEAD = """import numpy as np
def change(x):
    {change}
def f(y):
    a, b, c = y
    v = {v}
    k = {k}
    M = {M}
    N = {N}
    u = {u}
    q, w = np.array([0.1, a, 0.3]), np.array([b, 0.5])
"""
_TAIL = "    return [*np.ravel(v)[:3], *np.ravel(M)[:6], *np.ravel(N)[:9], *u[:3], *q[:3], *w[:2], *k[:3], a, b, c]\n"
_STARTS = {
    "change": ("x[0] = 1.0", "x += 1", "x = x + 1; x[0] = 5.0", "x[1] = x[0]*0.5 if x[0] > 0 else 2.0", "x[:] = x[::-1].copy()"),
    "v": ("np.zeros(3)", "np.array([a, b, c])", "np.ones(3)", "np.array([0.5, 1.5, a])", "np.zeros_like(y)", "y.copy()", "np.array([a, 2, 3])"),
    "k": ("np.array([1, 2, 3])", "np.zeros(3, dtype=int)", "np.arange(3)"),
    "M": ("np.zeros((2, 3))", "np.array([[a, 1, b], [0.5, c, 2]])", "np.arange(6.0).reshape(2, 3)", "np.array([[1.0, 0, 0], [0, 1, a]])"),
    "N": ("np.eye(3)", "np.outer(y, [1, 2, 3])", "np.diag(y)", "np.array([[a, 0, 1], [0, b, 0], [1, 0, c]])", "np.zeros((3, 3))", "np.eye(3)*a"),
    "u": ("v[:]", "v", "M[0]", "np.array([c, b, a])", "N[:, 0]", "v[::-1]"),
}
_NUMBERS = (
    "a",
    "b",
    "c",
    "y[0]",
    "y[2]",
    "0.5",
    "2",
    "-1",
    "1.5",
    "v[-1]",
    "v[0]",
    "M[1, 0]",
    "M[-2, 2]",
    "w[0]",
    "w[-1]",
    "N.sum()",
    "v.max()",
    "q[1]",
)
_ROWS = (
    "v", "q", "M[0]", "M[-1]", "N[:, 1]", "N[2]", "y[:]", "np.asarray(y)", "np.array([a, b, c])", "u[::-1]", "u", "np.array([1, 2, 3])",
    "np.zeros(3)",
    "N.diagonal()", "np.diag(N)", "N.T[0]", "M.T[:, 1].repeat(2)[:3]", "k", "np.arange(3)", "y[[2, 0, 1]]", "np.full(3, a)", "np.full(3, 2)",
    "np.zeros_like(k)", "y.copy()", "N.flat[0:3]", "M.ravel()[1:4]", "M.mean(axis=0)", "N.sum(axis=1)", "N.max(axis=0)", "(np.eye(3)[1]*{n})",
    "np.reshape(M, (3, 2))[:, 1]", "M.reshape(-1)[::2]", "np.triu(N)[0]", "np.linalg.norm(N, axis=1)", "np.trapezoid(N, axis=0)", "np.ptp(N, axis=0)",
)  # fmt: skip
_MADE = (
    "({r} + {r})", "({r} - {r})", "({r} * {r})", "({n}*{r})", "(M.T @ w)", "(N @ {r})", "np.dot(N, {r})", "np.where({r} > {n}, {r}, {r})",
    "np.maximum({r}, {r})", "np.minimum({r}, {n})", "np.clip({r}, -1, 1)", "np.abs({r})", "np.sign({r})", "np.cumsum({r})", "np.roll({r}, 1)",
    "np.flip({r})", "np.concatenate([{r}[:1], {r}[1:]])", "np.stack([{r}, {r}]).sum(axis=0)", "np.vstack([{r}, {r}])[1]", "np.append({r}[1:], {n})",
    "np.outer({r}, {r})[2]", "np.cross({r}, {r})", "({r}**2)", "(-{r})", "np.tile({n}, 3)", "np.einsum('ij,j->i', N, {r})", "np.round({r}, 1)",
    "({r}//0.7)", "({r}%0.7)", "np.select([{r} > 0, {r} > 1], [{r}, {r}], {n})", "np.interp({r}, [-1, 0, 1], [0, 2, 1])",
    "np.delete(np.append({r}, {n}), 0)",
    "{r}.astype(int)", "{r}.astype(float)", "{r}.clip(0, 1)", "np.prod(np.array([{r}, {r}]), axis=0)", "np.gradient({r})",
    "np.take({r}, [0, 0, 2])", "np.choose([0, 1, 0], [{r}, {r}])", "np.add.outer({r}, {r})[1]", "(({r} > 0)*{r})", "((({r} > 0) & ({r} < 1))*1.0)",
    "((({r} > 0) + ({r} < 1))*1.0)", "((~({r} > 0))*2.0)", "(np.broadcast_to({n}, (3,))*1.0)", "np.meshgrid({r}, {r})[0][1]",
    "np.squeeze({r}[None, :])",
    "np.split(np.append({r}, {r}), 2)[1]", "np.moveaxis(N, 0, 1)[:, 0]", "np.average([{r}, {r}], axis=0, weights=[1, 3])",
    "np.max([{r}, {r}], axis=0)",
)  # fmt: skip
_SINGLE = (
    "np.sum({r})", "{r}.sum()", "np.dot({r}, {r})", "{r}.mean()", "{r}.min()", "max({r})", "np.linalg.norm({r})", "{r}[-1]", "{r}.prod()",
    "np.any({r} > 0)*1.0", "np.all({r} < 1)*1.0", "float({r}[1])", "int({r}[1])", "np.count_nonzero({r} > 0)", "({r} > 0).sum()",
    "np.max({r}, initial=0.0)", "np.interp({n}, [0, 1, 2], {r})", "{r}.item(1)", "np.linalg.solve(N + 9*np.eye(3), {r})[0]", "np.var({r})",
    "{r}[{r} > {n}].sum()", "np.sum({r}[{r} > 0])", "len({r}[{r} < {n}])*0.5", "np.mean({r}[{r} > -9])", "np.max({r}[{r} > {n}], initial=0.0)",
    "sum(x for x in {r} if x > {n})", "max((x for x in {r} if x > {n}), default=0.0)", "len([x for x in {r} if x < {n}])",
    "sum(1 for x in y if x > {n})", "{r}[:int({n})].sum()", "len({r}[int({n}):])*1.0", "sum({r}[:int({n})]*2)",
    "next((x for x in {r} if x > {n}), 7.0)", "any(x > 1 for x in {r} if x > {n})*1.0",
    "all([x > 1 for x in {r} if x > {n}])*1.0",
    "sum([x*z for x in {r} if x > {n} for z in y if z < x])", "(3.0 if [x for x in {r} if x > {n}] else {n})", "min([x for x in {r} if x > -9])",
    "({r}[{r} > {n}]*2 + {n}).size*1.0", "np.any({r}[{r} > {n}] > 1)*1.0", "sum(x if x > {n} else -x for x in {r} if {n} > {n})",
)  # fmt: skip
_DEEDS = (
    "v[1] = {s}", "v[1:] = {r}[:2]", "v[:] = {r}", "v += {r}", "v *= {n}", "u[::2] = {r}[1:]", "u[0] -= {s}", "M[0] = {r}", "M[:, 1] = {n}",
    "M[1, 1:] += {r}[:2]", "M *= {n}", "N[...] = {n}", "N[1] -= {r}", "N[[0, 2]] = N[[2, 0]]", "v[[0, 2]] += {n}", "v[{r} > {n}] = {n}",
    "v[v < 0] *= -1",
    "M[M > {n}] = 0", "k[0] += 1", "q = {r}", "v = {r}", "q = v[:]", "q = v.copy()", "q = N[1]", "q = N.T[1]", "v = v + {n}", "q = {r}; q[0] = {n}",
    "w = M[:, 2]", "w[0] = {n}", "np.add.at(v, [0, 0, 1], {n})", "np.copyto(v, {r})", "np.add(v, {r}, out=v)", "np.fill_diagonal(N, {n})",
    "v.fill({n})",
    "v[1] = {n}", "change(v)", "change(N[0])", "v[0], v[1] = v[1], v[0]", "np.multiply(M, {n}, out=M)", "v -= v[::-1]", "a = {s}", "c += {n}",
    "m = {r} > {n}; v[m] = {n}", "N.T[0] = {r}", "M.flat[2] = {n}", "M.reshape(-1)[4] = {n}", "M.ravel()[1] = {n}", "v = y*1",
    "N[:2, :2] = M[:, :2]", "N[np.arange(3), [0, 1, 2]] = {r}", "N[np.ix_([0, 1], [1, 2])] = {n}", "np.clip(v, -1, 1, out=v)", "v **= 2", "v %= 1.5",
    "v[:int({n})] = {n}", "q[int({n}):] -= {n}", "u[:int({n})] *= {n}", "v[int({n}):] = q[int({n}):]",
    "v[{r} > {n}] -= {n}", "m = {r} > {n}; v[m] = u[m]*2", "m = q > {n}; q[m] = np.sqrt(np.abs(v[m])) - {n}", "M[M > {n}] *= 0.5", "v[v < 0] **= 2",
    "m = {r} > {n}; v[~m] += 1; v[m] /= 2", "m = {r} > {n}; a = v[m].max() if np.any(m) else {n}", "k[k > {n}] += 1", "q[{r} > {n}] = v[{r} > {n}]",
    "m = ({r} > {n}) & (y < {n}); u[m] = -u[m]", "m = v > {n}; v[m] = q[m]@q[m]", "m = v > {n}; v[m] -= v[m].sum()",
    "v.flat[0] = {n}", "np.maximum(v, {r}, out=v, where=[True, False, True])", "np.reshape(N, -1)[3:5] = {n}",
)  # fmt: skip
_IN_LOOPS = ("v[{i}] += {n}", "N[{i}] = {r}", "M[:, {i}] *= {n}", "u[{i}] = u[{i} - 1]*0.5 + {n}", "v[{i}] = {n} if {n} > {n} else v[{i}]")


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._lines: list[str] = []

    def _filled(self, template: str, depth: int = 1, **given: str) -> str:
        """A template with random numbers, rows and single values in its places."""
        while "{" in template:
            before, rest = template.split("{", 1)
            kind, after = rest.split("}", 1)
            template = before + (given[kind] if kind in given else self._one(kind, depth)) + after
        return template

    def _one(self, kind: str, depth: int) -> str:
        if kind == "n":
            return self._rng.choice(_NUMBERS)
        if kind == "s":
            return self._filled(self._rng.choice(_SINGLE), 0)
        made = depth > 0 and self._rng.random() < 0.7
        return self._filled(self._rng.choice(_MADE if made else _ROWS), depth - 1)

    def _statement(self, indent: int, depth: int) -> None:
        kind = self._rng.random()
        put = self._lines.append
        space = "    " * indent
        if depth > 0 and kind < 0.3:
            put(space + self._filled(f"if {{n}} {self._rng.choice(['<', '>', '<=', '>='])} {{n}}:"))
            self._statement(indent + 1, depth - 1)
            if kind < 0.15:
                put(space + "else:")
                self._statement(indent + 1, depth - 1)
        elif depth > 0 and kind < 0.38:
            put(f"{space}for i{indent} in range({self._rng.randint(1, 3)}):")
            put(space + "    " + self._filled(self._rng.choice(_IN_LOOPS), i=f"i{indent}"))
        else:
            put(space + self._filled(self._rng.choice(_DEEDS)))

    def text(self) -> str:
        """The whole file."""
        head = _HEAD.format(**{name: self._rng.choice(choices) for name, choices in _STARTS.items()})
        for _ in range(self._rng.randint(2, 5)):
            self._statement(1, 2)
        return head + "\n".join(self._lines) + "\n" + _TAIL


def random_array_function(seed: int) -> Any:
    """The function of this number, with its text where it can be read."""
    return space_of(_Writer(random.Random(seed)).text(), f"<random array function {seed}>")["f"]
