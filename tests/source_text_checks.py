"""Models written as compiled blocks, built, loaded and run: what differs from the run of the model itself."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import tidegate as tg

__all__ = ["differences", "exported"]

C_OPTIONS = ("-std=c99", "-Wall", "-Wextra", "-Werror")
# the interface says which arguments there are; a block need not look at all of them
# a third of the time; warnings that need the optimiser come from C
FORTRAN_OPTIONS = ("-O0", "-Wall", "-Wno-unused-dummy-argument", "-Werror", "-Wno-error=maybe-uninitialized")
ROUNDING = 1e-13  # of the largest variable: what is the difference of others is nothing but that
ALLOWED = 1e-9  # of the size of a variable, and of the length of the run


def exported(source: Any, name: str, folder: Path, language: str = "c") -> tuple[Any, dict[str, str]]:
    """The block that is loaded from what was exported, and its names."""
    written = tg.dsblock.export(source, name, language=language, folder=folder)  # type: ignore[arg-type]
    # -w of the usual options would hush what is looked for
    options = C_OPTIONS if language == "c" else FORTRAN_OPTIONS
    return tg.dsblock.build(written, prefix=name, language=language, options=options), written.names  # type: ignore[arg-type]


def differences(
    source: Any, span: tuple[float, float], block: Any, names: dict[str, str], *, rtol: float = 1e-11, allowed: float = ALLOWED, **options: Any
) -> list[str]:
    """Sentences on what differs: events of the model that the block does not have at their times, others of it that change anything, values."""
    points = {"outputs": np.linspace(*span, 24), "rtol": rtol, "method": "radau", "event_rows": False, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tg.TidegateWarning)
        own, other = tg.simulate(source, span, **points), tg.simulate(block, span, **points)
    found: list[str] = []
    length = span[1] - span[0]
    ours = [event for event in own.events if event.kind not in ("initial", "final") and event.time > span[0]]
    times = np.array([event.time for event in other.events])
    near = [bool(times.size) and float(np.min(np.abs(times - event.time))) <= allowed * length for event in ours]
    found += [f"the block has no event at {event.time!r}: {event}" for event, is_there in zip(ours, near, strict=True) if not is_there]
    has_last_row = any(event.kind == "final" for event in own.events) and len(own.t) > len(other.t)
    expected = np.array([event.time for event in own.events if event.kind != "initial"])
    known = {theirs for name, theirs in names.items() if name in own.dataset}  # a choice of states is no event of the model
    for event in other.events:
        is_known = expected.size and float(np.min(np.abs(expected - event.time))) <= allowed * length
        changed = {k for k in known if abs(event.after.get(k, 0.0) - event.before.get(k, 0.0)) > allowed * (1.0 + abs(event.before.get(k, 0.0)))}
        if not is_known and changed and event.time > span[0]:
            found.append(f"the block has an event at {event.time!r} that the model has not: {event}")
    largest = max((float(np.max(np.abs(np.asarray(own[name], dtype=float)))) for name in names if name in own.dataset), default=1.0)
    for name, theirs in names.items():
        if name not in own.dataset or theirs not in other.dataset:
            continue
        a, b = np.asarray(own[name], dtype=float), np.asarray(other[theirs], dtype=float)
        if has_last_row:  # before and after final actions; of the block afterwards
            a = np.concatenate([a[:-2], a[-1:]])
        size = float(np.max(np.abs(a))) or 1.0
        gap = float(np.max(np.abs(a - b)))
        if not gap <= allowed * size + ROUNDING * largest:
            found.append(f"{name} differs by {gap / size:.1e} of its size")
    return found
