"""What the machine code of the kernel is made of (stage: compiled). In: modules with native functions; out: the text of all they can reach.

Numba looks only at the date of the file a function stands in, not at what that calls or at the constants it freezes. So the files with native
functions are taken whole, and of every other file the definitions that they reach through their imports, one leading to the next.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tidegate.cache_folder import SHIPPED

__all__ = ["all_sources", "forget_sources", "kernel_sources", "native_modules"]

_ROOT: Final = Path(__file__).resolve().parents[2]
_PACKAGE: Final = "tidegate"
_WITHOUT: Final = (SHIPPED, "__pycache__")  # folders in which there is no source
_ENTRY: Final = "kernel_entry("
# what is said of a function, and comments on lines of their own
_TEXT: Final = re.compile(r'^ *""".*?"""[^\n]*$|^ *#[^\n]*$', re.DOTALL | re.MULTILINE)
_NAME: Final = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")
_NATIVE: Final = "tidegate.compiled.jit"  # who imports it has native functions
# where everything stands in a run's memory, and how Numba is told of what modules hold: no name leads there, and all depend on it
_BENEATH: Final = ("tidegate.compiled.run_type", "tidegate.compiled.numba_types")


def native_modules(folders: Iterable[str]) -> list[str]:
    """Names of all modules with native functions in these packages."""
    found: list[str] = []
    for folder in folders:
        for path in sorted((_ROOT / folder.replace(".", "/")).rglob("*.py")):
            name = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
            if _NATIVE in path.read_text(encoding="utf-8") and any(target == _NATIVE for target, _ in _module(name).imports.values()):
                found.append(name)
    return found


def all_sources() -> list[str]:
    """Every file of the package, for telling quickly that nothing has changed: in front of every process's first run, so without Path."""
    found: list[str] = []
    for folder, inner, names in os.walk(_ROOT / _PACKAGE):
        found += [os.path.join(folder, name) for name in names if name.endswith(".py")]  # noqa: PTH118
        inner[:] = [name for name in inner if name not in _WITHOUT]
    return sorted(found)


def kernel_sources(roots: Iterable[str], entries_by_name: bool = False) -> dict[str, str]:
    """Text by module, or by module and name, of everything that native functions in these modules are made of.

    Parameters
    ----------
    roots : names of modules.
    entries_by_name : kernel entries of other modules count with their names and types only, since they are not linked in but called.
    """
    found: dict[str, str] = {}
    waiting: list[tuple[str, str]] = []
    for root in (*roots, *_BENEATH):
        whole, reached = _at(root, "*", entries_by_name)
        found |= whole
        waiting += reached
    seen: set[tuple[str, str]] = set()
    while waiting:
        place = waiting.pop()
        if place not in seen:
            seen.add(place)
            if place[0] not in found:
                texts, reached = _at(*place, entries_by_name)
                found |= texts
                waiting += reached
    return found


@cache
def _at(name: str, wanted: str, entries_by_name: bool) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """What stands at one place, by module or by module and name, and what that reaches."""
    if _file(name) is None:
        return {}, []
    module = _module(name)
    if wanted == "*":  # the module itself is handed on
        return {name: module.text}, [reached for statement in module.tree.body for reached in module.reached(statement)]
    if wanted in module.imports:
        return {}, [module.imports[wanted]]
    texts: dict[str, str] = {}
    reached: list[tuple[str, str]] = []
    for what, statements in ((wanted, module.defining.get(wanted, ())), ("", module.acting)):
        for number, whole in enumerate(statements):
            statement = _head(whole) if entries_by_name else whole
            texts[f"{name}:{number}:{what}"] = module.written(statement)
            reached += module.reached(statement)
    return texts, reached


def forget_sources() -> None:
    """Give back the memory of what was read: some hundred thousand objects, through which Python goes once and again, and when it ends."""
    for kept in (_module, _at, _head):
        kept.cache_clear()


class _SourceModule:
    """One file.

    Attributes
    ----------
    imports : name -> module and name in it, ``"*"`` for the module itself.
    defining : name -> the statements on the outer level that bind it.
    acting : statements on the outer level that do something else.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.imports: dict[str, tuple[str, str]] = {}
        self.defining: dict[str, list[ast.stmt]] = {}
        self.acting: list[ast.stmt] = []
        self._lines = self.text.splitlines()
        self._statements = set(self.tree.body)
        self._reached: dict[ast.stmt, list[tuple[str, str]]] = {}
        for statement in self.tree.body:
            if not _is_for_types(statement):
                self._note(statement)

    def _note(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self.imports |= _imported(statement)
            return
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            names = {statement.name}
        else:
            names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for name in names:
            self.defining.setdefault(name, []).append(statement)
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not names and not is_text:
            self.acting.append(statement)

    def written(self, statement: ast.stmt) -> str:
        """The lines of a statement on the outer level, or of what is left of one."""
        if statement not in self._statements:
            return ast.unparse(statement)
        first = min([statement.lineno, *(item.lineno for item in getattr(statement, "decorator_list", ()))])
        return "\n".join(self._lines[first - 1 : statement.end_lineno])

    def reached(self, statement: ast.stmt) -> list[tuple[str, str]]:
        """Modules and names that a statement refers to; found once, since every module of the kernel comes by here."""
        if statement not in self._reached:
            self._reached[statement] = list(dict.fromkeys(self._look(statement)))
        return self._reached[statement]

    def _look(self, statement: ast.stmt) -> Iterator[tuple[str, str]]:
        """By words, which takes a quarter of the time that a walk through the tree does; one in a comment is no harm."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return
        text = _TEXT.sub("", self.written(statement))
        for found in _NAME.finditer(text):
            owner, attribute = found.groups()
            if owner in self.imports:
                module, name = self.imports[owner]
                yield module, (attribute or "*") if name == "*" else name
            elif any(other is not statement for other in self.defining.get(owner, ())):
                yield self.name, owner
        if "import" in text:
            for node in ast.walk(statement):
                if isinstance(node, ast.Import | ast.ImportFrom) and statement is not node:
                    yield from _imported(node).values()


@cache
def _module(name: str) -> _SourceModule:
    path = _file(name)
    assert path is not None, name
    return _SourceModule(name, path)


def _file(name: str) -> Path | None:
    return _file_in(_ROOT, name)


@cache
def _file_in(root: Path, name: str) -> Path | None:
    base = root / name.replace(".", "/")
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _imported(statement: ast.Import | ast.ImportFrom) -> dict[str, tuple[str, str]]:
    if isinstance(statement, ast.Import):
        return {item.asname or item.name: (item.name, "*") for item in statement.names if item.name.startswith(_PACKAGE)}
    module = statement.module or ""
    if not module.startswith(_PACKAGE):
        return {}
    found: dict[str, tuple[str, str]] = {}
    for item in statement.names:
        inner = f"{module}.{item.name}"
        found[item.asname or item.name] = (inner, "*") if _file(inner) is not None else (module, item.name)
    return found


@cache
def _head(statement: ast.stmt) -> ast.stmt:
    """A kernel entry without its body; other statements as they are."""
    if not isinstance(statement, ast.FunctionDef) or not any(_ENTRY in ast.unparse(item) for item in statement.decorator_list):
        return statement
    head = ast.FunctionDef(statement.name, statement.args, [ast.Pass()], statement.decorator_list, type_params=[])
    return ast.fix_missing_locations(ast.copy_location(head, statement))


def _is_for_types(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test)
