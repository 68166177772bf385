"""The web admin's pages of teams, people and talk."""

from .agents import AgentAdmin
from .checkpoints import CheckpointAdmin
from .conversations import ConversationAdmin
from .keys import ApiKeyAdmin
from .logins import MembershipAdmin, StaffUserAdmin
from .people import EndUserAdmin, ProjectAdmin
from .teams import TeamsAdmin
from .versions import AgentVersionAdmin, TeamVersionAdmin

__all__ = [
    "AgentAdmin",
    "AgentVersionAdmin",
    "ApiKeyAdmin",
    "CheckpointAdmin",
    "ConversationAdmin",
    "EndUserAdmin",
    "MembershipAdmin",
    "ProjectAdmin",
    "StaffUserAdmin",
    "TeamVersionAdmin",
    "TeamsAdmin",
]
