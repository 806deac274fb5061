"""The language's own method, native: a tape of blocks that is walked at every half step."""

__all__: list[str] = []
