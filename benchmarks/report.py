"""The tables: everybody on every problem, work and precision, the bounds from the prototypes, and the whole runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from benchmarks.c_runs import LIBRARIES, Comparison
from benchmarks.competitors import COMPETITORS, OWN, OWN_ROSENBROCK
from benchmarks.measure import Work, at_error
from benchmarks.prototypes import ALLOWANCE, FIGURES, Figure
from benchmarks.taylor_series import Pair

__all__ = ["Fact", "bounds_table", "c_table", "comparison_table", "facts_table", "precision_table", "taylor_table"]

TOLERANCE = 1e-8
LEVELS = {"P4": (1e-2, 1e-3, 1e-4)}
USUAL_LEVELS = (1e-5, 1e-7, 1e-9)
JUDGED = ("P3", "P4", "P6", "P6+3", "hires", "pollution", "transistor")  # P1 and P2 are over before a step size matters
SHARE = 0.7  # of the time of natively driven SUNDIALS, at the middle level
_NAMES = tuple(library.name for library in LIBRARIES)
C_RATIO = 1.2  # of tidegate's way through SUNDIALS to SUNDIALS called from C
NATIVE = tuple(competitor.name for competitor in COMPETITORS if "native" in competitor.name)


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure of a whole run with its bound; a measurement that failed has a note instead."""

    title: str
    value: float | None
    bound: float | None
    unit: str
    note: str = ""


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 10.0 else f"{value:.1f}"


def _times(value: float | None, base: float | None) -> str:
    return "-" if value is None or base is None else f"{value / base:.2f}"


def _verdict(value: float | None, bound: float | None) -> str:
    if value is None or bound is None:
        return "-"
    return "[green]holds[/green]" if value <= bound else "[red]missed[/red]"


def comparison_table(works: Sequence[Work]) -> Table:
    """One section for each problem; ratios are to tidegate in the same run."""
    table = Table(title=f"at rtol {TOLERANCE:.0e}, atol 1e-2 rtol; then at equal achieved error (loose, middle, tight)")
    for heading in ("problem", "solver", "ms", "error", "events", "x tidegate", "ms loose", "ms middle", "ms tight", "x tidegate"):
        table.add_column(heading, justify="left" if heading in ("problem", "solver") else "right")
    for work in works:
        levels = LEVELS.get(work.problem.key, USUAL_LEVELS)
        own_sample = work.at(OWN, TOLERANCE)
        own_ms = own_sample.milliseconds if own_sample else None
        own_middle = at_error(work.of(OWN), levels[1])
        title = f"{work.key} {work.problem.title}\nerrors {', '.join(f'{level:.0e}' for level in levels)}"
        for competitor in COMPETITORS:
            samples = work.of(competitor.name)
            if not samples and competitor.name not in work.notes:
                continue
            sample = work.at(competitor.name, TOLERANCE)
            reached = [at_error(samples, level) for level in levels]
            ms = sample.milliseconds if sample else None
            found = f"{sample.events}/{work.problem.n_events}" if sample else "-"
            wrong = sample is not None and not sample.is_right
            table.add_row(
                title,
                competitor.name,
                _ms(ms),
                f"{sample.error:.0e}" if sample else "-",
                f"[red]{found}[/red]" if wrong else found,
                _times(ms, own_ms),
                *(_ms(value) for value in reached),
                _times(reached[1], own_middle),
            )
            title = ""
        table.add_section()
    return table


def _fastest(work: Work, names: Sequence[str], level: float) -> tuple[float | None, str]:
    """Milliseconds and name of who reaches the level first; None if nobody does."""
    reached = {name: ms for name in names if (ms := at_error(work.of(name), level)) is not None}
    best = min(reached, key=reached.__getitem__, default=None)
    return (None, "nobody") if best is None else (reached[best], best)


def precision_table(works: Sequence[Work]) -> Table:
    """Time to reach each of three errors: tidegate, SUNDIALS in the best of its native forms, and the fastest of all others."""
    table = Table(
        title=f"work and precision: ms to an achieved error; at the middle one at most {SHARE} of native SUNDIALS, and less than all others"
    )
    for heading in ("problem", "error", "tidegate", "SUNDIALS", "which", "ratio", "fastest other", "which", "ratio", "verdict"):
        table.add_column(heading, justify="left" if heading in ("problem", "which") else "right")
    others = [competitor.name for competitor in COMPETITORS if competitor.name not in (OWN, OWN_ROSENBROCK, *NATIVE)]
    for work in works:
        for place, level in enumerate(LEVELS.get(work.problem.key, USUAL_LEVELS)):
            own = at_error(work.of(OWN), level)
            (native, native_name), (other, other_name) = _fastest(work, NATIVE, level), _fastest(work, others, level)
            verdict = ""
            if place == 1 and work.key in JUDGED:
                is_ahead = own is not None and own <= SHARE * (native or float("inf")) and own < (other or float("inf"))
                verdict = "[green]holds[/green]" if is_ahead else "[red]missed[/red]"
            row = [_ms(own), _ms(native), native_name, _times(own, native), _ms(other), other_name, _times(own, other), verdict]
            table.add_row("" if place else f"{work.key} {work.problem.title}", f"{level:.0e}", *row)
        table.add_section()
    return table


