"""What has been worked out of guards at a point, and holds there still (stage: events).

The search for an event, its last correction, the event and the next step ask for the same numbers at the same point. Each kind has a time for which
it stands in memory, NaN where it does not:

* ``late_at``: guards, in run.late_scratch, at the end of the last step;
* ``rounded_at``, ``guards_before_at``, ``slopes_before_at``: round-off levels, guards (run.g) and their slopes (run.slopes) at the point of an event,
  in the mode before it;
* ``known_at``: all three, and y' (run.ydot), at the current point behind an event.

The first and the last outlive the rounds of an event only where no function reads what relations say, or values of before (run.stays_known).
"""

from __future__ import annotations

import numpy as np

from tidegate.compiled.jit import native

__all__ = ["forget_before", "forget_here", "note_guards_before"]


@native
def forget_here(run):
    """Something is about to change at the current point, or has changed."""
    run.known_at = np.nan
    run.late_at = np.nan


@native
def note_guards_before(run, t):
    """Guards are those of the event's point, if that is not moved any more: onto the sides that unknowns keep, or algebraic equations."""
    if run.n_kept == 0 and run.mass_kind == 0:
        run.guards_before_at = t


@native
def forget_before(run):
    """The event is over, and with it the mode before it."""
    run.rounded_at = np.nan
    run.guards_before_at = np.nan
    run.slopes_before_at = np.nan
