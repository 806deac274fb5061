"""CallableModel with a neutral model beside it -> CompiledModel: equations, conditions and outputs are machine code, what happens is called.

Both have the same vectors. Of the neutral model come the functions, proofs and derivatives, of the other one the names, the bodies of events, and
what is asked at the start and at the end of a run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.compiled.callable_answers import CallableActions
from tidegate.compiled.compile import compile_model
from tidegate.compiled.compiled_model import CompiledModel, Direction, Start, StartValues
from tidegate.compiled.from_callables import Natives, corner_stops, described, identity
from tidegate.errors import Origin
from tidegate.expressions import walk
from tidegate.model import Model
from tidegate.model.callables import CallableModel
from tidegate.structure import Reduced
from tidegate.structure.stabilise import stabilise

__all__ = ["compile_traced"]

FloatArray = NDArray[np.float64]
_POINTER: Final = ctypes.c_void_p


def compile_traced(model: CallableModel, traced: Model) -> CompiledModel:
    """The same as ``compile_callables``, with the machine code of ``traced``."""
    traced = stabilise(traced).model
    native = compile_model(Reduced(traced, traced))
    layout, quantities = described(model, native.layout.n_modes)
    own = native.layout
    same = (own.unknowns, own.parameters, own.discretes, own.n_actions, own.n_time_events, own.n_outputs, own.dropping)
    assert same == (layout.unknowns, layout.parameters, layout.discretes, layout.n_actions, layout.n_time_events, layout.n_outputs, layout.dropping)
    natives = Natives(model, layout)
    n = len(layout.unknowns) + len(layout.discretes)
    pointers = {
        "bodies": natives.value("bodies", natives.bodies, n, natives.differ),
        "bodies_tangent": natives.tangent("bodies", natives.moved_by_event, n),
    }
    for name, what, hook in (
        ("communicated", "the hook at communication points", model.at_communication),
        ("step_begins", "the hook in front of steps", model.at_step),
    ):
        if hook is not None:
            pointers[name] = natives.value(what, partial(natives.told, hook), 1)
    addresses = {name: ctypes.cast(pointer, _POINTER).value or 0 for name, pointer in pointers.items()}
    stops = native.stops if not len(model.corners) else partial(_both, native.stops, corner_stops(model))
    return replace(
        native,
        layout=layout,
        quantities=quantities,
        nominal=np.array([model.nominal.get(name, 0.0) for name in layout.unknowns]),
        event_actions=tuple(replace(action, is_expected=False) for action in native.event_actions),
        addresses={**native.addresses, **addresses},
        has_opaque=True,
        start=cast("Start", _Start(native.start, model)),
        opening=None if model.at_open is None else CallableActions(model.at_open, layout, model.beside),
        has_acts=True,
        knows_memory=model.beside is not None,
        resuming=None if model.at_resume is None else CallableActions(model.at_resume, layout),
        adjusting=None if model.at_parameters is None else CallableActions(model.at_parameters, layout),
        closing=None if model.at_close is None else partial(natives.close, model.at_close),
        ending=None if model.at_stop is None else partial(natives.ending, model.at_stop),
        # what a run remembers is gone when it is over
        outputs=None if _calls(traced) else native.outputs,
        stops=stops,
        most_stops=native.most_stops + len(model.corners),
        identity=partial(identity, model),
        told=model.told,
        folds_names=model.folds_names,
        again=(compile_traced, (model, traced)),
        keep_alive=(*native.keep_alive, *pointers.values()),
    )


def _calls(traced: Model) -> bool:
    """Whether an output calls Python."""
    return any(item.op == "call" for item in walk(definition.value for definition in traced.definitions))


def _both(
    one: Callable[[FloatArray, float, float, float], FloatArray], other: Callable[[FloatArray, float, float, float], FloatArray],
    p: FloatArray, t_start: float, t_now: float, t_end: float,
) -> FloatArray:  # fmt: skip
    found = np.unique(np.concatenate([one(p, t_start, t_now, t_end), other(p, t_start, t_now, t_end)]))
    return found if t_end >= t_start else found[::-1].copy()


class _Start:
    """Start values of the neutral model; what parameters may be the block says."""

    asks_parameters = True
    asks_a_block = True
    asks_solution = False
    compares = False
    guesses: Mapping[int, bool] = MappingProxyType({})

    def __init__(self, native: Start, model: CallableModel) -> None:
        self._native, self._model = native, model

    def parameters(self, given: Mapping[int, float]) -> FloatArray:
        return self._native.parameters(given)

    def directions(self, chosen: Sequence[int], given: Collection[int], p: FloatArray) -> list[Direction]:
        return self._native.directions(chosen, given, p)

    def problem(self, p: FloatArray, *, has_started: bool = False) -> tuple[str, Origin | None] | None:  # noqa: ARG002, the same at any time
        reason = self._model.refuses(p) if self._model.refuses is not None else ""
        return (reason, None) if reason else None

    def values(self, p: FloatArray, t: float, directions: Sequence[Direction], *, with_actions: bool) -> StartValues:
        return self._native.values(p, t, directions, with_actions=with_actions)

    def together(self, given: object, count: int, t: float, directions: object) -> None:
        """The block is asked for one run after the other."""

    def doubtful(self, given: object, count: int) -> None:
        """Likewise."""

    def periods(self, p: FloatArray) -> FloatArray:
        return self._native.periods(p)

    def contradiction(self, at: object, rtol: float) -> None:
        """No reason."""
