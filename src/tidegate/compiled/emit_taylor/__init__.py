"""Power series of the unknowns along a solution, as machine code: recurrences for every operation of the graph (stage: compiled)."""

__all__: list[str] = []
