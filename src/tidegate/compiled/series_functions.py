"""What integrators see of a model's power series: addresses of native functions, for one run and for several at once (stage: compiled)."""

from __future__ import annotations

from typing import Protocol

from tidegate.quick_dataclass import dataclass

__all__ = ["MembersFunctions", "PowerSeries", "SeriesFunctions"]


@dataclass(frozen=True, eq=False)
class SeriesFunctions:
    """Functions that give the power series of the unknowns, into numbers that begin with the unit of time.

    Parameters
    ----------
    address : of ``f(t, y, p, m, out)``.
    address_of_step : of a whole step, see ``compiled.emit_taylor.whole_step``.
    address_of_tangent : of ``f(t, y, v, p, m, dt, dy, dp, dm, out)``: unknowns and their derivatives in a direction; 0 where it was not asked for.
    address_of_rates : of y' at a point, as ``f(t, y, p, m, out)``; 0 where the right sides of the model give it.
    address_of_followers : of what algebraic unknowns follow to be from the others, each at its own place; 0 where there are none.
    n_numbers : how many numbers there must be for either.
    n_watched : divisors that a whole step watches.
    n_guards : guards likewise.
    exponentials : 0 where there are none, else whether it watches them, see ``step_box``.
    keep_alive : what the addresses need.
    """

    address: int
    address_of_step: int
    address_of_tangent: int
    address_of_rates: int
    address_of_followers: int
    n_numbers: int
    n_watched: int
    n_guards: int
    exponentials: int
    keep_alive: tuple[object, ...]


@dataclass(frozen=True, eq=False)
class MembersFunctions:
    """Functions that take a step of several runs at once, see ``compiled.emit_taylor.emit_members``.

    Parameters
    ----------
    address_of_member : of what gives one run's first coefficients.
    address_of_step : of a whole step.
    n_numbers : of the series of each run.
    n_scratch : numbers that the first coefficients need.
    n_guards : that a step watches.
    keep_alive : what the addresses need.
    """

    address_of_member: int
    address_of_step: int
    n_numbers: int
    n_scratch: int
    n_guards: int
    keep_alive: object


class PowerSeries(Protocol):
    """What gives power series of the unknowns."""

    @property
    def length(self) -> int | None:
        """How many recurrences they take; None where there are none, or no expressions give the derivatives."""
        ...

    def functions(self, order: int, *, with_tangent: bool) -> SeriesFunctions:
        """Machine code for series up to an order, with those of derivatives in a direction or without; UsageError if there are none."""
        ...

    def members(self, order: int, *, may_be_made: bool) -> MembersFunctions | None:
        """Machine code for a step of several runs at once; None where it would gain nothing, or is not there and may not be made."""
        ...
