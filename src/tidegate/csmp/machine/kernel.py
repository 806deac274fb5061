"""The language's method as native code (stage: csmp): every block at every half step, in sort order; the mid-point rule for I and T1.

It may stop between any two blocks, for a full buffer or a user routine's failure, and goes on there when it is called again: where it is, is in
``h``. Source: the CSMP-10(ARL) report, ARL/Aero. Note 362, Appendices B, G and H.
"""

from __future__ import annotations

from tidegate.compiled.jit import INTEGER, INTEGERS, NUMBERS, kernel_entry, native
from tidegate.compiled.workspace import integers, vector
from tidegate.csmp.machine import offsets as m
from tidegate.csmp.machine.blocks import execute, formula, input_of, integrate, is_rare

__all__ = ["advance_csmp"]

_START_HALF_STEP = 0
_LIST_DELAYS = 1
_PASS = 2
_AFTER_PASS = 3

_TOLERANCE = 1e-4  # of a step, for times compared with limits


@native
def _list(h, r, listing, b):
    """Append a block to the debug listing."""
    line = vector(listing, h[m.N_LISTED] * m.WIDE_LISTED, m.WIDE_LISTED)
    line[0] = r[m.T]
    line[1] = b
    line[2] = r[h[m.O_X] + b]
    for i in range(3):
        line[3 + i] = input_of(h, r, b, i + 1)
        line[7 + i] = r[h[m.O_P] + 3 * b + i]
    line[6] = h[h[m.O_MATRIX] + 5 * b + 4]
    h[m.N_LISTED] += 1


@native
def _note(h, r, notes, b):
    """Append an implicit equation that has used up its iterations."""
    line = vector(notes, h[m.N_NOTES] * m.WIDE_NOTES, m.WIDE_NOTES)
    line[0] = r[h[m.O_LIMIT] + b]
    line[1] = h[h[m.O_TAPE] + h[h[m.O_GUESS] + b]]
    line[2] = b
    line[3] = r[m.T]
    h[m.N_NOTES] += 1


@native
def _initialise(h, r):
    """Every output is P1."""
    n = h[m.N_PLACES]
    for b in range(2, n):
        r[h[m.O_X] + b] = r[h[m.O_P] + 3 * b]
        r[h[m.O_BASE] + b] = r[h[m.O_P] + 3 * b]
    r[h[m.O_X] + 1] = r[m.T_START]
    r[m.T] = r[m.T_START]
    h[m.STAGE] = m.INITIAL_CODE


@native
def _integrate_over(h, r):
    """New values of I and T1, aside: mid-point rule from the value at the last complete step."""
    is_half = h[m.STAGE] == m.HALF_CODE
    width = 0.5 * r[m.STEP] if is_half else r[m.STEP]
    for i in range(h[m.N_RATES]):
        b = h[h[m.O_RATES] + i]
        r[h[m.O_ASIDE] + b] = r[h[m.O_BASE] + b] + width * r[h[m.O_RATE] + b]


@native
def _put_in_place(h, r):
    """New values of I and T1 become outputs; so does the time."""
    is_half = h[m.STAGE] == m.HALF_CODE
    for i in range(h[m.N_RATES]):
        b = h[h[m.O_RATES] + i]
        r[h[m.O_X] + b] = r[h[m.O_ASIDE] + b]
        if not is_half:
            r[h[m.O_BASE] + b] = r[h[m.O_ASIDE] + b]
    r[h[m.O_X] + 1] = r[m.T]


@native
def _delay(h, r):
    """All U blocks, in two stages so that their order is immaterial."""
    x = vector(r, h[m.O_X], h[m.N_PLACES])
    matrix = integers(h, h[m.O_MATRIX], 5 * h[m.N_PLACES])
    delays = integers(h, h[m.O_DELAYS], h[m.N_DELAYS])
    if h[m.STAGE] != m.INITIAL_CODE:
        for i in range(h[m.N_DELAYS]):
            b = delays[i]
            source = matrix[5 * b + 1]
            x[b] = r[h[m.O_P] + 3 * b + 1] if matrix[5 * source] == m.DELAY else x[source]
    for i in range(h[m.N_DELAYS]):
        b = delays[i]
        source = matrix[5 * b + 1]
        if matrix[5 * source] == m.DELAY:
            r[h[m.O_P] + 3 * b + 1] = x[source]


@native
def _is_row_due(h, r):
    """The start, then every half step or the first complete step not before each multiple of the output interval."""
    if h[m.K] == 0 or h[m.EVERY_HALF] != 0:
        return True
    if h[m.STAGE] == m.HALF_CODE:
        return False
    return r[m.T] >= r[m.T_START] + h[m.NEXT_ROW] * r[m.EVERY] - _TOLERANCE * r[m.STEP]


@native
def _store_row(h, r, rows):
    """Append a row; a value that changed less than asked for is repeated as it was stored last."""
    n = h[m.N_OUT]
    row = vector(rows, h[m.N_ROWS] * (n + 1), n + 1)
    last = vector(r, h[m.O_LAST], n)
    fraction = r[m.FRACTION]
    is_first = h[m.K] == 0
    row[0] = r[m.T]
    for i in range(n):
        value = r[h[m.O_X] + h[h[m.O_OUT] + i]]
        if is_first or not abs(value - last[i]) <= fraction * abs(last[i]):
            last[i] = value
        row[1 + i] = last[i]
    h[m.N_ROWS] += 1
    if h[m.EVERY_HALF] == 0:
        while r[m.T] >= r[m.T_START] + h[m.NEXT_ROW] * r[m.EVERY] - _TOLERANCE * r[m.STEP]:
            h[m.NEXT_ROW] += 1


