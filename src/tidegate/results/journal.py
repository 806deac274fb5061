"""Results as frames that can be written one after the other while a run goes on (stage: results), and the way back.

The first frame says whose rows follow. What the events say of themselves repeats, so that each wording is written once and an event is its number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from tidegate.errors import UsageError
from tidegate.results.columns import Column
from tidegate.results.dense_outputs import ARRAYS, DenseOutputs, OutputFormulas
from tidegate.results.event_log import EventLog, StoredEvents, Wordings
from tidegate.results.frames import FileFrame, packed
from tidegate.results.interpolant import Interpolant
from tidegate.results.joined import joined
from tidegate.results.result import Result
from tidegate.results.statistics import Statistics
from tidegate.versions import version_of

__all__ = ["FORMAT", "JournalWriter", "read_journal"]

FORMAT: Final = 1  # raised when a file of this version could be misread by an older tidegate


class JournalWriter:
    """Turns one result after the other into bytes to append to a file; it remembers which wordings of events have been written."""

    def __init__(self) -> None:
        self._wordings = Wordings()
        self._has_begun = False

    def frames_of(self, part: Result) -> bytes:
        """The bytes of a part of a run."""
        pieces = [] if self._has_begun else [self._head(part)]
        self._has_begun = True
        new, numbers = self._wordings.taken_in(part.events)
        pieces.extend(packed("wording", facts) for facts in new)
        if part.interpolant is not None:
            kept = part.interpolant
            pieces.append(packed("polynomials", {"starts": len(kept)}, np.concatenate([kept.starts, kept.widths])))
            pieces.append(packed("coefficients", {"names": list(kept.names)}, kept.coefficients))
        outputs = part.dense_outputs
        if outputs is not None and outputs.formulas:
            numbers_of = np.concatenate([array.ravel() for array in outputs.arrays().values()])
            pieces.append(packed("outputs", {"shapes": outputs.shapes()}, numbers_of))
        if numbers:
            pieces.append(packed("events", {}, np.array(numbers)))
        if part.sensitivities is not None:
            pieces.append(packed("sensitivities", {}, part.sensitivities))
        # the frame that makes the others count comes last, so that a cut leaves no half
        rows = np.column_stack([part.t, part.values])
        facts = {name: getattr(part, name) for name in ("status", "message", "options", "parameters")}
        pieces.append(packed("rows", {**facts, "statistics": part.statistics.to_dict()}, rows))
        return b"".join(pieces)

    def _head(self, part: Result) -> bytes:
        facts = {
            "format": FORMAT,
            "tidegate": version_of("tidegate"),
            "model": part.model_name,
            "columns": [asdict(column) for column in part.columns],
            "parameter_units": part.parameter_units,
            "time_unit": part.time_unit,
            "folds_names": part.folds_names,
            "sensitivity_parameters": list(part.sensitivity_parameters),
            "has_sensitivities": part.sensitivities is not None,
            "formulas": "" if part.dense_outputs is None else part.dense_outputs.as_text(),
        }
        return packed("journal", facts)


def read_journal(frames: Iterable[FileFrame], formulas_in: Callable[[str], OutputFormulas | None], *, source: str = "the file") -> Result:
    """The result that was written down, complete or not.

    Parameters
    ----------
    frames : what ``JournalWriter`` made.
    formulas_in : makes of a text what it says of the outputs; it is empty where they could not be written.
    source : how an error names it.

    Raises
    ------
    UsageError
        If they hold no rows, or were written by a newer tidegate.
    """
    every = iter(frames)
    head = next((frame.facts for frame in every if frame.facts["is"] == "journal"), None)
    if head is None:
        raise UsageError(f"{source} holds no rows", hint="it was cut before the first of them was written; run the model again")
    if head["format"] > FORMAT:
        raise UsageError(
            f"{source} has format {head['format']}, of tidegate {head['tidegate']}; this is {version_of('tidegate')}, which reads up to {FORMAT}",
            hint="update tidegate",
        )
    parts = list(_parts(every, head, formulas_in(head.get("formulas", ""))))
    if not parts:
        raise UsageError(f"{source} holds no rows", hint="it was cut before the first of them was written; run the model again")
    return joined(parts)


def _parts(frames: Iterator[FileFrame], head: dict[str, Any], formulas: OutputFormulas | None) -> Iterator[Result]:
    columns = [Column(**facts) for facts in head["columns"]]
    wordings: list[dict[str, Any]] = []
    found: dict[str, FileFrame] = {}
    for frame in frames:
        kind = frame.facts["is"]
        if kind == "wording":
            wordings.append(frame.facts)
        found[kind] = frame
        if kind != "rows":
            continue
        facts, rows = frame.facts, frame.numbers
        yield Result(
            head["model"],
            columns,
            rows[:, 0],
            rows[:, 1:],
            parameters=facts["parameters"],
            sensitivity_parameters=head["sensitivity_parameters"],
            sensitivities=found["sensitivities"].numbers if head["has_sensitivities"] else None,
            events=EventLog(StoredEvents(wordings, found["events"].numbers) if "events" in found else []),
            statistics=Statistics.from_dict(facts["statistics"]),
            interpolant=_interpolant(found),
            dense_outputs=_dense_outputs(found, formulas),
            options=facts["options"],
            status=facts["status"],
            message=facts["message"],
            parameter_units=head["parameter_units"],
            time_unit=head["time_unit"],
            folds_names=head.get("folds_names", False),
        )
        found = {}


def _dense_outputs(found: dict[str, FileFrame], formulas: OutputFormulas | None) -> DenseOutputs | None:
    if "outputs" not in found or formulas is None:
        return None
    shapes: dict[str, list[int]] = found["outputs"].facts["shapes"]
    ends = np.cumsum([math.prod(shapes[name]) for name in ARRAYS])
    return DenseOutputs.with_arrays(formulas, dict(zip(ARRAYS, np.split(found["outputs"].numbers, ends[:-1]), strict=True)), shapes)


def _interpolant(found: dict[str, FileFrame]) -> Interpolant | None:
    if "polynomials" not in found:
        return None
    k = found["polynomials"].facts["starts"]
    numbers = found["polynomials"].numbers
    return Interpolant(numbers[:k], numbers[k:], found["coefficients"].numbers, found["coefficients"].facts["names"])
