"""What is known of guards at a point: which matter, how fast they move, on which side they must stay, and how much of their value is round-off."""

from __future__ import annotations

from typing import Final

from tidegate.compiled.calls import call_tangent, call_value
from tidegate.compiled.jit import native
from tidegate.compiled.weighted_sum import product_plus
from tidegate.compiled.workspace import RELATION
from tidegate.events.tolerances import ROUNDING, ROUNDING_SOLVED

__all__ = [
    "asks_for_first_powers",
    "expected_sign",
    "find_open",
    "first_bend",
    "first_number",
    "first_powers",
    "first_row",
    "guard_polynomials",
    "guard_roundoff",
    "guard_slopes",
    "has_changed",
    "last_powers",
    "polynomial_point",
    "prepare_registers",
    "refresh_activity",
    "rounding_of",
    "size_of",
    "tape_rounding",
]

_WORTH_WHILE: Final = 3  # calls for each one that gradients take
_ROUNDING_AT_MOST: Final = 0.1  # of the largest term of a guard: bounds at a point that are wider do not come from rounding


@native
def refresh_activity(run):
    """Which guards matter in the current mode."""
    if run.n_guards > 0:
        call_value(run.f_activity, 0.0, run.zero, run.p, run.m, run.active)


@native
def first_number(run):
    """The register of tapes at which parameters begin, and behind them what is constant between events."""
    return 2 + 2 * run.n_used


@native
def first_bend(run):
    """That at which second derivatives begin."""
    return first_number(run) + run.n_p + run.n_m


@native
def first_row(run):
    """That of the first row of a tape, behind all that tapes read."""
    return first_bend(run) + run.n_used


@native
def prepare_registers(run):
    """Parameters and modes as point intervals behind the unknowns and their rates."""
    lo = run.lower_scratch
    hi = run.upper_scratch
    offset = first_number(run)
    for k in range(run.n_p):
        lo[offset + k] = run.p[k]
        hi[offset + k] = run.p[k]
    offset += run.n_p
    for k in range(run.n_m):
        lo[offset + k] = run.m[k]
        hi[offset + k] = run.m[k]


@native
def tape_rounding(run, j):
    """Width of a guard's interval at a point, of which the tape was just run; 0 where that is no rounding but says that nothing is known."""
    lo = run.lower_scratch
    hi = run.upper_scratch
    value = run.tape_value[j]
    first = first_row(run)
    largest = 0.0
    for k in range(first, first + run.tape_rows[j]):
        largest = max(largest, abs(lo[k]), abs(hi[k]))
    width = hi[value] - lo[value]
    return width if width <= _ROUNDING_AT_MOST * largest and largest < 1e300 else 0.0


@native
def size_of(run, q, value):
    """How large an unknown is that has this value now: as large as it has been, or as its tolerances mean."""
    return max(run.y_max[q], abs(value), run.atol[q] / run.rtol)


@native
def _part_rounded(is_algebraic):
    """What rounding makes of an unknown, of its size; algebraic unknowns come out of a linear system, with its rounding."""
    return ROUNDING_SOLVED if is_algebraic == 1 else ROUNDING


@native
def rounding_of(run, q, value):
    """What rounding makes of it."""
    return _part_rounded(run.is_algebraic[q]) * size_of(run, q, value)


@native
def has_changed(run, j):
    """True of a guard whose mode is another one than before the event."""
    mode = run.guard_mode[j]
    return run.m[mode] != run.m_old[mode]


@native
def guard_roundoff(run, t, y):
    """nu of every guard: rounding of what it reads, at its size so far (run.nu_start), and with what Newton leaves in algebraic unknowns (run.nu)."""
    n = run.n
    roundoff = run.roundoff
    size = run.y_max
    atol = run.atol
    rtol = run.rtol
    algebraic = run.is_algebraic
    nothing = run.zero
    has_algebraic = False
    for q in range(n):
        largest = max(size[q], abs(y[q]))
        size[q] = largest
        roundoff[q] = _part_rounded(algebraic[q]) * max(largest, atol[q] / rtol)
        has_algebraic = has_algebraic or algebraic[q] == 1
    now = ROUNDING * abs(t)
    call_tangent(run.f_guard_rounding, t, y, nothing, run.p, run.m, now, roundoff, nothing, nothing, run.nu_start)
    if has_algebraic:
        for q in range(n):
            if algebraic[q] == 1:
                # at the tightest tolerances that is less than their rounding, and a point put across by less would lie on no side
                roundoff[q] = max(roundoff[q], 1e-2 * (atol[q] + rtol * size[q]))
        call_tangent(run.f_guard_rounding, t, y, nothing, run.p, run.m, now, roundoff, nothing, nothing, run.nu)
    else:
        nu = run.nu
        nu_start = run.nu_start
        for j in range(run.n_guards):
            nu[j] = nu_start[j]