@native
def _pass(h, r, listing, notes):
    """The sort list without K and U, from where it stands."""
    ox, op, om, tape, n_tape = h[m.O_X], h[m.O_P], h[m.O_MATRIX], h[m.O_TAPE], h[m.N_TAPE]  # kept in registers
    slack = _TOLERANCE * r[m.STEP]
    is_listing = h[m.IS_LISTING] != 0 and r[m.LIST_FROM] - slack <= r[m.T] <= r[m.LIST_TO] + slack
    at = h[m.AT]
    outcome = 0
    while at < n_tape:
        b = h[tape + at]
        code = h[om + 5 * b]
        if is_listing and h[m.N_LISTED] + 2 > h[m.ROOM_LISTED]:
            outcome = m.STOP_LISTED
            break
        if code == m.INTEGRATOR or code == m.LAG:  # noqa: PLR1714, Numba would build a tuple
            outcome = integrate(h, r, ox, op, om, b, code)
        elif not is_rare(code):
            outcome = formula(h, r, ox, op, om, b, code)
        else:
            if code == m.WYE and h[m.N_NOTES] >= h[m.ROOM_NOTES]:
                outcome = m.STOP_NOTES
                break
            outcome = execute(h, r, b, at, code)
        if outcome > 0:
            h[m.BLOCK] = b
            break
        if is_listing:
            _list(h, r, listing, b)
        if outcome == -1:
            h[m.AGAIN] = max(h[m.AGAIN], at)
            at = h[h[m.O_GUESS] + b]
            if is_listing:
                _list(h, r, listing, h[tape + at])
        elif outcome == -2:
            _note(h, r, notes, b)
        outcome = 0
        at += 1
    h[m.AT] = at
    return outcome


@native
def _list_delays(h, r, listing):
    """U blocks come first in the listing, as they were executed."""
    slack = _TOLERANCE * r[m.STEP]
    if h[m.IS_LISTING] != 0 and r[m.LIST_FROM] - slack <= r[m.T] <= r[m.LIST_TO] + slack:
        while h[m.AT] < h[m.N_DELAYS]:
            if h[m.N_LISTED] >= h[m.ROOM_LISTED]:
                return m.STOP_LISTED
            _list(h, r, listing, h[h[m.O_DELAYS] + h[m.AT]])
            h[m.AT] += 1
    return 0


@native
def _start_half_step(h, r):
    """Time, delays, and new values of I and T1 aside."""
    if h[m.K] < 0:
        _initialise(h, r)
        h[m.K] = 0
    else:
        h[m.K] += 1
        r[m.T] = r[m.T_START] + h[m.K] * r[m.STEP] / 2.0
        h[m.STAGE] = m.HALF_CODE if h[m.K] % 2 == 1 else m.FULL_CODE
        _integrate_over(h, r)
    _delay(h, r)


@native
def _after_pass(h, r, rows):
    """A row if one is due, and whether the run ends."""
    is_due = _is_row_due(h, r)
    if is_due:
        if h[m.N_ROWS] >= h[m.ROOM_ROWS]:
            return m.STOP_ROWS
        _store_row(h, r, rows)
    for i in range(h[m.N_QUITS]):
        b = h[h[m.O_QUITS] + i]
        if h[h[m.O_FIRED] + b] != 0:
            h[m.BLOCK] = b
            return m.STOP_QUIT
    if h[m.IS_QUIT] != 0:
        h[m.BLOCK] = h[m.IS_QUIT]
        return m.STOP_QUIT
    if h[m.K] >= h[m.K_END]:
        return m.STOP_DONE
    if is_due and h[m.IS_INTERRUPTED] != 0:
        return m.STOP_INTERRUPTED
    return 0


@kernel_entry(INTEGERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS, INTEGER, of_a_run=False)
def advance_csmp(h, r, rows, listing, notes, budget):
    """Go on for at most so many half steps; a code of ``places``."""
    done = 0
    outcome = 0
    while outcome == 0 and done < budget:
        if h[m.PHASE] == _START_HALF_STEP:
            _start_half_step(h, r)
            h[m.AT] = 0
            h[m.PHASE] = _LIST_DELAYS
        if h[m.PHASE] == _LIST_DELAYS:
            outcome = _list_delays(h, r, listing)
            if outcome == 0:
                if h[m.K] > 0:
                    _put_in_place(h, r)
                h[m.AT] = 0
                h[m.AGAIN] = -1
                h[m.PHASE] = _PASS
        if outcome == 0 and h[m.PHASE] == _PASS:
            outcome = _pass(h, r, listing, notes)
            if outcome == 0:
                h[m.PHASE] = _AFTER_PASS
        if outcome == 0 and h[m.PHASE] == _AFTER_PASS:
            outcome = _after_pass(h, r, rows)
            if outcome != m.STOP_ROWS:
                h[m.PHASE] = _START_HALF_STEP
        done += 1
    return outcome
