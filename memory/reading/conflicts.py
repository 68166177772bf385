"""Contradictions among the candidates of an answer, and what speaks against each memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from threading import Lock
from uuid import UUID

from cachetools import LRUCache
from django.utils import timezone

from memory.domain.audience import Owner, Viewer
from memory.domain.clashes import Conflict, Fact, resolve_conflicts
from memory.domain.forms import never_contradict
from memory.domain.judgements import (
    as_compared,
    is_same_matter,
    is_specific,
    is_sure_enough,
    shared_words,
)
from memory.domain.rendering import Opposite
from memory.domain.talk import SUMMARY_TAG
from memory.domain.text.words import normalise_text
from memory.domain.types import Judgement, Statement, Verdict
from memory.models import Contradiction, Memory
from memory.models.memory import LIVE
from memory.reading.ranking import Ranked
from memory.selectors.contradictions import contradictions_visible_to, recorded_pairs
from memory.selectors.memories import memories_by_id
from memory.selectors.names import PersonNames
from memory.selectors.neighbours import Meaning, meanings_of
from memory.selectors.search.signal_rows import SignalRow
from memory.understanding.tools import Tools
from memory.writing.conflicts import strategy_of
from teams.tenancy import team_scope
from teams.tracing import step

# Of the candidates so many that come first are compared, and of their pairs so many judged: those
# with most words in common, of which there must be some.
MOST_COMPARED = 40
MOST_JUDGED = 6
_LEAST_SHARED = 0.2
# A subject with more memories than this is a topic and no single matter.
MOST_OF_A_SUBJECT = 5
_Pair = tuple[SignalRow, SignalRow]
# What was found of a pair stays true: the texts never change.
_judged: LRUCache[tuple[object, ...], Judgement | None] = LRUCache(20_000)
_judging = Lock()


@dataclass(frozen=True, slots=True)
class Clash:
    """Two candidates that contradict each other, which nobody has recorded."""

    earlier: SignalRow
    later: SignalRow
    judgement: Judgement
    judge: str

    def as_contradiction(self, *, earlier: Memory, later: Memory) -> Contradiction:
        """Returns an unsaved contradiction between the loaded memories, without an id."""
        verdict = self.judgement.verdict
        strategy = strategy_of(one=self.earlier.subject, other=self.later.subject, verdict=verdict)
        return Contradiction(
            id=None,
            team_id=earlier.team_id,
            memory_a=earlier,
            memory_b=later,
            strategy=strategy.value,
            judge=self.judgement.judge or self.judge,
            verdict=verdict.value,
            reason=self.judgement.reason,
            detected_at=timezone.now(),
        )


@step("retrieve.conflicts")
def clashes_among(*, viewer: Viewer, ranked: Sequence[Ranked], tools: Tools) -> list[Clash]:
    """Returns conflicts between live candidates that nobody has recorded; call it in scope.

    Memories of different owners are not always compared when they are stored: an agent's private
    memories must not show in what all see, and what is about nobody does not wait for what is about
    a person. A reader who sees both is told. Nothing is written, and settled pairs are no clashes,
    nor is what an unconfirmed memory says against a confirmed one.
    """
    rows = [
        each.row for each in ranked if each.row.is_live and SUMMARY_TAG not in (each.row.tags or ())
    ]
    pairs = [*_of_one_subject(rows), *_of_different_owners(viewer, rows[:MOST_COMPARED])]
    pairs = [
        pair if pair[0].said <= pair[1].said else (pair[1], pair[0])
        for pair in pairs
        if not _name_each_other(*pair) and pair[0].is_unconfirmed == pair[1].is_unconfirmed
    ]
    found = [
        Clash(*pair, judgement, tools.judge.name)
        for pair, judgement in zip(pairs, _judgements(viewer, pairs, tools), strict=True)
        if judgement is not None
    ]
    if not found:
        return []
    ids = {row.memory_id for each in found for row in (each.earlier, each.later)}
    recorded = recorded_pairs(team_id=viewer.team_id, ids=list(ids))
    return [
        each
        for each in found
        if frozenset((each.earlier.memory_id, each.later.memory_id)) not in recorded
    ]


def _of_one_subject(rows: Sequence[SignalRow]) -> list[_Pair]:
    by_subject: dict[str, list[SignalRow]] = defaultdict(list)
    for row in rows:
        if is_specific(row.subject):
            by_subject[row.subject].append(row)
    return [
        pair
        for group in by_subject.values()
        if len(group) <= MOST_OF_A_SUBJECT
        for pair in combinations(group, 2)
        if _may_concern_each_other(*pair) and not never_contradict(pair[0].form, pair[1].form)
    ]


def _of_different_owners(viewer: Viewer, rows: Sequence[SignalRow]) -> list[_Pair]:
    """The pairs of different readers and subjects with most words in common."""
    by_owner: dict[Owner, list[SignalRow]] = defaultdict(list)
    for row in rows:
        owner = Owner.of(
            team_id=viewer.team_id,
            memory_type=row.memory_type,
            agent_id=row.agent_id,
            end_user_id=row.end_user_id,
            project_id=row.project_id,
        )
        by_owner[owner].append(row)
    likely = [
        (shared, one, other)
        for ones, others in combinations(by_owner.values(), 2)
        if _may_concern_each_other(ones[0], others[0])
        for one in ones
        for other in others
        if not never_contradict(one.form, other.form)
        and (shared := shared_words(one.content, other.content)) >= _LEAST_SHARED
        and not is_same_matter(one.subject, other.subject)
        # A copy says nothing against it, and would take another pair's place.
        and normalise_text(one.content) != normalise_text(other.content)
    ]
    likely.sort(key=lambda each: -each[0])
    return [(one, other) for _, one, other in likely[:MOST_JUDGED]]


def _may_concern_each_other(one: SignalRow, other: SignalRow) -> bool:
    """Returns whether both rows are about the same person and project, or one is about none."""
    return all(
        mine == yours or None in (mine, yours)
        for mine, yours in (
            (one.end_user_id, other.end_user_id),
            (one.project_id, other.project_id),
        )
    )


def _name_each_other(one: SignalRow, other: SignalRow) -> bool:
    return other.memory_id in (one.contradicts or ()) or one.memory_id in (other.contradicts or ())


def _judgements(viewer: Viewer, pairs: Sequence[_Pair], tools: Tools) -> list[Judgement | None]:
    """The conflict that the judge finds for each pair, the earlier first, or None."""
    names = (tools.judge.name, tools.embedder.name)
    keys = [
        (*names, first.memory_id, second.memory_id, first.subject, second.subject)
        for first, second in pairs
    ]
    with _judging:
        known = {key: _judged[key] for key in keys if key in _judged}
    unknown = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
    if unknown:
        ids = {row.memory_id for pair in unknown.values() for row in pair}
        meanings = meanings_of(team_id=viewer.team_id, ids=ids, embedding_model=tools.embedder.name)
        for key, (first, second) in unknown.items():
            meaning, later = meanings.get(first.memory_id), meanings.get(second.memory_id)
            if meaning is None or later is None:
                known[key] = None  # until both have a vector
                continue
            known[key] = _conflict(first, second, meaning, later, tools)
            with _judging:
                _judged[key] = known[key]
    return [known[key] for key in keys]


def _conflict(
    earlier: SignalRow, later: SignalRow, first: Meaning, second: Meaning, tools: Tools
) -> Judgement | None:
    existing, new = as_compared(
        Statement(earlier.content, earlier.created_at, earlier.subject),
        Statement(later.content, later.created_at, later.subject),
    )
    similarity = float(first.vector @ second.vector)
    is_one_matter = is_same_matter(existing.subject, new.subject)
    if not is_one_matter and similarity < tools.embedder.opposition_similarity:
        return None
    judgement = tools.judge.judge(existing=existing, new=new)
    if judgement.verdict not in (Verdict.SUPERSEDE, Verdict.DISPUTE):
        return None
    return judgement if is_sure_enough(judgement) else None


@dataclass(frozen=True, slots=True)
class Opposed:
    """Texts that contradict candidates by their memories, and those of each candidate."""

    texts: Mapping[UUID, Opposite]
    of: Mapping[UUID, Sequence[UUID]]

    @property
    def contents(self) -> list[tuple[UUID, str]]:
        """The texts as they are stored."""
        return [(key, each.content) for key, each in self.texts.items()]

    def told(self, names: PersonNames) -> dict[UUID, tuple[Opposite, ...]]:
        """Returns the rendered texts of each candidate, with the names of people."""
        texts = {
            key: replace(each, content=names.told(key, each.content), quote=names.quotes.get(key))
            for key, each in self.texts.items()
        }
        return {key: tuple(texts[other] for other in others) for key, others in self.of.items()}


def opposites_among(
    *, viewer: Viewer, ranked: Sequence[Ranked], clashes: Sequence[Clash]
) -> Opposed:
    """Returns the texts that each candidate contradicts, if the viewer may see them."""
    rows = {each.row.memory_id: each.row for each in ranked}
    marked = [row for row in rows.values() if row.contradicts]
    wanted = {other for row in marked for other in row.contradicts or ()}
    seen = Memory.objects.visible_to(viewer).filter(id__in=wanted) if wanted else ()
    texts = {memory.pk: Opposite(memory.content, memory.created_at) for memory in seen}
    found: dict[UUID, list[UUID]] = defaultdict(list)
    for row in marked:
        for other in row.contradicts or ():
            if other in texts:
                found[row.memory_id].append(other)
            # What more see is not marked by what fewer see; who is shown both is told on both.
            if other in rows and row.memory_id not in (rows[other].contradicts or ()):
                found[other].append(row.memory_id)
                texts[row.memory_id] = Opposite(row.content, row.created_at)
    for clash in clashes:
        one, two = clash.earlier, clash.later
        found[one.memory_id].append(two.memory_id)
        found[two.memory_id].append(one.memory_id)
        for row in (one, two):
            texts[row.memory_id] = Opposite(row.content, row.created_at)
    return Opposed(texts, found)


# So many contradictions are read, newest first; a review queue that is longer is a list of its own.
MOST_READ = 500


@dataclass(frozen=True, slots=True)
class ConflictGroup:
    """Facts that contradict each other, best first, and what the rule recommends.

    `key` is the subject that they share, "" if they name different ones.
    """

    key: str
    facts: tuple[Memory, ...]
    conflict: Conflict
    contradictions: tuple[UUID, ...]


def conflict_groups(*, viewer: Viewer, limit: int) -> list[ConflictGroup]:
    """Returns at most `limit` groups of open contradictions of which the viewer sees both sides.

    The newest contradictions come first. Nothing is changed: a person settles them.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = contradictions_visible_to(viewer).filter(
            resolved_at=None,
            memory_b__isnull=False,
            memory_a__status__in=LIVE,
            memory_b__status__in=LIVE,
        )
        found = list(rows.order_by("-detected_at", "-id")[:MOST_READ])
        groups = _grouped(found)[:limit]
        ids = {key for conflict, _ in groups for key in conflict.keys}
        memories = memories_by_id(viewer=viewer, ids=list(ids))
    return [
        ConflictGroup(
            key=_shared_subject(conflict, memories),
            facts=tuple(memories[key] for key in conflict.keys if key in memories),
            conflict=conflict,
            contradictions=contradictions,
        )
        for conflict, contradictions in groups
    ]


def _grouped(found: Sequence[Contradiction]) -> list[tuple[Conflict, tuple[UUID, ...]]]:
    facts: dict[UUID, Fact] = {}
    pairs: dict[UUID, frozenset[UUID]] = {}
    for row in found:
        sides = [side for side in (row.memory_a, row.memory_b) if side is not None]
        pairs[row.pk] = frozenset(side.pk for side in sides)
        for side in sides:
            facts[side.pk] = Fact(side.pk, None, "", side.confidence, side.created_at)
    conflicts = resolve_conflicts(list(facts.values()), set(pairs.values())).conflicts
    groups = [
        (conflict, tuple(pk for pk, pair in pairs.items() if pair <= set(conflict.keys)))
        for conflict in conflicts
    ]
    places = {pk: place for place, pk in enumerate(pairs)}
    return sorted(groups, key=lambda group: places[group[1][0]])


def _shared_subject(conflict: Conflict, memories: Mapping[UUID, Memory]) -> str:
    subjects = {memories[key].subject for key in conflict.keys if key in memories}
    return subjects.pop() if len(subjects) == 1 else ""
