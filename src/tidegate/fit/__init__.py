"""Parameters from data (stage: behind the results). In go a model and what was measured, out come the values that fit best, and how sure they are."""

from tidegate.fit.fit import fit
from tidegate.fit.fitted import Fit

__all__ = ["Fit", "fit"]
