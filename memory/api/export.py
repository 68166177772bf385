"""All that is held about one person, as a stream of JSON lines."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import key_viewer
from memory.api.fields import NameField
from memory.api.parameters import QuerySerializer
from memory.api.renderers import StreamRenderer
from memory.services.exporting import export_person

MEDIA_TYPE = "application/x-ndjson"


class JsonLinesRenderer(StreamRenderer):
    """JSON Lines."""

    media_type = MEDIA_TYPE
    format = "jsonl"


class ExportQuerySerializer(QuerySerializer):
    """Whose."""

    user = NameField(max_length=200)


class ExportViewSet(ApiViewSet):
    """What the team holds about a person."""

    renderer_classes = (JSONRenderer, JsonLinesRenderer)
    serializer_class = ExportQuerySerializer

    @extend_schema(
        operation_id="audit_export",
        parameters=[ExportQuerySerializer],
        responses={
            (200, MEDIA_TYPE): OpenApiResponse(
                OpenApiTypes.STR,
                description="JSON Lines: objects with a `kind` (person, conversation, message, job,"
                " compaction, memory, log, external_name, relation, contradiction, checkpoint,"
                " event, routing_decision, spend) and all columns; the last line, of the kind"
                " `end`, counts the others.",
            ),
            **refusals(403, 404, 422),
        },
    )
    def export(self, request: Request) -> StreamingHttpResponse:
        """Everything that is held about one person; a stream without its last line was cut off.

        It needs a key of the team, as a key of one agent sees only its part.
        """
        given = self.params(ExportQuerySerializer)
        found = export_person(
            viewer=key_viewer(self.principal), user=given["user"], now=timezone.now()
        )
        return StreamingHttpResponse(
            found,
            content_type=MEDIA_TYPE,
            headers={"Content-Disposition": 'attachment; filename="export.jsonl"'},
        )
