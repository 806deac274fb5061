"""Every exception of tidegate; the tree, in one glance.

::

    TidegateError
    ├── ModelError                 the model itself is wrong; nothing was run
    │   ├── UntraceableError       Python that cannot be followed on symbols
    │   ├── InvalidModelError      one or more problems found by validation, all at once
    │   ├── CsmpError              what CSMP-10(ARL) has to say of a statement, a model file or a command
    │   ├── StructureError         structurally singular, or index greater than one
    │   └── UnitError              a unit that cannot be read or does not fit
    ├── UsageError                 a bad name, number, option or file given by the caller
    │   ├── DSblockOrderError      something asked of a DSblock before or after its time
    │   ├── WrongCallError         arguments that what is called does not take (also a TypeError)
    │   ├── UnknownNameError       a name that something does not have (also an AttributeError and a KeyError)
    │   └── UnknownEventError      a number that no event of a log has (also an IndexError)
    └── RunError                   a run stopped before its end; ``.result`` keeps what was computed
        ├── InitializationError    no consistent start or restart values
        │   └── SingularSystemError the algebraic equations cannot be solved for their unknowns
        ├── NotFiniteError         NaN or infinity in an equation
        ├── StepSizeError          the step size collapsed
        ├── SteadyStateError       no values at which nothing changes
        ├── TooManyStepsError      the step budget the caller set is used up
        ├── ConflictError          clauses of one instant that give one variable different values
        ├── UnsettledEventError    event rounds at one instant that do not end
        ├── ChatteringError        conditions that switch each other back and forth
        │   └── ZenoError          ever shorter intervals between events, accumulating at a time
        ├── ClockError             a clock whose period has become zero or negative
        ├── UndecidedError         bounds do not tell whether a condition changes, however short the step
        ├── AssertionFailedError   what the model says must hold does not
        ├── CallbackError          the user's own opaque function raised an exception
        └── ProcessError           a numbered error of processes with variables that flow; ``.resume()`` goes on after some

beside it, where ``except Exception`` does not get it,::

    KeyboardInterrupt
    └── InterruptedRunError        Ctrl-C stopped a run; ``.result`` keeps what was computed

and every warning::

    TidegateWarning                (a UserWarning) the run goes on, but a result is not what it seems
    ├── DSblockWarning             what a DSblock warns of, or does against the rules
    ├── SensitivityWarning         a derivative that was asked for does not exist
    ├── IdentifiabilityWarning     data that do not determine a parameter which is fitted to them
    ├── NotFiniteWarning           NaN or infinity in a recorded output or discrete variable
    ├── SlowRunWarning             steps so short, and so often in vain, that the run will hardly end
    ├── StartValueWarning          a start value that was given is not the one that the run begins with
    └── ToleranceWarning           unknowns so small that their tolerance is no small part of them
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tidegate.quick_dataclass import dataclass
from tidegate.shown_places import shown_frame, shown_place

__all__ = [
    "AssertionFailedError",
    "CallbackError",
    "ChatteringError",
    "ClockError",
    "ConflictError",
    "CsmpError",
    "DSblockOrderError",
    "DSblockWarning",
    "Diagnostic",
    "IdentifiabilityWarning",
    "InitializationError",
    "InterruptedRunError",
    "InvalidModelError",
    "ModelError",
    "NotFiniteError",
    "NotFiniteWarning",
    "Origin",
    "ProcessError",
    "RunError",
    "SensitivityWarning",
    "SingularSystemError",
    "SlowRunWarning",
    "StartValueWarning",
    "SteadyStateError",
    "StepSizeError",
    "StructureError",
    "TidegateError",
    "TidegateWarning",
    "ToleranceWarning",
    "TooManyStepsError",
    "UndecidedError",
    "UnitError",
    "UnknownEventError",
    "UnknownNameError",
    "UnsettledEventError",
    "UntraceableError",
    "UsageError",
    "WrongCallError",
    "ZenoError",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an item of a model was written: file and line, and a path of blocks or components.

    Parameters
    ----------
    file : name of the source file, or "" where there is none.
    line : line number in it, counted from 1; 0 where there is none.
    text : the source text, as the user wrote it.
    path : component or block path, e.g. ``"plant.pump"``.
    is_sealed : True inside a part that hides what is written in it; ``text`` is then a number, as ``"condition 3"``.
    """

    file: str = ""
    line: int = 0
    text: str = ""
    path: str = ""
    is_sealed: bool = False

    @property
    def inside(self) -> str:
        """How messages name the inside of a part that hides what is written in it."""
        return f"inside the sealed part {self.path}".rstrip()

    def __str__(self) -> str:
        return " ".join(part for part in (self.path, shown_place(self.file, self.line)) if part)


