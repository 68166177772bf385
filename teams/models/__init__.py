"""Who works here and what they said."""

from .agent_version import AgentVersion
from .checkpoint import Checkpoint
from .conversations import Conversation, Message
from .idempotency import IdempotentRequest
from .keys import ApiKey
from .people import Agent, EndUser, Membership, Project, StaffUser, Team
from .team_version import TeamVersion
from .told import ToldRevision

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
