"""Benchmarks: the reference problems solved by tidegate and by the libraries users would otherwise take.

``python -m benchmarks`` measures everything in one process, in turn, and prints ratios. In: the problems of
``tests/problems`` with their reference values. Out: one table at equal tolerance, one at equal achieved error.
"""

__all__: list[str] = []
