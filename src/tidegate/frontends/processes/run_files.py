"""The files of a run, flushed and closed at every kind of end (stage: front end)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol, Self

from tidegate.errors import UsageError

__all__ = ["Closing", "RunFile", "RunFiles"]


class Closing(Protocol):
    """What can be closed."""

    def close(self) -> None:
        """Give back what is held, with everything written down."""
        ...


class RunFile:
    """A file that is closed whenever a run ends, and open again, where it was, as soon as it is used by a run that goes on.

    Everything else is as with Python's own files: ``print(..., file=...)``, ``csv.writer(...)``, lines in a loop.

    Parameters
    ----------
    path, mode, options : as for ``open``; text is UTF-8 if nothing else is said.
    """

    def __init__(self, path: str | Path, mode: str = "w", **options: Any) -> None:
        if "b" not in mode:
            options.setdefault("encoding", "utf-8")
        self._options = options
        self.name = str(Path(path).absolute())
        self.mode = mode
        self._place = 0
        self._is_over = False
        self._file: Any = Path(self.name).open(mode, **options)  # noqa: SIM115 - the ends of runs close it

    @property
    def closed(self) -> bool:
        """Whether its user has closed it, so that it is not opened again."""
        return self._is_over

    def rest(self) -> None:
        """Close it until it is used again."""
        if not self._file.closed:
            with ExitStack() as stack:
                stack.callback(self._file.close)
                if self._file.seekable():
                    self._place = self._file.tell()

    def close(self) -> None:
        """Close it for good."""
        self._is_over = True
        self._file.close()

    def _opened(self) -> Any:
        if self._file.closed and not self._is_over:
            binary = "b" if "b" in self.mode else ""
            is_read = "r" in self.mode or "+" in self.mode
            change = "+" if "+" in self.mode else ""
            mode = f"r{binary}{change}" if is_read else f"a{binary}"
            self._file = Path(self.name).open(mode, **self._options)  # noqa: SIM115
            if is_read and self._place:
                self._file.seek(self._place)
        return self._file

    def write(self, text: Any) -> int:
        """Write text, or bytes."""
        return self._opened().write(text)

    def writelines(self, lines: Iterable[Any]) -> None:
        """Write several."""
        self._opened().writelines(lines)

    def read(self, size: int = -1) -> Any:
        """Read all that is left, or so many characters."""
        return self._opened().read(size)

    def readline(self, size: int = -1) -> Any:
        """Read a line."""
        return self._opened().readline(size)

    def flush(self) -> None:
        """Hand everything written to the operating system."""
        if not self._file.closed:
            self._file.flush()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        # a file that is asked for its next line itself can no longer tell where it is
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._opened(), name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RunFile {self.name} {self.mode!r}{', closed' if self._is_over else ''}>"


class RunFiles:
    """The files that belong to an environment, and what else is to be closed with its run.

    Attributes
    ----------
    waits_for_its_block : the environment is used in a ``with`` block, at whose end everything is closed.
    """

    def __init__(self) -> None:
        self._files: list[RunFile] = []
        self._others: list[Closing] = []
        self.waits_for_its_block = False

    def open(self, path: str | Path, mode: str = "w", **options: Any) -> RunFile:
        """Open a file."""
        file = RunFile(path, mode, **options)
        self._files.append(file)
        return file

    def register[T: Closing](self, one: T) -> T:
        """Close something with the run.

        Raises
        ------
        UsageError
            If it has no ``close``.
        """
        if not callable(getattr(one, "close", None)):
            raise UsageError(f"{one!r} cannot be closed", hint="give something that has a method close(), as files have")
        self._others.append(one)
        return one

    def pause(self) -> None:
        """The run stands still and may go on: what can be opened again is closed, everything else flushed."""
        with ExitStack() as stack:  # whatever fails, the others are closed
            for other in self._others:
                flush = getattr(other, "flush", None)
                if callable(flush) and not getattr(other, "closed", False):
                    stack.callback(flush)
            for file in self._files:
                stack.callback(file.rest)

    def end(self) -> None:
        """A run has come to its end."""
        self.pause() if self.waits_for_its_block else self.close()

    def close(self) -> None:
        """Nothing more will come."""
        others, self._others = self._others, []
        with ExitStack() as stack:
            for other in others:
                stack.callback(other.close)
            for file in self._files:
                stack.callback(file.rest)
