"""A session of commands at a terminal: replies in, dialogue, model files and runs out."""

__all__: list[str] = []
