"""Front ends: each turns one way of writing a model into the neutral model, and ends in its ``lower.py``."""

__all__: list[str] = []
