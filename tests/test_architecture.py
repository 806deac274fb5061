"""The house keeps its order: data flows one way, files stay short, and every module says what it is for and what it offers."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tidegate"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 600
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "base"}
HEAVY = {"numba", "llvmlite", "scipy", "xarray", "pandas", "matplotlib", "typer", "rich", "netCDF4"}


@pytest.mark.slow
def test_imports_keep_the_contracts() -> None:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_modules_are_short_described_and_export_their_names() -> None:
    assert [f"{path.relative_to(PACKAGE)}: {what}" for path in MODULES for what in _faults(path)] == []


def _faults(path: Path) -> Iterator[str]:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    if source.count("\n") > MAX_LINES:
        yield f"more than {MAX_LINES} lines"
    if not ast.get_docstring(tree):
        yield "a module opens with what it does"
    exported = _exports(tree)
    if exported is None:
        yield "__all__ is missing"
        return
    if len(exported) != len(set(exported)):
        yield "__all__ has a name twice"
    if path.name != "__init__.py" and not set(exported) <= _defined(tree):
        yield "__all__ names what the module does not define"


@pytest.mark.slow
def test_modules_have_names_that_say_something() -> None:
    parts = {path: {part.removesuffix(".py") for part in path.relative_to(PACKAGE).parts} for path in MODULES}
    assert [path for path, names in parts.items() if names & NAMES_THAT_SAY_NOTHING] == []


def test_folders_are_packages() -> None:
    assert [folder for folder in sorted({path.parent for path in MODULES}) if not (folder / "__init__.py").is_file()] == []


def test_which_name_is_meant_is_known_in_one_place() -> None:
    assert [path.name for path in MODULES if "difflib" in path.read_text(encoding="utf-8")] == ["names.py"]


def test_what_belongs_to_later_stages_is_found_there() -> None:
    """Neither import-linter nor a type checker sees these names."""
    from tidegate import later_stages

    for name in later_stages._HOMES:
        assert callable(later_stages.later(name))


@pytest.mark.slow
def test_tables_and_plots_of_csmp_load_no_machine() -> None:
    machine = {"llvmlite", "tidegate.csmp.machine", "tidegate.csmp.execution"}
    code = f"import sys, tidegate.csmp.trans; sys.exit(' '.join({machine!r} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"TRANS loads {done.stderr}"


@pytest.mark.slow
def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, tidegate; sys.exit(' '.join({HEAVY!r} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"import tidegate loads {done.stderr}"


@pytest.mark.slow
def test_help_of_the_command_line_loads_no_simulator() -> None:
    heavy = HEAVY - {"typer", "rich"} | {"numpy"}
    code = f"import sys; import tidegate.cli.app; sys.exit(' '.join({heavy!r} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the command line loads {done.stderr}"


def test_public_names_exist() -> None:
    import tidegate

    assert [name for name in tidegate.__all__ if not hasattr(tidegate, name)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        "import tidegate.simulate",
        pytest.param("from tidegate.simulate import prepare", marks=pytest.mark.slow),
        pytest.param("import tidegate; tidegate.prepare", marks=pytest.mark.slow),
    ],
)
def test_simulate_is_the_function_whatever_was_imported_first(first: str) -> None:
    code = f"{first}; import tidegate; import sys; sys.exit(type(tidegate.simulate).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "function"


def _exports(tree: ast.Module) -> list[str] | None:
    for statement in tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == "__all__":
            assert isinstance(statement, ast.Assign | ast.AnnAssign)
            assert statement.value is not None
            try:
                return list(ast.literal_eval(statement.value))
            except ValueError:
                # put together from other lists: those have their own test
                return []
    return None


def _defined(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.TypeAlias):
            names.add(node.name.id)
    return names
