"""The runtime that compiled blocks call: its library, what a call of a utility looks like, and who answers it.

In: calls of ``blo3pd_`` or ``cblo3pd`` from a block. Out: the same calls at the ``Answers`` of the block whose callback is being carried out. The
library is seen by all libraries that are loaded after it, as the interface wants it (DSblock 3.3: utilities are linked to the block).
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from tidegate.frontends.dsblock.compiled.compiler import build_library

__all__ = ["Answers", "Request", "Runtime", "integers", "runtime"]

_HERE: Final = Path(__file__).parent
_SOURCES: Final = ("utilities.c", "adapter.c", "constrained.c", "joined.c", "rates.c")
# vectors are short, so that calls of memcpy would cost more than they save; a variable of a thread is found without a call
_OPTIONS: Final = ("-std=c11", "-fno-tree-loop-distribute-patterns", "-ftls-model=initial-exec", f"-I{_HERE}")
_POINTER: Final = ctypes.c_void_p


class Request(ctypes.Structure):
    """``tg_request`` of runtime.h."""

    _fields_ = (
        ("utility", ctypes.c_char_p),
        ("block", _POINTER),
        ("text", _POINTER * 3),
        ("length", ctypes.c_long * 3),
        ("number", ctypes.c_int * 4),
        ("real", ctypes.c_double * 2),
        ("n", ctypes.c_int),
        ("n_singles", ctypes.c_int),
        ("n_reals", ctypes.c_int),
        ("n_texts", ctypes.c_int),
        ("integers", ctypes.POINTER(ctypes.c_int)),
        ("singles", ctypes.POINTER(ctypes.c_float)),
        ("reals", ctypes.POINTER(ctypes.c_double)),
        ("texts", ctypes.POINTER(ctypes.c_char_p)),
        ("integers_out", ctypes.POINTER(ctypes.c_int)),
        ("real_out", ctypes.POINTER(ctypes.c_double)),
        ("ierr", ctypes.POINTER(ctypes.c_int)),
        ("text_out", _POINTER),
        ("room", ctypes.c_long),
    )

    def string(self, k: int) -> str:
        """A text without the blanks behind it."""
        start, length = self.text[k], self.length[k]
        return ctypes.string_at(start, length).decode("latin-1").rstrip(" \0") if start else ""

    def strings(self) -> list[str]:
        """The texts of BLOERS."""
        if self.texts:
            return [(self.texts[k] or b"").decode("latin-1") for k in range(self.n_texts)]
        start, length = self.text[2], self.length[2]
        return [ctypes.string_at(start + k * length, length).decode("latin-1").rstrip(" \0") for k in range(self.n_texts if start else 0)]

    def answer_text(self, text: str) -> bool:
        """Write a text where the block waits for it; False if it is too long."""
        written = text.encode("latin-1", errors="replace")
        if len(written) > self.room:
            return False
        ctypes.memmove(self.text_out, written, len(written))
        return True


class Answers(Protocol):
    """Who answers the utilities of one model."""

    def answer(self, utility: str, request: Request) -> None:
        """Carry out a utility."""
        ...


class Runtime:
    """The library, and by the address of a model's structure who answers for it."""

    def __init__(self) -> None:
        built = build_library("tidegate-blo", [_HERE / name for name in _SOURCES], _OPTIONS)
        self.library: Any = ctypes.CDLL(str(built), mode=ctypes.RTLD_GLOBAL)
        self.answers: dict[int, Answers] = {}
        self._callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(Request))(self._answer)
        self.library.tg_enter.argtypes = [_POINTER, ctypes.c_int]
        self.library.tg_enter.restype = None
        self.library.tg_current.restype = _POINTER
        self.library.tg_differences.argtypes = [_POINTER, ctypes.c_double, ctypes.c_int, ctypes.c_int, _POINTER, _POINTER]
        self.library.tg_answer_with(self._callback)
        self.library.tg_tell_ends(1)

    def enter(self, block: int | None, letter: str = "\0") -> int | None:
        """The callback with this letter that follows in this thread is of this model; whose it was, which is to be entered again behind it.

        A model may be collected, and closed, while a callback of another one asks something of Python.
        """
        before: int | None = self.library.tg_current()
        self.library.tg_enter(block, ord(letter))
        return before

    def address(self, name: str) -> int:
        """Address of a function of the adapter."""
        return ctypes.cast(getattr(self.library, name), _POINTER).value or 0

    def _answer(self, at: Any) -> None:
        request: Request = at.contents
        answers = self.answers.get(request.block or 0)
        if answers is not None:
            answers.answer((request.utility or b"").decode(), request)


@cache
def runtime() -> Runtime:
    """The runtime, built and loaded when the first compiled block is.

    Raises
    ------
    UsageError : there is no C compiler.
    """
    return Runtime()


def integers(pointer: Any, n: int) -> list[int]:
    """The first n of an array of a block."""
    return [int(v) for v in np.ctypeslib.as_array(pointer, (n,))] if n > 0 and pointer else []
