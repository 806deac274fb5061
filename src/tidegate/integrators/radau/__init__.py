"""Radau IIA with 3, 5 and 7 stages for M y' = f(t, y)."""

__all__: list[str] = []
