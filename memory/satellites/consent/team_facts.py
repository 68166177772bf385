"""Proposes what several people of a team state as a fact of the team (seed 002, phase 2c)."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID
from zlib import crc32

from django.db.models import Q

from audit.models import MemoryLog
from memory.domain.names import says_user
from memory.domain.text.words import name_words, normalise_text
from memory.domain.types import MemoryType, Status, in_zone
from memory.models import Memory, MemoryRelation
from memory.models.querysets import MemoryQuerySet
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import Signal, new_request, note_requests
from memory.selectors.ttl_cache import zone_of
from memory.understanding.quoting import own_sentences, read_lines
from memory.understanding.reading import Line
from memory.writing.background import retried
from memory.writing.drafts import MemoryDraft
from teams.errors import ConflictError
from teams.models import EndUser, Role
from teams.prepared import run_prepared
from teams.services.people import all_team_ids
from teams.services.team_settings import flags_of_id, lifecycle_settings_of
from teams.tenancy import hold_lock, team_scope

ACTOR = "task:team_facts"
# The `extractor` of the memories, by which erasures know them: audit/sql/erasure.sql.
EXTRACTOR = "team_facts"
_OF_EVERYBODY = Q(agent_id__isnull=True) | Q(memory_type=MemoryType.SHARED.value)
FEWEST_PEOPLE = 2
MOST_CANDIDATES = 500
MOST_A_DAY = 20
# A worker that was away for a day misses nothing.
_LATELY = timedelta(days=3)
_PART = "team_facts"
# So many memories that hold the same words are compared.
_MOST_ALIKE = 50
_MOST_NAMES = 10_000
_WORD = re.compile(r"\b(?=[^\W\d_])(?![a-z])\w+")
_PERSONAL = ("profile", "preference", "preferences", "relationship_dynamic")
_HOLDING = """
SELECT term, memory_id FROM palimpsest_matches($1, '{""}', true, $2, $3, NULL, NULL)
"""


def hour_of(*, team_id: UUID) -> int:
    """Returns the hour of the day (UTC) in which the team's facts are proposed."""
    return crc32(team_id.bytes) % 24


def propose_due_team_facts(*, now: datetime) -> int:
    """Proposes the facts of each team whose hour it is; returns how many."""
    due = [pk for pk in all_team_ids() if hour_of(team_id=pk) == now.hour]
    return sum(len(propose_team_facts(team_id=pk, now=now)) for pk in due)


