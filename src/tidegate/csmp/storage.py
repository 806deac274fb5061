"""A run's rows as an ordinary result of tidegate (stage: csmp): what GOE writes to the block output file and TRANS reads.

Columns are named by the blocks' labels, or "block 9" where there is none or it is taken; a column's description is "block 9" always. Title, limits,
intervals, date and processor time are among the result's options.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from tidegate.results import Column, Result, Statistics

if TYPE_CHECKING:
    from tidegate.csmp.csmp_run import CsmpRun

__all__ = ["column_names", "result_of"]

_STATUS: Final[dict[str, Literal["finished", "terminated", "failed"]]] = {
    "complete": "finished",
    "quit": "terminated",
    "error": "failed",
    "interrupted": "failed",
}


def column_names(run: CsmpRun) -> list[str]:
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


def result_of(run: CsmpRun) -> Result:
    """The run's rows with names."""
    control, program = run.control, run.program
    columns = [Column(name, "output", description=f"block {n}") for n, name in zip(control.outputs, column_names(run), strict=True)]
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
