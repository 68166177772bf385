"""Pages that do not shift when rows arrive: `limit` rows after a cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

# Of all texts of a page together: 500 memories may have 16 million.
MOST_PAGE_CHARS = 1_000_000
# The columns that may be long, of whichever model a list is.
_TEXTS = ("content", "payload", "state", "document", "personality", "rules", "skills")
_FIRST_PAGE = Cursor(offset=0, reverse=False, position=None)
BAD_CURSOR = (
    "This is no cursor of this list. Follow `next` or `previous` of a page as they are, or leave"
    " it out to begin with the first page."
)


def _chars_of(row: Any) -> int:  # Any: a row of any model
    """About how long its texts are, those in JSON included."""
    values = (row.__dict__.get(name) for name in _TEXTS)
    return sum(len(each if isinstance(each, str) else str(each)) for each in values if each)


class IdPagination(CursorPagination):
    """Rows by their ids, the latest first.

    A page has `limit` rows, and fewer where their texts are longer than a million characters.
    """

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
                position = self.position_field.run_validation(cursor.position)
                text: Any = str(position)  # which the framework's types call a number
                cursor = cursor._replace(position=text)
        except (NotFound, serializers.ValidationError):
            raise serializers.ValidationError({"cursor": [BAD_CURSOR]}) from None
        return cursor

    def paginate_queryset(
        self, queryset: QuerySet[Any] | Sequence[Any], request: Request, view: Any = None
    ) -> list[Any]:
        # Any: rows of any model, and Django REST framework's own views
        """The rows of the page, cut behind those whose texts fill it; one at least."""
        rows: list[Any] = super().paginate_queryset(queryset, request, view) or []
        is_reverse = self.cursor is not None and self.cursor.reverse
        page = rows[::-1] if is_reverse else rows
        fills = accumulate(map(self.chars_of, page))
        fitting = max(1, sum(filled <= MOST_PAGE_CHARS for filled in fills))
        self.page = rows
        if fitting < len(rows):
            # What the links count by where rows share one position.
            self.page_size = fitting
            behind = self._get_position_from_instance(page[fitting], self.ordering)
            if is_reverse:
                self.page, self.has_previous = page[:fitting][::-1], True
                self.previous_position = behind
            else:
                self.page, self.has_next, self.next_position = page[:fitting], True, behind
        return self.page

    def chars_of(self, row: Any) -> int:  # Any: as above
        """About how long the row is in an answer."""
        return _chars_of(row)

    def page_of(
        self, rows: QuerySet[Any], request: Request, serializer: type[serializers.Serializer[Any]]
    ) -> Mapping[str, Any]:
        """The page that the request asks for, as {"next", "previous", "results"}."""
        page = self.paginate_queryset(rows, request) or []
        return self.links() | {"results": serializer(page, many=True).data}

    def links(self) -> dict[str, Any]:
        """The cursors of the previous and the next page."""
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
