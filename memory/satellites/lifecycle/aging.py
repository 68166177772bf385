"""Ranks, shortens, forgets and purges memories by their age and use."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from audit.services.erasure import erase_purged, forget_statistics
from memory.domain.forms import Form
from memory.domain.levels import ORDER, WHOLE_FROM, Level, Levels
from memory.domain.tiers import (
    BACK_ACCESSES,
    HOT_DAYS,
    HOT_IMPORTANCE,
    KEPT_IMPORTANCE,
    OUTDATED_AFTER,
    UNUSED_BELOW,
    cold_because,
    expires_because,
    ranked_tier,
)
from memory.domain.types import MemoryType, Status, Tier
from memory.models import Contradiction, Memory, MemoryLevels, MemoryUsage
from memory.models.memory import LIVE
from memory.models.querysets import MemoryQuerySet
from memory.satellites.lifecycle.models import ConsolidationChange, Kind, Step
from memory.satellites.lifecycle.pairs import FIRST, PAGE, changed_since, in_scope, last_of_page
from memory.satellites.lifecycle.steps import ACTOR, Batch, Executor, Json, Page, Planned, Scope
from memory.selectors.memories import Stood, standings_of
from memory.understanding.tools import Tools
from memory.writing.background import retried
from memory.writing.decisions.changes import note_access
from teams.domain.team_settings import LifecycleSettings
from teams.models import Team
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

_RANKED_PAGE = 500
# Of what is unimportant, a run looks at so many; the next one goes on after them.
_UNIMPORTANT = 20_000
_PURGE_ACTOR = "task:purge"
_PURGED_AT_ONCE = 200
_EPISODES = Q(memory_type=MemoryType.EPISODIC.value) | Q(form=Form.EPISODE.value)
_Rows = TypeVar("_Rows", bound="QuerySet[Any, Any]")  # Any: of whatever model
_Standings = tuple[list[Stood], Page]


def plan_ranks(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Makes hot what is told often, and warm what no longer is or what is told again."""
    del tools
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        rows, page = _to_rank(scope, cursor or {"part": "used"})
    planned = []
    for each in rows:
        tier, why = ranked_tier(each.standing, now=scope.now)
        if why:
            planned.append(_moved(each, tier, why))
    return _planning(page, planned)


def _to_rank(scope: Scope, given: Json) -> _Standings:
    """The next memories that their use may move: told lately and not hot, then hot by use."""
    if given["part"] == "hot":
        rows = _in(scope).filter(
            status__in=LIVE,
            tier=Tier.HOT.value,
            is_pinned=False,
            importance__lt=HOT_IMPORTANCE,
            id__gt=UUID(given.get("after", str(FIRST))),
        )
        return _page(scope, rows.order_by("id"), part="hot", following=None)
    usages = MemoryUsage.objects.filter(
        team_id=scope.team_id,
        last_accessed_at__gte=scope.now - timedelta(days=HOT_DAYS),
        retrieved__gte=BACK_ACCESSES,
    )
    if "at" in given:
        usages = _behind(usages, "last_accessed_at", given, key="memory_id", backwards=True)
    told = list(usages.order_by("-last_accessed_at", "memory_id")[:_RANKED_PAGE])
    memories = _in(scope).filter(
        status__in=LIVE,
        tier__in=[Tier.WARM.value, Tier.COLD.value],
        id__in=[each.memory_id for each in told],
    )
    after: Json = {"part": "hot"}
    if len(told) == _RANKED_PAGE:
        at = told[-1].last_accessed_at
        assert at is not None
        after = {"part": "used", "at": at.isoformat(), "after": str(told[-1].memory_id)}
    standings = standings_of(memories=list(memories.order_by("id")), now=scope.now)
    return standings, Page(cursor=after, looked_at=len(standings))


