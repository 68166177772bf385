"""Proposing what several people of a team state as a fact of the team (seed 002, phase 2c)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from memory.domain.names import says_user
from memory.domain.text.words import name_words, normalise_text
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import (
    LIFETIME,
    Signal,
    draft_as_json,
    note_requests,
    signal_as_json,
)
from memory.satellites.consent.values import EXTRACTOR, FEWEST_PEOPLE, keep_parts, people_of
from memory.satellites.lifecycle.runs import hour_of
from memory.satellites.lifecycle.same_facts import (
    people_named,
    saying_the_same,
    stated_by_people,
    stated_lately,
)
from memory.selectors.zones import zone_of
from memory.understanding.quoting import own_sentences, read_lines
from memory.understanding.reading import Line
from memory.writing.background import retried
from memory.writing.drafts import MemoryDraft
from teams.services.people import all_team_ids
from teams.services.team_settings import flags_of_id, lifecycle_settings_of
from teams.tenancy import hold_lock, team_scope

ACTOR = "task:team_facts"
MOST_CANDIDATES = 500
MOST_A_DAY = 20
# A worker that was away for a day misses nothing.
_LATELY = timedelta(days=3)
_PART = "team_facts"
_State = ConsentRequest.State


def propose_due_team_facts(*, now: datetime) -> int:
    """Propose the facts of each team whose hour (UTC) it is; returns how many."""
    due = [pk for pk in all_team_ids() if hour_of(team_id=pk) == now.hour]
    return sum(len(propose_team_facts(team_id=pk, now=now)) for pk in due)


@retried
def propose_team_facts(*, team_id: UUID, now: datetime) -> list[ConsentRequest]:
    """Ask whether all may know what at least two people state in the same words.

    It looks at the last 500 memories of three days and proposes 20 facts at most. Nothing that
    names a person, is private or of a profile, nothing that the small model does not read as the
    team's, and nothing that was decided before. Whoever states
    what is a fact of the team already is one more whom it rests on.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR, reason="stated by several people"):
        flags = flags_of_id(team_id=team_id)
        is_on = lifecycle_settings_of(team_id=team_id).does(_PART)
        if not (is_on and flags.memory and flags.team_facts):
            return []
        hold_lock(f"team-facts|{team_id}")
        lately = stated_lately(team_id=team_id, since=now - _LATELY, most=MOST_CANDIDATES)
        alike = saying_the_same(team_id=team_id, of=lately)
        may_be = stated_by_people(team_id=team_id)
        ids = {each.pk for others in alike.values() for each in others}
        fit = set(may_be.filter(pk__in=ids).values_list("pk", flat=True))
        named = people_named(team_id=team_id, contents=[each.content for each in lately])
        requests: list[ConsentRequest] = []
        seen: set[UUID] = set()
        for memory in lately:
            others = alike.get(memory.pk, ())
            parts = [memory, *(each for each in others if each.pk in fit)]
            if memory.pk in seen or len(people_of(parts)) < FEWEST_PEOPLE:
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


def _is_of_team(content: str, *, people: Sequence[str]) -> bool:
    """Whether the text names none of the people and each of its sentences is the team's."""
    named = {word.removesuffix("'s") for word in name_words([content.replace("’", "'")])}
    if says_user(content) or not named.isdisjoint(name_words(people)):
        return False
    read = read_lines([Line(text=each) for each in own_sentences(content)])
    return bool(read) and all(each.audience == "team" for each in read)


def _proposed(parts: Sequence[Memory], now: datetime) -> ConsentRequest | None:
    """A request for the fact, or None where one waits or was decided, or expired with as many."""
    draft = _draft(parts)
    people = len(people_of(parts))
    words = repr((draft.project_id, draft.category, normalise_text(draft.content)))
    key = hashlib.sha256(words.encode()).digest()
    earlier = ConsentRequest.objects.filter(
        team_id=draft.team_id, kind=ConsentRequest.Kind.TEAM_FACT, value_key=key
    )
    if any(row.state != _State.EXPIRED or row.people >= people for row in earlier):
        return None
    ids = [str(each.pk) for each in parts]
    return ConsentRequest.objects.create(
        team_id=draft.team_id,
        kind=ConsentRequest.Kind.TEAM_FACT,
        content=draft.content,
        value_key=key,
        category=draft.category,
        draft=draft_as_json(draft) | {"parts": ids, "stated_by": people},
        source_message_ids=list(draft.message_ids),
        signals=[signal_as_json(each) for each in _signals(parts, now)],
        proposed_by=ACTOR,
        created_at=now,
        expires_at=now + LIFETIME,
    )


def _draft(parts: Sequence[Memory]) -> MemoryDraft:
    """What a yes writes: the words in which it was first stated."""
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


def _signals(parts: Sequence[Memory], now: datetime) -> list[Signal]:
    """When and where each part was said."""
    zone = zone_of(team_id=parts[0].team_id, now=now)
    return [
        Signal(
            each.conversation_id,
            each.created_at.astimezone(zone).date(),
            tuple(each.source_message_ids),
        )
        for each in parts
    ]
