"""How a memory must be worded (seed 004 §9): checked, repaired where rules can, else rejected."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from .extraction.clauses import opens_clause
from .extraction.dates import resolve_dates
from .extraction.drafts import CLAUSE_END
from .extraction.guards import MASK, mask_secrets
from .extraction.sentences import split_sentences
from .extraction.words import content_words
from .types import Candidate, MemoryType

MAX_CHARS = 280
MAX_SENTENCES = 2

_OPENING_DATE = re.compile(r"^(?:On|In|By|Since|For) [^,.]{3,40}(?:, \d{4})?, ")
_PERSONAL = re.compile(r"^(?:I|you|he|she|it|we|they)(?:['’]\w+)?\s+[a-z]", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^(?:this|that|these|those)"
    r"(?:['’](?:s|re|m|ve|ll|d)\b|\s+(?:(?:also|still|now|then|really|just|always|never)\s+)?"
    r"(?:am|is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|shall|should|"
    r"may|might|must|[a-z]{2,}(?:ed|s))\b)",
    re.IGNORECASE,
)
_FIRST_PERSON = (
    (re.compile(r"^I(?:'m|’m| am)\b"), "User is"),
    (re.compile(r"^I(?:'ve|’ve| have)\b"), "User has"),
    (re.compile(r"^I(?:'ll|’ll| will)\b"), "User will"),
    (re.compile(r"^I was\b"), "User was"),
    (re.compile(r"^I (?=[a-z]+ed\b)"), "User "),
    (re.compile(r"^My\b"), "User's"),
)
_SECRET_STATED = re.compile(
    r"(?:\b(?:is|are|was|now|to|reads?|answered|said)|=|:|\b(?:password|passphrase|pin|key|token|code"
    r"|number|secret))\s?[\"'`“(]?" + re.escape(MASK) + "(?!@)",
    re.IGNORECASE,
)
_CLAUSE_JOINT = re.compile(r"[.;,]\s|\s(?:and|but|while)\s")


@dataclass(frozen=True, slots=True)
class Wording:
    """A candidate after the check: None when it was rejected, and what was wrong at first.

    `problems` is empty for a candidate that was right as it came.
    """

    candidate: Candidate | None
    problems: tuple[str, ...] = ()
    secret_masked: bool = False


def check_wording(candidate: Candidate, *, said_at: datetime) -> Wording:
    """Hold a candidate to the constraints: standalone, third person, at most two sentences and 280
    characters, no relative dates, no pronoun as subject, no secret.

    `said_at` is when the source was said; relative dates are resolved against it.
    """
    problems: list[str] = []
    text = " ".join(candidate.content.split())
    masked = mask_secrets(text=text)
    text, secret = masked, masked != text
    if not any(char.isalnum() for char in text):
        return Wording(None, ("empty",), secret)
    if secret and _tells_only_of_a_secret(text):
        return Wording(None, ("nothing but a secret",), secret)
    text = _third_person(text, problems)
    told = _OPENING_DATE.sub("", text)
    if _PERSONAL.match(told) or _PRONOUN.match(told):
        return Wording(None, (*problems, "a pronoun is its subject"), secret)
    dated = resolve_dates(
        text=text, today=said_at.date(), past=candidate.memory_type == MemoryType.EPISODIC
    ).text
    if text[-1] in ".!?" and dated[-1:] not in (".", "!", "?"):
        dated += text[-1]
    if dated != text:
        problems.append("relative date")
        text = dated
    shorter = _shortened(text, problems)
    if shorter is None:
        return Wording(None, (*problems, f"no clause ends within {MAX_CHARS} characters"), secret)
    if shorter == candidate.content and not problems:
        return Wording(candidate, (), secret)
    return Wording(replace(candidate, content=shorter), tuple(problems), secret)


def departures(*, text: str, memory_type: MemoryType, said_at: datetime) -> tuple[str, ...]:
    """Where a text that somebody worded on purpose departs from the constraints; () for nowhere.

    What an agent is may address it, so identity memories never depart.
    """
    if memory_type == MemoryType.IDENTITY:
        return ()
    stated = Candidate(
        content=text, memory_type=memory_type, importance=1, confidence=1.0, message_ids=()
    )
    return check_wording(stated, said_at=said_at).problems


def _tells_only_of_a_secret(text: str) -> bool:
    """Whether a masked text says no more than that a secret exists ("The door code is [masked]").

    A second clause that tells something else saves it.
    """
    if not _SECRET_STATED.search(text):
        return not content_words(text.replace(MASK, " "))
    parts = _CLAUSE_JOINT.split(text)
    return not any(
        MASK not in part and opens_clause(text=part) and len(content_words(part)) > 1
        for part in parts
    )


def _third_person(text: str, problems: list[str]) -> str:
    for pattern, third in _FIRST_PERSON:
        if pattern.match(text):
            problems.append("first person")
            return pattern.sub(third, text, count=1)
    return text


def _shortened(text: str, problems: list[str]) -> str | None:
    """At most two sentences and 280 characters; None where no clause ends early enough."""
    sentences = split_sentences(text)
    if len(sentences) > MAX_SENTENCES:
        problems.append("more than two sentences")
        sentences = sentences[:MAX_SENTENCES]
        text = " ".join(sentences)
    if len(text) <= MAX_CHARS:
        return text
    problems.append("too long")
    if len(sentences[0]) <= MAX_CHARS:
        return sentences[0]
    ends = [match.start() for match in CLAUSE_END.finditer(sentences[0], 0, MAX_CHARS)]
    if not ends or ends[-1] < MAX_CHARS // 3:
        return None
    return sentences[0][: ends[-1]].rstrip(" ,;:") + "."
