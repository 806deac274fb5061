"""Rodas5P, a Rosenbrock method: stiff equations at moderate tolerances, without an iteration."""

__all__: list[str] = []
