"""What all endpoints share."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, ClassVar, cast
from urllib.parse import unquote_to_bytes

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from memory.api.callers import NamedAgent, key_viewer, named_agent, named_viewer
from memory.api.request_events import RequestEvents
from memory.api.serializers.base import ProblemSerializer
from memory.domain.viewer import Viewer
from teams.errors import ForbiddenError
from teams.principal import Principal
from teams.services.flags import require_memory
from teams.tenancy import team_scope

PROBLEM_MEDIA = "application/problem+json"
_REFUSALS = {
    401: "The key is missing, wrong or revoked.",
    403: "The key may not do that, or the team has this part switched off.",
    404: "There is no such thing for this key.",
    409: "It conflicts with what is stored or under way.",
    412: "What is stored is at another version than the request asks; nothing was stored.",
    413: "It is larger than what is kept of its kind; nothing was stored.",
    422: "A field is wrong; nothing was stored.",
    503: "A service is away; try again after Retry-After seconds.",
}


def refusals(*codes: int) -> dict[tuple[int, str], OpenApiResponse]:
    """The schema of the refusals an endpoint may answer with."""
    return {
        (code, PROBLEM_MEDIA): OpenApiResponse(ProblemSerializer, description=_REFUSALS[code])
        for code in (401, *codes, 503)
    }


class ApiViewSet(RequestEvents):
    """A viewset whose caller is a `Principal` and whose input is one validated serializer."""

    queryset: QuerySet[Any] | None = None
    filter_backends = ()
    # Which actions remember or retrieve, and are refused where memory is switched off.
    memory_actions: ClassVar[Collection[str]] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Any: Django REST framework's own signature
        """Let the caller in; ForbiddenError for memory where the team has it switched off.

        ParseError for an address whose parameters are no UTF-8.
        """
        super().initial(request, *args, **kwargs)
        _refuse_broken_text(request)
        if self.action in self.memory_actions:
            require_memory(self.principal.flags)

    @property
    def principal(self) -> Principal:
        """Who calls."""
        return cast(Principal, self.request.user)

    @property
    def viewer(self) -> Viewer:
        """The viewer that the key stands for by itself."""
        return key_viewer(self.principal)

    def named_viewer(self, given: dict[str, Any]) -> Viewer:
        """The viewer of the agent, user and project that the input names."""
        return named_viewer(
            principal=self.principal,
            agent=given.get("agent"),
            user=given.get("user"),
            project=given.get("project"),
        )

    def named_agent(self, given: dict[str, Any]) -> NamedAgent:
        """As `named_viewer`, with the agent and the team's revision as of then."""
        return named_agent(
            principal=self.principal,
            agent=given["agent"],
            user=given.get("user"),
            project=given.get("project"),
        )

    def team_scope(self, *, reason: str = "") -> AbstractContextManager[None]:
        """A transaction that sees the rows of the caller's team and no others."""
        principal = self.principal
        return team_scope(team_ids=[principal.team_id], actor=principal.actor, reason=reason)

    def require_team_key(self, message: str) -> None:
        """Raise ForbiddenError with this message when the key acts only as one agent."""
        if self.principal.agent_id is not None:
            raise ForbiddenError(message)

    def body(self, serializer: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The validated body; a missing one counts as an empty object."""
        data = self.request.data if self.request.data is not None else {}
        return cast(dict[str, Any], _body_reader(serializer).run_validation(data))

    def params(self, serializer: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The validated query parameters."""
        checked = serializer(data=self.request.query_params)
        checked.is_valid(raise_exception=True)
        return cast(dict[str, Any], checked.validated_data)


def _refuse_broken_text(request: Request) -> None:
    """Raise ParseError where Django would read other words than were sent."""
    sent = str(request.META.get("QUERY_STRING", ""))
    if "%" not in sent and sent.isascii():
        return
    try:
        unquote_to_bytes(sent.encode("latin-1")).decode()
    except UnicodeError:
        raise ParseError(
            "The parameters of the address are not valid UTF-8: write each of their bytes that is"
            " no ASCII as % and two hexadecimal figures, as in M%C3%BCnchen."
        ) from None


@cache
def _body_reader(serializer: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """One for all requests: it copies all its fields when it is made, and keeps nothing of one."""
    return serializer()
