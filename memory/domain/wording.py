"""How a memory must be worded (seed 004 §9): checked, repaired where rules can, else rejected."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from .extraction.clauses import opens_clause
from .extraction.days.dates import resolve_dates
from .extraction.drafts import CLAUSE_END
from .extraction.language.rewrite import Voice, third_person_text
from .extraction.language.sentences import split_sentences
from .extraction.language.tense import is_past
from .extraction.language.words import content_words
from .secrets import MASK, mask_secrets
from .types import Candidate, MemoryType

MAX_CHARS = 280
MAX_SENTENCES = 2

_OPENING_DATE = re.compile(r"^(?:On|In|By|Since|For) [^,.]{3,40}(?:, \d{4})?, ")
_PERSONAL = re.compile(
    r"^(?:I|you|he|she|it|we|they)(?:['’]\w+)?\s+[a-z]|^(?:his|her|their|its)\s+(?-i:[a-z])",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^(?:this|that|these|those)"
    r"(?:['’](?:s|re|m|ve|ll|d)\b|\s+(?:(?:also|still|now|then|really|just|always|never)\s+)?"
    r"(?:am|is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|shall|should|"
    r"may|might|must|[a-z]{2,}(?:ed|s))\b)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"(?:I(?:['’](?:m|ve|ll|d))?|My)\b(?!\.|/)")
# Also with a full stop in place of its mark. A quotation that asks ends in a quotation mark.
_QUESTION = re.compile(
    r"(?:(?:what|where|when|why|how|which|who)\s)?(?:does|did)\s(?!not\b)|"
    r"(?:is|are|was|were|has)\s(?!not\b)|.*\?[?!]*$",
    re.IGNORECASE | re.DOTALL,
)
_USER = Voice(name="User", group="the team", addressee="the agent")
_SECRET_STATED = re.compile(
    r"(?:\b(?:is|isn['’]t|it['’]s|are|was|be|not|now|to|from|reads?|answered|said)|=|:|/|\b(?:password|passphrase|pw|pin|key"
    r"|token|codes?|number|secret))\s?[\"'`“(]?" + re.escape(MASK) + "(?!@)",
    re.IGNORECASE,
)
_CLAUSE_JOINT = re.compile(r"[.;,]\s(?:(?:and|but|while)\s)?|\s(?:and|but|while)\s")


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
    characters, no question, no relative dates, no pronoun as subject, no secret.

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
    stated = _without_questions(text)
    if not stated:
        return Wording(None, (*problems, "a question"), secret)
    if stated != text:
        problems.append("a question")
        text = stated
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


def _without_questions(text: str) -> str:
    """The text without what it asks; "" where that comes first, as the rest then answers it."""
    sentences = split_sentences(text)
    asked = [bool(_QUESTION.match(sentence)) for sentence in sentences]
    if not any(asked):
        return text
    if asked[0]:
        return ""
    return " ".join(each for each, asks in zip(sentences, asked, strict=True) if not asks)


def _third_person(text: str, problems: list[str]) -> str:
    told = _OPENING_DATE.sub("", text)
    if not _FIRST_PERSON.match(told):
        return text
    problems.append("first person")
    opening = text[: len(text) - len(told)]
    return opening + third_person_text(text=told, voice=_USER, past=is_past(text=told))


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
