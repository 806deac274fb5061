"""Who takes part: a name and a function that prepares a run, for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from benchmarks import casadi_runs, diffsol_runs, native_cvode, native_ida, own, sundae_runs
from benchmarks.outcome import Prepare
from benchmarks.scipy_runs import prepare_with

__all__ = ["COMPETITORS", "OWN", "OWN_ROSENBROCK", "Competitor"]

OWN: Final = "tidegate"
OWN_ROSENBROCK: Final = "tidegate, rodas5p"


@dataclass(frozen=True, slots=True)
class Competitor:
    """One way to solve the problems.

    Parameters
    ----------
    name : as printed.
    prepare : raises NotImplementedError for a problem it cannot do, ImportError where it is not installed.
    """

    name: str
    prepare: Prepare


COMPETITORS: Final = (
    Competitor(OWN, own.prepare),
    Competitor(OWN_ROSENBROCK, partial(own.prepare_by, "rodas5p")),
    Competitor("IDA 7.9 native", native_ida.prepare),
    Competitor("IDA 7.9 native, algebraic errors ignored", native_ida.prepare_suppressed),
    Competitor("CVODE 7.9 native, BDF", native_cvode.prepare_bdf),
    Competitor("CVODE 7.9 native, Adams", native_cvode.prepare_adams),
    Competitor("diffsol bdf", diffsol_runs.prepare),
    Competitor("scikit-SUNDAE", sundae_runs.prepare),
    Competitor("CasADi", casadi_runs.prepare),
    Competitor("SciPy LSODA", prepare_with("LSODA")),
    Competitor("SciPy Radau", prepare_with("Radau")),
    Competitor("SciPy BDF", prepare_with("BDF")),
    Competitor("SciPy RK45", prepare_with("RK45")),
    Competitor("SciPy DOP853", prepare_with("DOP853")),
)
