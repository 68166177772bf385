"""Threads by their own ids: saved states, and changes of their memories."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.response import Response

from memory.api.base import ApiViewSet, Given, operation
from memory.api.fields import NameField, ObjectField, name_in_address
from memory.api.headers import (
    NOT_MODIFIED,
    OF_A_READ,
    OF_A_WRITE,
    condition_of,
    entity_tag,
    unchanged,
)
from memory.api.schemas import ApiSerializer, QuerySerializer, StrictSerializer
from memory.domain.rendering import ESTIMATE
from memory.reading.seven_layers import news_of
from memory.selectors.conversations import viewer_in
from memory.selectors.history.changes import changes_since, thread_for
from memory.writing.posting import save_state
from teams.models.conversations import MAX_THREAD_CHARS
from teams.services.checkpoints import Saved, ThreadKey, load_checkpoint

MAX_VERSION = 2**31 - 1


class CheckpointSerializer(StrictSerializer):
    """The state of a thread to save."""

    user = NameField(max_length=200)
    agent = NameField(
        required=False,
        allow_null=True,
        help_text="Whose state it is; a key of one agent saves that agent's. Without an agent it is"
        " the team's own state, separate from those of agents.",
    )

    data_ = ObjectField(help_text="Any JSON object; it is returned exactly as it was sent.")


class CheckpointQuerySerializer(QuerySerializer):
    """The owner and the version of the state to load."""

    user = NameField(max_length=200)
    agent = NameField(required=False)
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_VERSION,
        help_text="The current version if omitted.",
    )


class SavedCheckpointSerializer(ApiSerializer):
    """A version of a thread's state, without the state itself."""

    thread_id = serializers.CharField()
    user = serializers.CharField()
    agent = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(help_text="1 for the first; also the ETag, in quotes.")
    bytes = serializers.IntegerField(help_text="Size of the data as compact JSON.")
    saved_at = serializers.DateTimeField()
    saved_by = serializers.CharField()
    versions = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="The versions that can still be loaded, the latest first.",
    )


class LoadedCheckpointSerializer(SavedCheckpointSerializer):
    """A version of a thread's state."""

    data_ = ObjectField()


class ChangesQuerySerializer(QuerySerializer):
    """A thread and the revision to start from."""

    since = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=2**63 - 1,
        help_text="A revision of the thread; later changes are returned.",
    )
    user = NameField(
        required=False,
        max_length=200,
        help_text="Whose thread; not needed with the"
        " id of a conversation, or where no other thread is called so.",
    )
    agent = NameField(required=False)
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=500)


class ThreadChangeSerializer(ApiSerializer):
    """One change of one memory of the thread."""

    revision = serializers.IntegerField(source="row.revision")
    event = serializers.CharField(source="row.event", help_text="The event's name in the log.")
    memory = serializers.UUIDField(source="memory.pk")
    content = serializers.CharField(source="memory.content")
    memory_type = serializers.CharField(source="memory.memory_type")
    category = serializers.CharField(source="memory.category")
    importance = serializers.IntegerField(
        source="memory.importance", help_text="The current value, like the fields above."
    )
    status = serializers.CharField(help_text="The value after the change.")
    superseded_by = serializers.UUIDField(allow_null=True, help_text="The value after the change.")
    actor = serializers.CharField(source="row.actor")
    reason = serializers.CharField(source="row.reason")
    at = serializers.DateTimeField(source="row.at")


class ThreadChangesSerializer(ApiSerializer):
    """Changes to a thread's memories after a revision, the oldest first."""

    conversation = serializers.UUIDField()
    thread_id = serializers.CharField()
    since = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="The thread's current revision.")
    next_since = serializers.IntegerField(help_text="Pass it as `since` to get the next changes.")
    has_more = serializers.BooleanField()
    header = serializers.CharField(
        help_text="What a prompt would say about it, in at most three bullets; empty if nothing."
    )
    changes = ThreadChangeSerializer(many=True)


