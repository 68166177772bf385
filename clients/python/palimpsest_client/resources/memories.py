"""Memories, and what becomes of those that contradict, wait for a yes or are consolidated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Id, Paged, get, pages, post
from palimpsest_client.operations import Resource, SenderT, operation

Written = list[m.WrittenMemory]


class Memories(Resource[SenderT]):
    """`/v1/memories`."""

    @operation
    def list(self, **query: Unpack[p.MemoriesListQuery]) -> Paged[m.MemoryPage, m.Memory]:
        """The memories that the key may see, the latest first."""
        return pages("/v1/memories", m.MemoryPage, query=query)

    @operation
    def create(self, **memory: Unpack[p.NewMemory]) -> Call[m.WrittenMemory]:
        """Store one; the answer's `outcome` says what became of it."""
        return post("/v1/memories", m.WrittenMemory, body=memory)

    @operation
    def create_many(self, memories: Sequence[p.NewMemory]) -> Call[Written]:
        """Store up to 500 in one transaction: all of them or, if one is wrong, none."""
        return post("/v1/memories", Written, body=memories)

    @operation
    def get(self, memory_id: Id) -> Call[m.ReadMemory]:
        """One memory."""
        return get("/v1/memories/{id}", m.ReadMemory, memory_id)

    @operation
    def move(self, memory_id: Id, **move: Unpack[p.Move]) -> Call[m.Memory]:
        """Give it to another scope, with whom it belongs to there, or make it of another type."""
        return Call("PATCH", "/v1/memories/{id}", {200: m.Memory}, (memory_id,), body=move)

    @operation
    def delete(self, memory_id: Id, **query: Unpack[p.MemoriesDestroyQuery]) -> Call[m.Memory]:
        """Hide it from every reader; it can be restored until it is purged."""
        return Call("DELETE", "/v1/memories/{id}", {200: m.Memory}, (memory_id,), query)

    @operation
    def search(self, **query: Unpack[p.MemoriesSearchRetrieveQuery]) -> Call[m.Search]:
        """The search results for a question, best first."""
        return get("/v1/memories/search", m.Search, query=query)

    @operation
    def history(
        self, memory_id: Id, **query: Unpack[p.MemoriesHistoryQuery]
    ) -> Paged[m.History, m.Step]:
        """The history of a memory in all its versions, which each page names."""
        return pages("/v1/memories/{id}/history", m.History, memory_id, query=query)

    @operation
    def related(self, memory_id: Id) -> Call[m.Related]:
        """The memories that a memory is linked with, the strongest link first."""
        return get("/v1/memories/{id}/related", m.Related, memory_id)

    @operation
    def correct(self, memory_id: Id, **correction: Unpack[p.Correction]) -> Call[m.WrittenMemory]:
        """Replace it by a new version."""
        return post("/v1/memories/{id}/correct", m.WrittenMemory, memory_id, body=correction)

    @operation
    def feedback(self, memory_id: Id, **feedback: Unpack[p.Feedback]) -> Call[m.Memory]:
        """Say whether it was of use."""
        return post("/v1/memories/{id}/feedback", m.Memory, memory_id, body=feedback)

    @operation
    def pin(self, memory_id: Id, *, pinned: bool = True, reason: str = "") -> Call[m.Memory]:
        """Have it in every prompt."""
        body = {"pinned": pinned, "reason": reason}
        return post("/v1/memories/{id}/pin", m.Memory, memory_id, body=body)

    @operation
    def unpin(self, memory_id: Id, *, reason: str = "") -> Call[m.Memory]:
        """Have it in prompts by its relevance alone."""
        body = {"pinned": False, "reason": reason}
        return post("/v1/memories/{id}/pin", m.Memory, memory_id, body=body)

    @operation
    def confirm(self, memory_id: Id, *, confirmed: bool = True, reason: str = "") -> Call[m.Memory]:
        """Vouch as a person for what a tool or a web page alone says, or undo that."""
        body = {"confirmed": confirmed, "reason": reason}
        return post("/v1/memories/{id}/confirm", m.Memory, memory_id, body=body)

    @operation
    def promote(self, memory_id: Id, **promotion: Unpack[p.Promote]) -> Call[m.PromotedMemory]:
        """Give it to more readers."""
        return post("/v1/memories/{id}/promote", m.PromotedMemory, memory_id, body=promotion)

    @operation
    def restore(self, memory_id: Id, **reason: Unpack[p.Reason]) -> Call[m.Memory]:
        """Take a deletion or an archiving back."""
        return post("/v1/memories/{id}/restore", m.Memory, memory_id, body=reason)


