"""Items of a store: values under namespaces and keys, each with the memory of its words."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from uuid import UUID

from django.conf import settings
from django.db.models import BooleanField, Case, F, Func, Q, QuerySet, Value, When
from django.db.models.expressions import RawSQL

from memory.domain.audience import Viewer
from memory.domain.forms import STATED_IMPORTANCE
from memory.domain.talk import people_of
from memory.domain.text.words import has_words
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.models.querysets import narrowed_q
from memory.reading import retrieval
from memory.reading.questions import Depth, Question, Read
from memory.satellites.langgraph.models import StoreItem
from memory.understanding.tools import Tools
from memory.writing.background import retried, run_write
from memory.writing.decisions.changes import delete_memory
from memory.writing.drafts import MemoryDraft, Outcome, PreparedDraft
from memory.writing.secrets import safe_statement
from memory.writing.write_path import prepare, store
from teams.errors import InvalidError, NotFoundError
from teams.models import Project
from teams.services.checkpoints import checkpoint_text
from teams.services.people import ensure_agent, ensure_end_users, ensure_project, frozen_team_ids
from teams.tenancy import team_scope

EXTRACTOR = "store"
CORRECTION = "correction"
# The first label of a namespace says what the second one names.
USERS, AGENTS, PROJECTS = "users", "agents", "projects"

# How members of a value are compared: numbers with numbers and texts with texts.
COMPARISONS = {
    "$eq": " = ",
    "$ne": " = ",
    "$gt": " > ",
    "$gte": " >= ",
    "$lt": " < ",
    "$lte": " <= ",
}
# The last of the versions that follow a memory, which are 100 at most.
_END_OF_CHAIN = """(
    WITH RECURSIVE later AS (
        SELECT id, superseded_by_id, 0 AS step FROM memory_memory
        WHERE team_id = '%(team)s' AND id = %(expressions)s
        UNION ALL
        SELECT m.id, m.superseded_by_id, l.step + 1
        FROM later l JOIN memory_memory m ON m.team_id = '%(team)s' AND m.id = l.superseded_by_id
        WHERE l.step < 100
    )
    SELECT id FROM later ORDER BY step DESC LIMIT 1
)"""
# In a pattern of namespaces.
ANY_LABEL = "*"

Items = QuerySet[StoreItem, StoreItem]
# The path and the key of an item.
Place = tuple[str, str]
_PLACE = ("team", "path", "key")
_OF_WHOM = ("agent", "end_user", "project", "memory")
_REPLACED = ("value", "size", *_OF_WHOM, "ttl_minutes", "expires_at", "updated_at")


@dataclass(frozen=True, slots=True)
class Search:
    """A search for items under a namespace whose members compare so."""

    prefix: tuple[str, ...] = ()
    conditions: Sequence[tuple[str, str, object]] = ()
    query: str | None = None
    limit: int = 10
    offset: int = 0
    refreshes: bool = True


@dataclass(frozen=True, slots=True)
class Listing:
    """A listing of namespaces, cut to `max_depth` labels; "*" stands for any label."""

    prefix: tuple[str, ...] = ()
    suffix: tuple[str, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True, slots=True)
class NewItem:
    """A value to store, or None to delete the stored one; `text` are its words, if any.

    `user` is its owner where the namespace names none.
    """

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, object] | None
    text: str | None = None
    user: str | None = None
    ttl_minutes: float | None = None


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item with its score, where there is a question."""

    item: StoreItem
    score: float | None = None


def path_of(namespace: Sequence[str]) -> str:
    """As it is stored; labels have no dots."""
    return ".".join(namespace)


def items_for(*, viewer: Viewer, now: datetime) -> Items:
    """The items that the viewer may see and whose time is not over; call it in the team's scope."""
    seen = Q(team_id=viewer.team_id) & narrowed_q(viewer)
    if viewer.agent_id is not None:
        seen &= Q(agent_id=viewer.agent_id) | Q(agent_id__isnull=True)
    return StoreItem.objects.filter(seen, Q(expires_at__isnull=True) | Q(expires_at__gt=now))


