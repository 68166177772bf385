"""The past: a memory's history, the log, the state at an instant, and a person's export."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from audit.models import EVENTS, MemoryLog
from memory.api.base import ApiViewSet, Given, operation
from memory.api.conversations import MessageSerializer
from memory.api.fields import NameField, OneOfField, TextField, ZonedDateTimeField
from memory.api.memories import MemoryFilterSerializer, MemorySerializer
from memory.api.pagination import BAD_CURSOR, IdPagination, LogPagination
from memory.api.schemas import ApiSerializer, LongPageQuerySerializer, page_schema
from memory.domain.audience import Viewer
from memory.selectors.history.log import LogFilters, filtered_log
from memory.selectors.history.memory_history import (
    MAX_QUOTED,
    log_of,
    names_in,
    step_of,
    versions_of,
    with_messages,
)
from memory.selectors.history.states import Change, Kind, changes_between, commits_seen, state_at
from memory.selectors.memories import MemoryFilters

KINDS = [(kind.value, kind.value) for kind in Kind]
_HIDDEN = ("dedupe_key", "salt")


class FieldChangeSerializer(ApiSerializer):
    """A changed field; `from` is null for the first version of a memory."""

    field = serializers.CharField()
    from_ = serializers.JSONField(source="before", allow_null=True)
    to = serializers.JSONField(source="after", allow_null=True)


class LogEntrySerializer(ApiSerializer):
    """One change of one memory, as it was logged."""

    seq = serializers.IntegerField()
    memory = serializers.UUIDField(source="memory_id")
    event = serializers.CharField()
    actor = serializers.CharField()
    reason = serializers.CharField()
    at = serializers.DateTimeField()
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)
    revision = serializers.IntegerField(allow_null=True, help_text="The conversation's revision.")
    digest = serializers.SerializerMethodField(help_text="SHA-256 of salt and text, hexadecimal.")
    detail = serializers.JSONField(
        allow_null=True, help_text="What the state does not contain, such as links."
    )

    @extend_schema_field(serializers.CharField())
    def get_digest(self, row: MemoryLog) -> str:
        return bytes(row.digest).hex()


class LogEntryWithStateSerializer(LogEntrySerializer):
    """One change of one memory, with the memory's state after it."""

    state = serializers.SerializerMethodField(
        help_text="Every column after the change except the text, which the memory itself holds."
    )

    @extend_schema_field(serializers.DictField())
    def get_state(self, row: MemoryLog) -> dict[str, Any]:
        return {key: value for key, value in row.state.items() if key not in _HIDDEN}


class StepSerializer(ApiSerializer):
    """One change of one version, with what it changed."""

    version = serializers.IntegerField()
    changes = FieldChangeSerializer(many=True)
    text_diff = serializers.CharField(
        help_text="How a new version changed the text: [-removed-]{+added+}. Empty"
        " if the text is the same."
    )
    entry = LogEntrySerializer(source="row")


class QuotedMessageSerializer(MessageSerializer):
    """A message that a memory was extracted from."""

    conversation = serializers.UUIDField(source="conversation_id")


class VersionSerializer(ApiSerializer):
    """One version and the messages it comes from."""

    memory = MemorySerializer()
    messages = QuotedMessageSerializer(
        many=True, help_text=f"Its source messages that this key may see; the first {MAX_QUOTED}."
    )
    message_count = serializers.IntegerField(help_text="How many messages it comes from in all.")


class HistorySerializer(page_schema("HistorySteps", StepSerializer)):  # type: ignore[misc]
    """The history of a memory in all its versions, the latest first, a page at a time."""

    versions = VersionSerializer(many=True, help_text="The latest first.")


class LogQuerySerializer(LongPageQuerySerializer):
    """Filters of the log; all must match."""

    memory = serializers.UUIDField(required=False)
    event = serializers.ListField(
        child=OneOfField(choices=EVENTS), required=False, help_text="Any of these."
    )
    actor = TextField(required=False, max_length=200, help_text="The whole name, as in the log.")
    conversation = serializers.UUIDField(required=False)
    user = NameField(required=False, max_length=200)
    from_ = ZonedDateTimeField(source="begin", required=False, help_text="At this time or later.")
    to = ZonedDateTimeField(source="end", required=False, help_text="Before this time.")


class StateQuerySerializer(MemoryFilterSerializer):
    """One instant, or two, and which memories; all filters must match."""

    at = ZonedDateTimeField(help_text="The instant, with its time zone; not in the future.")
    diff_to = ZonedDateTimeField(
        required=False, help_text="A later instant: what changed from `at` to this one."
    )


class PastMemorySerializer(MemorySerializer):
    """A memory as it was; usage is not logged, so it is not included."""

    usage = None  # type: ignore[assignment]  # DRF's way to leave a field out


class StatePageSerializer(page_schema("StateMemories", PastMemorySerializer)):  # type: ignore[misc]
    """A page of the memories as they were at an instant."""

    at = serializers.DateTimeField()
    position = serializers.IntegerField(
        help_text="How many commits had been made by then: of the team, or with an agent's key"
        " those of memories that it may see."
    )
    changed_at = serializers.DateTimeField(
        allow_null=True, help_text="When the last of these commits was made."
    )


