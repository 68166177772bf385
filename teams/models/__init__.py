"""Who works here and what they said."""

from .conversations import Conversation, Message
from .idempotency import IdempotentRequest
from .keys import ApiKey
from .people import Agent, EndUser, Membership, Project, StaffUser, Team

__all__ = [
    "Agent",
    "ApiKey",
    "Conversation",
    "EndUser",
    "IdempotentRequest",
    "Membership",
    "Message",
    "Project",
    "StaffUser",
    "Team",
]