def matching_items(rows: Items, search: Search) -> Items:
    """Returns the items that the search is for, whatever its query."""
    if search.prefix:
        path = path_of(search.prefix)
        # "/" follows "." in the order of bytes.
        rows = rows.filter(Q(path=path) | Q(path__gte=f"{path}.", path__lt=f"{path}/"))
    for name, comparison, value in search.conditions:
        rows = rows.filter(_condition(name, comparison, value))
    return rows


def _condition(name: str, comparison: str, value: object) -> Func:
    """A comparison of a member of the value as PostgreSQL compares JSON; none is no match but $ne.

    A whole object is equal to one that has its members at least.
    """
    member = Func(F("value"), Value(name), template="(%(expressions)s)", arg_joiner=" -> ")
    given = Func(Value(json.dumps(value)), template="%(expressions)s::jsonb")
    if comparison in ("$eq", "$ne"):
        sign = " @> " if isinstance(value, dict) else " = "
        holds = "IS TRUE" if comparison == "$eq" else "IS NOT TRUE"
        return _test(member, given, sign=sign, holds=holds)
    one, other = (Func(each, function="jsonb_typeof") for each in (member, given))
    compared = _test(member, given, sign=COMPARISONS[comparison])
    return _test(_test(one, other, sign=" = "), compared, sign=" AND ")


def _test(one: Func, other: Func, *, sign: str, holds: str = "IS TRUE") -> Func:
    template = f"((%(expressions)s) {holds})"
    return Func(one, other, template=template, arg_joiner=sign, output_field=BooleanField())


def namespaces_of(rows: Items, listing: Listing) -> list[tuple[str, ...]]:
    """The namespaces in which items stand, each once, in their order."""
    for labels, pattern in ((listing.prefix, r"^{}(\.|$)"), (listing.suffix, r"(^|\.){}$")):
        if labels:
            parts = (r"[^.]+" if each == ANY_LABEL else re.escape(each) for each in labels)
            rows = rows.filter(path__regex=pattern.format(r"\.".join(parts)))
    cut = rows.order_by().annotate(
        cut=RawSQL(
            "array_to_string((string_to_array(memory_storeitem.path, '.'))[:%s], '.')",
            [listing.max_depth or 1_000],
        )
    )
    found = cut.values_list("cut", flat=True).distinct().order_by("cut")
    page = found[listing.offset : listing.offset + listing.limit]
    return [tuple(path.split(".")) for path in page]


def named_in(namespace: Sequence[str]) -> tuple[str, str] | None:
    """The first two labels where they name a user, an agent or a project."""
    if len(namespace) > 1 and namespace[0] in (USERS, AGENTS, PROJECTS):
        return namespace[0], namespace[1]
    return None


def in_namespace(viewer: Viewer, prefix: Sequence[str]) -> Viewer:
    """The viewer of a search or list below the prefix, for which an agent must name the user."""
    named = named_in(prefix)
    is_named = named is not None and named[0] == USERS and named[1] != ANY_LABEL
    if viewer.agent_id is None or is_named:
        return viewer
    return replace(viewer, sees_people=False)