class DifferenceSerializer(ApiSerializer):
    """A field before and after."""

    from_ = serializers.JSONField(allow_null=True)
    to = serializers.JSONField(allow_null=True)


class ChangeSerializer(ApiSerializer):
    """A memory that differs between the two instants."""

    id = serializers.UUIDField(source="memory_id")
    change = serializers.ChoiceField(
        source="kind",
        choices=KINDS,
        help_text=(
            "created: it did not exist at the first instant; changed: it matched the filters at"
            " both instants; appeared: it existed but did not match them then; gone: it no longer"
            " matches them."
        ),
    )
    fields_ = serializers.SerializerMethodField(
        method_name="differences",
        help_text="The fields that differ, if it existed at both instants.",
    )
    memory = serializers.SerializerMethodField(
        help_text="As it was at the later instant, or at the earlier one if it no longer existed."
    )

    @extend_schema_field(serializers.DictField(child=DifferenceSerializer()))
    def differences(self, change: Change) -> dict[str, Any]:
        return {name: {"from": old, "to": new} for name, (old, new) in change.fields.items()}

    @extend_schema_field(PastMemorySerializer)
    def get_memory(self, change: Change) -> dict[str, Any]:
        """The memory, seen from the later instant."""
        return dict(PastMemorySerializer(change.after or change.before).data)


class ChangePageSerializer(ApiSerializer):
    """A page of changes, the most recently stored memories first."""

    at = serializers.DateTimeField()
    diff_to = serializers.DateTimeField()
    next = serializers.URLField(allow_null=True)
    results = ChangeSerializer(many=True)


LogPage = page_schema("LogPage", LogEntryWithStateSerializer)


class HistoryViewSet(ApiViewSet):
    """The history of one memory."""

    @operation(
        "memories_history",
        query=LongPageQuerySerializer,
        answer=HistorySerializer,
        refuses=(404, 422),
    )
    def history(self, given: Given, pk: UUID) -> Response:
        """The history of a memory, newest first: each change, who made it and why.

        All its versions are one history; each has its provenance, with those source messages that
        this key may see.
        """
        viewer = self.viewer
        with self.team_scope():
            memories = versions_of(viewer=viewer, memory_id=pk)
            by_id = {row.pk: row for row in memories}
            pages = LogPagination()
            rows = (
                pages.paginate_queryset(log_of(viewer=viewer, memories=memories), self.request)
                or []
            )
            names = names_in(memories)
            steps = [step_of(row, memories=by_id, names=names) for row in rows]
            versions = with_messages(viewer=viewer, memories=memories)
            return Response(
                pages.links()
                | {
                    "results": StepSerializer(steps, many=True).data,
                    "versions": VersionSerializer(versions, many=True).data,
                }
            )


class AuditViewSet(ApiViewSet):
    """The log of every change, what was known when, and what the team holds about a person."""

    @operation("audit_log", query=LogQuerySerializer, answer=LogPage, refuses=(422,))
    @action(detail=False, methods=["get"])
    def log(self, given: Given) -> Response:
        """Changes of memories that this key may see, newest first, a page at a time."""
        filters = LogFilters(**given)
        viewer = self.lister({"user": filters.user})
        with self.team_scope():
            rows = filtered_log(viewer=viewer, filters=filters)
            return self.page(rows, LogEntryWithStateSerializer, LogPagination)

    @operation(
        query=StateQuerySerializer,
        answer=PolymorphicProxySerializer(
            component_name="StateOrChanges",
            serializers=[StatePageSerializer, ChangePageSerializer],
            resource_type_field_name=None,
            many=False,
        ),
        refuses=(403, 422),
    )
    @action(detail=False, methods=["get"])
    def state(self, given: Given) -> Response:
        """The memories as they were at `at`, or the changes from then to `diff_to`, by pages.

        Rebuilt from the log and the immutable texts, never from the current state.
        """
        at, to = given.pop("at"), given.pop("diff_to", None)
        filters = MemoryFilters(**given)
        viewer, pages = self.lister({"user": filters.user}), IdPagination()
        with self.team_scope():
            if to is None:
                return Response(self._state(viewer, at, filters))
            found = changes_between(
                viewer=viewer,
                at=at,
                to=to,
                filters=filters,
                limit=pages.get_page_size(self.request) or pages.page_size,
                after=_place(self.request.query_params.get("cursor")),
            )
            following = found.next_after and replace_query_param(
                self.request.build_absolute_uri(), "cursor", found.next_after.hex
            )
            changes = ChangeSerializer(found.changes, many=True).data
            return Response({"at": at, "diff_to": to, "next": following, "results": changes})

    def _state(self, viewer: Viewer, at: datetime, filters: MemoryFilters) -> dict[str, Any]:
        state = state_at(viewer=viewer, at=at, filters=filters)
        page = IdPagination().page_of(state.memories, self.request, PastMemorySerializer)
        position, changed_at = commits_seen(viewer=viewer, instant=state.instant)
        return {"at": state.instant.at, "position": position, "changed_at": changed_at, **page}


def _place(cursor: str | None) -> UUID | None:
    try:
        return None if cursor is None else UUID(hex=cursor)
    except ValueError:
        raise serializers.ValidationError({"cursor": [BAD_CURSOR]}) from None
