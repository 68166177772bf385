"""Threads by the names their agents use: their saved states, by user and agent."""

from __future__ import annotations

from datetime import datetime

from memory.domain.audience import Viewer
from teams.errors import UNCONDITIONAL, Condition
from teams.services.checkpoints import Saved, ThreadKey, checkpoint_text, save_checkpoint
from teams.services.people import ensure_agent, ensure_end_user_id
from teams.tenancy import team_scope


def save_state(
    *,
    viewer: Viewer,
    agent: str | None,
    user: str,
    thread_id: str,
    data: dict[str, object],
    now: datetime,
    condition: Condition = UNCONDITIONAL,
) -> Saved:
    """Save a thread's state; user and agent are created when first named.

    A viewer of one agent saves that agent's state. Raises what `checkpoint_text` and
    `save_checkpoint` raise.
    """
    text = checkpoint_text(data)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        agent_id = viewer.agent_id
        if agent_id is None and agent is not None:
            agent_id = ensure_agent(team_id=viewer.team_id, slug=agent).pk
        end_user_id = ensure_end_user_id(team_id=viewer.team_id, external_id=user)
        return save_checkpoint(
            key=ThreadKey(viewer.team_id, end_user_id, thread_id, agent_id),
            text=text,
            actor=viewer.actor,
            now=now,
            condition=condition,
        )
