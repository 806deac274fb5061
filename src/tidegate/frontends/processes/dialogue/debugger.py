"""Python's debugger, with what it is to look at in sight (stage: front end)."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["enter_debugger"]


def enter_debugger(env: Any, error: Any) -> tuple[Any, Any]:
    """Stop here, where ``env`` is the environment and ``error`` the error in front of which it stands; ``c`` goes back to the dialogue."""
    sys.breakpointhook()  # noqa: T100 - this is what is wanted
    return env, error