def told(origin: Origin) -> str:
    """A place with what is written there."""
    return f"{origin}: {origin.text}" if origin.text else str(origin)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A diagnostic of CSMP-10(ARL), said.

    Parameters
    ----------
    key : its name in the table of the language.
    text : the message as the report words it.
    block : number of the block it is about; 0 for none.
    line, file : where the statement stands; 0 and "" for none. Without a file, ``"<text>"``.
    statement : the line as it was written.
    hint : what to try.
    loop : after a sort failure, the blocks that need each other, along the signals; the first closes the loop.
    """

    key: str
    text: str
    block: int = 0
    line: int = 0
    file: str = ""
    statement: str = ""
    hint: str = ""
    loop: tuple[int, ...] = ()

    def __str__(self) -> str:
        place = f" (at {self.file}:{self.line})" if self.file and self.line else ""
        return f"{self.text}{place}" + (f"; {self.hint}" if self.hint else "")

    def at(self, origin: Origin | None) -> Diagnostic:
        """The same with the place of its statement, unless it has one."""
        if origin is None or self.line:
            return self
        return replace(self, file=origin.file, line=origin.line, statement=origin.text)


class _Told(BaseException):
    """What has a message, a place and a hint, whether it is an ``Exception`` or not."""

    def __init__(self, message: str, *, origin: Origin | None = None, hint: str = "") -> None:
        self.message = message
        self.origin = origin
        self.hint = hint
        super().__init__(self._text())

    def __reduce__(self) -> tuple[Any, ...]:
        # a constructor may want more than the text; everything else is in the attributes
        return _made_anew, (type(self), self.args), vars(self)

    def _text(self) -> str:
        lines = [self.message]
        if self.origin is not None and str(self.origin):
            lines.append(f"  at {told(self.origin)}")
        if self.hint:
            lines.append(f"  try: {self.hint}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """What notebooks show: the user's own lines, and the sentence."""
        from tidegate.user_frames import user_frames

        lines: list[str] = []
        for frame in user_frames(self):
            lines += [f"{shown_frame(frame.filename, frame.lineno)}, in {frame.name}", f"    {frame.line}", ""]
        return [*lines, f"{type(self).__name__}: {self}"]

    def add(self, sentence: str) -> None:
        """Append a sentence to the message."""
        self.message = f"{self.message}; {sentence}"
        self.args = (self._text(), *self.args[1:])


def _made_anew(kind: type[_Told], args: tuple[Any, ...]) -> _Told:
    return kind.__new__(kind, *args)


class TidegateError(_Told, Exception):
    """Base of every exception that tidegate raises on purpose.

    Parameters
    ----------
    message : what is wrong, in the user's words.
    origin : where it stands in the user's source.
    hint : what to try.
    """


class ModelError(TidegateError):
    """The model itself is wrong; nothing was run."""


class UntraceableError(ModelError):
    """A construct of the user's Python that cannot be followed on symbols."""


