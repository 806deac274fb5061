"""One accepted step by the Taylor series of the unknowns at its start.

The series comes from the model's own function (``compiled.power_series``). Its last two coefficients say how long the step may be (Jorba and Zou, A
software package for the numerical integration of ODEs by means of high-order Taylor methods, Experimental Mathematics 14, 2005, section 3.2; the
factor is theirs). Where both are zero by accident they say nothing; so the step is accepted only if the polynomial fits the equations at its end, and
inside as well where it is much longer than the last, or where an exponential may rise and fall again within it: the coefficients at its start need
not show anything of that. What is left of the equations there is about (P + 1) c_{P+1} h^P, and the error h / (P + 1)
times that.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tidegate.compiled.calls import call_step, call_value
from tidegate.compiled.emit_taylor.step_box import CAREFULLY, DONE, FIRST_LEAST, MANY, Box
from tidegate.compiled.jit import INTEGER, NUMBER, kernel_entry, library_function, native
from tidegate.compiled.kinds import WORD
from tidegate.compiled.workspace import NOT_FINITE, STEP_TOO_SMALL, vector

__all__ = [
    "CREPT_STEPS",
    "FAR",
    "STIFF_STEPS",
    "call_whole_step",
    "caution_of",
    "choose_order",
    "degree_of",
    "fits_inside",
    "is_at_the_end",
    "moves_plainly",
    "no_series",
    "prepare_box",
    "put_least",
    "put_limits",
    "series_is_finite",
    "shortest_step",
    "step_at_once",
    "step_with_care",
]

_CAUTION: Final = 0.7  # exp(-0.7 / (P - 1)) of the radius that the coefficients tell
_CUT: Final = 0.8  # of what was possible: a shorter step was cut
_SHORT_STEPS: Final = 2  # in a row, and the low order is used
_INNER: Final = 0.05  # of the tolerances: what is left to one step, so that the errors of many add up to about what was asked for
_GROWTH: Final = 100.0  # no step is longer than so many times what was found possible before
_GROWTH_OF_A_GUESS: Final = 1e12  # the same at the start of a run, of y' = A y + b + c t: however wrong the guess is, powers stay finite
_FIRST_LOOK: Final = 100.0  # the same where the series does not limit the step: it is exact, and a first guess is small
_MUCH_LONGER: Final = 3.0  # a step so much longer is looked at inside, too
_LOOKS: Final = 4  # parts of such a step
FAR: Final = 3.0  # what an exponential is taken of moves by more than this in the step, which is looked at inside, ...
_BETWEEN: Final = 4.0  # ... so often that it moves by less than this from look to look, ...
_MOST_LOOKS: Final = 64  # ... up to here; ...
_FARTHEST: Final = 600.0  # ... where it would move farther, the step is shorter
_SHORTER: Final = 0.25
_LOOKS_UNKNOWN: Final = 16  # where there are too many exponentials to watch
_AHEAD: Final = 8.0  # of the time gone by: a step that the series does not limit looks no farther ahead than this, or than was found possible
_SMALLEST: Final = 1e-15  # a step below this part of |t| no longer moves time
_ROUNDING: Final = 64 * 2.0**-52  # of what is added up in comparing the polynomial with the equations
_TOO_SMALL: Final = 1e-2  # coefficients that are not finite: the unit of time is made so much smaller, ...
_LEAST_UNIT: Final = 1e-16  # ... down to this part of what it was; then there is something in the equations that no series can tell, as an overflow
_LEAST: Final = 1e-290
# what the machine code of a whole step is told, see compiled/emit_taylor/whole_step
_IS_STARTED, _OF_CAUTION, _LONGEST, _UNLIMITED = int(Box.IS_STARTED), int(Box.CAUTION), int(Box.LONGEST), int(Box.UNLIMITED)
_UNTIL, _SHORTEST, _LOOK, _FIT, _OF_IDLE = int(Box.UNTIL), int(Box.SMALLEST), int(Box.LOOK), int(Box.FIT), int(Box.IDLE)
_LIMIT, _POSSIBLE, _STEP = int(Box.LIMIT), int(Box.POSSIBLE), int(Box.STEP)
_IS_IDLE, _IS_CLEAR, _IS_LONG, _KNOWN, _REACH = int(Box.IS_IDLE), int(Box.IS_CLEAR), int(Box.IS_LONG), int(Box.LONGEST_KNOWN), int(Box.REACH)
# Only stability keeps steps short where, so many times in a row, no unknown moves by more than this part of itself and P |c_P| / |c_{P-1}|, the step
# times the fastest rate, is the same up to that part; and where so many steps are still to come that another method is worth its start.
STIFF_STEPS: Final = 50
_IDLE: Final = 5e-3
_ALIKE: Final = 1.05
_IDLE_STEPS: Final = 500  # in a row, alike or not: behind the end of a root, where what is left is less than the tolerance, every step fits
CREPT_STEPS: Final = 50  # steps tried in vain, above those that were not: series with hardly a radius
_JUST_AHEAD: Final = 1e-9  # of the time gone by: so near to the point values that are not finite are what stops a step

_exponent_of: Final = library_function("ilogb", WORD(NUMBER))
_times_power: Final = library_function("ldexp", NUMBER(NUMBER, WORD))  # of two


def caution_of(order: int, rtol: float) -> float:
    """The part of the radius told by the coefficients that a step may use."""
    return (_INNER * rtol) ** (1.0 / order) * math.exp(-_CAUTION / (order - 1.0))


@native
def series_is_finite(run, t, unit):
    """Put down the coefficients at the current point for a unit of time; False if one is not finite."""
    series = run.series
    series[0] = unit
    call_value(run.f_series, t, run.y, run.p, run.m, series)
    run.c_rhs += 1
    # two sums, of which neither waits for the other
    total = 0.0
    other = 0.0
    for k in range(1, run.series_order * run.n, 2):
        total += abs(series[k])
        other += abs(series[k + 1])
    return total + other + abs(series[run.series_order * run.n]) < np.inf


@native
def no_series(run):
    """The reason of failure where a power series is not finite: another method goes on, if the equations themselves have a value."""
    call_value(run.f_rhs, run.t, run.y, run.p, run.m, run.series_rate)
    for q in range(run.n):
        if not abs(run.series_rate[q]) < np.inf:
            return NOT_FINITE
    run.stiff_steps = STIFF_STEPS
    return STEP_TOO_SMALL


@native
def _scales(run):
    """How large each unknown is in the step."""
    return vector(run.r, run.series_box_at + FIRST_LEAST + run.n, run.n)


@native
def put_least(run):
    """How large every unknown counts at least."""
    for q in range(run.n):
        run.series_box[FIRST_LEAST + q] = run.atol[q] / run.rtol


@native
def prepare_box(run):
    """Put down what whole steps are told that is the same for all of them."""
    box = run.series_box
    box[_OF_CAUTION] = run.series_caution
    box[_FIT] = (run.series_order + 1.0) * _INNER * run.rtol
    box[_OF_IDLE] = _IDLE
    put_least(run)
    run.is_started = 0
    run.is_taken = 0


@native
def _use_low_order(run, is_low):
    run.f_step = run.f_step_low if is_low else run.f_step_full
    run.f_series = run.f_series_low if is_low else run.f_series_full
    run.f_series_tangent = run.f_series_low_tangent if is_low else run.f_series_full_tangent
    run.series_order = run.low_order if is_low else run.full_order
    run.series_caution = run.low_caution if is_low else run.full_caution
    run.short_steps = 0
    run.stiff_steps = 0
    prepare_box(run)


@native
def choose_order(run):
    """Choose the order of the step ahead, once. The last step must be in run.length, and its polynomial, if it was cut, in run.coefficients."""
    if run.is_chosen == 0 and run.low_order != 0:
        _choose_order(run)
    run.is_chosen = 1


@native
def _choose_order(run):
    """The low order where event after event ends steps that it allows, the full one where the low order itself limits them."""
    if run.series_order != run.full_order:
        if not run.length < run.possible:
            _use_low_order(run, False)
        return
    low = run.low_order
    if run.length < _CUT * run.possible and run.low_caution * _radius(run, low, run.coefficients_at) > 1.0:
        run.short_steps += 1
        if run.short_steps > _SHORT_STEPS:
            _use_low_order(run, True)
    else:
        run.short_steps = 0


@native
def _inverse_root(x, order):
    """About x**(-1/order), to a percent and the same everywhere (``compiled.emit_taylor.whole_step.inverse_root``)."""
    exponent = _exponent_of(x)
    f = _times_power(x, np.int32(-exponent)) - 1.0
    power = -(exponent + f * (1.3465 - 0.3465 * f)) / order
    whole = math.floor(power)
    r = power - whole
    return _times_power(1.0 + r * (0.6565 + 0.3435 * r), np.int32(whole))


@native
def _radius(run, order, place):
    """In units of time: how far the last two coefficients let the step go, for the scales of the step; they stand at a place of r."""
    n = run.n
    series = vector(run.r, place, order * n)
    scale = _scales(run)
    last = 0.0
    before = 0.0
    at = (order - 1) * n
    for q in range(n):
        last = max(last, abs(series[at + q]) / scale[q])
        before = max(before, abs(series[at - n + q]) / scale[q])
    radius = np.inf
    if last > _LEAST:
        radius = _inverse_root(last, order)
    if before > _LEAST:
        radius = min(radius, _inverse_root(before, order - 1.0))
    return radius


@native
def _possible(run):
    """In units of time: the step that the coefficients allow, for tolerances relative to how large the unknowns are in it."""
    n = run.n
    order = run.series_order
    series = run.series
    scale = _scales(run)
    for q in range(n):
        scale[q] = max(abs(run.y[q]), run.atol[q] / run.rtol)
    possible = run.series_caution * _radius(run, order, run.series_at + 1)
    if possible < np.inf:
        grows = False
        for q in range(n):
            moved = possible * abs(series[1 + q])
            if moved > scale[q]:
                scale[q] = moved
                grows = True
        if grows:
            possible = run.series_caution * _radius(run, order, run.series_at + 1)
    return possible


@native
def _put_polynomial(run, ratio):
    """The polynomial of a step of ``ratio`` units, and its end."""
    n = run.n
    order = run.series_order
    series = run.series
    a = run.coefficients
    power = 1.0
    for k in range(order):
        power *= ratio
        for q in range(n):
            a[k, q] = series[1 + k * n + q] * power
    for q in range(n):
        x = 0.0
        for k in range(order - 1, -1, -1):
            x += a[k, q]
        run.y_end[q] = run.y[q] + x


@native
def _rates(run, t, point, rate):
    """y' of all unknowns at a point."""
    run.c_rhs += 1
    if run.f_rates != 0:
        call_value(run.f_rates, t, point, run.p, run.m, rate)
        return
    call_value(run.f_rhs, t, point, run.p, run.m, rate)
    if run.mass_kind == 1:
        for q in range(run.n):
            rate[q] /= run.mass[q]


