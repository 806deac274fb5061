"""What ``define(self, declare)`` of a block is given: it names signals and parameters, and dimensions follow (BLOCKB, IOPT = 2 and 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, Literal

import numpy as np

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.checks import check
from tidegate.frontends.dsblock.description import (
    Dependence,
    Description,
    Limits,
    ParameterEntry,
    ParameterKind,
    Proposals,
    SignalEntry,
    SignalKind,
)
from tidegate.model import Form
from tidegate.names import suggestion

__all__ = ["Declaration"]

_FORMS: Final = {"ode": Form.ODE, "dae": Form.DAE, "hdae": Form.HDAE}
_PROPOSALS: Final = tuple(Proposals.__dataclass_fields__)


class Declaration:
    """Takes a block's declarations; ``description`` is all of them.

    Parameters
    ----------
    block_name : what the block is called in messages.

    Examples
    --------
    >>> declare = Declaration("ball")
    >>> declare.state("height", start=1.0, unit="m")
    >>> declare.real("g", 9.81, minimum=0.0, open="minimum")
    >>> declare.description().names(SignalKind.STATE)
    ('height',)
    """

    def __init__(self, block_name: str) -> None:
        self._name = block_name
        self._form: Form = Form.ODE
        self._parts = (0, 0, 0, 0, 0)
        self._signals: list[SignalEntry] = []
        self._parameters: list[ParameterEntry] = []
        self._starts: dict[str, tuple[Any, Any]] = {}
        self._depends: tuple[Any, bool, bool] | None = None
        self._proposals = Proposals()
        self._discretes: dict[str, float] = {}
        self._t0 = 0.0
        self._problems: list[str] = []

    # -- signals ------------------------------------------------------------------------------------------------------------------------------

    def state(self, name: str, start: Any = 0.0, *, rate: Any = 0.0, shape: tuple[int, ...] | None = None, unit: str = "", text: str = "",
              nominal: float | None = None) -> None:  # fmt: skip
        """A state, or a descriptor variable of a DAE or an HDAE (X).

        Parameters
        ----------
        start : start value; an array's shape counts where ``shape`` is not given.
        rate : start value of the derivative, of a DAE.
        nominal : its typical size.
        """
        shape = np.shape(start) if shape is None else shape
        self._starts[name.upper()] = (self._filled(name, start, shape), self._filled(name, rate, shape))
        self._signal(name, SignalKind.STATE, shape, unit, text, nominal)

    def input(self, name: str, *, shape: tuple[int, ...] = (), unit: str = "", text: str = "") -> None:
        """An input (U)."""
        self._signal(name, SignalKind.INPUT, shape, unit, text)

    def output(self, name: str, *, shape: tuple[int, ...] = (), unit: str = "", text: str = "") -> None:
        """An output (Y): what other blocks can be connected to."""
        self._signal(name, SignalKind.OUTPUT, shape, unit, text)

    def indicator(self, name: str, *, shape: tuple[int, ...] = (), unit: str = "", text: str = "") -> None:
        """An indicator (Z): where it crosses zero there is a state event."""
        self._signal(name, SignalKind.INDICATOR, shape, unit, text)

    def auxiliary(self, name: str, *, shape: tuple[int, ...] = (), unit: str = "", text: str = "") -> None:
        """A quantity that is only recorded, at communication points (W)."""
        self._signal(name, SignalKind.AUXILIARY, shape, unit, text)

    def _signal(self, name: str, kind: SignalKind, shape: tuple[int, ...], unit: str, text: str, nominal: float | None = None) -> None:
        first = sum(entry.size for entry in self._signals if entry.kind is kind)
        self._signals.append(SignalEntry(name, kind, tuple(int(k) for k in shape), first, text, unit, nominal))

    def _filled(self, name: str, value: Any, shape: tuple[int, ...]) -> tuple[float, ...]:
        """Values of all elements in column order."""
        try:
            return tuple(np.broadcast_to(np.asarray(value, dtype=float), shape).ravel(order="F").tolist())
        except (TypeError, ValueError):
            self._problems.append(f"{name} has the shape {shape}, and {value!r} does not fit it")
            return (0.0,) * int(np.prod(shape, dtype=int))

    # -- parameters ---------------------------------------------------------------------------------------------------------------------------

    def real(self, name: str, value: Any, *, minimum: float | None = None, maximum: float | None = None, open: str = "", unit: str = "",
             text: str = "") -> None:  # fmt: skip
        """A real parameter (DP); its value may be an array.

        Parameters
        ----------
        minimum, maximum : limits of every element.
        open : "minimum", "maximum" or "both": these ends are not allowed themselves.
        """
        self._parameter(name, ParameterKind.REAL, value, (minimum, maximum, open), unit, text)

    def integer(self, name: str, value: Any, *, minimum: int | None = None, maximum: int | None = None, open: str = "", text: str = "") -> None:
        """An integer parameter (IP); likewise."""
        self._parameter(name, ParameterKind.INTEGER, value, (minimum, maximum, open), "", text)

    def logical(self, name: str, value: Any, *, text: str = "") -> None:
        """A parameter that is true or false (LP)."""
        self._parameter(name, ParameterKind.LOGICAL, value, (None, None, ""), "", text)

    def _parameter(self, name: str, kind: ParameterKind, value: Any, ends: tuple[float | None, float | None, str], unit: str, text: str) -> None:
        lower, upper, which = ends
        if which not in ("", "minimum", "maximum", "both"):
            self._problems.append(f"{name}: open={which!r}; it is 'minimum', 'maximum' or 'both'")
        limits = Limits(
            -np.inf if lower is None else float(lower), np.inf if upper is None else float(upper),
            lower is not None and which in ("minimum", "both"), upper is not None and which in ("maximum", "both"),
        )  # fmt: skip
        shape = np.shape(value)
        first = sum(entry.size for entry in self._parameters if entry.kind is kind)
        default = self._filled(name, value, shape)
        self._parameters.append(ParameterEntry(name, kind, default, shape, first, len(self._parameters) + 1, text, unit, limits))

    def discrete(self, name: str, start: float = 0.0) -> None:
        """A number of the run state ``m`` that is recorded: ``m.name``."""
        self._discretes[name] = float(start)

    # -- the whole ----------------------------------------------------------------------------------------------------------------------------

    def form(self, form: Literal["ode", "dae", "hdae"], parts: Sequence[int] = (0, 0, 0, 0, 0)) -> None:
        """What the equations are; of an HDAE also how many there are of F1 ... F5."""
        if form not in _FORMS:
            raise UsageError(f"a DSblock has no form {form!r}", hint=suggestion(form, _FORMS, "it is 'ode', 'dae' or 'hdae'"))
        if len(parts) != len(self._parts):
            raise UsageError(f"parts={tuple(parts)!r} of an HDAE", hint="give five numbers, of F1, F2, F3, F4 and F5")
        self._form = _FORMS[form]
        self._parts = (int(parts[0]), int(parts[1]), int(parts[2]), int(parts[3]), int(parts[4]))

    def outputs_depend_on(self, inputs: Sequence[str] | bool = True, *, xdot: bool = False, auxiliaries_xdot: bool = False) -> None:
        """Which inputs outputs depend on at once, and whether ``outputs`` and ``communication`` are given ``xdot``, behind ``x`` (BLO3UX)."""
        self._depends = (inputs, xdot, auxiliaries_xdot)

    def defaults(self, *, t_start: float = 0.0, **proposals: Any) -> None:
        """Settings that the caller of a run may leave to the block: t_end, output_step, rtol, first_step and others."""
        for name in proposals:
            if name not in _PROPOSALS:
                raise UsageError(f"defaults: a block cannot propose {name!r}", hint=suggestion(name, _PROPOSALS, f"one of {', '.join(_PROPOSALS)}"))
        self._t0, self._proposals = t_start, Proposals(**proposals)

    def description(self, callbacks: Collection[str] = (), *, outputs_may_retry: bool = False, text: str = "", version: str = "") -> Description:
        """All of it.

        Parameters
        ----------
        callbacks : that are written.
        outputs_may_retry : outputs may raise ``RetryStep``.

        Raises
        ------
        InvalidModelError : naming everything that cannot be.
        """
        starts = [self._starts[entry.name.upper()] for entry in self._signals if entry.kind is SignalKind.STATE]
        described = Description(
            name=self._name, form=self._form, signals=tuple(self._signals), parameters=tuple(self._parameters), parts=self._parts, text=text,
            version=version, t0=self._t0, x0=tuple(v for one, _ in starts for v in one), xd0=tuple(v for _, one in starts for v in one),
            dependence=self._dependence(), proposals=self._proposals,
            has_step_events="step_condition" in callbacks, has_jacobian="jacobian" in callbacks,
            discretes=self._discretes, has_communication="communication" in callbacks, outputs_may_retry=outputs_may_retry,
        )  # fmt: skip
        check(described, self._problems)
        return described

    def _dependence(self) -> Dependence:
        inputs = [entry for entry in self._signals if entry.kind is SignalKind.INPUT]
        if self._depends is None:
            return Dependence((True,) * sum(entry.size for entry in inputs), auxiliaries_need_rates=False)
        chosen, xdot, auxiliaries = self._depends
        if isinstance(chosen, bool):
            return Dependence((chosen,) * sum(entry.size for entry in inputs), xdot, auxiliaries)
        known = {entry.name.upper() for entry in inputs}
        self._problems += [f"outputs_depend_on names {name}, which is no input" for name in chosen if name.upper() not in known]
        wanted = {name.upper() for name in chosen}
        return Dependence(tuple(entry.name.upper() in wanted for entry in inputs for _ in range(entry.size)), xdot, auxiliaries)
