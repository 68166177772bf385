"""Pairs of memories that a run compares and judges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

import numpy as np
from django.db.models import Count, Q

from audit.models import MemoryLog
from memory.domain.forms import Form
from memory.domain.judgements import is_sure_enough, judged_by_words
from memory.domain.types import Asker, Judgement, MemoryType, Verdict
from memory.models import Contradiction, Memory, MemoryUsage
from memory.models.querysets import MemoryQuerySet
from memory.satellites.lifecycle.models import JudgedPair
from memory.satellites.lifecycle.runs import ACTOR
from memory.satellites.lifecycle.steps import KEPT, Json, Page, Planned, Scope, Step
from memory.selectors.neighbours.neighbours import meanings_of
from memory.understanding.ports import Preparation, PreparingJudge
from memory.understanding.tools import Tools
from memory.writing.conflicts import Pair, pairs_to_judge
from memory.writing.drafts import MemoryDraft
from memory.writing.neighbours import NeighbourSearch, readers_in
from teams.services.team_settings import flags_of_id
from teams.tenancy import team_scope

# Of two memories the earlier one, the later one and their cosine in hundredths.
PairKey: TypeAlias = tuple[UUID, UUID, int]


def judgements_of(
    *, team_id: UUID, keys: Iterable[PairKey], judge: str, now: datetime
) -> dict[PairKey, Judgement]:
    """What that judge said of the pairs within the last 14 days, or any one in the run of `now`.

    Call it in the team's scope.
    """
    wanted = set(keys)
    rows = JudgedPair.objects.filter(
        Q(judge=judge, judged_at__gt=now - KEPT) | Q(judged_at=now),
        team_id=team_id,
        later_id__in={later for _, later, _ in wanted},
    )
    found = {
        (row.earlier_id, row.later_id, round(row.similarity * 100)): Judgement(
            Verdict(row.verdict), row.reason, row.confidence, row.judge
        )
        for row in rows
    }
    return {key: each for key, each in found.items() if key in wanted}


def judged_today(
    *, team_id: UUID, people: Iterable[UUID | None], now: datetime
) -> Mapping[UUID | None, int]:
    """How many pairs were judged about each of the people, or nobody, on the day (UTC) of `now`."""
    begins = now.replace(hour=0, minute=0, second=0, microsecond=0)
    wanted = set(people)
    whose = Q(end_user_id__in=wanted - {None})
    if None in wanted:
        whose |= Q(end_user_id=None)
    rows = JudgedPair.objects.filter(
        whose, team_id=team_id, judged_at__gte=begins, judged_at__lte=now
    )
    counts = rows.values("end_user_id").annotate(count=Count("pk")).order_by()
    return dict(counts.values_list("end_user_id", "count"))


def pairs_in_contradiction(*, team_id: UUID, ids: Iterable[UUID]) -> set[frozenset[UUID]]:
    """The pairs, one side among the ids, that somebody was asked about or decided on before."""
    rows = Contradiction.objects.filter(team_id=team_id, memory_b__isnull=False)
    wanted = list(ids)
    pairs = rows.filter(memory_a__in=wanted).values_list("memory_a_id", "memory_b_id")
    others = rows.filter(memory_b__in=wanted).values_list("memory_a_id", "memory_b_id")
    return {frozenset(pair) for pair in (*pairs, *others)}


PAGE = 200
# Of those that nothing happened to, a run looks at so many; the next one goes on after them.
STANDING = 1_000
# 3 of 5 on the scale of seed 004.
IMPORTANT = 6
# Of what was retrieved, the share that was retrieved most.
TOP = 0.1
_OWN = ("task:consolidate", "task:write_levels")
_FIRST = UUID(int=0)
_PARTS = ("changed", "used", "standing")


@dataclass(frozen=True, slots=True)
class Candidates:
    """A page of them; `cursor` is where the next one begins, `resume` where the next run does."""

    memories: Sequence[Memory]
    cursor: Json = None
    resume: Json = None


def candidates(*, scope: Scope, step: Step, cursor: Json) -> Candidates:
    """The next page of live memories worth comparing; call it in the team's scope.

    Those that changed since, then those retrieved most, then important ones, of which each run
    looks at the next STANDING. In each part they come in the order of their ids. The first run of
    all looks at everything.
    """
    given = cursor or {"part": _PARTS[0], "after": str(_FIRST), "seen": 0}
    part, after, seen = given["part"], UUID(given["after"]), given["seen"]
    more: dict[str, Json] = {}
    rows = in_scope(scope=scope).filter(id__gt=after).order_by("id")
    if part == "changed" and scope.since is not None:
        rows = rows.filter(id__in=changed_since(scope=scope, after=after))
    elif part == "used":
        more = {"bar": given.get("bar") or _bar(scope)}
        rows = rows.filter(id__in=_used(scope, after, more["bar"]))
    elif part == "standing":
        rows = rows.filter(importance__gte=IMPORTANT)
    page = list(rows[:PAGE])
    seen += len(page)
    is_standing = part == "standing"
    if len(page) == PAGE and not (is_standing and seen >= STANDING):
        # What the part goes by is worked out once.
        return Candidates(page, {"part": part, "after": str(page[-1].pk), "seen": seen, **more})
    if is_standing or scope.since is None:
        rest = str(page[-1].pk) if len(page) == PAGE else str(_FIRST)
        return Candidates(page, resume=rest if is_standing else None)
    following = _PARTS[_PARTS.index(part) + 1]
    begin = scope.resume.get(step.value, str(_FIRST)) if following == "standing" else str(_FIRST)
    return Candidates(page, {"part": following, "after": begin, "seen": 0})


def in_scope(*, scope: Scope) -> MemoryQuerySet:
    """The live memories that the run may change; call it in the team's scope."""
    rows = Memory.objects.filter(team_id=scope.team_id).live()
    if scope.end_user_id is not None:
        rows = rows.filter(end_user_id=scope.end_user_id)
    if scope.project_id is not None:
        rows = rows.filter(project_id=scope.project_id)
    return rows


