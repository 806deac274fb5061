"""A compiled block in a process of its own: should it crash, STOP or never come back, a run ends with an error and not the Python that asked for it.

In: a library's file. Out: a ``Block`` whose runs ask the other process. Each of its calls goes through a pipe, so it is slow: for finding faults, and
for blocks that keep static data.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import weakref
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tidegate.errors import CallbackError
from tidegate.frontends.dsblock.block import Entry, Happened, Reply
from tidegate.frontends.dsblock.compiled.library import LETTERS, Language
from tidegate.frontends.dsblock.description import Description
from tidegate.frontends.dsblock.proposals import Environment
from tidegate.frontends.dsblock.warned import warn
from tidegate.quick_dataclass import dataclass

__all__ = ["IsolatedBlock", "IsolatedSource", "Processes"]

FloatArray = NDArray[np.float64]
_LOG: Final = logging.getLogger("tidegate.dsblock")
_MODULE: Final = "tidegate.frontends.dsblock.compiled.isolated_process"
_PACKAGES: Final = str(Path(__file__).parents[4])
_START: Final = 60.0  # seconds in which Python itself must have started
_LEAVE: Final = 5.0  # seconds to end by itself
_PARTS: Final = 4  # of an answer


@dataclass(frozen=True, slots=True)
class IsolatedSource:
    """What another process is to load, and how many seconds each request may take."""

    path: Path
    prefix: str
    language: Language
    data_file: str | None
    folders: tuple[Path, ...]
    time_limit: float


class _Process:
    """One process with one block."""

    def __init__(self, source: IsolatedSource) -> None:
        self._source = source
        self._requests, theirs = Pipe()
        self._letters, letters = os.pipe()
        os.set_blocking(self._letters, False)
        paths = [_PACKAGES, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        self._process = subprocess.Popen(  # noqa: S603, our own module
            [sys.executable, "-m", _MODULE, str(theirs.fileno()), str(letters)],
            pass_fds=(theirs.fileno(), letters), stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip
        theirs.close()
        os.close(letters)
        self._symbols: dict[str, str] = {}
        self.is_alive = True
        self.leave = weakref.finalize(self, _left, self._process, self._requests, self._letters)
        self.ask("ready", limit=max(source.time_limit, _START))
        given = source.path, source.prefix, source.language, source.data_file, source.folders
        self.description, self._symbols = self.ask("load", *given)

    def ask(self, what: str, *given: Any, limit: float | None = None, **named: Any) -> Any:
        """Its answer, or what it raises.

        Raises
        ------
        CallbackError : the process has ended, or does not answer.
        """
        seconds = self._source.time_limit if limit is None else limit
        try:
            self._requests.send((what, given, named))
            if not self._requests.poll(seconds):
                where = self._where()
                self._end()
                raise CallbackError(
                    f"DSblock {self._source.prefix} has not come back from {where} within {seconds:g} s", hint="raise time_limit if it needs longer"
                )
            answer, error, warned, lines = self._answer(seconds)
        except (EOFError, OSError):
            where = self._where()
            raise CallbackError(f"DSblock {self._source.prefix} ended its process in {where} {self._end()}") from None
        self._where()
        for line in lines:
            _LOG.info("%s", line)
        for text in warned:
            warn(text)
        if error is not None:
            raise error
        return answer

    def _answer(self, seconds: float) -> tuple[Any, BaseException | None, list[str], list[str]]:
        """What it has sent; a block that writes into files of which it knows nothing may have sent something else.

        Raises
        ------
        CallbackError : that is so.
        """
        found: list[Any] = []

        def receive() -> None:
            try:
                found.append(self._requests.recv())
            except BaseException as error:  # noqa: BLE001 - whatever the bytes make of it
                found.append(error)

        receiver = threading.Thread(target=receive, daemon=True)
        receiver.start()
        receiver.join(seconds)
        answer = found[0] if found else None
        if isinstance(answer, EOFError | ConnectionError):
            raise answer
        if isinstance(answer, tuple) and len(cast("tuple[Any, ...]", answer)) == _PARTS:
            return cast("tuple[Any, BaseException | None, list[str], list[str]]", answer)
        where = self._where()
        self._end()
        raise CallbackError(
            f"DSblock {self._source.prefix} has written into a file that is not its own, in {where}: nothing can be said of its values"
        )

    def _where(self) -> str:
        """The callback that was entered last."""
        try:
            letter = next((one for one in reversed(os.read(self._letters, 1 << 16).decode("latin-1")) if one in LETTERS), "")
        except BlockingIOError:
            letter = ""
        if not letter:
            return "loading"
        return f"BLOCK{letter} ({self._symbols[letter]})" if letter in self._symbols else f"BLOCK{letter}"

    def close(self) -> None:
        """BLOCKC, and the end of the process; what goes wrong there is told, and nothing is lost by it."""
        try:
            self.ask("close")
        except CallbackError as error:
            warn(str(error))
        self.leave()

    def _end(self) -> str:
        """End it for good; how it has ended."""
        self.is_alive = False
        try:
            status = self._process.wait(_LEAVE if self._requests.closed else 1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self.leave()
        return f"with status {status}" if status >= 0 else f"by signal {-status} ({signal.Signals(-status).name})"


def _left(process: subprocess.Popen[bytes], requests: Any, letters: int) -> None:
    """Nobody asks any more: it closes its block and ends."""
    requests.close()
    os.close(letters)
    try:
        process.wait(_LEAVE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Processes:
    """Processes of one block, one a run at a time.

    Raises
    ------
    InvalidModelError, UsageError : as without isolation.
    CallbackError : the block ends its process, or does not come back, while it is defined.
    """

    def __init__(self, source: IsolatedSource) -> None:
        self._source = source
        first = _Process(source)
        self.description: Description = first.description
        self._free = [first]

    def take(self) -> _Process:
        """One that is in no run."""
        return self._free.pop() if self._free else _Process(self._source)

    def give_back(self, process: _Process) -> None:
        """Its run is over."""
        if process.is_alive:
            self._free.append(process)

    def close(self) -> None:
        """End all that are in no run."""
        while self._free:
            self._free.pop().close()


class IsolatedBlock:
    """See ``block.Block``."""

    knows_steps = True

    def __init__(self, processes: Processes, environment: Environment | None = None) -> None:
        self._processes, self._environment = processes, environment or Environment()

    @property
    def description(self) -> Description:
        """What it says of itself."""
        return self._processes.description

    def begin(self, at: Entry) -> tuple[IsolatedRun, Reply]:
        """A run begins."""
        process = self._processes.take()
        try:
            reply = process.ask("begin", 0, self._environment, at)
        except BaseException:
            self._processes.give_back(process)
            raise
        return IsolatedRun(self._processes, process), reply


class IsolatedRun:
    """See ``block.Run``."""

    def __init__(self, processes: Processes, process: _Process) -> None:
        self._processes, self._process = processes, process

    def _asked(self, what: str, *given: Any, **named: Any) -> Any:
        return self._process.ask("ask", 0, what, *given, **named)

    def step_begins(self) -> None:
        """The next BLOCKF is the first of a step."""
        self._asked("step_begins")

    def equations(self, at: Entry, wanted: tuple[bool, ...] = ()) -> FloatArray:
        """F."""
        return self._asked("equations", at, wanted)

    def outputs(self, at: Entry) -> FloatArray:
        """Y."""
        return self._asked("outputs", at)

    def indicators(self, at: Entry) -> FloatArray:
        """Z."""
        return self._asked("indicators", at)

    def auxiliaries(self, at: Entry) -> FloatArray:
        """W."""
        return self._asked("auxiliaries", at)

    def asks_step_event(self, at: Entry) -> bool:
        """Whether something happens at the end of a completed step."""
        return self._asked("asks_step_event", at)

    def event(self, happened: Happened, at: Entry) -> Reply:
        """Something happens."""
        return self._asked("event", happened, at)

    def recorded(self) -> FloatArray:
        """Nothing."""
        return np.zeros(0)

    def end(self, at: Entry, *, is_well: bool) -> None:
        """The run is over; of a process that has ended nothing is asked."""
        if self._process.is_alive:
            try:
                self._asked("end", at, is_well=is_well)
            finally:
                self._processes.give_back(self._process)
