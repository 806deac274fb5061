"""One model of a compiled block: BLOCKB carried out to the end, its vectors, and calls of its callbacks. In: a library. Out: a description.

Source: Otter, DSblock 3.3 (DLR 1994), BLOCKB and the order of calls.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import CallbackError, InvalidModelError
from tidegate.frontends.dsblock.checks import check
from tidegate.frontends.dsblock.compiled.answers import ModelAnswers
from tidegate.frontends.dsblock.compiled.library import Library
from tidegate.frontends.dsblock.compiled.requests import runtime
from tidegate.frontends.dsblock.compiled.vectors import BlockStructure, Vectors
from tidegate.frontends.dsblock.description import Dependence, Description, ParameterKind, Proposals, SignalKind
from tidegate.frontends.dsblock.warned import warn
from tidegate.model import Form
from tidegate.quick_dataclass import dataclass

__all__ = ["NativeModel", "told_of_end"]

_FORMS: Final = (Form.ODE, Form.DAE, Form.HDAE)
_PLACEHOLDER: Final = 64
_MOST: Final = 100_000_000  # elements of a vector: 0.8 GB of numbers
_SIZES: Final = ("n_x", "n_u", "n_y", "n_z", "n_w", "n_dp", "n_ip", "n_lp", "n_duser", "n_iuser", "n_luser", "nf1", "nf2", "nf3", "nf4", "nf5")
_NEEDED: Final = {"n_x": ("NX", "F"), "n_y": ("NY", "G"), "n_z": ("NZ", "H")}
_WORK: Final = ("dp", "ip", "lp", "duser", "iuser", "luser")
_BETWEEN_EVENTS: Final = ("F", "G", "H", "J", "K")
_FUNCTIONS: Final = {"f": "F", "g": "G", "h": "H", "k": "K", "j": "J"}
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What BLOCKB says with IOPT = 2: form, whether there are step events and a Jacobian, names and dimensions."""

    form: Form
    has_step_events: bool
    has_jacobian: bool
    names: tuple[int, ...]
    of: dict[str, int]


def told_of_end(callback: str, name: str, ierr: int, errors: Sequence[str]) -> str:
    """What is said of an error of BLOCKT or BLOCKC, behind which nothing is left to be ended."""
    reported = f" reports an error (IERR = {ierr})" if ierr else " says"
    return f"{callback} of DSblock {name}{reported}" + "".join(f": {text}" for text in errors)


