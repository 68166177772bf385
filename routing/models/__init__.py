"""What talking to language models takes, and what it leaves behind."""

from .decisions import RoutingDecision
from .models import ChatModel, Provider
from .spend import SpendEntry, SpendEpoch, SpendReservation, SpendTotal

__all__ = [
    "ChatModel",
    "Provider",
    "RoutingDecision",
    "SpendEntry",
    "SpendEpoch",
    "SpendReservation",
    "SpendTotal",
]
