"""Taylor series natively: the step, its hooks, the method behind the interface."""

__all__: list[str] = []
