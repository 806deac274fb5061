"""The native loop that every method is plugged into: steps, the events in them, what is written down."""

__all__: list[str] = []
