"""The one write path: embed, duplicate, contradiction, consent, insert or version, link, tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from django.conf import settings

from memory.domain.audience import Reach, Viewer
from memory.domain.judgements import differs_in_case
from memory.domain.text.words import dedupe_key, normalise_text
from memory.domain.types import Asker, Statement
from memory.models import Memory
from memory.selectors.neighbours import Neighbour
from memory.understanding.ports import PreparingJudge
from memory.understanding.tools import Tools
from memory.writing.background import run_write, send_after_commit
from memory.writing.conflicts import PriorDecisions, Ruling, locked_ruling, pairs_to_judge, rule_on
from memory.writing.consent import consent
from memory.writing.counters import count_written
from memory.writing.drafts import MemoryDraft, Outcome, PreparedDraft, WriteResult, stacked
from memory.writing.neighbours import NeighbourSearch, readers_in
from memory.writing.repetitions import ExternalIds, StoredFacts, corroborate
from memory.writing.rows import (
    apply_version,
    insert_links,
    insert_memories,
    new_row,
    record_conflicts,
    retire_superseded,
    take_over,
)
from teams.errors import ConflictError
from teams.prepared import load_sql_parts, run_prepared
from teams.services.team_settings import flags_of_id, require_memory
from teams.tenancy import team_scope
from teams.tracing import note, step

KEEP_TO_LIMIT_TASK = "memory.tasks.keep_project_to_limit"
# Of a larger write, a worker embeds the unchecked drafts after they are stored.
EMBEDDED_AT_ONCE = 50
_ATTEMPTS = 4
_GATHER_SECONDS = 5
_LOCK = load_sql_parts(__file__, "write_path.sql")["lock"]


# -- before the transaction ------------------------------------------------------------------


@step("write.prepare")
def prepare(
    *,
    drafts: Sequence[MemoryDraft],
    tools: Tools,
    note: Callable[[str], object] = lambda _: None,
) -> list[PreparedDraft]:
    """Embeds the drafts in one batch and lets the judge think ahead.

    Of more than EMBEDDED_AT_ONCE drafts only those to be checked are embedded. `note` receives
    what replaced the judge, and why. Call it outside any transaction: the embedder and the judge
    may be remote. Raises UnavailableError when the embedder does not answer.
    """
    is_bulk = len(drafts) > EMBEDDED_AT_ONCE
    places = [place for place, draft in enumerate(drafts) if draft.check or not is_bulk]
    contents = [drafts[place].content for place in places]
    vectors = dict(zip(places, tools.embedder.embed(contents), strict=True)) if contents else {}
    next_model, following = tools.next_vectors(contents)
    next_vectors = dict(zip(places, following, strict=True))
    prepared = [
        PreparedDraft(
            draft,
            vectors.get(place),
            dedupe_key(draft.content, draft.owner),
            next_vectors.get(place),
            next_model if place in next_vectors else "",
        )
        for place, draft in enumerate(drafts)
    ]
    if problem := _ask_judge_ahead(prepared=prepared, tools=tools):
        note(problem)
    return prepared


@step("contradictions.judge")
def _ask_judge_ahead(*, prepared: Sequence[PreparedDraft], tools: Tools) -> str:
    """Lets the judge prepare the pairs of the drafts; returns what it could not judge, and why.

    The neighbours are read in a transaction that ends before the judge is asked. What changes in
    between the judge answers without a model.
    """
    judge = tools.judge
    drafts = [item.draft for item in prepared]
    checked = [index for index, draft in enumerate(drafts) if draft.check]
    if not checked or not isinstance(judge, PreparingJudge):
        return ""
    team_id = drafts[checked[0]].team_id
    with team_scope(team_ids=[team_id], actor="judge"):
        if not flags_of_id(team_id=team_id).contradiction_detection:
            return ""
        search = NeighbourSearch(
            drafts=drafts,
            vectors=stacked(prepared),
            embedding_model=tools.embedder.name,
            readers=readers_in(team_id=team_id),
        )
        neighbours: dict[int, list[Neighbour]] = {}
        for index in checked:
            neighbours[index] = search.of(index)
            search.add(index, new_row(drafts[index]))
    pairs: list[tuple[Statement, Statement]] = []
    askers: list[Asker] = []
    anchor = tools.embedder.opposition_similarity
    for index, near in neighbours.items():
        draft = drafts[index]
        if not draft.replaces and any(_say_the_same(each.memory, draft) for each in near):
            continue  # found by its words and never judged
        found = pairs_to_judge(draft=draft, neighbours=near, anchor=anchor)
        pairs += [(pair.existing, pair.new) for pair in found]
        asker = Asker(draft.team_id, draft.author_id or draft.agent_id, draft.end_user_id)
        askers += [asker] * len(found)
    return judge.prepare(pairs, askers=askers).problem


def _say_the_same(memory: Memory, draft: MemoryDraft) -> bool:
    one, other = memory.content, draft.content
    return normalise_text(one) == normalise_text(other) and not differs_in_case(one, other)


# -- the transaction -------------------------------------------------------------------------


def write_memories(
    *, viewer: Viewer, drafts: Sequence[MemoryDraft], tools: Tools, reason: str = ""
) -> list[WriteResult]:
    """Writes the drafts in one transaction and returns the results in order.

    Raises ConflictError when other writers keep taking the same facts in between, and its
    DraftRefusedError for an external id that is taken.
    """
    judging: list[str] = []
    prepared = prepare(drafts=drafts, tools=tools, note=judging.append)

    def transaction() -> list[WriteResult]:
        with team_scope(
            team_ids=[viewer.team_id], actor=viewer.actor, reason=reason, is_planned_once=True
        ):
            return store(viewer=viewer, prepared=prepared, tools=tools)

    results = run_write(transaction)
    return [replace(each, judging=tuple(judging)) for each in results] if judging else results


@step("write.store")
def store(*, viewer: Viewer, prepared: Sequence[PreparedDraft], tools: Tools) -> list[WriteResult]:
    """Writes prepared drafts inside the caller's transaction and team scope.

    Raises ForbiddenError where the team has memory switched off. Where it has contradictions
    switched off, nothing is judged: only the same words are a repetition.
    """
    if not prepared:
        return []
    flags = flags_of_id(team_id=viewer.team_id)
    require_memory(flags)
    lock_owners(
        (item.draft.team_id, item.draft.end_user_id) for item in prepared if item.draft.check
    )
    results = Write(viewer, prepared, tools, is_judged=flags.contradiction_detection).run()
    count_written(results)
    outcomes = Counter(f"written.{each.outcome.value}" for each in results)
    note({**outcomes, "conflicts": sum(each.conflicts for each in results)})
    _note_growth(results)
    return results


def lock_owners(owners: Iterable[tuple[UUID, UUID | None]]) -> None:
    """Excludes other writers of each (team, end user) until the transaction ends."""
    names = {f"memory-writes|{team_id}|{end_user_id}" for team_id, end_user_id in owners}
    if names:
        run_prepared(_LOCK, [sorted(names)])


def _note_growth(results: Iterable[WriteResult]) -> None:
    grown = {
        (result.memory.team_id, result.memory.project_id)
        for result in results
        if result.memory.project_id is not None
        and result.outcome not in (Outcome.DUPLICATE, Outcome.HELD)
    }
    for team_id, project_id in grown:
        keep_to_limit_soon(team_id, project_id)


def keep_to_limit_soon(team_id: UUID, project_id: UUID) -> None:
    """Has a project held to its limit of memories once the transaction commits."""
    send_after_commit(KEEP_TO_LIMIT_TASK, team_id, project_id, gather_seconds=_GATHER_SECONDS)


class Write:
    """One write in progress: what is stored, and what waits to be stored by one statement.

    A single draft may be of a stored memory, `moved` or restored: it is not compared with itself,
    and the viewer's own decisions against it do not count.
    """

    def __init__(
        self,
        viewer: Viewer,
        prepared: Sequence[PreparedDraft],
        tools: Tools,
        *,
        is_judged: bool,
        moved: Memory | None = None,
    ) -> None:
        drafts = [item.draft for item in prepared]
        readers = readers_in(team_id=viewer.team_id, agent_id=viewer.agent_id)
        self._viewer = viewer
        self._prepared = prepared
        self._embedder = tools.embedder
        self._judge = tools.judge if is_judged else None
        self.gate = consent().gate(viewer=viewer, readers=readers)
        self._external_ids = ExternalIds(viewer=viewer, drafts=drafts, readers=readers)
        self.facts = StoredFacts(team_id=viewer.team_id, prepared=prepared, readers=readers)
        self._search = NeighbourSearch(
            drafts=drafts,
            vectors=stacked(prepared),
            embedding_model=tools.embedder.name,
            readers=readers,
        )
        self._search.drop([moved.pk] if moved else [])
        self._decisions = PriorDecisions(
            drafts=drafts if is_judged else (),
            near=self._search.stored,
            readers=readers,
            without=viewer.actor if moved else "",
        )
        self._waiting: list[tuple[Memory, PreparedDraft]] = []
        self._links: list[tuple[Memory, UUID, float, str]] = []
        self._ruled: list[tuple[Memory, Ruling]] = []
        # Memories that wait, or of which something waits to be recorded.
        self._unstored: set[UUID] = set()

    def run(self) -> list[WriteResult]:
        """Writes one draft after the other, so that each is compared with those before it."""
        results = []
        for index, item in enumerate(self._prepared):
            result = self._repeated(index, item) or self._written(index, item)
            results.append(result)
            if result.outcome is not Outcome.HELD:
                self._external_ids.keep(item.draft, result)
        self._flush()
        return results

    def _repeated(self, index: int, item: PreparedDraft) -> WriteResult | None:
        draft = item.draft
        named = self._external_ids.stored_for(index)
        if named is not None:
            return WriteResult(named, Outcome.DUPLICATE)
        existing = self.facts.same_as(item) if draft.check and not draft.replaces else None
        if existing is None:
            return None
        self._flush()
        return WriteResult(corroborate(existing=existing, draft=draft), Outcome.DUPLICATE)

    def _written(self, index: int, item: PreparedDraft) -> WriteResult:
        if self.gate.is_about_profile(item.draft):
            self._flush()  # what the person said a moment ago counts as well
        neighbours, ruling = self.ruling(index)
        held, ruling = self.gate.rule(item=item, ruling=ruling)
        if held is not None:
            return held
        nearest = max((each.similarity for each in neighbours), default=None)
        retired = tuple(old.pk for old in ruling.superseded)
        self.facts.forget(retired)
        if ruling.duplicate_of is not None:
            memory = corroborate(existing=ruling.duplicate_of, draft=item.draft)
            if retired:
                take_over(memory=memory, ruling=ruling)
                retire_superseded(memory=memory, ruling=ruling, actor=self._viewer.actor)
                consent().release_pins(memory=memory)
        else:
            memory = self._insert(index, item, neighbours, ruling)
        self._search.drop(retired)
        conflicts = len(ruling.recorded) + ruling.is_objected
        return WriteResult(memory, ruling.outcome, conflicts, retired, similarity=nearest)

    def _insert(
        self, index: int, item: PreparedDraft, neighbours: Sequence[Neighbour], ruling: Ruling
    ) -> Memory:
        memory = new_row(item.draft, actor=self._viewer.actor, key=item.key)
        if not ruling.is_clear:
            apply_version(memory=memory, ruling=ruling)
            retire_superseded(memory=memory, ruling=ruling, actor=self._viewer.actor)
            self._ruled.append((memory, ruling))
            self._unstored.update(each.pk for each in ruling.memories)
        consent().release_pins(memory=memory)
        self._waiting.append((memory, item))
        self._unstored.add(memory.pk)
        self._links += [(memory, *link) for link in _links(neighbours, ruling)]
        if item.draft.check:
            self.facts.take_key(item, memory)
            if memory.is_live:
                self._search.add(index, memory)
        return memory

    def ruling(self, index: int) -> tuple[list[Neighbour], Ruling]:
        """Returns the neighbours and a ruling that holds until the transaction ends."""
        item, decided = self._prepared[index], self._decisions.on(index)
        twin = self.facts.same_as(item) if item.draft.check and item.draft.replaces else None
        for _ in range(_ATTEMPTS):
            neighbours = self._search.of(index)
            ruling = rule_on(
                draft=item.draft,
                neighbours=neighbours,
                judge=self._judge,
                anchor=self._embedder.opposition_similarity,
                decided=decided,
            )
            if twin is not None and twin.pk not in item.draft.replaces:
                ruling = ruling.as_repetition(twin)
            if item.draft.is_agreed:
                ruling = ruling.as_agreed()
            if any(memory.pk in self._unstored for memory in ruling.memories):
                self._flush()
            locked = locked_ruling(ruling)
            if locked is not None:
                return neighbours, locked
            self._flush()
            self._search.read_again(memory.pk for memory in ruling.memories)
        raise ConflictError("Related memories were changed concurrently. Retry the request.")

    def _flush(self) -> None:
        """Stores the waiting memories, links and conflicts."""
        insert_memories(self._waiting, embedding_model=self._embedder.name)
        if self._links:
            insert_links(self._links)
        if self._ruled and self._judge is not None:
            record_conflicts(ruled=self._ruled, judge=self._judge.name)
        self._waiting, self._links, self._ruled, self._unstored = [], [], [], set()


def _links(neighbours: Sequence[Neighbour], ruling: Ruling) -> list[tuple[UUID, float, str]]:
    """Returns the neighbours that say nearly the same, and the few nearest that are near enough.

    They are memories that all readers of the new one may see. Those that it contradicts without
    changing them are linked as such.
    """
    near = [each for each in neighbours if each.similarity >= settings.LINK_SIMILARITY]
    linked = {each.memory.pk: each for each in (*ruling.alike, *near)}
    most = max(settings.LINKED_NEIGHBOURS, len(ruling.alike))
    against = {each.memory.pk: each for each in ruling.untouched}
    found = {
        "contradicts": list(against.values()),
        "related_to": [
            each
            for pk, each in linked.items()
            if pk not in against and each.reach is not Reach.NARROWER
        ][:most],
    }
    return [
        (each.memory.pk, min(1.0, max(0.0, each.similarity)), relation_type)
        for relation_type, rows in found.items()
        for each in rows
        if each.reach is not Reach.NARROWER
    ]
