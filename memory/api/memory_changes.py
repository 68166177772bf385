"""Changes and deletion of stored memories."""

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

from memory.api.base import ApiViewSet, answers, refusals
from memory.api.events import signals_of
from memory.api.memories import (
    CorrectionSerializer,
    FeedbackSerializer,
    MemorySerializer,
    MoveSerializer,
    PinSerializer,
    PromotedMemorySerializer,
    PromoteSerializer,
    ReasonQuerySerializer,
    ReasonSerializer,
    WrittenMemorySerializer,
    warnings_of,
)
from memory.api.memory_json import memory_json
from memory.api.request_events import memory_event, write_event
from memory.domain.forms import Form
from memory.domain.judgements import Feedback
from memory.domain.types import MemoryType, Scope, Work
from memory.models import Memory
from memory.selectors.memories import memory_for
from memory.understanding.tools import default_tools
from memory.writing.decisions.changes import (
    correct_memory,
    delete_memory,
    give_feedback,
    pin_memory,
)
from memory.writing.decisions.moving import Move, move_memory, promote_memory, restore_memory
from memory.writing.drafts import Outcome, WriteResult
from memory.writing.stating import check_may_confirm

# Any: what drf-spectacular takes for a response
_CHANGED: dict[Any, Any] = answers(MemorySerializer, 403, 404, 409, 422)


HELD = (
    "It would change a profile field of a person or a preference of the team: it waits as a consent"
    " request."
)


class MemoryWrites(ApiViewSet):
    """A viewset whose actions write memories."""

    def written(self, results: Sequence[WriteResult]) -> Sequence[dict[str, Any]]:
        """The stored rows as they stand after the whole write, each with what happened."""
        # What was just made has not been used.
        are_used = any(item.outcome is not Outcome.CREATED for item in results)
        with self.team_scope():
            rows = Memory.objects.filter(
                team_id=self.principal.team_id, pk__in={item.memory.pk for item in results}
            ).with_names(usage=are_used)
            by_id = {row.pk: memory_json(row) for row in rows}
        return [
            {
                **by_id[item.memory.pk],
                "outcome": item.outcome.value,
                "warnings": warnings_of(item),
                "consent_request": item.consent_request,
            }
            for item in results
        ]


