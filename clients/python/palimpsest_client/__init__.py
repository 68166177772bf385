"""A typed client of Palimpsest, the memory server for teams of AI agents."""

from palimpsest_client.client import AsyncPalimpsest, Health, Palimpsest
from palimpsest_client.errors import (
    BadRequest,
    BudgetExceeded,
    ChangedSince,
    Conflict,
    ConnectionFailed,
    Forbidden,
    NotFound,
    PalimpsestError,
    Refused,
    ServerError,
    StreamCut,
    TooManyRequests,
    Unauthorized,
    UnexpectedAnswer,
)

__all__ = [
    "AsyncPalimpsest",
    "BadRequest",
    "BudgetExceeded",
    "ChangedSince",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "Health",
    "NotFound",
    "Palimpsest",
    "PalimpsestError",
    "Refused",
    "ServerError",
    "StreamCut",
    "TooManyRequests",
    "Unauthorized",
    "UnexpectedAnswer",
]
