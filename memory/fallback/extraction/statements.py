"""The values that pass between the steps: who talks, and what was stated."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory.domain.types import Role, SourceMessage

from .third_person import Voices


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as it is read: its speaker, its sentences and what stands around it.

    `voices` are the speaker's. `is_extracted` is false for messages that are mere context.
    `question` is the last question of the turn before, by `asker`; `reply` is the text of the
    agent's next message; `place_in_talk` is "first", "last" or "inside" among a person's
    turns, "" where there are too few to tell. `has_orders` says that it tried to steer the memory.
    """

    number: int
    message: SourceMessage
    voices: Voices
    sentences: tuple[str, ...]
    is_person: bool
    is_extracted: bool
    is_user: bool
    has_orders: bool = False
    question: str = ""
    asker: Voices | None = None
    question_turn: int = -1
    reply: str = ""
    place_in_talk: str = ""

    @property
    def role(self) -> Role:
        """Who speaks: a person's own words count as a user's."""
        return Role.USER if self.is_person else self.message.role


@dataclass(slots=True)
class Statement:
    """Something that was said, on its way to a memory.

    `said` are the words as they stand in the message, `text` its wording so far: in the first
    person unless `is_told`. `sources` are numbers of turns. `leans` says that it opens with a
    pronoun that names nothing here. `reported` names the tool message that an agent reports.
    """

    turn: Turn
    said: str
    text: str
    sentence: str
    place: int
    prior: str = ""
    sources: set[int] = field(default_factory=set)
    is_pinned: bool = False
    is_told: bool = False
    is_answer: bool = False
    is_question: bool = False
    is_favour: bool = False
    is_dropped: bool = False
    is_corrected: bool = False
    corrects: str | None = None
    leans: bool = False
    reported: str = ""
    joined: tuple[str, ...] = ()

    @property
    def is_persons(self) -> bool:
        """Whether a person said it, and no agent or tool."""
        return self.turn.is_person
