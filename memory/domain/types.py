"""Types of the memory and its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

# What a memory may have of them.
MAX_SUBJECT_CHARS = 200
MAX_TAG_CHARS = 100
MAX_TAGS = 50
# What memories call a person whose name is not known.
NAMELESS = "User"
# The extractor whose memories are sentences as they were said.
QUOTING = "small-reader"


class MemoryType(StrEnum):
    """The kind of a memory, which decides who may see it and where a prompt shows it."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    AGENT_PRIVATE = "agent_private"
    SHARED = "shared"
    IDENTITY = "identity"
    USER_PROFILE = "user_profile"
    INSIGHT = "insight"


class Scope(StrEnum):
    """The scope within which a memory holds."""

    TASK = "task"
    SESSION = "session"
    PROJECT = "project"
    USER = "user"
    TEAM = "team"


class Status(StrEnum):
    """The stage of a memory's life; nothing is ever removed.

    What is purged was soft-deleted, and no read finds it any more.
    """

    ACTIVE = "active"
    DISPUTED = "disputed"
    SUPERSEDED = "superseded"
    SOFT_DELETED = "soft_deleted"
    PURGED = "purged"
    ARCHIVED = "archived"


# What no search finds, however deep it looks.
DELETED = (Status.SOFT_DELETED.value, Status.PURGED.value)


class Tier(StrEnum):
    """The storage tier of a memory, by its closeness to the prompt."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


class Role(StrEnum):
    """The speaker of a message."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class Source(StrEnum):
    """The origin of a statement: a person, an agent, a tool's output or a web page.

    The strongest comes first. Statements of a tool or a page alone are unconfirmed: anybody may
    have written them.
    """

    PERSON = "person"
    AGENT = "agent"
    TOOL = "tool"
    WEB = "web"

    @property
    def is_unconfirmed(self) -> bool:
        return self.value in UNCONFIRMED

    @classmethod
    def of_role(cls, role: str) -> Source:
        """Returns the source of a message of the role that names none."""
        return _SOURCE_OF_ROLE.get(role, cls.AGENT)


UNCONFIRMED = (Source.TOOL.value, Source.WEB.value)
# Types that an unconfirmed memory cannot have: prompts hold them unasked, or whole teams see them.
OF_THE_CONFIRMED = (
    MemoryType.IDENTITY.value,
    MemoryType.USER_PROFILE.value,
    MemoryType.SHARED.value,
)
MOST_IMPORTANT_UNCONFIRMED = 8
_STRENGTH = {source: -place for place, source in enumerate(Source)}
_SOURCE_OF_ROLE = {Role.USER.value: Source.PERSON, Role.TOOL.value: Source.TOOL}


def strongest(sources: Iterable[Source]) -> Source:
    """Returns the strongest of the sources, of which there is at least one."""
    return max(sources, key=_STRENGTH.__getitem__)


def weakest(sources: Iterable[Source]) -> Source:
    """Returns the weakest of the sources, of which there is at least one."""
    return min(sources, key=_STRENGTH.__getitem__)


class Verdict(StrEnum):
    """A judge's verdict on an existing and a newer statement."""

    SUPERSEDE = "supersede"
    DISPUTE = "dispute"
    COEXIST = "coexist"
    DUPLICATE = "duplicate"


class Strategy(StrEnum):
    """The way in which a pair was found: one of the three of seed 000, or an objection."""

    SAME_SUBJECT = "same_subject"
    SEMANTIC_OPPOSITION = "semantic_opposition"
    TEMPORAL_OVERRIDE = "temporal_override"
    FEEDBACK = "feedback"


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """One message of a conversation as an extractor reads it.

    `created_at` is aware, on the clock of those who talk: its day is what they call today.
    `stated_source` is what its client says of it where that is weaker than its role.
    """

    id: UUID
    position: int
    role: Role
    content: str
    created_at: datetime
    name: str = ""
    stated_source: str = ""

    @property
    def source(self) -> Source:
        """The source that its client stated, or that of its role."""
        return Source(self.stated_source) if self.stated_source else Source.of_role(self.role)


@dataclass(frozen=True, slots=True)
class Participants:
    """The parties of a conversation: display names, empty where nothing better than an id is known.

    `user` is what third-person sentences call the end user ("User" when empty); `agent` is the
    agent's slug, so that an assistant message under another name is known to be a person's. `role`
    is what the end user is to the team: "member", "guest", or "" where that is not known.
    """

    user: str = ""
    agent: str = ""
    role: str = ""

    def is_person(self, message: SourceMessage) -> bool:
        """Returns whether a person wrote a message: a user, or an "assistant" of another name."""
        if message.stated_source not in ("", Source.PERSON):
            return False
        if message.role is Role.USER:
            return True
        name = message.name.strip().lower()
        return message.role is Role.ASSISTANT and bool(name) and name != self.agent.lower()

    def sources_of(self, messages: Sequence[SourceMessage]) -> dict[UUID, Source]:
        """Returns the source of each message, given in order.

        An answer of an agent after tools or pages rests on them until a person speaks again.
        """
        found: dict[UUID, Source] = {}
        heard = Source.AGENT
        for each in messages:
            if self.is_person(each):
                found[each.id], heard = Source.PERSON, Source.AGENT
            else:
                heard = weakest((heard, each.source))
                found[each.id] = heard
        return found