@retried
def propose_team_facts(*, team_id: UUID, now: datetime) -> list[ConsentRequest]:
    """Asks whether all may know what at least two people state in the same words.

    It looks at the last 500 memories of three days and proposes 20 facts at most. Nothing that
    names a person, is private or of a profile, nothing that the small model does not read as the
    team's, and nothing that was decided before. Another statement of a fact that the team has
    already becomes one more memory that it rests on.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR, reason="stated by several people"):
        flags = flags_of_id(team_id=team_id)
        is_on = lifecycle_settings_of(team_id=team_id).does(_PART)
        if not (is_on and flags.memory and flags.team_facts):
            return []
        hold_lock(f"team-facts|{team_id}")
        lately = _stated_lately(team_id, since=now - _LATELY)
        alike = _saying_the_same(team_id, lately)
        ids = {each.pk for others in alike.values() for each in others}
        fit = set(_stated_by_people(team_id).filter(pk__in=ids).values_list("pk", flat=True))
        named = _people_named(team_id, [each.content for each in lately])
        requests: list[ConsentRequest] = []
        seen: set[UUID] = set()
        for memory in lately:
            others = alike.get(memory.pk, ())
            parts = [memory, *(each for each in others if each.pk in fit)]
            if memory.pk in seen or _people_of(parts) < FEWEST_PEOPLE:
                continue
            seen.update(each.pk for each in parts)
            names = [name for each in parts if each.end_user for name in each.end_user.names]
            if not _is_of_team(memory.content, people=[*named, *names]):
                continue
            facts = [each for each in others if each.end_user_id is None]
            for fact in facts:
                keep_parts(fact=fact, parts=parts)
            if not facts and (request := _proposed(parts, now)) is not None:
                requests.append(request)
            if len(requests) == MOST_A_DAY:
                break
        note_requests(op="propose", requests=requests)
        return requests


def locked_parts(request: ConsentRequest) -> list[Memory]:
    """Returns the parts that stand, locked; ConflictError where fewer than two people do."""
    rows = Memory.objects.select_for_update().filter(
        _OF_EVERYBODY,  # a part may have been withdrawn since
        team_id=request.team_id,
        pk__in=request.draft["parts"],
        status=Status.ACTIVE.value,
    )
    parts = list(rows.order_by("pk"))
    if _people_of(parts) < FEWEST_PEOPLE:
        raise ConflictError("Fewer than two people state it by now; reject it.")
    return parts


def facts_resting_on(*, team_id: UUID, message_ids: Collection[UUID]) -> dict[UUID, bool]:
    """Returns the facts made of memories of these messages, and whether enough others state each.

    Call it in the team's scope.
    """
    parts = Memory.objects.filter(
        team_id=team_id, source_message_ids__overlap=list(message_ids)
    ).exclude(extractor=EXTRACTOR)
    edges = MemoryRelation.objects.filter(
        team_id=team_id, relation_type="derived_from", from_memory__extractor=EXTRACTOR
    )
    gone = set(parts.values_list("pk", flat=True))
    facts = set(edges.filter(to_memory__in=gone).values_list("from_memory", flat=True))
    stands = dict.fromkeys(facts, False)
    for fact in facts:
        others = edges.filter(from_memory=fact).exclude(to_memory__in=gone).values("to_memory")
        rows = Memory.objects.filter(
            _OF_EVERYBODY, team_id=team_id, pk__in=others, status=Status.ACTIVE.value
        )
        stands[fact] = _people_of(list(rows)) >= FEWEST_PEOPLE
    return stands


def keep_parts(*, fact: Memory, parts: Sequence[Memory]) -> None:
    """Stores which memories a fact was made of; call it in the transaction that wrote it.

    Nothing where the team knew it from elsewhere: that must not fall with a person's part.
    """
    if fact.extractor != EXTRACTOR:
        return
    MemoryRelation.objects.bulk_create(
        (
            MemoryRelation(
                team_id=fact.team_id,
                from_memory=fact,
                to_memory=each,
                relation_type="derived_from",
                strength=1.0,
            )
            for each in parts
        ),
        ignore_conflicts=True,
    )


def _stated_by_people(team_id: UUID) -> MemoryQuerySet:
    """Memories of members that may be the team's: nothing private, nothing of a profile."""
    is_member = Q(end_user__role=Role.MEMBER) | Q(
        end_user__role="", end_user__team__person_role=Role.MEMBER
    )
    rows = Memory.objects.filter(
        _OF_EVERYBODY,
        is_member,
        team_id=team_id,
        status=Status.ACTIVE.value,
        memory_type__in=(MemoryType.SEMANTIC.value, MemoryType.SHARED.value),
        form="",
    )
    return rows.exclude(category__in=_PERSONAL).exclude(
        Q(subject="user") | Q(subject__startswith="user.")
    )


def _stated_lately(team_id: UUID, *, since: datetime) -> Sequence[Memory]:
    """Returns those that were stored or changed since, by the log's times."""
    changed = MemoryLog.objects.filter(team_id=team_id, at__gte=since).values("memory_id")
    rows = _stated_by_people(team_id).filter(id__in=changed)
    return list(rows.select_related("end_user").order_by("-id")[:MOST_CANDIDATES])


