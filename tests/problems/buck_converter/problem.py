"""P8, the buck converter in discontinuous conduction, as a component."""

from examples.buck_converter import model, t_span

__all__ = ["model", "t_span"]
