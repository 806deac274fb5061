"""Random sessions of CSMP-10(ARL) as a person might hold them: a grammar of commands and the replies each asks for, with slips and Ctrl-C."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from csmp_sessions import DECAY, INTERRUPT, RUN_DECAY, Played, Stage

NAMES = ("A", "B", "MODEL", "SPARE")
KINDS = ("K", "G", "O", "I", "T1", "+", "W", "F", "U", "Z", "L", "M", "-", "X", "/", "V", "Y", "T", "J", "Q", "D", "R", "H", "UO", "U1")
SLIPS = ("", "?", "ten", "1,2,3,4,5,6", "-1", "1E999", ",", "$", "; X", "2.5", "\x07", "Ä", "1e-320")
STORED = "CONFIGURATIONS :\nSTORED\nBLK TYPE B1 B2 B3\n2 I 3 ; Y\n3 G 2\n\nPARAMETERS :\nBLK P1 P2 P3\n2 1\n3 -1\n\n"
ONLY_BLOCKS = "CONFIGURATIONS :\nHALF\nBLK TYPE B1 B2 B3\n2 F 1\n3 K\n\n"


class RandomPerson:
    """Draws the lines of a session.

    Parameters
    ----------
    seed : of the draw.
    slips : how often a reply is something else.
    """

    def __init__(self, seed: int, slips: float = 0.04) -> None:
        self.draw = random.Random(seed)
        self.slips = slips

    def session(self) -> list[str]:
        lines = [] if self.draw.random() < 0.3 else [*DECAY, *self.draw.choice(([], RUN_DECAY[:-1], RUN_DECAY))]
        for _ in range(self.draw.randint(3, 14)):
            lines += self.line_of_commands()
        return lines

    def line_of_commands(self) -> list[str]:
        chosen = [self.draw.choice(COMMANDS) for _ in range(self.draw.choice((1, 1, 1, 2, 3)))]
        asked = [self.command(name) for name in chosen]
        return [";".join(words for words, _ in asked), *(reply for _, replies in asked for reply in replies)]

    def command(self, name: str) -> tuple[str, list[str]]:
        replies = getattr(self, f"after_{name.lower()}", list)()
        slipped = [self.draw.choice((*SLIPS, INTERRUPT)) if self.draw.random() < self.slips else reply for reply in replies]
        if name == "channel":
            return self.channel(), slipped
        return self.draw.choice((name, name.lower())), slipped

    def channel(self) -> str:
        unit = self.draw.choice(("", "", "LOG6:", "LOG2:", "LOG12:"))
        return self.draw.choice(("TTY:<-I", "TTY:<-M", f"{unit}{self.draw.choice(NAMES)}<-{self.draw.choice('IIMO')}"))

    def number(self) -> str:
        return str(self.draw.choice((0, 1, -1, 2, 0.5, -2.5, 3, 1e-3)))

    def block(self) -> str:
        return str(self.draw.randint(1, 9))

    def after_channel(self) -> list[str]:
        # that a file is elsewhere is no reply of a script, which ends where a file is missing
        return ["N"] if self.draw.random() < 0.15 else []

    def after_tit(self) -> list[str]:
        return [self.draw.choice(("RANDOM", "", "A TITLE; $ WITH ALL"))]

    def after_con(self) -> list[str]:
        def statement() -> str:
            inputs = " ".join(self.draw.choice(("2", "3", "1", self.block())) for _ in range(self.draw.randint(0, 3)))
            return f"{self.draw.randint(2, 9)} {self.draw.choice(KINDS)} {inputs}" if self.draw.random() < 0.9 else self.block()

        if self.draw.random() < 0.6:  # one that can be run, then some more
            return ["2 I 3 ; Y", "3 G 2", "4 F 2", *(statement() for _ in range(self.draw.randint(0, 2))), ""]
        return [*(statement() for _ in range(self.draw.randint(0, 4))), ""]

    def after_par(self) -> list[str]:
        return [*(f"{self.block()}, {self.number()}, {self.number()}" for _ in range(self.draw.randint(0, 3))), ""]

    def after_fun(self) -> list[str]:
        return ["4", *(f"{self.number()}, {self.number()}" for _ in range(self.draw.randint(0, 3))), "", ""]

    def after_int(self) -> list[str]:
        return [self.draw.choice(("0, 1, .1", "0 2 .25", "1, 1", "0 1 0", "2 1 .1", "0 1 3"))]

    def after_out(self) -> list[str]:
        blocks = self.draw.choice((["A"], ["AS"], ["2", "3", ""], ["1", ""], [""]))
        return [*blocks, self.draw.choice(("0, .5", "1", "10 .2", "-1 1"))]

    def after_run(self) -> list[str]:
        parts = (self.after_tit, self.after_con, self.after_par, self.after_fun, self.after_int, self.after_out)
        return [reply for part in parts[self.draw.randint(0, 6) :] for reply in part()]

    def after_sto(self) -> list[str]:
        return [self.draw.choice(("CON", "PAR", "FUN", "ALL", "CS", "AS")), *self.after_goe()]

    def after_goe(self) -> list[str]:
        return [self.draw.choice("YN")] if self.draw.random() < 0.3 else []

    def after_loo(self) -> list[str]:
        return [*(self.block() for _ in range(self.draw.randint(0, 3))), ""]

    def after_deb(self) -> list[str]:
        return ["0 .2", self.draw.choice("YN")]

    def after_pro(self) -> list[str]:
        return [self.draw.choice(("NOTHING", "BASIC"))]


ONCE = ("TIT", "FUN", "INT", "OUT", "GOE", "STO", "LOO", "DEB", "RET", "FIL", "SOR", "PRO", "MAN", "?")
COMMANDS = (*ONCE, "CON", "CON", "PAR", "PAR", "RUN", "RUN", "channel", "channel")


def prepared(folder: Path) -> Stage:
    """A folder with two model files to be read or overwritten, one of them half a model."""
    folder.mkdir()
    (folder / "SPARE.MOD").write_text(STORED)
    (folder / "B.MOD").write_text(ONLY_BLOCKS)
    return Stage(folder)


def held_and_replayed(seed: int, folder: Path) -> tuple[Played, Played]:
    """A random session, and its record as a script in a folder that is as the first one was."""
    for name in ("held", "replayed"):
        shutil.rmtree(folder / name, ignore_errors=True)
    stage, again = prepared(folder / "held"), prepared(folder / "replayed")
    held = stage.person(*RandomPerson(seed).session())
    record = stage.folder / "BOMMP.OUT"
    # replies end with a line feed; whatever else a line holds is its own
    replies = record.read_text(encoding="utf-8").split("\n")[:-1] if record.exists() else []
    return held, again.script(*replies)


def facts(played: Played) -> dict[str, object]:
    """What a session has come to."""
    state = played.state
    program = state.program
    return {
        "program": (program.title, [(b.number, b.kind, b.inputs, b.signs, b.label) for b in program.blocks.values()], program.parameters),
        "functions": program.functions,
        "complete": (state.has_configurations, state.has_parameters),
        "control": (state.integration, state.output, state.debug, state.seed),
        "channels": [(channel.file, channel.unit, channel.is_open) for channel in state.channels.all()],
        "section": None if state.input_file is None else vars(state.input_file)["_next"],
        "last": None if state.last is None else (state.last.times.tolist(), repr(state.last.rows.tolist()), repr(state.last.final)),
        "files": {path.name: path.read_bytes() for path in sorted(state.folder.glob("*.MOD"))},
    }
