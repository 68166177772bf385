"""The rules that every extracted candidate passes, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID

from django.conf import settings

from memory.domain.grounding import Grounds, Spoken, ungrounded
from memory.domain.secrets import MASK, mask_secrets
from memory.domain.talk import check_wording
from memory.domain.types import NAMELESS, Candidate, MemoryType
from memory.models import Job
from memory.selectors.neighbours import retired_sources
from memory.writing.drafts import PreparedDraft
from memory.writing.windows import Found, MessageRange, owned
from teams.models import Message
from teams.prepared import run_prepared
from teams.tenancy import hold_lock
from teams.tracing import step

_OF_HEALTH = frozenset({"health", "safety", "allergy", "allergies", "medication", "medical"})
_DECIDED = frozenset({"decision", "constraint"})
_TASTE = "preferences"
_WRITTEN = """
SELECT coalesce(sum(job.written_that_day), 0)::integer
FROM memory_job AS job JOIN teams_conversation AS talk
    ON talk.team_id = job.team_id AND talk.id = job.conversation_id
WHERE job.team_id = $1 AND talk.end_user_id = $2 AND job.is_capped AND job.written_on = $3
"""
T = TypeVar("T")
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a candidate is not written now; the reason holds no text of it."""

    reason: str


OVER_TURN = Refusal("over the cap of a turn")
OVER_DAY = Refusal("over the cap of a day")
HELD = Refusal("waits for consent")
RETIRED = Refusal("retired since")


@dataclass(slots=True)
class Window:
    """The messages that a run reads at a time, what it finds, and what the rules made of it.

    Once all messages are read, it is what the caps kept out before: `is_rest`. `private` are
    sources of candidates that are the agent's own, written or not.
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
    """Puts the candidates that may be written, and why others may not, into the window."""
    window.candidates, left = _passed(RULES, window.found.candidates, window, _rank)
    window.over_turn = [candidate for candidate, why in left if why is OVER_TURN]
    window.refused = Counter(why.reason for _, why in left if why is not OVER_TURN)


def _passed(
    rules: Sequence[Callable[[T, C], T | Refusal]],
    items: Sequence[T],
    context: C,
    rank: Callable[[T], tuple[float, ...]],
) -> tuple[list[T], list[tuple[T, Refusal]]]:
    """Returns the items that pass the rules, and the others with the reason, each in their order.

    The most important ones are asked first, so that a cap keeps out the others.
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


# -- before anything is embedded -------------------------------------------------------------


def ownership(candidate: Candidate, window: Window) -> Candidate:
    """Makes it private where it was told in confidence, the team's where its audience says so."""
    candidate = owned(candidate, team=window.source.team, secret=window.found.secret)
    if candidate.memory_type is MemoryType.AGENT_PRIVATE:
        window.private.update(candidate.message_ids)
    return candidate


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
    """Refuses what no message says; a quotation always passes.

    Its grounds are the messages that it names, those right before them, which they may answer, and
    for words and names all up to there.
    """
    if candidate.is_verbatim:
        return candidate
    named = set(candidate.message_ids)
    places = [place for place, row in enumerate(window.rows) if row.pk in named]
    near = {near for place in places for near in (place - 1, place) if near >= 0}
    spoken = [Spoken(text=row.content, at=row.created_at) for row in window.rows]
    conversation = window.source.conversation
    grounds = Grounds(
        sources=[spoken[place] for place in sorted(near)],
        window=spoken[: max(places, default=-1) + 1],
        names=[
            str(conversation.end_user),
            conversation.end_user.external_id,
            conversation.agent.slug,
            NAMELESS,
            *(row.name for row in window.rows),
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
    """What the last rules know: what people retired, and the room that the day has left."""

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
        keys = [
            key
            for each in ready
            if each.prepared.draft.end_user_id == user
            for key in each.prepared.keys
        ]
        retired |= retired_sources(team_id=job.team_id, end_user_id=user, keys=keys)
    person = job.conversation.end_user_id
    room = room_today(team_id=job.team_id, end_user_id=person, now=now) if job.is_capped else None
    writing = Writing(window, retired, room, actor, now)
    rules = (not_retired, *ADDED_RULES, cap_of_day)
    return _passed(rules, ready, writing, lambda each: _rank(each.candidate))


def not_retired(ready: Ready, writing: Writing) -> Ready | Refusal:
    """Refuses what the same messages gave before and somebody has retired since.

    So a deleted, corrected or settled memory does not come back when messages are read again.
    """
    sources = ready.prepared.draft.message_ids
    if sources and any(
        writing.retired.get(key, set()).issuperset(sources) for key in ready.prepared.keys
    ):
        return RETIRED
    return ready


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
    """Returns how many more memories talk may write about this person today (UTC); None for any.

    Call it in the transaction that writes them: until that ends, everybody else who asks about
    this person waits, so that two extractions never share the same room. Only capped jobs count,
    with what they wrote today, whichever day their messages are of.
    """
    if not settings.MAX_MEMORIES_PER_USER_DAY:
        return None
    # Taken before the writers' own locks by everybody.
    hold_lock(f"daily-room|{team_id}|{end_user_id}")
    ((written,),) = run_prepared(_WRITTEN, [team_id, end_user_id, now.astimezone(UTC).date()])
    return max(0, settings.MAX_MEMORIES_PER_USER_DAY - int(written))


def _rank(candidate: Candidate) -> tuple[float, ...]:
    """Returns the order in which a cap is filled: by importance, then by the harm of a loss."""
    if candidate.category in _DECIDED or not _OF_HEALTH.isdisjoint(candidate.subject.split(".")):
        kind = 0
    else:
        kind = 2 if candidate.category == _TASTE else 1
    return -candidate.importance, kind, -candidate.confidence
