"""Benchmarks: the reference problems solved by tidegate and by the libraries users would otherwise take.

``python -m benchmarks`` measures everything in one process, in turn, and prints ratios. In: the problems of
``tests/problems`` with their reference values. Out: one table at equal tolerance and at equal achieved error, one of work and precision, one beside
SUNDIALS called from C (which needs a C compiler, and ``apt-get install libsundials-dev`` for Debian's library), and figures of whole runs.
"""

__all__: list[str] = []
