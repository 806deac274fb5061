"""What a user routine sees of the run (stage: csmp): inputs, parameters, every output, the additional outputs it may set.

The same attributes are there when a routine is followed on symbols (``traced``), but for those that change the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.csmp.language.diagnostics import say
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.machine import offsets as m
from tidegate.errors import CsmpError
from tidegate.quick_dataclass import dataclass

__all__ = ["Context", "Outputs", "RunFacts"]


@dataclass(frozen=True)
class RunFacts:
    """What does not change in a run.

    Parameters
    ----------
    title : of the model.
    lower, upper, interval, every, percent : as given for the run; ``percent`` is the relative change that is stored.
    half_step : half the integration interval.
    n_blocks, n_integrators, n_delays, n_functions, n_constants : blocks in use: all; I and T1; U; F; K.
    sizes : what the start of the session was told: highest block number, I and T1, U and F blocks; empty for none.
    is_batch : nobody watches the run.
    debug : time limits of the debug listing, if there is one.
    files : names of the session's files by channel.
    """

    title: str
    lower: float
    upper: float
    interval: float
    every: float
    percent: float
    n_blocks: int
    n_integrators: int
    n_delays: int
    n_functions: int
    n_constants: int
    sizes: tuple[int, ...] = ()
    is_batch: bool = False
    debug: tuple[float, float] | None = None
    files: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def half_step(self) -> float:
        """Half the integration interval."""
        return 0.5 * self.interval


class Outputs(MutableMapping[int, float]):
    """Outputs by block number; 1 is the time. A routine may write any of them but the time.

    Attributes
    ----------
    written : numbers of the blocks that were written to; whoever calls the routine empties it.
    """

    def __init__(self, values: NDArray[np.float64], program: CsmpProgram) -> None:
        self._values = values
        self._program = program
        self.written: set[int] = set()

    def _place(self, number: int) -> int:
        if number == 1 or number in self._program.blocks:
            return number
        raise CsmpError([say("BLK NOT USED", n=number)])

    def __getitem__(self, number: int) -> float:
        return float(self._values[self._place(number)])

    def __setitem__(self, number: int, value: float) -> None:
        if number == 1:
            raise CsmpError([say("BLK 1 RESERVED FOR TIME")])
        self._values[self._place(number)] = value
        self.written.add(number)

    def __delitem__(self, number: int) -> None:
        raise TypeError("an output cannot be deleted")

    def __iter__(self) -> Iterator[int]:
        return iter([1, *self._program.numbers])

    def __len__(self) -> int:
        return len(self._program.blocks) + 1


class Context:
    """One user block, or function block with a routine, during a run.

    Parameters
    ----------
    block : its number.
    program : what is run.
    memory : of the machine.
    run : what does not change.

    Attributes
    ----------
    out : every block's output by number; if a block is later in the sort list, its output of half a step ago.
    label : of the block.
    run : ``RunFacts``.
    """

    def __init__(self, block: int, program: CsmpProgram, memory: m.Memory, run: RunFacts) -> None:
        self.block = block
        self.label = program.blocks[block].label
        self.run = run
        self._program = program
        self._memory = memory
        self._values = memory.numbers(m.O_X)
        self._parameters = memory.numbers(m.O_P)
        self._matrix = memory.integers(m.O_MATRIX)
        self.out = Outputs(self._values, program)

    def _input(self, place: int) -> float:
        source = int(self._matrix[5 * self.block + place])
        return float(self._values[source]) if source >= 0 else -float(self._values[-source])

    @property
    def x1(self) -> float:
        """First input; 0 if there is none."""
        return self._input(1)

    @property
    def x2(self) -> float:
        """Second input."""
        return self._input(2)

    @property
    def x3(self) -> float:
        """Third input."""
        return self._input(3)

    @property
    def p1(self) -> float:
        """First parameter."""
        return float(self._parameters[3 * self.block])

    @property
    def p2(self) -> float:
        """Second parameter."""
        return float(self._parameters[3 * self.block + 1])

    @property
    def p3(self) -> float:
        """Third parameter."""
        return float(self._parameters[3 * self.block + 2])

    @property
    def time(self) -> float:
        """The time."""
        return float(self._values[1])

    @property
    def stage(self) -> int:
        """1 at the start, 2 at a half step, 3 at a complete step."""
        return int(self._memory.h[m.STAGE])

    @property
    def h(self) -> float:
        """The integration interval."""
        return self.run.interval

    @property
    def is_interrupted(self) -> bool:
        """The run has been asked to end at the next output time."""
        return bool(self._memory.h[m.IS_INTERRUPTED])

    def parameters(self, number: int) -> NDArray[np.float64]:
        """P1, P2, P3 of any block, which may be written to; what the language itself keeps there is seen too."""
        self._known(number)
        return self._parameters[3 * number : 3 * number + 3]

    def code(self, number: int) -> int:
        """Internal code of a block's type."""
        return int(self._matrix[5 * self._known(number)])

    def inputs(self, number: int) -> tuple[int, int, int]:
        """Numbers of the blocks that a block reads, negative where a summer subtracts."""
        first, second, third = self._matrix[5 * self._known(number) + 1 : 5 * number + 4].tolist()
        return first, second, third

    def internal(self, number: int) -> int:
        """The internal integer M of a block."""
        return int(self._matrix[5 * self._known(number) + 4])

    def set_input(self, number: int, place: int, source: int) -> None:
        """Let a block read another one; the sort list stays as it is.

        Parameters
        ----------
        number : of the block.
        place : 1, 2 or 3.
        source : number of the block to read, 0 for none.
        """
        if place not in (1, 2, 3):
            raise ValueError(f"a block has inputs 1, 2 and 3, not {place!r}")
        if source:
            self._known(source)
        self._matrix[5 * self._known(number) + place] = source

    def set_uo(self, number: int, value: float) -> None:
        """Set an additional output.

        Parameters
        ----------
        number : of a UO block whose B1 is this block.

        Raises
        ------
        CsmpError : it is none; the run ends.
        """
        block = self._program.blocks.get(number)
        if block is None or block.kind != "UO":
            raise CsmpError([say("NOT A UO BLK", n=number)])
        if block.inputs[0] != self.block:
            raise CsmpError([say("I/P B1 FOR UO BLK", n=number, m=self.block)])
        self._values[number] = value

    def quit(self) -> None:
        """End the run when this pass through the blocks is finished, as a Q block does."""
        self._memory.h[m.IS_QUIT] = self.block

    def _known(self, number: int) -> int:
        if number != 1 and number not in self._program.blocks:
            raise CsmpError([say("BLK NOT USED", n=number)])
        return number

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]

    def __repr__(self) -> str:
        values: dict[str, Any] = {"x1": self.x1, "x2": self.x2, "x3": self.x3, "time": self.time}
        return f"<Context of block {self.block}: {', '.join(f'{name}={value:g}' for name, value in values.items())}>"