@retried
def write_items(
    *, viewer: Viewer, items: Sequence[NewItem], tools: Tools, now: datetime
) -> tuple[int, int]:
    """Keep and delete items, all or none; of several at one place the last counts.

    Returns how many were kept and how many deleted. Words become memories by the write path, as
    they are: nothing is judged, secrets are masked, and new words are a new version. What changes
    a sensitive field of a person waits for a yes as a memory, and is kept as a value. Raises
    InvalidError for a user other than the namespace's, and what `checkpoint_text` raises.
    """
    for each in items:
        if each.value is not None:
            checkpoint_text(each.value, what="An item", field="items")
    latest = {(path_of(each.namespace), each.key): each for each in items}
    kept = {place: each for place, each in latest.items() if each.value is not None}
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        drafts = _drafts(viewer, kept, now)
        _check_projects(viewer, latest.keys() - kept.keys())
    worded = {place: draft for place, draft in drafts.items() if draft.content}
    made = prepare(drafts=list(worded.values()), tools=tools) if worded else ()
    prepared = dict(zip(worded, made, strict=True))

    def transaction() -> int:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason="an item was kept"):
            rows = _rows(drafts, kept, now)
            # So that there is a row to lock for each, whoever comes first.
            StoreItem.objects.bulk_create(rows, ignore_conflicts=True)
            stored = StoreItem.objects.filter(_at(latest), team_id=viewer.team_id)
            locked = stored.order_by("path", "key").select_for_update()
            known = {(row.path, row.key): row for row in locked}
            before = {row.memory_id for row in known.values()}
            memories = _written(viewer, prepared, known, tools)
            for row in rows:
                row.memory_id = memories.get((row.path, row.key))
            StoreItem.objects.bulk_create(
                rows, update_conflicts=True, unique_fields=_PLACE, update_fields=_REPLACED
            )
            gone = [row.pk for place, row in known.items() if place not in kept]
            StoreItem.objects.filter(team_id=viewer.team_id, pk__in=gone).delete()
            _release(viewer, {each for each in before if each} - set(memories.values()))
            return len(gone)

    return len(kept), run_write(transaction) if latest else 0


def _check_projects(viewer: Viewer, places: Iterable[Place]) -> None:
    """Raises NotFoundError for places of projects that do not exist for the viewer's key."""
    if not viewer.project_ids:
        return
    own = set(
        Project.objects.filter(team_id=viewer.team_id, pk__in=viewer.project_ids).values_list(
            "slug", flat=True
        )
    )
    for path, _ in places:
        kind, name = named_in(path.split(".")) or ("", "")
        if kind == PROJECTS and name not in own:
            raise NotFoundError(f"There is no project '{name}'.", field="items")


def _at(places: Iterable[Place]) -> Q:
    return reduce(or_, (Q(path=path, key=key) for path, key in places))


def _drafts(
    viewer: Viewer, kept: Mapping[Place, NewItem], now: datetime
) -> dict[Place, MemoryDraft]:
    """The words of each item as a memory of its owner; call it in the team's scope."""
    team_id = viewer.team_id
    named = {place: named_in(each.namespace) or ("", "") for place, each in kept.items()}
    users: dict[Place, str] = {}
    for place, each in kept.items():
        kind, name = named[place]
        user = name if kind == USERS else each.user
        if each.user not in (None, user):
            raise InvalidError(f"The namespace is of the user '{user}'.", field="items")
        if user:
            users[place] = user
    people = ensure_end_users(team_id=team_id, external_ids=set(users.values()))
    owners: dict[tuple[str, str], UUID] = {}
    for kind, name in sorted(set(named.values())):
        if kind == AGENTS:
            owners[kind, name] = ensure_agent(team_id=team_id, slug=name).pk
        elif kind == PROJECTS:
            project = ensure_project(team_id=team_id, slug=name, among=viewer.project_ids)
            owners[kind, name] = project.pk
    drafts = {}
    for place, each in kept.items():
        person = people[users[place]] if place in users else None
        owner_id, kind = owners.get(named[place]), named[place][0]
        agent_id = owner_id if kind == AGENTS else None
        text = (each.text or "")[: settings.MAX_CONTENT_CHARS]
        safe = safe_statement(text=text, text_field="items", refuse_bare=False).text
        drafts[place] = MemoryDraft(
            team_id=team_id,
            content=safe if has_words(safe) else "",
            memory_type=MemoryType.AGENT_PRIVATE if agent_id else MemoryType.SEMANTIC,
            importance=STATED_IMPORTANCE,
            extractor=EXTRACTOR,
            created_at=now,
            agent_id=agent_id,
            author_id=agent_id or viewer.agent_id,
            people=people_of(safe, user=person.names if person else ()),
            end_user_id=person.pk if person else None,
            project_id=owner_id if kind == PROJECTS else None,
            check=False,
        )
    return drafts