@native
def _misfit(run, theta, step):
    """How badly the polynomial fits the equations at a part of the step, 1 being just well enough; infinite where they have no value."""
    n = run.n
    order = run.series_order
    a = vector(run.r, run.coefficients_at, order * n)
    y = run.y
    inside = run.scratch_1
    slopes = vector(run.r, run.series_box_at + FIRST_LEAST + 2 * n, n)
    sizes = vector(run.r, run.series_box_at + FIRST_LEAST + 3 * n, n)
    for q in range(n):
        inside[q] = 0.0
        slopes[q] = 0.0
        sizes[q] = abs(y[q])
    # all unknowns order by order, several at a time
    for k in range(order - 1, -1, -1):
        for q in range(n):
            one = a[k * n + q]
            term = (k + 1.0) * one
            inside[q] = inside[q] * theta + one
            slopes[q] = slopes[q] * theta + term
            sizes[q] += abs(term)
    for q in range(n):
        inside[q] = y[q] + inside[q] * theta
    point = inside if theta < 1.0 else run.y_end
    rate = run.scratch_2  # run.series_rate is that at the end
    _rates(run, run.t + theta * step, point, rate)
    worst = 0.0
    for q in range(n):
        left = abs(step * rate[q] - slopes[q])
        if not left < np.inf:
            run.not_finite_at = run.t + theta * step
            return np.inf
        # as large as it is in this step, which may be much shorter than its series allows
        size = max(abs(y[q]), run.atol[q] / run.rtol, abs(a[q]), abs(point[q]))
        allowed = (order + 1.0) * _INNER * run.rtol * size + _ROUNDING * sizes[q]
        if left > worst * allowed:
            worst = left / allowed
            run.worst = q
            run.worst_error = left
            run.worst_allowed = allowed
    return worst