def changed_since(*, scope: Scope, after: UUID) -> list[UUID]:
    """The next ids of what somebody, and no consolidation, changed since; by the log's times.

    Call it in the team's scope.
    """
    rows = MemoryLog.objects.filter(team_id=scope.team_id, at__gte=scope.since)
    rows = rows.filter(memory_id__gt=after).exclude(actor__in=_OWN)
    ids = rows.order_by("memory_id").values_list("memory_id", flat=True).distinct()
    # Some of them are no longer live: a page of the rest must still be whole.
    return list(ids[: 10 * PAGE])


def _bar(scope: Scope) -> int:
    """How often the top decile of what was retrieved since was retrieved at least."""
    rows = MemoryUsage.objects.filter(
        team_id=scope.team_id, last_accessed_at__gte=scope.since, retrieved__gt=0
    )
    least = rows.order_by("-retrieved").values_list("retrieved", flat=True)
    count = rows.count()
    return least[min(count - 1, int(count * TOP))] if count else 1


def _used(scope: Scope, after: UUID, bar: int) -> list[UUID]:
    """The next ids of what was retrieved since, and so often in all."""
    rows = MemoryUsage.objects.filter(
        team_id=scope.team_id,
        last_accessed_at__gte=scope.since,
        retrieved__gte=bar,
        memory_id__gt=after,
    )
    return list(rows.order_by("memory_id").values_list("memory_id", flat=True)[: 10 * PAGE])


# A candidate changed, or was stored, within so many days (seed 004, §4).
_RECENT = timedelta(days=90)
_MAX_REASON = 500


