"""Sessions of CSMP-10(ARL) that a list of replies answers, as a person or as a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidegate.csmp.session.csmp_session import CsmpSession, Ended
from tidegate.csmp.session.session_state import SessionState
from tidegate.csmp.session.terminal import EndOfReplies, Recorder, ScriptTerminal

GOLDEN = Path(__file__).parent / "golden" / "csmp"
RUN_DECAY = ["INT", "0, 2, .1", "OUT", "A", "0, .5", "GOE"]
DECAY = ["TIT", "DECAY", "CON", "2 T1 3 ; LEVEL", "3 K", "", "PAR", "2 1 .5", ""]
INTERRUPT = "\x03"  # a reply that stands for Ctrl-C


@dataclass
class Person:
    """A terminal at which a person types what a list holds."""

    replies: Iterator[str]
    said: list[str] = field(default_factory=list[str])
    is_interactive = True
    shows_dialogue = True
    place = ""

    def ask(self, prompt: str, choices: Sequence[str] = ()) -> str:
        reply = next(self.replies, None)
        if reply is None:
            raise EndOfReplies
        self.said.append(f"{prompt}{reply}".rstrip())
        if reply == INTERRUPT:
            raise KeyboardInterrupt
        return reply

    def say(self, text: str) -> None:
        self.said.append(text)

    def explain(self, text: str) -> None:
        self.said.append(text)


@dataclass
class Played:
    """A session that is over."""

    said: list[str]
    state: SessionState
    ended: Ended

    @property
    def diagnostics(self) -> list[str]:
        return [line[2:] for line in self.said if line.startswith("! ")]


@dataclass
class Stage:
    """Where sessions are played."""

    folder: Path

    def script(self, *replies: str, is_echoed: bool = False, **options: Any) -> Played:
        """Replies as BOMMP.IN gives them."""
        said: list[str] = []
        session = CsmpSession(ScriptTerminal(replies, said.append, is_echoed=is_echoed), self.state(options), **options)
        return Played(said, session.state, session.run())

    def person(self, *replies: str, **options: Any) -> Played:
        """Replies as a person types them; recorded in BOMMP.OUT."""
        person = Person(iter(replies))
        options.setdefault("recorder", Recorder(self.folder / "BOMMP.OUT"))
        session = CsmpSession(person, self.state(options), **options)
        return Played(person.said, session.state, session.run())

    def state(self, options: dict[str, Any]) -> SessionState:
        return options.pop("state", None) or SessionState(folder=self.folder, routines=options.pop("routines", None))

    def replies_recorded(self, name: str = "BOMMP.OUT") -> list[str]:
        return (self.folder / name).read_text().splitlines()
