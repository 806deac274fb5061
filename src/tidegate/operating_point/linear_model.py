"""A linear model under the user's names (stage: operating_point). In: A, B, C, D with names; out: poles, responses, pictures, others' objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from tidegate.dates import refuse_dates
from tidegate.errors import UsageError
from tidegate.names import unknown_name
from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import number
from tidegate.wrong_calls import explained
from tidegate.wrong_names import answering

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["LinearModel"]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
_LINEAR: Final[Any] = scipy.linalg  # which has no types
_FAR: Final = 1e9  # times the size of the model: a generalised eigenvalue beyond it is none, but rounding of an infinite one
_POINTS: Final = 400  # of a curve


def _numbers(given: ArrayLike, name: str) -> FloatArray:
    try:
        refuse_dates(name, given)
        return np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        raise UsageError(f"{name} is {given!r:.60}; numbers are expected", hint=f"{name}=np.linspace(0.1, 10.0, 200)") from None


_WORDS: Final = {
    "a": "linear.A", "b": "linear.B", "c": "linear.C", "d": "linear.D", "eigenvalues": "linear.poles", "ss": "linear.to_scipy()",
    "to_ss": "linear.to_scipy()", "state_space": "linear.to_scipy()", "tf": "linear.to_scipy() has to_tf()",
    "impulse": "linear.to_scipy() has impulse()",
    "dcgain": "linear.gain", "plot": "linear.bode() or linear.step()", "nyquist": "linear.frequency_response(frequencies)",
}  # fmt: skip


@answering("linear", _WORDS)
@partial(explained, instead_of_call="linear.bode() is a picture, linear.to_scipy() a system of scipy.signal")
@dataclass(frozen=True, eq=False, repr=False)
class LinearModel:
    """``x' = A x + B u``, ``y = C x + D u`` for small deviations; made by ``tg.linearize``.

    Parameters
    ----------
    A : xarray.DataArray, (derivative, state).
    B : xarray.DataArray, (derivative, input).
    C : xarray.DataArray, (output, state).
    D : xarray.DataArray, (output, input).
    rates : xarray.DataArray, (derivative,), x' at the place itself: zero in a steady state.
    at : values of everything there, by name.
    model_name, time_unit, units : of the model.
    """

    A: xr.DataArray
    B: xr.DataArray
    C: xr.DataArray
    D: xr.DataArray
    rates: xr.DataArray
    at: Mapping[str, Any]
    model_name: str = ""
    time_unit: str = ""
    units: Mapping[str, str] | None = None

    @classmethod
    def of(
        cls, matrices: tuple[FloatArray, FloatArray, FloatArray, FloatArray], names: tuple[Sequence[str], Sequence[str], Sequence[str]], *,
        rates: FloatArray, at: Mapping[str, Any], **about: Any,
    ) -> Self:  # fmt: skip
        """Labelled from plain matrices, and the names of states, inputs and outputs."""
        import xarray as xr

        states, inputs, outputs = (np.array(several, dtype=object) for several in names)
        coords = {"derivative": np.array([f"der({name})" for name in names[0]], dtype=object), "state": states, "input": inputs, "output": outputs}

        def labelled(values: FloatArray, *dims: str) -> xr.DataArray:
            return xr.DataArray(values, {dim: coords[dim] for dim in dims}, dims)

        a, b, c, d = matrices
        own = labelled(a, "derivative", "state"), labelled(b, "derivative", "input"), labelled(c, "output", "state"), labelled(d, "output", "input")
        return cls(*own, rates=labelled(rates, "derivative"), at=at, **about)

    @property
    def states(self) -> list[str]:
        """Names of the states."""
        return [str(name) for name in self.A["state"].values]

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return [str(name) for name in self.B["input"].values]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [str(name) for name in self.C["output"].values]

    def _matrices(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        return self.A.to_numpy(), self.B.to_numpy(), self.C.to_numpy(), self.D.to_numpy()

    # -- what it does ------------------------------------------------------------------------------------------------------------------------

    def poles(self) -> ComplexArray:
        """Eigenvalues of A, the fastest first."""
        found: ComplexArray = np.linalg.eigvals(self.A.to_numpy()).astype(np.complex128) if self.states else np.zeros(0, dtype=np.complex128)
        return found[np.lexsort((found.imag, found.real))]

    def zeros(self, input_name: str | None = None, output_name: str | None = None) -> ComplexArray:
        """Transmission zeros, where from inputs to outputs nothing passes: of one input and one output, or of as many of both.

        Parameters
        ----------
        input_name, output_name : which; None for all.

        Raises
        ------
        UsageError : there are not as many inputs as outputs.
        """
        a, b, c, d = self._matrices()
        columns = slice(None) if input_name is None else [self._index("input", input_name)]
        rows = slice(None) if output_name is None else [self._index("output", output_name)]
        b, c, d = b[:, columns], c[rows], d[rows][:, columns]
        if d.shape[0] != d.shape[1]:
            raise UsageError(f"zeros need as many inputs as outputs, not {d.shape[1]} and {d.shape[0]}", hint='linear.zeros("input", "output")')
        n, count = len(a), len(d)
        pencil, weight = np.block([[a, b], [c, d]]), np.zeros((n + count, n + count))
        weight[:n, :n] = np.eye(n)
        found: Any = _LINEAR.eigvals(pencil, weight, homogeneous_eigvals=True)
        size = max(float(np.max(np.abs(a), initial=0.0)), 1e-300)
        finite = np.abs(found[0]) < _FAR * size * np.abs(found[1])
        values = found[0][finite] / found[1][finite]
        return values[np.lexsort((values.imag, values.real))]

    def gain(self) -> xr.DataArray:
        """What outputs come to when inputs are held at one, (output, input); infinite along what integrates."""
        return self.D.copy(data=self._response(np.zeros(1))[0].real)

    def frequency_response(self, omega: ArrayLike) -> xr.DataArray:
        """``C (i omega - A)^-1 B + D``, (omega, output, input), complex.

        Parameters
        ----------
        omega : angular frequencies, radians per unit of time.
        """
        import xarray as xr

        at = _numbers(omega, "omega")
        coords = {"omega": at, "output": self.D["output"].values, "input": self.D["input"].values}
        return xr.DataArray(self._response(at), coords, ("omega", "output", "input"))

    def _response(self, omega: FloatArray) -> ComplexArray:
        a, b, c, d = self._matrices()
        found = np.empty((len(omega), *d.shape), dtype=complex)
        for k, w in enumerate(omega.tolist()):
            try:
                found[k] = c @ np.linalg.solve(1j * w * np.eye(len(a)) - a, b) + d
            except np.linalg.LinAlgError:
                found[k] = np.inf
        return found

    def step_response(self, times: ArrayLike | None = None) -> xr.DataArray:
        """What outputs do when an input steps from zero to one, (time, output, input), exact at each time.

        Parameters
        ----------
        times : increasing, from zero on; None for so many that the slowest pole has settled.
        """
        import xarray as xr

        at = np.linspace(0.0, self._settling(), _POINTS) if times is None else _numbers(times, "times")
        if np.any(np.diff(at) <= 0.0) or (at.size and at[0] < 0.0) or not np.all(np.isfinite(at)):
            raise UsageError("times must increase, from zero on", hint="times=np.linspace(0, 10, 500)")
        a, b, c, d = self._matrices()
        n, count = b.shape
        whole = np.zeros((n + count, n + count))
        whole[:n, :n], whole[:n, n:] = a, b
        x, found, before, moved, length = np.zeros((n, count)), np.empty((len(at), *d.shape)), 0.0, np.eye(n + count), 0.0
        for k, now in enumerate(at.tolist()):
            if now > before and now - before != length:
                moved, length = _LINEAR.expm(whole * (now - before)), now - before
            if now > before:
                x = moved[:n, :n] @ x + moved[:n, n:]
            found[k], before = c @ x + d, now
        return xr.DataArray(found, {"time": at, "output": self.D["output"].values, "input": self.D["input"].values}, ("time", "output", "input"))

    def _settling(self) -> float:
        rates = -self.poles().real
        slow = rates[rates > 1e-9 * max(float(np.max(np.abs(self.poles()), initial=0.0)), 1e-300)]
        return 7.0 / float(slow.min()) if slow.size else 10.0

    # -- pictures ----------------------------------------------------------------------------------------------------------------------------

    def bode(self, omega: ArrayLike | None = None, *, path: str | Path | None = None) -> Figure:
        """Draw gain and phase of every output by every input over the angular frequency.

        Parameters
        ----------
        omega : radians per unit of time; None for two decades around poles and zeros.
        path : file to save the picture in, .png, .svg or .pdf; written whole or not at all.
        """
        from tidegate.operating_point.pictures import bode_picture

        values = self.frequency_response(self._frequencies() if omega is None else omega)
        return bode_picture(values, self.model_name, self.time_unit, path)

    def step(self, times: ArrayLike | None = None, *, path: str | Path | None = None) -> Figure:
        """Draw the response of every output to a unit step of every input.

        Parameters
        ----------
        times, path : as for ``step_response`` and ``bode``.
        """
        from tidegate.operating_point.pictures import step_picture

        return step_picture(self.step_response(times), self.model_name, self.time_unit, dict(self.units or {}), path)

    def _frequencies(self) -> FloatArray:
        sizes = np.abs(self.poles())
        for name in self.inputs:
            for other in self.outputs:
                sizes = np.append(sizes, np.abs(self.zeros(name, other)))
        sizes = sizes[sizes > 1e-9 * sizes.max(initial=0.0)]
        low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)
        return np.geomspace(low / 100.0, high * 100.0, _POINTS)

    # -- other packages ------------------------------------------------------------------------------------------------------------------------

    def to_scipy(self) -> Any:
        """The same as a ``scipy.signal.StateSpace``."""
        import scipy.signal

        package: Any = scipy.signal
        return package.StateSpace(*self._matrices())

    def to_control(self) -> Any:
        """The same as a ``control.StateSpace`` of python-control, with the names of states, inputs and outputs.

        Raises
        ------
        UsageError : python-control is not installed.
        """
        try:
            import control  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise UsageError("python-control is not installed", hint="pip install control; or to_scipy() for an object of SciPy") from None
        package: Any = control
        # a dot means a subsystem there
        clean = [[name.replace(".", "_") for name in several] for several in (self.states, self.inputs, self.outputs)]
        return package.StateSpace(*self._matrices(), states=clean[0], inputs=clean[1], outputs=clean[2], name=self.model_name.replace(".", "_"))

    # -- for people ----------------------------------------------------------------------------------------------------------------------------

    def _index(self, kind: str, name: str) -> int:
        names = self.inputs if kind == "input" else self.outputs
        if name not in names:
            raise unknown_name(kind, name, names, of=f"the linear model of {self.model_name}")
        return names.index(name)

    def summary(self) -> str:
        """One line: how large it is."""
        sizes = ((len(self.states), "state"), (len(self.inputs), "input"), (len(self.outputs), "output"))
        told = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in sizes)
        return f"linear model of {self.model_name}: {told}"

    def __repr__(self) -> str:
        return f"<{self.summary()[0].upper()}{self.summary()[1:]}>"

    def __str__(self) -> str:
        lines = [self.summary()]
        for name, matrix in (("A", self.A), ("B", self.B), ("C", self.C), ("D", self.D)):
            if matrix.size:
                frame: Any = matrix.to_pandas()
                lines.append(f"{name}\n{frame.to_string(index_names=False, float_format=number)}")
        lines.append(self._told_poles())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        matrices = {"A": self.A, "B": self.B, "C": self.C, "D": self.D}
        tables = "".join(f"<p>{name}</p>{_as_table(matrix)}" for name, matrix in matrices.items() if matrix.size)
        return f"<p><b>{escape(self.summary())}</b></p>{tables}<p>{escape(self._told_poles())}</p>"

    def _told_poles(self) -> str:
        return f"poles  {', '.join(_told(pole) for pole in self.poles()) or '(none)'}"


def _as_table(matrix: xr.DataArray) -> str:
    frame: Any = matrix.to_pandas()
    return frame.to_html(index_names=False, float_format=number)


def _told(value: complex) -> str:
    if abs(value.imag) <= 1e-12 * abs(value):
        return number(value.real)
    return f"{number(value.real)} {'+' if value.imag >= 0.0 else '-'} {number(abs(value.imag))}i"
