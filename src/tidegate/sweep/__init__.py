"""Many runs of one model (stage: behind the results). In go a model and values of its parameters, out comes one labelled dataset."""

from tidegate.sweep.sweep import sweep

__all__ = ["sweep"]
