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

__all__ = ["known_suffix", "path_of", "writable", "written_whole"]

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
        raise UsageError(f"cannot save {what} as {str(path)!r}", hint=f"a name that ends in {', '.join(others)} or {last}")
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
    # in the same folder, because only within one file system is a renaming a single act; same suffix, because writers look at it
    draft = target.with_name(f".{target.stem}.{secrets.token_hex(4)}{target.suffix}")
    try:
        yield draft
        draft.replace(target)
    except OSError as error:
        # HDF5 calls a full disk a missing permission
        full = _is_full(error, target.parent)
        why = os.strerror(errno.ENOSPC) if full and error.errno not in _NO_SPACE else error.strerror or error
        raise UsageError(f"cannot write {target}: {why}", hint=_FREE_SPACE if full else "check the folder's permissions") from error
    finally:
        draft.unlink(missing_ok=True)


def _is_full(error: OSError, folder: Path) -> bool:
    if error.errno in _NO_SPACE:
        return True
    try:
        return shutil.disk_usage(folder).free < _BLOCK
    except OSError:
        return False
