"""The web admin's pages of providers, models, what was decided and what was spent."""

from .chat_models import ChatModelAdmin
from .decisions import RoutingDecisionAdmin
from .providers import ProviderAdmin
from .spend import SpendEntryAdmin, SpendTotalAdmin

__all__ = [
    "ChatModelAdmin",
    "ProviderAdmin",
    "RoutingDecisionAdmin",
    "SpendEntryAdmin",
    "SpendTotalAdmin",
]
