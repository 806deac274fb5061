"""Common intermediate results of callbacks, computed once for the same arguments (DSblock 3.3: ICALL(1), and what a block stores for it)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tidegate.frontends.dsblock.named import Named
from tidegate.frontends.dsblock.python_block import SHARED, Memory
from tidegate.wrong_calls import explained

__all__ = ["shared"]


@explained
def shared[Result](method: Callable[..., Result]) -> Callable[..., Result]:
    """A method of a block that several callbacks ask for the same: ``self.forces(t, x, u, p, m)``.

    What it gave last is kept in the memory of the run, and given again for the same arguments; behind an event it is computed anew. It must depend on
    nothing but its arguments, and on ``m`` as ``start`` and ``event`` leave it.

    Examples
    --------
    >>> import tidegate as tg
    >>> class Falling(tg.DSblock):
    ...     def define(self, declare):
    ...         declare.state("speed", start=0.0)
    ...         declare.output("drag")
    ...
    ...     @tg.dsblock.shared
    ...     def force(self, t, x, u, p, m):
    ...         return 0.5 * x.speed**2
    ...
    ...     def derivatives(self, t, x, u, p, m):
    ...         return 9.81 - self.force(t, x, u, p, m)
    ...
    ...     def outputs(self, t, x, u, p, m):
    ...         return self.force(t, x, u, p, m)
    >>> print(f"{tg.simulate(Falling(), (0, 10)).final['drag']:.3f}")
    9.810
    """

    @functools.wraps(method)
    def once(self: Any, *arguments: Any) -> Result:
        memory = next((item for item in arguments if isinstance(item, Memory)), None)
        vectors = [item.flat for item in arguments if isinstance(item, Named)]
        if memory is None or any(vector.dtype == np.dtype(object) for vector in vectors):
            return method(self, *arguments)
        plain = [item for item in arguments if not isinstance(item, Named | Memory)]
        key = (plain, [vector.tobytes() for vector in vectors])
        kept: dict[str, Any] = vars(memory).setdefault(SHARED, {})
        name = method.__qualname__
        if name not in kept or kept[name][0] != key:
            kept[name] = (key, method(self, *arguments))
        found: Result = kept[name][1]
        return found

    return once
