"""A machine: one program laid out in memory for the native code, its buffers, and the loop that comes back to Python now and then (stage: csmp)."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.csmp.language.block_kinds import KINDS, BlockStatement, is_user_kind
from tidegate.csmp.language.control import RunControl
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.machine import offsets as m
from tidegate.integrators.kernel_cache import kernel
from tidegate.quick_dataclass import dataclass

__all__ = ["Machine", "MachineRecords"]

FloatArray = NDArray[np.float64]

_BUFFER_NUMBERS: Final = 1 << 16  # of each buffer, unless a single record is larger
_ROOM_NOTES: Final = 256
_VISIT: Final = 0.05  # seconds between visits of Python
_FIRST_BUDGET: Final = 200  # half steps
_LARGEST_BUDGET: Final = 100_000_000
_DEFAULT_LIMIT: Final = 20.0  # iterations of a Y block whose P2 is 0
_COMPLETE: Final = 1e-4  # of a step that the last one may lack


@dataclass
class MachineRecords:
    """What came out of the buffers: rows (time, outputs); debug lines; implicit equations that did not settle."""

    width: int
    rows: list[FloatArray] = field(default_factory=list[FloatArray])
    listed: list[FloatArray] = field(default_factory=list[FloatArray])
    notes: list[FloatArray] = field(default_factory=list[FloatArray])

    def table(self) -> FloatArray:
        """All rows."""
        return np.concatenate([np.empty((0, self.width)), *self.rows])


class Machine:
    """A program in memory.

    Parameters
    ----------
    program : without problems.
    control : of the run.
    debug : time limits of the debug listing, if there is one.
    seed : of jitter.
    """

    def __init__(self, program: CsmpProgram, control: RunControl, debug: tuple[float, float] | None, seed: int) -> None:
        self.program = program
        self.control = control
        self.records = MachineRecords(len(control.outputs) + 1)
        self._advance = _advance()
        blocks = list(program.blocks.values())
        order = program.sort_list()
        self._tape = [b for b in order if program.blocks[b].kind not in ("K", "U")]
        extras = [b.number for b in sorted(blocks, key=lambda b: (b.inputs[0], b.number)) if b.kind == "UO"]
        highest = max(program.numbers, default=1)
        n = highest + 1
        pairs = {b: program.functions.get(b, []) for b in program.numbers if program.blocks[b].kind == "F"}
        rates = [b for b in order if program.blocks[b].kind in ("I", "T1")]
        delays = [b for b in order if program.blocks[b].kind == "U"]
        quits = [b for b in order if program.blocks[b].kind == "Q"]
        lists = {m.O_TAPE: self._tape, m.O_DELAYS: delays, m.O_RATES: rates, m.O_QUITS: quits, m.O_OUT: control.outputs, m.O_EXTRAS: extras}
        by_block = (m.O_ADDRESS, m.O_FIRST_EXTRA, m.O_N_EXTRAS, m.O_FIRST_PAIR, m.O_N_PAIRS, m.O_GUESS, m.O_COUNT, m.O_FIRED)
        numbers_by_block = (m.O_X, m.O_RATE, m.O_BASE, m.O_ASIDE, m.O_LIMIT)
        self.memory = m.Memory(
            {m.O_MATRIX: 5 * n, **{name: len(items) for name, items in lists.items()}, **dict.fromkeys(by_block, n)},
            {
                m.O_P: 3 * n, m.O_PAIRS: 2 * sum(map(len, pairs.values())), m.O_LAST: len(control.outputs), m.O_GIVEN: 4,
                m.O_TAKEN: 1 + len(extras), **dict.fromkeys(numbers_by_block, n),
            },
        )  # fmt: skip
        h = self.memory.h
        h[m.N_PLACES], h[m.N_TAPE], h[m.N_OUT] = n, len(self._tape), len(control.outputs)
        h[m.N_DELAYS], h[m.N_RATES], h[m.N_QUITS] = len(delays), len(rates), len(quits)
        for name, items in lists.items():
            self.memory.integers(name)[: len(items)] = items
        for block in blocks:
            self._lay_out(block)
        for place, b in enumerate(order):
            if program.blocks[b].kind == "V":
                self.memory.integers(m.O_MATRIX)[5 * b + 4] = place + 1
        for number, b in enumerate(rates):
            self.memory.integers(m.O_MATRIX)[5 * b + 4] = number + 1
        self._lay_out_functions(pairs)
        self._set_control(debug, seed)
        self._rows = _buffer(self.records.width)
        self._listed = _buffer(m.WIDE_LISTED)
        self._notes = np.zeros((_ROOM_NOTES, m.WIDE_NOTES))
        h[m.ROOM_ROWS], h[m.ROOM_LISTED], h[m.ROOM_NOTES] = len(self._rows), len(self._listed), _ROOM_NOTES

    def _lay_out(self, block: BlockStatement) -> None:
        b = block.number
        matrix, p = self.memory.integers(m.O_MATRIX), self.memory.numbers(m.O_P)
        matrix[5 * b] = KINDS[block.kind].code
        signs = block.signs if block.kind == "+" else (1, 1, 1)
        matrix[5 * b + 1 : 5 * b + 4] = [sign * source for sign, source in zip(signs, block.inputs, strict=True)]
        p[3 * b : 3 * b + 3] = self.program.parameter(b)
        if block.kind == "Y":
            limit = float(int(p[3 * b + 1])) or _DEFAULT_LIMIT
            self.memory.numbers(m.O_LIMIT)[b] = p[3 * b + 1] = limit
            self.memory.integers(m.O_GUESS)[b] = self._tape.index(block.inputs[1])
        if is_user_kind(block.kind):
            extras = self.memory.integers(m.O_EXTRAS)
            owned = [i for i, extra in enumerate(extras.tolist()) if extra and self.program.blocks[extra].inputs[0] == b]
            self.memory.integers(m.O_FIRST_EXTRA)[b] = owned[0] if owned else 0

    def _lay_out_functions(self, pairs: dict[int, list[tuple[float, float]]]) -> None:
        first = 0
        table = self.memory.numbers(m.O_PAIRS)
        for b, points in pairs.items():
            table[2 * first : 2 * (first + len(points))] = np.ravel(sorted(points))
            self.memory.integers(m.O_FIRST_PAIR)[b] = first
            self.memory.integers(m.O_N_PAIRS)[b] = self.memory.integers(m.O_MATRIX)[5 * b + 4] = len(points)
            self.memory.numbers(m.O_P)[3 * b + 2] = first + 1
            first += len(points)

    def _set_control(self, debug: tuple[float, float] | None, seed: int) -> None:
        h, r, control = self.memory.h, self.memory.r, self.control
        h[m.K], h[m.K_END], h[m.SEED], h[m.AGAIN] = -1, _half_steps(control), seed, -1
        h[m.EVERY_HALF] = _is_every_half_step(control)
        r[m.T_START], r[m.STEP], r[m.EVERY], r[m.FRACTION] = control.lower, control.interval, control.every, control.percent / 100.0
        if debug is not None:
            h[m.IS_LISTING] = 1
            r[m.LIST_FROM], r[m.LIST_TO] = debug

    def load(self, block: int, address: int, *, hands_back: int = 0) -> None:
        """Put a routine's address in; ``hands_back`` tells how many additional outputs it returns instead of writing them itself."""
        self.memory.integers(m.O_ADDRESS)[block] = address
        self.memory.integers(m.O_N_EXTRAS)[block] = hands_back

    @property
    def time(self) -> float:
        """The time reached."""
        return float(self.memory.r[m.T])

    @property
    def half_steps(self) -> int:
        """Half steps done."""
        return int(self.memory.h[m.K])

    @property
    def stopped_at(self) -> int:
        """The block that ended the run."""
        return int(self.memory.h[m.BLOCK])

    @property
    def outputs(self) -> dict[int, float]:
        """Output of every block."""
        x = self.memory.numbers(m.O_X)
        return {b: float(x[b]) for b in self.program.numbers}

    def interrupt(self) -> None:
        """Let the run go on to the next output time only."""
        self.memory.h[m.IS_INTERRUPTED] = 1

    def extend(self, upper: float) -> None:
        """Move the end of a run that was complete or interrupted, and forget its records; what comes next is appended to nothing."""
        self.control = replace(self.control, upper=upper)
        self.records = MachineRecords(self.records.width)
        self.memory.h[m.K_END] = _half_steps(self.control)
        self.memory.h[m.IS_INTERRUPTED] = self.memory.h[m.IS_FAILED] = 0

    def run(self, visit: Callable[[], None] | None = None) -> int:
        """Go on to the end, or to whatever comes before; a STOP_ code of ``places``.

        Parameters
        ----------
        visit : called about twenty times a second.
        """
        advance = self._advance
        memory = (self.memory.h.ctypes.data, self.memory.r.ctypes.data)
        buffers = tuple(buffer.ctypes.data for buffer in (self._rows, self._listed, self._notes))
        budget = 1 if np.any(self.memory.integers(m.O_ADDRESS)) else _FIRST_BUDGET
        visited = time.perf_counter()
        while True:
            began, before = time.perf_counter(), self.half_steps
            try:
                code = int(advance(*memory, *buffers, budget))
                now = time.perf_counter()
            finally:  # an impatient Ctrl-C is raised here
                self._collect()
            pace = (now - began) / max(self.half_steps - before, 1)
            budget = int(min(max(_VISIT / max(pace, 1e-9), 1), 4 * budget, _LARGEST_BUDGET))
            if code not in (m.STOP_BUDGET, m.STOP_ROWS, m.STOP_LISTED, m.STOP_NOTES):
                return code
            if visit is not None and now - visited > 0.5 * _VISIT:
                visited = now
                visit()

    def _collect(self) -> None:
        h, records = self.memory.h, self.records
        pieces = ((m.N_ROWS, self._rows, records.rows), (m.N_LISTED, self._listed, records.listed), (m.N_NOTES, self._notes, records.notes))
        for count, buffer, taken in pieces:
            n, h[count] = int(h[count]), 0
            if n:
                taken.append(buffer[:n].copy())


def _half_steps(control: RunControl) -> int:
    if control.upper <= control.lower:
        return 0
    return 2 * int(np.floor((control.upper - control.lower) / control.interval + _COMPLETE))


def _is_every_half_step(control: RunControl) -> bool:
    # intervals that differ only by rounding, such as 0.3 and 3 * 0.1, count as equal
    return control.every <= 0.0 or control.every < control.interval * (1.0 - 1e-12)


def _buffer(width: int) -> FloatArray:
    return np.zeros((max(_BUFFER_NUMBERS // width, 4), width))


def _advance() -> Callable[..., int]:
    unit: Any = kernel("tidegate.csmp.machine.kernel").advance_csmp
    # ctypes gives up the GIL during a call
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5, ctypes.c_int64)(unit.address)
