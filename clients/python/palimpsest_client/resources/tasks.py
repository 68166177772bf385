"""Work: the working memory of tasks, and workflows."""

from __future__ import annotations

from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Id, Paged, get, pages, post
from palimpsest_client.operations import Resource, SenderT, operation


class Tasks(Resource[SenderT]):
    """`/v1/tasks`; `agent` says whose task it is where the key is the team's."""

    @operation
    def create(self, **task: Unpack[p.NewTask]) -> Call[m.Task]:
        """Begin a task."""
        return post("/v1/tasks", m.Task, body=task)

    @operation
    def get(self, task_id: str, **query: Unpack[p.TasksRetrieveQuery]) -> Call[m.Task]:
        """One task that is under way."""
        return get("/v1/tasks/{task_id}", m.Task, task_id, query=query)

    @operation
    def complete(self, task_id: str, **query: Unpack[p.TasksCompleteQuery]) -> Call[m.ClearedTask]:
        """End it with success; its items are gone."""
        return post("/v1/tasks/{task_id}/complete", m.ClearedTask, task_id, query=query)

    @operation
    def fail(self, task_id: str, **query: Unpack[p.TasksFailQuery]) -> Call[m.ClearedTask]:
        """End it without; its items are gone."""
        return post("/v1/tasks/{task_id}/fail", m.ClearedTask, task_id, query=query)

    @operation
    def items(self, task_id: str, **query: Unpack[p.TasksItemsListQuery]) -> Call[m.Items]:
        """The items in the task's working memory."""
        return get("/v1/tasks/{task_id}/items", m.Items, task_id, query=query)

    @operation
    def add_item(
        self, task_id: str, *, agent: str | None = None, **item: Unpack[p.NewItem]
    ) -> Call[m.Item]:
        """Keep a thought or the output of a tool."""
        query = {"agent": agent}
        return post("/v1/tasks/{task_id}/items", m.Item, task_id, body=item, query=query)

    @operation
    def clear_items(
        self, task_id: str, **query: Unpack[p.TasksItemsClearQuery]
    ) -> Call[m.ClearedTask]:
        """Forget its items."""
        path = "/v1/tasks/{task_id}/items"
        return Call("DELETE", path, {200: m.ClearedTask}, (task_id,), query)

    @operation
    def promote_item(
        self,
        task_id: str,
        item_id: Id,
        *,
        agent: str | None = None,
        **promotion: Unpack[p.Promotion],
    ) -> Call[m.WrittenMemory]:
        """Make a memory of an item."""
        path = "/v1/tasks/{task_id}/items/{item_id}/promote"
        query = {"agent": agent}
        return post(path, m.WrittenMemory, task_id, item_id, body=promotion, query=query)


class Workflows(Resource[SenderT]):
    """`/v1/workflows` and their recordings."""

    @operation
    def create(self, **workflow: Unpack[p.NewWorkflow]) -> Call[m.WrittenMemory]:
        """Store a workflow: its trigger and its steps."""
        return post("/v1/workflows", m.WrittenMemory, body=workflow)

    @operation
    def recordings(
        self, **query: Unpack[p.WorkflowsRecordingsListQuery]
    ) -> Paged[m.RecordingPage, m.Recording]:
        """The recordings, the latest first."""
        return pages("/v1/workflows/recordings", m.RecordingPage, query=query)

    @operation
    def record(self, **recording: Unpack[p.NewRecording]) -> Call[m.Recording]:
        """Begin to record a workflow while it is carried out."""
        return post("/v1/workflows/recordings", m.Recording, body=recording)

    @operation
    def recording(self, recording_id: Id) -> Call[m.Recording]:
        """One recording."""
        return get("/v1/workflows/recordings/{id}", m.Recording, recording_id)

    @operation
    def add_step(self, recording_id: Id, **step: Unpack[p.NewStep]) -> Call[m.Recording]:
        """Record a step."""
        return post("/v1/workflows/recordings/{id}/steps", m.Recording, recording_id, body=step)

    @operation
    def finish(self, recording_id: Id) -> Call[m.WrittenMemory]:
        """Make a workflow of a recording."""
        return post("/v1/workflows/recordings/{id}/finish", m.WrittenMemory, recording_id)

    @operation
    def discard(self, recording_id: Id) -> Call[m.Recording]:
        """End a recording without one."""
        return post("/v1/workflows/recordings/{id}/discard", m.Recording, recording_id)
