"""An entry of the kernel is compiled when first called, says so once, is found again by whatever imports its module, and is never stale."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tidegate.compiled import entry_code as of_entries
from tidegate.compiled import kernel_keys
from tidegate.compiled.first_call import CalledFirst
from tidegate.errors import TidegateError, UsageError

# past looks at two pointers only, so it can be called from here
LOOK = (
    "import ctypes; import numpy as np; from tidegate.integrators.hybrid_loop import past; "
    "look = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2)(past.look_back.address); "
    "head = np.zeros(40); given = np.array([0.0, 1.0, 7.25, 1.0, 0.0, 0.0]); given[0] = float(head.ctypes.data); out = np.zeros(1); "
    "look(given.ctypes.data, out.ctypes.data); print(out[0])"
)


def machine_code(*_arguments: object) -> tuple[bytes, bytes]:
    return b"machine code", b"bitcode"


class Linked:
    """What stands for a module, which has an entry unless its code says otherwise."""

    def __init__(self, code: bytes, _name: str = "") -> None:
        self.code = code

    def address(self, name: str) -> int:
        if self.code == b"of something else":
            raise UsageError(f"the compiled module has no function `{name}`")
        return 1


def run(code: str, cache: Path, shipped: Path | str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TIDEGATE_CACHE_DIR": str(cache), "TIDEGATE_SHIPPED_DIR": str(shipped)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)


@pytest.mark.hunt
def test_compiling_is_announced_once_and_nothing_but_what_is_called_is_compiled(tmp_path: Path) -> None:
    first = run(LOOK, tmp_path)
    assert "compiling to machine code" in first.stderr
    assert str(tmp_path) in first.stderr
    kept = list(tmp_path.glob("entries/*/*.o"))
    assert [path.name.split("-")[0] for path in kept] == ["look_back"]
    second = run(LOOK, tmp_path)
    assert (second.stderr, second.stdout) == ("", first.stdout)
    assert first.stdout.strip() == "7.25"
    # a file that is cut off is compiled anew
    whole = kept[0].read_bytes()
    kept[0].write_bytes(whole[:-1])
    third = run(LOOK, tmp_path)
    assert "compiling" in third.stderr
    assert (third.stdout, kept[0].read_bytes()) == (first.stdout, whole)


@pytest.mark.hunt
def test_machine_code_that_was_made_at_the_installation_is_taken_if_it_is_whole(tmp_path: Path) -> None:
    shipped, cache = tmp_path / "shipped", tmp_path / "cache"
    first = run(LOOK, shipped)
    assert "compiling to machine code" in first.stderr
    second = run(LOOK, cache, shipped)
    assert (second.stderr, second.stdout) == ("", first.stdout)
    assert not [*cache.glob("entries/*/*.o")]
    (kept,) = shipped.glob("entries/*/*.o")
    kept.write_bytes(kept.read_bytes()[:-1])
    third = run(LOOK, cache, shipped)
    assert "compiling" in third.stderr
    assert third.stdout == first.stdout
    assert [path.name for path in cache.glob("entries/*/*.o")] == [kept.name]


@pytest.mark.slow
def test_a_run_whose_machine_code_is_kept_does_not_load_numba(tmp_path: Path) -> None:
    """It takes longer to load than such a run; the first process may have to compile, the second has not."""
    program = """
import sys
import tidegate as tg
bounce = tg.event(lambda t, y: y["h"] < 0, reset=lambda t, y: {"v": -0.8 * y["v"]})
ball = tg.ode(lambda t, y: {"h": y["v"], "v": -9.81}, {"h": 1.0, "v": 0.0}, events=[bounce])
print(tg.simulate(ball, (0.0, 2.0)).statistics.events, "numba" in sys.modules)
"""
    path = tmp_path / "ball.py"
    path.write_text(program)
    outputs = [subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True).stdout.split() for _ in range(2)]
    assert outputs[1] == ["3", "False"]
    assert outputs[0][0] == "3"


EVERY_METHOD = """
import numpy as np
import tidegate as tg