@dataclass(frozen=True, slots=True)
class Found:
    """Two stored memories that may be about one matter; `pair` is as a judge reads them."""

    memory: Memory
    pair: Pair

    @property
    def sides(self) -> tuple[Memory, Memory]:
        """The one that was said first, and the later one."""
        both = (self.memory, self.pair.neighbour.memory)
        first, second = sorted(both, key=lambda each: (each.created_at, each.pk))
        return first, second

    @property
    def asker(self) -> Asker:
        """Who pays, and whose pairs a prompt holds: the person or agent of the narrower memory."""
        both = (self.memory, self.pair.neighbour.memory)
        person, agent = (
            next((value for each in both if (value := getattr(each, name)) is not None), None)
            for name in ("end_user_id", "agent_id")
        )
        return Asker(self.memory.team_id, agent, person)

    @property
    def key(self) -> PairKey:
        """Under which its judgement is kept."""
        earlier, later = self.sides
        return earlier.pk, later.pk, round(self.pair.neighbour.similarity * 100)


@dataclass(frozen=True, slots=True)
class JudgedFound:
    """A pair with the judgement that counts."""

    found: Found
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """What was judged of a page of candidates, in the order of the memories' ids."""

    page: Candidates
    pairs: tuple[JudgedFound, ...] = ()
    judged: int = 0
    cost_usd: Decimal = Decimal(0)

    def planning(self, planned: Sequence[Planned]) -> Page:
        """What a step proposes after it read them."""
        page, read = self.page, len(self.page.memories)
        return Page(tuple(planned), page.cursor, page.resume, read, self.judged, self.cost_usd)


Wanted: TypeAlias = Callable[[Found], bool]


def judged_pairs(
    *, scope: Scope, step: Step, cursor: Json, tools: Tools, wanted: Wanted
) -> JudgedPage:
    """The pairs of the next candidates that are `wanted`, judged; call it in no transaction.

    What was judged in the last 14 days is not asked again. Of each person the judge is asked about
    so many pairs a day as the team's settings say; the others wait. Pairs that somebody was asked
    about or decided on, and what is said by words alone, cost nothing.
    """
    judge = tools.judge
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        page = candidates(scope=scope, step=step, cursor=cursor)
        if not flags_of_id(team_id=scope.team_id).contradiction_detection:
            return JudgedPage(replace(page, memories=(), cursor=None))
        found = [each for each in _found(scope, page.memories, tools) if wanted(each)]
        known = judgements_of(
            team_id=scope.team_id,
            keys=[each.key for each in found],
            judge=judge.name,
            now=scope.now,
        )
        asked = _within_limits(scope, [each for each in found if each.key not in known])
    fresh, cost_usd = _ask(scope, asked, tools)
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        _keep(scope, fresh)
    known |= {each.found.key: each.judgement for each in fresh}
    judged = [
        JudgedFound(each, judgement)
        for each in found
        if (judgement := _by_words(each) or known.get(each.key)) is not None
        and is_sure_enough(judgement)
    ]
    return JudgedPage(page, tuple(judged), len(fresh), cost_usd)


def _found(scope: Scope, memories: Sequence[Memory], tools: Tools) -> list[Found]:
    """Each pair once, by the lower id first: what people were asked about is left out."""
    model = tools.embedder.name
    meanings = meanings_of(
        team_id=scope.team_id, ids=[each.pk for each in memories], embedding_model=model
    )
    oldest = scope.now - _RECENT
    rows = [each for each in memories if each.pk in meanings and each.updated_at >= oldest]
    if not rows:
        return []
    drafts = [compared_as(each) for each in rows]
    search = NeighbourSearch(
        drafts=drafts,
        vectors=np.stack([meanings[each.pk].vector for each in rows]),
        embedding_model=model,
        readers=readers_in(team_id=scope.team_id),
    )
    decided = pairs_in_contradiction(team_id=scope.team_id, ids=[each.pk for each in rows])
    found: dict[frozenset[UUID], Found] = {}
    for place, (memory, draft) in enumerate(zip(rows, drafts, strict=True)):
        near = [each for each in search.of(place) if each.memory.pk != memory.pk]
        for pair in pairs_to_judge(
            draft=draft, neighbours=near, anchor=tools.embedder.opposition_similarity
        ):
            sides = frozenset({memory.pk, pair.neighbour.memory.pk})
            each = Found(memory, pair)
            if sides not in decided:
                found.setdefault(sides, each)
    return _whole(scope, list(found.values()))


