"""What a run cost (stage: results). In go the integrator's counters, out comes a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Final, Self

from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import seconds
from tidegate.wrong_calls import explained
from tidegate.wrong_names import answering

__all__ = ["Statistics"]


_RESULT: Final = "it is the result that has it"
_WORDS: Final = {
    "nfev": "statistics.evaluations", "njev": "statistics.jacobians", "nlu": "statistics.factorizations", "nsteps": "statistics.steps",
    "time": "statistics.seconds", "t": _RESULT, "final": _RESULT,
}  # fmt: skip


@explained
@answering("statistics", _WORDS)
@dataclass(frozen=True, slots=True)
class Statistics:
    """Counters and times of one run.

    Parameters
    ----------
    steps, rejected : accepted and rejected steps.
    evaluations, jacobians, factorizations : of the model's functions and of the iteration matrix.
    newton_iterations, newton_failures : of the corrector.
    events : state, time and step events.
    flips : relations that changed sign without changing a condition.
    undecided : steps made shorter because bounds did not tell in time whether a condition changes in them.
    examined, proved : with ``events="proved"``, steps that were examined for events once more, and those of which it is proved that none was missed.
    opaque_calls : calls into Python during the run.
    seconds, compile_seconds : of the run, and before it.
    method : name of the integration method.
    extra : what else a method counts.
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorizations: int = 0
    newton_iterations: int = 0
    newton_failures: int = 0
    events: int = 0
    flips: int = 0
    undecided: int = 0
    examined: int = 0
    proved: int = 0
    opaque_calls: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    method: str = ""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_dict(self) -> dict[str, Any]:
        """Every number by its name."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of ``to_dict``; names of a newer version go to ``extra``."""
        known = {name: value for name, value in values.items() if name in cls.__dataclass_fields__ and name != "extra"}
        rest = {name: value for name, value in values.items() if name not in cls.__dataclass_fields__}
        return cls(**known, extra={**values.get("extra", {}), **rest})

    def rows(self) -> list[tuple[str, str]]:
        """Label and text of everything worth reading: method, times, and the counters that are not zero."""
        rows = [("method", self.method)] if self.method else []
        for name, value in self.to_dict().items():
            if isinstance(value, int) and name not in ("examined", "proved") and (value or name in ("steps", "events")):
                rows.append((name.replace("_", " "), f"{value}"))
        if self.examined:
            rows.append(("no event of the numerical solution missed:", f"proved for {self.proved} of {self.examined} steps"))
        rows.extend((name.replace("_", " "), str(value)) for name, value in self.extra.items())
        rows.append(("run", seconds(self.seconds)))
        if self.compile_seconds:
            rows.append(("compilation", seconds(self.compile_seconds)))
        return rows

    def __str__(self) -> str:
        return ", ".join(f"{label} {text}" for label, text in self.rows())

    def _repr_html_(self) -> str:
        from html import escape

        body = "".join(f"<tr><th style='text-align:left'>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in self.rows())
        return f"<table>{body}</table>"