@native
def guard_polynomials(run, t, step):
    """The polynomials of the step in the place of the unknowns, as far as guards are affine, into run.guard_coefficients.

    Few unknowns for the degree: the guards' gradients, and the polynomials by these. Else power by power.
    """
    n, degree = run.n, run.degree
    y, a, zero = run.y, run.coefficients, run.zero
    out = run.guard_coefficients
    if run.n_gradients == 0 or _WORTH_WHILE * (n + 1) >= degree:
        for k in range(degree):
            call_tangent(run.f_guards_tangent, t, y, zero, run.p, run.m, step if k == 0 else 0.0, a[k], zero, zero, out[k])
        return
    direction = run.scratch_1
    for q in range(n):
        direction[q] = 0.0
    call_tangent(run.f_guards_tangent, t, y, zero, run.p, run.m, step, direction, zero, zero, out[0])
    for q in range(n):
        direction[q] = 1.0
        call_tangent(run.f_guards_tangent, t, y, zero, run.p, run.m, 0.0, direction, zero, zero, run.guard_gradients[q])
        direction[q] = 0.0
    for j in range(run.n_guards):
        for k in range(degree):
            x = out[0, j] if k == 0 else 0.0
            for q in range(n):
                x += run.guard_gradients[q, j] * a[k, q]
            out[k, j] = x


@native
def asks_for_first_powers(run):
    """True if the search for events asks for no others, of any guard."""
    return run.n_curved == run.n_guards and run.n_sens == 0


@native
def first_powers(run, t, step):
    """Of these only how fast guards move at the start of the step: of guards that are not affine the others say little, and few ask for them."""
    zero = run.zero
    call_tangent(run.f_guards_tangent, t, run.y, zero, run.p, run.m, step, run.coefficients[0], zero, zero, run.guard_coefficients[0])


@native
def last_powers(run):
    """The last two: whether a series is told so far."""
    zero = run.zero
    for k in range(run.degree - 2, run.degree):
        call_tangent(run.f_guards_tangent, run.t, run.y, zero, run.p, run.m, 0.0, run.coefficients[k], zero, zero, run.guard_coefficients[k])


@native
def guard_slopes(run, t, y, ydot, slopes):
    """dg/dt of every guard at a point that moves with ``ydot``."""
    nothing = run.zero
    call_tangent(run.f_guards_tangent, t, y, nothing, run.p, run.m, 1.0, ydot, nothing, nothing, slopes)


@native
def expected_sign(run, guard):
    """+1 if the guard must stay positive in the current mode, -1 if negative."""
    if run.guard_kind[guard] != RELATION:
        return 1.0
    return 1.0 if run.m[run.guard_mode[guard]] != 0.0 else -1.0


@native
def find_open(run, t, out):
    """Not zero for guards that read what the algebraic equations are still to determine."""
    n = run.n
    width = run.roundoff
    algebraic = run.is_algebraic
    nothing = run.zero
    for q in range(n):
        # with a general mass matrix any unknown may be moved
        width[q] = 1.0 if algebraic[q] == 1 or run.mass_kind == 2 else 0.0
    zero = run.zero
    call_tangent(run.f_guard_scale, t, run.y, zero, run.p, run.m, 0.0, width, nothing, nothing, out)


@native
def polynomial_point(n, degree, y, a, theta, out):
    """Value of y + sum a[k] theta^(k+1), by Horner's rule in theta squared: even and odd powers side by side, which do not wait for each other."""
    square = theta * theta
    for q in range(n):
        even = 0.0
        odd = 0.0
        k = degree - 1
        if k % 2 == 0:
            even = a[k, q]
            k -= 1
        while k > 0:
            even = product_plus(even, square, a[k - 1, q])
            odd = product_plus(odd, square, a[k, q])
            k -= 2
        out[q] = product_plus(product_plus(theta, odd, even), theta, y[q])
