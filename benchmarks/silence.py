"""Keeps the messages of C libraries off the screen while they are measured: what matters of them is in the tables."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Final

__all__ = ["silence"]

STREAMS: Final = (1, 2)  # standard output and standard error


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Standard output and error go nowhere meanwhile, also what C code writes to them."""
    flush_c = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    kept, nowhere = [os.dup(stream) for stream in STREAMS], os.open(os.devnull, os.O_WRONLY)
    for stream in STREAMS:
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        sys.stdout.flush()
        flush_c(None)  # C keeps its own buffers, which would appear later
        for stream, copy in zip(STREAMS, kept, strict=True):
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)
