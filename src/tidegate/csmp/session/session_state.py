"""What a session of CSMP-10(ARL) has come to (stage: the language's own method): model, what it still lacks, control parameters, channels."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from tidegate.csmp.execution.csmp_run import CsmpRun
from tidegate.csmp.execution.routines import Routines
from tidegate.csmp.execution.run_program import SEED
from tidegate.csmp.language.program import CsmpProgram
from tidegate.csmp.language.statements import Limits
from tidegate.csmp.session.model_file import ModelFile
from tidegate.csmp.session.session_channels import Channels
from tidegate.quick_dataclass import dataclass

__all__ = ["DebugWanted", "Integration", "SessionOutput", "SessionState"]


@dataclass(frozen=True, slots=True)
class Integration:
    """Reply to INT: limits of time and the interval."""

    lower: float
    upper: float
    interval: float


@dataclass(frozen=True, slots=True)
class SessionOutput:
    """Reply to OUT: blocks, the time between rows, and the change in per cent below which a value is not stored.

    ``A`` and ``AS`` stay all blocks, whichever there are when the model is run.
    """

    wanted: tuple[int, ...] | str
    every: float
    percent: float


@dataclass(frozen=True, slots=True)
class DebugWanted:
    """Reply to DEB: first and last time, and whether the listing goes to the terminal."""

    lower: float
    upper: float
    is_on_terminal: bool


@dataclass
class SessionState:
    """A session.

    Parameters
    ----------
    program : the model; statements edit it.
    limits : of sizes, as told at the start.
    folder : where file names begin.
    routines : user routines.
    seed : of jitter blocks.
    channels : the three.
    input_file : the file of the model input channel, once it is read.
    has_configurations : the last set of configuration statements was found good.
    has_parameters : parameter statements have been given since then, or an empty set.
    integration, output, debug : control parameters; None before they are given.
    last : the last run.
    stored : sections that this session has written to the file of the model output channel.
    """

    program: CsmpProgram = field(default_factory=CsmpProgram)
    limits: Limits = field(default_factory=Limits)
    folder: Path = field(default_factory=Path)
    routines: Routines | None = None
    seed: int = SEED
    channels: Channels = field(default_factory=Channels)
    input_file: ModelFile | None = None
    has_configurations: bool = False
    has_parameters: bool = False
    integration: Integration | None = None
    output: SessionOutput | None = None
    debug: DebugWanted | None = None
    last: CsmpRun | None = None
    stored: set[str] = field(default_factory=set[str])

    @property
    def functions_missing(self) -> list[int]:
        """Function blocks without coordinate pairs."""
        program = self.program
        return [number for number in program.numbers if program.blocks[number].kind == "F" and not program.functions.get(number)]

    @property
    def is_complete(self) -> bool:
        """Whether the model can be run."""
        return self.has_configurations and self.has_parameters and not self.functions_missing