hidden = tg.event(lambda t, y: np.sin(y["x"]) * y["x"] ** 2 > 0.3 + 0.01 * t, reset=lambda t, y: {"x": -y["x"]})
turning = tg.ode(lambda t, y, p: {"x": p["k"] * y["v"], "v": -y["x"]}, {"x": 0.0, "v": 1.0}, p={"k": 1.0}, events=[hidden])
relay = tg.ode(lambda t, y, p: {"x": -1e3 * (y["x"] - np.cos(t)) - (p["k"] if y["x"] < 0.5 else 0.0)}, {"x": 0.0}, p={"k": 2.0})
rod = tg.ode(lambda t, y: [1e2 * (y[k - 1] - 2 * y[k] + y[(k + 1) % 30]) - y[k] ** 3 for k in range(30)], y0=[float(k % 3) for k in range(30)])
late = tg.ode(lambda t, y: {"x": -tg.delay(y["x"], 1.0)}, {"x": 1.0})
for method in ("taylor", "radau", "rodas5p", "bdf", "adams", "ida", "rke", "pc"):
    print(method, tg.simulate(turning, (0.0, 3.0), method=method, max_step=0.05).statistics.events)
for method in ("radau", "rodas5p", "bdf", "ida"):
    print(method, len(tg.simulate(relay, (0.0, 3.0), method=method, sensitivities=["k"]).events))
for method in ("radau", "rodas5p", "bdf"):
    print(method, round(tg.simulate(rod, (0.0, 1.0), method=method).final["y[3]"], 3))
print(tg.simulate(turning, (0.0, 3.0), sensitivities="all").statistics.events, round(tg.simulate(late, (0.0, 3.0)).final["x"], 3))
"""


@pytest.mark.slow
def test_kept_machine_code_of_every_method_finds_what_it_calls_in_a_new_process() -> None:
    """What the linker does not find is at address 0 for it, and the process would end there without a word."""
    outputs = [subprocess.run([sys.executable, "-c", EVERY_METHOD], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == 16


@pytest.mark.slow
def test_machine_code_names_nothing_of_python_s_or_numba_s() -> None:
    """So that a process that has it need not load Numba, and nothing in it raises where nobody could say so."""
    code = r"""
import re
from tidegate.compiled import kernel_keys, native
from tidegate.integrators import kernel_cache
kernel_cache.compile_parts([("tidegate.integrators.radau.newton", "newton"), ("tidegate.events.tape_range", "tape_range")])
names = set()
for module in kernel_keys._keys(kernel_keys.KERNEL, kernel_keys.safe_directory()):
    for place in (kernel_keys.entry_directory(module), kernel_keys.shipped_entry_directory(module)):
        for path in place.glob("*.o") if place else ():
            names |= set(re.findall(rb"\x00(_?(?:numba_|NRT_|Py)\\w*)", native.read_object(path) or b""))