class InvalidModelError(ModelError):
    """One or more problems found by validation; ``problems`` lists them all.

    Parameters
    ----------
    problems : each a sentence and the place it is about (or None).
    hint : what to try.
    """

    def __init__(self, problems: list[tuple[str, Origin | None]], hint: str = "") -> None:
        self.problems = problems
        lines: list[str] = []
        for sentence, origin in problems:
            lines.append(f"{sentence}\n      at {told(origin)}" if origin and str(origin) else sentence)
        count = len(problems)
        head = f"the model has {count} problem{'s' if count > 1 else ''}:"
        super().__init__("\n  - ".join([head, *lines]), hint=hint)


class CsmpError(ModelError):
    """Diagnostics of the language CSMP-10(ARL); ``diagnostics`` lists all of a pass.

    Parameters
    ----------
    diagnostics : each with its message, file, line, block and a suggestion.
    """

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        if len(diagnostics) == 1:
            (only,) = diagnostics
            place = Origin(only.file, only.line, only.statement) if only.file else None
            super().__init__(only.text, origin=place, hint=only.hint)
        else:
            super().__init__("\n  - ".join([f"the model has {len(diagnostics)} problems:", *(str(one) for one in diagnostics)]))


class StructureError(ModelError):
    """The equations cannot determine the unknowns: structurally singular, or index above one."""


class UnitError(ModelError):
    """A unit that cannot be read, or does not fit where it is given."""


class UsageError(TidegateError):
    """A bad name, number, option or file given by the caller."""


class DSblockOrderError(UsageError):
    """Something was asked of a DSblock in a phase in which it must not be."""


class WrongCallError(UsageError, TypeError):
    """A call without arguments that are needed, or with some that are not taken, or of something that cannot be called or calculated with."""


class UnknownNameError(UsageError, AttributeError, KeyError):
    """Something was asked for a name it does not have; Python's own protocols see the error they expect."""

    __str__ = Exception.__str__


class UnknownEventError(UsageError, IndexError):
    """An event was asked for by a number that none of the log has, or by something that is no number."""


class _Stopped(_Told):
    """What ends a run before its time."""

    def __init__(
        self,
        message: str,
        *,
        time: float = float("nan"),
        origin: Origin | None = None,
        hint: str = "",
        result: Any = None,
    ) -> None:
        super().__init__(message, origin=origin, hint=hint)
        self.time = time
        self.result = result


class RunError(_Stopped, TidegateError):
    """A run stopped before its end; ``result`` holds everything up to there.

    Parameters
    ----------
    time : simulated time of the failure.
    result : the ``Result`` so far; None only where nothing was computed.
    """


class InitializationError(RunError):
    """No consistent start or restart values could be found."""


class SingularSystemError(InitializationError):
    """The algebraic equations cannot be solved for their unknowns at this point."""


class NotFiniteError(RunError):
    """NaN or infinity appeared in an equation."""


class StepSizeError(RunError):
    """The step size became too small to advance time."""


class SteadyStateError(RunError):
    """No values were found at which nothing changes, or what was found contradicts a condition, a clause or a clock."""


class TooManyStepsError(RunError):
    """The number of steps the caller allowed is used up."""


class ConflictError(RunError):
    """Clauses that happened in the same round of one instant gave one variable different values."""


class UnsettledEventError(RunError):
    """Event iteration at one instant that does not converge."""


class ChatteringError(RunError):
    """Conditions that switch each other back and forth without time advancing."""


class ZenoError(ChatteringError):
    """Ever shorter intervals between events, accumulating at a finite time."""


class ClockError(RunError):
    """A clock whose period has become zero, negative or NaN: it would never tick again."""


class UndecidedError(RunError):
    """Nothing tells whether a condition changes just ahead, however short the step."""


class AssertionFailedError(RunError):
    """Something that the model says must hold does not."""


class CallbackError(RunError):
    """An opaque function of the user raised an exception (kept as ``__cause__``)."""


