"""The extractor without a language model: it quotes the sentences that are worth keeping."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Final
from uuid import UUID

from cachetools import LRUCache

from memory.domain.prompt_guards import is_command, without_rendered_memory
from memory.domain.secrets import mask_private_keys
from memory.domain.text.dates import read_dates
from memory.domain.text.words import split_sentences
from memory.domain.types import QUOTING, Candidate, MemoryType, Participants, SourceMessage
from memory.understanding.reading import Line, ReadLine, alone, small_reader
from memory.understanding.spoken_language import is_english

# A sentence is kept from this chance on; measured on held-out talk (docs/understanding.md).
KEPT_FROM: Final = 0.8
REMEMBER_FROM: Final = 0.5
CONFIDED_FROM: Final = 0.5
# Who somebody is: such a memory is pinned (seed 000).
CORE_FIELDS: Final = frozenset({"preferred_name", "full_name", "pronouns", "role", "employer"})
SENSITIVE_FIELDS: Final = frozenset({"preferred_name", "pronouns", "city", "language"})
_CORE_IMPORTANCE, _REMEMBERED = 9, 10
# What is longer is pasted text; the message keeps it.
_LONGEST_SENTENCE: Final = 600
# So many sentences of a message are read, so that a hostile one takes bounded time.
_MOST_SENTENCES: Final = 50
# Of a longer message, which counts as told in confidence, both ends are read: they may ask for
# silence about an earlier one.
_LONGEST_READ: Final = 8_000
_END_CHARS: Final = 600
# An answer of so few words carries the question that it answers.
_SHORT_ANSWER: Final = 5
_READ_LINES: Final = 4_096


# From a message to its sentences.
Splitter = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Said:
    """A message by its key, its text, whether a person said it, and their role in the team.

    One that `is_data`, a tool's output or a page, asks the person nothing.
    """

    key: UUID
    text: str
    is_persons: bool
    role: str = ""
    is_data: bool = False

    @classmethod
    def of(cls, message: SourceMessage, participants: Participants) -> Said:
        """The message as the participants' talk has it."""
        is_persons = participants.is_person(message)
        is_data = message.source.is_unconfirmed
        return cls(message.id, message.content, is_persons, participants.role, is_data)


class QuotingExtractor:
    """Keeps the sentences of people's messages that the small model finds worth keeping, verbatim.

    A short answer carries its question. Nothing is reworded, so nothing is invented.
    """

    name = QUOTING

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """Returns the sentences of `messages` to keep; `context` is read and not extracted.

        Sentences that are not English are returned unread, with confidence 0; a rule refuses them.
        """
        every = [*context, *messages]
        wanted = {each.id for each in messages}
        by_id = {each.id: each for each in every}
        said = [Said.of(each, participants) for each in every]
        placed = [each for each in lines_of(said) if each.key in wanted]
        lines: list[_Placed] = []
        found: list[Candidate] = []
        for each in placed:
            if is_english(each.line.text):
                lines.append(each)
            else:
                found.append(_unread(each))
        found += [
            candidate
            for each, read in zip(lines, read_lines([each.line for each in lines]), strict=True)
            if (candidate := _candidate(each, read, by_id[each.key]))
        ]
        if participants.role != "member":
            return found
        return [
            replace(each, form=form_of(each.content)) if each.audience == "team" else each
            for each in found
        ]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A line with the key of its message and, of a short answer, the message with the question."""

    key: UUID
    line: Line
    question: str = ""
    question_key: UUID | None = None


def confided(said: Sequence[Said]) -> set[UUID]:
    """Returns the keys of the messages that were told in confidence.

    They are those with a sentence whose audience is the agent alone, that of the sentence before
    one that only asks for silence and announces none, what is too long to be read here, and what
    an agent answers up to the person's next message.
    """
    placed = list(lines_of(said, split=_read_sentences))
    found = {each.key for each in said if each.is_persons and len(each.text) > _LONGEST_READ}
    secret = [
        (read.confided >= CONFIDED_FROM, read.keep >= KEPT_FROM)
        for read in read_lines([each.line for each in placed])
    ]
    for at, (is_confided, is_told) in enumerate(secret):
        if is_confided:
            found.add(placed[at].key)
            is_of_next = secret[at + 1 : at + 2] == [(True, True)]
            if at and not is_told and not is_of_next:
                found.add(placed[at - 1].key)
    is_answer = False
    for each in said:
        is_answer = each.key in found if each.is_persons else is_answer
        if is_answer:
            found.add(each.key)
    return found


def told_to_team(said: Sequence[Said]) -> set[UUID]:
    """Returns the keys of the messages of which every sentence is the team's.

    Greetings and thanks beside the others count for nothing; in doubt it is the person's.
    """
    placed = list(lines_of(said, split=_read_sentences))
    found: dict[UUID, set[str]] = {}
    for each, read in zip(placed, read_lines([one.line for one in placed]), strict=True):
        if read.kind != "chat":
            found.setdefault(each.key, set()).add(read.audience)
    long = {each.key for each in said if len(each.text) > _LONGEST_READ}
    return {key for key, audiences in found.items() if audiences == {"team"}} - long


def lines_of(said: Sequence[Said], *, split: Splitter | None = None) -> Iterator[_Placed]:
    """Yields the sentences of the people's messages, each with what stands around it.

    `split` splits a message into the sentences to read, by default into its `own_sentences`.
    """
    split = split or own_sentences
    sentences: list[tuple[Said, str, str, UUID | None, bool]] = []
    asked: str = ""
    asked_key: UUID | None = None
    for each in said:
        if each.is_data:
            continue
        if not each.is_persons:
            asked, asked_key = " ".join(each.text.split()), each.key
            continue
        for place, text in enumerate(split(each.text)):
            sentences.append((each, text, asked, asked_key, place == 0))
        asked, asked_key = "", None
    for place, (said_in, text, question, question_key, is_first) in enumerate(sentences):
        before = " ".join(each[1] for each in sentences[max(0, place - 2) : place])
        after = sentences[place + 1][1] if place + 1 < len(sentences) else ""
        line = Line(text, person=said_in.role, asked=question, before=before, after=after)
        answers = is_first and len(text.split()) <= _SHORT_ANSWER
        last = _last_question(question) if answers else ""
        yield _Placed(said_in.key, line, last, question_key if last else None)


def every_sentence(content: str) -> list[str]:
    """Splits a message into sentences and leaves out nothing; the long ones come in pieces."""
    found = (" ".join(each.split()) for each in split_sentences(content))
    return [
        each[start : start + _LONGEST_SENTENCE]
        for each in found
        for start in range(0, len(each), _LONGEST_SENTENCE)
    ]


def _read_sentences(content: str) -> list[str]:
    if len(content) > _LONGEST_READ:
        return every_sentence(content[:_END_CHARS]) + every_sentence(content[-_END_CHARS:])
    return every_sentence(content)


def own_sentences(content: str) -> list[str]:
    """Strips code, quoted lines and rendered memory from a message and splits it into sentences.

    A message in which a sentence gives the memory orders keeps only what stands before that.
    """
    plain = mask_private_keys(text=without_rendered_memory(text=content))
    unquoted = "\n".join(
        "" if line.lstrip()[:1] in (">", "|") else line for line in plain.split("\n")
    )
    found = (" ".join(each.split()) for each in split_sentences(unquoted))
    kept = [
        each
        for each in found
        if len(each) <= _LONGEST_SENTENCE and any(char.isalnum() for char in each)
    ]
    return list(takewhile(lambda each: not is_command(text=each), kept[:_MOST_SENTENCES]))


def _last_question(text: str) -> str:
    found = split_sentences(text[-_LONGEST_SENTENCE:])
    last = found[-1] if found else ""
    return last if last.endswith(("?", "？")) else ""


_cached: LRUCache[Line, ReadLine] = LRUCache(_READ_LINES)
_lock = threading.Lock()


def read_lines(lines: Sequence[Line]) -> list[ReadLine]:
    """Returns what the model says of the lines; the last lines of a process are cached."""
    with _lock:
        known = {line: _cached[line] for line in lines if line in _cached}
    missing = list(dict.fromkeys(line for line in lines if line not in known))
    fresh = dict(zip(missing, small_reader().read(missing), strict=True))
    with _lock:
        _cached.update(fresh)
    return [known[line] if line in known else fresh[line] for line in lines]


def form_of(text: str) -> str:
    """Returns "decision", "convention" or "failure" where a member's sentence surely is one."""
    (read,) = read_lines([alone(text)])
    return read.form