print(sorted(names))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.hunt
@pytest.mark.parametrize(
    "body",
    [
        "return 1 if complex(x, 1.0) / complex(y, 0.0) == 1j else 0",
        "return int(x ** n)",
        "return int((1.0, 2.0)[n])",
    ],
)
def test_what_may_raise_is_no_machine_code(body: str) -> None:
    code = f"""
from tidegate.compiled.jit import INTEGER, NUMBER
from tidegate.compiled.linked_late import object_of
from tidegate.compiled.numba_types import numba_signature
def function(x, y, n):
    {body}
try:
    object_of(function, numba_signature(INTEGER(NUMBER, NUMBER, INTEGER)), "entry")
except LookupError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "it is not seen that no function beneath this entry raises" in done.stdout


@pytest.mark.hunt
def test_a_module_imported_by_itself_leaves_nothing_beside_its_source(tmp_path: Path) -> None:
    run(LOOK, tmp_path)
    package = Path(of_entries.__file__).parents[1]
    assert not list(package.rglob("*.nbi"))
    assert not list(package.rglob("*.nbc"))


@pytest.mark.hunt
def test_a_place_that_cannot_be_written_is_replaced_for_this_process(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    code = f"{LOOK}; from tidegate.compiled.kernel_keys import kernel_directory; print(kernel_directory())"
    used = Path(run(code, blocked).stdout.split()[1])
    assert not used.is_relative_to(blocked)
    assert not used.exists()


@pytest.mark.hunt
def test_the_user_s_own_numba_and_garbage_collector_keep_their_settings(tmp_path: Path) -> None:
    settings = "(numba.core.config.CACHE_DIR, numba.core.config.CACHE_LOCATOR_CLASSES, gc.get_threshold())"
    run(f"import gc, numba; before = {settings}; {LOOK}; assert before == {settings}", tmp_path)


def test_what_is_compiled_after_a_source_was_written_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions in memory are those from before, the key would be that of after."""

    def place(_module: str) -> Path:
        return tmp_path / "place"

    monkeypatch.setattr(of_entries, "entry_directory", place)
    monkeypatch.setattr(of_entries, "_compiled", machine_code)
    monkeypatch.setattr(of_entries, "link", Linked)
    for written, kept in ((True, 0), (False, 1)):
        monkeypatch.setattr(kernel_keys, "_seen", lambda written=written: (("file", int(written), 1),))
        monkeypatch.setattr(kernel_keys, "remember_the_sources", lambda: (("file", 0, 1),))
        assert of_entries.entry_code(run, None).code == b"machine code"  # pyright: ignore[reportAttributeAccessIssue] - stands for a module
        assert len(list((tmp_path / "place").glob("*.o"))) == kept
        assert not list((tmp_path / "place").glob("*.busy"))


def test_an_entry_is_asked_for_once_and_its_arguments_arrive() -> None:
    asked: list[int] = []
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64)

    def body_in_python(_place: int, number: float, integer: int) -> int:
        return int(10 * number) + integer

    body = kind(body_in_python)

    def find() -> int:
        asked.append(1)
        return ctypes.cast(body, ctypes.c_void_p).value or 0

    first = CalledFirst("of a test", ["ptr", "double", "i64"], find)
    called = kind(first.address)
    assert [called(None, 2.5, index) for index in range(4)] == [25, 26, 27, 28]
    assert asked == [1]


def test_each_of_many_entries_with_the_same_arguments_is_led_to_its_own_code() -> None:
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    bodies = [kind(lambda number, index=index: 100 * index + number) for index in range(11)]  # type: ignore[misc]
    entries = [
        CalledFirst(f"entry {index}", ["i64"], lambda body=body: ctypes.cast(body, ctypes.c_void_p).value or 0) for index, body in enumerate(bodies)
    ]
    for _ in range(2):
        assert [kind(entry.address)(7) for entry in entries[::-1]] == [100 * index + 7 for index in range(11)][::-1]


def test_ctrl_c_while_an_entry_is_compiled_waits_until_it_is_there() -> None:
    tries: list[int] = []
    kind = ctypes.CFUNCTYPE(ctypes.c_int64)
    body = kind(lambda: 5)

    def find() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return ctypes.cast(body, ctypes.c_void_p).value or 0

    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        outcome = kind(CalledFirst("of a test", [], find).address)()
    finally:
        signal.signal(signal.SIGINT, before)
    assert (outcome, came) == (5, [signal.SIGINT])


