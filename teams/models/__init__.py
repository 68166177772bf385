"""Who works here and what they said."""

from .conversations import Conversation, Message
from .idempotency import IdempotentRequest
from .keys import ApiKey
from .people import Agent, EndUser, Membership, Project, StaffUser, Team
from .threads import Checkpoint, ToldRevision
from .versions import AgentVersion, TeamVersion

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
