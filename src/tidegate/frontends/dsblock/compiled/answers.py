"""What the utilities of DSblock 3.3 do for one model of a compiled block: declarations while it is defined, messages and inquiries at any time.

In: requests of the block. Out: what it has declared, as entries of a description; messages; problems, a sentence each. Source: Otter, DSblock 3.3
(DLR 1994), utilities BLO and BLO1 to BLO3.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tidegate.frontends.dsblock.compiled.requests import Request, integers
from tidegate.frontends.dsblock.description import Limits, ParameterEntry, ParameterKind, SignalEntry, SignalKind
from tidegate.frontends.dsblock.messages import MessageValues, file_name, message
from tidegate.frontends.dsblock.proposals import Environment

__all__ = ["ModelAnswers"]

_LOG: Final = logging.getLogger("tidegate.dsblock")
_SIGNALS: Final = {kind.value: kind for kind in SignalKind}
_PARAMETERS: Final = {kind.value[0]: kind for kind in ParameterKind}
_REALS: Final = {1: "t_end", 2: "output_step", 3: "first_step", 4: "min_step", 5: "max_step", 6: "rtol", 7: "delay_resolution"}
_INTEGERS: Final = {1: "max_evaluations", 2: "max_order", 3: "prefers_stiff", 4: "communication", 5: "precision", 6: "output_intervals"}
_COMMUNICATION: Final = {1: "restart", 2: "exact", 3: "interpolate"}
_UNITS: Final = range(30, 100)  # of Fortran: those below are often used by fixed numbers
_units_in_use: set[int] = set()  # they are the process's, as Fortran's files are
_SEVERE: Final = 1
_MAX_DIMENSIONS: Final = 6


class ModelAnswers:
    """See ``requests.Answers``.

    Parameters
    ----------
    name : of the block, in messages.
    data_file : the answer to BLO2MF.

    Attributes
    ----------
    stage : IOPT while BLOCKB is carried out, else 0.
    errors : messages of TYPE 1 that have not been told yet.
    warnings : those of TYPE 0.
    problems : what is against the rules.
    """

    def __init__(self, name: str, data_file: str | None, folders: tuple[Path, ...]) -> None:
        self.name, self._data_file, self._folders = name, data_file, folders
        self.environment = Environment()
        self.stage = 0
        self.text, self.version, self.help_file = "", "", ""
        self.signals: list[SignalEntry] = []
        self.parameters: list[ParameterEntry] = []
        self.dependence: tuple[int, list[int], int, int] | None = None
        self.n_inputs = 0
        self.proposals: dict[str, Any] = {}
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.problems: list[str] = []
        self.trouble: BaseException | None = None
        self._last_is_parameter = False

    def answer(self, utility: str, request: Request) -> None:
        """Carry out a utility; no exception leaves, for native code is waiting."""
        try:
            stage = utility[3]
            if stage.isdigit() and int(stage) != self.stage:
                where = f"in BLOCKB with IOPT = {self.stage}" if self.stage else "while the block was not being defined"
                self.problems.append(f"{utility} was called {where}; it may be called in BLOCKB with IOPT = {stage} only")
                return
            if utility not in ("BLO3MD", "BLO3MI") and not utility.startswith(("BLOPRI", "BLOER")):
                was_parameter, self._last_is_parameter = self._last_is_parameter, False
                self._carried_out(utility, request)
                self._last_is_parameter = utility[3:5] in ("3P", "3R") or (was_parameter and not stage.isdigit())
            else:
                self._carried_out(utility, request)
        except BaseException as error:  # noqa: BLE001 - it must not cross native code; the caller of the callback raises it
            self.trouble = error

    def _carried_out(self, utility: str, request: Request) -> None:
        match utility[3:]:
            case "PRI":
                _LOG.info("DSblock %s: %s", self.name, request.string(0))
            case "ERL" | "ERS":
                self._message(request)
            case "1DT" | "2DT":
                self.text, self.version = request.string(0), request.string(1)
            case "1HT" | "2HT":
                self.help_file = file_name(request.string(0))
            case "2MF":
                self._data(request)
            case "LUB" | "LUC" | "SID" | "SII":
                self._inquiry(utility, request)
            case "3MD" | "3MI":
                self._bounds(utility, request)
            case "3UX":
                gu, gxd, kxd = request.number[0], request.number[1], request.number[2]
                self.dependence = (gu, integers(request.integers, self.n_inputs) if gu == 2 else [], gxd, kxd)
            case "3DD" | "3DE" | "3DI":
                self._proposal(utility, request)
            case _:
                self._declared(utility, request)

    # -- names --------------------------------------------------------------------------------------------------------------------------------

    def _declared(self, utility: str, request: Request) -> None:
        what, letter = utility[4], utility[5]
        name, text = request.string(0), request.string(1)
        shape: tuple[int, ...] = ()
        if what in "RT":
            if not 0 <= request.n <= _MAX_DIMENSIONS:
                self.problems.append(f"{utility} gives {name} {request.n} dimensions; from 0 to {_MAX_DIMENSIONS} are possible")
            else:
                shape = tuple(integers(request.integers, request.n))
        if what in "PR":
            kind = _PARAMETERS[letter]
            first = sum(entry.size for entry in self.parameters if entry.kind is kind)
            self.parameters.append(ParameterEntry(name, kind, (), shape, first, len(self.parameters) + 1, text))
            return
        signal = _SIGNALS[letter]
        first = sum(entry.size for entry in self.signals if entry.kind is signal)
        self.signals.append(SignalEntry(name, signal, shape, first, text))

    def _bounds(self, utility: str, request: Request) -> None:
        kind = ParameterKind.REAL if utility == "BLO3MD" else ParameterKind.INTEGER
        if not self._last_is_parameter or not self.parameters or self.parameters[-1].kind is not kind:
            wanted = "a real" if kind is ParameterKind.REAL else "an integer"
            self.problems.append(f"{utility} was not called directly behind the declaration of {wanted} parameter, to which its bounds belong")
            return
        low, high = request.number[0], request.number[1]
        entry = self.parameters[-1]
        if low not in (0, 1, 2) or high not in (0, 1, 2):
            self.problems.append(f"{utility} behind {entry.name} says MIN = {low} and MAX = {high}; 0, 1 and 2 are possible")
            return
        lower, upper = request.real[0] if low else float("-inf"), request.real[1] if high else float("inf")
        self.parameters[-1] = replace(entry, limits=Limits(lower, upper, low == 1, high == 1))

    # -- settings -----------------------------------------------------------------------------------------------------------------------------

    def _proposal(self, utility: str, request: Request) -> None:
        number = request.number[0]
        if utility == "BLO3DE":
            if number == 1:
                self.proposals["nominal"] = tuple(float(request.reals[k]) for k in range(request.n_reals))
            return
        known = _REALS if utility == "BLO3DD" else _INTEGERS
        if number not in known:
            _LOG.info("DSblock %s: %s with TYPE = %d is not known and left out", self.name, utility, number)
            return
        value: Any = request.real[0] if utility == "BLO3DD" else request.number[1]
        match known[number]:
            case "prefers_stiff":
                value = value == 1
            case "communication":
                value = _COMMUNICATION.get(value)
            case "max_evaluations":
                value = value if value > 0 else None
            case _:
                pass
        self.proposals[known[number]] = value

    def _inquiry(self, utility: str, request: Request) -> None:
        if utility == "BLOLUC":
            _units_in_use.difference_update(integers(request.integers, request.n))
            return
        number = request.number[0]
        request.ierr[0] = 0
        if utility == "BLOLUB":
            free = [unit for unit in _UNITS if unit not in _units_in_use][:number]
            if len(free) < number:
                request.ierr[0] = 1
                return
            _units_in_use.update(free)
            for k, unit in enumerate(free):
                request.integers_out[k] = unit
            return
        env = self.environment
        reals = {1: env.time_tolerance, 2: env.delay_resolution or 0.0, 3: env.t_end, 4: env.event_epsilon}
        whole = {1: env.precision, 2: env.debug, 3: env.max_event_rounds}
        answers: dict[int, Any] = reals if utility == "BLOSID" else whole
        if number not in answers:
            request.ierr[0] = 1
        elif utility == "BLOSID":
            request.real_out[0] = answers[number]
        else:
            request.integers_out[0] = answers[number]

    # -- texts --------------------------------------------------------------------------------------------------------------------------------

    def _data(self, request: Request) -> None:
        if self._data_file is None:
            _LOG.info("DSblock %s asks for a file (%s); none was given with data_file=", self.name, request.string(0))
        elif not request.answer_text(self._data_file):
            self.problems.append(f"BLO2MF has room for {request.room} letters, and data_file={self._data_file!r} is longer")

    def _message(self, request: Request) -> None:
        values = MessageValues(
            integers(request.integers, request.n),
            [float(request.singles[k]) for k in range(request.n_singles)],
            [float(request.reals[k]) for k in range(request.n_reals)],
            request.strings() if request.n_texts else (),
        )
        text = message(request.number[0], request.string(0), request.string(1), values, self._folders)
        (self.errors if request.number[1] == _SEVERE else self.warnings).append(text)
