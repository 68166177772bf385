"""The data of agent graphs: their states, and the items of a store."""

from __future__ import annotations

from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Paged, pages, post, put
from palimpsest_client.operations import Resource, SenderT, operation


class Checkpoints(Resource[SenderT]):
    """`/v1/checkpoints` and those of `/v1/threads`: states of graphs, saved step by step."""

    @operation
    def list(
        self, **query: Unpack[p.CheckpointsListQuery]
    ) -> Paged[m.GraphCheckpointPage, m.LoadedGraph]:
        """States with their values and writes, the latest first."""
        return pages("/v1/checkpoints", m.GraphCheckpointPage, query=query)

    @operation
    def save(
        self, thread_id: str, checkpoint_id: str, **checkpoint: Unpack[p.GraphCheckpoint]
    ) -> Call[m.SavedGraph]:
        """Save a state; Conflict where it names values that are neither given nor stored."""
        path = "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}"
        parts = (thread_id, checkpoint_id)
        return put(path, m.SavedGraph, *parts, body=checkpoint, version=None, is_new=False)

    @operation
    def add_writes(
        self, thread_id: str, checkpoint_id: str, **writes: Unpack[p.GraphWrites]
    ) -> Call[m.SavedGraph]:
        """Keep what a task wrote after a state."""
        path = "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/writes"
        return post(path, m.SavedGraph, thread_id, checkpoint_id, body=writes)

    @operation
    def delete_thread(
        self, thread_id: str, **query: Unpack[p.CheckpointsDeleteThreadQuery]
    ) -> Call[m.CheckpointCount]:
        """Delete all states of a thread."""
        path = "/v1/threads/{thread_id}/checkpoints"
        return Call("DELETE", path, {200: m.CheckpointCount}, (thread_id,), query)

    @operation
    def copy_thread(self, thread_id: str, **copy: Unpack[p.Copy]) -> Call[m.CheckpointCount]:
        """Copy all states of a thread to a new one."""
        return post("/v1/threads/{thread_id}/copy", m.CheckpointCount, thread_id, body=copy)

    @operation
    def prune(self, **threads: Unpack[p.ThreadIds]) -> Call[m.CheckpointCount]:
        """Delete all but the latest states of threads, or all."""
        return post("/v1/checkpoints/prune", m.CheckpointCount, body=threads)

    @operation
    def delete_runs(self, **runs: Unpack[p.RunIds]) -> Call[m.CheckpointCount]:
        """Delete the states that runs saved."""
        return post("/v1/checkpoints/delete-runs", m.CheckpointCount, body=runs)


class Items(Resource[SenderT]):
    """`/v1/items`: values under namespaces and keys."""

    @operation
    def write(self, **items: Unpack[p.NewStoreItems]) -> Call[m.ItemsWritten]:
        """Keep and delete items, all or none."""
        return post("/v1/items", m.ItemsWritten, body=items)

    @operation
    def read(self, **reads: Unpack[p.ReadItems]) -> Call[m.ReadOfItems]:
        """Items by key, items that match, and namespaces, each in the order that was asked for."""
        return post("/v1/items/query", m.ReadOfItems, body=reads)
