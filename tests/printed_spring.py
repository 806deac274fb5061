"""The spring of CSMP-10(ARL)'s report as a printed table, and a terminal that is a list of replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).parent / "csmp" / "trans" / "appendix_d.txt"
BLOCKS = {9: "Y", 4: "Y DBLE DOT", 48: "Y DOT", 10: "F(Y)"}

Session = Callable[..., list[str]]


@dataclass
class Script:
    """A terminal whose replies are known beforehand, and which keeps what is said."""

    replies: list[str]
    said: list[str] = field(default_factory=list[str])

    def ask(self, prompt: str) -> str:
        """The next reply."""
        if prompt not in ("", "*"):
            self.said.append(prompt)
        if not self.replies:
            raise EOFError
        return self.replies.pop(0)

    def say(self, text: str) -> None:
        """Keep it."""
        self.said.extend(text.splitlines())
