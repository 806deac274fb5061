"""A compiled block on flat vectors. In: a library's models; out: a ``Block``, whose runs call BLOCKF to BLOCKV.

Source: Otter, DSblock 3.3 (DLR 1994). ICALL(1) is what the block has left there while T, X, XD, U and the parameters are as
in the call before; ICALL(2) of BLOCKF is 0 at the first call in a step of the integrator, and then what the block has left there in this step.
"""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import CallbackError, UsageError
from tidegate.frontends.dsblock.block import Action, Entry, Happened, NativeNeeds, Reply, Verdict
from tidegate.frontends.dsblock.compiled.adapter import Adapter
from tidegate.frontends.dsblock.compiled.library import Library, copied
from tidegate.frontends.dsblock.compiled.native_model import NativeModel, told_of_end
from tidegate.frontends.dsblock.description import Description, ParameterEntry, ParameterKind, SignalKind
from tidegate.frontends.dsblock.proposals import Environment
from tidegate.frontends.dsblock.warned import warn
from tidegate.model import Form
from tidegate.wishes import StopRun

__all__ = ["CompiledBlock", "CompiledRun", "Models"]

FloatArray = NDArray[np.float64]
_PARAMETERS: Final = ("dp", "ip", "lp")
_MEMORY: Final = ("duser", "iuser", "luser")
_TYPES: Final = {ParameterKind.INTEGER: 1, ParameterKind.LOGICAL: 2, ParameterKind.REAL: 3}
_WELL, _ILL = 1, 2
_LOG: Final = logging.getLogger("tidegate.dsblock")
_CONTINUE, _RESTART, _STOP = 0, 1, 2
_USUAL_PRIORITY: Final = 50


class Models:
    """Models of one block: each is in one run at a time.

    Parameters
    ----------
    make : a model of a library, of this one or a copy.

    Raises
    ------
    UsageError : the library keeps static data, and there is a model of it already.
    """

    def __init__(self, library: Library, make: Callable[[Library], NativeModel]) -> None:
        self._library, self._make = library, make
        self._copies: list[Library] = []  # of static data, in no model
        self._lock = threading.RLock()  # a run that is collected gives its model back, perhaps while another takes one
        if library.several is False and _is_held(library):
            raise UsageError(
                f"there is another model of {library.path.name}, and its data are static (INFO(1) = 0 of {library.callback('B')}): two models of it "
                "would overwrite each other",
                hint="isolate=True gives each a process of its own; or close() the other first",
            )
        first = make(library)
        library.holder = weakref.ref(self)
        self.description = first.description
        self._free = [first]
        self.is_closed, self._n_busy = False, 0

    def take(self) -> NativeModel:
        """One that is in no run.

        Raises
        ------
        UsageError : there can be but one, and it is in a run.
        """
        with self._lock:
            if self.is_closed:
                raise UsageError(f"DSblock {self.description.name} is closed", hint="load it again")
            if not self._free and not self._library.several:
                gc.collect()  # a run that nobody has ended gives its model back
            if self._free:
                self._n_busy += 1
                return self._free.pop()
            if not self._library.several and self._n_busy:
                raise UsageError(
                    f"DSblock {self.description.name} is in a run, and its data are static (INFO(1) = 0 of {self._library.callback('B')}): two runs "
                    "at once would overwrite each other",
                    hint="let the runs follow each other, or load it with isolate=True for each",
                )
            self._n_busy += 1
            try:
                return self._make(self._library)
            except BaseException:
                self._n_busy -= 1
                raise

    def take_beside(self) -> NativeModel:
        """One for a run beside another: where data are static, of a copy of the library, which has its own."""
        if self._library.several:
            return self.take()
        with self._lock:
            copy = self._copies.pop() if self._copies else copied(self._library)
        return self._make(copy)

    def give_back(self, model: NativeModel) -> None:
        """Its run is over. One whose parameters were changed goes, so that no run depends on the parameters of one before."""
        with self._lock:
            if model.library is not self._library:
                model.close()
                self._copies.append(model.library)
                return
            self._n_busy -= 1
            if model.is_as_defined and not self.is_closed:
                self._free.append(model)
            else:
                model.close()

    def close(self) -> None:
        """BLOCKC of all that are in no run."""
        with self._lock:
            self.is_closed = True
            while self._free:
                self._free.pop().close()


