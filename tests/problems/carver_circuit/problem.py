"""P3, the Carver circuit, as eight residuals."""

from examples.carver_circuit import model, parameters, t_span

__all__ = ["model", "parameters", "t_span"]
