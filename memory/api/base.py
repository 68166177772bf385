"""What all endpoints share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, ClassVar, cast
from urllib.parse import unquote_to_bytes

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ParseError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

from memory.api.operations import NotedRequests
from memory.api.output import ProblemSerializer
from teams.principal import Principal
from teams.services.flags import require_memory

PROBLEM_MEDIA = "application/problem+json"
_FIRST_PAGE = Cursor(offset=0, reverse=False, position=None)
_BAD_CURSOR = (
    "This is no cursor of this list. Follow `next` or `previous` of a page as they are, or leave"
    " it out to begin with the first page."
)


def refusals(*codes: int) -> dict[tuple[int, str], OpenApiResponse]:
    """The schema of the refusals an endpoint may answer with."""
    words = {
        401: "The key is missing, wrong or revoked.",
        403: "The key may not do that, or the team has this part switched off.",
        404: "There is no such thing for this key.",
        409: "It conflicts with what is stored or under way.",
        412: "What is stored is at another version than the request asks; nothing was stored.",
        413: "It is larger than what is kept of its kind; nothing was stored.",
        422: "A field is wrong; nothing was stored.",
        503: "A service is away; try again after Retry-After seconds.",
    }
    return {
        (code, PROBLEM_MEDIA): OpenApiResponse(ProblemSerializer, description=words[code])
        for code in (401, *codes, 503)
    }


class ApiViewSet(NotedRequests):
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


class IdPagination(CursorPagination):
    """Pages that do not shift when rows arrive: `limit` rows after a cursor."""

    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 500
    ordering = "-id"
    position_field: ClassVar[serializers.Field[Any, Any, Any, Any]] = serializers.UUIDField()

    def decode_cursor(self, request: Request) -> Cursor | None:
        """The cursor of the request; ValidationError for one that no page gave out."""
        try:
            cursor: Cursor | None = super().decode_cursor(request)
            if cursor == _FIRST_PAGE:
                # What holds nothing of a cursor reads as this; no link to the first page has one.
                raise NotFound
            if cursor is not None and cursor.position is not None:
                self.position_field.run_validation(cursor.position)
        except (NotFound, serializers.ValidationError):
            raise serializers.ValidationError({"cursor": [_BAD_CURSOR]}) from None
        return cursor

    def page_of(
        self, rows: QuerySet[Any], request: Request, serializer: type[serializers.Serializer[Any]]
    ) -> Mapping[str, Any]:
        """The page that the request asks for, as {"next", "previous", "results"}."""
        page = self.paginate_queryset(rows, request) or []
        return {
            "next": self.get_next_link(),
            "previous": self.get_previous_link(),
            "results": serializer(page, many=True).data,
        }


class PositionPagination(IdPagination):
    """Messages in the order they were said."""

    ordering = "position"
    position_field = serializers.IntegerField(min_value=0, max_value=2**31 - 1)


def page_schema(name: str, item: type[serializers.Serializer[Any]]) -> Any:
    """The schema of one page of `item`."""
    page = type(
        name,
        (serializers.Serializer,),
        {
            "__doc__": "One page.",
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": item(many=True),
        },
    )
    # A page is one object, though it answers a list action.
    return extend_schema_serializer(many=False)(page)
