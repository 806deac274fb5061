"""Files that are there whole or not at all (stage: results). In goes a path, out comes a place to write to that becomes it, or its format."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tidegate.errors import UsageError

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None

__all__ = ["claimed", "known_suffix", "path_of", "tried", "writable", "written_whole"]

_FREE_SPACE: Final = "free some space on the disk, or write to another one"
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)
_BLOCK: Final = 4096  # bytes: what is left of a full disk is less


def path_of(given: object) -> Path:
    """A path, or UsageError for what is none."""
    try:
        return Path(given)  # pyright: ignore[reportArgumentType] - users pass anything
    except TypeError:
        raise UsageError(f"{given!r} is no path of a file", hint='"result.nc", or a pathlib.Path') from None


def known_suffix(path: str | Path, known: Iterable[str], what: str) -> str:
    """The suffix of a file, if it is one of those known.

    Parameters
    ----------
    what : is to be saved, e.g. ``"a picture"``.

    Raises
    ------
    UsageError
        For any other suffix.

    Examples
    --------
    >>> known_suffix("Ball.PNG", (".png", ".svg"), "a picture")
    '.png'
    """
    suffix = path_of(path).suffix.lower()
    *others, last = known
    if suffix not in (*others, last):
        raise UsageError(f"cannot save {what} as {str(path)!r}", hint=f"a name that ends in {' or '.join(filter(None, (', '.join(others), last)))}")
    return suffix


def writable(path: str | Path) -> Path:
    """The file that is written by this name: what a symbolic link names stands for the link, which stays.

    Raises
    ------
    UsageError
        If its folder is not there or cannot be written to, it is a folder itself, or links lead round in a circle.
    """
    target = path_of(path)
    try:
        if target.is_symlink():
            target = target.resolve(strict=False)
        folder = target.parent
        if not folder.is_dir():
            told = f"{folder} is no folder" if folder.exists() else f"there is no folder {folder}"
            raise UsageError(f"cannot write {target}: {told}", hint="make the folder first, or name another")
        if target.is_dir():
            raise UsageError(f"cannot write {target}: it is a folder", hint="give the name of a file in it")
    except (RuntimeError, OSError) as error:  # a circle of links is a RuntimeError before Python 3.13
        why = (
            "its symbolic links lead round in a circle" if isinstance(error, RuntimeError) or error.errno == errno.ELOOP else error.strerror or error
        )
        raise UsageError(f"cannot write {target}: {why}", hint="give another name") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write {target}: nothing may be written in {folder}", hint="check the folder's permissions, or name another")
    return target


def tried(path: str | Path) -> Path:
    """The same, after a block has been written beside it and taken away: rights alone do not tell of every place, nor of a full disk.

    Raises
    ------
    UsageError
        As ``writable``, and where nothing can be written.
    """
    target = writable(path)
    draft = _draft(target)
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, bytes(_BLOCK))
            os.fsync(file)
        finally:
            os.close(file)
            draft.unlink()
    except OSError as error:
        raise _refusal(target, error) from error
    return target


def _draft(target: Path) -> Path:
    """In the same folder, because only within one file system is a renaming a single act; same suffix, because writers look at it."""
    return target.with_name(f".{target.stem}.{secrets.token_hex(4)}{target.suffix}")


def _refusal(target: Path, error: OSError) -> UsageError:
    full = _is_full(error, target.parent)
    # HDF5 calls a full disk a missing permission
    why = os.strerror(errno.ENOSPC) if full and error.errno not in _NO_SPACE else error.strerror or error
    if error.errno == errno.ENOENT:
        why = f"no file can be made in {target.parent}"  # which is there
    return UsageError(f"cannot write {target}: {why}", hint=_FREE_SPACE if full else "check the folder's permissions, or name another")


def claimed(path: Path) -> int:
    """A file that is there to be appended to, open, and nobody else's as long as it is open; it is made where it is missing.

    Raises
    ------
    UsageError
        If another run is writing it.
    OSError
        If it cannot be opened.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        if not _locked(file):
            os.close(file)
            raise UsageError(f"{path} is being written by another run", hint="name another file, or wait until it has ended")
        # who had it before may have renamed or removed it meanwhile
        if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
            return file
        os.close(file)


def _locked(file: int) -> bool:
    """True unless somebody else has it; where there are no such locks nobody has. The system lets go of it when its process ends, however it does."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


@contextmanager
def written_whole(path: str | Path) -> Generator[Path]:
    """Write to the path this gives; it takes the wanted name when the block ends well, and vanishes when it does not.

    Parameters
    ----------
    path : the wanted file; an older one of that name stays until the new one is complete.

    Raises
    ------
    UsageError
        If the folder does not exist or cannot be written, or the wanted file is a folder itself.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> with written_whole(target) as place:
    ...     _ = place.write_text("1 2 3")
    >>> target.read_text()
    '1 2 3'
    """
    target = writable(path)
    draft = _draft(target)
    try:
        yield draft
        draft.replace(target)
    except OSError as error:
        raise _refusal(target, error) from error
    finally:
        draft.unlink(missing_ok=True)


def _is_full(error: OSError, folder: Path) -> bool:
    if error.errno in _NO_SPACE:
        return True
    try:
        usage = shutil.disk_usage(folder)
        return usage.total > 0 and usage.free < _BLOCK  # /proc and the like have no room at all
    except OSError:
        return False
