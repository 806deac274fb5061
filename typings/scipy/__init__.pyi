# SciPy ships no types. Reading them out of its source would take pyright as long as a fifth of tidegate, for "unknown" in the end.
from typing import Any

def __getattr__(name: str) -> Any: ...