def _whole(scope: Scope, found: Sequence[Found]) -> list[Found]:
    """With all fields of the neighbours, which come with those alone that compare them."""
    ids = {each.pair.neighbour.memory.pk for each in found}
    rows = Memory.objects.filter(team_id=scope.team_id).in_bulk(list(ids))
    return [
        replace(each, pair=replace(each.pair, neighbour=replace(near, memory=rows[near.memory.pk])))
        for each in found
        if (near := each.pair.neighbour).memory.pk in rows
    ]


def compared_as(memory: Memory) -> MemoryDraft:
    """The memory as what it is compared by."""
    return MemoryDraft(
        team_id=memory.team_id,
        content=memory.content,
        memory_type=MemoryType(memory.memory_type),
        importance=memory.importance,
        extractor=memory.extractor,
        created_at=memory.created_at,
        category=memory.category,
        subject=memory.subject,
        agent_id=memory.agent_id,
        end_user_id=memory.end_user_id,
        project_id=memory.project_id,
        extraction_pass=memory.extraction_pass,
        form=Form(memory.form) if memory.form else None,
    )


def _by_words(found: Found) -> Judgement | None:
    return judged_by_words(found.pair.existing.content, found.pair.new.content)


def _within_limits(scope: Scope, found: Sequence[Found]) -> list[Found]:
    """Those that the judge may be asked about today, the nearest first."""
    people = {each.memory.end_user_id for each in found}
    spent = dict(judged_today(team_id=scope.team_id, people=people, now=scope.now))
    asked = []
    for each in sorted(found, key=lambda one: -one.pair.neighbour.similarity):
        person = each.memory.end_user_id
        if _by_words(each) is None and spent.get(person, 0) < scope.settings.pairs_per_person:
            spent[person] = spent.get(person, 0) + 1
            asked.append(each)
    return asked


def _ask(scope: Scope, found: Collection[Found], tools: Tools) -> tuple[list[JudgedFound], Decimal]:
    """What the judge says, and what it cost; what no model was asked about waits for another run.

    Where a model gave no answer of use another judge does, and the model is asked again the next
    time, for a judgement counts under the name of who gave it.
    """
    judge, prepared = tools.judge, Preparation()
    if isinstance(judge, PreparingJudge):
        prepared = judge.prepare(
            [(each.pair.existing, each.pair.new) for each in found],
            askers=[each.asker for each in found],
            most_usd=scope.left_usd,
        )
    judged = []
    for place, each in enumerate(found):
        if place not in prepared.waiting:
            judgement = judge.judge(existing=each.pair.existing, new=each.pair.new)
            given = replace(judgement, judge=judgement.judge or judge.name)
            judged.append(JudgedFound(each, given))
    return judged, prepared.cost_usd


def _keep(scope: Scope, judged: Sequence[JudgedFound]) -> None:
    """Keep what was judged, under the name of who did."""
    JudgedPair.objects.bulk_create(
        (
            JudgedPair(
                team_id=scope.team_id,
                earlier_id=each.found.key[0],
                later_id=each.found.key[1],
                similarity=Decimal(each.found.key[2]) / 100,
                end_user_id=each.found.memory.end_user_id,
                verdict=each.judgement.verdict.value,
                confidence=each.judgement.confidence,
                reason=each.judgement.reason[:_MAX_REASON],
                judge=each.judgement.judge,
                judged_at=scope.now,
            )
            for each in judged
        ),
        update_conflicts=True,
        unique_fields=["team", "earlier", "later", "similarity"],
        update_fields=["verdict", "confidence", "reason", "judge", "judged_at", "end_user"],
    )
