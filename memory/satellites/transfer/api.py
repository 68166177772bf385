"""The API of imports and exports."""

from __future__ import annotations

import io
from collections.abc import Iterable
from uuid import UUID

from django.http import StreamingHttpResponse
from django.urls import path
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.parsers import FileUploadParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import AnyOfField, NameField, OneOfField
from memory.api.forms import FORMS
from memory.api.schemas import ApiSerializer, PageQuerySerializer, QuerySerializer, page_schema
from memory.satellites.transfer.exporting import export_person
from memory.satellites.transfer.formats.items import ImportFileError, Names
from memory.satellites.transfer.formats.reading import Format
from memory.satellites.transfer.imports import cancel_import, import_of, start_import
from memory.satellites.transfer.models import ImportRun
from memory.satellites.transfer.team_export import TeamExport
from teams.models.people import Role

JSON_LINES = "application/x-ndjson"
FORMATS = [(each.value, each.value) for each in Format]


class ImportQuerySerializer(QuerySerializer):
    """The format and the owner of an upload."""

    format = OneOfField(
        choices=FORMATS, required=False, help_text="Left out, it is found by the contents."
    )
    agent = NameField(
        required=False, help_text="Of what names no agent: conversations belong to one."
    )
    user = NameField(
        required=False,
        max_length=200,
        help_text="Of what names no user: conversations belong to one.",
    )
    project = NameField(required=False, help_text="Of what names no project.")
    role = OneOfField(
        choices=Role.choices,
        required=False,
        help_text="Of people whom the team does not know yet; left out, that of its new people.",
    )
    extract = serializers.BooleanField(
        required=False, default=True, help_text="Whether memories are made of the messages."
    )
    name = NameField(
        required=False, max_length=200, help_text="The file's name, which names a single note."
    )


class ImportFilterSerializer(PageQuerySerializer):
    """Filters of the list of imports."""

    state = OneOfField(choices=ImportRun.State.choices, required=False)


class ImportProblemSerializer(ApiSerializer):
    """An item that could not be written."""

    place = serializers.CharField(help_text="Where it stands in the file.")
    problem = serializers.CharField()


