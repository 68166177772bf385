"""Contradictions: listed, resolved, and shown beside what was found."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import IdsField, NameField, NoteField, OneOfField, StatementField
from memory.api.memories import OUTCOMES, WARNINGS, warnings_of
from memory.api.request_events import write_event
from memory.api.schemas import ApiSerializer, PageQuerySerializer, StrictSerializer, page_schema
from memory.domain.judgements import MERGED
from memory.models import Contradiction
from memory.models.relation import RESOLUTIONS, VERDICTS
from memory.selectors.contradictions import contradictions_visible_to
from memory.understanding.tools import default_tools
from memory.writing.decisions.disputes import resolve_contradiction
from memory.writing.decisions.undoing import undo_settlement
from teams.errors import NotFoundError


class ContradictionFilterSerializer(PageQuerySerializer):
    """Filters of the list of contradictions."""

    state = OneOfField(choices=["open", "resolved", "all"], required=False, default="open")
    verdict = OneOfField(choices=VERDICTS, required=False)
    memory = serializers.UUIDField(required=False, help_text="Those that involve this memory.")
    user = NameField(
        required=False,
        max_length=200,
        help_text="Those of which a side belongs to this person. A key of an agent that names"
        " nobody sees none of people.",
    )


class ResolutionSerializer(StrictSerializer):
    """The resolution of a contradiction; a merge gives the merged text."""

    example = {"resolution": "b_wins", "note": "She moved in May."}

    resolution = OneOfField(choices=RESOLUTIONS)
    note = NoteField()
    merged_content = StatementField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("merged_content") and attrs["resolution"] != MERGED:
            raise serializers.ValidationError(
                {"merged_content": ['Only a resolution of "merged" takes a text.']}
            )
        return attrs


class UndoSerializer(StrictSerializer):
    """The reason for undoing a resolution."""

    note = NoteField()


class ContradictionSerializer(ApiSerializer):
    """Two memories that conflict, and how the conflict was judged and resolved."""

    id = serializers.UUIDField(
        allow_null=True,
        help_text="null if it was only noticed now, among the results of a retrieval.",
    )
    memory_a = serializers.UUIDField(source="memory_a_id")
    memory_b = serializers.UUIDField(
        source="memory_b_id",
        allow_null=True,
        help_text="The later memory; null when somebody reported that memory_a is wrong.",
    )
    content_a = serializers.CharField(source="memory_a.content")
    content_b = serializers.CharField(source="memory_b.content", default=None, allow_null=True)
    strategy = serializers.CharField()
    judge = serializers.CharField()
    verdict = serializers.CharField()
    reason = serializers.CharField()
    detected_at = serializers.DateTimeField()
    resolution = serializers.CharField()
    resolution_note = serializers.CharField()
    resolved_by = serializers.CharField()
    resolved_at = serializers.DateTimeField(allow_null=True)
    snoozed_until = serializers.DateTimeField(
        allow_null=True, default=None, help_text="Until then the review queue leaves it out."
    )
    merged_memory = serializers.SerializerMethodField(
        help_text="For a merge, the memory that replaced both sides; it may be an existing one."
    )

    def get_merged_memory(self, row: Contradiction) -> UUID | None:
        """Returns the id of the memory that superseded the first side in a merge; else None."""
        return row.memory_a.superseded_by_id if row.resolution == MERGED else None


class SettledContradictionSerializer(ContradictionSerializer):
    """The resolved contradiction and, for a merge, how its text was stored."""

    outcome = serializers.ChoiceField(choices=OUTCOMES, allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField(), help_text=WARNINGS)


class UndoneSettlementSerializer(ContradictionSerializer):
    """The contradiction, open again, and the ids of others that had ended with it."""

    reopened = IdsField(help_text="Contradictions that are open again with it.")


ContradictionPage = page_schema("ContradictionPage", ContradictionSerializer)


class ContradictionViewSet(ApiViewSet):
    """Pairs of memories that conflict."""

    lookup_value_converter = "uuid"
    operations = {"resolve": ("hotpath", "update"), "undo": ("hotpath", "update")}
    memory_actions = ("list", "retrieve", "resolve", "undo")

    @operation(query=ContradictionFilterSerializer, answer=ContradictionPage, refuses=(403, 422))
    def list(self, given: Given) -> Response:
        """Contradictions whose two sides the key may see, newest first; open ones by default."""
        with self.team_scope():
            rows = contradictions_visible_to(self.lister(given))
            if given["state"] != "all":
                rows = rows.filter(resolved_at__isnull=given["state"] == "open")
            if given.get("verdict"):
                rows = rows.filter(verdict=given["verdict"])
            if given.get("memory"):
                rows = rows.filter(Q(memory_a_id=given["memory"]) | Q(memory_b_id=given["memory"]))
            if given.get("user"):
                rows = rows.filter(
                    Q(memory_a__end_user__external_id=given["user"])
                    | Q(memory_b__end_user__external_id=given["user"])
                )
            return self.page(rows, ContradictionSerializer)

    @operation(answer=ContradictionSerializer, refuses=(403, 404))
    def retrieve(self, given: Given, pk: UUID) -> Response:
        """One contradiction."""
        return Response(self._shown(pk))

    @operation(
        body=ResolutionSerializer, answer=SettledContradictionSerializer, refuses=WITH_CONFLICT
    )
    @action(detail=True, methods=["post"])
    def resolve(self, given: Given, pk: UUID) -> Response:
        """Resolve it: one side wins, both are valid, or a merged text replaces both."""
        settled = resolve_contradiction(
            viewer=self.viewer,
            contradiction_id=pk,
            resolution=given["resolution"],
            note=given["note"],
            merged_content=given.get("merged_content") or "",
            tools=default_tools(),
            now=timezone.now(),
        )
        merged = settled.merged
        if merged is not None:
            self.noted([write_event(merged, op="merge")])
        told = {
            "outcome": merged.outcome.value if merged else None,
            "warnings": warnings_of(merged) if merged else [],
        }
        return Response({**self._shown(pk), **told})

    @operation(body=UndoSerializer, answer=UndoneSettlementSerializer, refuses=WITH_CONFLICT)
    @action(detail=True, methods=["post"])
    def undo(self, given: Given, pk: UUID) -> Response:
        """Take its resolution back: it is open again, and all that it changed stands as before.

        A merged text is deleted, and contradictions that ended with this one are open again. With
        409 nothing was changed: it is open, or memories changed since; `memories` lists these.
        """
        undone = undo_settlement(
            viewer=self.viewer,
            contradiction_id=pk,
            now=timezone.now(),
            note=given["note"],
        )
        return Response({**self._shown(pk), "reopened": [str(each) for each in undone.reopened]})

    def _shown(self, contradiction_id: UUID) -> dict[str, Any]:
        with self.team_scope():
            row = contradictions_visible_to(self.viewer).filter(pk=contradiction_id).first()
            if row is None:
                raise NotFoundError("There is no such contradiction.")
            return dict(ContradictionSerializer(row).data)
