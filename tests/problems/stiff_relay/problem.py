"""P4, the stiff relay with two states, as a component."""

from examples.stiff_relay import model, t_span

__all__ = ["model", "t_span"]
