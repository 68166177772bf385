"""Messages into units: one sentence each, with who says it, when, and which question it answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from ...secrets import mask_private_keys
from ...types import Participants, Role, SourceMessage
from ..clauses import split_question
from ..days.week_plans import of_every_week
from ..language.casual import written_out
from ..language.clefts import plain_sentence
from ..language.foreign import is_foreign
from ..language.rewrite import Voice
from ..language.sentences import split_sentences
from ..language.words import display_name
from ..meant.agents_words import without_reminder
from ..meant.guards import without_rendered_memory
from ..meant.irony import is_laughed_at
from ..meant.pasted import own_words
from ..meant.payload import without_payload
from ..meant.plays import Plays
from .we import group_of, is_private

# "Nooo", "soooo": a letter drawn out is written once.
_DRAWN_OUT = re.compile(r"\b([A-Za-z]+?)([aeiouyhm])\2{2,}([a-z]*)\b")
_WE = re.compile(r"\b(?:we|us|our|ours|ourselves)\b", re.IGNORECASE)
_SAYS_ANYTHING = re.compile(r"\w\w|\d")
_MAX_CHARS = 20_000
_MAX_SENTENCE = 1_000


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence; `own` says that it may be extracted and is no mere context or jest.

    `sources` are the messages it draws on, its own among them. `question` is the last question
    that the other side asked in the turn before, empty where there is none; `reply`, what the
    agent says right after the message. `corrects` says with what words something else is denied
    ("not June 3"), empty where only a word such as "correction" does, None for no correction.
    `weekly` says that its weekdays come round, as in a rota that was announced or asked for.
    """

    text: str
    message_id: UUID
    sources: tuple[UUID, ...]
    turn: int
    place: int
    role: Role
    voice: Voice
    at: datetime
    own: bool
    chat: bool = False
    question: str = ""
    question_id: UUID | None = None
    reply: str = ""
    corrects: str | None = None
    weekly: bool = False


def is_person_speaking(*, message: SourceMessage, participants: Participants) -> bool:
    """Whether a message is a person's own words: a user, or an "assistant" under another name."""
    if message.role is Role.USER:
        return True
    named = message.name.strip().lower()
    return message.role is Role.ASSISTANT and bool(named) and named != participants.agent.lower()


def read_units(
    *,
    messages: Sequence[SourceMessage],
    context: Sequence[SourceMessage],
    participants: Participants,
) -> list[Unit]:
    """All sentences of the context and the messages in order, cleaned of rendered memory."""
    everything = [(message, False) for message in context] + [
        (message, True) for message in messages
    ]
    people = _people(everything, participants)
    chat = len(people) > 1
    private = chat or is_private([message for message, _ in everything])
    units: list[Unit] = []
    plays = Plays()
    question, asked_by = "", None
    for turn, (message, own) in enumerate(everything):
        spoken = is_person_speaking(message=message, participants=participants)
        name = _name(message, participants)
        voice = _voice(name, people, chat, spoken)
        before = [said for said, _ in everything[max(0, turn - 2) : turn]]
        sentences: Sequence[str] = _sentences(message)
        if message.role is Role.USER and not chat:
            sentences = plays.own(sentences=sentences, at=message.created_at)
        reply = _reply(message, everything[turn + 1 : turn + 2])
        role = Role.USER if spoken else message.role
        for place, sentence in enumerate(sentences):
            answers = place < 3 or spoken
            if spoken and _WE.search(sentence):
                group = group_of(
                    name=name, sentence=sentence, message=message, before=before, private=private
                )
                voice = replace(voice, group=group)
            told = own and not (spoken and is_laughed_at(text=sentence))
            weekly = spoken and of_every_week(
                text=sentence, before=sentences[:place], question=question if answers else ""
            )
            units.append(
                Unit(
                    sentence, message.id, (message.id,), turn, place, role, voice,
                    message.created_at, told, chat and spoken,
                    question if answers else "", asked_by if answers else None, reply,
                    weekly=weekly,
                )
            )  # fmt: skip
        if message.role is not Role.TOOL:
            asked = [sentence for sentence in sentences[-3:] if sentence.endswith("?")]
            question = asked[-1] if asked else ""
            asked_by = message.id if asked else None
    return units


def _reply(message: SourceMessage, after: Sequence[tuple[SourceMessage, bool]]) -> str:
    """What the agent answers to a user's message, its first thousand characters."""
    if message.role is not Role.USER or not after or after[0][0].role is not Role.ASSISTANT:
        return ""
    return after[0][0].content[:_MAX_SENTENCE]


def _sentences(message: SourceMessage) -> tuple[str, ...]:
    return _split(message.content[:_MAX_CHARS], message.role is Role.USER)


# Both passes read the same messages.
@lru_cache(maxsize=256)
def _split(content: str, of_user: bool) -> tuple[str, ...]:
    text = mask_private_keys(text=without_rendered_memory(text=content))
    said = split_sentences(own_words(text=text) if of_user else text)
    said = [sentence for sentence in said if not is_foreign(text=sentence)]
    if of_user:
        said = [
            plain_sentence(text=without_reminder(text=written_out(text=sentence)))
            for sentence in without_payload(sentences=said)
        ]
    parts = (_DRAWN_OUT.sub(r"\1\2\3", " ".join(part[:_MAX_SENTENCE].split())) for part in said)
    return tuple(
        piece
        for part in parts
        if _SAYS_ANYTHING.search(part)
        for piece in split_question(text=part)
    )


def _name(message: SourceMessage, participants: Participants) -> str:
    return display_name(message.name) or display_name(participants.user) or "User"


def _people(
    everything: Sequence[tuple[SourceMessage, bool]], participants: Participants
) -> tuple[str, ...]:
    names = [
        _name(message, participants)
        for message, _ in everything
        if is_person_speaking(message=message, participants=participants)
    ]
    return tuple(dict.fromkeys(names))


def _voice(name: str, people: tuple[str, ...], chat: bool, spoken: bool) -> Voice:
    if not spoken:
        return Voice(name="the agent", group="the team", addressee=people[0] if people else "User")
    others = [person for person in people if person != name]
    return Voice(
        name=name, group="the team", addressee=others[0] if chat and others else "the agent"
    )