def _of(work: Work, name: str, figure: Figure) -> float | None:
    if figure.error is not None:
        return at_error(work.of(name), figure.error)
    sample = work.at(name, figure.rtol or TOLERANCE)
    return sample.milliseconds if sample else None


def bounds_table(works: Sequence[Work]) -> Table:
    """tidegate relative to SUNDIALS, beside its prototype relative to SUNDIALS."""
    table = Table(title=f"relative to SUNDIALS 7.9: at most {ALLOWANCE} times the prototype's ratio")
    for heading in ("problem", "at", "own ms", "SUNDIALS ms", "then: own", "then: SUNDIALS", "ratio", "then", "bound", "verdict"):
        table.add_column(heading, justify="right")
    for figure in FIGURES:
        work = next((work for work in works if work.key == figure.key), None)
        if work is None:
            continue
        own = _of(work, OWN, figure)
        rival = min((ms for name in figure.rivals if (ms := _of(work, name, figure)) is not None), default=None)
        ratio = own / rival if own is not None and rival is not None else None
        place = f"rtol {figure.rtol:.0e}" if figure.rtol is not None else f"error {figure.error:.0e}"
        then = f"{figure.own_ms / figure.rival_ms:.2f}"
        row = [figure.key, place, _ms(own), _ms(rival), _ms(figure.own_ms), _ms(figure.rival_ms), _times(own, rival), then]
        table.add_row(*row, f"{figure.bound:.2f}", _verdict(ratio, figure.bound))
    return table


def c_table(comparisons: Sequence[Comparison]) -> Table:
    """tidegate's ``method="bdf"`` and ``"ida"`` beside the C program, with each library it could be linked to."""
    table = Table(title=f"SUNDIALS through tidegate beside SUNDIALS called from C: at most {C_RATIO} times")
    for heading in ("problem", "method", "rtol", "tidegate", *(library.name for library in LIBRARIES), "ratios", "verdict"):
        table.add_column(heading, justify="left" if heading in ("problem", "method") else "right")
    for one in comparisons:
        own = one.milliseconds.get("tidegate")
        times = [one.milliseconds.get(library.name) for library in LIBRARIES]
        cells = [_ms(ms) if ms is not None else one.notes.get(name, "-") for name, ms in zip(("tidegate", *_NAMES), (own, *times), strict=True)]
        verdicts = " ".join(_verdict(own / ms, C_RATIO) for ms in times if own is not None and ms is not None)
        table.add_row(one.problem.key, one.method, f"{one.rtol:.0e}", *cells, " ".join(_times(own, ms) for ms in times), verdicts)
    return table


def facts_table(facts: Sequence[Fact], title: str = "whole runs") -> Table:
    """Figures with their bounds."""
    table = Table(title=title)
    for heading in ("what", "measured", "bound", "verdict"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for fact in facts:
        measured = fact.note if fact.value is None else f"{fact.value:.2f} {fact.unit}"
        bound = "" if fact.bound is None else f"{fact.bound:g} {fact.unit}"
        table.add_row(fact.title, measured, bound, _verdict(fact.value, fact.bound) if fact.bound is not None else "")
    return table


def taylor_table(pairs: Sequence[Pair]) -> Table:
    """Both Taylor methods on each problem, in microseconds."""
    table = Table(title="power series, rtol 1e-8: microseconds of a run for the end, as prepared and compiled, and compiled with every step")
    for heading in ("problem", "prepared", "compiled", "with steps", "heyoka", "x heyoka", "error", "of heyoka", "events", "of heyoka"):
        table.add_column(heading, justify="left" if heading == "problem" else "right")
    for pair in pairs:
        times = (f"{pair.prepared:.1f}", f"{pair.own:.1f}", f"{pair.whole:.1f}", f"{pair.rival:.1f}", _times(pair.own, pair.rival))
        found = (f"{pair.own_error:.0e}", f"{pair.rival_error:.0e}", str(pair.own_events), str(pair.rival_events))
        table.add_row(pair.title, *times, *found)
    return table
