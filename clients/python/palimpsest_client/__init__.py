"""A typed client of Palimpsest, the memory server for teams of AI agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palimpsest_client.client import AsyncPalimpsest as AsyncPalimpsest
    from palimpsest_client.client import Health as Health
    from palimpsest_client.client import Palimpsest as Palimpsest
    from palimpsest_client.errors import BadRequest as BadRequest
    from palimpsest_client.errors import BudgetExceeded as BudgetExceeded
    from palimpsest_client.errors import ChangedSince as ChangedSince
    from palimpsest_client.errors import Conflict as Conflict
    from palimpsest_client.errors import ConnectionFailed as ConnectionFailed
    from palimpsest_client.errors import Forbidden as Forbidden
    from palimpsest_client.errors import InvalidName as InvalidName
    from palimpsest_client.errors import NotFound as NotFound
    from palimpsest_client.errors import PalimpsestError as PalimpsestError
    from palimpsest_client.errors import Refused as Refused
    from palimpsest_client.errors import ServerError as ServerError
    from palimpsest_client.errors import StreamCut as StreamCut
    from palimpsest_client.errors import TooManyRequests as TooManyRequests
    from palimpsest_client.errors import Unauthorized as Unauthorized
    from palimpsest_client.errors import UnexpectedAnswer as UnexpectedAnswer
else:
    _OF_CLIENT = ("AsyncPalimpsest", "Health", "Palimpsest")
    _ERRORS = (
        "BadRequest",
        "BudgetExceeded",
        "ChangedSince",
        "Conflict",
        "ConnectionFailed",
        "Forbidden",
        "InvalidName",
        "NotFound",
        "PalimpsestError",
        "Refused",
        "ServerError",
        "StreamCut",
        "TooManyRequests",
        "Unauthorized",
        "UnexpectedAnswer",
    )
    __all__ = [*_OF_CLIENT, *_ERRORS]

    def __getattr__(name: str) -> object:
        """Imports the client once it is asked for: hooks of coding agents start without it."""
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = "client" if name in _OF_CLIENT else "errors"
        return getattr(import_module(f"{__name__}.{module}"), name)
