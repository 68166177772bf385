"""Memories stored, listed, read, searched, changed and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.events import signals_of
from memory.api.found import SearchQuerySerializer, SearchSerializer
from memory.api.memories import (
    CorrectionSerializer,
    FeedbackSerializer,
    MemoryFilterSerializer,
    MemorySerializer,
    MoveSerializer,
    NewMemorySerializer,
    PinSerializer,
    PromotedMemorySerializer,
    PromoteSerializer,
    ReadMemorySerializer,
    ReasonQuerySerializer,
    ReasonSerializer,
    RelatedMemorySerializer,
    RelatedSerializer,
    WrittenMemorySerializer,
    memory_json,
    warnings_of,
)
from memory.api.rendering import answer_form, json_response
from memory.api.request_events import memory_event, search_event, write_event
from memory.api.schemas import PER_REQUEST, QuerySerializer, check_total_length, page_schema
from memory.domain.forms import USUAL_TYPES, Form, texts_of
from memory.domain.types import MemoryType, Source, Work
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.reading.questions import Depth, Question, Read
from memory.reading.retrieval import send_search
from memory.selectors.memories import (
    MemoryFilters,
    filtered_memories,
    levels_of_memory,
    memory_for,
    merged_into,
    related_to,
)
from memory.selectors.names import is_guest
from memory.understanding.tools import default_tools
from memory.writing.decisions.changes import (
    correct_memory,
    delete_memory,
    give_feedback,
    pin_memory,
)
from memory.writing.decisions.moving import Move, move_memory, promote_memory, restore_memory
from memory.writing.drafts import Outcome, WriteResult
from memory.writing.stating import StatedMemory, check_may_confirm, remember

HELD = (
    "It would change a profile field of a person or a preference of the team: it waits as a consent"
    " request."
)

NOT_PINNED = (
    "The memory was stored before and stays unpinned; pin it with POST /v1/memories/{id}/pin."
)


MemoryPage = page_schema("MemoryPage", MemorySerializer)


def _one_or_many(
    name: str, serializer: type[serializers.Serializer[Any]]
) -> PolymorphicProxySerializer:
    return PolymorphicProxySerializer(
        component_name=name,
        serializers=[serializer, serializer(many=True)],
        resource_type_field_name=None,
        many=False,
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


class MemoryViewSet(MemoryWrites):
    """The memories of the team's agents."""

    lookup_value_converter = "uuid"
    operations = {
        "create": ("hotpath", "create"),
        "partial_update": ("hotpath", "update"),
        "destroy": ("hotpath", "delete"),
        "search": ("hotpath", "search"),
        "correct": ("hotpath", "update"),
        "pin": ("hotpath", "update"),
        "restore": ("hotpath", "update"),
        "feedback": ("hotpath", "update"),
        "promote": ("hotpath", "update"),
    }
    memory_actions = (*operations, "list", "retrieve", "related")

    @operation(
        body=_one_or_many("NewMemories", NewMemorySerializer),
        answer={
            201: _one_or_many("WrittenMemories", WrittenMemorySerializer),
            200: (WrittenMemorySerializer, "A duplicate: the existing memory."),
            202: (WrittenMemorySerializer, HELD),
        },
        refuses=WITH_CONFLICT,
    )
    def create(self, given: Given) -> Response:
        """Store one memory, or up to 500 in one transaction; each result has its outcome.

        The texts of several may have 2,000,000 characters in all.
        """
        many = isinstance(self.request.data, list)
        sent = _validated(self.request.data, many=many)
        for each in sent:
            self.check_agent(each.get("agent"))
            self.check_user(each.get("user"))
            check_may_confirm(viewer=self.viewer, confirm=each["confirm"])
        results = remember(
            viewer=self.viewer,
            stated=[_stated(each) for each in sent],
            tools=default_tools(),
            now=timezone.now(),
            prefix=many,
        )
        self.noted(write_event(each) for each in results)
        shown = self.written(results)
        for told, each in zip(shown, sent, strict=True):
            is_repeated = told["outcome"] == Outcome.DUPLICATE
            if is_repeated and each["is_pinned"] and not told["is_pinned"]:
                told["warnings"].append(NOT_PINNED.format(id=told["id"]))
        if many:
            return Response(shown, status=status.HTTP_201_CREATED)
        return Response(shown[0], status=code_of(results[0]))

    @operation(query=MemoryFilterSerializer, answer=MemoryPage, refuses=(403, 422))
    def list(self, given: Given) -> Response:
        """The memories that the key may see and that match every filter, the latest stored first.

        A memory stored later may be about an earlier time: `created_at` is when it was said.
        `agent`, `user` and `project` filter by whom the memories belong to. A key of one agent
        sees the memories of people only where it names the `user`.
        """
        with self.team_scope():
            filters = MemoryFilters(**given)
            rows = filtered_memories(viewer=self.lister(given), filters=filters)
            return self.page(rows, MemorySerializer)

    @operation(query=QuerySerializer, answer=ReadMemorySerializer)
    def retrieve(self, given: Given, pk: UUID) -> Response:
        """One memory, whatever its status."""
        with self.team_scope():
            memory = memory_for(viewer=self.viewer, memory_id=pk)
            memory.levels = asdict(levels_of_memory(memory))  # type: ignore[attr-defined]
            memory.merged_from = merged_into(viewer=self.viewer, memory=memory)  # type: ignore[attr-defined]
            return Response(ReadMemorySerializer(memory).data)

    @operation(query=SearchQuerySerializer, answer=SearchSerializer)
    @action(detail=False, methods=["get"])
    def search(self, given: Given) -> HttpResponse:
        """Memories by meaning and words, best first, with the signals behind each score.

        Messages are ranked with them (level `raw`); with a filter of memories only where
        `include_raw` asks for them. A request line may have 8,190 bytes (414 beyond): use
        `POST /v1/memory/query` for a longer question.
        """
        viewer = self.named_viewer(given)
        sent = send_search(
            Read(
                viewer=viewer,
                question=Question(given["query"]),
                tools=default_tools(),
                now=timezone.now(),
                limit=given["limit"],
                depth=Depth(
                    given.get("include_cold", False),
                    given.get("include_raw"),
                    include_private=MemoryType.AGENT_PRIVATE in (given.get("memory_types") or ()),
                ),
                rows=_filtered(given),
                min_score=given.get("min_score"),
            ),
            render=lambda found: SearchSerializer(found).data,
            form=answer_form(SearchSerializer),
        )
        self.noted([search_event(viewer, sent)])
        return json_response(sent.body)

    @operation(query=QuerySerializer, answer=RelatedSerializer)
    @action(detail=True, methods=["get"])
    def related(self, given: Given, pk: UUID) -> Response:
        """Memories that are directly related to it, the strongest relation first."""
        with self.team_scope():
            memory = memory_for(viewer=self.viewer, memory_id=pk)
            person = memory.end_user_id
            viewer = replace(
                self.viewer,
                end_user_id=person,
                sees_people=None,
                is_guest=person is not None
                and is_guest(team_id=memory.team_id, end_user_id=person),
            )
            found = related_to(viewer=viewer, memory=memory)
            return Response({"results": RelatedMemorySerializer(found, many=True).data})

    @operation(body=MoveSerializer, answer=MemorySerializer, refuses=WITH_CONFLICT)
    def partial_update(self, given: Given, pk: UUID) -> Response:
        """Give a memory to a person, a project or the team, or change its type; its text stays.

        Who sees the memory and may state one like it may do so; `identity` needs a key of the team.
        Where the same stands there already, or the memory is in dispute or no longer current, the
        answer is 409. What it contradicts among those it comes to is disputed or superseded, as
        for a new memory.
        """
        reason, is_agreed = given.pop("reason"), given.pop("confirm")
        check_may_confirm(viewer=self.viewer, confirm=is_agreed)
        move = Move(**given, is_agreed=is_agreed)
        memory = move_memory(
            viewer=self.viewer, memory_id=pk, move=move, tools=default_tools(), reason=reason
        )
        return self._changed(memory)

    @operation(
        body=PromoteSerializer,
        answer={
            200: PromotedMemorySerializer,
            202: (
                PromotedMemorySerializer,
                "A preference: it stays the project's until a consent request is approved.",
            ),
        },
        refuses=WITH_CONFLICT,
    )
    @action(detail=True, methods=["post"])
    def promote(self, given: Given, pk: UUID) -> Response:
        """Give a memory of a project to the whole team; promoted again it stays as it is.

        Only what is of a project and of no person can be promoted (409). A preference needs a yes:
        `confirm` with a key of the team, or that of a person to the consent request that it
        becomes.
        """
        promoted = promote_memory(
            viewer=self.viewer,
            memory_id=pk,
            is_confirmed=given["confirm"],
            tools=default_tools(),
            now=timezone.now(),
            reason=given["reason"],
        )
        self.noted([memory_event("update", promoted.memory)])
        waits = promoted.consent_request is not None
        with self.team_scope():
            memory = memory_for(viewer=self.viewer, memory_id=pk)
            memory.consent_request = promoted.consent_request  # type: ignore[attr-defined]
            shown = PromotedMemorySerializer(memory).data
        return Response(shown, status=status.HTTP_202_ACCEPTED if waits else status.HTTP_200_OK)

    @operation(
        query=ReasonQuerySerializer, answer=(MemorySerializer, "Soft-deleted; it can be restored.")
    )
    def destroy(self, given: Given, pk: UUID) -> Response:
        """Soft-delete a memory: no read finds it any more, and it stays readable by its id."""
        memory = delete_memory(viewer=self.viewer, memory_id=pk, **given)
        return self._changed(memory, op="delete")

    @operation(body=PinSerializer, answer=MemorySerializer, refuses=WITH_CONFLICT)
    @action(detail=True, methods=["post"])
    def pin(self, given: Given, pk: UUID) -> Response:
        """Pin a memory so that it is in every prompt of its audience, or unpin it."""
        return self._changed(pin_memory(viewer=self.viewer, memory_id=pk, **given))

    @operation(body=ReasonSerializer, answer=MemorySerializer, refuses=WITH_CONFLICT)
    @action(detail=True, methods=["post"])
    def restore(self, given: Given, pk: UUID) -> Response:
        """Restore a deleted or archived memory, unless an equal one exists by now.

        If a current memory contradicts it, both become disputed; a newer version supersedes it;
        one that a person judged wrong comes back disputed. What expired comes back as it was until
        its `purge_at` (409 from then on).
        """
        memory = restore_memory(viewer=self.viewer, memory_id=pk, tools=default_tools(), **given)
        return self._changed(memory)

    @operation(
        body=CorrectionSerializer,
        answer={
            201: WrittenMemorySerializer,
            200: (
                WrittenMemorySerializer,
                "A duplicate: the existing memory, which now supersedes this one.",
            ),
            202: (WrittenMemorySerializer, HELD),
        },
        refuses=WITH_CONFLICT,
    )
    @action(detail=True, methods=["post"])
    def correct(self, given: Given, pk: UUID) -> Response:
        """Write a new version that supersedes this one; returns the current memory.

        A new value of a profile field or of a preference of the team waits for a yes (202). A
        memory with a form needs its `form` and `payload` too (422), or `form` null to keep the text
        alone.
        """
        result = correct_memory(
            viewer=self.viewer,
            memory_id=pk,
            corrected_content=given.get("corrected_content", ""),
            form=given.get("form"),
            payload=given.get("payload") or {},
            drops_form="form" in given and given["form"] is None,
            source=Source(given["source"]) if "source" in given else None,
            reason=given["reason"],
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([write_event(result, op="update")])
        (shown,) = self.written([result])
        return Response(shown, status=code_of(result))

    @operation(body=FeedbackSerializer, answer=MemorySerializer, refuses=WITH_CONFLICT)
    @action(detail=True, methods=["post"])
    def feedback(self, given: Given, pk: UUID) -> Response:
        """Give feedback on a memory: "wrong" opens a dispute, "helpful" raises its importance.

        With the signals of the `work`, a memory that was cited or helpful is predicted by
        `POST /v1/context/predict` when such signals come again.
        """
        sent = given.pop("work", None)
        work = Work(signals_of(sent), timezone.now()) if sent else None
        memory = give_feedback(viewer=self.viewer, memory_id=pk, work=work, **given)
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


def _filtered(given: dict[str, Any]) -> MemoryQuerySet | None:  # Any: checked parameters
    """Returns the memories that the search is narrowed to; None without a filter."""
    if given["min_importance"] <= 1 and not given.get("memory_types"):
        return None
    rows = Memory.objects.filter(importance__gte=given["min_importance"])
    if given.get("memory_types"):
        rows = rows.filter(memory_type__in=given["memory_types"])
    return rows


def _validated(data: Any, *, many: bool) -> Sequence[dict[str, Any]]:
    if not many:
        return [NewMemorySerializer().run_validation(data)]
    several: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=NewMemorySerializer(), allow_empty=False, max_length=PER_REQUEST
    )
    sent = list(several.run_validation(data))
    check_total_length(
        text
        for each in sent
        for text in (each.get("content") or "", *texts_of(each.get("payload") or {}))
    )
    return sent


def _stated(given: dict[str, Any]) -> StatedMemory:
    return StatedMemory(
        **{
            "memory_type": USUAL_TYPES.get(given.get("form") or Form.FACT, MemoryType.SEMANTIC),
            **given,
            "payload": given.get("payload") or {},
            "subject": given.get("subject") or "",
            "category": given.get("category") or "",
            "tags": tuple(given.get("tags", ())),
            "message_ids": tuple(given.get("message_ids", ())),
            "source": Source(given["source"]) if "source" in given else None,
        }
    )