def _is_held(library: Library) -> bool:
    """Whether somebody has a model of it, and not only waits to be collected."""
    if library.holder is not None and library.holder() is not None:
        gc.collect()
    holder: Models | None = None if library.holder is None else library.holder()
    return holder is not None and not holder.is_closed


class CompiledBlock:
    """See ``block.Block``.

    Parameters
    ----------
    environment : what the block may ask of the run.
    """

    knows_steps = True

    def __init__(self, models: Models, environment: Environment | None = None) -> None:
        self._models, self._environment = models, environment or Environment()

    @property
    def description(self) -> Description:
        """What it says of itself."""
        return self._models.description

    def native(self, needs: NativeNeeds) -> Adapter:
        """Its functions for steps."""
        return Adapter(self.description, needs)

    def within(self, environment: Environment) -> CompiledBlock:
        """The same block in a run that says this of itself."""
        return CompiledBlock(self._models, environment)

    def begin(self, at: Entry) -> tuple[CompiledRun, Reply]:
        """A run begins: BLOCKP for parameters that were changed, then BLOCKS."""
        return self._begun(self._models.take(), at)

    def begin_beside(self, at: Entry) -> tuple[CompiledRun, Reply]:
        """The same beside another run."""
        return self._begun(self._models.take_beside(), at)

    def _begun(self, model: NativeModel, at: Entry) -> tuple[CompiledRun, Reply]:
        try:
            model.answers.environment = self._environment
            model.structure.failed_in = model.structure.has_overwritten = model.structure.knows_point = model.structure.left_in_step = 0
            run = CompiledRun(model, self._models)
        except BaseException:
            self._models.give_back(model)
            raise
        try:
            return run, run.start(at)
        except BaseException:
            run.give_back()
            raise