class CheckpointViewSet(ApiViewSet):
    """The saved state of a thread of an end user."""

    @operation(
        "threads_checkpoint_save",
        body=CheckpointSerializer,
        answer={
            200: SavedCheckpointSerializer,
            201: (SavedCheckpointSerializer, "The thread's first."),
        },
        refuses=(403, 412, 413, 422),
        parameters=OF_A_WRITE,
    )
    def save(self, given: Given, thread_id: str) -> Response:
        """Save the next version of a thread's state; a limited number of earlier ones is kept."""
        name = _thread_name(thread_id)
        condition = condition_of(self.request)
        saved = save_state(
            viewer=self.viewer,
            agent=given.get("agent"),
            user=given["user"],
            thread_id=name,
            data=given["data"],
            now=timezone.now(),
            condition=condition,
        )
        agent = self.principal.agent_slug or given.get("agent")
        return Response(
            _shown(saved, user=given["user"], agent=agent),
            status=status.HTTP_201_CREATED if saved.version == 1 else status.HTTP_200_OK,
            headers={"ETag": entity_tag(saved.version)},
        )

    @operation(
        "threads_checkpoint_load",
        query=CheckpointQuerySerializer,
        answer={200: LoadedCheckpointSerializer, 304: NOT_MODIFIED},
        parameters=OF_A_READ,
    )
    def load(self, given: Given, thread_id: str) -> HttpResponse:
        """A thread's latest saved state, or an earlier version that is still kept."""
        name = _thread_name(thread_id)
        with self.team_scope():
            viewer = self.named_viewer(given)
            assert viewer.end_user_id is not None
            found, text = load_checkpoint(
                key=ThreadKey(viewer.team_id, viewer.end_user_id, name, viewer.agent_id),
                version=given.get("version"),
            )
        if (answer := unchanged(self.request, found.version)) is not None:
            return answer
        headers = {"ETag": entity_tag(found.version)}
        agent = self.principal.agent_slug or given.get("agent")
        shown = _shown(found, user=given["user"], agent=agent)
        # The stored text is JSON already; reading it to write it again would only cost time.
        body = f'{json.dumps(shown)[:-1]}, "data": {text}}}'
        return HttpResponse(body, content_type="application/json", headers=headers)


class ThreadChangesViewSet(ApiViewSet):
    """Changes to a thread's memories."""

    memory_actions = ("changes",)

    @operation("threads_changes", query=ChangesQuerySerializer, answer=ThreadChangesSerializer)
    def changes(self, given: Given, thread_id: str) -> Response:
        """List the changes to a thread's memories after a revision; prompts still report them.

        Name the thread by its id (with user and agent if several threads share it) or by the id
        of the conversation.
        """
        name = _thread_name(thread_id)
        since = given["since"]
        with self.team_scope():
            viewer = self.named_viewer(given)
            conversation = thread_for(viewer=viewer, thread_id=name, names_user="user" in given)
            viewer = viewer_in(viewer, conversation)
            found = changes_since(
                viewer=viewer, conversation=conversation, since=since, limit=given["limit"]
            )
            news = news_of(
                viewer=viewer, conversation_id=conversation.pk, counter=ESTIMATE, since=since
            )
        return Response(
            ThreadChangesSerializer(
                {
                    "conversation": conversation.pk,
                    "thread_id": conversation.thread_id,
                    "since": since,
                    "revision": found.revision,
                    "next_since": found.until,
                    "has_more": found.until < found.revision,
                    "header": news.text,
                    "changes": found.rows,
                }
            ).data
        )


def _thread_name(thread_id: str) -> str:
    return name_in_address(thread_id, field="thread_id", max_length=MAX_THREAD_CHARS)


def _shown(saved: Saved, *, user: str, agent: str | None) -> dict[str, Any]:
    """Renders a SavedCheckpointSerializer by hand; running it takes as long as the statement."""
    return {
        "thread_id": saved.key.thread_id,
        "user": user,
        "agent": agent,
        "version": saved.version,
        "bytes": saved.size,
        "saved_at": saved.saved_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "saved_by": saved.actor,
        "versions": saved.versions,
    }
