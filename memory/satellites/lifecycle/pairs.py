"""Pairs of memories that a run compares and judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

import numpy as np
from django.db.models import Q
from django.db.models.functions import Coalesce

from audit.models import MemoryLog
from memory.domain.forms import Form
from memory.domain.judgements import is_sure_enough, judged_by_words
from memory.domain.types import Asker, Judgement, MemoryType, Source, Verdict
from memory.models import Contradiction, Memory, MemoryUsage
from memory.models.querysets import MemoryQuerySet
from memory.satellites.lifecycle.models import JudgedPair, Step
from memory.satellites.lifecycle.steps import ACTOR, KEPT, Json, Page, Scope
from memory.selectors.neighbours import Meaning, meanings_of
from memory.understanding.ports import Preparation, PreparingJudge
from memory.understanding.tools import Tools
from memory.writing.conflicts import Pair, pairs_to_judge
from memory.writing.drafts import MemoryDraft
from memory.writing.neighbours import NeighbourSearch, readers_in
from teams.services.team_settings import flags_of_id
from teams.tenancy import team_scope

PAGE = 200
# The ids that one page is chosen from: some are no longer live.
_IDS = 10 * PAGE
FIRST = UUID(int=0)
# Of those that nothing happened to, a run looks at so many; the next one goes on after them.
_STANDING = 1_000
# 3 of 5 on the scale of seed 004.
_IMPORTANT = 6
# Of what was retrieved, the share that was retrieved most.
_TOP = 0.1
# A candidate changed, or was stored, within so many days (seed 004, §4).
_RECENT = timedelta(days=90)
_OWN = ("task:consolidate", "task:write_levels")
_PARTS = ("changed", "used", "standing")
_MAX_REASON = 500

# Of two memories the earlier one, the later one and their cosine in hundredths.
PairKey: TypeAlias = tuple[UUID, UUID, int]


def candidates(*, scope: Scope, step: Step, cursor: Json) -> tuple[list[Memory], Page]:
    """Returns the next live memories worth comparing, and the page to plan; in the team's scope.

    Those that changed since, then those retrieved most, then important ones, of which each run
    looks at the next 1,000. In each part they come in the order of their ids. The first run of
    all looks at everything.
    """
    given = cursor or {"part": _PARTS[0], "after": str(FIRST), "seen": 0}
    part, after, seen = given["part"], UUID(given["after"]), given["seen"]
    more: dict[str, Json] = {}
    ids: list[UUID] | None = None
    rows = in_scope(scope=scope).filter(id__gt=after).order_by("id")
    if part == "changed" and scope.since is not None:
        ids = changed_since(scope=scope, after=after)
    elif part == "used":
        # What the part goes by is worked out once.
        more = {"bar": given.get("bar") or _bar(scope)}
        ids = _used(scope, after, more["bar"])
    elif part == "standing":
        rows = rows.filter(importance__gte=_IMPORTANT)
    if ids is not None:
        rows = rows.filter(id__in=ids)
    memories = list(rows[:PAGE])
    page = Page(looked_at=len(memories))
    seen += len(memories)
    is_standing = part == "standing"
    last = last_of_page(found=[each.pk for each in memories], among=ids or ())
    if last and not (is_standing and seen >= _STANDING):
        return memories, replace(page, cursor={"part": part, "after": last, "seen": seen, **more})
    if is_standing:
        return memories, replace(page, resume=last or str(FIRST))
    if scope.since is None:
        return memories, page
    following = _PARTS[_PARTS.index(part) + 1]
    begin = scope.resume.get(step.value, str(FIRST)) if following == "standing" else str(FIRST)
    return memories, replace(page, cursor={"part": following, "after": begin, "seen": 0})


def in_scope(*, scope: Scope) -> MemoryQuerySet:
    """Returns the live memories that the run may change; call it in the team's scope."""
    return Memory.objects.filter(team_id=scope.team_id, **scope.owners).live()


def changed_since(*, scope: Scope, after: UUID) -> list[UUID]:
    """Returns the next 2,000 ids, by the log, of what somebody but a run changed since; in scope.

    Some of them may be deleted or of other owners.
    """
    rows = MemoryLog.objects.filter(team_id=scope.team_id, at__gte=scope.since)
    rows = rows.filter(memory_id__gt=after).exclude(actor__in=_OWN)
    ids = rows.order_by("memory_id").values_list("memory_id", flat=True).distinct()
    return list(ids[:_IDS])


def last_of_page(*, found: Sequence[UUID], among: Sequence[UUID]) -> str | None:
    """Returns the id after which the next page begins, None after the last page.

    `found` are the ids of the page, and `among` those that it was chosen from.
    """
    if len(found) == PAGE:
        return str(found[-1])
    return str(among[-1]) if len(among) == _IDS else None


