"""Messages as turns: who speaks, whom they address, which question stands before."""

from __future__ import annotations

from collections.abc import Sequence

from memory.domain.personal_names import display_name, possessive
from memory.domain.types import Participants, Role, SourceMessage

from ..lexicon import word_set
from .answers import last_question
from .grammar import words_of
from .own_words import own_sentences, plain_sentences
from .statements import Turn
from .third_person import Voices

_HOUSEHOLD = word_set("talk/household")
_WORK = word_set("talk/work")
_AGENT = "the agent"
_GROUP = "the team"
_CHARS_OF_A_REPLY = 1_000
_WORDS_OF_HOME = 2
_TURNS_OF_TALK = 3


def turns_of(
    *,
    messages: Sequence[SourceMessage],
    context: Sequence[SourceMessage],
    participants: Participants,
) -> list[Turn]:
    """All messages in order, those of `context` first and not to be extracted."""
    read = [*context, *messages]
    user = display_name(participants.user) or "User"
    people = [
        display_name(each.name) or user if participants.is_person(each) else "" for each in read
    ]
    company = list(dict.fromkeys(name for name in people if name))
    agent = display_name(participants.agent) or _AGENT
    at_home = _is_at_home(read)
    spoken = [number for number, name in enumerate(people) if name]
    turns: list[Turn] = []
    question, asked_in = "", -1
    for number, message in enumerate(read):
        speaker = people[number]
        voices = _voices(speaker or agent, speaker, company, agent, at_home=at_home)
        sentences, has_orders = (
            own_sentences(message.content) if speaker else (plain_sentences(message.content), False)
        )
        asker = turns[asked_in].voices if asked_in >= 0 else None
        turns.append(
            Turn(
                number=number,
                message=message,
                voices=voices,
                sentences=tuple(sentences),
                is_person=bool(speaker),
                is_extracted=number >= len(context),
                is_user=speaker == user,
                has_orders=has_orders,
                question=question if asker and asker.speaker != voices.speaker else "",
                asker=asker,
                question_turn=asked_in,
                reply=_reply(read, people, number),
                place_in_talk=_place(spoken, number) if speaker else "",
            )
        )
        if message.role is not Role.TOOL:
            question = last_question(message.content.replace("’", "'")[-_CHARS_OF_A_REPLY:])
            asked_in = number if question else -1
    return turns


def _voices(
    name: str, speaker: str, company: Sequence[str], agent: str, *, at_home: bool
) -> Voices:
    others = [each for each in company if each != name]
    if not speaker:
        return Voices(agent, agent, company[0] if company else "User")
    group = f"{possessive(name)} family" if at_home else _GROUP
    return Voices(name, group, others[0] if others else agent)


def _reply(read: Sequence[SourceMessage], people: Sequence[str], number: int) -> str:
    """What the agent says right after a person's message."""
    behind = number + 1
    if not people[number] or behind >= len(read) or read[behind].role is not Role.ASSISTANT:
        return ""
    return "" if people[behind] else read[behind].content[:_CHARS_OF_A_REPLY]


def _place(spoken: Sequence[int], number: int) -> str:
    if len(spoken) < _TURNS_OF_TALK:
        return ""
    if number == spoken[0]:
        return "first"
    return "last" if number == spoken[-1] else "inside"


def _is_at_home(read: Sequence[SourceMessage]) -> bool:
    """Whether people talk of home and not of work, so that "we" is a family."""
    words = {
        word
        for message in read
        if message.role is Role.USER
        for word in words_of(message.content[:_CHARS_OF_A_REPLY])
    }
    return len(words & _HOUSEHOLD) >= _WORDS_OF_HOME and not words & _WORK
