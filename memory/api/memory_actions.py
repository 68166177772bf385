"""What can be done to one memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import key_viewer
from memory.api.input import (
    CorrectionSerializer,
    FeedbackSerializer,
    PinSerializer,
    ReasonSerializer,
)
from memory.api.operations import memory_event, write_event
from memory.api.output import (
    MemorySerializer,
    RelatedMemorySerializer,
    RelatedSerializer,
    WrittenMemorySerializer,
    warnings_of,
)
from memory.api.parameters import NoQuerySerializer
from memory.clients.tools import default_tools
from memory.domain.feedback import Feedback
from memory.models import Memory
from memory.selectors.memories import memory_for
from memory.selectors.relations import related_to
from memory.services.deciding.corrections import correct_memory, give_feedback
from memory.services.deciding.restoring import restore_memory
from memory.services.deciding.state import pin_memory
from memory.services.writing.drafts import Outcome, WriteResult
from teams.tenancy import team_scope


class MemoryActions(ApiViewSet):
    """Pin, correct, judge and look around one memory."""

    @extend_schema(
        request=PinSerializer, responses={200: MemorySerializer, **refusals(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def pin(self, request: Request, pk: UUID) -> Response:
        """Pin a memory so that it is in every prompt of its audience, or unpin it."""
        given = self.body(PinSerializer)
        memory = pin_memory(
            viewer=key_viewer(self.principal),
            memory_id=pk,
            pinned=given["pinned"],
            reason=given.get("reason") or "",
        )
        self.noted([memory_event("update", memory)])
        return self.shown(memory.pk)

    @extend_schema(
        request=ReasonSerializer, responses={200: MemorySerializer, **refusals(403, 404, 409, 422)}
    )
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: UUID) -> Response:
        """Bring back a deleted or archived memory, unless the same fact stands again by now.

        What stands by now and contradicts it makes both disputed, and what is newer supersedes it;
        what people settled as wrong comes back disputed.
        """
        given = self.body(ReasonSerializer)
        memory = restore_memory(
            viewer=key_viewer(self.principal),
            memory_id=pk,
            tools=default_tools(),
            reason=given.get("reason") or "",
        )
        self.noted([memory_event("update", memory)])
        return self.shown(memory.pk)

    @extend_schema(
        request=CorrectionSerializer,
        responses={
            201: WrittenMemorySerializer,
            200: OpenApiResponse(
                WrittenMemorySerializer,
                description="A duplicate: the existing memory, which this one gave way to.",
            ),
            **refusals(403, 404, 409, 422),
        },
    )
    @action(detail=True, methods=["post"])
    def correct(self, request: Request, pk: UUID) -> Response:
        """Write a new version that supersedes this one; answers with the memory that now stands."""
        given = self.body(CorrectionSerializer)
        result = correct_memory(
            viewer=key_viewer(self.principal),
            memory_id=pk,
            corrected_content=given["corrected_content"],
            reason=given.get("reason") or "",
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([write_event(result, op="update")])
        (shown,) = self.written([result])
        return Response(shown, status=code_of(result))

    @extend_schema(
        request=FeedbackSerializer,
        responses={200: MemorySerializer, **refusals(403, 404, 409, 422)},
    )
    @action(detail=True, methods=["post"])
    def feedback(self, request: Request, pk: UUID) -> Response:
        """Say what became of a memory; "wrong" opens a dispute, "helpful" raises importance."""
        given = self.body(FeedbackSerializer)
        memory = give_feedback(
            viewer=key_viewer(self.principal),
            memory_id=pk,
            signal=Feedback(given["signal"]),
            note=given.get("note") or "",
        )
        self.noted([memory_event("update", memory)])
        return self.shown(memory.pk)

    @extend_schema(responses={200: RelatedSerializer, **refusals(403, 404, 422)})
    @action(detail=True, methods=["get"])
    def related(self, request: Request, pk: UUID) -> Response:
        """Memories one edge away, the strongest first."""
        self.params(NoQuerySerializer)
        viewer = key_viewer(self.principal)
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            memory = memory_for(viewer=viewer, memory_id=pk)
            found = related_to(viewer=viewer, memory=memory)
            return Response({"results": RelatedMemorySerializer(found, many=True).data})

    def shown(self, memory_id: UUID) -> Response:
        """The memory as it stands now."""
        viewer = key_viewer(self.principal)
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            memory = memory_for(viewer=viewer, memory_id=memory_id)
            return Response(MemorySerializer(memory).data)

    def written(self, results: Sequence[WriteResult]) -> list[dict[str, Any]]:
        """The stored rows as they stand after the whole write, each with what happened."""
        with team_scope(team_ids=[self.principal.team_id], actor=self.principal.actor):
            rows = Memory.objects.filter(
                team_id=self.principal.team_id, pk__in={item.memory.pk for item in results}
            ).with_names()
            by_id = {row.pk: row for row in rows}
            shown = []
            for item in results:
                row = by_id[item.memory.pk]
                row.outcome = item.outcome.value  # type: ignore[attr-defined]
                row.warnings = warnings_of(item)  # type: ignore[attr-defined]
                shown.append(dict(WrittenMemorySerializer(row).data))
            return shown


def code_of(result: WriteResult) -> int:
    """200 for what was there already, else 201."""
    duplicate = result.outcome == Outcome.DUPLICATE
    return status.HTTP_200_OK if duplicate else status.HTTP_201_CREATED