def _written(
    viewer: Viewer,
    prepared: Mapping[Place, PreparedDraft],
    known: Mapping[Place, StoreItem],
    tools: Tools,
) -> dict[Place, UUID]:
    """The memory of each item that has words: the one it has, a new version, or a new one."""
    ids = [row.memory_id for row in known.values() if row.memory_id]
    live = _standing(viewer, ids)
    memories: dict[Place, UUID] = {}
    new: dict[Place, PreparedDraft] = {}
    for place, item in prepared.items():
        row = known.get(place)
        old = live.get(row.memory_id) if row and row.memory_id else None
        if old and row and old.content == item.draft.content and _owner(old) == _owner(item.draft):
            memories[place] = old.pk
        else:
            replaces = (old.pk,) if old else ()
            new[place] = replace(item, draft=replace(item.draft, replaces=replaces))
    results = store(viewer=viewer, prepared=list(new.values()), tools=tools)
    for place, result in zip(new, results, strict=True):
        if result.outcome is not Outcome.HELD:
            memories[place] = result.memory.pk
    return memories


def _standing(viewer: Viewer, memory_ids: Collection[UUID]) -> dict[UUID, Memory]:
    """Returns the live memories of items: each itself, or its last correction."""
    found = {}
    rows = Memory.objects.filter(
        team_id=viewer.team_id, pk__in=memory_ids, extractor=EXTRACTOR
    ).select_related("superseded_by")
    for row in rows:
        last = row
        while (later := last.superseded_by) is not None and later.extractor == CORRECTION:
            last = later
        if last.is_live:
            found[row.pk] = last
    return found


def _owner(row: Memory | MemoryDraft) -> tuple[UUID | None, ...]:
    return row.agent_id, row.end_user_id, row.project_id


def _rows(
    drafts: Mapping[Place, MemoryDraft], kept: Mapping[Place, NewItem], now: datetime
) -> list[StoreItem]:
    rows = []
    for place in sorted(kept):
        draft, ttl = drafts[place], kept[place].ttl_minutes
        rows.append(
            StoreItem(
                team_id=draft.team_id,
                path=place[0],
                key=place[1],
                value=kept[place].value,
                size=len(json.dumps(kept[place].value, ensure_ascii=False).encode()),
                agent_id=draft.agent_id,
                end_user_id=draft.end_user_id,
                project_id=draft.project_id,
                ttl_minutes=ttl,
                expires_at=now + timedelta(minutes=ttl) if ttl is not None else None,
                created_at=now,
                updated_at=now,
            )
        )
    return rows


def _release(viewer: Viewer, memory_ids: Collection[UUID]) -> None:
    """Delete the memories that came from items and have none any more; in the team's scope."""
    for pk in sorted(row.pk for row in _standing(viewer, memory_ids).values()):
        with suppress(NotFoundError):
            delete_memory(viewer=viewer, memory_id=pk, reason="its item was deleted")