class MemoryChanges(MemoryWrites):
    """What may be done to a stored memory."""

    serializer_class = MemorySerializer

    @extend_schema(request=MoveSerializer, responses=_CHANGED)
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Give a memory to a person, a project or the team, or change its type; its text stays.

        Who sees the memory and may state one like it may do so; `identity` needs a key of the team.
        Where the same stands there already, or the memory is in dispute or no longer current, the
        answer is 409. What it contradicts among those it comes to is disputed or superseded, as
        for a new memory.
        """
        given = self.body(MoveSerializer)
        self.check_agent(given.get("agent"))
        check_may_confirm(viewer=self.viewer, confirm=given["confirm"])
        memory = move_memory(
            viewer=self.viewer,
            memory_id=pk,
            move=Move(
                scope=Scope(given["scope"]) if "scope" in given else None,
                memory_type=MemoryType(given["memory_type"]) if "memory_type" in given else None,
                user=given.get("user"),
                project=given.get("project"),
                agent=given.get("agent"),
                is_agreed=given["confirm"],
            ),
            tools=default_tools(),
            reason=given.get("reason") or "",
        )
        return self._changed(memory)

    @extend_schema(
        request=PromoteSerializer,
        responses={
            200: PromotedMemorySerializer,
            202: OpenApiResponse(
                PromotedMemorySerializer,
                description="A preference: it stays the project's until a consent request is"
                " approved.",
            ),
            **refusals(403, 404, 409, 422),
        },
    )
    @action(detail=True, methods=["post"])
    def promote(self, request: Request, pk: UUID) -> Response:
        """Give a memory of a project to the whole team; promoted again it stays as it is.

        Only what is of a project and of no person can be promoted (409). A preference needs a yes:
        `confirm` with a key of the team, or that of a person to the consent request that it
        becomes.
        """
        given = self.body(PromoteSerializer)
        promoted = promote_memory(
            viewer=self.viewer,
            memory_id=pk,
            is_confirmed=given["confirm"],
            tools=default_tools(),
            now=timezone.now(),
            reason=given.get("reason") or "",
        )
        self.noted([memory_event("update", promoted.memory)])
        waits = promoted.consent_request is not None
        with self.team_scope():
            memory = memory_for(viewer=self.viewer, memory_id=pk)
            memory.consent_request = promoted.consent_request  # type: ignore[attr-defined]
            shown = PromotedMemorySerializer(memory).data
        return Response(shown, status=status.HTTP_202_ACCEPTED if waits else status.HTTP_200_OK)

    @extend_schema(
        request=None,
        parameters=[ReasonQuerySerializer],
        responses={
            200: OpenApiResponse(MemorySerializer, description="Soft-deleted; it can be restored."),
            **refusals(403, 404, 422),
        },
    )
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Soft-delete a memory: no read finds it any more, and it stays readable by its id."""
        given = self.params(ReasonQuerySerializer)
        memory = delete_memory(viewer=self.viewer, memory_id=pk, reason=given.get("reason", ""))
        return self._changed(memory, op="delete")

    @extend_schema(request=PinSerializer, responses=_CHANGED)
    @action(detail=True, methods=["post"])
    def pin(self, request: Request, pk: UUID) -> Response:
        """Pin a memory so that it is in every prompt of its audience, or unpin it."""
        given = self.body(PinSerializer)
        memory = pin_memory(
            viewer=self.viewer,
            memory_id=pk,
            pinned=given["pinned"],
            reason=given.get("reason") or "",
        )
        return self._changed(memory)

    @extend_schema(request=ReasonSerializer, responses=_CHANGED)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: UUID) -> Response:
        """Restore a deleted or archived memory, unless an equal one exists by now.

        If a current memory contradicts it, both become disputed; a newer version supersedes it;
        one that a person judged wrong comes back disputed. What expired comes back as it was until
        its `purge_at` (409 from then on).
        """
        given = self.body(ReasonSerializer)
        memory = restore_memory(
            viewer=self.viewer,
            memory_id=pk,
            tools=default_tools(),
            reason=given.get("reason") or "",
        )
        return self._changed(memory)

    @extend_schema(
        request=CorrectionSerializer,
        responses={
            201: WrittenMemorySerializer,
            200: OpenApiResponse(
                WrittenMemorySerializer,
                description="A duplicate: the existing memory, which now supersedes this one.",
            ),
            202: OpenApiResponse(WrittenMemorySerializer, description=HELD),
            **refusals(403, 404, 409, 422),
        },
    )
    @action(detail=True, methods=["post"])
    def correct(self, request: Request, pk: UUID) -> Response:
        """Write a new version that supersedes this one; returns the current memory.

        A new value of a profile field or of a preference of the team waits for a yes (202). A
        memory with a form needs its `form` and `payload` too (422), or `form` null to keep the text
        alone.
        """
        given = self.body(CorrectionSerializer)
        result = correct_memory(
            viewer=self.viewer,
            memory_id=pk,
            corrected_content=given.get("corrected_content", ""),
            form=Form(given["form"]) if given.get("form") else None,
            payload=given.get("payload") or {},
            drops_form="form" in given and given["form"] is None,
            reason=given.get("reason") or "",
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([write_event(result, op="update")])
        (shown,) = self.written([result])
        return Response(shown, status=code_of(result))

    @extend_schema(request=FeedbackSerializer, responses=_CHANGED)
    @action(detail=True, methods=["post"])
    def feedback(self, request: Request, pk: UUID) -> Response:
        """Give feedback on a memory: "wrong" opens a dispute, "helpful" raises its importance.

        With the signals of the `work`, a memory that was cited or helpful is predicted by
        `POST /v1/context/predict` when such signals come again.
        """
        given = self.body(FeedbackSerializer)
        memory = give_feedback(
            viewer=self.viewer,
            memory_id=pk,
            signal=Feedback(given["signal"]),
            note=given.get("note") or "",
            work=Work(signals_of(given["work"]), timezone.now()) if given.get("work") else None,
        )
        return self._changed(memory)

    def _changed(self, memory: Memory, op: str = "update") -> Response:
        """The memory as it stands after the change, which is noted."""
        self.noted([memory_event(op, memory)])
        with self.team_scope():
            stands = memory_for(viewer=self.viewer, memory_id=memory.pk)
            return Response(MemorySerializer(stands).data)


def code_of(result: WriteResult) -> int:
    """200 for what was there already, 202 for what waits for a yes, else 201."""
    codes = {Outcome.DUPLICATE: status.HTTP_200_OK, Outcome.HELD: status.HTTP_202_ACCEPTED}
    return codes.get(result.outcome, status.HTTP_201_CREATED)