@native
def degree_of(n, order, coefficients):
    """Of a polynomial, without the powers that no unknown has: what searches for events works in proportion to its square."""
    degree = order
    while degree > 1:
        for q in range((degree - 1) * n, degree * n):
            if coefficients[q] != 0.0:
                return degree
        degree -= 1
    return degree


@kernel_entry(NUMBER, INTEGER)
def fits_inside(run, step, looks):
    """1 if the polynomial fits the equations at so many places inside the step less one, else 0. Few steps are looked at."""
    for look in range(1, looks):
        if not _misfit(run, float(look) / looks, step) <= 1.0:
            return 0
    return 1


@native
def _fits(run, step, is_long):
    if not _misfit(run, 1.0, step) <= 1.0:
        return False
    looks = _MOST_LOOKS if run.exponentials > 0 else _LOOKS if is_long else 1
    return looks == 1 or fits_inside(run, step, looks) == 1


@native
def _no_step(run):
    near = max(_JUST_AHEAD * (run.t - run.t_start), 1e-14 * abs(run.t))
    return NOT_FINITE if abs(run.not_finite_at - run.t) <= near else STEP_TOO_SMALL


@native
def _note_stiffness(run, is_limited):
    """Count steps that only stability keeps short; ``is_limited``: the step is one that the series itself has limited."""
    n = run.n
    order = run.series_order
    a = run.coefficients
    scales = _scales(run)
    last = 0.0
    before = 0.0
    for q in range(n):
        scale = scales[q]
        if not is_limited or abs(run.y_end[q] - run.y[q]) > _IDLE * scale:
            run.stiff_steps = 0
            run.idle_steps = 0
            return
        last = max(last, abs(a[order - 1, q]) / scale)
        before = max(before, abs(a[order - 2, q]) / scale)
    run.idle_steps += 1
    if run.idle_steps >= _IDLE_STEPS:
        run.stiff_steps = STIFF_STEPS
        run.idle_steps = 0
        return
    rate = order * last
    if not rate > before:
        run.stiff_steps = 0
        return
    rate /= before
    if run.stiff_steps == 0:
        run.stiff_least = rate
        run.stiff_most = rate
    run.stiff_least = min(run.stiff_least, rate)
    run.stiff_most = max(run.stiff_most, rate)
    run.stiff_steps += 1
    if run.stiff_most > _ALIKE * run.stiff_least:
        run.stiff_steps = 0


