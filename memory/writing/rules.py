"""The rules that every extracted candidate passes, in order.

RULES come before anything is embedded; the last ones run in the transaction that writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from pydantic import TypeAdapter

from memory.domain.grounding import Grounds, Spoken, ungrounded
from memory.domain.profile_fields import is_profile_subject
from memory.domain.secrets import MASK, mask_secrets
from memory.domain.talk import check_wording
from memory.domain.types import (
    MOST_IMPORTANT_UNCONFIRMED,
    NAMELESS,
    OF_THE_CONFIRMED,
    Candidate,
    MemoryType,
    Source,
    strongest,
)
from memory.models import Job
from memory.selectors.neighbours import retired_sources
from memory.understanding.spoken_language import is_english
from memory.writing.drafts import PreparedDraft
from memory.writing.windows import TEAM_FACT, Found, MessageRange, TeamFacts, participants_of
from teams.models import Message
from teams.prepared import run_prepared
from teams.tenancy import hold_lock
from teams.tracing import step

_MAY_BE_OF_TEAM = (
    MemoryType.SEMANTIC,
    MemoryType.EPISODIC,
    MemoryType.PROCEDURAL,
    MemoryType.SHARED,
)
_OF_HEALTH = frozenset({"health", "safety", "allergy", "allergies", "medication", "medical"})
_DECIDED = frozenset({"decision", "constraint"})
_PREFERENCES = "preferences"
_WRITTEN_TODAY = """
SELECT coalesce(sum(job.written_that_day), 0)::integer
FROM memory_job AS job JOIN teams_conversation AS talk
    ON talk.team_id = job.team_id AND talk.id = job.conversation_id
WHERE job.team_id = $1 AND talk.end_user_id = $2 AND job.is_capped AND job.written_on = $3
"""
T = TypeVar("T")
C = TypeVar("C")


# Those that the caps left out, as a job keeps them.
CANDIDATES = TypeAdapter(list[Candidate])


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason for not writing a candidate now; the reason holds no text of it."""

    reason: str


OVER_TURN = Refusal("over the cap of a turn")
OVER_DAY = Refusal("over the cap of a day")
HELD = Refusal("waits for consent")
RETIRED = Refusal("retired since")
NOT_ENGLISH = Refusal("not English")


@dataclass(slots=True)
class Window:
    """The messages that a run reads at a time, and what the rules made of their candidates.

    Once all messages are read, it holds what the caps left out: `is_rest`. `private` are sources
    of candidates that belong to the agent alone, written or not.
    """

    job: Job
    first: int
    last: int
    source: MessageRange
    found: Found = field(default_factory=Found)
    candidates: list[Candidate] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    over_turn: list[Candidate] = field(default_factory=list)
    private: set[UUID] = field(default_factory=set)
    secrets_masked: int = 0
    written_in_turn: Counter[int] = field(default_factory=Counter)

    @property
    def is_rest(self) -> bool:
        return self.first > self.last

    @property
    def messages(self) -> int:
        return self.last - self.first + 1

    @property
    def rows(self) -> tuple[Message, ...]:
        return (*self.source.context, *self.source.messages)


@step("extraction.screen")
def apply_rules(window: Window) -> None:
    """Sorts the window's candidates into those that may be written and those refused."""
    window.candidates, left = _passed(RULES, window.found.candidates, window, rank)
    window.over_turn = [candidate for candidate, why in left if why is OVER_TURN]
    window.refused = Counter(why.reason for _, why in left if why is not OVER_TURN)


def _passed(
    rules: Sequence[Callable[[T, C], T | Refusal]],
    items: Sequence[T],
    context: C,
    rank: Callable[[T], tuple[float, ...]],
) -> tuple[list[T], list[tuple[T, Refusal]]]:
    """Returns the items that pass the rules, and the others with the reason, each in their order.

    The most important items come first, so that a cap leaves out the others.
    """
    passed: dict[int, T] = {}
    left: dict[int, tuple[T, Refusal]] = {}
    for place in sorted(range(len(items)), key=lambda place: rank(items[place])):
        item = items[place]
        for rule in rules:
            outcome = rule(item, context)
            if isinstance(outcome, Refusal):
                left[place] = item, outcome
                break
            item = outcome
        else:
            passed[place] = item
    return [passed[place] for place in sorted(passed)], [left[place] for place in sorted(left)]


def rank(candidate: Candidate) -> tuple[float, ...]:
    """Returns the order in which a cap is filled: by importance, then by the harm of a loss."""
    if candidate.category in _DECIDED or not _OF_HEALTH.isdisjoint(candidate.subject.split(".")):
        kind = 0
    else:
        kind = 2 if candidate.category == _PREFERENCES else 1
    return -candidate.importance, kind, -candidate.confidence


