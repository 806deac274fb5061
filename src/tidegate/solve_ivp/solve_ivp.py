"""`tg.solve_ivp` itself: arguments in SciPy's words in, the run of ``tg.simulate`` on them, a result in SciPy's words out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate.errors import CallbackError, InvalidModelError, RunError, UsageError
from tidegate.model import Model
from tidegate.results import Interpolant, Result
from tidegate.simulate import simulate
from tidegate.solve_ivp.arguments import Ivp, Watched, check_events, check_method, check_options, check_problem, check_times, turned
from tidegate.solve_ivp.kept_plans import planned
from tidegate.solve_ivp.ode_result import OdeResult, OdeSolution
from tidegate.solve_ivp.retold import Ran
from tidegate.wrong_calls import explained

__all__ = ["solve_ivp"]

FloatArray = NDArray[np.float64]

_MESSAGES: Final = {0: "The solver successfully reached the end of the integration interval.", 1: "A termination event occurred."}


@explained
def solve_ivp(  # noqa: PLR0913, PLR0917, the signature is SciPy's
    fun: Callable[..., Any],
    t_span: Sequence[float],
    y0: ArrayLike,
    method: Any = "RK45",
    t_eval: ArrayLike | None = None,
    dense_output: bool = False,
    events: Callable[..., Any] | Iterable[Callable[..., Any]] | None = None,
    vectorized: bool = False,
    args: Iterable[Any] | None = None,
    **options: Any,
) -> OdeResult:
    """Solve ``y' = fun(t, y)``, called like ``scipy.integrate.solve_ivp``; an `if`, `min` or `abs` in ``fun`` is located as an event of the run.

    ``fun`` and the events are followed once on symbols and run as machine code. One that cannot be followed (compiled code, a loop that depends on
    the data, random numbers) is called as it is, and conditions in it are not looked for. Calls with the same functions and other numbers in
    ``y0`` and ``args`` follow and compile nothing again.

    Parameters
    ----------
    fun : ``fun(t, y, *args)``; returns the n derivatives.
    t_span : start and end; the end may come first in time.
    y0 : (n,), real.
    method : SciPy's names are taken: "Radau" and "BDF" mean Radau IIA, the others "auto"; or one of ``tg.simulate``.
    t_eval : times to give values at, in the order of the run; the ends of the steps if not given.
    dense_output : whether ``sol`` is given.
    events : functions ``event(t, y, *args)`` whose zeros are recorded. ``event.direction`` chooses those where it rises (positive) or falls
        (negative) along the run, ``event.terminal`` ends the run at the first or, as a number, at that zero.
    vectorized : whether ``fun`` takes ``y`` of shape (n, k).
    args : given to ``fun`` and the events after ``t, y``.
    options : ``rtol``, ``atol``, ``first_step``, ``max_step``; the defaults are those of ``tg.simulate`` and tighter than SciPy's. ``jac`` and
        ``jac_sparsity`` are taken and not used, since derivatives come from ``fun`` itself. All others are refused.

    Returns
    -------
    OdeResult
        A failed run has status -1, the message, and everything computed before. An exception of ``fun`` itself is passed on. Beside what SciPy
        gives, ``traced`` says whether ``fun`` and all events were followed, and ``called`` why which of them are called: ``{"fun": reason}``. With
        ``dense_output=True`` it can be judged by ``tg.verify``.

    Raises
    ------
    UsageError
        for arguments that do not fit.

    Examples
    --------
    >>> import tidegate as tg
    >>> def upward_cannon(t, y):
    ...     return [y[1], -0.5]
    >>> def hit_ground(t, y):
    ...     return y[0]
    >>> hit_ground.terminal, hit_ground.direction = True, -1
    >>> solution = tg.solve_ivp(upward_cannon, [0, 100], [0, 10], events=hit_ground)
    >>> round(float(solution.t_events[0][0]), 6), solution.status
    (40.0, 1)
    """
    ivp = check_problem(fun, t_span, y0, args, vectorized)
    times = check_times(t_eval, ivp)
    chosen = check_options(options)
    chosen["method"] = check_method(method)
    watched = check_events(events)
    ivp, plan = planned(ivp, watched)
    outputs = None if times is None or not times.size else np.sort(ivp.sign * times)
    result = _run(plan.model, (ivp.sign * ivp.t0, ivp.sign * ivp.t1), outputs, dense_output, chosen)
    status = -1 if result.status == "failed" else int(result.status == "terminated")
    t, y = _rows(result, ivp, times)
    found = _occurrences(result, ivp, watched)
    solution = OdeResult(
        t=t,
        y=y,
        sol=_solution(result, ivp) if dense_output else None,
        t_events=None if events is None else [each[0] for each in found],
        y_events=None if events is None else [each[1] for each in found],
        nfev=result.statistics.evaluations,
        njev=result.statistics.jacobians,
        nlu=result.statistics.factorizations,
        status=status,
        message=_MESSAGES.get(status, result.message),
        success=status >= 0,
        traced=not plan.called,
        called=plan.called,
    )
    return solution.keep(Ran(ivp, watched, plan.model, plan.called, chosen))


def _run(model: Model, span: tuple[float, float], outputs: FloatArray | None, dense: bool, options: dict[str, Any]) -> Result:
    """The run; one that fails gives what was computed before."""
    try:
        return simulate(model, span, outputs=outputs, dense=dense, **options)
    except InvalidModelError as error:
        raise UsageError("; ".join(sentence for sentence, _ in error.problems)) from error
    except RunError as error:
        if isinstance(error, CallbackError) and error.__cause__ is not None:
            error.__cause__.add_note(error.message)
            raise error.__cause__ from None
        if error.result is None:
            raise
        return error.result


def _rows(result: Result, ivp: Ivp, times: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Times and (n, times) values: those asked for, or the ends of all steps, each once."""
    t, y = turned(result.t, ivp.sign), result.values[:, : ivp.y0.size]
    if times is not None:
        kept = np.isin(t, times)
        t, y = t[kept], y[kept]
    last = np.append(t[1:] != t[:-1], True)[: t.size]
    t, y = t[last], y[last]
    if times is None and t.size == 1 and result.status != "failed":  # SciPy gives start and end, also where they are one
        t, y = np.repeat(t, 2), np.repeat(y, 2, axis=0)
    return t, y.T


def _occurrences(result: Result, ivp: Ivp, watched: list[Watched]) -> list[tuple[FloatArray, FloatArray]]:
    """For each event function its times and (times, n) values."""
    found: dict[str, list[tuple[float, list[float]]]] = {item.label: [] for item in watched}
    for event in result.events if watched else ():
        for label in event.causes:
            if label in found:
                time = event.time if ivp.sign > 0 else 0.0 - event.time
                found[label].append((time, [event.before[name] for name in ivp.quantities.elements]))
    n = ivp.y0.size
    return [
        (np.array([time for time, _ in each]), np.array([values for _, values in each], dtype=float).reshape(len(each), n)) for each in found.values()
    ]


def _solution(result: Result, ivp: Ivp) -> OdeSolution:
    kept = cast(Interpolant, result.interpolant)
    if not len(kept):  # a run without steps
        kept = Interpolant([ivp.sign * ivp.t0], [0.0], ivp.y0[None, None, :], ivp.quantities.elements)
    return OdeSolution(kept, ivp.y0.size, ivp.sign)