@native
def is_at_the_end(run, t):
    """True if run.series_rate is y' at this point, which the last step has led to, and its first coefficients are in run.series."""
    if run.is_started == 0 or run.quiet_flips != 0 or run.started_t != t:
        return False
    y = run.y
    end = run.y_end
    for q in range(run.n):
        if y[q] != end[q]:
            return False
    return True


@native
def _unlimited(ahead, longest, unit, step_max):
    """How far a step looks ahead that its series does not limit, so long after the start.

    Where series end, as those of parabolas do, nothing else says how far to look ahead; the end of the run does not, or pieces would differ.
    """
    return min(longest, max(unit, _AHEAD * ahead)) if ahead > 0.0 else min(_FIRST_LOOK * longest, step_max)


@native
def put_limits(t, t_start, unit, step_max, box, stride, lane):
    """What limits a step from a time on, into a box of several runs that is ``stride`` wide."""
    longest = min(_GROWTH * unit, step_max)
    ahead = t - t_start
    box[_LONGEST * stride + lane] = longest
    # what nothing has found possible yet is a guess; a series that cannot be mistaken need not heed it
    box[_KNOWN * stride + lane] = longest if ahead > 0.0 else min(_GROWTH_OF_A_GUESS * unit, step_max)
    box[_UNLIMITED * stride + lane] = _unlimited(ahead, longest, unit, step_max)
    box[_SHORTEST * stride + lane] = shortest_step(t)
    box[_LOOK * stride + lane] = _MUCH_LONGER * unit


@native
def _is_right_inside(run, polynomial):
    """Look into a step that is much longer than the last one, or in which an exponential may hide something."""
    box = run.series_box
    looks = _LOOKS if box[_IS_LONG] != 0.0 else 1
    if run.exponentials == MANY:
        looks = _LOOKS_UNKNOWN
    elif not box[_REACH] <= FAR:
        looks = max(looks, int(min(math.ceil(box[_REACH] / _BETWEEN), _MOST_LOOKS)))
    if looks == 1:
        return True
    a = vector(run.r, run.coefficients_at, run.series_order * run.n)
    for k in range(run.series_order * run.n):
        a[k] = polynomial[k]
    return fits_inside(run, box[_STEP], looks) == 1