class Contradictions(Resource[SenderT]):
    """`/v1/contradictions`."""

    @operation
    def list(
        self, **query: Unpack[p.ContradictionsListQuery]
    ) -> Paged[m.ContradictionPage, m.Contradiction]:
        """Pairs of memories that cannot both hold, the latest first."""
        return pages("/v1/contradictions", m.ContradictionPage, query=query)

    @operation
    def get(self, contradiction_id: Id) -> Call[m.Contradiction]:
        """One contradiction."""
        return get("/v1/contradictions/{id}", m.Contradiction, contradiction_id)

    @operation
    def resolve(
        self, contradiction_id: Id, **resolution: Unpack[p.Resolution]
    ) -> Call[m.SettledContradiction]:
        """Settle it."""
        path = "/v1/contradictions/{id}/resolve"
        return post(path, m.SettledContradiction, contradiction_id, body=resolution)

    @operation
    def undo(self, contradiction_id: Id, **undo: Unpack[p.Undo]) -> Call[m.UndoneSettlement]:
        """Take its settlement back, wholly or not at all."""
        return post("/v1/contradictions/{id}/undo", m.UndoneSettlement, contradiction_id, body=undo)


class ConsentRequests(Resource[SenderT]):
    """`/v1/consent-requests`."""

    @operation
    def list(
        self, **query: Unpack[p.ConsentRequestsListQuery]
    ) -> Paged[m.ConsentRequestPage, m.ConsentRequest]:
        """Changes that wait, or waited, for a yes."""
        return pages("/v1/consent-requests", m.ConsentRequestPage, query=query)

    @operation
    def approve(
        self, request_id: Id, **decision: Unpack[p.ConsentDecision]
    ) -> Call[m.ConsentRequest]:
        """Say yes: the change is made."""
        path = "/v1/consent-requests/{id}/approve"
        return post(path, m.ConsentRequest, request_id, body=decision)

    @operation
    def reject(
        self, request_id: Id, **decision: Unpack[p.ConsentDecision]
    ) -> Call[m.ConsentRequest]:
        """Say no: everything stays as it is."""
        return post("/v1/consent-requests/{id}/reject", m.ConsentRequest, request_id, body=decision)

    @operation
    def undo(self, request_id: Id, **decision: Unpack[p.ConsentDecision]) -> Call[m.ConsentRequest]:
        """Undo a decision: the request waits again, and what a yes changed is as before."""
        return post("/v1/consent-requests/{id}/undo", m.ConsentRequest, request_id, body=decision)


class Consolidation(Resource[SenderT]):
    """`/v1/consolidate` and its runs."""

    @operation
    def start(self, **options: Unpack[p.Consolidate]) -> Call[m.Consolidated | m.ConsolidationRun]:
        """Begin a run; what is done at once comes with its first changes (Consolidated)."""
        answers = {200: m.Consolidated, 202: m.ConsolidationRun}
        return Call("POST", "/v1/consolidate", answers, body=options)

    @operation
    def list(
        self, **query: Unpack[p.ConsolidationRunsListQuery]
    ) -> Paged[m.ConsolidationRunPage, m.ConsolidationRun]:
        """The runs, the latest first."""
        return pages("/v1/consolidate/runs", m.ConsolidationRunPage, query=query)

    @operation
    def get(self, run_id: Id) -> Call[m.ConsolidationRun]:
        """One run."""
        return get("/v1/consolidate/runs/{id}", m.ConsolidationRun, run_id)

    @operation
    def changes(
        self, run_id: Id, **query: Unpack[p.ConsolidationRunsChangesQuery]
    ) -> Paged[m.ConsolidationChangePage, m.ConsolidationChange]:
        """The changes that a run made, or would make."""
        path = "/v1/consolidate/runs/{id}/changes"
        return pages(path, m.ConsolidationChangePage, run_id, query=query)

    @operation
    def undo(self, run_id: Id) -> Call[m.ConsolidationRun]:
        """Take a run back, wholly or not at all."""
        return post("/v1/consolidate/runs/{id}/undo", m.ConsolidationRun, run_id)