# -- before anything is embedded -------------------------------------------------------------


def language(candidate: Candidate, _window: Window) -> Candidate | Refusal:
    """Refuses a quotation that is not English, the only language that the small reader reads."""
    if candidate.is_verbatim and not is_english(candidate.content):
        return NOT_ENGLISH
    return candidate


def trust(candidate: Candidate, window: Window) -> Candidate:
    """Notes the strongest source that says it.

    An unconfirmed candidate sets no profile, is no type that prompts hold unasked, and is neither
    pinned nor the team's.
    """
    source = _source_of(candidate, window)
    candidate = replace(candidate, source=source.value)
    if not source.is_unconfirmed:
        return candidate
    is_plain = candidate.memory_type not in OF_THE_CONFIRMED
    return replace(
        candidate,
        memory_type=candidate.memory_type if is_plain else MemoryType.SEMANTIC,
        subject="" if is_profile_subject(candidate.subject) else candidate.subject,
        sensitive_field="",
        importance=min(candidate.importance, MOST_IMPORTANT_UNCONFIRMED),
        is_pinned=False,
        audience="agent" if candidate.audience == "agent" else "person",
    )


def _source_of(candidate: Candidate, window: Window) -> Source:
    """Returns the strongest source whose messages say the candidate without weaker ones."""
    conversation = window.source.conversation
    sources = participants_of(conversation).sources_of(window.source.said)
    named = {sources[pk] for pk in candidate.message_ids if pk in sources} or {Source.AGENT}
    found = sorted(named, key=list(Source).index)
    if len(found) == 1 or candidate.is_verbatim or not found[-1].is_unconfirmed:
        return found[0]
    for source in found[:-1]:
        ids = {pk for pk, each in sources.items() if strongest((each, source)) is each}
        if isinstance(_grounded(candidate, window, among=ids), Candidate):
            return source
    return found[-1]


def ownership(candidate: Candidate, window: Window) -> Candidate:
    """Makes it private where it was told in confidence, the team's where its audience says so.

    A fact that needs the team's consent, as every preference does, is tagged TEAM_FACT. Only what
    is the team's has a form.
    """
    if _is_confided(candidate, window):
        candidate = as_private(candidate)
    elif window.source.team is not TeamFacts.NEVER and _is_of_team(candidate):
        if window.source.team is TeamFacts.ASKED or candidate.category == _PREFERENCES:
            candidate = replace(candidate, tags=(*candidate.tags, TEAM_FACT))
        else:
            # A person pins for themselves, not for all others.
            candidate = replace(candidate, is_of_team=True, is_pinned=False)
    if not candidate.is_of_team and TEAM_FACT not in candidate.tags:
        candidate = replace(candidate, form="")
    if candidate.memory_type is MemoryType.AGENT_PRIVATE:
        window.private.update(candidate.message_ids)
    return candidate


def as_private(candidate: Candidate) -> Candidate:
    """Returns the candidate as one that belongs to the agent alone."""
    return replace(
        candidate,
        memory_type=MemoryType.AGENT_PRIVATE,
        is_pinned=False,
        is_of_team=False,
        tags=tuple(tag for tag in candidate.tags if tag != TEAM_FACT),
        form="",
    )


def _is_confided(candidate: Candidate, window: Window) -> bool:
    # The audience that a model names decides, unless the candidate is a quotation.
    if candidate.audience == "agent":
        return True
    is_decided = candidate.audience and not candidate.is_verbatim
    return not is_decided and not window.found.secret.isdisjoint(candidate.message_ids)


def _is_of_team(candidate: Candidate) -> bool:
    may_be = candidate.memory_type in _MAY_BE_OF_TEAM and not candidate.sensitive_field
    return candidate.audience == "team" and may_be


def wording(candidate: Candidate, window: Window) -> Candidate | Refusal:
    """Masks secrets, and refuses a text that is too long, a question, or only a secret."""
    checked = check_wording(candidate)
    window.secrets_masked += checked.secret_masked or _holds_masked(candidate, window)
    return checked.candidate or Refusal(checked.refused)


def _holds_masked(candidate: Candidate, window: Window) -> bool:
    """Returns whether a secret of its sources was masked before the extractor read them."""
    return MASK in candidate.content and any(
        mask_secrets(text=row.content) != row.content
        for row in window.rows
        if row.pk in candidate.message_ids
    )


def grounding(candidate: Candidate, window: Window) -> Candidate | Refusal:
    """Refuses a candidate that no message supports; a quotation always passes.

    Its grounds are the messages that it names, those right before them, which they may answer, and
    for words and names all messages up to there.
    """
    return candidate if candidate.is_verbatim else _grounded(candidate, window)


