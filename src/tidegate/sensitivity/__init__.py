"""Forward sensitivities and their jumps, native."""

__all__: list[str] = []
