"""Where compiled code is kept between processes: a folder that nobody else can write to, without what is no longer used. In: nothing. Out: its path.

What is loaded from it is carried out, so a folder that another user can write to is refused, as ssh refuses such a key.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["SHIPPED", "cache_directory", "prune", "reason_against", "safe_directory", "said", "shipped_directory"]

SHIPPED: Final = "machine_code"  # a folder of the package
_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_MINE: Final = 0o700
_UNUSED: Final = 90 * 86400.0  # seconds after which what nobody has loaded goes
_IN_USE: Final = 3600.0  # seconds in which another process may still be about to load it


def cache_directory() -> Path:
    """Where compiled code is kept: ``$TIDEGATE_CACHE_DIR``, else ``$XDG_CACHE_HOME/tidegate``, else ``~/.cache/tidegate``."""
    chosen = os.environ.get("TIDEGATE_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tidegate"


def shipped_directory() -> Path | None:
    """Where the kernel's machine code lies that was made when tidegate was installed (``tidegate compile``), laid out as the cache; None for nowhere.

    It is beside the modules, of which nobody can change more than of those; ``$TIDEGATE_SHIPPED_DIR`` says otherwise, and nowhere if it is empty.
    """
    chosen = os.environ.get("TIDEGATE_SHIPPED_DIR")
    if chosen is None:
        return Path(__file__).parent / SHIPPED
    return Path(chosen) if chosen else None


def safe_directory() -> Path:
    """The cache directory, made if it is missing; one that ends with the process where it cannot be written, or others can write to it."""
    return _safe(cache_directory())


def reason_against(folder: Path) -> tuple[str, str]:
    """Why a folder, made if it is missing, is no place for compiled code, and what to do about it; empty if it is one."""
    try:
        folder.mkdir(mode=_MINE, parents=True, exist_ok=True)
        other = _open_to_others(folder)
        if other:
            advice = f"take that right away (chmod go-w {other}), or name a folder of your own in TIDEGATE_CACHE_DIR"
            return f"other users can write to {other}, so no compiled code is loaded from {folder}", advice
        with tempfile.TemporaryFile(dir=folder):
            return "", ""
    except OSError as error:
        return f"{folder} cannot be used for compiled code ({error.strerror})", "name another folder in TIDEGATE_CACHE_DIR"


@cache
def _safe(wanted: Path) -> Path:
    what, advice = reason_against(wanted)
    if not what:
        return wanted
    private = tempfile.mkdtemp(prefix="tidegate-")
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    said(f"{what}; this process compiles anew into a folder of its own; {advice}")
    return Path(private)


def _open_to_others(directory: Path) -> Path | None:
    """The folder on the way to this one in which another user could put something else; None if there is none."""
    if not hasattr(os, "geteuid"):  # Windows, whose folders of a user belong to that user
        return None
    place = directory.resolve()
    for folder in (place, *place.parents):
        facts = folder.stat()
        # in a sticky folder, as /tmp, nobody can replace what is another's
        is_open = facts.st_mode & _OTHERS and not (folder != place and facts.st_mode & stat.S_ISVTX)
        if facts.st_uid not in (os.geteuid(), 0) or (is_open and not (facts.st_mode & _OTHERS == stat.S_IWGRP and _is_own_group(facts))):
            return folder
    return None


def _is_own_group(facts: os.stat_result) -> bool:
    """Whether the group has but one member, the owner, as where every user has a group of the same name."""
    import grp
    import pwd

    try:
        group, owner = grp.getgrgid(facts.st_gid), pwd.getpwuid(facts.st_uid)
    except KeyError:
        return False
    return group.gr_gid == owner.pw_gid and group.gr_name == owner.pw_name and set(group.gr_mem) <= {owner.pw_name}


def prune(entries: Iterable[Path], most: int, used: Callable[[Path], float]) -> None:
    """Remove what has not been used for long, and the longest unused beyond a total size.

    Parameters
    ----------
    entries : files or folders.
    most : bytes that may stay.
    used : when one was last used, as a time of the file system.
    """
    now = time.time()
    dated: list[tuple[float, Path]] = []
    for entry in entries:
        with suppress(OSError):  # another process has just removed it
            dated.append((used(entry), entry))
    total = 0
    for last, entry in sorted(dated, reverse=True):
        total += _size(entry)
        if now - last < _IN_USE or (now - last < _UNUSED and total <= most):
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            with suppress(OSError):
                entry.unlink()


def _size(entry: Path) -> int:
    total = 0
    for path in entry.rglob("*") if entry.is_dir() else (entry,):
        with suppress(OSError):
            total += path.stat().st_size
    return total


def said(sentence: str) -> None:
    """Tell whoever sits before the console."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] # None in a program without a console
        sys.stderr.write(f"tidegate: {sentence}\n")
        sys.stderr.flush()
