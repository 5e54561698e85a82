# ruff: noqa: ARG001
"""Placeholder until the guest agent's module lands."""

from unmask.model.inside import Inside
from unmask.visits._channel import Agent, NoWayError


def look(agent: Agent, seconds: float) -> tuple[Inside, str]:
    """Refuse."""
    raise NoWayError("not built yet")
