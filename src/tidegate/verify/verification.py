"""What a judgement found, and how it is shown (stage: verification). In: findings. Out: a table with a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from textwrap import shorten
from typing import Final, Literal

from tidegate.quick_dataclass import dataclass
from tidegate.results.labels import number
from tidegate.wrong_calls import explained

__all__ = ["Finding", "Kind", "Tally", "Verification"]

Kind = Literal[
    "equation", "condition", "missed event", "spurious event", "reset", "message", "end", "clock", "discrete variable", "output", "continuity", "row"
]  # fmt: skip

_SHOWN: Final = 25  # rows of the table as text
_NAME: Final = 60  # letters of a name
_HEAD: Final = ("", "what", "name", "looked at", "disagree", "times allowed", "at t", "truth", "by how much")


@dataclass(frozen=True)
class Finding:
    """One thing that was judged, at its worst.

    Parameters
    ----------
    kind : what was judged.
    name : variable, clause or output.
    truth : whose word the result was compared with.
    looked_at : at how many points or events.
    disagree : at how many of them the result is wrong.
    share : the largest difference, in multiples of what is allowed; above 1 the result is wrong.
    time : where that is.
    says : by how much, in words.
    """

    kind: Kind
    name: str
    truth: str
    looked_at: int
    disagree: int
    share: float
    time: float
    says: str = ""

    @property
    def ok(self) -> bool:
        """True if nothing disagrees."""
        return self.disagree == 0

    def cells(self) -> tuple[str, ...]:
        """The texts of its row."""
        mark = "ok" if self.ok else "WRONG"
        share = number(self.share, 3)
        name = shorten(self.name, _NAME, placeholder="...")
        return mark, self.kind, name, str(self.looked_at), str(self.disagree), share, number(self.time, 8), self.truth, self.says


class Tally:
    """Gathers what is judged under a name, and keeps the worst.

    Parameters
    ----------
    truth : whose word results are compared with.
    """

    def __init__(self, truth: str) -> None:
        self.truth = truth
        self._found: dict[tuple[Kind, str], Finding] = {}

    def note(self, kind: Kind, name: str, time: float, share: float = 0.0, says: str = "", count: int = 1) -> None:
        """One more look, or several; a share above 1, or NaN, is a disagreement."""
        wrong = not share <= 1.0
        old = self._found.get((kind, name))
        if old is None:
            self._found[kind, name] = Finding(kind, name, self.truth, count, count if wrong else 0, share, time, says if wrong else "")
            return
        worse = (share, time, says) if old.share == old.share and not share <= old.share else (old.share, old.time, old.says)
        self._found[kind, name] = Finding(kind, name, self.truth, old.looked_at + count, old.disagree + (count if wrong else 0), *worse)

    @property
    def findings(self) -> list[Finding]:
        """One for each kind and name; what disagrees first, the worst on top."""
        return sorted(self._found.values(), key=lambda item: (item.ok, -item.share if item.share == item.share else 0.0))


@partial(explained, instead_of_call="print(verification) shows what was found, verification.ok is the verdict")
@dataclass(frozen=True, eq=False)
class Verification:
    """What ``tg.verify`` found; printing it shows the table.

    Parameters
    ----------
    model_name : of the model.
    truth : whose word the result was compared with.
    findings : one for each equation, clause, clock, output ...; what disagrees first.
    notes : sentences about what could not be judged, or not by the user's own code.
    points : at how many points inside steps the model was called.
    unjudged : what nothing here says anything about.
    """

    model_name: str
    truth: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    points: int = 0
    unjudged: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if nothing disagrees."""
        return all(item.ok for item in self.findings)

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The findings that disagree."""
        return tuple(item for item in self.findings if not item.ok)

    def _verdict(self) -> str:
        where = f"{self.points} points inside the steps, by {self.truth}"
        if self.ok:
            return f"{self.model_name} is verified at {where}"
        kinds = ", ".join(dict.fromkeys(item.kind for item in self.wrong))
        return f"{self.model_name} is WRONG in {len(self.wrong)} of {len(self.findings)} things looked at ({kinds}); {where}"

    def _rows(self) -> tuple[list[tuple[str, ...]], int]:
        shown = [item.cells() for item in self.findings[:_SHOWN]]
        return shown, len(self.findings) - len(shown)

    def __str__(self) -> str:
        rows, more = self._rows()
        table = [_HEAD, *rows]
        widths = [max(len(row[k]) for row in table) for k in range(len(_HEAD))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
        if more > 0:
            lines.append(f"and {more} more, in .findings")
        return "\n".join([self._verdict(), *(f"  - {sentence}" for sentence in self.notes), *lines, *self._silent()])

    def _silent(self) -> list[str]:
        return [f"not judged: {'; '.join(self.unjudged)}"] if self.unjudged else []

    def __repr__(self) -> str:
        return f"<Verification: {self._verdict()}>"

    def _repr_html_(self) -> str:
        from html import escape

        def row(cells: Iterable[str], tag: str = "td") -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        rows, _ = self._rows()
        silent = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._silent())
        notes = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.notes)
        return f"<p>{escape(self._verdict())}</p><ul>{notes}</ul><table>{row(_HEAD, 'th')}{''.join(map(row, rows))}</table>{silent}"