@dataclass(frozen=True, slots=True)
class Focus:
    """Instructions on what to look for and to leave out, in the words of the team and for an agent.

    They choose among what is said, and change no rule about what is found.
    """

    team: str = ""
    agent: str = ""


NO_FOCUS = Focus()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that an extractor proposes; nothing is stored yet.

    `importance` is 1-10 on the scale of seed 000, `confidence` 0-1, `extraction_pass` 1 or 2.
    `message_ids` are the exact source messages, never empty for an extracted candidate.
    `sensitive_field` names the end user's profile field that a change would touch
    (preferred_name, pronouns, city, language), or is empty. `extractor` says who found it where
    that is not the extractor asked, as when the small model stood in for a language model.
    `audience` says who may hear it: "agent", "person" or "team", "" where nobody said. `is_of_team`
    says that it is the team's and nobody's in it, `is_verbatim` that it quotes its messages. `form`
    is "decision", "convention" or "failure", "" for none. `source` is the strongest source that
    says it, "" before the rules found it.
    """

    content: str
    memory_type: MemoryType
    importance: int
    confidence: float
    message_ids: tuple[UUID, ...]
    subject: str = ""
    category: str = ""
    is_pinned: bool = False
    extraction_pass: int = 1
    sensitive_field: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    tags: tuple[str, ...] = field(default=())
    extractor: str = ""
    audience: str = ""
    is_of_team: bool = False
    is_verbatim: bool = False
    form: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Asker:
    """On whose behalf a model is asked: what the question costs counts in their budgets."""

    team_id: UUID
    agent_id: UUID | None = None
    end_user_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class PassWork:
    """The model of a stretch of pass 1 or 2; the reason is "" where it was the first choice.

    `asked` is the model that was asked, whether or not it did the work, and is empty where none
    was. `seconds` is how long the stretch of `messages` took, the waiting for a model that failed
    included, and `cost_usd` what the model cost. `refused` counts what it proposed and may not be
    stored, `repaired` what was put right, each by the reason.
    """

    extraction_pass: int
    extractor: str
    problem: str = ""
    asked: str = ""
    messages: int = 0
    seconds: float = 0.0
    cost_usd: Decimal = Decimal(0)
    refused: Mapping[str, int] = field(default_factory=dict)
    repaired: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Point:
    """A statement that may go into a summary: its importance 1-10, and when it was said (UTC).

    `memory_ids` name the memories that say it; there are none where a person wrote it into a
    summary.
    """

    text: str
    importance: int
    said_at: datetime
    memory_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory's text as a judge reads it: what it says, about what, and since when (aware UTC)."""

    content: str
    at: datetime
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on two statements, with its reason in words and confidence 0-1.

    `judge` says who judged where that is not the judge asked, as when the rules stood in for a
    model.
    """

    verdict: Verdict
    reason: str
    confidence: float = 1.0
    judge: str = ""


MOST_AHEAD = timedelta(days=1)
EARLIEST_YEAR = 1900


def is_to_come(*, at: datetime, now: datetime) -> bool:
    """Returns whether `at` is too late to have been said yet: over a day after `now`."""
    # Not `at > now + …`: near the last day there is, that sum would overflow.
    return at - now > MOST_AHEAD


def is_too_early(at: datetime) -> bool:
    """Returns whether `at` is no time of a statement: a year such as 1 stands for none."""
    return at.year < EARLIEST_YEAR


def in_zone(at: datetime, zone: tzinfo | None) -> datetime:
    """Returns the time in a zone, and as it is where the calendar has no such time there."""
    try:
        return at.astimezone(zone)
    except OverflowError:
        return at


@dataclass(frozen=True, slots=True)
class Signals:
    """The context of an agent's work; all of it optional, its sizes bounded by the parser.

    `opened_files` are those opened before `current_file`, in any order. `collaborator` is the
    external id of a person of the team. `time` is that of the work. `imports` are the modules that
    `current_file` imports, as paths without an ending.
    """

    current_file: str = ""
    branch: str = ""
    recent_errors: tuple[str, ...] = ()
    activity: str = ""
    collaborator: str = ""
    time: datetime | None = None
    query: str = ""
    opened_files: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The open files, each once, the current one last."""
        named = [each for each in (*self.opened_files, self.current_file) if each]
        return tuple(dict.fromkeys(reversed(named)))[::-1]


@dataclass(frozen=True, slots=True)
class Work:
    """The signals of an agent's work at a time."""

    signals: Signals
    at: datetime
