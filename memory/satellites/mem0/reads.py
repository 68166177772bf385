"""Search, lists and exports of mem0's protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.core import signing
from django.db.models import Q
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from memory.domain.audience import Viewer
from memory.domain.filters import All, Expression, Field, conditions_of
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.reading.questions import Question, Read
from memory.reading.retrieval import search
from memory.satellites.mem0.inputs import (
    ENTITIES,
    ExportedSerializer,
    ExportSerializer,
    ListSerializer,
    PageSerializer,
    SearchSerializer,
    parse_mem0,
)
from memory.satellites.mem0.protocol import FIELDS, Mem0ViewSet, NotOfferedError, shown
from memory.selectors.filters import matching, named_by
from memory.understanding.tools import default_tools
from teams.errors import InvalidError, NotFoundError, TooLargeError

MAX_EXPORTED = 10_000
_EXPORT = "mem0-export"
_READY = "The export is ready: get_memory_export returns it."


class Mem0Reads(Mem0ViewSet):
    """The endpoints that only read, also where the request is a POST."""

    only_reads = True
    operations = {"search": ("hotpath", "search")}
    memory_actions = ("search", "entries", "create_export", "load_export")

    def search(self, request: Request) -> Response:
        """The memories that match and say most about the question, best first."""
        given = self.body(SearchSerializer)
        expression = parse_mem0(given.get("filters"))
        with self.team_scope():
            names_agent = any(each.field is Field.AGENT for each in conditions_of(expression))
            asking = replace(self.viewer, sees_people=False)
            viewer, expression = named_by(expression, viewer=asking)
            rows = self._rows(expression, given, viewer=viewer)
            if viewer.agent_id is None and not names_agent:
                # What was told to one agent in confidence is for no other.
                rows = rows.exclude(memory_type=MemoryType.AGENT_PRIVATE, end_user__isnull=False)
        moment = given.get("reference_date")
        found = search(
            Read(
                viewer=viewer,
                question=Question(given["query"]),
                rows=rows,
                limit=given["top_k"],
                min_score=given.get("threshold"),
                tools=default_tools(),
                now=moment or timezone.now(),
                is_counted=moment is None,
            )
        )
        with self.team_scope():
            results = shown([each.memory for each in found.memories], fields=given.get("fields"))
        return Response(
            {
                "results": [
                    each | {"score": scored.score}
                    for each, scored in zip(results, found.memories, strict=True)
                ]
            }
        )

    def entries(self, request: Request) -> Response:
        """The memories that match, the latest first, a page at a time."""
        given, page = self.body(ListSerializer), self.params(PageSerializer)
        number, size = page["page"], page["page_size"]
        first = (number - 1) * size
        expression = parse_mem0(given.get("filters"))
        with self.team_scope():
            rows = self._rows(expression, given)
            for name, lookup in (("start_date", "gte"), ("end_date", "lte")):
                if name in given:
                    rows = rows.filter(**{f"created_at__{lookup}": given[name]})
            count = rows.count()
            listed = list(rows.with_names().order_by("-created_at", "-id")[first : first + size])
            results = shown(listed, fields=given.get("fields"))
        here = request.build_absolute_uri()
        after, before = (replace_query_param(here, "page", number + step) for step in (1, -1))
        links = {
            "next": after if first + size < count else None,
            "previous": before if number > 1 else None,
        }
        return Response({"count": count, **links, "results": results})

    def create_export(self, request: Request) -> Response:
        """The id of an export, which says all that it is made of: nothing is stored for it."""
        given = self.body(ExportSerializer)
        asked = {"filters": _filters_of(given), "fields": _fields_named(given["schema"])}
        _all_of(asked["filters"])
        signed = signing.dumps(
            {"team": str(self.principal.team_id), **asked}, salt=_EXPORT, compress=True
        )
        return Response({"id": signed, "message": _READY})

    def load_export(self, request: Request) -> Response:
        """The memories of an export as they are now, the latest first.

        A filter and names beside its id leave fewer of them.
        """
        given = self.body(ExportedSerializer)
        signed = given.get("memory_export_id")
        filters, fields = self._signed(signed) if signed else ([], FIELDS)
        expression = _all_of([*filters, *_filters_of(given)])
        with self.team_scope():
            rows = self._rows(expression, {"show_expired": True})
            found = list(rows.with_names().order_by("-created_at", "-id")[: MAX_EXPORTED + 1])
            if len(found) > MAX_EXPORTED:
                raise TooLargeError(
                    f"An export holds at most {MAX_EXPORTED:,} memories: narrow it by filters, or"
                    " read get_all page by page."
                )
            return Response({"memories": shown(found, fields=fields)})

    def _signed(self, signed: str) -> tuple[Sequence[Any], Sequence[str]]:  # Any: JSON
        try:
            asked = signing.loads(signed, salt=_EXPORT)
        except signing.BadSignature:
            asked = {}
        if asked.get("team") != str(self.principal.team_id):
            raise NotFoundError("There is no such export.")
        return asked["filters"], asked["fields"]

    def _rows(
        self,
        expression: Expression,
        given: Mapping[str, Any],  # Any: checked input
        *,
        viewer: Viewer | None = None,
    ) -> MemoryQuerySet:
        """The current memories that the viewer may see and that match; call it in scope."""
        if viewer is None:
            viewer, expression = named_by(expression, viewer=self.lister({}))
        rows = matching(viewer=viewer, rows=Memory.objects.all().live(), expression=expression)
        if given.get("categories"):
            rows = rows.filter(category__in=given["categories"])
        if not given.get("show_expired"):
            rows = rows.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=timezone.now()))
        return rows


def _filters_of(given: Mapping[str, Any]) -> list[Any]:  # Any: a filter yet to be read
    """The filter, and one of the names that stand beside it."""
    named = {name: given[name] for name in ENTITIES if name in given}
    return [each for each in (given.get("filters"), named) if each]


def _all_of(filters: Sequence[Any]) -> Expression:  # Any: a filter yet to be read
    return All(tuple(parse_mem0(each) for each in filters))


def _fields_named(schema: object) -> list[str]:
    """The fields of a memory that a JSON schema of one, or of a list of them, names.

    Raises NotOfferedError for properties that no memory has.
    """
    if not isinstance(schema, dict):
        raise InvalidError("Must be a JSON schema.", field="schema")
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        raise InvalidError("Must have properties.", field="schema")
    if set(properties) == {"memories"} and isinstance(properties["memories"], dict):
        return _fields_named(properties["memories"].get("items"))
    unknown = [str(name) for name in properties if name not in FIELDS]
    if unknown:
        raise NotOfferedError(
            "schema: an export tells memories as they are stored and fills no form of your own;"
            f" its properties may be {', '.join(FIELDS)}, not {unknown[0][:100]}."
        )
    return list(properties)
