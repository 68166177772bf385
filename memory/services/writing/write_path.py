"""The one write path: embed → duplicate → contradiction → insert, version or skip → link → tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
from django.conf import settings

from memory.clients.tools import Tools
from memory.domain.audience import Reach
from memory.domain.judging.duplicates_only import DuplicatesOnly
from memory.domain.text import dedupe_key
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.selectors.meeting.neighbours import Neighbour
from memory.services.retrying import run_write
from memory.services.writing.conflicts import (
    apply_version,
    hold,
    record_conflicts,
    retire_superseded,
    rule_on,
)
from memory.services.writing.corroborating import corroborate
from memory.services.writing.decisions import Decisions
from memory.services.writing.drafts import MemoryDraft, Outcome, WriteResult
from memory.services.writing.external_ids import (
    Named,
    external_key,
    keep_name,
    refuse_taken,
    stored_external_ids,
)
from memory.services.writing.inserting import PreparedDraft, insert_links, insert_memories, new_row
from memory.services.writing.judging import prepare_judgements
from memory.services.writing.readers import readers_in
from memory.services.writing.rulings import Ruling
from memory.services.writing.standing_facts import StandingFacts
from memory.services.writing.surroundings import Surroundings
from memory.services.writing.turns import take_turns
from teams.errors import ConflictError
from teams.services.flags import flags_of_id, require_memory
from teams.tenancy import team_scope

_ATTEMPTS = 4


def prepare(*, drafts: Sequence[MemoryDraft], tools: Tools) -> list[PreparedDraft]:
    """Embed the drafts in one batch and let the judge think ahead.

    Call it outside any transaction: the embedder and the judge may be remote. Raises
    UnavailableError when the embedder does not answer.
    """
    contents = [draft.content for draft in drafts]
    vectors = tools.embedder.embed(contents)
    next_model, next_vectors = tools.next_vectors(contents)
    prepare_judgements(drafts=drafts, vectors=vectors, tools=tools)
    return [
        PreparedDraft(
            draft, vector, dedupe_key(draft.content, draft.audience), next_vector, next_model
        )
        for draft, vector, next_vector in zip(drafts, vectors, next_vectors, strict=True)
    ]


def write_memories(
    *, viewer: Viewer, drafts: Sequence[MemoryDraft], tools: Tools, reason: str = ""
) -> list[WriteResult]:
    """Write the drafts in one transaction and say for each what happened, in order.

    Raises ConflictError when other writers keep taking the same facts in between, and its
    DraftRefusedError for an external id that is taken.
    """
    prepared = prepare(drafts=drafts, tools=tools)

    def transaction() -> list[WriteResult]:
        with team_scope(
            team_ids=[viewer.team_id], actor=viewer.actor, reason=reason, is_planned_once=True
        ):
            return store(viewer=viewer, prepared=prepared, tools=tools)

    return run_write(transaction)


def store(*, viewer: Viewer, prepared: Sequence[PreparedDraft], tools: Tools) -> list[WriteResult]:
    """Write prepared drafts inside the caller's transaction and team scope.

    Raises ForbiddenError where the team has memory switched off. Where it has contradictions
    switched off, only repetitions are looked for.
    """
    if not prepared:
        return []
    flags = flags_of_id(team_id=viewer.team_id)
    require_memory(flags)
    is_judged = flags.contradiction_detection
    if not is_judged:
        tools = replace(tools, judge=DuplicatesOnly())
    take_turns(
        (item.draft.team_id, item.draft.end_user_id) for item in prepared if item.draft.check
    )
    return _Write(viewer, prepared, tools, is_judged=is_judged).run()


class _Write:
    """One write under way: what is stored, and what waits to be stored in one statement."""

    def __init__(
        self,
        viewer: Viewer,
        prepared: Sequence[PreparedDraft],
        tools: Tools,
        *,
        is_judged: bool,
    ) -> None:
        self._viewer = viewer
        self._prepared = prepared
        self._tools = tools
        self._by_external_id = stored_external_ids(
            viewer=viewer, drafts=[item.draft for item in prepared]
        )
        self._readers = readers_in(team_id=viewer.team_id, agent_id=viewer.agent_id)
        self._facts = StandingFacts(
            team_id=viewer.team_id, prepared=prepared, readers=self._readers
        )
        self._surroundings = Surroundings(
            drafts=[item.draft for item in prepared],
            vectors=np.stack([item.vector for item in prepared]),
            embedding_model=tools.embedder.name,
            opposition_similarity=tools.embedder.opposition_similarity,
            readers=self._readers,
        )
        self._decisions = Decisions(
            prepared=prepared if is_judged else (),
            near=self._surroundings.stored,
            readers=self._readers,
        )
        self._waiting: list[tuple[Memory, PreparedDraft]] = []
        self._links: list[tuple[Memory, UUID, float]] = []
        self._ruled: list[tuple[Memory, Ruling]] = []
        self._unstored: set[UUID] = set()  # of what waits, and of what is to be noted of others

    def run(self) -> list[WriteResult]:
        results = []
        for index, item in enumerate(self._prepared):
            result = self._repeated(index, item) or self._written(index, item)
            results.append(result)
            self._keep_external_id(item.draft, result)
        self._flush()
        return results

    def _repeated(self, index: int, item: PreparedDraft) -> WriteResult | None:
        """The result of a draft that is stored already, by its external id or its words."""
        draft = item.draft
        named = self._by_external_id.get(external_key(draft)) if draft.external_id else None
        if named is not None:
            refuse_taken(draft=draft, named=named, index=index, readers=self._readers)
            return WriteResult(named.standing, Outcome.DUPLICATE)
        existing = self._facts.same_as(item) if draft.check and not draft.replaces else None
        if existing is None:
            return None
        self._flush()
        return WriteResult(corroborate(existing=existing, draft=draft), Outcome.DUPLICATE)

    def _keep_external_id(self, draft: MemoryDraft, result: WriteResult) -> None:
        """What was acknowledged under an id stays known under it, also where it was no new fact."""
        if not draft.external_id or external_key(draft) in self._by_external_id:
            return
        self._by_external_id[external_key(draft)] = Named.of(result.memory, draft)
        if result.outcome == Outcome.DUPLICATE:
            keep_name(draft=draft, memory=result.memory)

    def _written(self, index: int, item: PreparedDraft) -> WriteResult:
        neighbours, ruling = self._judged(index)
        self._facts.forget(old.pk for old in ruling.superseded)
        if ruling.is_clear:
            memory = new_row(self._viewer, item)
            self._enqueue(index, item, memory, neighbours)
            return WriteResult(memory, Outcome.CREATED, similarity=_nearest(neighbours))
        result = self._carry_out(index, item, neighbours, ruling)
        self._surroundings.drop(result.retired)
        return replace(result, similarity=_nearest(neighbours))

    def _carry_out(
        self, index: int, item: PreparedDraft, neighbours: Sequence[Neighbour], ruling: Ruling
    ) -> WriteResult:
        actor, retired = self._viewer.actor, tuple(old.pk for old in ruling.superseded)
        if ruling.duplicate_of is not None:
            retire_superseded(memory=ruling.duplicate_of, ruling=ruling, actor=actor)
            existing = corroborate(existing=ruling.duplicate_of, draft=item.draft)
            return WriteResult(existing, Outcome.DUPLICATE, retired=retired)
        memory = new_row(self._viewer, item)
        apply_version(memory=memory, ruling=ruling)
        retire_superseded(memory=memory, ruling=ruling, actor=actor)
        self._enqueue(index, item, memory, neighbours)
        self._ruled.append((memory, ruling))
        self._unstored.update(each.pk for each in ruling.met)
        conflicts = len(ruling.recorded) + ruling.is_objected
        return WriteResult(memory, ruling.outcome, conflicts, retired)

    def _enqueue(
        self, index: int, item: PreparedDraft, memory: Memory, neighbours: Sequence[Neighbour]
    ) -> None:
        """Store the memory with the next statement, and let later drafts meet it now."""
        self._waiting.append((memory, item))
        self._unstored.add(memory.pk)
        near = [
            each
            for each in neighbours
            if each.similarity >= settings.LINK_SIMILARITY and each.reach != Reach.NARROWER
        ]
        self._links += [
            (memory, each.memory.pk, min(1.0, each.similarity))
            for each in near[: settings.LINKED_NEIGHBOURS]
        ]
        if item.draft.check:
            self._facts.take_key(item, memory)
        if item.draft.check and memory.is_live:
            self._surroundings.add(index, memory)

    def _judged(self, index: int) -> tuple[list[Neighbour], Ruling]:
        """The neighbours and a ruling on them that holds until the transaction ends."""
        draft, decided = self._prepared[index].draft, self._decisions.on(index)
        for _ in range(_ATTEMPTS):
            neighbours = self._surroundings.of(index)
            ruling = rule_on(draft=draft, neighbours=neighbours, tools=self._tools, decided=decided)
            if not ruling.met:
                return neighbours, ruling
            if self._is_waiting(ruling):
                self._flush()
            held = hold(ruling)
            if held is not None:
                return neighbours, held
            self._flush()
            self._surroundings.look_again(memory.pk for memory in ruling.met)
        raise ConflictError("The memories it meets keep changing at this moment; send it again.")

    def _flush(self) -> None:
        insert_memories(self._waiting, embedding_model=self._tools.embedder.name)
        if self._links:
            insert_links(self._links)
        if self._ruled:
            record_conflicts(ruled=self._ruled, judge=self._tools.judge.name)
        self._waiting, self._links, self._ruled, self._unstored = [], [], [], set()

    def _is_waiting(self, ruling: Ruling) -> bool:
        """Whether something is to be stored, of what it met or about it."""
        return any(memory.pk in self._unstored for memory in ruling.met)


def _nearest(neighbours: Sequence[Neighbour]) -> float | None:
    return max((float(each.similarity) for each in neighbours), default=None)
