"""``tidegate check``: a model by two engines, or by one and by plain Python (stage: command line). In goes a request, out comes a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

import tidegate
from tidegate.cli.find_model import load_source
from tidegate.cli.run_command import Request, check_request, options_of, span_of
from tidegate.description_tables import model_line
from tidegate.errors import UsageError

__all__ = ["check"]


def check(request: Request, methods: Sequence[str], against: str = "engine") -> bool:
    """Run both engines, or one and the judge, and print the comparison; True if they agree.

    Parameters
    ----------
    request : what to run.
    methods : two of them; none for our own and the SUNDIALS engine that fits. Against Python one is enough.
    against : "engine", or "python" for the model called as plain Python.

    Raises
    ------
    UsageError
        Before anything is run, if an option is wrong.
    """
    check_request(request)
    if against not in ("engine", "python"):
        raise UsageError(f"--against {against} is not known", hint="--against engine or --against python")
    if against == "python" and len(methods) > 1:
        raise UsageError(f"--method names {' and '.join(methods)}; against Python one is judged", hint="--method ida")
    if against == "engine" and methods and len(set(methods)) != 2:
        raise UsageError(f"--method names {' and '.join(methods)}; two different ones are compared", hint="--method radau --method ida")
    source = load_source(request.source)
    model = source.model.lower()
    t_span = span_of(request, source, model.time_unit)
    options = {name: value for name, value in options_of(request, model, t_span).items() if name != "method"}
    console = Console(highlight=False, emoji=False, width=None if Console().is_terminal else 120)
    console.print(model_line(model))
    if against == "python":
        result = tidegate.simulate(source.model, t_span, method=methods[0] if methods else "auto", **options)
        judged = tidegate.verify(result)
        console.print(Text(str(judged)), soft_wrap=True)
        return judged.ok
    found = tidegate.cross_check(source.model, t_span, methods=list(methods) or None, **options)
    console.print(Text(str(found)), soft_wrap=True)
    return found.agrees
