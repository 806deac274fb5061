"""What a run says and how it ends (stage: csmp). In: the machine and why it stopped. Out: remarks in the report's words, and a status."""

from __future__ import annotations

from traceback import extract_tb
from typing import Final, Literal

from tidegate.csmp.execution.routine_callbacks import Failure
from tidegate.csmp.fortran_numbers import five
from tidegate.csmp.language.diagnostics import Diagnostic, notice, say
from tidegate.csmp.machine import offsets as m
from tidegate.csmp.machine.machine import Machine
from tidegate.errors import CsmpError, UsageError
from tidegate.quick_dataclass import dataclass
from tidegate.wrong_calls import explained

__all__ = ["Remark", "RunStatus", "ending"]

RunStatus = Literal["complete", "quit", "error", "interrupted"]

_ERRORS: Final = {
    m.STOP_DIVISION: "ATTEMPT TO DIVIDE BY ZERO",
    m.STOP_ROOT: "ATTEMPT TO TAKE SQRT",
    m.STOP_PERIOD: "PERIOD FOR T BLK",
    m.STOP_NOT_LOADED: "USER-DEFINED SUBROUTINE NOT LOADED",
}


@explained
@dataclass(frozen=True, slots=True)
class Remark:
    """Something a run said.

    Parameters
    ----------
    text : the message, as the report words it.
    is_diagnostic : the console prints ``! `` before it.
    block : which it is about; 0 for none.
    hint : what to try.
    """

    text: str
    is_diagnostic: bool = False
    block: int = 0
    hint: str = ""


def ending(machine: Machine, code: int, failure: Failure) -> tuple[list[Remark], RunStatus]:
    """What a run has to say, and how it ended.

    Parameters
    ----------
    code : why the machine stopped.
    failure : of a user routine.
    """
    remarks = [
        _diagnostic(say("ITERATION LIMIT", limit=int(limit), v=int(v), n=int(y), t=five(t)))
        for part in machine.records.notes
        for limit, v, y, t in part.tolist()
    ]
    block = machine.stopped_at
    if code == m.STOP_DONE:
        return remarks, "complete"
    if code == m.STOP_QUIT:
        said = notice("RUN TERMINATED BY A Q BLOCK").text
        reason = f"block {block} ended the run at time {machine.time:g}"
        return [*remarks, Remark(said, block=block, hint=reason)], "quit"
    if code == m.STOP_INTERRUPTED or isinstance(failure.error, KeyboardInterrupt):
        return [*remarks, Remark(notice("RUN TERMINATED BY A ^").text)], "interrupted"
    if code == m.STOP_ROUTINE:
        remarks += _faults_of(failure)
    else:
        remarks.append(_diagnostic(say(_ERRORS[code], n=block)))
    return [*remarks, _diagnostic(say("ERROR DURING MODEL EXECUTION"))], "error"


def _diagnostic(said: Diagnostic) -> Remark:
    return Remark(said.text, is_diagnostic=True, block=said.block, hint=said.hint)


def _faults_of(failure: Failure) -> list[Remark]:
    error = failure.error
    if isinstance(error, CsmpError):
        return [_diagnostic(one) for one in error.diagnostics]
    text = f"USER-DEFINED SUBROUTINE OF BLK {failure.block} FAILED"
    if isinstance(error, UsageError):
        return [Remark(f"{text}: {error.message}", is_diagnostic=True, block=failure.block, hint=error.hint)]
    hint = f"{_raised_at(error)}in Python, run.error is the exception, with its traceback"
    return [Remark(f"{text}: {type(error).__name__}: {error}", is_diagnostic=True, block=failure.block, hint=hint)]


def _raised_at(error: BaseException | None) -> str:
    """Where in the user's file: the command line shows no traceback."""
    frames = extract_tb(None if error is None else error.__traceback__)
    return f"look at {frames[-1].filename}:{frames[-1].lineno}; " if frames else ""