def _bar(scope: Scope) -> int:
    """Returns the least retrieval count in the top decile of memories retrieved since."""
    rows = MemoryUsage.objects.filter(
        team_id=scope.team_id, last_accessed_at__gte=scope.since, retrieved__gt=0
    )
    least = rows.order_by("-retrieved").values_list("retrieved", flat=True)
    count = rows.count()
    return least[min(count - 1, int(count * _TOP))] if count else 1


def _used(scope: Scope, after: UUID, bar: int) -> list[UUID]:
    """The next 2,000 ids of what was retrieved since, and so often in all."""
    rows = MemoryUsage.objects.filter(
        team_id=scope.team_id,
        last_accessed_at__gte=scope.since,
        retrieved__gte=bar,
        memory_id__gt=after,
    )
    return list(rows.order_by("memory_id").values_list("memory_id", flat=True)[:_IDS])


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
        """The payer and owner of a prompt's pairs: the person or agent of the narrower memory."""
        return Asker(self.memory.team_id, self._narrower("agent_id"), self._narrower("end_user_id"))

    @property
    def owner(self) -> UUID | None:
        """The person whose pairs of a day are limited together, or else the project."""
        return self._narrower("end_user_id") or self._narrower("project_id")

    @property
    def key(self) -> PairKey:
        """Under which its judgement is kept."""
        earlier, later = self.sides
        return earlier.pk, later.pk, round(self.pair.neighbour.similarity * 100)

    def _narrower(self, name: str) -> UUID | None:
        both = (self.memory, self.pair.neighbour.memory)
        return next((value for each in both if (value := getattr(each, name)) is not None), None)

    @property
    def by_words(self) -> Judgement | None:
        """The judgement that needs no judge."""
        return judged_by_words(self.pair.existing.content, self.pair.new.content)


Judged: TypeAlias = list[tuple[Found, Judgement]]


def judged_pairs(
    *, scope: Scope, step: Step, cursor: Json, tools: Tools, wanted: Callable[[Found], bool]
) -> tuple[Judged, Page]:
    """Judges the pairs of the next candidates that are `wanted`; call it in no transaction.

    What was judged in the last 14 days is not asked again. Of each person, and of each project
    beside, the judge is asked about so many pairs a day as the team's settings say; the others
    wait. Pairs that somebody was asked about or decided on, and what is said by words alone, cost
    nothing. A dry run asks no language model: the small judge answers in its place.
    """
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        memories, page = candidates(scope=scope, step=step, cursor=cursor)
        if not flags_of_id(team_id=scope.team_id).contradiction_detection:
            return [], replace(page, cursor=None, looked_at=0)
        found = [each for each in _found(scope, memories, tools) if wanted(each)]
        known = _judged_before(scope, {each.key for each in found}, tools.judge.name)
        asked = _within_limits(scope, [each for each in found if each.key not in known])
    fresh, cost_usd = _ask(scope, asked, tools)
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        _keep(scope, fresh)
    known |= {each.key: judgement for each, judgement in fresh}
    judged = [
        (each, judgement)
        for each in found
        if (judgement := each.by_words or known.get(each.key)) is not None
        and is_sure_enough(judgement)
    ]
    return judged, replace(page, judged=len(fresh), cost_usd=cost_usd)


def neighbour_search(
    *, scope: Scope, memories: Sequence[Memory], tools: Tools
) -> tuple[list[Memory], NeighbourSearch | None]:
    """Returns the memories with a meaning, and the search by their places; in scope."""
    model = tools.embedder.name
    ids = [each.pk for each in memories]
    meanings: dict[UUID, Meaning] = dict(
        meanings_of(team_id=scope.team_id, ids=ids, embedding_model=model)
    )
    rows = [each for each in memories if each.pk in meanings]
    if not rows:
        return [], None
    return rows, NeighbourSearch(
        drafts=[_compared_as(each) for each in rows],
        vectors=np.stack([meanings[each.pk].vector for each in rows]),
        embedding_model=model,
        readers=readers_in(team_id=scope.team_id),
    )


def _compared_as(memory: Memory) -> MemoryDraft:
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
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        source=Source(memory.source),
        form=Form(memory.form) if memory.form else None,
    )


def _found(scope: Scope, memories: Sequence[Memory], tools: Tools) -> list[Found]:
    """Each pair once, by the lower id first: what people were asked about is left out."""
    lately = [each for each in memories if each.updated_at >= scope.now - _RECENT]
    rows, search = neighbour_search(scope=scope, memories=lately, tools=tools)
    if search is None:
        return []
    decided = _in_contradiction(scope, [each.pk for each in rows])
    found: dict[frozenset[UUID], Found] = {}
    for place, memory in enumerate(rows):
        near = [each for each in search.of(place) if each.memory.pk != memory.pk]
        for pair in pairs_to_judge(
            draft=_compared_as(memory), neighbours=near, anchor=tools.embedder.opposition_similarity
        ):
            sides = frozenset({memory.pk, pair.neighbour.memory.pk})
            if sides not in decided:
                found.setdefault(sides, Found(memory, pair))
    return _whole(scope, list(found.values()))