def _saying_the_same(team_id: UUID, of: Sequence[Memory]) -> Mapping[UUID, Sequence[Memory]]:
    """For each memory the other live ones of its project and category with its words."""
    if not of:
        return {}
    given = [team_id, [each.content for each in of], _MOST_ALIKE]
    pairs = [(of[term - 1], pk) for term, pk in run_prepared(_HOLDING, given)]
    rows = Memory.objects.live().select_related("end_user")
    known = rows.filter(team_id=team_id).in_bulk({pk for _, pk in pairs})
    found: dict[UUID, list[Memory]] = defaultdict(list)
    for memory, pk in pairs:
        other = known.get(pk)
        if other is not None and other.pk != memory.pk and _matter(other) == _matter(memory):
            found[memory.pk].append(other)
    return found


def _matter(memory: Memory) -> tuple[UUID | None, str, str]:
    return memory.project_id, memory.category, normalise_text(memory.content)


def _people_named(team_id: UUID, contents: Sequence[str]) -> list[str]:
    """The names of people in these texts; of display names the words with a capital."""
    people = EndUser.objects.filter(team_id=team_id)
    ids = people.filter(external_id__in=name_words(contents)).values_list("external_id", flat=True)
    capital = {word.casefold() for each in contents for word in _WORD.findall(each)}
    names = people.exclude(display_name="").values_list("display_name", flat=True)[:_MOST_NAMES]
    return [*ids, *capital.intersection(name_words(names))]


def _people_of(parts: Iterable[Memory]) -> int:
    return len({each.end_user_id for each in parts} - {None})


def _is_of_team(content: str, *, people: Sequence[str]) -> bool:
    """Returns whether the text names none of the people and each of its sentences is the team's."""
    named = {word.removesuffix("'s") for word in name_words([content.replace("’", "'")])}
    if says_user(content) or not named.isdisjoint(name_words(people)):
        return False
    read = read_lines([Line(text=each) for each in own_sentences(content)])
    return bool(read) and all(each.audience == "team" for each in read)


def _proposed(parts: Sequence[Memory], now: datetime) -> ConsentRequest | None:
    """A request for the fact, or None where one waits or was decided, or expired with as many."""
    draft, people = _draft(parts), _people_of(parts)
    words = repr((draft.project_id, draft.category, normalise_text(draft.content)))
    key = hashlib.sha256(words.encode()).digest()
    kind, states = ConsentRequest.Kind.TEAM_FACT, ConsentRequest.State
    earlier = ConsentRequest.objects.filter(team_id=draft.team_id, kind=kind, value_key=key)
    if any(row.state != states.EXPIRED or row.people >= people for row in earlier):
        return None
    zone = zone_of(team_id=draft.team_id, now=now)
    return new_request(
        draft=draft,
        signals=[
            Signal(
                each.conversation_id,
                in_zone(each.created_at, zone).date(),
                tuple(each.source_message_ids),
            )
            for each in parts
        ],
        now=now,
        beside_draft={"parts": [str(each.pk) for each in parts], "stated_by": people},
        kind=kind,
        value_key=key,
        proposed_by=ACTOR,
    )


def _draft(parts: Sequence[Memory]) -> MemoryDraft:
    """Returns the memory that a yes writes: the words in which it was first stated."""
    first, *_, last = sorted(parts, key=lambda each: (each.created_at, each.pk))
    spans = {(each.valid_from, each.valid_to) for each in parts}
    valid_from, valid_to = spans.pop() if len(spans) == 1 else (None, None)
    return MemoryDraft(
        team_id=first.team_id,
        conversation_id=first.conversation_id,
        content=first.content,
        memory_type=MemoryType.SEMANTIC,
        importance=max(each.importance for each in parts),
        extractor=EXTRACTOR,
        created_at=last.created_at,
        confidence=min(each.confidence for each in parts),
        category=first.category,
        subject=first.subject if len({each.subject for each in parts}) == 1 else "",
        project_id=first.project_id,
        message_ids=tuple(dict.fromkeys(pk for each in parts for pk in each.source_message_ids)),
        valid_from=valid_from,
        valid_to=valid_to,
    )
