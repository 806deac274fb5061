"""The native functions of a compiled block: ``tg_adapter`` of adapter.c filled in, and who gives it the models of runs. Out: addresses."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from tidegate.errors import UsageError
from tidegate.frontends.dsblock.block import NativeNeeds, Run
from tidegate.frontends.dsblock.compiled.requests import runtime
from tidegate.frontends.dsblock.compiled.vectors import BlockStructure, VariantStructure
from tidegate.frontends.dsblock.constrained import ConstrainedEquations
from tidegate.frontends.dsblock.description import Description, ParameterKind, SignalKind
from tidegate.frontends.dsblock.followed_inputs import FollowedInputs
from tidegate.model import Form
from tidegate.model.callables import NativeFunction, NativeSignals

__all__ = ["Adapter"]

_MOST_RUNS: Final = 64
_POINTER: Final = ctypes.c_void_p
_INPUTS: Final = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, ctypes.POINTER(ctypes.c_double))
_NAMES: Final = ("rhs", "residual_tangent", "jacobian", "guards", "guards_tangent", "guard_scale", "activity", "times", "outputs", "step_begins")
_FUNCTIONS: Final = {"residual_tangent": "tg_rhs_tangent"}
_CONSTRAINED: Final = {"rhs": "tg_hdae_rhs", "residual_tangent": "tg_hdae_tangent", "jacobian": "tg_hdae_jacobian", "hdae_parts": "tg_hdae_parts"}
_KEPT: Final = ("constraints", "constraints_tangent", "constraint_scale", "constraint_slopes")


@runtime_checkable
class HasStructure(Protocol):
    """A run whose vectors native functions use."""

    structure_address: int


class _Lines(ctypes.Structure):
    _fields_ = (("n", ctypes.c_int), ("times", _POINTER), ("values", _POINTER))


class _AdapterStructure(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("n_y", "n_p", "n_d", "place_run", "place_next", "place_nx", "place_nz", "n_rates", "first_rate")),
        ("x_from", _POINTER),
        ("xd_from", _POINTER),
        ("is_mass", ctypes.c_int),
        ("n_ticks", ctypes.c_int),
        ("most_evaluations", ctypes.c_int),
        ("inputs", _POINTER),
        ("input_function", _POINTER),
        ("signals", _POINTER),
        ("numbers", ctypes.c_double * _MOST_RUNS),
        ("blocks", _POINTER * _MOST_RUNS),
        ("scratch", _POINTER),
        ("zeros", _POINTER),
        ("n_plain", ctypes.c_double),
        ("n_seen", ctypes.c_int),
        *((name, _POINTER) for name in ("halves", "seen_mass", "mass_room")),
    )


class _ConstrainedStructure(ctypes.Structure):
    """``tg_constrained`` of constrained.c."""

    _fields_ = (
        ("adapter", _POINTER),
        ("is_integrated", ctypes.c_int),
        ("sizes", ctypes.c_int * 5),
        ("last", ctypes.c_int),
        ("is_multiplied", ctypes.c_int * 5),
        *((name, _POINTER) for name in ("steps", "gradients", "gradients_at", "gradients_of", "rates")),
    )


class Adapter:
    """See ``block.NativeFunctions``."""

    def __init__(self, described: Description, needs: NativeNeeds) -> None:
        shared, form = runtime(), needs.equations
        assert shared.library.tg_size_of_adapter() == ctypes.sizeof(_AdapterStructure)
        self._kept: list[Any] = []
        self._variants: dict[int, list[VariantStructure]] = {}
        self._tables: dict[int, Any] = {}
        self._followed: FollowedInputs | None = None
        self.signals: NativeSignals | None = None
        at = self._structure = _AdapterStructure()
        n, n_z = len(form.names), described.size(SignalKind.INDICATOR)
        n_y = n + len(form.with_rate) + (len(form.multipliers) if isinstance(form, ConstrainedEquations) else 0)
        at.n_y, at.n_p, at.n_d = n_y, needs.n_parameters, needs.n_discretes
        at.place_run, at.place_next, at.place_nx, at.place_nz = needs.places
        at.n_ticks, at.most_evaluations = 1, needs.max_evaluations or 0
        others = (SignalKind.INPUT, ParameterKind.INTEGER, ParameterKind.LOGICAL)
        at.n_plain = n if described.form is Form.ODE and n and not at.most_evaluations and not any(map(described.size, others)) else -1
        if described.form is Form.DAE:
            n_states = n - len(form.algebraic)
            x_from, xd_from = np.zeros(n, dtype=np.intc), np.full(n, -1, dtype=np.intc)
            x_from[form.differential] = np.arange(n_states)
            x_from[form.algebraic] = n_y - len(form.algebraic) + np.arange(len(form.algebraic))
            if form.mass is None:
                xd_from[form.with_rate] = n_states + np.arange(len(form.with_rate))
            at.n_rates, at.first_rate, at.is_mass = len(form.with_rate), n_states, form.mass is not None
            at.x_from, at.xd_from = self._address(x_from), self._address(xd_from)
        if form.mass is not None:
            seen, unseen = form.halves
            at.n_seen, at.halves = len(seen), self._address(np.ascontiguousarray(np.concatenate([seen, unseen])))
            at.seen_mass, at.mass_room = self._address(np.ascontiguousarray(seen @ form.mass)), self._address(np.zeros(2 * n_y * n_y + 4 * n_y))
        at.scratch = self._address(np.zeros(n_y + needs.n_parameters + 2 * max(n_y, n_z, sum(described.parts)) + 1))
        at.zeros = self._address(np.zeros(needs.n_parameters + 1))
        self._inputs(needs)
        names = [name for name in _NAMES if n_z or not name.startswith(("guard", "activity"))]
        context = ctypes.addressof(at)
        self.functions = {name: NativeFunction(shared.address(_FUNCTIONS.get(name, f"tg_{name}")), context) for name in names}
        if isinstance(form, ConstrainedEquations):
            needed = described.dependence
            needs_rates = needed.outputs_need_rates or (described.communicates and needed.auxiliaries_need_rates)
            self._constrain(form, context, needs.n_parameters, needs_rates=needs_rates)
        if needs.has_steps:
            self.functions["steps"] = NativeFunction(shared.address("tg_steps"), context)

    def _constrain(self, form: ConstrainedEquations, adapter: int, n_parameters: int, *, needs_rates: bool) -> None:
        """The functions of an HDAE: with equations that are integrated, and with those from which consistent values follow."""
        shared, n, n1 = runtime(), len(form.names), form.parts[0]
        assert shared.library.tg_size_of_constrained() == ctypes.sizeof(_ConstrainedStructure)
        multiplied = [int(k in form.multiplied) for k in range(1, 6)]
        contexts: list[int] = []
        for is_integrated in (True, False):
            at = _ConstrainedStructure(adapter, int(is_integrated), form.parts, form.last, tuple(multiplied))
            at.steps, at.gradients = self._address(np.zeros(n1 + 1)), self._address(np.zeros(n1 * sum(form.parts) + 1))
            at.gradients_at = self._address(np.full(1 + n + n_parameters, np.nan))
            at.gradients_of = self._address(np.zeros(1, dtype=np.uintp))
            m = n - n1
            at.rates = self._address(np.zeros(n + 2 * m + m * m + m * sum(form.parts) + 1))
            self._kept.append(at)
            contexts.append(ctypes.addressof(at))
        names = (
            _CONSTRAINED
            | ({"outputs": "tg_hdae_outputs"} if needs_rates else {})
            | {name: f"tg_{name}" for name in _KEPT if form.parts[3] + form.parts[4]}
        )
        self.functions |= {name: NativeFunction(shared.address(function), *contexts) for name, function in names.items()}

    def _address(self, vector: Any) -> int:
        self._kept.append(vector)
        return int(vector.ctypes.data)

    def _inputs(self, needs: NativeNeeds) -> None:
        lines = needs.inputs.lines()
        table = (_Lines * max(len(lines), 1))()
        for k, (times, values) in enumerate(lines):
            table[k] = _Lines(len(values), self._address(times), self._address(values))
        self._kept.append(table)
        self._structure.inputs = ctypes.addressof(table)
        if not needs.inputs.functions():
            return
        self._followed = needs.inputs.followed
        if self._followed is not None:
            self.signals = NativeSignals(self._followed.time, self._followed.values, self._install)

        def inputs(t: float, u: Any) -> int:
            try:
                for k, value in enumerate(needs.inputs.at(t)):
                    u[k] = value
            except Exception:  # noqa: BLE001, the same is asked for by Python next, which says it
                return 1
            return 0

        function = _INPUTS(inputs)
        self._kept.append(function)
        self._structure.input_function = ctypes.cast(function, _POINTER).value

    def _install(self, address: int) -> None:
        self._structure.signals = address

    def enter(self, number: int, run: Run) -> None:
        """A run begins."""
        if self._structure.signals and self._followed is not None and not self._followed.are_current():
            self._structure.signals = None  # and the functions are called, as they are now
        assert isinstance(run, HasStructure)
        numbers = self._structure.numbers
        free = next((k for k in range(_MOST_RUNS) if not numbers[k]), None)
        if free is None:
            raise UsageError(f"there are {_MOST_RUNS} runs of one compiled block at once", hint="let some of them end first")
        self._structure.blocks[free] = run.structure_address
        BlockStructure.from_address(run.structure_address).evaluations = 0
        numbers[free] = number

    def evaluations(self, run: Run) -> int:
        """See ``block.NativeFunctions``."""
        assert isinstance(run, HasStructure)
        return BlockStructure.from_address(run.structure_address).evaluations

    def beside(self, run: Run, k: int, others: Sequence[tuple[float, float, Run]]) -> None:
        """See ``block.NativeFunctions``."""
        assert isinstance(run, HasStructure)
        known = self._variants.setdefault(run.structure_address, [])
        for offset, weight, other in others:
            assert isinstance(other, HasStructure)
            known.append(VariantStructure(k, offset, weight, other.structure_address))
        table = (VariantStructure * len(known))(*known)
        self._tables[run.structure_address] = table
        structure = BlockStructure.from_address(run.structure_address)
        structure.variants, structure.n_variants = ctypes.addressof(table), len(known)

    def leave(self, number: int) -> None:
        """It is over."""
        numbers = self._structure.numbers
        for k in range(_MOST_RUNS):
            if numbers[k] == number:
                numbers[k] = 0
                address = self._structure.blocks[k]
                if self._variants.pop(address, None) is not None:
                    BlockStructure.from_address(address).n_variants = 0
                    del self._tables[address]
