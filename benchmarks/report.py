"""The tables: everybody on every problem, the bounds from the prototypes, and the whole runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

from benchmarks.competitors import COMPETITORS, OWN
from benchmarks.measure import Work, at_error
from benchmarks.prototypes import ALLOWANCE, FIGURES, Figure

__all__ = ["Fact", "bounds_table", "comparison_table", "facts_table"]

TOLERANCE = 1e-8
LEVELS = {"P4": (1e-2, 1e-3, 1e-4)}
USUAL_LEVELS = (1e-5, 1e-7, 1e-9)


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
            wrong = sample is not None and (sample.events != work.problem.n_events or not math.isfinite(sample.error))
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


def facts_table(facts: Sequence[Fact]) -> Table:
    """Whole runs with their bounds."""
    table = Table(title="whole runs")
    for heading in ("what", "measured", "bound", "verdict"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for fact in facts:
        measured = fact.note if fact.value is None else f"{fact.value:.2f} {fact.unit}"
        bound = "" if fact.bound is None else f"{fact.bound:g} {fact.unit}"
        table.add_row(fact.title, measured, bound, _verdict(fact.value, fact.bound) if fact.bound is not None else "")
    return table