def _candidate(placed: _Placed, read: ReadLine, message: SourceMessage) -> Candidate | None:
    is_asked = read.remember >= REMEMBER_FROM
    if read.kind == "injection" or (read.keep < KEPT_FROM and not is_asked):
        return None
    is_remembered = is_asked or read.importance == _REMEMBERED
    importance = min(read.importance, _CORE_IMPORTANCE - 1)
    field = read.field if read.memory_type == MemoryType.USER_PROFILE else ""
    if field in CORE_FIELDS:
        importance = _CORE_IMPORTANCE
    if is_remembered:
        importance = _REMEMBERED
    is_confided = read.confided >= CONFIDED_FROM
    text = f"{placed.question} {placed.line.text}" if placed.question else placed.line.text
    first, last = validity(text, said_at=message.created_at)
    sources = (placed.question_key, message.id) if placed.question_key else (message.id,)
    return Candidate(
        content=text,
        memory_type=MemoryType.AGENT_PRIVATE if is_confided else MemoryType(read.memory_type),
        importance=importance,
        confidence=round(max(read.keep, read.remember), 2),
        message_ids=sources,
        subject=f"user.profile.{field}" if field else "",
        category="profile" if read.memory_type == MemoryType.USER_PROFILE else "",
        is_pinned=not is_confided and (is_remembered or field in CORE_FIELDS),
        sensitive_field=field if field in SENSITIVE_FIELDS else "",
        valid_from=first,
        valid_to=last,
        audience="agent" if is_confided else read.audience,
        is_verbatim=True,
    )


def _unread(placed: _Placed) -> Candidate:
    return Candidate(
        content=placed.line.text,
        memory_type=MemoryType.SEMANTIC,
        importance=1,
        confidence=0.0,
        message_ids=(placed.key,),
        is_verbatim=True,
    )


def validity(text: str, *, said_at: datetime) -> tuple[datetime | None, datetime | None]:
    """The time that a sentence names first, UTC: from when it holds, and until when it says so.

    A day without a year or a week ("on Monday") is the next one, as people mostly tell what is to
    come: of labelled talk 4 % more facts have their right date than with the nearest one.
    """
    for each in read_dates(text, anchor=said_at, lean="future"):
        if each.recurring:
            continue
        if each.side == "until":
            return None, each.last.astimezone(UTC)
        return each.first.astimezone(UTC), None
    return None, None
