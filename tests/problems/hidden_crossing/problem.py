"""P2, the hidden double crossing, as a plain function."""

from examples.hidden_crossing import model, t_span

__all__ = ["model", "t_span"]
