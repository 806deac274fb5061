"""What a run computed (stage: csmp): rows, final values, messages; and how the next run begins where it ended.

As an ordinary result, what GOE writes and TRANS reads, columns are named by the blocks' labels, or "block 9" where there is none or it is taken; a
column's description is "block 9" always. Title, limits, intervals, date and processor time are among the result's options.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from tidegate.csmp.execution.check_control import output_blocks
from tidegate.csmp.execution.listing import DebugEntry
from tidegate.csmp.execution.run_messages import Remark, RunStatus
from tidegate.csmp.language.block_kinds import Parameters
from tidegate.csmp.language.control import RunControl
from tidegate.csmp.language.program import CsmpProgram
from tidegate.errors import UsageError
from tidegate.quick_dataclass import dataclass
from tidegate.results import Column, Result, Statistics

__all__ = ["CsmpRun", "Proceed"]

FloatArray = NDArray[np.float64]
Proceed = Callable[[float, Callable[[float], bool | None] | None], "CsmpRun"]

_RETAINED: Final = ("I", "T1", "U", "Z")
_STATUS: Final[dict[str, Literal["finished", "terminated", "failed"]]] = {
    "complete": "finished",
    "quit": "terminated",
    "error": "failed",
    "interrupted": "failed",
}


@dataclass(eq=False)
class CsmpRun:
    """What a run computed, up to its end or to what stopped it.

    Parameters
    ----------
    program, control : what was run; the program is a copy, as it was.
    source : the program that was handed over, which may have been changed since.
    times : of the stored rows.
    rows : (times, output blocks).
    final : output of every block when the run ended, as LOOK shows them; never the stored values.
    remarks : everything that was said, in order.
    status : "complete"; "quit" by a Q block; "error"; "interrupted".
    stop_time : the time that was reached.
    stopped_by : the block that ended the run; 0 for none.
    debug : the debug listing.
    cpu_seconds, seconds : processor time, and time on the clock.
    half_steps : done.
    native, called : blocks whose routines were compiled, and those whose routines were called.
    why_called : of each of the latter, why it was not followed and compiled.
    recorded : date and time of the run's start.
    error : exception of a user routine, if one ended the run.
    proceed : what ``go_on`` calls.
    """

    program: CsmpProgram
    source: CsmpProgram
    control: RunControl
    times: FloatArray
    rows: FloatArray
    final: dict[int, float]
    remarks: list[Remark]
    status: RunStatus
    stop_time: float
    stopped_by: int
    debug: list[DebugEntry]
    cpu_seconds: float
    seconds: float
    half_steps: int
    native: tuple[int, ...]
    called: tuple[int, ...]
    recorded: datetime
    error: BaseException | None = None
    why_called: Mapping[int, str] = field(default_factory=dict[int, str])
    proceed: Proceed | None = None

    @property
    def messages(self) -> list[str]:
        """Texts of everything that was said."""
        return [remark.text for remark in self.remarks]

    @property
    def success(self) -> bool:
        """True if the run came to its end, or to one that the model set."""
        return self.status in ("complete", "quit")

    @cached_property
    def result(self) -> Result:
        """The rows as a result of tidegate: ``run.result.save("outpt.nc")``, ``run.result.plot("Y")``."""
        return _result_of(self)

    def __getitem__(self, block: int | str) -> FloatArray:
        """Stored values of a block, by its number or label."""
        (number,) = output_blocks(self.program, [block])
        if number not in self.control.outputs:
            raise UsageError(f"block {number} was not stored", hint=f"ask for it: out={[*self.control.outputs, number]}")
        return self.rows[:, self.control.outputs.index(number)]

    def retained(self) -> dict[int, Parameters]:
        """Parameters with which the next run goes on where this one ended: P1 of every I, T1, U and Z block is its output.

        What a U block behind another one keeps inside is not among them; ``go_on`` loses nothing.
        """
        new: dict[int, Parameters] = {}
        for number, block in sorted(self.source.blocks.items()):
            ran = self.program.blocks.get(number)
            if block.kind in _RETAINED and ran is not None and ran.kind == block.kind:
                _, p2, p3 = self.source.parameter(number)
                new[number] = (self.final[number], p2, p3)
        return new

    def retain(self) -> None:
        """Put ``retained`` into the program that was handed over: the command RETAIN."""
        self.source.parameters.update(self.retained())

    def go_on(self, to: float, progress: Callable[[float], bool | None] | None = None) -> CsmpRun:
        r"""Run on from where this run ended, as if it had been longer: delays, pulses and jitter go on, too. It can be done once.

        Parameters
        ----------
        to : the new final time.
        progress : as for ``run``.

        Returns
        -------
        CsmpRun, with the rows behind those of this run.

        Raises
        ------
        CsmpError : its interval does not fit; a run of the initial stage alone may have none.
        UsageError : the run ended by an error or a Q block, has been gone on with, or was at that time already.

        Examples
        --------
        >>> from tidegate import csmp
        >>> ramp = csmp.load("RAMP\n2 O 1\n\n\n")
        >>> csmp.run(ramp, to=2, h=1).go_on(to=4)[2].tolist()
        [3.0, 4.0]
        """
        if self.status not in ("complete", "interrupted"):
            raise UsageError(f"the run ended at {self.stop_time:g} by itself ({self.status}) and cannot go on", hint="retain() and run again")
        if self.proceed is None:
            raise UsageError("the run has been gone on with already", hint="go on with what go_on returned")
        if not self.stop_time < to < math.inf:
            raise UsageError(f"the run is at {self.stop_time:g} and cannot go on to {to:g}", hint="give a later time")
        following = self.proceed(to, progress)
        self.proceed = None
        return following

    def __repr__(self) -> str:
        return f"<CsmpRun of {self.program.title or 'a program'} to {self.stop_time:g}, {len(self.times)} rows, {self.status}>"


def _column_names(run: CsmpRun) -> list[str]:
    """A name for each output block, all different."""
    blocks = run.program.blocks
    labels = [blocks[n].label if n in blocks else "" for n in run.control.outputs]
    wanted = [label or f"block {n}" for n, label in zip(run.control.outputs, labels, strict=True)]
    frequent = Counter(wanted)
    names: list[str] = []
    for n, name in zip(run.control.outputs, wanted, strict=True):
        unique = name if frequent[name] == 1 else f"block {n}"
        copy = 2
        while unique in names:
            unique, copy = f"block {n} ({copy})", copy + 1
        names.append(unique)
    return names


def _result_of(run: CsmpRun) -> Result:
    """The run's rows with names."""
    control, program = run.control, run.program
    columns = [Column(name, "output", description=f"block {n}") for n, name in zip(control.outputs, _column_names(run), strict=True)]
    values = {f"block {n} P{i + 1}": value for n, entry in sorted(program.parameters.items()) for i, value in enumerate(entry) if value != 0.0}
    return Result(
        program.title or "CSMP",
        columns,
        run.times,
        run.rows,
        parameters=values,
        statistics=Statistics(
            steps=max(run.half_steps, 0) // 2,
            evaluations=max(run.half_steps, -1) + 1,
            seconds=run.cpu_seconds,
            method="csmp",
            extra={"native_routines": len(run.native), "called_routines": len(run.called)},
        ),
        options={
            "method": "csmp",
            "title": program.title,
            "lower": control.lower,
            "upper": control.upper,
            "interval": control.interval,
            "every": control.every,
            "percent": control.percent,
            "blocks": list(control.outputs),
            "cpu_seconds": run.cpu_seconds,
            "recorded": run.recorded.isoformat(timespec="seconds"),
        },
        status=_STATUS[run.status],
        message="" if run.status == "complete" else "; ".join(run.messages),
    )