class ProcessError(RunError):
    """One of the numbered errors of processes with variables that flow; behind some the run goes on once it is repaired.

    Parameters
    ----------
    message : what is wrong.
    trouble : what was found, with everything that is an attribute here.
    name : whom it is about.
    changes : what may be repaired; None where the run cannot go on.

    Attributes
    ----------
    number : 1 to 21.
    name, culprit : the variable (1), continuous body (11 to 13), sample (6, 14 to 16) or element of a group (21) it is about; "" and None for none.
    time, dt, dtmin, dtmax : when it was found, from where the step came, and the limits then.
    kind, allowed, estimated, state : of number 1: by which method, the error the culprit may have, the one it has, and its state with it.
    changes : what `resume` takes; None where the run cannot go on.
    result : the ``Result`` so far.
    """

    def __init__(
        self, message: str, *, trouble: Any, name: str = "", changes: tuple[str, ...] | None = None, origin: Origin | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, time=float(trouble.time), origin=origin, hint=hint)
        self.number: int = trouble.number
        self.kind: str = trouble.kind
        self.name, self.culprit = name, trouble.culprit
        self.dt, self.dtmin, self.dtmax = float(trouble.dt), float(trouble.dtmin), float(trouble.dtmax)
        self.allowed: float | None = trouble.allowed
        self.estimated: float | None = trouble.estimated
        self.state: float | None = trouble.state
        self.changes = changes
        self.going_on: Callable[[dict[str, Any]], Any] | None = None

    @property
    def can_go_on(self) -> bool:
        """Whether the run can go on."""
        return self.changes is not None

    def resume(self, **changes: Any) -> Any:
        """Repair what is wrong, and go on to where the run was going.

        Parameters
        ----------
        changes : those of `changes` that are to be different: of number 1 "method", "dtmin", "dtmax", "max_halvings" and "disc_halvings" of the
            environment, "abserror" and "relerror" of the variable it is about; of numbers 4 and 5 "dtmin" and "dtmax"; of number 6 "every" of the
            sample. Behind number 21 the run goes on as it is.

        Returns
        -------
        Any
            What ``env.run`` would have returned.

        Raises
        ------
        UsageError
            If the run cannot go on, has gone on already, or the change is not allowed or makes no sense. Nothing is changed then.
        """
        if self.going_on is None:
            raise UsageError(f"behind number {self.number} no run goes on", hint="mend the model, and start a new environment")
        return self.going_on(changes)

    def __reduce__(self) -> tuple[Any, ...]:
        # neither the environment nor its parts go along to another process
        kept = vars(self) | {"culprit": None, "going_on": None}
        return _made_anew, (type(self), self.args), kept


class InterruptedRunError(_Stopped, KeyboardInterrupt):
    """Ctrl-C stopped the run; ``result`` holds everything up to there. It is no ``Exception``, so that a sweep that goes on after errors ends.

    Parameters
    ----------
    time : simulated time when it came.
    result : the ``Result`` so far.
    """


class TidegateWarning(UserWarning):
    """Base of every warning of tidegate: the run went on, but something in its result is not what it seems."""


class SensitivityWarning(TidegateWarning):
    """A derivative that was asked for does not exist: a condition only touches its zero. It is NaN in the result. Or a memory is held."""


class IdentifiabilityWarning(TidegateWarning):
    """Parameters were fitted to data that do not determine them."""


class NotFiniteWarning(TidegateWarning):
    """An output or discrete variable was recorded as NaN or infinity."""


class StartValueWarning(TidegateWarning):
    """A start value was given to a variable that follows from others, and comes out as another one."""


class ToleranceWarning(TidegateWarning):
    """Something that matters is within the tolerances: an unknown to one that nobody gave, or the motion that an event comes from."""


class SlowRunWarning(TidegateWarning):
    """Steps are so short, and so often tried in vain, that the run will hardly end: noise, or rounding above the tolerance."""


class DSblockWarning(TidegateWarning):
    """What a DSblock has to say, or what it does against the rules and the run gets over."""
