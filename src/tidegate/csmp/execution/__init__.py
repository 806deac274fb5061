"""A run by the language's own method: a program, control and user routines in; rows, final values and remarks out."""

__all__: list[str] = []
