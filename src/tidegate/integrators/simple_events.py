"""Which models have events of the simple kind, that `hybrid_loop.simple_event` knows (stage: integrators)."""

from __future__ import annotations

from tidegate.compiled.compiled_model import CompiledModel
from tidegate.compiled.workspace import FIRST_REMARK, RELATION

__all__ = ["may_be_simple"]


def may_be_simple(model: CompiledModel) -> bool:
    """Whether events of a model may be of that kind."""
    layout = model.layout
    plain = model.mass_kind == 0 and not model.has_opaque and not layout.n_constraints and not layout.n_step_events and not layout.dropping
    relations = not (model.guards.is_opaque.any() or (model.guards.kind != RELATION).any())
    remarks = any(event_action.chain >= FIRST_REMARK for event_action in model.event_actions)
    return plain and relations and not remarks
