"""`tg.dsblock.export`: a model of any front end as a compiled DSblock. In: a model; out: a file in C or Fortran."""

from __future__ import annotations

from os import PathLike
from typing import Any, Literal

from tidegate.later_stages import later
from tidegate.wrong_calls import explained

__all__ = ["export"]


@explained
def export(source: Any, name: str, *, language: Literal["c", "fortran"] = "c", folder: str | PathLike[str] = ".") -> Any:
    """Write a model as the source text of a block that follows DSblock 3.3.

    The block has the equations of the reduced model with their Jacobian, its events with their rounds, its discrete variables, and parameters with
    texts, units and limits. ``tg.dsblock.build`` compiles and loads it.

    Parameters
    ----------
    source : what can be simulated and is made of expressions: ``tg.ode``, ``tg.dae``, ``tg.hdae``, a component, a diagram.
    name : of the block and of its file: a letter, then letters, digits and underscores.
    language : "c" for C99, "fortran" for free form.
    folder : where the file is put; it is made where it is missing.

    Returns
    -------
    ExportedBlock : ``path`` of the file, ``prefix`` for ``tg.dsblock.build``, and ``names``: the block's name of everything that the model names.

    Raises
    ------
    UsageError : the model holds what such a block cannot carry; nothing is written.
    ModelError : the model itself is wrong.

    Examples
    --------
    >>> import tempfile, tidegate as tg
    >>> decay = tg.ode(lambda t, y, p: [-p["k"] * y["x"]], y0={"x": 1.0}, p={"k": 2.0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = tg.dsblock.export(decay, "decay", folder=folder)
    ...     block = tg.dsblock.build(written, prefix="decay")
    >>> print(f"{tg.simulate(block, (0, 1), rtol=1e-9).final['X']:.6f}")
    0.135335
    """
    return later("export_dsblock")(source, name, language=language, folder=folder)
