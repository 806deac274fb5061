"""Rows appended to a file while their run goes on (stage: export), so that a run that is killed loses only what came since the last of them.

``FILE.part`` grows beside ``FILE``: readable CSV for ``FILE.csv``, frames of ``results.journal`` for ``FILE.nc``. At the end the whole ``FILE`` is
written and ``FILE.part`` vanishes.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self
from warnings import warn

from tidegate.errors import UsageError
from tidegate.export.save import format_of, save
from tidegate.export.table import csv_head, csv_rows
from tidegate.results import Result
from tidegate.results.files import claimed, path_of, tried
from tidegate.results.frames import MAGIC
from tidegate.results.journal import JournalWriter

__all__ = ["Appended", "part_of"]


def part_of(path: str | Path) -> Path:
    """Where the rows of a run are while it goes on."""
    return Path(f"{path}.part")


class Appended:
    """Takes the rows of a run as they come, and its result at the end; a context in which the run happens.

    Parameters
    ----------
    path : of the result, ``.nc`` or ``.csv``. A ``.part`` that an earlier run has left there becomes ``.part.1``, or the next number that is free.

    Raises
    ------
    UsageError
        For another suffix, and at its beginning if the folder does not exist or cannot be written to, or another run is writing the file.

    Examples
    --------
    >>> import tempfile
    >>> from tidegate.results import Column
    >>> path = Path(tempfile.mkdtemp()) / "tank.csv"
    >>> with Appended(path) as rows:
    ...     rows(Result("tank", [Column("level")], [0.0], [2.0]))
    ...     grown = part_of(path).read_text()
    ...     _ = rows.finish(Result("tank", [Column("level")], [0.0, 1.0], [2.0, 3.0]))
    >>> grown.split(), part_of(path).exists(), path.read_text().split()
    (['time,level', '0.0,2.0'], False, ['time,level', '0.0,2.0', '1.0,3.0'])
    """

    def __init__(self, path: str | Path) -> None:
        self._is_csv = format_of(path) == ".csv"
        self.path = path_of(path)
        self.set_aside: Path | None = None
        self._journal = JournalWriter()
        self._file: int | None = None
        self._place: tuple[int, int] | None = None
        self.has_begun = self._has_failed = False

    def __enter__(self) -> Self:
        tried(self.path)
        self._file = self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()

    def __call__(self, part: Result) -> None:
        """Append the rows of a part of the run; they are the operating system's when this returns."""
        if self._has_failed:
            return
        if self._file is None:
            self._file = self._begin()
        if not self.has_begun:
            self.has_begun = True
            self._write(csv_head(part).encode() if self._is_csv else MAGIC)
        self._write(csv_rows(part).encode() if self._is_csv else self._journal.frames_of(part))

    def finish(self, result: Result) -> Path:
        """Write the whole result, and then remove what was appended.

        Raises
        ------
        UsageError
            If it cannot be written; the appended rows then stay.
        """
        written = save(result, self.path)
        self.discard()
        return written

    def discard(self) -> None:
        """Remove what was appended."""
        if self._place is None:
            return
        # under whatever name: where there are no locks, another run to the same file sets ours aside
        for path in self.path.parent.glob(f"{part_of(self.path.name)}*"):
            status = path.stat()
            if (status.st_dev, status.st_ino) == self._place:
                path.unlink()
        self._place = None
        self._close()

    def _begin(self) -> int:
        path = part_of(self.path)
        try:
            file = claimed(path)
            if os.fstat(file).st_size:
                self.set_aside = next(free for k in count(1) if not (free := Path(f"{path}.{k}")).exists())
                path.rename(self.set_aside)
                os.close(file)
                file = claimed(path)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}", hint="check that the folder exists and can be written to") from error
        status = os.fstat(file)
        self._place = (status.st_dev, status.st_ino)
        return file

    def _write(self, data: bytes) -> None:
        """Past every buffer of our own, so that only the machine itself can lose it."""
        assert self._file is not None
        if self._has_failed:
            return
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            # the run is worth more than the rows on the way
            self._has_failed = True
            warn(f"cannot append to {part_of(self.path)}: {error.strerror or error}; the run goes on", RuntimeWarning, stacklevel=2)

    def _leave(self) -> None:
        """Write no more; where nothing has been written everything is as it was."""
        if not self.has_begun:
            self.discard()
            if self.set_aside is not None and not part_of(self.path).exists():
                self.set_aside.rename(part_of(self.path))
                self.set_aside = None
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
