"""Loading a module of native code: only when a run needs it, since Numba and its types take a moment. Its entries are compiled when first called.

Numba compiles one function at a time in each process. So where there are several processors, and nothing has been compiled yet, other processes make
what nearly every run comes to. What one of them is at the first waits for where it gets there, and makes what they would come to last meanwhile.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from tidegate.cache_folder import cache_directory
from tidegate.compiled import entry_code
from tidegate.compiled.compiled_model import CompiledModel
from tidegate.compiled.kernel_keys import entry_directory, kernel_directory, shipped_entry_directory, shipped_kernel_directory
from tidegate.integrators.other_process import other_process
from tidegate.integrators.simple_events import may_be_simple
from tidegate.no_collections import no_collections

__all__ = ["USUAL", "compile_ahead", "compile_parts", "kernel", "share_the_work"]

_HYBRID: Final = "tidegate.integrators.hybrid_loop"
_RADAU: Final = "tidegate.integrators.radau"
_TAYLOR: Final = "tidegate.integrators.taylor"
# What is done in steps: nothing else, systems with few elements, derivatives, derivatives at events; a search for events, which may all be simple.
_ALONE, _SPARSE, _DERIVATIVES, _AT_EVENTS = "alone", "sparse", "derivatives", "derivatives at events"
_RELATIONS, _SIMPLE, _ANY = "relations", "simple events", "any events"
_SYSTEMS: Final = ("factor_complex", "factor_real", "solve_complex", "solve_real")
_OF_EVENTS: Final = (
    (f"{_HYBRID}.event_derivatives", "jump_with_event"),
    ("tidegate.events.grazing", "note_grazings"),
    (f"{_HYBRID}.event_derivatives", "differentiate_times"),
    ("tidegate.sensitivity.jump", "finish_jump"),
)
# By method and by what is done in steps: what runs come to after ``begin``, in the order in which it is made. Its first item tells whether anything
# is to be done.
_AHEAD: Final = {
    ("radau", _ALONE): (
        (f"{_HYBRID}.loop", "advance"),
        (f"{_RADAU}.step", "take_step"),
        (f"{_RADAU}.newton", "newton"),
        *(("tidegate.linear.systems", name) for name in _SYSTEMS),
        (f"{_RADAU}.inside", "error_inside"),
        *((f"{_HYBRID}.record", name) for name in ("record_row", "record_polynomial")),
        (f"{_RADAU}.hooks", "radau_values"),
    ),
    ("radau", _SPARSE): tuple(("tidegate.linear.systems", f"{name}_sparse") for name in (*_SYSTEMS, "factor_base")),
    ("radau", _DERIVATIVES): (
        (f"{_RADAU}.sensitivities", "stage_sensitivities"),
        (f"{_RADAU}.hooks", "radau_sensitivities"),
    ),
    ("radau", _ANY): (
        (f"{_HYBRID}.transition", "settle"),
        ("tidegate.events.leaving", "leaving_sides"),
        ("tidegate.events.restart", "consistent_point"),
    ),
    ("radau", _SIMPLE): ((f"{_HYBRID}.simple_event", "settle_simply"),),
    ("radau", _RELATIONS): (
        (f"{_HYBRID}.event", "event_with_rows"),
        ("tidegate.events.isolate", "earliest_of_guards"),
        (f"{_RADAU}.locate", "locate"),
        (f"{_RADAU}.locate", "restep"),
        ("tidegate.events.undone", "take_back_undone"),
        (f"{_HYBRID}.record", "log_event"),
        ("tidegate.events.on_its_side", "put_on_its_side"),
    ),
    ("radau", _AT_EVENTS): _OF_EVENTS,
    ("taylor", _ALONE): (
        (f"{_TAYLOR}.smooth", "take_smooth_steps"),
        (f"{_TAYLOR}.next_step", "take_step"),
        *((f"{_HYBRID}.record", name) for name in ("record_row", "record_polynomial")),
        ("tidegate.events.restart", "derivatives"),
        *((f"{_TAYLOR}.hooks", name) for name in ("taylor_restart", "taylor_accept", "taylor_values")),
    ),
    ("taylor", _DERIVATIVES): ((f"{_TAYLOR}.hooks", "taylor_sensitivities"),),
    ("taylor", _RELATIONS): (
        (f"{_TAYLOR}.next_step", "take_step"),
        ("tidegate.events.isolate", "earliest_of_guards"),
        (f"{_HYBRID}.event", "event_with_rows"),
        (f"{_HYBRID}.simple_event", "settle_simply"),
        (f"{_TAYLOR}.hooks", "taylor_locate"),
        *((f"{_HYBRID}.record", name) for name in ("record_row", "record_polynomial", "log_event")),
        ("tidegate.events.on_its_side", "put_on_its_side"),
        *((f"{_TAYLOR}.hooks", name) for name in ("taylor_restart", "taylor_accept", "taylor_values")),
    ),
    ("taylor", _AT_EVENTS): _OF_EVENTS,
}
# what else runs of these methods come to as a rule, with derivatives too
_BESIDE: Final = (
    *((f"{_HYBRID}.loop", name) for name in ("begin", "advance")),
    (f"{_HYBRID}.clear_start", "settle_clearly"),
    ("tidegate.events.restart", "consistent_point"),
    ("tidegate.events.tape_range", "tape_range"),
    ("tidegate.events.guard_models", "guard_model"),
    ("tidegate.events.interval_roots", "curved_root"),
    ("tidegate.linear.mass", "evaluate_mass"),
    ("tidegate.linear.systems", "factor_base"),
    *((f"{_RADAU}.hooks", name) for name in ("radau_restart", "radau_accept")),
    (f"{_RADAU}.newton", "factor_systems"),
    (f"{_RADAU}.filter_proof", "is_explained"),
    *(("tidegate.sensitivity.jump", name) for name in ("start_jump", "body_jump", "restart_jump")),
    ("tidegate.linear.forced", "jacobian_beside"),
)
USUAL: Final = tuple(dict.fromkeys((*(part for parts in _AHEAD.values() for part in parts), *_BESIDE)))  # what most runs need
_MOST_OTHERS: Final = 3  # processes beside the first

_loading = threading.RLock()
_others: list[subprocess.Popen[bytes]] = []


@cache
def kernel(module: str) -> ModuleType:
    """Import a module of native code.

    Parameters
    ----------
    module : full name, e.g. ``"tidegate.integrators.radau.radau_method"``.
    """
    with _loading, no_collections():
        return import_module(module)


def share_the_work(method: str, model: CompiledModel, *, has_derivatives: bool) -> None:
    """Begin other processes for the first runs of a method, where there is something for them to do.

    Parameters
    ----------
    method : "radau" or "taylor", which most runs take.
    model : that is to be run.
    has_derivatives : whether derivatives by parameters are asked for.
    """
    has_relations = len(model.guards) > 0
    is_simple = has_relations and may_be_simple(model)
    _share(method, has_relations=has_relations, is_simple=is_simple, has_derivatives=has_derivatives, is_sparse=model.sparsity is not None)


@cache
def _share(method: str, *, has_relations: bool, is_simple: bool, has_derivatives: bool, is_sparse: bool) -> None:
    # the part that takes longest stands first of all
    is_radau = method == "radau"
    asked = {_ANY: is_radau and has_relations and not is_simple, _SIMPLE: is_radau and is_simple, _RELATIONS: has_relations}
    asked |= {_ALONE: is_radau or not has_relations, _SPARSE: is_radau and is_sparse}
    asked[_DERIVATIVES] = has_derivatives
    asked[_AT_EVENTS] = has_relations and has_derivatives
    kinds = [(method, what) for what, is_asked in asked.items() if is_asked]
    missing = kinds if _nothing_is_there() else [kind for kind in kinds if not _is_there(*_AHEAD[kind][0])]
    others = min((os.cpu_count() or 1) - 1, _MOST_OTHERS)
    if not missing or others < 1 or not sys.executable:
        return
    if not kernel_directory().is_relative_to(cache_directory()):
        return  # of this process alone
    program = f"from tidegate.integrators.kernel_cache import compile_ahead; compile_ahead({missing})"
    try:
        _others.extend(other_process(program) for _ in range(others))  # they are not waited for
    except OSError:
        return
    waiting = [part for kind in missing for part in _AHEAD[kind]]
    entry_code.while_waiting(lambda: _one_of_the_last(waiting))


def _one_of_the_last(parts: list[tuple[str, str]]) -> bool:
    """Compile one that the others will get to last; False if none is left."""
    while parts:
        module, name = parts.pop()
        if not _is_there(module, name):
            getattr(kernel(module), name).there()
            return True
    return False


def _nothing_is_there() -> bool:
    """Whether no entry of any version is anywhere: that is known before it is found out what the entries of this version are made of."""
    places = (kernel_directory(), shipped_kernel_directory())
    return not any(place is not None and any(place.glob("*/*.o")) for place in places)


def _is_there(module: str, name: str) -> bool:
    """Whether there is machine code of this entry, or none is kept."""
    own, shipped = entry_directory(module), shipped_entry_directory(module)
    return own is None or any(place is not None and any(place.glob(f"{name}-*")) for place in (own, shipped))


def compile_ahead(kinds: Iterable[tuple[str, str]]) -> None:
    """Compile what runs come to, in a process that does nothing else.

    Parameters
    ----------
    kinds : of runs: a method, and what is done in steps.
    """
    compile_parts(part for kind in kinds for part in _AHEAD[kind])


def compile_parts(parts: Iterable[tuple[str, str]]) -> None:
    """Compile entries by their modules and names, in a process that does nothing else; what another one is at is left to it."""
    for module, name in parts:
        if not _is_there(module, name):
            getattr(import_module(module), name).there()
