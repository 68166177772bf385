"""Pages that do not shift when rows arrive: `limit` rows after a cursor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

_FIRST_PAGE = Cursor(offset=0, reverse=False, position=None)
BAD_CURSOR = (
    "This is no cursor of this list. Follow `next` or `previous` of a page as they are, or leave"
    " it out to begin with the first page."
)


class IdPagination(CursorPagination):
    """Rows by their ids, the latest first."""

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
            raise serializers.ValidationError({"cursor": [BAD_CURSOR]}) from None
        return cursor

    def page_of(
        self, rows: QuerySet[Any], request: Request, serializer: type[serializers.Serializer[Any]]
    ) -> Mapping[str, Any]:
        """The page that the request asks for, as {"next", "previous", "results"}."""
        page = self.paginate_queryset(rows, request) or []
        return self.links() | {"results": serializer(page, many=True).data}

    def links(self) -> dict[str, Any]:
        """Where the pages before and after the one just read are."""
        return {"next": self.get_next_link(), "previous": self.get_previous_link()}


class PositionPagination(IdPagination):
    """Messages in the order they were said."""

    ordering = "position"
    position_field = serializers.IntegerField(min_value=0, max_value=2**31 - 1)


class SlugPagination(IdPagination):
    """Agents and projects by their slugs."""

    ordering = "slug"
    position_field = serializers.CharField(max_length=100, trim_whitespace=False)


class VersionPagination(IdPagination):
    """Versions, the latest first."""

    ordering = "-number"
    position_field = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class LogPagination(IdPagination):
    """The log, the latest first."""

    ordering = "-seq"
    position_field = serializers.IntegerField(min_value=0, max_value=2**63 - 1)
