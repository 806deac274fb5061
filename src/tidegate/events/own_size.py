"""Absolute tolerances of unknowns whose size nobody said (stage: events): a part of the largest value that each has had so far.

One number for all of them does not do: whether an epidemic that begins with a billionth of a population breaks out was up to the method, and
charges of picocoulombs were held to nothing at all. Simulink's "auto" tolerance goes by the largest value, too. Two limits: values above one are
held to the tolerance of one, to which the relative one is added; and what may be nothing but rounding of the largest unknown asks for no steps.
The elements of an array are one quantity and have one size: what a front has not reached yet is not computed to all its digits.
Where all of them are smaller than ``_SURELY_MEANT``, they may be rounding of parameters, of the size of one: a model at rest. What these limits
leave less accurate than ``_LOOSE`` is counted, so that it is said.
"""

from __future__ import annotations

from typing import Final

from tidegate.compiled.jit import native
from tidegate.events.tolerances import EPS

__all__ = ["renew_tolerances"]

_LOOSE: Final = 1e-4  # of the largest value: an absolute tolerance above that is said
_NOT_ROUNDING: Final = 1e-13  # of the largest of all unknowns: less may be rounding of that
_ROUNDING: Final = 10 * EPS
_SURELY_MEANT: Final = 1e-10
_FROM_THE_START: Final = 2


@native
def renew_tolerances(run, is_start):
    """Of all unknowns that go by their size, at the current point; one that has been nothing but zero goes by the largest of all.

    Parameters
    ----------
    is_start : whether a step is still to show how large those are that start at zero.
    """
    run.is_sized = 1
    if run.goes_by_size == 0:
        return
    sizes = run.size_of_quantity
    largest = 0.0
    for q in range(run.n):
        size = max(run.y_max[q], abs(run.y[q]))
        if run.n_guards == 0:
            run.y_max[q] = size  # else the search for events notes it
        first = run.first_of_quantity[q]
        sizes[first] = size if first == q else max(sizes[first], size)
        largest = max(largest, size)
    rounding = _ROUNDING * (largest if largest >= _SURELY_MEANT else 1.0)
    # what follows from an equation may be a small difference of large ones, and was held to a tolerance that must not shrink behind the first step
    is_tied = run.mass_kind == 2 or run.n_constraints > 0
    run.n_loose = 0
    run.is_at_rest = 1 if largest == 0.0 else 0
    for q in range(run.n):
        most = run.most_tolerance[q]
        if most == 0.0:
            continue
        size = sizes[run.first_of_quantity[q]]
        if size == 0.0:
            run.is_sized = 1 - is_start
        counted = largest if size == 0.0 or is_tied or run.is_algebraic[q] == 1 else size
        run.atol[q] = most if counted == 0.0 else min(most, max(most * counted, rounding))
        may_be_rounding = run.is_algebraic[q] == 1 or not size > _NOT_ROUNDING * largest
        is_loose = not may_be_rounding and run.atol[q] > _LOOSE * counted
        if is_start == 1 and is_loose:
            run.is_loose[q] = _FROM_THE_START
        elif is_start == 1 or run.is_loose[q] != _FROM_THE_START or may_be_rounding:
            # beside larger ones it has begun at zero, and may not have been reached yet by what moves
            run.is_loose[q] = 1 if is_loose and largest < _SURELY_MEANT else 0
        run.n_loose += 1 if run.is_loose[q] != 0 else 0