@pytest.mark.slow
def test_what_cannot_be_compiled_ends_the_process_with_the_reason(tmp_path: Path) -> None:
    code = (
        "import ctypes; from tidegate.compiled.first_call import CalledFirst; "
        "ctypes.CFUNCTYPE(ctypes.c_int64)(CalledFirst('tidegate.events.some', [], lambda: 1 // 0).address)()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert "no machine code could be made of tidegate.events.some" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "try: reinstall tidegate" in done.stderr


@pytest.mark.hunt
def test_what_cannot_be_compiled_is_tried_once_more_and_then_told() -> None:
    errors: list[Exception] = [MemoryError("all is taken"), ValueError("once"), MemoryError("again")]

    def find() -> int:
        if errors:
            raise errors.pop()
        return 5

    entry = CalledFirst("tidegate.events.some", [], find)
    with pytest.raises(TidegateError, match=r"(?s)no machine code could be made of tidegate.events.some.* once.*reinstall"):
        entry.there()
    entry.there()  # the third error, and then the code
    errors[:] = [MemoryError("all is taken")] * 2
    with pytest.raises(TidegateError, match=r"(?s)MemoryError: all is taken.*close other programs"):
        CalledFirst("tidegate.events.other", [], find).there()


def test_another_process_that_compiles_the_same_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    place.mkdir()
    path = place / f"{run.__name__}-{run.__code__.co_firstlineno}.o"
    path.with_suffix(".busy").write_text(str(os.getppid()))

    def at(_module: str) -> Path:
        return place

    def look(_seconds: float) -> None:
        of_entries.write_object(path, b"of the other")
        path.with_suffix(".busy").unlink(missing_ok=True)

    monkeypatch.setattr(of_entries, "entry_directory", at)
    monkeypatch.setattr(of_entries.time, "sleep", look)
    monkeypatch.setattr(of_entries, "link", Linked)
    assert of_entries.entry_code(run, None).code == b"of the other"  # pyright: ignore[reportAttributeAccessIssue] - stands for a module
    assert not list(place.glob("*.busy"))


def unmarked(path: Path) -> None:
    path.write_bytes(b"")
    os.utime(path, (0.0, 0.0))


DAMAGES: dict[str, Callable[[Path, Path], object]] = {
    "a mark without a number": lambda _, mark: unmarked(mark),
    "a mark that is a folder": lambda _, mark: mark.mkdir(),
    "a mark of nobody": lambda _, mark: mark.write_text("no number"),
    "code that is a folder": lambda code, _: code.mkdir(),
    "code that is cut": lambda code, _: code.write_bytes(b"cut"),
    "code of something else": lambda code, _: of_entries.write_object(code, b"of something else"),
    "a folder that is a file": lambda code, _: (code.parent.rmdir(), code.parent.touch()),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_has_become_of_the_folder_an_entry_is_compiled_without_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    path = place / f"{run.__name__}-{run.__code__.co_firstlineno}.o"
    DAMAGES[damage](path, path.with_suffix(".busy"))

    def at(_module: str) -> Path:
        return place

    def wait(_seconds: float) -> None:
        pytest.fail("nobody is at work")

    monkeypatch.setattr(of_entries, "entry_directory", at)
    monkeypatch.setattr(of_entries.time, "sleep", wait)
    monkeypatch.setattr(of_entries, "link", Linked)
    monkeypatch.setattr(of_entries, "_compiled", machine_code)
    assert of_entries.entry_code(run, None).code == b"machine code"  # pyright: ignore[reportAttributeAccessIssue] - stands for a module


@pytest.mark.slow
def test_notes_of_keys_that_are_damaged_or_cannot_be_kept_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one(_packages: object) -> list[str]:
        return ["tidegate.events.grazing"]

    def keys() -> dict[str, str]:
        kernel_keys._keys.cache_clear()
        return kernel_keys._keys(("tidegate.events",), tmp_path)

    monkeypatch.setattr(kernel_keys, "native_modules", one)
    right = keys()
    place = tmp_path / "keys"
    wholes = {note: note.read_text() for note in place.iterdir()}
    assert len(wholes) == 2  # of the package's text, and of what its modules are made of
    for note, whole in wholes.items():
        for damaged in ("", whole[:-9], "[]", whole.replace("e", "i")):
            note.write_text(damaged)
            assert keys() == right
            assert note.read_text() == whole
    for note in wholes:
        note.unlink()
    place.rmdir()
    place.touch()
    assert keys() == right
    kernel_keys._keys.cache_clear()