class CompiledRun:
    """See ``block.Run``."""

    def __init__(self, model: NativeModel, models: Models) -> None:
        self.model = model
        self.give_back = weakref.finalize(self, models.give_back, model)
        self.structure_address = model.address
        self._description, self._vectors = model.description, model.vectors

    # -- the start ----------------------------------------------------------------------------------------------------------------------------

    def start(self, at: Entry) -> Reply:
        """BLOCKP and BLOCKS."""
        model, v = self.model, self._vectors
        self._put_parameters(at)
        n_x, n_z = len(v["x"]), len(v["z"])
        model.small("t")[0] = at.time
        v["u"][:] = at.u
        model.small("tevent")[:] = at.time
        v["hcross"][:] = 0
        model.small("dimnew")[:] = n_x, n_z
        if model.has("S"):
            ierr = model.call("S", "t", "x0", "xd0", "u", *_PARAMETERS, "tevent", "hcross", "dimnew", *_MEMORY, "ierr")
            if ierr:
                raise model.reported("S", ierr, at.time)
            self._say_errors("S")
            model.check_guards("S", at.time)
        nx, nz = self._dimensions("S")
        self._require_numbers("S", at.time, v["x0"][:nx], v["xd0"] if self._description.form is Form.DAE else v["x0"][:0], is_timed=True)
        return Reply(
            x=v["x0"].copy(), xd=v["xd0"].copy() if self._description.form is Form.DAE else None, next_event=float(model.small("tevent")[0]),
            may_reach=float(model.small("tevent")[1]), directions=self._directions("S"), n_states=nx, n_indicators=nz,
        )  # fmt: skip

    def _put_parameters(self, at: Entry) -> None:
        """Write the values of a run, and tell the block of those that it does not know."""
        model, v, places = self.model, self._vectors, dict[ParameterKind, int]()
        v["x0"][:] = at.x
        v["xd0"][:] = model.defaults["xd0"] if at.xd is None else at.xd
        first = 0
        for kind in ParameterKind:
            places[kind], first = first, first + self._description.size(kind)
        for entry in self._description.parameters:
            name, where = entry.kind.value.lower(), entry.places
            new = at.p[places[entry.kind] + where.start : places[entry.kind] + where.stop]
            v[name][where] = new
            if not np.array_equal(new, entry.default):
                model.is_as_defined = False
                if self._changed(entry) is Verdict.IGNORED:
                    v[name][where] = entry.default
                    model.stays(slice(places[entry.kind] + where.start, places[entry.kind] + where.stop))
                    _LOG.info("DSblock %s allows %s of %s, but does not use it", model.name, new.tolist(), entry.name)
        if not model.is_as_defined and model.has("P"):
            model.small("ityp")[:] = 0
            self._asked("the parameters together")
        self._say_errors("P")

    def _changed(self, entry: ParameterEntry) -> Verdict:
        model, v = self.model, self._vectors
        if not model.has("P"):
            return Verdict.ACCEPTED
        model.small("ityp")[:] = _TYPES[entry.kind], entry.first + 1, entry.number, len(entry.shape)
        model.small("dim")[: len(entry.shape)] = entry.shape
        values = v[entry.kind.value.lower()][entry.places]
        return self._asked(f"{entry.name} = {values[0] if not entry.shape else values.tolist()}")

    def _asked(self, what: str) -> Verdict:
        model = self.model
        answer = model.call("P", *_PARAMETERS, "ityp", "ityp+1", "ityp+2", "ityp+3", "dim", "x0", "xd0", *_MEMORY, "ierr")
        if answer not in [verdict.value for verdict in Verdict]:
            raise CallbackError(f"{model.library.callback('P')} of DSblock {model.name} answers IERR = {answer} to {what}; 0 to 3 are possible")
        if Verdict(answer) is Verdict.REFUSED:
            reason = "; ".join(model.take_errors()) or f"{model.library.callback('P')} answered IERR = 2"
            raise UsageError(f"DSblock {model.name} refuses {what}: {reason}")
        model.check_guards("P", float("nan"))
        return Verdict(answer)

    # -- a point ------------------------------------------------------------------------------------------------------------------------------

    def _filled(self, at: Entry) -> None:
        structure = self.model.structure
        if (structure.failed_in != ord("K") or structure.has_overwritten) and (error := self.model.failed()) is not None:
            raise error
        v = self._vectors
        # only a block that has left something in ICALL(1) gains by the same point
        has_stored = structure.knows_point and structure.icall[0] != 0 and structure.last_t == at.time
        before = self._point() if has_stored else ()
        self.model.small("t")[0] = at.time
        v["x"][: len(at.x)] = at.x
        if at.xd is not None:
            v["xd"][: len(at.xd)] = at.xd
        v["u"][:] = at.u
        first = 0
        for name in _PARAMETERS:
            end = first + len(v[name])
            v[name][:] = at.p[first:end] if self.model.unused is None else np.where(self.model.unused[first:end], v[name], at.p[first:end])
            first = end
        is_same = has_stored and self._point() == before
        structure.icall[:] = [structure.icall[0] if is_same else 0] + [0] * 15  # ICALL(1) is the block's as long as nothing changes
        structure.last_t, structure.knows_point = at.time, True

    def _point(self) -> tuple[bytes, ...]:
        return tuple(self._vectors[name].tobytes() for name in ("x", "xd", "u", *_PARAMETERS))

    def step_begins(self) -> None:
        """The next BLOCKF is the first of a step."""
        self.model.structure.left_in_step = 0

    def _value(self, letter: str, out: str, at: Entry, wanted: tuple[bool, ...] = ()) -> FloatArray:
        self._filled(at)
        structure = self.model.structure
        for k, is_wanted in enumerate(wanted):
            structure.icall[10 + k] = int(is_wanted)
        if letter == "F":
            structure.icall[1] = structure.left_in_step
        ierr = self.model.call(letter, "icall", "t", "x", "xd", "u", *_PARAMETERS, out, *_MEMORY, "ierr")
        if letter == "F":
            structure.left_in_step = structure.icall[1]
        if ierr:
            raise self.model.reported(letter, ierr, at.time)
        return self._vectors[out].copy()

    def equations(self, at: Entry, wanted: tuple[bool, ...] = ()) -> FloatArray:
        """F; of an HDAE all its parts at their places, those computed that are wanted (ICALL(11) to ICALL(15))."""
        found = self._value("F", "fout", at, wanted)
        return found if wanted else found[: len(at.x)]

    def differences(self, at: Entry, wanted: tuple[bool, ...], places: range, steps: FloatArray) -> FloatArray:
        """See ``block.GivesDifferences``."""
        self._filled(at)
        model, structure = self.model, self.model.structure
        for k, is_wanted in enumerate(wanted):
            structure.icall[10 + k] = int(is_wanted)
        found = np.zeros((len(places), structure.n_f))
        if model.carried_out_differences(at.time, places, steps, found) and (error := model.failed()) is not None:
            raise error
        return found.T

    def outputs(self, at: Entry) -> FloatArray:
        """Y."""
        return self._value("G", "y", at)

    def indicators(self, at: Entry) -> FloatArray:
        """Z."""
        return self._value("H", "z", at)

    def auxiliaries(self, at: Entry) -> FloatArray:
        """W; an error is the way in which a block asks for the end of the run (BLOCKK)."""
        model = self.model
        if model.structure.failed_in == ord("K") and not model.structure.has_overwritten:
            ierr = model.structure.ierr  # it was called natively and is not called twice
        else:
            self._filled(at)
            model.structure.icall[1] = 1
            ierr = model.call("K", "icall", "t", "x", "xd", "u", *_PARAMETERS, "w", *_MEMORY, "ierr")
        w = self._vectors["w"].copy()
        if ierr and not model.answers.errors:
            raise StopRun(f"{model.library.callback('K')} of DSblock {model.name} ends the run (IERR = {ierr})", w)
        if ierr:
            raise model.reported("K", ierr, at.time)
        return w

    def asks_step_event(self, at: Entry) -> bool:
        """Whether something happens at the end of a completed step."""
        self._filled(at)
        model = self.model
        model.structure.icall[1], model.structure.icall[2] = model.structure.left_in_step, 1
        ierr = model.call("F", "icall", "t", "x", "xd", "u", *_PARAMETERS, "fout", *_MEMORY, "ierr")
        if ierr:
            raise model.reported("F", ierr, at.time)
        return model.structure.icall[2] != 0

    # -- events -------------------------------------------------------------------------------------------------------------------------------

    def event(self, happened: Happened, at: Entry) -> Reply:
        """BLOCKV."""
        model, v = self.model, self._vectors
        if not model.has("V"):
            return Reply(action=Action.CONTINUE)
        if happened.n_indicators:
            self.indicators(at)
        self._filled(at)
        model.small("iopt")[:] = happened.time, happened.state, happened.step
        model.small("tevent")[:] = at.time
        v["hinfo"][:] = happened.zero
        v["hcross"][:] = happened.directions
        model.small("dimnew")[:] = happened.n_states, happened.n_indicators
        model.small("iprior")[0] = _USUAL_PRIORITY
        model.small("info")[0] = 0
        before = v["x"].copy(), v["xd"].copy()
        model.call("V", "icall", "iopt", "t", "x", "xd", "u", *_PARAMETERS, "z", "hinfo", "tevent", "hcross", "dimnew", "iprior", *_MEMORY, "info")
        model.check_guards("V", at.time)
        return self._replied(happened, at, before)

    def _replied(self, happened: Happened, at: Entry, before: tuple[FloatArray, FloatArray]) -> Reply:
        model, v = self.model, self._vectors
        callback = f"{model.library.callback('V')} of DSblock {model.name}"
        info = int(model.small("info")[0])
        if info not in (_CONTINUE, _RESTART, _STOP):
            raise CallbackError(f"{callback} answers INFO = {info} at t = {at.time:g}; 0, 1 and 2 are possible", time=at.time)
        nx, nz = self._dimensions("V")
        is_dae = self._description.form is Form.DAE
        self._require_numbers("V", at.time, v["x"][:nx], v["xd"][:nx] if is_dae else v["x"][:0], is_timed=happened.time)
        has_moved = not np.array_equal(v["x"], before[0]) or (is_dae and not np.array_equal(v["xd"], before[1]))
        if info == _CONTINUE and (has_moved or (nx, nz) != (happened.n_states, happened.n_indicators)):
            model.warn_once(f"{callback} changes X, XD or the dimensions and answers INFO = 0; it is taken for 1, a restart")
            info = _RESTART
        errors = model.take_errors()
        is_failure = bool(errors) and info == _STOP
        reason = ""
        if info == _STOP:
            reason = f"{callback} ends the run at t = {at.time:g}: {'; '.join(errors)}" if is_failure else f"{callback} ends the run (INFO = 2)"
        for text in () if is_failure else errors:
            warn(f"DSblock {model.name}: {text}")
        return Reply(
            action=Action(info), x=v["x"][:nx].copy() if info == _RESTART else None, xd=v["xd"].copy() if info == _RESTART and is_dae else None,
            next_event=float(model.small("tevent")[0]) if happened.time else None,
            may_reach=float(model.small("tevent")[1]) if happened.time else None, directions=self._directions("V") if happened.state else None,
            n_states=nx, n_indicators=nz, priority=int(model.small("iprior")[0]),
            reason=reason, is_failure=is_failure,
        )  # fmt: skip

    def _require_numbers(self, letter: str, time: float, x: FloatArray, xd: FloatArray, *, is_timed: bool) -> None:
        """What a callback leaves in X, XD and TEVENT is finite, or NaN says nothing of when."""
        names = self._description.names(SignalKind.STATE)
        found = [f"{what}{name} = {value:g}" for what, values in (("", x), ("XD of ", xd)) for name, value in zip(names, values, strict=False)
                 if not np.isfinite(value)]  # fmt: skip
        found += [f"TEVENT({k + 1}) = {value:g}" for k, value in enumerate(self.model.small("tevent")) if is_timed and np.isnan(value)]
        if found:
            callback = f"{self.model.library.callback(letter)} of DSblock {self.model.name}"
            raise CallbackError(f"{callback} gives {', '.join(found)} at t = {time:g}, which is no number to go on with", time=time)

    def _dimensions(self, letter: str) -> tuple[int, int]:
        """DIMNEW."""
        nx, nz = (int(v) for v in self.model.small("dimnew"))
        for what, given, most in (("NX", nx, len(self._vectors["x"])), ("NZ", nz, len(self._vectors["z"]))):
            if not 0 <= given <= most:
                callback = f"{self.model.library.callback(letter)} of DSblock {self.model.name}"
                raise CallbackError(f"{callback} asks for {what} = {given} in DIMNEW; from 0 to {most} are possible")
        return nx, nz

    def _directions(self, letter: str) -> NDArray[np.int64]:
        given = self._vectors["hcross"].astype(np.int64)
        if np.any(np.abs(given) > 1):
            callback = f"{self.model.library.callback(letter)} of DSblock {self.model.name}"
            raise CallbackError(f"{callback} gives HCROSS {given.tolist()}; -1, 0 and 1 are possible")
        return given

    def recorded(self) -> FloatArray:
        """Nothing: its memory has no names."""
        return np.zeros(0)

    def end(self, at: Entry, *, is_well: bool) -> None:
        """BLOCKT."""
        model = self.model
        try:
            # BLOCKK's IERR is a wish to end the run, unless an error was told with it
            structure = model.structure
            has_failed = structure.failed_in not in (0, ord("K")) or bool(structure.has_overwritten or model.answers.errors)
            model.structure.failed_in = model.structure.has_overwritten = 0
            model.take_errors()
            self._filled(at)
            if model.has("T"):
                model.small("iopt")[0] = _WELL if is_well and not has_failed else _ILL
                ierr = model.call("T", "iopt", "t", "x", "xd", "u", *_PARAMETERS, *_MEMORY, "ierr")
                errors = model.take_errors()
                if ierr or errors:
                    warn(told_of_end(model.library.callback("T"), model.name, ierr, errors))
            model.told("T")
            model.check_guards("T", at.time)
        finally:
            self.give_back()

    def _say_errors(self, letter: str) -> None:
        errors = self.model.take_errors()
        if errors:
            raise CallbackError(f"{self.model.library.callback(letter)} of DSblock {self.model.name} says: {'; '.join(errors)}")
