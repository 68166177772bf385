"""The web admin's pages of teams, people and talk."""

from .conversations import ConversationAdmin
from .keys import ApiKeyAdmin
from .logins import MembershipAdmin, StaffUserAdmin
from .people import AgentAdmin, EndUserAdmin, ProjectAdmin, TeamsAdmin

__all__ = [
    "AgentAdmin",
    "ApiKeyAdmin",
    "ConversationAdmin",
    "EndUserAdmin",
    "MembershipAdmin",
    "ProjectAdmin",
    "StaffUserAdmin",
    "TeamsAdmin",
]
