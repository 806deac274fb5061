"""Random expressions as C and Fortran, compiled, give what plain evaluation gives, at edge values of floating point too."""

from __future__ import annotations

import ctypes
import math
import random
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tidegate as tg
from tidegate.expressions import Expr, Role, as_real, constant, evaluate, lookup, node, raw_node, segment, select, spline, symbol, walk
from tidegate.expressions.c_text import C, c_body, c_helpers, c_tables
from tidegate.expressions.fortran_text import Fortran, fortran_declarations, fortran_helpers, fortran_interfaces, wrapped
from tidegate.expressions.lookup_tables import Table
from tidegate.expressions.nodes import UNARY_FUNCTIONS
from tidegate.expressions.straight_line import Tables, straight_line

__all__: list[str] = []

N_SYMBOLS = 6
N_EXPRESSIONS = 400
X = [symbol(Role.UNKNOWN, f"x[{k}]") for k in range(N_SYMBOLS)]
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 5e-324, -2.2e-308, 1.7e308, -1e300, 1e-300, 2.0, 3.0, -7.5, 1e15 + 0.3]
NUMBERS = [*EDGES, math.pi, 1 / 3, 6.02e23, -1.6e-19, 16.0, 17.0, -3.0, -0.5]
ALLOWED = 1e-15


def random_real(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.15:
        return constant(rng.choice(NUMBERS)) if rng.random() < 0.3 else rng.choice(X)
    kind = rng.randrange(12)

    def inner() -> Expr:
        return random_real(rng, depth - 1)

    if kind < 4:
        return raw_node(rng.choice(["add", "sub", "mul", "div"]), (inner(), inner()))
    if kind == 4:
        return raw_node("neg", (inner(),))
    if kind == 5:
        # an exponent that varies is never a half: plain evaluation takes the root then, machine code does not, and minus infinity tells
        exponent = constant(float(rng.choice([-3, -1, 0, 1, 2, 3, 7, 16, 17, 0.5, 2.5, -0.5]))) if rng.random() < 0.7 else inner() + 0.123
        return raw_node("pow", (inner(), exponent))
    if kind < 8:
        return raw_node(rng.choice(sorted(UNARY_FUNCTIONS)), (inner(),))
    if kind == 8:
        return raw_node("atan2", (inner(), inner())) if rng.random() < 0.5 else raw_node("floor", (inner(),))
    if kind == 9:
        return random_table(rng, inner())
    return select(random_condition(rng, depth - 1), inner(), inner())


def random_table(rng: random.Random, x: Expr) -> Expr:
    size = rng.randrange(2, 7)
    grid = sorted(rng.uniform(-3.0, 3.0) for _ in range(size))
    values = [rng.uniform(-2.0, 2.0) for _ in range(size)]
    choice = rng.randrange(3)
    if choice == 0 and size > 3:
        return spline(x, Table(tuple(grid), tuple(values), "cubic").pieces)
    return lookup(segment(x, grid), values) if choice == 1 else lookup(x, values)


def random_condition(rng: random.Random, depth: int) -> Expr:
    if depth > 0 and rng.random() < 0.4:
        a, b = random_condition(rng, depth - 1), random_condition(rng, depth - 1)
        return rng.choice([a & b, a | b, ~a])
    return raw_node(rng.choice(["ge", "gt", "nonzero"]), (random_real(rng, max(depth - 1, 0)),))


@cache
def expressions() -> tuple[Expr, ...]:
    rng = random.Random(20)
    made = [random_real(rng, rng.randrange(1, 6)) for _ in range(N_EXPRESSIONS)]
    return (*made, *(as_real(raw_node(op, (x,))) for op in ("ge", "gt", "nonzero") for x in X[:2]), X[0], constant(math.nan), constant(-math.inf))


@cache
def points() -> tuple[tuple[float, ...], ...]:
    rng = random.Random(4)
    plain = [tuple(rng.gauss(0.0, 2.0) for _ in X) for _ in range(40)]
    edges = [tuple(rng.choice(EDGES) for _ in X) for _ in range(40)]
    mixed = [tuple(rng.choice(EDGES) if rng.random() < 0.3 else rng.gauss(0.0, 1.0) for _ in X) for _ in range(40)]
    return (*plain, *edges, *mixed)


@cache
def expected() -> np.ndarray[Any, Any]:
    return np.array([evaluate(expressions(), dict(zip(X, point, strict=True))) for point in points()])


def c_source() -> str:
    tables = Tables("table")
    block = straight_line([(f"out[{k}]", e) for k, e in enumerate(expressions())], {s: f"x[{k}]" for k, s in enumerate(X)}, C, tables)
    body = "\n".join(f"    {line}" for line in c_body(block))
    return "\n".join(
        ["#include <math.h>", *c_tables(tables, block.tables), *c_helpers(block.called), "void values(const double *x, double *out);"]
    ) + (f"\nvoid values(const double *x, double *out) {{\n{body}\n}}\n")


def fortran_source() -> str:
    tables, language = Tables("table"), Fortran("values_")
    block = straight_line([(f"out({k})", e) for k, e in enumerate(expressions())], {s: f"x({k})" for k, s in enumerate(X)}, language, tables)
    lines = ["subroutine values(x, out)", "  implicit none", "  double precision :: x(0:*), out(0:*)"]
    lines += [f"  {line}" for line in fortran_declarations(block, tables)]
    lines += [f"  {line}" for line in (*fortran_interfaces(block.called, "values_"), *block.statements)]
    whole = [*(line for text in fortran_helpers(block.called, "values_") for line in text.split("\n")), *lines, "end subroutine", ""]
    return "\n".join(part for line in whole for part in wrapped(line))


@pytest.mark.hunt
@pytest.mark.parametrize(
    ("source", "command", "name"),
    [
        (c_source, ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "values.c"], "values"),
        (fortran_source, ["gfortran", "-std=legacy", "-Wall", "-Werror", "values.f90"], "values_"),
    ],
)
def test_compiled_texts_give_what_evaluation_gives(source: Any, command: list[str], name: str, tmp_path: Path) -> None:
    (tmp_path / command[-1]).write_text(source(), encoding="ascii")
    done = subprocess.run([*command, "-O1", "-shared", "-fPIC", "-o", "values.so", "-lm"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    function = getattr(ctypes.CDLL(str(tmp_path / "values.so")), name)
    out, found = np.zeros(len(expressions())), []
    for point in points():
        x = np.array(point)
        function(x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
        found.append(out.copy())
    with np.errstate(all="ignore"):
        gap = np.abs(np.array(found) - expected())
        is_same = (np.array(found) == expected()) | (np.isnan(found) & np.isnan(expected())) | (gap <= ALLOWED * np.abs(expected()))
    wrong = [(expressions()[k], points()[i], found[i][k], expected()[i, k]) for i, k in np.argwhere(~is_same)[:3]]
    assert not wrong, f"{np.sum(~is_same)} of {is_same.size}: {wrong}"


def test_every_operation_is_among_the_random_ones() -> None:
    there = {item.op for item in walk(expressions())}
    assert there >= {"add", "sub", "mul", "div", "neg", "pow", "select", "floor", "atan2", "segment", "lookup", "spline", "and", "or", "not"}
    assert there >= UNARY_FUNCTIONS


def test_an_opaque_function_is_refused_by_its_name() -> None:
    function = tg.opaque(lambda x: x)
    call = node("sin", (function(X[0]),))
    with pytest.raises(tg.UsageError, match="lambda"):
        straight_line([("out[0]", call)], {X[0]: "x[0]"}, C, Tables("table"))
