"""A file that grows frame by frame and can be cut anywhere (stage: results). In go facts and numbers, out come bytes, and back.

A file begins with ``MAGIC``. A frame is the length of its facts (4 bytes), the length of its numbers (8 bytes) and the CRC-32 of both (4 bytes),
little end first; then the facts as JSON and the numbers as little-endian doubles. Reading never carries out anything that stands in a file.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.quick_dataclass import dataclass

__all__ = ["MAGIC", "FileFrame", "frames_in", "is_framed", "packed"]

# the first byte is no text, the line end shows a file that was copied as one
MAGIC: Final = b"\x89tidegate\r\n\x1a\n"
_HEAD: Final = struct.Struct("<IQI")


@dataclass(frozen=True, eq=False)
class FileFrame:
    """One thing written down.

    Parameters
    ----------
    facts : anything that JSON can hold; ``"is"`` says what the frame is.
    numbers : doubles of any shape.
    end : byte of the file behind it.
    """

    facts: dict[str, Any]
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    end: int = 0


def packed(what: str, facts: Mapping[str, Any] | None = None, numbers: NDArray[np.float64] | None = None) -> bytes:
    """The bytes of one frame.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers"
    >>> _ = path.write_bytes(MAGIC + packed("note", {"text": "two"}, np.array([1.0, 2.0])))
    >>> [(frame.facts["text"], frame.numbers.tolist()) for frame in frames_in(path)]
    [('two', [1.0, 2.0])]
    """
    array = np.zeros(0) if numbers is None else np.asarray(numbers, dtype=np.float64)
    head = json.dumps({"is": what, "shape": list(array.shape), **(facts or {})}, default=str).encode()
    body = np.ascontiguousarray(array).astype("<f8").tobytes()
    return _HEAD.pack(len(head), len(body), zlib.crc32(body, zlib.crc32(head))) + head + body


def is_framed(path: str | Path) -> bool:
    """Whether a file is made of frames."""
    with Path(path).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def frames_in(path: str | Path) -> Iterator[FileFrame]:
    """The frames of a file in order, up to its end or to the first that is cut or damaged."""
    with Path(path).open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return
        while len(start := file.read(_HEAD.size)) == _HEAD.size:
            n_head, n_body, checksum = _HEAD.unpack(start)
            rest = Path(path).stat().st_size - file.tell()
            if n_head + n_body > rest:
                return
            head, body = file.read(n_head), file.read(n_body)
            if zlib.crc32(body, zlib.crc32(head)) != checksum:
                return
            facts: dict[str, Any] = json.loads(head)
            numbers: NDArray[np.float64] = np.frombuffer(body, dtype="<f8").astype(np.float64)
            yield FileFrame(facts, numbers.reshape(facts.pop("shape")), file.tell())
