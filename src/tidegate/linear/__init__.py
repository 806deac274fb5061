"""Linear algebra of M y' = f(t, y) (stage: linear): the one place that knows how matrices are stored, dense or sparse.

In: the model's matrices M and J = df/dy. Out: their products, and solutions with shift*M - J, real and complex, and with the system that holds the
differential part of y and solves the algebraic equations.
"""

__all__: list[str] = []
