"""Single memories of mem0's protocol: added, read, changed and deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.request_events import memory_event, write_event
from memory.domain.types import DELETED, MemoryType, Role, Source
from memory.models import Memory
from memory.satellites.mem0.inputs import (
    ENTITIES,
    WILDCARD,
    AddSerializer,
    DeleteAllSerializer,
    DeletionSerializer,
    DeletionsSerializer,
    Mem0Serializer,
    UpdateSerializer,
    UpdatesSerializer,
    parse_mem0,
)
from memory.satellites.mem0.protocol import (
    Mem0ViewSet,
    Metadata,
    metadata_in,
    other_tags,
    shown,
    tags_of,
)
from memory.selectors.filters import matching
from memory.selectors.history.memory_history import versions_of
from memory.selectors.memories import memory_for
from memory.understanding.tools import default_tools
from memory.writing.decisions.changes import Notes, annotate_memory, correct_memory, delete_memory
from memory.writing.decisions.clearing import clear_memories
from memory.writing.drafts import Outcome, WriteResult
from memory.writing.jobs import Annotations, start_extraction
from memory.writing.posting import open_conversation, post_messages
from memory.writing.stating import StatedMemory, remember
from teams.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError
from teams.models import Conversation
from teams.services.conversations import NewMessage

# Whose talk is that for which a key of the team names no agent.
DEFAULT_AGENT = "mem0"
_NO_USER = (
    "Send user_id: a run, and messages from which memories are extracted, are talk with a person."
    " With infer=false, agent_id or app_id is enough."
)
_NOTES = ("metadata", "expiration_date")
_EVENTS = {
    Outcome.CREATED: "ADD",
    Outcome.DISPUTED: "ADD",
    Outcome.VERSIONED: "UPDATE",
    Outcome.SUPERSEDED_EXISTING: "UPDATE",
    Outcome.HELD: "PENDING",
}

Given = Mapping[str, Any]  # Any: checked input


class Mem0Memories(Mem0ViewSet):
    """One memory or several.

    A memory is found by the id of any of its versions; what answers is the current one.
    """

    operations = {
        "add": ("hotpath", "create"),
        "change": ("hotpath", "update"),
        "update_batch": ("hotpath", "update"),
        "remove": ("hotpath", "delete"),
        "delete_batch": ("hotpath", "delete"),
        "delete_all": ("hotpath", "delete"),
    }
    memory_actions = (*operations, "load", "history")

    def add(self, request: Request) -> Response:
        """Keep messages and extract memories from them later, or keep each as a memory."""
        given = self.body(AddSerializer)
        self.check_agent(given.get("agent_id"))
        named = [given.get(name) for name in ENTITIES]
        if WILDCARD in named:
            told = f"Name one of {', '.join(ENTITIES)}; «{WILDCARD}» is no name."
            raise InvalidError(told, field="user_id")
        if not any(named):
            raise InvalidError(_NO_USER, field="user_id")
        return self._infer(given) if given["infer"] else self._state(given)

    def _infer(self, given: Given) -> Response:
        annotations = None
        if any(given.get(name) for name in _NOTES):
            annotations = Annotations(
                tags=tags_of(given.get("metadata") or {}), valid_to=given.get("expiration_date")
            )
        viewer, said_at = self.viewer, given.get("timestamp")
        with self.team_scope():
            conversation = self._conversation(given)
        post_messages(
            viewer=viewer,
            conversation_id=conversation.pk,
            messages=[
                NewMessage(each["role"], each["content"], each.get("name") or "", said_at)
                for each in given["messages"]
            ],
            now=timezone.now(),
            tools=default_tools(),
            annotations=annotations,
        )
        job = start_extraction(viewer=viewer, conversation_id=conversation.pk)
        return Response(
            {
                "message": "The messages are stored, and memories are extracted in the background.",
                "status": "PENDING",
                "event_id": str(job.pk),
            }
        )

    def _state(self, given: Given) -> Response:
        conversation = None
        if given.get("run_id"):
            with self.team_scope():
                conversation = self._conversation(given)
        results = remember(
            viewer=self.viewer,
            stated=[
                StatedMemory(
                    content=each["content"],
                    memory_type=MemoryType.SEMANTIC,
                    agent=given.get("agent_id"),
                    user=given.get("user_id"),
                    project=given.get("app_id"),
                    conversation=conversation.pk if conversation else None,
                    tags=tags_of(given.get("metadata") or {}),
                    created_at=given.get("timestamp"),
                    valid_to=given.get("expiration_date"),
                    source=Source.TOOL if each["role"] == Role.TOOL else None,
                )
                for each in given["messages"]
            ],
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([write_event(each) for each in results])
        for each in results:
            if each.outcome is Outcome.DUPLICATE and set(_NOTES) & set(given):
                self._annotate(each.memory, given, kept=metadata_in(each.memory.tags))
        return Response({"status": "SUCCEEDED", "results": [_result(each) for each in results]})

    def _conversation(self, given: Given) -> Conversation:
        """The conversation of the run, or a new one; call it in the team's scope."""
        if not given.get("user_id"):
            raise InvalidError(_NO_USER, field="user_id")
        app = given.get("app_id")
        conversation, _ = open_conversation(
            team_id=self.principal.team_id,
            agent=given.get("agent_id") or self.principal.agent_slug or DEFAULT_AGENT,
            user=given["user_id"],
            project=app,
            thread_id=given.get("run_id"),
            project_ids=self.principal.project_ids,
        )
        known = conversation.project.slug if conversation.project else None
        if app and known != app:
            raise ConflictError(f"This run is of {known or 'no app'}.", field="app_id")
        return conversation

    def load(self, request: Request, memory_id: str) -> Response:
        """One memory."""
        self.params(Mem0Serializer)
        with self.team_scope():
            return Response(shown([self._current(memory_id)])[0])

    def change(self, request: Request, memory_id: str) -> Response:
        """Write a new version of a memory, or change its metadata or when it expires."""
        given = self.body(UpdateSerializer)
        with self.team_scope():
            memory = self._current(memory_id)
        result = self._change(memory, given)
        with self.team_scope():
            (answer,) = shown([self._current(str(memory.pk))])
        if result is not None and result.outcome is Outcome.HELD:
            answer |= _held(result)
        return Response(answer)

    def _change(self, memory: Memory, given: Given) -> WriteResult | None:
        result = None
        if "text" in given and given["text"] != memory.content:
            result = correct_memory(
                viewer=self.viewer,
                memory_id=memory.pk,
                corrected_content=given["text"],
                reason="",
                tools=default_tools(),
                now=timezone.now(),
            )
            memory = result.memory
            self.noted([write_event(result, op="update")])
        if set(_NOTES) & set(given):
            self._annotate(memory, given, kept={})
        return result

    def _annotate(self, memory: Memory, given: Given, *, kept: Metadata) -> None:
        """Set the metadata beside what is `kept` of it, and until when the memory holds."""
        metadata = given.get("metadata")

        def tagged(tags: Sequence[str]) -> Sequence[str]:
            if metadata is None:
                return tags
            return tags_of({**kept, **metadata}, beside=other_tags(tags))

        annotate_memory(
            viewer=self.viewer,
            memory_id=memory.pk,
            notes=Notes(
                tags=tagged,
                sets_end="expiration_date" in given,
                valid_to=given.get("expiration_date"),
            ),
        )

    def update_batch(self, request: Request) -> Response:
        """Change several memories; an unknown one is found before any is changed."""
        given = self.body(UpdatesSerializer)["memories"]
        with self.team_scope():
            for each in given:
                self._current(each["memory_id"])
        for each in given:
            with self.team_scope():
                # The change before may have made a version of the same memory.
                memory = self._current(each["memory_id"])
            self._change(memory, each)
        return Response({"message": f"Successfully updated {len(given)} memories."})

    def remove(self, request: Request, memory_id: str) -> Response:
        """Soft-delete a memory; with `delete_linked` the versions before it too."""
        given = self.params(DeletionSerializer)
        with self.team_scope():
            memory = self._current(memory_id)
            linked = []
            if given["delete_linked"]:
                linked = versions_of(viewer=self.viewer, memory_id=memory.pk)
        for pk in dict.fromkeys([memory.pk, *(each.pk for each in linked)]):
            delete_memory(viewer=self.viewer, memory_id=pk)
        self.noted([memory_event("delete", memory)])
        return Response({"message": "Memory deleted successfully!"})

    def delete_batch(self, request: Request) -> Response:
        """Soft-delete several memories; an unknown one is found before any is deleted."""
        given = self.body(DeletionsSerializer)["memories"]
        with self.team_scope():
            found = {self._current(each["memory_id"]).pk for each in given}
        for pk in sorted(found):
            delete_memory(viewer=self.viewer, memory_id=pk)
        return Response({"message": f"Successfully deleted {len(found)} memories."})

    def delete_all(self, request: Request) -> Response:
        """Soft-delete all memories of the entities named; `*` is any, and all four are all."""
        given = self.params(DeleteAllSerializer)
        named = {name: given[name] for name in ENTITIES if given.get(name)}
        if not named:
            raise InvalidError(f"Name one of {', '.join(ENTITIES)}.", field="user_id")
        if WILDCARD in named.values() and self.viewer.agent_id is not None:
            raise ForbiddenError(
                "A key of one agent deletes by names; «*» takes a key of the team."
            )
        is_all = set(named) == set(ENTITIES) and set(named.values()) == {WILDCARD}
        return self.cleared({} if is_all else named)

    def cleared(self, named: Mapping[str, str]) -> Response:
        """Soft-delete the visible memories of these names, as many as a request has time for."""
        viewer = self.viewer
        with self.team_scope():
            rows = matching(
                viewer=viewer, rows=Memory.objects.all(), expression=parse_mem0(dict(named))
            )
        done = clear_memories(viewer=viewer, rows=rows, reason="deleted by a client of mem0")
        if done.left:
            raise ConflictError(
                f"{done.deleted} memories are deleted and {done.left} are left: send it again."
            )
        return Response({"message": "Memories deleted successfully!"})

    def history(self, request: Request, memory_id: str) -> Response:
        """All versions of a memory, the oldest first."""
        self.params(Mem0Serializer)
        with self.team_scope():
            versions = versions_of(viewer=self.viewer, memory_id=_id_of(memory_id))[::-1]
        texts = {each.pk: each.content for each in versions}
        steps = []
        for each in versions:
            old = texts.get(each.supersedes_id) if each.supersedes_id else None
            told = {
                "id": str(each.pk),
                "memory_id": memory_id,
                "old_memory": old,
                "new_memory": each.content,
                "event": "ADD" if old is None else "UPDATE",
                "user_id": each.end_user.external_id if each.end_user else None,
                "metadata": metadata_in(each.tags),
                "created_at": each.created_at,
                "updated_at": each.updated_at,
            }
            steps.append(told)
            if each.status in DELETED:
                gone = {"old_memory": each.content, "new_memory": None, "event": "DELETE"}
                steps.append(told | gone)
        return Response(steps)

    def _current(self, memory_id: str) -> Memory:
        """Returns the memory's current version; NotFoundError where it is deleted or invisible."""
        memory = memory_for(viewer=self.viewer, memory_id=_id_of(memory_id))
        known = {memory.pk}
        while (after := memory.superseded_by_id) is not None and after not in known:
            known.add(after)
            memory = memory_for(viewer=self.viewer, memory_id=after)
        if memory.status in DELETED:
            raise NotFoundError("There is no such memory.")
        return memory


def _id_of(text: str) -> UUID:
    with suppress(ValueError):
        return UUID(text)
    raise NotFoundError("There is no such memory.")


def _held(result: WriteResult) -> dict[str, Any]:
    return {"status": "PENDING", "consent_request": str(result.consent_request)}


def _result(result: WriteResult) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": str(result.memory.pk),
        "memory": result.memory.content,
        "event": _EVENTS.get(result.outcome, "NONE"),
    }
    return told | (_held(result) if result.outcome is Outcome.HELD else {})