def _grounded(
    candidate: Candidate, window: Window, *, among: Collection[UUID] | None = None
) -> Candidate | Refusal:
    """Checks the candidate against the messages, or only those `among` them."""
    rows = [row for row in window.rows if among is None or row.pk in among]
    named = set(candidate.message_ids)
    places = [place for place, row in enumerate(rows) if row.pk in named]
    near = {near for place in places for near in (place - 1, place) if near >= 0}
    spoken = [Spoken(text=row.content, at=row.created_at) for row in rows]
    conversation = window.source.conversation
    grounds = Grounds(
        sources=[spoken[place] for place in sorted(near)],
        window=spoken[: max(places, default=-1) + 1],
        names=[
            str(conversation.end_user),
            conversation.end_user.external_id,
            conversation.agent.slug,
            NAMELESS,
            *(row.name for row in rows),
        ],
    )
    why = ungrounded(candidate.content.replace(MASK, " "), grounds=grounds)
    return Refusal(why) if why else candidate


def cap_of_turn(candidate: Candidate, window: Window) -> Candidate | Refusal:
    """Lets at most MAX_MEMORIES_PER_TURN candidates of one last source message pass."""
    if not (window.job.is_capped and settings.MAX_MEMORIES_PER_TURN):
        return candidate
    turn = max((row.position for row in window.rows if row.pk in candidate.message_ids), default=0)
    if window.written_in_turn[turn] >= settings.MAX_MEMORIES_PER_TURN:
        return OVER_TURN
    window.written_in_turn[turn] += 1
    return candidate


RULES: tuple[Callable[[Candidate, Window], Candidate | Refusal], ...] = (
    language,
    trust,
    ownership,
    wording,
    grounding,
    cap_of_turn,
)


# -- in the transaction that writes ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready:
    """A candidate with its draft, embedded and compared."""

    candidate: Candidate
    prepared: PreparedDraft


@dataclass(slots=True)
class Writing:
    """Context of the last rules: what people retired, and the room that the day has left."""

    window: Window
    retired: Mapping[bytes, set[UUID]]
    room: int | None
    actor: str
    now: datetime


def apply_last_rules(
    ready: Sequence[Ready], *, window: Window, actor: str, now: datetime
) -> tuple[list[Ready], list[tuple[Ready, Refusal]]]:
    """Returns the candidates to write, and the others with the reason; in the transaction."""
    job = window.job
    retired: dict[bytes, set[UUID]] = {}
    for user in {each.prepared.draft.end_user_id for each in ready}:
        own = [each.prepared for each in ready if each.prepared.draft.end_user_id == user]
        keys = [key for each in own for key in each.keys]
        retired |= retired_sources(team_id=job.team_id, end_user_id=user, keys=keys)
    person = job.conversation.end_user_id
    room = room_today(team_id=job.team_id, end_user_id=person, now=now) if job.is_capped else None
    writing = Writing(window, retired, room, actor, now)
    rules = (not_retired, *ADDED_RULES, cap_of_day)
    return _passed(rules, ready, writing, lambda each: rank(each.candidate))


def not_retired(ready: Ready, writing: Writing) -> Ready | Refusal:
    """Refuses a memory of the same messages that somebody deleted, corrected or settled."""
    sources = ready.prepared.draft.message_ids
    retired = (writing.retired.get(key, set()) for key in ready.prepared.keys)
    return RETIRED if sources and any(each.issuperset(sources) for each in retired) else ready


def cap_of_day(ready: Ready, writing: Writing) -> Ready | Refusal:
    """Lets at most MAX_MEMORIES_PER_USER_DAY candidates about one person pass in a day (UTC)."""
    if writing.room is None:
        return ready
    if writing.room <= 0:
        return OVER_DAY
    writing.room -= 1
    return ready


# Satellites add theirs, such as consent.
ADDED_RULES: list[Callable[[Ready, Writing], Ready | Refusal]] = []


def room_today(*, team_id: UUID, end_user_id: UUID, now: datetime) -> int | None:
    """Returns how many more memories extraction may write about this person today (UTC).

    None means no limit. Call it in the transaction that writes them, which it makes others wait
    for. Only capped jobs count, with what they wrote today, whatever the day of their messages.
    """
    if not settings.MAX_MEMORIES_PER_USER_DAY:
        return None
    # Taken before the writers' own locks by everybody.
    hold_lock(f"daily-room|{team_id}|{end_user_id}")
    today = now.astimezone(UTC).date()
    ((written,),) = run_prepared(_WRITTEN_TODAY, [team_id, end_user_id, today])
    return max(0, settings.MAX_MEMORIES_PER_USER_DAY - int(written))