@native
def call_whole_step(run, unit, polynomial):
    """The step by the model's own machine code, from run.t on, its polynomial where it is wanted; False if it is to be taken the plain way.

    It is known then, and how it was, but nothing follows from it yet.
    """
    box = run.series_box
    box[_IS_STARTED] = 1.0 if is_at_the_end(run, run.t) else 0.0
    box[_UNTIL] = run.t_next
    put_limits(run.t, run.t_start, unit, run.step_max, box, 1, 0)
    while True:
        run.series[0] = unit
        code = call_step(run.f_step, run.t, run.y, run.p, run.m, run.series, box, polynomial, run.y_end, run.series_rate)
        run.c_rhs += 2
        if code != DONE or not box[_REACH] > _FARTHEST:
            break
        box[_IS_STARTED] = 0.0
        box[_LONGEST] = box[_UNLIMITED] = box[_KNOWN] = _SHORTER * box[_STEP]
    if code == DONE and not _is_right_inside(run, polynomial):
        code = CAREFULLY
    if code != DONE:
        run.is_started = 0
        return False
    run.is_clear = 1 if run.n_watched == run.n_quotients and box[_IS_CLEAR] != 0.0 else 0
    run.is_started = 1
    run.step = box[_STEP]
    run.started_t = run.t + run.step
    run.possible = box[_POSSIBLE]
    return True


@native
def moves_plainly(run):
    """True if some unknown moves in the step just known: it says nothing about stiffness."""
    return run.series_box[_IS_IDLE] == 0.0


@native
def shortest_step(t):
    """What a step at this time must be longer than."""
    return _SMALLEST * max(abs(t), _LEAST)


@native
def _follow_from_it(run):
    """What follows from a step known by ``call_whole_step``."""
    box = run.series_box
    if box[_IS_IDLE] != 0.0:
        _note_stiffness(run, box[_LIMIT] <= box[_LONGEST] and run.t + run.step < run.t_next)
    else:
        run.stiff_steps = 0
        run.idle_steps = 0
    run.crept_steps = max(run.crept_steps - 1, 0)
    run.step_new = run.possible


@native
def step_at_once(run, unit):
    """Take the step by the model's own machine code, or as it was taken already; False if it is to be taken with care."""
    if run.is_taken == 1:
        run.is_taken = 0
    elif run.nominal > 0.0 or not call_whole_step(run, unit, vector(run.r, run.coefficients_at, run.series_order * run.n)):
        return False
    _follow_from_it(run)
    return True


@kernel_entry(NUMBER)
def step_with_care(run, unit):
    """The step whatever happens; 0 or the reason of failure. Most runs never come to it."""
    t = run.t
    smallest = shortest_step(t)
    run.is_started = 0
    least = max(_LEAST_UNIT * unit, smallest)
    in_vain = 0
    while not series_is_finite(run, t, unit):
        unit *= _TOO_SMALL
        in_vain += 1
        if not unit > least:
            return no_series(run)
    longest = _GROWTH * unit
    if run.nominal > 0.0:
        longest = min(longest, run.nominal)  # the first step, as asked for
        run.series_box[_LONGEST] = longest
        run.nominal = 0.0
    limit = _possible(run) * unit
    if not limit < np.inf:
        longest = _unlimited(t - run.t_start, longest, unit, run.step_max)
    possible = min(limit, longest, run.step_max, run.series_box[_LONGEST])
    proposed = possible
    rejected = run.c_rejected
    while True:
        until = min(t + possible, run.t_next)
        step = until - t
        run.step = step
        if not (until > t and step > smallest):
            if not limit > smallest or not run.series_box[_LONGEST] > smallest:
                # right behind the beginning of a root, whose radius is what has gone by since, or of ``exp(-1 / u**2)``
                return no_series(run)
            return _no_step(run)
        _put_polynomial(run, step / unit)
        if _fits(run, step, step > _MUCH_LONGER * unit):
            break
        run.c_rejected += 1
        possible = 0.5 * step
        proposed = possible
    _note_stiffness(run, limit <= min(longest, run.step_max) and until < run.t_next)
    # as where a tank runs empty: its series has no radius at the end of its root; or where an exponential is about to overflow
    in_vain += run.c_rejected - rejected
    run.crept_steps = run.crept_steps + in_vain if in_vain > 0 else max(run.crept_steps - 1, 0)
    if run.crept_steps >= CREPT_STEPS:
        run.stiff_steps = STIFF_STEPS
    run.possible = possible
    run.step_new = proposed
    return 0
