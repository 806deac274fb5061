"""``tidegate trans``: tables and plots of a saved result (stage: command line). In go a file and options or replies, out come tables and pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from tidegate.cli.find_result import load_result
from tidegate.csmp.trans import (
    OutputProgram,
    Scale,
    Selection,
    StreamTerminal,
    Window,
    choose,
    csv_table,
    markdown_table,
    overlay_plot,
    round_step,
    strip_plot,
    teletype_table,
    terminal_plot,
)
from tidegate.errors import UsageError
from tidegate.plot import picture_format
from tidegate.quick_dataclass import dataclass
from tidegate.results import Result, known_suffix, written_whole

__all__ = ["WantedOutput", "trans"]

_ENDINGS: Final = ("", ".DAT", ".dat", ".nc", ".csv")  # tried behind a name that was typed without one


@dataclass(frozen=True, slots=True)
class WantedOutput:
    """What the options ask for; the command is a dialogue when they ask for nothing.

    Parameters
    ----------
    blocks : columns of everything that names none of its own.
    table, plot : columns of a table and of a plot on the terminal; None for none.
    csv, strip, overlay : files.
    is_markdown : the table is Markdown.
    digits : significant digits of tables.
    time : ``FROM:TO:STEP``.
    labels, scales : ``BLOCK=LABEL`` and ``BLOCK=LOWER:UPPER``.
    title : "" for the result's.
    """

    blocks: str | None = None
    table: str | None = None
    plot: str | None = None
    csv: Path | None = None
    strip: Path | None = None
    overlay: Path | None = None
    is_markdown: bool = False
    digits: int | None = None
    time: str | None = None
    labels: tuple[str, ...] = ()
    scales: tuple[str, ...] = ()
    title: str = ""

    @property
    def is_nothing(self) -> bool:
        """Whether no output was asked for."""
        return not (self.table or self.plot or self.csv or self.strip or self.overlay or self.is_markdown)

    @property
    def columns(self) -> str | None:
        """Of the outputs that name none of their own; None for all."""
        return self.blocks or self.table or self.plot


def trans(path: Path | None, wanted: WantedOutput) -> bool:
    """Make what the options ask for, or hold the dialogue.

    Returns
    -------
    False if a dialogue that nobody was typing had an error in it.

    Raises
    ------
    UsageError
        If the file, a name, a number or a suffix is wrong.
    """
    terminal = StreamTerminal()
    if path is None:
        found = _asked_for(terminal)
        if found is None:
            return terminal.is_interactive
        path = found
    if wanted.is_nothing:
        if wanted != WantedOutput():
            raise UsageError(
                "the options say how, but not what", hint="--table, --plot, --csv, --markdown, --strip or --overlay; or none for a dialogue"
            )
        program = OutputProgram(load_result(path, "trans"), terminal, path)
        program.run()
        return terminal.is_interactive or not program.failures
    _check_files(wanted)
    _make(load_result(path, "trans"), wanted)
    return True


def _asked_for(terminal: StreamTerminal) -> Path | None:
    """The file that somebody names; None if nobody does."""
    while True:
        try:
            name = terminal.ask("I/P FILENAME =").strip()
        except EOFError:
            return None
        for ending in _ENDINGS:
            if name and Path(name + ending).is_file():
                return Path(name + ending)
        if name:
            terminal.say(f"{name if Path(name).suffix else name + '.DAT'} NOT ON DSK")


def _check_files(wanted: WantedOutput) -> None:
    """Before anything is made, since half of it would help nobody."""
    for picture in (wanted.strip, wanted.overlay):
        if picture is not None:
            picture_format(picture)
    if wanted.csv is not None and str(wanted.csv) != "-":
        known_suffix(wanted.csv, (".csv", ".txt"), "a table")
    if wanted.digits is not None and not 1 <= wanted.digits <= 17:
        raise UsageError(f"numbers cannot have {wanted.digits} digits", hint="1 to 17")


def _make(result: Result, wanted: WantedOutput) -> None:
    labels, scales = _labels(result, wanted), _scales(result, wanted)

    def chosen(blocks: str | None) -> Selection:
        return choose(result, blocks, window=Window.parsed(wanted.time or ""), labels=labels, title=wanted.title)

    if wanted.table or wanted.is_markdown:
        rows = chosen(wanted.table or wanted.columns)
        _print(markdown_table(rows, wanted.digits or 6) if wanted.is_markdown else teletype_table(rows, wanted.digits or 3))
    if wanted.plot:
        _print(terminal_plot(chosen(wanted.plot), scales))
    rest = chosen(wanted.columns)
    if wanted.csv is not None:
        text = csv_table(rest)
        if str(wanted.csv) == "-":
            sys.stdout.write(text)
        else:
            with written_whole(wanted.csv) as draft:
                draft.write_text(text, encoding="utf-8", newline="")
    if wanted.strip is not None:
        strip_plot(rest, wanted.strip, scales)
    if wanted.overlay is not None:
        overlay_plot(rest, wanted.overlay, scales)


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _column(result: Result, block: str) -> int:
    channels = choose(result, block).channels
    if len(channels) != 1:
        raise UsageError(f"{block!r} are {len(channels)} columns", hint="one block by its number, or one variable by its name")
    return channels[0].column


def _labels(result: Result, wanted: WantedOutput) -> dict[int, str]:
    labels: dict[int, str] = {}
    for text in wanted.labels:
        block, equals, label = text.partition("=")
        if not equals or not block or not label:
            raise UsageError(f"cannot read --label {text!r}", hint='BLOCK=LABEL, for example --label "9=POSITION"')
        labels[_column(result, block)] = label
    return labels


def _scales(result: Result, wanted: WantedOutput) -> dict[int, Scale]:
    scales: dict[int, Scale] = {}
    for text in wanted.scales:
        block, _, ends = text.rpartition("=")
        lower, _, upper = ends.partition(":")
        try:
            low, high = float(lower), float(upper)
        except ValueError:
            raise UsageError(f"cannot read --scale {text!r}", hint="BLOCK=LOWER:UPPER, for example --scale 9=-10:10") from None
        column = _column(result, block)
        scales[column] = Scale(low, high, round_step(low, high))
    return scales