class NativeModel:
    """A model, defined; runs of it follow each other.

    Parameters
    ----------
    data_file : what BLO2MF answers.
    folders : where message files are looked for, besides that of the library.

    Raises
    ------
    InvalidModelError : the block refuses the model, or says what cannot be; everything that was found.
    """

    def __init__(self, library: Library, name: str, data_file: str | None = None, folders: tuple[Path, ...] = ()) -> None:
        self.library, self.name = library, name
        self.answers = ModelAnswers(name, data_file, (*folders, library.path.resolve().parent))
        self.structure = BlockStructure(name=name.encode())
        self.address = ctypes.addressof(self.structure)
        runtime().answers[self.address] = self.answers
        self._small = Vectors({"t": 1, "tevent": 2, "t0": 1}, {"iopt": 3, "ierr": 1, "info": 16, "dimnew": 2, "iprior": 1, "ityp": 4, "dim": 6})
        self._other = Vectors({"real": _PLACEHOLDER}, {"integer": _PLACEHOLDER})
        self._functions = {letter: ctypes.CFUNCTYPE(None)(address) for letter, address in library.addresses.items()}
        self._warned: set[str] = set()
        self._addresses: dict[tuple[str, ...], tuple[ctypes.c_void_p, ...]] = {}  # of vectors that are given together
        self.is_as_defined = True
        self._stage = 0  # of BLOCKB, as far as the block has done it well: what BLOCKC is told
        self.unused: Array | None = None
        try:
            self._loaded()
            self.sizes = self._described()
            self.vectors = self._dimensioned(self.sizes)
            self.description = self._defined(self.sizes)
        except BaseException:
            if self._stage > 1:
                self._closing(self._stage)()
            runtime().answers.pop(self.address, None)
            raise
        self.close = weakref.finalize(self, self._closing())

    # -- BLOCKB -------------------------------------------------------------------------------------------------------------------------------

    def _blockb(self, stage: int, sizes: _Sizes | None = None) -> Vectors:
        """Carry it out; what it says in INFO, SIG and DIM."""
        said = Vectors({}, {"iopt": 1, "info": 16, "sig": 6, "dim": 16, "ierr": 1})
        said["iopt"][0] = stage
        real, integer = self._other.addresses["real"], self._other.addresses["integer"]
        later: list[int] = [real, real, real, real, integer, integer, real, integer, integer]
        if sizes is not None:
            at = self.vectors.addresses
            later = [self._small.addresses["t0"], *(at[k] for k in ("x0", "xd0", *_WORK))]
        self.answers.stage = stage
        try:
            given = [*(said.addresses[k] for k in ("iopt", "info", "sig", "dim")), *later, said.addresses["ierr"]]
            self._carried_out("B", *map(ctypes.c_void_p, given))
        finally:
            self.answers.stage = 0
        problems = self._problems([*said.overwritten()])
        ierr = int(said["ierr"][0])
        messages, self.answers.errors = self.answers.errors, []
        where = f"{self.library.callback('B')} with IOPT = {stage}"
        if ierr:
            problems.insert(0, f"{where} refuses the model (IERR = {ierr})" + "".join(f": {text}" for text in messages))
        elif messages:
            problems += [f"{where} says: {text}" for text in messages]
        if not ierr:
            self._stage = stage
        if problems and (ierr or stage < 3):  # at the third, names are checked first
            self._refuse(problems)
        self._late = problems
        return said

    def _problems(self, overwritten: list[str]) -> list[str]:
        if self.answers.trouble is not None:
            raise self.answers.trouble
        found, self.answers.problems = self.answers.problems, []
        return [*found, *(f"BLOCKB wrote {where}" for where in overwritten)]

    def _refuse(self, problems: list[str]) -> None:
        if problems:
            raise InvalidModelError([(f"DSblock {self.name}: {problem}", None) for problem in problems])

    def _loaded(self) -> None:
        if self.library.several is None:
            said = self._blockb(1)
            self.library.several = bool(said["info"][0] == 1)
            self.library.facts = {"text": self.answers.text, "version": self.answers.version}

    def _described(self) -> _Sizes:
        self.answers.text, self.answers.version = self.library.facts["text"], self.library.facts["version"]
        said = self._blockb(2)
        info, dim = said["info"], [int(v) for v in said["dim"]]
        problems = [f"DIM({k + 1}) is {size}; a dimension cannot be negative" for k, size in enumerate(dim) if size < 0]
        problems += [f"DIM({k + 1}) is {size}, more than {_MOST} elements, which is taken for a slip" for k, size in enumerate(dim) if size > _MOST]
        if not 0 <= info[0] < len(_FORMS):
            problems.append(f"INFO(1) = {info[0]} with IOPT = 2; 0 is an ODE, 1 a DAE, 2 an HDAE")
        problems += [f"INFO({k + 1}) = {info[k]} with IOPT = 2; 0 and 1 are possible" for k in (1, 2) if info[k] not in (0, 1)]
        self._refuse(problems)
        of: dict[str, int] = dict(zip(_SIZES, dim, strict=True))
        for size, (what, letter) in _NEEDED.items():
            if of[size] and letter not in self._functions:
                problems.append(f"{what} = {of[size]}, but there is no BLOCK{letter} in {self.library.path.name}")
        if info[2] and "J" not in self._functions:
            problems.append(f"INFO(3) = 1, but there is no BLOCKJ in {self.library.path.name}")
        if info[1] and "F" not in self._functions:
            problems.append(f"INFO(2) = 1, but there is no BLOCKF in {self.library.path.name}, which is asked for step events")
        if of["n_w"] and "K" not in self._functions:
            problems.append(f"NW = {of['n_w']}, but there is no BLOCKK in {self.library.path.name}")
        self._refuse(problems)
        self.answers.n_inputs = of["n_u"]
        return _Sizes(_FORMS[int(info[0])], bool(info[1]), bool(info[2]), tuple(int(v) for v in said["sig"]), of)

    def _dimensioned(self, sizes: _Sizes) -> Vectors:
        of, n = sizes.of, sizes.of["n_x"]
        n_f = n if sizes.form is not Form.HDAE else sum(of[f"nf{k}"] for k in range(1, 6))
        reals = {"x": n, "xd": n, "x0": n, "xd0": n, "u": of["n_u"], "dp": of["n_dp"], "fout": n_f, "y": of["n_y"], "z": of["n_z"], "w": of["n_w"]}
        reals |= {"duser": of["n_duser"], "jac": n * n if sizes.has_jacobian else 0}
        whole = {"ip": of["n_ip"], "lp": of["n_lp"], "iuser": of["n_iuser"], "luser": of["n_luser"], "hinfo": of["n_z"], "hcross": of["n_z"]}
        vectors, structure = Vectors(reals, whole), self.structure
        for name in ("x", "xd", "u", "dp", "ip", "lp", "fout", "y", "z", "w", "duser", "iuser", "luser", "jac"):
            setattr(structure, name, vectors.addresses[name])
        for name, letter in _FUNCTIONS.items():
            setattr(structure, name, self.library.addresses.get(letter, 0))
        if not sizes.has_jacobian:
            structure.j = 0
        for name in ("n_x", "n_u", "n_y", "n_z", "n_w", "n_dp", "n_ip", "n_lp", "n_duser", "n_iuser", "n_luser"):
            setattr(structure, name, of[name])
        structure.n_f, structure.is_dae, structure.n_jac = n_f, sizes.form is Form.DAE, reals["jac"]
        return vectors

    def _defined(self, sizes: _Sizes) -> Description:
        self._blockb(3, sizes)
        v, of, answers = self.vectors, sizes.of, self.answers
        problems = [*self._late, *(f"BLOCKB wrote {where}" for where in v.overwritten()), *self._miscounted(sizes)]
        self.defaults = {name: v[name].copy() for name in ("dp", "ip", "lp", "x0", "xd0")}
        parameters = tuple(
            replace(entry, default=tuple(self._value(entry.kind, k) for k in range(entry.first, entry.first + entry.size)))
            for entry in answers.parameters
        )
        n_declared = sum(entry.size for entry in answers.signals if entry.kind is SignalKind.STATE)
        starts = {name: tuple(np.resize(v[name], n_declared).tolist()) for name in ("x0", "xd0")}  # of other numbers it is told already
        described = Description(
            name=self.name, form=sizes.form, signals=tuple(answers.signals), parameters=parameters,
            parts=(of["nf1"], of["nf2"], of["nf3"], of["nf4"], of["nf5"]), text=answers.text, version=answers.version,
            t0=float(self._small["t0"][0]), x0=starts["x0"], xd0=starts["xd0"] if sizes.form is Form.DAE else (),
            dependence=self._dependence(of["n_u"]), proposals=self._proposals(problems), has_step_events=sizes.has_step_events,
            has_jacobian=sizes.has_jacobian, has_communication="K" in self._functions,
            callbacks={letter: self.library.callback(letter) for letter in self._functions},
        )  # fmt: skip
        check(described, problems)
        needs = described.dependence
        wants_rates = (needs.outputs_need_rates and of["n_y"]) or (needs.auxiliaries_need_rates and described.communicates)
        self.structure.needs_rates = sizes.form is Form.ODE and bool(wants_rates)
        return described

    def _value(self, kind: ParameterKind, k: int) -> float:
        vector = self.vectors[kind.value.lower()]
        value = float(vector[k]) if k < len(vector) else 0.0
        return float(value != 0.0) if kind is ParameterKind.LOGICAL else value

    def _miscounted(self, sizes: _Sizes) -> list[str]:
        """Names against SIG, elements against DIM."""
        answers, problems = self.answers, list[str]()
        for k, kind in enumerate(SignalKind):
            entries = [entry for entry in answers.signals if entry.kind is kind]
            if len(entries) != sizes.names[k]:
                problems.append(f"SIG({k + 1}) says {sizes.names[k]} names of {kind.value}, and {len(entries)} are declared")
            size = sum(entry.size for entry in entries)
            if size != (n := sizes.of[_SIZES[k]]):
                problems.append(f"DIM({k + 1}) says N{kind.value} = {n}, and the declared {kind.value} have {size} elements")
        if len(answers.parameters) != sizes.names[5]:
            problems.append(f"SIG(6) says {sizes.names[5]} parameters, and {len(answers.parameters)} are declared")
        for k, kind in enumerate(ParameterKind):
            size = sum(entry.size for entry in answers.parameters if entry.kind is kind)
            if size != (n := sizes.of[_SIZES[5 + k]]):
                problems.append(f"DIM({6 + k}) says N{kind.value} = {n}, and the declared ones have {size} elements")
        return problems

    def _dependence(self, n_inputs: int) -> Dependence:
        said = self.answers.dependence
        if said is None:
            return Dependence((True,) * n_inputs)
        gu, elements, gxd, kxd = said
        inputs = tuple(each == 1 for each in elements) if gu == 2 else (gu != 0,) * n_inputs
        return Dependence(inputs, gxd == 1, kxd == 1)

    def _proposals(self, problems: list[str]) -> Proposals:
        given = dict(self.answers.proposals)
        nominal = given.get("nominal")
        if nominal is not None and len(nominal) != self.sizes.of["n_x"]:
            problems.append(f"BLO3DE gives {len(nominal)} typical sizes of {self.sizes.of['n_x']} states")
            given.pop("nominal")
        return Proposals(**given)

    # -- calls --------------------------------------------------------------------------------------------------------------------------------

    def _carried_out(self, letter: str, *addresses: ctypes.c_void_p) -> None:
        shared = runtime()
        if self.library.watcher is not None:
            self.library.watcher(letter)
        before = shared.enter(self.address, letter)
        try:
            self._functions[letter](*addresses)
        finally:
            shared.enter(before)

    def carried_out_differences(self, time: float, places: range, steps: Array, found: Array) -> bool:
        """Derivatives of F by elements of X, a row each, by calls of BLOCKF that do not come back to Python in between; True if one has failed."""
        shared = runtime()
        if self.library.watcher is not None:
            self.library.watcher("F")
        before = shared.enter(self.address)
        try:
            failed = shared.library.tg_differences(self.address, time, places.start, len(places), steps.ctypes.data, found.ctypes.data)
        finally:
            shared.enter(before)
        self.told("F")
        return bool(failed)

    def has(self, letter: str) -> bool:
        """Whether a callback is there."""
        return letter in self._functions

    def stays(self, places: slice) -> None:
        """What a run says of these parameters is not used: they stay what BLOCKB has made them."""
        if self.unused is None:
            self.unused = np.zeros(sum(self.sizes.of[name] for name in ("n_dp", "n_ip", "n_lp")), dtype=np.intc)
            self.structure.stays = self.unused.ctypes.data
        self.unused[places] = 1

    def small(self, name: str) -> Array:
        """A short vector that callbacks share: t, tevent, iopt, ierr, info, dimnew, iprior, ityp, dim."""
        return self._small[name]

    def call(self, letter: str, *names: str) -> int:
        """Call a callback with these vectors, by name; what it leaves in IERR.

        Raises
        ------
        CallbackError : it did what is against the rules.
        """
        self._small["ierr"][0] = 0
        if names not in self._addresses:
            self._addresses[names] = tuple(ctypes.c_void_p(self._where(name)) for name in names)
        self._carried_out(letter, *self._addresses[names])
        self.told(letter)
        if letter not in _BETWEEN_EVENTS:
            self.structure.knows_point = False  # it may change what intermediate results are made of
        elif not runtime().library.tg_intact(ctypes.c_void_p(self.address)):
            self.check_guards(letter, float(self._small["t"][0]))
        return int(self._small["ierr"][0])

    def _where(self, name: str) -> int:
        if name == "icall":
            return self.address + BlockStructure.icall.offset
        if "+" in name:  # an element of a vector of integers
            vector, _, k = name.partition("+")
            return self._small.addresses[vector] + ctypes.sizeof(ctypes.c_int) * int(k)
        return self.vectors.addresses.get(name) or self._small.addresses[name]

    def told(self, letter: str) -> None:
        """Say what the block has said in this callback, or in those that were called natively before."""
        answers = self.answers
        warnings, answers.warnings = answers.warnings, []
        for text in warnings:
            warn(f"DSblock {self.name}: {text}")
        if answers.trouble is not None:
            trouble, answers.trouble = answers.trouble, None
            raise trouble
        problems, answers.problems = answers.problems, []
        if problems:
            raise CallbackError(f"{self.library.callback(letter)} of DSblock {self.name}: {'; '.join(dict.fromkeys(problems))}")

    def take_errors(self) -> list[str]:
        """Messages of TYPE 1 that nobody has been told of."""
        errors, self.answers.errors = self.answers.errors, []
        return errors

    def reported(self, letter: str, ierr: int, time: float) -> CallbackError:
        """The error that a callback has reported."""
        said = "".join(f": {text}" for text in self.take_errors())
        callback = f"{self.library.callback(letter)} of DSblock {self.name}"
        return CallbackError(f"{callback} reports an error (IERR = {ierr}) at t = {time:g}{said}", time=time)

    def failed(self) -> CallbackError | None:
        """The error that a callback has reported within a step.

        Raises
        ------
        CallbackError : it wrote outside of its vectors.
        """
        letter = self.structure.failed_in
        if self.structure.has_overwritten:
            self.check_guards(chr(letter), self.structure.failed_at)
        return self.reported(chr(letter), self.structure.ierr, self.structure.failed_at) if letter else None

    def check_guards(self, letter: str, time: float) -> None:
        """Look whether the block has written outside of its vectors.

        Raises
        ------
        CallbackError : it has.
        """
        found = [*self.vectors.overwritten(), *self._small.overwritten()]
        if found:
            raise CallbackError(
                f"{self.library.callback(letter)} of DSblock {self.name}, or a callback before it, wrote {'; '.join(found)}, noticed at t = {time:g}",
                time=time, hint="dimensions that BLOCKB gives in DIM must be those that the callbacks use",
            )  # fmt: skip

    def warn_once(self, sentence: str) -> None:
        """A warning that is not repeated."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            warn(sentence)

    def _closing(self, stage: int = 3) -> Any:
        """What is done when the model goes: BLOCKC, and room for another one."""
        small, structure, address, name = self._small, self.structure, self.address, self.name
        real, integer = self._other.addresses["real"], self._other.addresses["integer"]
        memory = [self.vectors.addresses[k] for k in ("duser", "iuser", "luser")] if stage > 2 else [real, integer, integer]
        kept, called = (self._other, getattr(self, "vectors", None)), self.library.callback("C")
        function, answers, watcher = self._functions.get("C"), self.answers, self.library.watcher

        def close() -> None:
            shared = runtime()
            if function is not None:
                if watcher is not None:
                    watcher("C")
                small["iopt"][0], small["ierr"][0] = stage, 0
                shared.answers[address] = answers
                before = shared.enter(address)
                function(*map(ctypes.c_void_p, (small.addresses["iopt"], *memory, small.addresses["ierr"])))
                shared.enter(before)
                if small["ierr"][0] or answers.errors:
                    warn(told_of_end(called, name, int(small["ierr"][0]), answers.errors))
            shared.answers.pop(address, None)
            structure.failed_in = 0 if kept else 1  # keeps the structure and the vectors alive up to here

        return close
