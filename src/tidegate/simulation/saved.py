"""A simulation as a file and back (stage: simulation). In: facts, the state to go on from, the result so far; out: frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import UsageError
from tidegate.executive import Options
from tidegate.names import listed
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result, written_whole
from tidegate.results.dense_outputs import OutputFormulas
from tidegate.results.files import path_of
from tidegate.results.frames import MAGIC, frames_in, is_framed, packed
from tidegate.results.journal import JournalWriter, read_journal
from tidegate.versions import version_of

__all__ = ["FORMAT", "Saved", "differences", "plain_options", "read_saved", "write_saved"]

FloatArray = NDArray[np.float64]

FORMAT: Final = 1  # raised when a file of this version could be misread by an older tidegate
_KEPT: Final = (
    "outputs", "sensitivities", "method", "rtol", "atol", "max_step", "first_step", "max_steps", "parameters", "event_rows", "dense",
    "min_step", "max_halvings", "disc_halvings", "record_disabled",
)  # fmt: skip
_SHOWN: Final = 6


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file holds.

    Parameters
    ----------
    facts : everything but numbers: times, options, what the model is.
    state : of the integrator.
    result : everything recorded so far.
    """

    facts: dict[str, Any]
    state: Mapping[str, FloatArray]
    result: Result


def plain_options(options: Options) -> dict[str, Any]:
    """The options that JSON can hold: all but the caller's functions."""
    return {name: _plain(value) for name in _KEPT if (value := getattr(options, name)) is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in cast(Mapping[str, Any], value).items()}
    return np.asarray(value).tolist() if not isinstance(value, str | bool) else value


def write_saved(path: str | Path, facts: Mapping[str, Any], state: Mapping[str, FloatArray], result: Result) -> Path:
    """Write a file, whole or not at all."""
    with written_whole(path) as draft, draft.open("wb") as file:
        file.write(MAGIC + packed("simulation", {"format": FORMAT, "tidegate": version_of("tidegate"), **facts}))
        for name, numbers in state.items():
            file.write(packed("state", {"name": name}, numbers))
        file.write(JournalWriter().frames_of(result))
        file.write(packed("end"))
    return Path(path)


def read_saved(path: str | Path, formulas_in: Callable[[str], OutputFormulas | None]) -> Saved:
    """Read what ``write_saved`` wrote.

    Parameters
    ----------
    path : of the file.
    formulas_in : gives the formulas of the outputs, of which the file has a text.

    Raises
    ------
    UsageError
        If there is no such file, or it is another, is damaged, or was written by a newer tidegate.
    """
    if not path_of(path).is_file():
        raise UsageError(f"there is no file {path}", hint="give a file written by Simulation.save")
    try:
        frames = list(frames_in(path)) if is_framed(path) else []
    except (ValueError, KeyError, json.JSONDecodeError):
        frames = []
    first = frames[0].facts if frames else {}
    if first.get("is") == "journal":
        raise UsageError(f"{path} holds the rows of a run and no simulation", hint="tg.Result.load reads it")
    if first.get("is") != "simulation":
        raise UsageError(f"{path} is no saved simulation, or it is damaged", hint="give a file written by Simulation.save")
    if first["format"] > FORMAT:
        raise UsageError(
            f"{path} has format {first['format']}, of tidegate {first['tidegate']}; this is {version_of('tidegate')}, which reads up to {FORMAT}",
            hint="update tidegate",
        )
    if frames[-1].facts["is"] != "end":
        raise UsageError(f"{path} is cut or damaged: its end is missing", hint="take an older copy, or run the simulation again")
    state = {frame.facts["name"]: frame.numbers for frame in frames if frame.facts["is"] == "state"}
    return Saved(first, state, read_journal(frames, formulas_in, source=str(path)))


def differences(saved: Mapping[str, Mapping[str, str]], given: Mapping[str, Mapping[str, str]]) -> list[str]:
    """What the given model lacks, has more, and has otherwise than the saved one; nothing if they are the same."""
    sentences: list[str] = []
    for kind in sorted({*saved, *given}, key=[*saved, *given].index):
        old, new = saved.get(kind, {}), given.get(kind, {})
        groups = (
            ("missing", [name for name in old if name not in new]),
            ("added", [name for name in new if name not in old]),
            ("changed", [name for name in new if name in old and old[name] != new[name]]),
        )
        sentences += [f"{kind} {listed(names, _SHOWN)} {what}" for what, names in groups if names]
    return sentences
