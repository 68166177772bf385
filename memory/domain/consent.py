"""Changes of a person's profile: which field, whether it says anything new, and what is a yes.

It reads English. What it does not recognise as a yes waits for one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from memory.domain.text.normalise import name_words, normalise_text
from memory.domain.text.sentences import split_sentences
from memory.domain.text.stop_words import STOP_WORDS, word_set
from memory.domain.types import MemoryType

# Seed 004, section 10: such requests end after a week.
LIFETIME = timedelta(days=7)
# Fields that apply by themselves once two independent signals say the same (seed 004, section 10).
BENIGN_FIELDS = frozenset({"tone", "goals"})
SIGNALS_NEEDED = 2
NAME_FIELDS = frozenset({"preferred_name", "name"})
# Less sure is what a model concluded, and not what somebody said outright.
_SURE = 0.7
_ROOT = "user"
_PROFILE = "user.profile."

# What statements of a field say whatever its value is.
_GENERIC = word_set(
    """
    user user's name names named nickname call called calls calling goes go going by prefers
    preferred prefer wants want wishes wish likes like asked asks address addressed known pronoun
    pronouns use uses using live lives living lived based located moved move moves moving relocated
    relocating resides reside residing stays staying city town place home house flat speak speaks
    speaking spoken language languages native tongue answer answers answered reply replies respond
    responses write written years year currently recently today anymore tone goal goals aim aims
    plans plan
    """
)
# With one of these the same words say something else.
_DENIALS = word_set(
    "no not never longer formerly previously stopped left used cannot isn't doesn't don't"
)
_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|sure|correct|exactly|right|absolutely|definitely|certainly|indeed|ok"
    r"|okay|of course|please do|go ahead|that's right|that is right)\b"
)
_BUT = re.compile(
    r"\?|\b(?:no|nope|not|never|but|maybe|perhaps|later|except|instead|rather|wait|cannot)\b|n't\b"
)
# By which an agent asks whether it may.
_ASKS_LEAVE = re.compile(
    r"\b(?:shall|should|may|can) (?:i|we)\b|\b(?:want|like) (?:me|us) to\b"
    r"|\b(?:is|are) (?:it|that|this) (?:ok|okay|right|correct)\b"
)
# What tells of a field in words, however a statement is filed.
_SAYS = {
    "preferred_name": word_set("call called name address"),
    "name": word_set("call called name named address"),
    "pronouns": word_set("pronouns pronoun"),
    "city": word_set("live lives living moved city based relocated resides"),
    "language": word_set("speak speaks language answer reply write respond"),
}


@dataclass(frozen=True, slots=True)
class Signal:
    """One time that a value was proposed: in which conversation and on which day."""

    conversation_id: UUID | None
    day: date
    message_ids: tuple[UUID, ...] = ()


def matter_of(*, memory_type: str, subject: str, fields: Collection[str]) -> str:
    """The profile field that a memory of this subject tells, with what narrows it; else "".

    `user.profile.city` and `user.city` are "city"; `user.profile.health.knee` is "health.knee",
    which is another matter than "health.eyes". Only a profile tells fields: a memory of the type,
    or one filed under `user.profile`.
    """
    root, *parts = subject.split(".")
    is_profile = memory_type == MemoryType.USER_PROFILE or subject.startswith(_PROFILE)
    if root != _ROOT or not is_profile:
        return ""
    for place, part in enumerate(parts):
        if part in fields:
            return ".".join(parts[place:])
    return ""


def field_of(matter: str) -> str:
    """The field of a matter: "health" of "health.knee"."""
    return matter.partition(".")[0]


def filed_subject(*, memory_type: str, subject: str, sensitive_field: str) -> str:
    """The subject under which a candidate is filed, so that the field it would set is found by it.

    `sensitive_field` is what an extractor calls the field, "" for none.
    """
    if not sensitive_field:
        return subject
    fields = (sensitive_field,)
    if matter_of(memory_type=memory_type, subject=subject, fields=fields):
        return subject
    return f"{_PROFILE}{sensitive_field}"


def says_the_same(*, new: str, known: str, matter: str, names: Iterable[str] = ()) -> bool:
    """Whether a statement of a field has no other value than a known one, denied as little.

    `names` are those of the person, which say nothing where the field is not their name.
    """
    if normalise_text(new) == normalise_text(known):
        return True
    more = value_words(new, matter=matter, names=names)
    less = more - value_words(known, matter=matter, names=names)
    return bool(more) and not less and _denials(new) == _denials(known)


def value_words(text: str, *, matter: str, names: Iterable[str] = ()) -> frozenset[str]:
    """The words of a statement that are its value: "bergen" of "User lives in Bergen now."."""
    given = {word.removesuffix("'s") for word in name_words([text.replace("’", "'")])}
    own = set() if field_of(matter) in NAME_FIELDS else set(name_words(names))
    return frozenset(given - STOP_WORDS - _GENERIC - own)


def tells_of(text: str, *, matter: str) -> bool:
    """Whether the words of a text tell of a field: "moved" of a city, "call" of a name."""
    words = {word.removesuffix("'s") for word in name_words([text.replace("’", "'")])}
    field = field_of(matter)
    return not words.isdisjoint(_SAYS.get(field, frozenset(field.split("_"))))


def is_said_outright(*, confidence: float, is_verbatim: bool, is_persons: bool) -> bool:
    """Whether a candidate is what the person told of themselves, and no conclusion of a model."""
    return is_persons and (is_verbatim or confidence >= _SURE)


def is_yes(*, question: str, answer: str, value: Collection[str], matter: str) -> bool:
    """Whether the answer of a person to an agent's question agrees to a value of a field.

    The answer begins with a yes and takes nothing back. It says the value itself ("yes, call me
    Dana"), or the question asks whether it may be used ("Shall I call you Dana?").
    """
    said = " ".join(answer.replace("’", "'").casefold().split())
    asked = [each.text for each in split_sentences(question) if each.text.endswith("?")]
    if not value or not asked or not _YES.match(said) or _BUT.search(said):
        return False
    wanted, told = frozenset(value), frozenset(name_words([said]))
    if wanted <= told and tells_of(answer, matter=matter):
        return True
    heard = frozenset(name_words([question.replace("’", "'")]))
    asks = any(_ASKS_LEAVE.search(each.replace("’", "'").casefold()) for each in asked)
    return asks and wanted <= told | heard


def independent_signals(signals: Iterable[Signal]) -> int:
    """How many signals are of different conversations or days."""
    return len({(each.conversation_id, each.day) for each in signals})


def signal_as_json(signal: Signal) -> dict[str, object]:
    """The signal as a request keeps it."""
    return {
        "conversation": str(signal.conversation_id) if signal.conversation_id else None,
        "day": signal.day.isoformat(),
        "messages": [str(each) for each in signal.message_ids],
    }


def signal_from_json(kept: Mapping[str, object]) -> Signal:
    """The signal that a request kept."""
    messages = kept.get("messages")
    return Signal(
        conversation_id=UUID(str(kept["conversation"])) if kept.get("conversation") else None,
        day=date.fromisoformat(str(kept["day"])),
        message_ids=tuple(UUID(str(each)) for each in messages)
        if isinstance(messages, list)
        else (),
    )


def _denials(text: str) -> frozenset[str]:
    words = normalise_text(text.replace("’", "'")).split()
    return frozenset("not" if word.endswith("n't") else word for word in words if _denies(word))


def _denies(word: str) -> bool:
    return word in _DENIALS or word.endswith("n't")