class ImportRunSerializer(ApiSerializer):
    """An import and how far it got."""

    id = serializers.UUIDField()
    format = serializers.ChoiceField(choices=FORMATS)
    extract = serializers.BooleanField(source="does_extract")
    state = serializers.ChoiceField(choices=ImportRun.State.choices)
    total = serializers.IntegerField(help_text="Messages and memories in the file.")
    done = serializers.IntegerField(help_text="How many of them are stored.")
    new = serializers.IntegerField(help_text="How many of these were not there before.")
    failed = serializers.IntegerField(help_text="How many could not be stored.")
    errors_ = ImportProblemSerializer(many=True, help_text="The first of those that failed.")
    actor = serializers.CharField(help_text="Who asked for it.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


_TEAM_KEY = "Imports and exports need a key of the team, bound to no agent."
ImportPage = page_schema("ImportPage", ImportRunSerializer)


class ExportQuerySerializer(QuerySerializer):
    """The owner of an export, and the parts to include."""

    user = NameField(max_length=200)
    form = AnyOfField(
        choices=FORMS,
        required=False,
        help_text="Only the memories of these forms, with their log and links.",
    )


class JsonLinesRenderer(JSONRenderer):
    """Lets a caller ask for JSON Lines, which the view writes itself; refusals are JSON."""

    media_type = JSON_LINES
    format = "jsonl"


class PersonExportViewSet(ApiViewSet):
    """Everything of one person, to hand out."""

    renderer_classes = (JSONRenderer, JsonLinesRenderer)

    @operation(
        "audit_export",
        query=ExportQuerySerializer,
        answer={
            (200, JSON_LINES): (
                OpenApiTypes.STR,
                "JSON Lines: objects with a `kind` (person, conversation, message, job,"
                " compaction, memory, log, external_name, relation, contradiction, checkpoint,"
                " item, graph_thread, graph_checkpoint, channel_value, pending_write,"
                " event, routing_decision, spend) and all columns; the last line, of the kind"
                " `end`, counts the others.",
            )
        },
        team_key=_TEAM_KEY,
    )
    def export(self, given: Given) -> StreamingHttpResponse:
        """Everything stored about one person; a stream without its last line is incomplete.

        Needs a team key, as a key of one agent sees only a part.
        """
        lines = export_person(
            viewer=self.viewer,
            user=given["user"],
            now=timezone.now(),
            forms=given.get("form", ()),
        )
        return lines_file(lines, "export.jsonl")


class ExportViewSet(ApiViewSet):
    """Everything of a team, to take along."""

    renderer_classes = (JSONRenderer, JsonLinesRenderer)

    @operation(
        "team_export",
        query=QuerySerializer,
        answer={
            (200, JSON_LINES): (
                OpenApiTypes.STR,
                "JSON Lines: a header, each row as `table` and `row`, and a `manifest`"
                " with the rows and the SHA-256 of each table's lines and the log's latest seal.",
            )
        },
        refuses=(403, 422),
        team_key=_TEAM_KEY,
    )
    def export(self, given: Given) -> StreamingHttpResponse:
        """Everything of the team as it stands now; a stream without its manifest is incomplete.

        API keys and logins are not in it. `manage.py import_team` brings it into another
        installation. Needs a key of the team.
        """
        team_id, actor = self.principal.team_id, self.principal.actor
        return lines_file(
            TeamExport(team_id=team_id, actor=actor, now=timezone.now()), "team.jsonl"
        )


def lines_file(lines: Iterable[bytes], name: str) -> StreamingHttpResponse:
    """Sends lines of JSON as a file of that name.

    The response closes them where the client goes away: left to the garbage collector, a
    transaction of theirs would end in another thread, inside a request of somebody else.
    """
    return StreamingHttpResponse(
        iter(lines),
        content_type=JSON_LINES,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


class ImportViewSet(ApiViewSet):
    """Files of other systems on their way into the team's memory."""

    parser_classes = (FileUploadParser,)
    memory_actions = ("start",)

    def check_permissions(self, request: Request) -> None:
        """Also ForbiddenError for a key of one agent."""
        super().check_permissions(request)
        self.require_team_key(_TEAM_KEY)

    @operation(
        "imports_start",
        query=ImportQuerySerializer,
        body={"application/octet-stream": OpenApiTypes.BINARY},
        answer={202: ImportRunSerializer},
        refuses=(403, 409, 413, 422),
    )
    def start(self, given: Given) -> Response:
        """Import a file, sent as the body: its format is found by the contents.

        ChatGPT and Claude exports (the zip or its conversations.json), mem0 exports, Letta agent
        files, edges of Graphiti, LangGraph stores as JSON Lines, notes in Markdown (one or a zip),
        JSON Lines and CSV. The whole file is checked first: where something is wrong, the answer
        names the place and nothing is imported. Then it is written in the background (202). Sent
        again, it stores nothing twice. Needs a key of the team.
        """
        if (self.request.content_type or "").startswith("multipart/"):
            raise ImportFileError("Send the file itself as the body: curl --data-binary @FILE.")
        run = start_import(
            viewer=self.viewer,
            source=io.BytesIO(self.request._request.body),
            names=Names(**{name: given.get(name, "") for name in ("agent", "user", "project")}),
            now=timezone.now(),
            format=Format(given["format"]) if given.get("format") else None,
            name=given.get("name", "import"),
            does_extract=given["extract"],
            new_role=given.get("role", ""),
        )
        return Response(ImportRunSerializer(run).data, status=202)

    @operation("imports_list", query=ImportFilterSerializer, answer=ImportPage, refuses=(403, 422))
    def entries(self, given: Given) -> Response:
        """The imports of the team, newest first."""
        with self.team_scope():
            rows = ImportRun.objects.filter(team_id=self.viewer.team_id, **given)
            return self.page(rows, ImportRunSerializer)

    @operation("imports_retrieve", query=QuerySerializer, answer=ImportRunSerializer)
    def load(self, given: Given, pk: UUID) -> Response:
        """An import with how far it got."""
        with self.team_scope():
            return Response(ImportRunSerializer(import_of(viewer=self.viewer, run_id=pk)).data)

    @operation(
        "imports_cancel", query=QuerySerializer, answer=ImportRunSerializer, refuses=WITH_CONFLICT
    )
    def cancel(self, given: Given, pk: UUID) -> Response:
        """End an import before its next batch; what it stored stays. Needs a key of the team."""
        run = cancel_import(viewer=self.viewer, run_id=pk, now=timezone.now())
        return Response(ImportRunSerializer(run).data)


urlpatterns = [
    path("audit/export", PersonExportViewSet.as_view({"get": "export"})),
    path("export", ExportViewSet.as_view({"get": "export"})),
    path("imports", ImportViewSet.as_view({"post": "start", "get": "entries"})),
    path("imports/<uuid:pk>", ImportViewSet.as_view({"get": "load", "delete": "cancel"})),
]
