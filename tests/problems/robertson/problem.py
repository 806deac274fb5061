"""P6, the Robertson reactions, as three residuals."""

from examples.robertson import model, t_span

__all__ = ["model", "t_span"]
