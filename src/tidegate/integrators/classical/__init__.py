"""The classical one-step and multistep methods as plain formulas of numbers: one small file each, nothing but arithmetic.

They take and return single numbers of any type that adds, multiplies, divides and compares: ``float``, numbers of another machine in tests, machine
numbers under a compiler. What steps with them, and when a step is taken again, is the business of whoever calls them.
"""

__all__: list[str] = []
