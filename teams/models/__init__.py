"""Teams, their people and agents, and their messages."""

from .conversations import Checkpoint, Conversation, IdempotentRequest, Message, ToldRevision
from .people import (
    Agent,
    AgentAlias,
    AgentVersion,
    ApiKey,
    EndUser,
    Membership,
    Project,
    Role,
    StaffUser,
    Team,
    TeamVersion,
)

__all__ = [
    "Agent",
    "AgentAlias",
    "AgentVersion",
    "ApiKey",
    "Checkpoint",
    "Conversation",
    "EndUser",
    "IdempotentRequest",
    "Membership",
    "Message",
    "Project",
    "Role",
    "StaffUser",
    "Team",
    "TeamVersion",
    "ToldRevision",
]
