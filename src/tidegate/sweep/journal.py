"""A sweep on its way into a file (stage: sweep): batches appended as they come, so that what is killed or stopped can be taken up again.

``FILE.part`` grows beside ``FILE``, frame by frame. When the last run is done the whole ``FILE`` is written from it, and ``FILE.part`` vanishes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from tidegate.errors import UsageError
from tidegate.results.files import claimed
from tidegate.results.frames import MAGIC, frames_in, packed
from tidegate.sweep.batch import Batch, from_frame, to_frame
from tidegate.sweep.members import Members
from tidegate.sweep.study import Study

__all__ = ["Journal", "digest_of", "journal_of", "of_another_sweep"]

_FIRST: Final = "sweep"


def digest_of(study: Study, members: Members) -> str:
    """What two sweeps have in common that ask the same of the same model."""
    problem = study.prepared.problem
    facts: dict[str, Any] = {
        "model": problem.model.identity(),
        "span": [problem.t_start, problem.t_end],
        "options": study.prepared.options.shown(),
        "shared": problem.p.tolist(),
        "names": members.names,
        "dims": members.dims,
        "shape": members.shape,
        "times": None if study.times is None else study.times.tolist(),
        "columns": [problem.model.layout.columns[k].name for k in study.columns],
        "sensitivities": study.sensitivity_parameters,
        "events": study.keeps_events,
    }
    found = hashlib.sha256(json.dumps(facts, default=str, sort_keys=True).encode())
    found.update(np.ascontiguousarray(members.values).tobytes())
    return found.hexdigest()


def journal_of(target: Path) -> Path:
    """Where runs are on their way into a file."""
    return Path(f"{target}.part")


def of_another_sweep(path: Path) -> UsageError:
    """What is said of a file that cannot be gone on with."""
    return UsageError(
        f"{path} is of another sweep: the model, its parameters or the options are not the same", hint="remove the file, or name another"
    )


class Journal:
    """Batches in a file that grows; a context in which the runs happen.

    Parameters
    ----------
    target : the file that the sweep is to become.
    digest : of the sweep.
    resume : whether to go on behind what is there already.

    Raises
    ------
    UsageError : there are runs of a sweep that was stopped, and nobody says to go on, or they are of another one; or it cannot be written.
    """

    def __init__(self, target: Path, digest: str, *, resume: bool) -> None:
        self.path = journal_of(target)
        self._target = target
        try:
            self._file = claimed(self.path)
            try:
                end = self._end(digest, resume=resume)
            except UsageError:
                os.close(self._file)
                raise
            os.ftruncate(self._file, end)  # a last frame that was cut
            os.lseek(self._file, end, os.SEEK_SET)
            if not end:
                self._write(MAGIC + packed(_FIRST, {"digest": digest}))
        except OSError as error:
            raise UsageError(
                f"cannot write {self.path}: {error.strerror or error}", hint="check that the folder exists and can be written to"
            ) from error

    def _end(self, digest: str, *, resume: bool) -> int:
        """Where the last whole frame of what is there ends."""
        first = next(frames_in(self.path), None)
        if first is not None and not resume:
            raise UsageError(f"{self.path} has runs of a sweep that was stopped", hint="resume=True goes on with it; or remove the file")
        if first is not None and (first.facts.get("is") != _FIRST or first.facts.get("digest") != digest):
            raise of_another_sweep(self.path)
        return max((frame.end for frame in frames_in(self.path)), default=0)

    def append(self, batch: Batch) -> None:
        """Write down a batch; it is the operating system's when this returns."""
        try:
            self._write(to_frame(batch))
        except OSError as error:
            raise UsageError(f"cannot write {self.path}: {error.strerror or error}", hint="free some space; resume=True then goes on") from error

    def batches(self) -> Iterator[Batch]:
        """All that has been written down."""
        for frame in frames_in(self.path):
            batch = from_frame(frame)
            if batch is not None:
                yield batch

    def close(self) -> None:
        """Write no more."""
        os.close(self._file)

    def remove(self) -> None:
        """The whole file has been written."""
        self.path.unlink()

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]
