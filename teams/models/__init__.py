"""Who works here and what they said."""

from .conversations import Checkpoint, Conversation, Message, ToldRevision
from .idempotency import IdempotentRequest
from .people import (
    Agent,
    AgentVersion,
    ApiKey,
    EndUser,
    Membership,
    Project,
    StaffUser,
    Team,
    TeamVersion,
)

__all__ = [
    "Agent",
    "AgentVersion",
    "ApiKey",
    "Checkpoint",
    "Conversation",
    "EndUser",
    "IdempotentRequest",
    "Membership",
    "Message",
    "Project",
    "StaffUser",
    "Team",
    "TeamVersion",
    "ToldRevision",
]
