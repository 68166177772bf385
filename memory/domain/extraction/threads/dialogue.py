"""Messages into units: one sentence each, with who says it, when, and which question it answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from ...secrets import mask_private_keys
from ...types import Participants, Role, SourceMessage
from ..clauses import split_question
from ..language.casual import written_out
from ..language.rewrite import Voice
from ..language.sentences import split_sentences
from ..language.words import display_name
from ..meant.guards import without_rendered_memory
from ..meant.payload import without_payload

_FAMILY = re.compile(
    r"\b(?:family|fam|kids|children|husband|wife|son|daughter|sons|daughters|mom|mum|dad|parents|"
    r"twins|hubby|baby|toddler|at\shome)\b",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"\b(?:family|kids|children|husband|wife|son|daughter|mom|mum|mother|dad|father|parents|"
    r"sister|brother|twins|at\shome|trip\sto|"
    r"holiday|vacation|wedding|birthday|dinner|recipe|garden|flat|apartment|school|dog|cat|"
    r"neighbou?rs?)\b",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:team|deploy\w*|release|client|customers?|project|sprint|repo|pipeline|deadline|budget|"
    r"meeting|staging|backend|"
    r"contract|invoice|colleagues?|department|stakeholders?|roadmap|ticket|server|database|"
    r"warehouse)\b",
    re.IGNORECASE,
)
# "Nooo", "soooo": a letter drawn out is written once.
_DRAWN_OUT = re.compile(r"\b([A-Za-z]+?)([aeiouyhm])\2{2,}([a-z]*)\b")
_SAYS_ANYTHING = re.compile(r"\w\w|\d")
_MAX_CHARS = 20_000
_MAX_SENTENCE = 1_000


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence; `own` says that it may be extracted and is not mere context.

    `sources` are the messages it draws on, its own among them. `question` is the last question
    that the other side asked in the turn before, empty where there is none; `reply`, what the
    agent says right after the message. `corrects` says with what words something else is denied
    ("not June 3"), empty where only a word such as "correction" does, None for no correction.
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
    private = chat or _is_private(everything)
    units: list[Unit] = []
    question, asked_by = "", None
    for turn, (message, own) in enumerate(everything):
        spoken = is_person_speaking(message=message, participants=participants)
        name = _name(message, participants)
        voice = _voice(
            name,
            people,
            chat,
            spoken,
            _group(name, message, everything[max(0, turn - 2) : turn], private),
        )
        sentences = _sentences(message)
        reply = _reply(message, everything[turn + 1 : turn + 2])
        role = Role.USER if spoken else message.role
        for place, sentence in enumerate(sentences):
            answers = place < 3 or spoken
            units.append(
                Unit(
                    sentence, message.id, (message.id,), turn, place, role, voice,
                    message.created_at, own, chat and spoken,
                    question if answers else "", asked_by if answers else None, reply,
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
    said = split_sentences(text)
    if of_user:
        said = [written_out(text=sentence) for sentence in without_payload(sentences=said)]
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


def _is_private(everything: Sequence[tuple[SourceMessage, bool]]) -> bool:
    """Whether a conversation is about home and family, where "we" is no team."""
    said = " ".join(
        message.content[:2_000] for message, _ in everything[:40] if message.role is Role.USER
    )
    return bool(_HOME.search(said)) and not _WORK.search(said)


def _group(
    name: str, message: SourceMessage, before: Sequence[tuple[SourceMessage, bool]], private: bool
) -> str:
    """What "we" stands for in a message."""
    if not private:
        return "the team"
    near = " ".join(
        [
            *(
                m.content[:1_000]
                for m, _ in before
                if m.role is message.role and m.name == message.name
            ),
            message.content[:2_000],
        ]
    )
    return f"{name}'s family" if _FAMILY.search(near) else f"{name}'s group"


def _voice(name: str, people: tuple[str, ...], chat: bool, spoken: bool, group: str) -> Voice:
    if not spoken:
        return Voice(name="the agent", group="the team", addressee=people[0] if people else "User")
    others = [person for person in people if person != name]
    return Voice(name=name, group=group, addressee=others[0] if chat and others else "the agent")
