"""Conversations, threads and the jobs that read them."""

from __future__ import annotations

from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Id, Paged, get, get_unless, pages, post, put
from palimpsest_client.operations import Resource, SenderT, operation


class Conversations(Resource[SenderT]):
    """`/v1/conversations`."""

    @operation
    def list(
        self, **query: Unpack[p.ConversationsListQuery]
    ) -> Paged[m.ConversationPage, m.Conversation]:
        """The conversations, the latest first."""
        return pages("/v1/conversations", m.ConversationPage, query=query)

    @operation
    def create(self, **conversation: Unpack[p.NewConversation]) -> Call[m.Conversation]:
        """Open one, or find the one of this thread id."""
        return post("/v1/conversations", m.Conversation, body=conversation)

    @operation
    def get(self, conversation_id: Id) -> Call[m.Conversation]:
        """One conversation."""
        return get("/v1/conversations/{id}", m.Conversation, conversation_id)

    @operation
    def messages(
        self, conversation_id: Id, **query: Unpack[p.ConversationsMessagesRetrieveQuery]
    ) -> Paged[m.MessagePage, m.Message]:
        """Its messages, in the order they were said."""
        return pages("/v1/conversations/{id}/messages", m.MessagePage, conversation_id, query=query)

    @operation
    def add_messages(
        self, conversation_id: Id, **messages: Unpack[p.NewMessages]
    ) -> Call[m.MessageList]:
        """Store up to 500 messages; those whose external id is known come back as they stand."""
        return post(
            "/v1/conversations/{id}/messages", m.MessageList, conversation_id, body=messages
        )

    @operation
    def extract(
        self, conversation_id: Id, **options: Unpack[p.Extract]
    ) -> Call[m.Extraction | m.QueuedJob]:
        """Make memories of what was said: at once with `wait`, else as a job."""
        answers = {200: m.Extraction, 202: m.QueuedJob}
        return Call(
            "POST", "/v1/conversations/{id}/extract", answers, (conversation_id,), body=options
        )

    @operation
    def compact(
        self, conversation_id: Id, **options: Unpack[p.Compact]
    ) -> Call[m.Compacted | m.QueuedJob]:
        """Sum up all but the end; a job where the extraction before it takes long."""
        answers = {200: m.Compacted, 202: m.QueuedJob}
        return Call(
            "POST", "/v1/conversations/{id}/compact", answers, (conversation_id,), body=options
        )

    @operation
    def close(self, conversation_id: Id) -> Call[m.Conversation]:
        """End it; what was not extracted yet is."""
        return post("/v1/conversations/{id}/close", m.Conversation, conversation_id)


class Jobs(Resource[SenderT]):
    """`/v1/jobs`."""

    @operation
    def get(self, job_id: Id) -> Call[m.Job]:
        """One job and, once it is done, its result."""
        return get("/v1/jobs/{id}", m.Job, job_id)


class Threads(Resource[SenderT]):
    """`/v1/threads`: the saved state of a thread, and what changed since."""

    @operation
    def checkpoint(
        self,
        thread_id: str,
        *,
        known_version: int | None = None,
        **query: Unpack[p.ThreadsCheckpointLoadQuery],
    ) -> Call[m.LoadedCheckpoint | None]:
        """The state of a thread; None where `known_version` is still the one that stands."""
        path = "/v1/threads/{thread_id}/checkpoint"
        return get_unless(known_version, path, m.LoadedCheckpoint, thread_id, query=query)

    @operation
    def save_checkpoint(
        self,
        thread_id: str,
        *,
        version: int | None = None,
        is_new: bool = False,
        **checkpoint: Unpack[p.Checkpoint],
    ) -> Call[m.SavedCheckpoint]:
        """Save its next version: only over this `version`, or only where there is none yet."""
        path, kind = "/v1/threads/{thread_id}/checkpoint", m.SavedCheckpoint
        return put(path, kind, thread_id, body=checkpoint, version=version, is_new=is_new)

    @operation
    def changes(
        self, thread_id: str, **query: Unpack[p.ThreadsChangesQuery]
    ) -> Call[m.ThreadChanges]:
        """The memories gained or lost since a position that an earlier answer gave."""
        return get("/v1/threads/{thread_id}/changes", m.ThreadChanges, thread_id, query=query)
