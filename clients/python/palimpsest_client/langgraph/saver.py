"""A checkpointer for LangGraph that keeps the states of graphs in Palimpsest."""

from __future__ import annotations

import random
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from pydantic_core import to_json

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.errors import Conflict, NotFound
from palimpsest_client.langgraph.connections import Connections

# The metadata by which LangGraph marks graphs whose values rest on earlier checkpoints.
_DELTA = "counters_since_delta_snapshot"
# Conflicts that end when all values are sent: some were not stored, or are others at their version.
_SENT_AGAIN = ("values", "channels")
_PAGE = 20
_KEEP: dict[str, Any] = {"keep_latest": "latest", "delete": "nothing"}  # Any: one of two words
Place = tuple[str, str, str]


class PalimpsestSaver(BaseCheckpointSaver[str]):
    """Saves each step of a graph, with what its tasks wrote, under its thread.

    `agent` is whose threads they are; without one they are the team's, apart from those of
    agents, and a key of one agent has that agent's. A thread is erased with the person whom
    `configurable["user_id"]` names, else `user`. Each method may be called or awaited; `settings`
    are those of Palimpsest, such as `timeout`. What the server refuses is a PalimpsestError.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        agent: str | None = None,
        user: str | None = None,
        serde: SerializerProtocol | None = None,
        **settings: Any,  # Any: as Palimpsest has them
    ) -> None:
        super().__init__(serde=serde)
        self._connections = Connections(base_url, api_key, **settings)
        self._agent = agent
        self._user = user

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._connections.aclose()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint of the config, else the latest of its thread and namespace."""
        return next(self._listed(self._one(config), limit=1), None)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As `get_tuple`."""
        async for found in self._alisted(self._one(config), limit=1):
            return found
        return None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's own name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints that match, the latest first; of all threads without a config."""
        return self._listed(self._query(config, filter, before), limit=limit)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's own name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        async for found in self._alisted(self._query(config, filter, before), limit=limit):
            yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; of its values only those that changed are sent."""
        thread, namespace, _ = _place_of(config)
        save = self._connections.waiting.checkpoints.save
        sent: ChannelVersions | None = new_versions
        is_saved, is_own = False, False
        while not is_saved:
            state = self._state(config, checkpoint, metadata, sent, is_own=is_own)
            try:
                save(thread, checkpoint["id"], **state)
                is_saved = True
            except Conflict as error:
                is_own = _becomes_own(error, is_whole=sent is None, is_own=is_own)
                sent = None
        return _config(thread, namespace, checkpoint["id"])

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """As `put`."""
        thread, namespace, _ = _place_of(config)
        save = self._connections.awaited.checkpoints.save
        sent: ChannelVersions | None = new_versions
        is_saved, is_own = False, False
        while not is_saved:
            state = self._state(config, checkpoint, metadata, sent, is_own=is_own)
            try:
                await save(thread, checkpoint["id"], **state)
                is_saved = True
            except Conflict as error:
                is_own = _becomes_own(error, is_whole=sent is None, is_own=is_own)
                sent = None
        return _config(thread, namespace, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Keep what a task wrote, so that it need not run again."""
        thread, _, checkpoint_id = _place_of(config)
        self._connections.waiting.checkpoints.add_writes(
            thread, checkpoint_id, **self._written(config, writes, task_id, task_path)
        )

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """As `put_writes`."""
        thread, _, checkpoint_id = _place_of(config)
        await self._connections.awaited.checkpoints.add_writes(
            thread, checkpoint_id, **self._written(config, writes, task_id, task_path)
        )

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with all its checkpoints and writes; an unknown one is no error."""
        with suppress(NotFound):
            self._connections.waiting.checkpoints.delete_thread(str(thread_id), **self._owner())

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        with suppress(NotFound):
            await self._connections.awaited.checkpoints.delete_thread(
                str(thread_id), **self._owner()
            )

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints and writes of these runs; unknown ones are no error."""
        with suppress(NotFound):
            self._connections.waiting.checkpoints.delete_runs(
                run_ids=[*map(str, run_ids)], **self._owner()
            )

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """As `delete_for_runs`."""
        with suppress(NotFound):
            await self._connections.awaited.checkpoints.delete_runs(
                run_ids=[*map(str, run_ids)], **self._owner()
            )

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread to a new one; NotFound for an unknown one."""
        self._connections.waiting.checkpoints.copy_thread(
            str(source_thread_id), target_id=str(target_thread_id), **self._owner()
        )

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """As `copy_thread`."""
        await self._connections.awaited.checkpoints.copy_thread(
            str(source_thread_id), target_id=str(target_thread_id), **self._owner()
        )

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all but the latest checkpoint of each namespace, or with "delete" all.

        Raises Conflict where a thread has a DeltaChannel, whose value rests on earlier
        checkpoints; then nothing is deleted.
        """
        threads = self._pruned(thread_ids, strategy)
        with suppress(NotFound):
            self._connections.waiting.checkpoints.prune(**threads)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """As `prune`."""
        threads = self._pruned(thread_ids, strategy)
        with suppress(NotFound):
            await self._connections.awaited.checkpoints.prune(**threads)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """A greater version, which differs between branches that go on from the same one."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():.16f}"  # noqa: S311 - no secret

    def _owner(self) -> dict[str, Any]:  # Any: as TypedDicts have it
        return {} if self._agent is None else {"agent": self._agent}

    def _owners(self, config: RunnableConfig) -> dict[str, Any]:  # Any: as above
        user = config["configurable"].get("user_id", self._user)
        return self._owner() | ({} if user is None else {"user": str(user)})

    def _one(self, config: RunnableConfig) -> p.CheckpointsListQuery:
        return self._query(config, None, None) | {"namespace": _place_of(config)[1]}

    def _query(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,  # noqa: A002 - as above
        before: RunnableConfig | None,
    ) -> p.CheckpointsListQuery:
        query: dict[str, Any] = self._owner()  # Any: as above
        if config:
            given = config["configurable"]
            query["thread_id"] = str(given["thread_id"])
            if given.get("checkpoint_ns") is not None:
                query["namespace"] = given["checkpoint_ns"]
            if checkpoint_id := get_checkpoint_id(config):
                query["checkpoint_id"] = checkpoint_id
        if filter:
            query["metadata"] = to_json(filter).decode()
        if before is not None and (checkpoint_id := get_checkpoint_id(before)):
            query["before"] = checkpoint_id
        return query  # type: ignore[return-value]  # a TypedDict of it

    def _listed(
        self, query: p.CheckpointsListQuery, *, limit: int | None
    ) -> Iterator[CheckpointTuple]:
        size: Any = {"limit": max(1, min(limit or _PAGE, _PAGE))}  # Any: as above
        with suppress(NotFound):
            found = self._connections.waiting.checkpoints.list(**(query | size))
            for each in islice(found, limit):
                yield self._tuple(each)

    async def _alisted(
        self, query: p.CheckpointsListQuery, *, limit: int | None
    ) -> AsyncIterator[CheckpointTuple]:
        size: Any = {"limit": max(1, min(limit or _PAGE, _PAGE))}  # Any: as above
        left = limit
        with suppress(NotFound):
            async for each in self._connections.awaited.checkpoints.list(**(query | size)):
                if left is not None:
                    if left < 1:
                        return
                    left -= 1
                yield self._tuple(each)
                if left == 0:
                    return

    def _state(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions | None,
        *,
        is_own: bool = False,
    ) -> Any:  # Any: a GraphCheckpoint
        """Returns the body to send: the values of the new versions, or all where those are None.

        With `is_own` all values are stored for this checkpoint alone.
        """
        _, namespace, parent = _place_of(config)
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        # A value without a version belongs to this checkpoint alone.
        shared = {} if is_own else versions
        channels = {name: str(shared.get(name, checkpoint["id"])) for name in values}
        sent = {
            *(values if new_versions is None else new_versions),
            *values.keys() - versions.keys(),
        }
        told = get_serializable_checkpoint_metadata(config, metadata)
        return {
            **self._owners(config),
            "namespace": namespace,
            "parent_id": parent,
            "data": {name: each for name, each in checkpoint.items() if name != "channel_values"},
            "metadata": told,
            "channels": channels,
            "values": [
                {"channel": name, **self._encoded(value)}
                for name, value in values.items()
                if name in sent
            ],
            "needs_ancestors": _DELTA in told
            or any(isinstance(value, _DeltaSnapshot) for value in values.values()),
        }

    def _written(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Any:  # Any: GraphWrites
        return {
            **self._owners(config),
            "namespace": _place_of(config)[1],
            "task_id": task_id,
            "task_path": task_path,
            "replace": all(channel in WRITES_IDX_MAP for channel, _ in writes),
            "writes": [
                {
                    "index": WRITES_IDX_MAP.get(channel, place),
                    "channel": channel,
                    **self._encoded(value),
                }
                for place, (channel, value) in enumerate(writes)
            ],
        }

    def _pruned(self, thread_ids: Sequence[str], strategy: str) -> Any:  # Any: ThreadIds
        if isinstance(thread_ids, str):
            raise TypeError("thread_ids must be a sequence of thread ids, not a text")
        if strategy not in _KEEP:
            raise ValueError(f"Unknown strategy: {strategy!r}")
        return {"thread_ids": [*map(str, thread_ids)], "keep": _KEEP[strategy], **self._owner()}

    def _encoded(self, value: Any) -> dict[str, str]:  # Any: whatever a graph holds
        kind, data = self.serde.dumps_typed(value)
        return {"type": kind, "value": b64encode(data).decode()}

    def _tuple(self, found: m.LoadedGraph) -> CheckpointTuple:
        thread, namespace = found.thread_id, found.namespace
        values = {
            each.channel: self.serde.loads_typed((each.type, b64decode(each.value)))
            for each in found.values
        }
        checkpoint: Any = {**found.data, "channel_values": values}  # Any: a TypedDict
        metadata: Any = found.metadata  # Any: as above
        return CheckpointTuple(
            config=_config(thread, namespace, found.checkpoint_id),
            checkpoint=checkpoint,
            metadata=metadata,
            parent_config=_config(thread, namespace, found.parent_id) if found.parent_id else None,
            pending_writes=[
                (
                    each.task_id,
                    each.channel,
                    self.serde.loads_typed((each.type, b64decode(each.value))),
                )
                for each in found.writes
            ],
        )


def _place_of(config: RunnableConfig) -> Place:
    """Thread, namespace and checkpoint; the last is empty where there is none."""
    given = config["configurable"]
    namespace, checkpoint_id = given.get("checkpoint_ns", ""), given.get("checkpoint_id")
    return str(given["thread_id"]), namespace, checkpoint_id or ""


def _becomes_own(error: Conflict, *, is_whole: bool, is_own: bool) -> bool:
    """Returns whether all values are to be sent as the checkpoint's own, else just all of them.

    Raises the conflict where neither ends it.
    """
    if is_own or error.field not in _SENT_AGAIN or (is_whole and error.field == "values"):
        raise error
    return bool(error.field == "channels")


def _config(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
        }
    }