def _in_contradiction(scope: Scope, ids: Sequence[UUID]) -> set[frozenset[UUID]]:
    """The pairs, one side among the ids, that somebody was asked about or decided on before."""
    rows = Contradiction.objects.filter(
        Q(memory_a__in=ids) | Q(memory_b__in=ids), team_id=scope.team_id, memory_b__isnull=False
    )
    return {frozenset(pair) for pair in rows.values_list("memory_a_id", "memory_b_id")}


def _whole(scope: Scope, found: Sequence[Found]) -> list[Found]:
    """With all fields of the neighbours, which come with those alone that compare them."""
    ids = {each.pair.neighbour.memory.pk for each in found}
    rows = Memory.objects.filter(team_id=scope.team_id).in_bulk(list(ids))
    return [
        replace(each, pair=replace(each.pair, neighbour=replace(near, memory=rows[near.memory.pk])))
        for each in found
        if (near := each.pair.neighbour).memory.pk in rows
    ]


def _judged_before(scope: Scope, keys: set[PairKey], judge: str) -> dict[PairKey, Judgement]:
    """Returns the judge's judgements of the last 14 days, or any judge's in this run."""
    rows = JudgedPair.objects.filter(
        Q(judge=judge, judged_at__gt=scope.now - KEPT) | Q(judged_at=scope.now),
        team_id=scope.team_id,
        later_id__in={later for _, later, _ in keys},
    )
    found = {
        (row.earlier_id, row.later_id, round(row.similarity * 100)): Judgement(
            Verdict(row.verdict), row.reason, row.confidence, row.judge
        )
        for row in rows
    }
    return {key: each for key, each in found.items() if key in keys}


def _within_limits(scope: Scope, found: Sequence[Found]) -> list[Found]:
    """Returns the pairs that the judge may be asked about on this day (UTC), nearest first."""
    begins = scope.now.replace(hour=0, minute=0, second=0, microsecond=0)
    people = {each.asker.end_user_id for each in found}
    whose = Q(end_user_id__in=people - {None})
    if None in people:
        whose |= Q(end_user_id=None)
    rows = JudgedPair.objects.filter(
        whose, team_id=scope.team_id, judged_at__gte=begins, judged_at__lte=scope.now
    )
    project = Coalesce("earlier__project_id", "later__project_id")
    spent = Counter(rows.values_list(Coalesce("end_user_id", project), flat=True))
    asked = []
    for each in sorted(found, key=lambda one: -one.pair.neighbour.similarity):
        if each.by_words is None and spent[each.owner] < scope.settings.pairs_per_person:
            spent[each.owner] += 1
            asked.append(each)
    return asked


def _ask(scope: Scope, found: Sequence[Found], tools: Tools) -> tuple[Judged, Decimal]:
    """Returns the judgements and their cost; pairs not put to any model wait for another run.

    Where a model gave no answer of use another judge does, and the model is asked again the next
    time, for a judgement counts under the name of who gave it.
    """
    judge, prepared = tools.judge, Preparation()
    if isinstance(judge, PreparingJudge) and not scope.is_dry:
        prepared = judge.prepare(
            [(each.pair.existing, each.pair.new) for each in found],
            askers=[each.asker for each in found],
            most_usd=scope.left_usd,
        )
    judged = []
    for place, each in enumerate(found):
        if place not in prepared.waiting:
            judgement = judge.judge(existing=each.pair.existing, new=each.pair.new)
            judged.append((each, replace(judgement, judge=judgement.judge or judge.name)))
    return judged, prepared.cost_usd


def _keep(scope: Scope, judged: Iterable[tuple[Found, Judgement]]) -> None:
    JudgedPair.objects.bulk_create(
        (
            JudgedPair(
                team_id=scope.team_id,
                earlier_id=found.key[0],
                later_id=found.key[1],
                similarity=Decimal(found.key[2]) / 100,
                end_user_id=found.asker.end_user_id,
                verdict=judgement.verdict.value,
                confidence=judgement.confidence,
                reason=judgement.reason[:_MAX_REASON],
                judge=judgement.judge,
                judged_at=scope.now,
            )
            for found, judgement in judged
        ),
        # A dry run leaves the judgements of others as they are.
        ignore_conflicts=scope.is_dry,
        update_conflicts=not scope.is_dry,
        unique_fields=["team", "earlier", "later", "similarity"],
        update_fields=["verdict", "confidence", "reason", "judge", "judged_at", "end_user"],
    )
