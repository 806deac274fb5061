"""Native event handling shared by all integrators: isolate, settle, restart, schedule, chatter."""

__all__: list[str] = []
