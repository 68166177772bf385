"""The web admin's pages of teams, people and talk."""

from .agents import AgentAdmin, AgentVersionAdmin
from .checkpoints import CheckpointAdmin
from .conversations import ConversationAdmin
from .keys import ApiKeyAdmin
from .logins import MembershipAdmin, StaffUserAdmin
from .people import EndUserAdmin, ProjectAdmin
from .team_versions import TeamVersionAdmin
from .teams import TeamsAdmin

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
