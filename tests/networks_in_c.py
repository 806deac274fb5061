"""Blocks of ``random_networks`` and ``random_rings`` as source in C, and connections of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import tidegate as tg
from random_networks import Written
from random_rings import MU, G, Link, Ring

HEADER = (Path(__file__).parent / "frontends" / "dsblock" / "blocks" / "blo.h").read_text()
ARGUMENTS = (
    "int *icall, double *t, double *x, double *xd, double *u, double *dp, int *ip, int *lp, double *out, double *duser, int *iuser, "
    "int *luser, int *ierr"
)
DEFINING = (
    "int *iopt, int *info, int *sig, int *dim, double *t0, double *x0, double *xd0, double *dp, int *ip, int *lp, double *duser, int *iuser, "
    "int *luser, int *ierr"
)


def product(matrix: Any, vector: str) -> list[str]:
    """Rows of a matrix times a vector of C."""
    return [" + ".join(["0.0", *(f"({value!r}) * {vector}[{k}]" for k, value in enumerate(row) if value)]) for row in np.asarray(matrix).tolist()]


def defined(prefix: str, info: tuple[int, ...], sizes: dict[int, int], names: int, declared: list[str], x0: Any) -> str:
    """BLOCKB: dimensions by their places in DIM, all numbers of names one unless ``names`` is zero."""
    lines = [
        f"void {prefix}b({DEFINING}) {{",
        "    int one[1] = {1}, n[1]; (void)one; (void)n;",
        "    if (*iopt == 1) info[0] = 1;",
        "    if (*iopt == 2) {",
    ]
    lines += [f"        info[{k}] = {value};" for k, value in enumerate(info)]
    lines += [f"        dim[{k}] = {size};" for k, size in sizes.items()]
    lines += [f"        sig[{k}] = {1 if names else sizes[k]};" for k in range(3) if sizes.get(k)]
    lines += ["    }", "    if (*iopt == 3) {", *(f"        {line};" for line in declared)]
    lines += [f"        x0[{k}] = {float(value)!r};" for k, value in enumerate(x0)]
    return "\n".join([*lines, "    }", "}"]) + "\n"


def function(prefix: str, letter: str, values: list[str]) -> str:
    """A callback that computes these."""
    return f"void {prefix}{letter}({ARGUMENTS}) {{\n" + "".join(f"    out[{k}] = {value};\n" for k, value in enumerate(values)) + "}\n"


def in_c(prefix: str, w: Written) -> str:
    """A linear block."""
    nx, nu, ny = len(w.A), w.B.shape[1], len(w.C)
    declared = [f"n[0] = {nx}", 'cblo3tx("X", "", 1, n)']
    for letter, size in (("u", nu), ("y", ny)):
        name = letter.upper()
        declared += (
            [f"n[0] = {size}", f'cblo3t{letter}("{name}", "", 1, n)'] if w.shaped else [f'cblo3s{letter}("{name}{k}", "")' for k in range(size)]
        )
    used = [bool(np.any(w.D))] * nu if w.shaped else np.any(w.D, axis=0).tolist()
    declared += [f"{{ int gui[{nu}] = {{{', '.join(str(int(one)) for one in used)}}}; cblo3ux(2, gui, {int(np.any(w.H))}, 0); }}"]
    source = defined(prefix, (int(w.is_dae),), {0: nx, 1: nu, 2: ny}, 1, declared, np.linalg.solve(w.T, w.x0))
    if not w.shaped:
        source = source.replace("        sig[1] = 1;", f"        sig[1] = {nu};").replace("        sig[2] = 1;", f"        sig[2] = {ny};")
    f = [f"{a} + {b}" for a, b in zip(product(w.A @ w.T, "x"), product(w.B, "u"), strict=True)]
    if w.is_dae:
        f = [f"{left} - ({right})" for left, right in zip(product(w.M @ w.T, "xd"), f, strict=True)]
    y = [" + ".join(parts) for parts in zip(product(w.C @ w.T, "x"), product(w.D, "u"), product(w.H @ w.T, "xd"), strict=True)]
    return source + function(prefix, "f", f) + function(prefix, "g", y)


def build(folder: Path, name: str, sources: dict[str, str]) -> dict[str, Any]:
    """Blocks by their prefixes, all in one file."""
    source = folder / f"{name}.c"
    source.write_text(HEADER + "".join(sources.values()))
    return {prefix: tg.dsblock.build(source, prefix=prefix) for prefix in sources}


def nested(blocks: dict[str, Any], links: dict[str, str], inner: list[str]) -> Any:
    """The same connection with some of its blocks connected among themselves first; names of the result get ``inner.`` in front."""

    def is_inner(name: str) -> bool:
        return name.split(".", maxsplit=1)[0] in inner

    inside = {u: y for u, y in links.items() if is_inner(u) and is_inner(y)}
    first = tg.dsblock.join({name: blocks[name] for name in inner}, inside)

    def called(name: str) -> str:
        return f"inner.{name}" if is_inner(name) else name

    others = {called(u): called(y) for u, y in links.items() if u not in inside}
    return tg.dsblock.join({"inner": first, **{name: block for name, block in blocks.items() if name not in inner}}, others)


def pendulum_in_c(prefix: str, ring: Ring) -> str:
    """A point on a rod, pushed along its circle by U; X is its place, its velocity, what brakes it and the force of the rod."""
    c, s = math.cos(ring.angle), math.sin(ring.angle)
    declared = [f'cblo3sx("{name}", "")' for name in ("PX", "PY", "VX", "VY", "BRAKE", "FORCE")]
    declared += ['cblo3su("U", "")', 'cblo3sy("Y", "")', f"cblo3ux(0, one, {int(ring.gives_acceleration)}, 0)"]
    sizes = {0: 6, 1: 1, 2: 1, 11: 4, 12: 1, 13: 1, 14: 1, 15: 1}
    source = defined(prefix, (2,), sizes, 0, declared, (s, -c, 0.0, 0.0, MU * G * c, G * c))
    parts = [
        ["x[2]", "x[3]", "-x[5] * x[0] - x[4] * x[2] - u[0] * x[1]", f"-x[5] * x[1] - x[4] * x[3] + u[0] * x[0] - {G}"],
        [f"x[4] - {MU} * x[5]"],
        [f"x[2] * x[2] + x[3] * x[3] - x[5] * (x[0] * x[0] + x[1] * x[1]) - x[4] * (x[0] * x[2] + x[1] * x[3]) - {G} * x[1]"],
        ["x[0] * x[2] + x[1] * x[3]"],
        ["(x[0] * x[0] + x[1] * x[1] - 1) / 2"],
    ]
    lines, first = [f"void {prefix}f({ARGUMENTS}) {{"], 0
    for part, values in enumerate(parts):
        lines += [f"    if (icall[{10 + part}]) out[{first + k}] = {value};" for k, value in enumerate(values)]
        first += len(values)
    output = "x[0] * xd[3] - x[1] * xd[2]" if ring.gives_acceleration else "x[0] * x[3] - x[1] * x[2]"
    return source + "\n".join([*lines, "}"]) + "\n" + function(prefix, "g", [output])


def link_in_c(prefix: str, link: Link) -> str:
    """One of the linear ones."""
    a, b, c, d, e, f, g, h = link.numbers
    declared = ['cblo3sx("X", "")', *(['cblo3sx("Z", "")'] if link.is_dae else []), 'cblo3su("U", "")', 'cblo3sy("Y", "")']
    declared += [f"cblo3ux({int(bool(e))}, one, {int(bool(f))}, 0)"]
    source = defined(prefix, (int(link.is_dae),), {0: 2 if link.is_dae else 1, 1: 1, 2: 1}, 0, declared, (0.3, 0.0)[: 2 if link.is_dae else 1])
    rate = f"({b}) * x[0] + ({c}) * u[0]"
    equations = [f"x[1] - x[0] - ({g}) * u[0]", f"{a} * xd[0] - ({rate})"] if link.is_dae else [f"({rate}) / {a}"]
    terms = [f"({d}) * x[0]", *([f"({e}) * u[0]"] if e else []), *([f"({f}) * xd[0]"] if f else []), *([f"({h}) * x[1]"] if link.is_dae else [])]
    return source + function(prefix, "f", equations) + function(prefix, "g", [" + ".join(terms)])