def read_items(
    *,
    viewer: Viewer,
    gets: Sequence[tuple[Place, bool]],
    searches: Sequence[Search],
    tools: Tools,
    now: datetime,
) -> tuple[list[StoreItem], list[list[FoundItem]]]:
    """The items that there are at these places, and those of each search.

    Items are refreshed where it is told. Raises InvalidError, and refreshes nothing, where the
    values have more than `most_read_bytes` together.
    """
    got = {}
    if gets:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            places = _at(place for place, _ in gets)
            seen = items_for(viewer=viewer, now=now).filter(places).defer("value")
            got = {(row.path, row.key): row for row in seen}
    found = [_found(in_namespace(viewer, each.prefix), each, tools, now) for each in searches]
    rows = [*got.values(), *(one.item for each in found for one in each)]
    size, most = sum(row.size for row in rows), most_read_bytes()
    if size > most:
        raise InvalidError(
            f"These items have {size} bytes together, and one answer at most {most}. Ask for fewer"
            " in one request: with a smaller `limit`, and then with `offset`.",
            field="search" if searches else "get",
        )
    refreshed = [got[place] for place, refreshes in gets if refreshes and place in got]
    for search, each in zip(searches, found, strict=True):
        refreshed += [one.item for one in each if search.refreshes]
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        stored = StoreItem.objects.filter(team_id=viewer.team_id, pk__in={row.pk for row in rows})
        values = dict(stored.values_list("pk", "value"))
        _refresh(viewer.team_id, refreshed, now)
    for row in rows:
        if row.pk in values:
            row.value = values[row.pk]
    return (
        [row for row in got.values() if row.pk in values],
        [[one for one in each if one.item.pk in values] for each in found],
    )


def most_read_bytes() -> int:
    """The bytes that the values of one answer may have together: those of the 8 largest."""
    return 8 * settings.CHECKPOINT_MAX_BYTES


def _found(viewer: Viewer, search: Search, tools: Tools, now: datetime) -> list[FoundItem]:
    """The items of a search without their values: what says most about its query, else the
    latest, first.

    A query is the search of memories, held to those of the items.
    """
    until = search.offset + search.limit
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = matching_items(items_for(viewer=viewer, now=now), search).defer("value")
        # A memory that was merged or corrected is found by the end of its chain.
        named = rows.annotate(
            current=Case(
                When(memory__superseded_by__isnull=True, then=F("memory_id")),
                default=Func(F("memory_id"), template=_END_OF_CHAIN, team=viewer.team_id),
            )
        )
        if not search.query:
            latest = rows.order_by("-updated_at", "-id")[search.offset : until]
            return [FoundItem(row) for row in latest]
    told = retrieval.search(
        Read(
            viewer=viewer,
            question=Question(search.query),
            rows=Memory.objects.live().filter(pk__in=named.order_by().values("current")),
            limit=until,
            depth=Depth(include_private=True),
            tools=tools,
            now=now,
        )
    ).memories
    scores = {each.memory.pk: each.score for each in told}
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        items = list(named.filter(current__in=list(scores)))
    order = {pk: place for place, pk in enumerate(scores)}
    items.sort(key=lambda row: (order[row.current], row.path, row.key))
    return [FoundItem(row, scores[row.current]) for row in items[search.offset : until]]


def _refresh(team_id: UUID, rows: Collection[StoreItem], now: datetime) -> None:
    """Begin the time of these items anew, each for as long as given, unless the team is frozen."""
    lasting = {row.pk: row.ttl_minutes for row in rows if row.ttl_minutes is not None}
    if lasting and team_id in frozen_team_ids():
        return
    for pk, minutes in sorted(lasting.items()):
        StoreItem.objects.filter(pk=pk, ttl_minutes=minutes).update(
            expires_at=now + timedelta(minutes=minutes)
        )


def delete_expired(*, team_id: UUID, now: datetime, most: int) -> int:
    """Delete items whose time is over, with their memories; returns how many, at most `most`."""
    viewer = Viewer(team_id=team_id, actor="task:expire_items")
    with team_scope(team_ids=[team_id], actor=viewer.actor):
        due = StoreItem.objects.filter(team_id=team_id, expires_at__lte=now)
        rows = list(due.order_by("expires_at").select_for_update(skip_locked=True)[:most])
        StoreItem.objects.filter(team_id=team_id, pk__in=[row.pk for row in rows]).delete()
        _release(viewer, {row.memory_id for row in rows if row.memory_id})
        return len(rows)
