"""Modules of native code as plain Python: their functions called as they are written, so that each can be tested by itself."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tidegate.compiled import jit, weighted_sum
from tidegate.compiled.schema import LANES

__all__ = ["as_plain_python"]


def _as_it_is(function: Callable[..., Any], *_others: Any) -> Callable[..., Any]:
    return function


def _weighted_sum(weights: np.ndarray, rows: np.ndarray, first: int, stride: int, out: np.ndarray) -> None:
    k = np.arange(LANES)
    out[:LANES] = sum(weights[i] * rows[first + i * stride + k] for i in range(LANES))


def _sum_of_two(x: np.ndarray, of_x: float, y: np.ndarray, of_y: float, out: np.ndarray) -> None:
    out[:LANES] = of_x * x[:LANES] + of_y * y[:LANES]


def _product_of_two(x: np.ndarray, y: np.ndarray, degree: int, _room: np.ndarray, out: np.ndarray) -> tuple[float, float, float]:
    whole = np.convolve(x[: degree + 1], y[: degree + 1])
    out[: degree + 1] = whole[: degree + 1]
    sizes_x, sizes_y = np.abs(x[: degree + 1]), np.abs(y[: degree + 1])
    return np.convolve(sizes_x, sizes_y)[degree + 1 :].sum(), sizes_x.sum(), sizes_y.sum()


def _signs(row: np.ndarray) -> int:
    bits = np.concatenate([row[:LANES] < 0.0, ~(row[:LANES] > 0.0)])
    return int(bits @ (1 << np.arange(2 * LANES)))


def _signed_row(row: np.ndarray, sign: float, first: float, second: float, degree: int, out: np.ndarray) -> tuple[float, float]:
    out[:LANES] = np.where(np.arange(LANES) <= degree, sign * row[:LANES], 0.0)
    out[:2] = first, second
    return out[:LANES].sum(), first + np.minimum(out[:LANES], 0.0).sum()


def as_plain_python(name: str, *others: str) -> ModuleType:
    """A module as plain Python.

    Parameters
    ----------
    name : of the module.
    others : names of modules whose functions it calls, each before those that call it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "native", _as_it_is)
        patch.setattr(jit, "kernel_entry", lambda *_kinds: _as_it_is)
        patch.setattr(weighted_sum, "product_plus", lambda x, y, z: x * y + z)
        patch.setattr(weighted_sum, "signed_row", _signed_row)
        patch.setattr(weighted_sum, "signs", _signs)
        patch.setattr(weighted_sum, "weighted_sum", _weighted_sum)
        patch.setattr(weighted_sum, "sum_of_two", _sum_of_two)
        patch.setattr(weighted_sum, "product_of_two", _product_of_two)
        for one in (*others, name):
            spec = importlib.util.find_spec(one)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            patch.setitem(sys.modules, one, module)
            spec.loader.exec_module(module)
            if "math" in vars(module):
                vars(module)["math"] = np  # gives infinity and NaN as machine code does, where ``math`` raises
    return module