def plan_forgetting(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Lets expire what nobody asked for, and makes cold what is superseded, outdated or unused."""
    del tools
    chosen = scope.settings
    expires = chosen.does("expire")
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        rows, page = _to_forget(scope, cursor or {"part": "superseded"}, expires=expires)
    planned = []
    for each in rows:
        why = expires and expires_because(
            each.standing,
            below=chosen.expire_below,
            days=chosen.expire_after_days,
            now=scope.now,
        )
        if why:
            planned.append(_expired(each, why, purge_after_days=chosen.purge_after_days))
        elif why := cold_because(each.standing, unused_days=chosen.cold_after_days, now=scope.now):
            planned.append(_moved(each, Tier.COLD, why))
    return _planning(page, planned)


def _to_forget(scope: Scope, given: Json, *, expires: bool) -> _Standings:
    """The next memories that are superseded, then outdated, then unimportant and old."""
    rows = _in(scope)
    if given["part"] == "superseded":
        after = UUID(given.get("after", str(FIRST)))
        rows = rows.filter(status=Status.SUPERSEDED.value, id__gt=after).exclude(
            tier=Tier.COLD.value
        )
        return _page(scope, rows.order_by("id"), part="superseded", following={"part": "outdated"})
    rows = rows.filter(status=Status.ACTIVE.value, is_pinned=False, importance__lt=KEPT_IMPORTANCE)
    if given["part"] != "outdated":
        return _unimportant(scope, rows, given, expires=expires)
    rows = rows.exclude(tier=Tier.COLD.value).filter(valid_to__lt=scope.now - OUTDATED_AFTER)
    if "at" in given:
        rows = _behind(rows, "valid_to", given)
    following = scope.resume.get(Step.FORGET.value) or {"part": "unimportant", "importance": 1}
    return _page(
        scope,
        rows.order_by("valid_to", "id"),
        part="outdated",
        following={**following, "seen": 0},
        by="valid_to",
    )


def _unimportant(scope: Scope, rows: MemoryQuerySet, given: Json, *, expires: bool) -> _Standings:
    chosen = scope.settings
    below = max(UNUSED_BELOW, chosen.expire_below if expires else 0)
    days = min(chosen.cold_after_days, chosen.expire_after_days if expires else 10**6)
    importance, seen = given["importance"], given["seen"]
    if importance >= below:
        return [], Page()
    rows = rows.filter(importance=importance, created_at__lt=scope.now - timedelta(days=days))
    if "at" in given:
        rows = _behind(rows, "created_at", given)
    following: Json = {"part": "unimportant", "importance": importance + 1, "seen": seen}
    standings, page = _page(
        scope,
        rows.order_by("created_at", "id"),
        part="unimportant",
        following=following if importance + 1 < below else None,
        by="created_at",
    )
    if page.cursor is None:
        return standings, page
    seen += len(standings)
    go_on = {"importance": importance, **page.cursor, "seen": seen}
    is_enough = seen >= _UNIMPORTANT
    return standings, Page(
        cursor=None if is_enough else go_on,
        resume=go_on if is_enough else None,
        looked_at=page.looked_at,
    )


def _in(scope: Scope) -> MemoryQuerySet:
    return Memory.objects.filter(team_id=scope.team_id, **scope.owners)


def _page(
    scope: Scope, rows: MemoryQuerySet, *, part: str, following: Json, by: str = ""
) -> _Standings:
    """The next page of rows in their order, by the id or by the column and the id."""
    memories = list(rows[:_RANKED_PAGE])
    cursor = following
    if len(memories) == _RANKED_PAGE:
        last = memories[-1]
        at = {"at": getattr(last, by).isoformat()} if by else {}
        cursor = {"part": part, "after": str(last.pk), **at}
    standings = standings_of(memories=memories, now=scope.now)
    return standings, Page(cursor=cursor, looked_at=len(standings))


def _behind(
    rows: _Rows, column: str, given: Json, *, key: str = "id", backwards: bool = False
) -> _Rows:
    """The rows after the last one of the page before, by the column and then by the id."""
    at, after = datetime.fromisoformat(given["at"]), UUID(given["after"])
    ordered, beyond = ("lte", "lt") if backwards else ("gte", "gt")
    # The first condition is what the index begins with.
    return rows.filter(
        Q(**{f"{column}__{beyond}": at}) | Q(**{f"{key}__gt": after}),
        **{f"{column}__{ordered}": at},
    )


def _planning(page: Page, planned: list[Planned]) -> Page:
    return Page(tuple(planned), page.cursor, page.resume, page.looked_at)


def _moved(stood: Stood, tier: Tier, why: str) -> Planned:
    return Planned(
        Kind.MOVE_TIER, stood.memory.pk, why, before=_before(stood), after={"tier": tier.value}
    )


def _expired(stood: Stood, why: str, *, purge_after_days: int) -> Planned:
    accessed_at = stood.standing.last_accessed_at
    return Planned(
        Kind.EXPIRE,
        stood.memory.pk,
        why,
        before=_before(stood),
        after={
            "status": Status.SOFT_DELETED.value,
            "tier": Tier.COLD.value,
            "purge_after_days": purge_after_days,
            # Somebody who is told it meanwhile keeps it.
            "last_accessed_at": accessed_at.isoformat() if accessed_at else None,
        },
    )


def _before(stood: Stood) -> dict[str, Any]:  # Any: a column's value
    names = ("status", "tier", "importance", "is_pinned", "memory_type")
    return {name: getattr(stood.memory, name) for name in names}


def _move_tier(change: ConsolidationChange, batch: Batch) -> str:
    memory = batch.memories[change.memory_id]
    memory.tier = change.after["tier"]
    memory.save(update_fields=["tier"])
    return ""


def _expire(change: ConsolidationChange, batch: Batch) -> str:
    """Soft-deletes a memory until it is restored or purged."""
    memory = batch.memories[change.memory_id]
    usage = MemoryUsage.objects.filter(team_id=batch.team_id, memory_id=memory.pk).first()
    accessed_at = usage.last_accessed_at if usage else None
    if (accessed_at.isoformat() if accessed_at else None) != change.after["last_accessed_at"]:
        return "it was told since"
    disputes = Contradiction.objects.filter(team_id=batch.team_id, resolved_at=None)
    if disputes.filter(Q(memory_a=memory) | Q(memory_b=memory)).exists():
        return "it is in dispute by now"
    memory.status = Status.SOFT_DELETED.value
    memory.tier = Tier.COLD.value
    memory.purge_at = batch.now + timedelta(days=change.after["purge_after_days"])
    memory.save(update_fields=["status", "tier", "purge_at"])
    return ""


def _count_as_asked(change: ConsolidationChange, batch: Batch) -> str:
    """Counts an access, or the next run would delete it again."""
    note_access(team_id=batch.team_id, memory_id=change.memory_id, now=batch.now)
    return ""


MOVE_TIER = Executor(_move_tier)
EXPIRE = Executor(_expire, _count_as_asked)


def plan_shortening(scope: Scope, cursor: Json, tools: Tools) -> Page:
    """Lets prompts tell episodes by their summary, and later by their compressed text."""
    del tools
    ages = [scope.settings.summarise_after_days, scope.settings.compress_after_days]
    with team_scope(team_ids=[scope.team_id], actor=ACTOR):
        rows, last = _old_episodes(scope, ages, after=UUID(cursor) if cursor else FIRST)
    planned = tuple(each for row in rows if (each := _shorter(scope, ages, row)) is not None)
    return Page(planned, cursor=last, resume=None if last else ages, looked_at=len(rows))


def _old_episodes(
    scope: Scope, ages: list[int], *, after: UUID
) -> tuple[list[MemoryLevels], str | None]:
    """The next episodes that may be shortened: changed or come of age since the last run.

    With them the id after which the next page begins, None after the last one.
    """
    changed: list[UUID] = []
    rows = in_scope(scope=scope).filter(
        _EPISODES, importance__lt=WHOLE_FROM, is_pinned=False, id__gt=after
    )
    rows = rows.exclude(memory_type=MemoryType.IDENTITY.value)
    rows = rows.filter(created_at__lte=scope.now - timedelta(days=min(ages)))
    if scope.since is not None and scope.resume.get(Step.COMPRESS.value) == ages:
        changed = changed_since(scope=scope, after=after)
        due = Q(id__in=changed)
        for days in ages:
            age = timedelta(days=days)
            due |= Q(created_at__gt=scope.since - age, created_at__lte=scope.now - age)
        rows = rows.filter(due)
        if last := last_of_page(found=(), among=changed):
            rows = rows.filter(id__lte=last)
    levels = MemoryLevels.objects.filter(team_id=scope.team_id, memory__in=rows)
    levels = levels.exclude(writer="").select_related("memory").order_by("memory_id")
    found = list(levels[:PAGE])
    return found, last_of_page(found=[each.memory_id for each in found], among=changed)


def _shorter(scope: Scope, ages: list[int], row: MemoryLevels) -> Planned | None:
    memory, told = row.memory, Level(row.told_at_most)
    age = scope.now - memory.created_at
    summarised, compressed = (timedelta(days=days) for days in ages)
    level = Level.CONTENT
    if age >= compressed:
        level = Level.COMPRESSED
    elif age >= summarised:
        level = Level.SUMMARY
    levels = Levels(row.summary, row.compressed, row.index_term)
    is_shorter = levels.at(level, memory.content) != levels.at(told, memory.content)
    if ORDER.index(level) <= ORDER.index(told) or not is_shorter:
        return None
    return Planned(
        Kind.SHORTEN,
        memory.pk,
        f"an episode of {age.days} days ago",
        before={
            "told_at_most": told.value,
            "importance": memory.importance,
            "is_pinned": memory.is_pinned,
        },
        after={"told_at_most": level.value},
    )


def _tell(change: ConsolidationChange, batch: Batch, before: Json, after: Json) -> str:
    """Changes how much of a memory prompts tell at most."""
    rows = MemoryLevels.objects.filter(team_id=batch.team_id, memory_id=change.memory_id)
    same = rows.filter(told_at_most=before["told_at_most"])
    is_told = same.update(told_at_most=after["told_at_most"])
    return "" if is_told else "is told at another level by now"


SHORTEN = Executor(
    lambda change, batch: _tell(change, batch, change.before, change.after),
    lambda change, batch: _tell(change, batch, change.after, change.before),
)


def purge_due(*, now: datetime, seconds: float | None = None) -> int:
    """Purges what is due in all teams, for so many seconds at most; returns how many memories.

    What expired, and nobody restored in time, is in no search and no prompt from then on. Of a team
    that chose it (`purge_erases`) the texts of all that was purged are erased as well. Safe to run
    twice at once: each takes what the other does not hold.
    """
    purged, until = 0, None if seconds is None else time.monotonic() + seconds
    for team_id in all_team_ids():
        while until is None or time.monotonic() < until:
            count = _purge_some(team_id, now)
            purged += count
            if count < _PURGED_AT_ONCE:
                break
        _erase_purged(team_id, until)
    return purged


def _erase_purged(team_id: UUID, until: float | None) -> None:
    erased = 0
    while until is None or time.monotonic() < until:
        with team_scope(team_ids=[team_id], actor=_PURGE_ACTOR):
            team = Team.objects.get(pk=team_id)
            if not LifecycleSettings.usable(team.lifecycle_settings).purge_erases:
                return
            purged = Memory.objects.filter(  # an erasure empties `purge_at` as well
                team_id=team_id, status=Status.PURGED.value, purge_at__isnull=False
            )
            ids = list(purged.values_list("pk", flat=True)[:_PURGED_AT_ONCE])
        if not ids:
            break
        erased += erase_purged(team_id=team_id, memory_ids=ids, actor=_PURGE_ACTOR)
    if erased:
        forget_statistics(team_id)


@retried
def _purge_some(team_id: UUID, now: datetime) -> int:
    """Purges the next ones of a team; a trigger takes them out of what they are found by."""
    reason = "its time to be restored is over"
    with team_scope(team_ids=[team_id], actor=_PURGE_ACTOR, reason=reason):
        due = Memory.objects.filter(
            team_id=team_id,
            status=Status.SOFT_DELETED.value,
            purge_at__isnull=False,
            purge_at__lte=now,
        ).order_by("purge_at")
        held = due.select_for_update(skip_locked=True).values_list("pk", flat=True)
        ids = list(held[:_PURGED_AT_ONCE])
        Memory.objects.filter(team_id=team_id, pk__in=ids).update(status=Status.PURGED.value)
        return len(ids)
