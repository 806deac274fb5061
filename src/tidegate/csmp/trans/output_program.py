"""The output program's commands (stage: output program). In go replies of a terminal, out come tables on it, and files with tables and pictures.

The commands are those of section 4.2 and Table 2b of ARL/Aero. Note 362; the dialogues of ``LABEL``, ``SCALE`` and ``TIME``, which it does not
describe, are our own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tidegate.csmp.fortran_numbers import clock
from tidegate.csmp.trans.ask import Questioner
from tidegate.csmp.trans.heading import heading, time_line
from tidegate.csmp.trans.pictures import MAX_OVERLAID, overlay_plot, strip_plot
from tidegate.csmp.trans.printed_tables import printer_table, teletype_table
from tidegate.csmp.trans.result_channels import EVERY, TIME, ResultChannel, channels_of, chosen_channels
from tidegate.csmp.trans.scales import Scale, round_step
from tidegate.csmp.trans.selection import Selection, Window, of_channels, title_of
from tidegate.csmp.trans.terminal_plot import terminal_plot
from tidegate.errors import UsageError
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result, written_whole

__all__ = ["MAX_BLOCKS", "OutputProgram"]

MAX_BLOCKS: Final = 100  # that may be asked for by number in one GOE

_HELP: Final = """PRCOLUMN     table, on the terminal or in a file for a line printer
PRPLOT       plot of characters, likewise
PLSTRIP      strip plots, one panel a block; PLSTRIP FILE.svg names the picture
PLOVERLAY    one graph with up to eight blocks; PLOVERLAY FILE.svg names the picture
LABEL        other title and labels:        LABEL 9, POSITION
SCALE        other scales of plots:         SCALE 9, -10, 10
TIME         other time limits and step:    TIME 0, 10, 0.5
GOE          make everything asked for since the last GOE
RUN          PRCOLUMN, PRPLOT, PLSTRIP and GOE; an empty reply skips one
EXIT         end
Three letters suffice. Blocks are numbers, names or labels; A is all of them."""


@dataclass(frozen=True, slots=True)
class _OutputForm:
    """One of the four forms of output: what is said when it is asked for, and the ending of its file."""

    title: str
    ending: str
    is_picture: bool = False


_FORMS: Final = {
    "PRC": _OutputForm("PRINTING IN COLUMNS:", "_table.txt"),
    "PRP": _OutputForm("PRINTER PLOTS:", "_plot.txt"),
    "PLS": _OutputForm("STRIP PLOTS:", "_strip.png", is_picture=True),
    "PLO": _OutputForm("OVERLAY PLOTS:", "_overlay.png", is_picture=True),
}


@dataclass(frozen=True, slots=True)
class _Request:
    """A form that was asked for: whose, and where it goes; None for the terminal."""

    channels: tuple[ResultChannel, ...]
    is_every: bool
    path: Path | None


class OutputProgram:
    """A session with one file.

    Parameters
    ----------
    result : what the file holds.
    terminal : who asks.
    path : of the file; what is made is put beside it and called after it.

    Attributes
    ----------
    failures : lines that began with ``!``.

    Examples
    --------
    >>> from tidegate.results import Column
    >>> class Script:
    ...     def __init__(self, *replies: str) -> None:
    ...         self.replies = list(replies)
    ...     def ask(self, prompt: str) -> str:
    ...         return self.replies.pop(0)
    ...     def say(self, text: str) -> None:
    ...         print(text)
    >>> spring = Result("spring", [Column("Y", description="block 9")], [0.0, 1.0], [[-10.0], [-3.27]])
    >>> OutputProgram(spring, Script("PRC", "9", "", "Y", "GOE", "EXIT"), Path("spring.nc")).run()  # doctest: +ELLIPSIS
    spring
    INTEGN INT = VARIABLE; RUN CPU TIME = 0.00 SEC.
    TIME FROM 0.0000E-01 TO 1.0000E+00 IN STEPS OF 1.0000E+00
    PRINTING IN COLUMNS:
    BLKS
    **** RUNNING ****
          TIME      BLK# 9
      0.00E-01   -1.00E+01
      1.00E+00   -3.27E+00
    END OF EXECUTION
    CPU TIME: ... ELAPSED TIME: ...
    """

    def __init__(self, result: Result, terminal: Questioner, path: Path) -> None:
        self._result = result
        self._terminal = terminal
        self._path = path
        self._title = title_of(result)
        self._labels: dict[int, str] = {}
        self._scales: dict[int, Scale] = {}
        self._window = Window()
        self._requests: dict[str, _Request] = {}
        self._written: set[Path] = set()
        self._begun = (time.process_time(), time.perf_counter())
        self.failures = 0
        self._commands: dict[str, Callable[[str], None]] = {
            **{name: lambda rest, name=name: self._ask_form(name, rest) for name in _FORMS},
            "LAB": self._label,
            "SCA": self._scale,
            "TIM": self._time,
            "GOE": lambda _rest: self._make(),
            "RUN": lambda _rest: self._run_all(),
            "HEL": lambda _rest: terminal.say(_HELP),
        }

    def run(self) -> None:
        """Carry out commands until EXIT, or until there are no more replies."""
        for line in heading(self._result, self._path, self._title):
            self._terminal.say(line)
        try:
            while self._obey(self._terminal.ask("*")):
                pass
        except EOFError:
            pass
        spent, passed = time.process_time() - self._begun[0], time.perf_counter() - self._begun[1]
        self._terminal.say("END OF EXECUTION")
        self._terminal.say(f"CPU TIME: {spent:.2f} ELAPSED TIME: {clock(passed)}")

    def _obey(self, line: str) -> bool:
        """One command; False for the last."""
        words = line.partition("$")[0].split(maxsplit=1)
        if not words:
            return True
        name, rest = words[0].upper(), words[1].strip() if len(words) > 1 else ""
        if name[:3] == "EXI":
            return False
        command = self._commands.get("HEL" if name.startswith("?") else name[:3])
        if command is None:
            self._fail("COMMAND ERROR", "? lists the commands")
            return True
        try:
            command(rest)
        except UsageError as error:
            self._fail(error.message, error.hint)
        return True

    def _fail(self, message: str, hint: str = "") -> None:
        self.failures += 1
        self._terminal.say(f"! {message}")
        if hint:
            self._terminal.say(f"  try: {hint}")

    # -- what is wanted -----------------------------------------------------------------------------------------------------------------------

    def _ask_form(self, name: str, rest: str) -> None:
        form = _FORMS[name]
        self._terminal.say(form.title)
        wanted = self._ask_blocks()
        if not wanted:
            self._requests.pop(name, None)
            return
        is_every = len(wanted) == 1 and wanted[0].upper() in EVERY
        channels = tuple(chosen_channels(self._result, wanted, self._labels))
        if name == "PLO" and len(channels) > MAX_OVERLAID:
            raise UsageError(f"MAX OF {MAX_OVERLAID} BLKS EXCEEDED", hint="PLSTRIP takes any number")
        path = Path(rest) if rest and form.is_picture else self._path.with_name(self._path.stem + form.ending)
        on_terminal = not form.is_picture and self._terminal.ask("IS O/P TO TTY REQRD:").strip().upper().startswith("Y")
        others = {other: request for other, request in self._requests.items() if other != name}
        if on_terminal and any(request.path is None for request in others.values()):
            raise UsageError("A TABLE AND A PLOT CANNOT BOTH GO TO THE TTY IN ONE GOE", hint="GOE first")
        if sum(len(request.channels) for request in others.values() if not request.is_every) + (0 if is_every else len(channels)) > MAX_BLOCKS:
            raise UsageError(f"MAX OF {MAX_BLOCKS} BLKS EXCEEDED", hint="A for all, or another GOE")
        self._requests[name] = _Request(channels, is_every, None if on_terminal else path)

    def _ask_blocks(self) -> list[str]:
        """Items of a list that an empty line ends, or ``A``."""
        self._terminal.say("BLKS")
        wanted: list[str] = []
        while line := self._terminal.ask("").partition("$")[0].strip():
            if not wanted and line.upper() in EVERY:
                return [line]
            wanted.extend(item.strip() for item in line.split(",") if item.strip())
        return wanted

    def _label(self, rest: str) -> None:
        if rest:
            self._take_label(rest)
            return
        title = self._terminal.ask(f"TITLE ({self._title}) =").strip()
        self._title = title or self._title
        self._repeat("BLK, LABEL =", self._take_label)

    def _take_label(self, line: str) -> None:
        block, comma, label = line.partition(",")
        if not comma:
            block, _, label = line.partition(" ")
        (channel,) = self._one(block.strip())
        if label.strip():
            self._labels[channel.column] = label.strip()
        else:
            self._labels.pop(channel.column, None)

    def _scale(self, rest: str) -> None:
        if rest:
            self._take_scale(rest)
        else:
            self._repeat("BLK, LOWER, UPPER =", self._take_scale)

    def _take_scale(self, line: str) -> None:
        """``9, -10, 10``; ``9`` alone makes its scale automatic again."""
        if "," in line:
            block, *ends = [part.strip() for part in line.split(",")]
        else:
            block, *ends = line.split()
        (channel,) = self._one(block)
        if not ends:
            self._scales.pop(channel.column, None)
            return
        lower, upper = self._numbers(ends, 2)
        if lower is None or upper is None:
            raise UsageError("SYNTAX ERROR", hint="block, lower, upper: 9, -10, 10")
        self._scales[channel.column] = Scale(lower, upper, round_step(lower, upper))

    def _time(self, rest: str) -> None:
        line = (rest or self._terminal.ask("TIME PARAMS; LOWER, UPPER, STEP =")).strip()
        window = Window()
        if line:
            parts = line.split(",") if "," in line else line.split()
            lower, upper, step = self._numbers([*parts, "", "", ""][: max(len(parts), 3)], 3)
            window = Window(lower, upper, step)
            window.within(self._result)
        self._window = window
        self._terminal.say(time_line(self._result, window))

    def _one(self, block: str) -> list[ResultChannel]:
        channels = chosen_channels(self._result, [block], self._labels) if block else []
        if len(channels) != 1:
            raise UsageError("SYNTAX ERROR", hint="one block by its number, or one variable by its name, first")
        return channels

    def _repeat(self, prompt: str, take: Callable[[str], None]) -> None:
        while line := self._terminal.ask(prompt).partition("$")[0].strip():
            try:
                take(line)
            except UsageError as error:
                self._fail(error.message, error.hint)

    @staticmethod
    def _numbers(texts: list[str], count: int) -> list[float | None]:
        try:
            values = [float(text.upper().replace("D", "E")) if text.strip() else None for text in texts]
        except ValueError:
            values = []
        if len(values) != count:
            raise UsageError("SYNTAX ERROR", hint=f"{count} numbers with commas between them")
        return values

    def _run_all(self) -> None:
        for name in ("PRC", "PRP", "PLS"):
            try:
                self._ask_form(name, "")
            except UsageError as error:
                self._fail(error.message, error.hint)
        self._make()

    # -- what is made -------------------------------------------------------------------------------------------------------------------------

    def _make(self) -> None:
        requests = {name: self._requests[name] for name in _FORMS if name in self._requests}
        if not requests:
            raise UsageError("MORE WORK TO DO", hint="PRCOLUMN, PRPLOT, PLSTRIP or PLOVERLAY say what is wanted")
        self._terminal.say("**** RUNNING ****")
        self._requests.clear()
        for name, request in requests.items():
            # looked up again, since a label may have changed since the block was named
            every = channels_of(self._result, self._labels)
            channels = [each if each.column == TIME else every[each.column] for each in request.channels]
            self._make_form(name, of_channels(self._result, channels, self._window, self._title), request.path)

    def _make_form(self, name: str, selection: Selection, path: Path | None) -> None:
        if name == "PRC" and path is None:
            self._terminal.say(teletype_table(selection))
            return
        if name == "PRP" and path is None:
            self._terminal.say(terminal_plot(selection, self._scales))
            return
        assert path is not None
        path = self._free(path)
        is_there = path.exists()
        if name in ("PRC", "PRP"):
            facts = [*heading(self._result, self._path, self._title)[:-1], time_line(self._result, self._window)]
            text = printer_table(selection, facts) if name == "PRC" else "\n".join([*facts, "", terminal_plot(selection, self._scales)])
            with written_whole(path) as draft:
                draft.write_text(text + "\n", encoding="utf-8")
        else:
            (strip_plot if name == "PLS" else overlay_plot)(selection, path, self._scales)
        self._written.add(path)
        self._terminal.say(f"HAVE OVERWRITTEN FILE {path}" if is_there else f"O/P TO {path}")

    def _free(self, path: Path) -> Path:
        """A name that this session has not used yet: output asked for again after GOE is another one."""
        free, count = path, 1
        while free in self._written:
            count += 1
            free = path.with_name(f"{path.stem}_{count}{path.suffix}")
        return free
