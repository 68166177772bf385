"""How a memory must be worded (seed 004 §9): checked, repaired where rules can, else rejected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.domain.text.date_types import Lean
from memory.domain.text.sentences import split_sentences
from memory.domain.text.stop_words import STOP_WORDS, word_set
from memory.domain.text.verb_forms import IRREGULAR_FORMS, PAST_FORMS
from memory.domain.text.written_dates import write_dates

from .secrets import MASK, mask_secrets
from .types import Candidate, MemoryType

MAX_CHARS = 280
MAX_SENTENCES = 2
_LOOKED_AT = 10 * MAX_CHARS

_OPENING_DATE = re.compile(r"^(?:On|In|By|Since|For) [^,.]{3,40}(?:, \d{4})?, ")
_PERSONAL = re.compile(
    r"^(?!(?-i:IT)\b)(?:I|you|he|she|it|we|they)(?:['’]\w+)?\s+[a-z]|^(?:his|her|their|its)\s+(?-i:[a-z])",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^(?:this|that|these|those)(?:['’](?:s|re|ve|ll|d)\b|\s+(?:is|are|was|were|has|have|had|does"
    r"|did|will|would|can|could|should|may|might|must|[a-z]{2,}ed)\b)",
    re.IGNORECASE,
)
# Also with a full stop in place of its mark. A quotation that asks ends in a quotation mark.
_QUESTION = re.compile(
    r"(?:(?:what|where|when|why|how|which|who)\s)?(?:does|did)\s(?!not\b)"
    r"|(?:is|are|was|were|has)\s(?!not\b)|.*\?[?!]*$",
    re.IGNORECASE | re.DOTALL,
)
_CLAUSE_END = re.compile(r"[,;:]\s|\s(?=(?:and|but|because|which|who|while)\s)")
_CLAUSE_JOINT = re.compile(r"[.;,]\s(?:(?:and|but|while)\s)?|\s(?:and|but|while)\s")
_SECRET_STATED = re.compile(
    r"(?:\b(?:is|isn['’]t|it['’]s|are|was|be|not|now|to|from|password|passphrase|pin|key|token"
    r"|codes?|number|secret)|=|:|/)\s?[\"'`“(]?" + re.escape(MASK) + "(?!@)",
    re.IGNORECASE,
)
_VERBS = word_set("is are was were has have had will can does did") | PAST_FORMS

_FIRST_PERSON = re.compile(r"(?:I(?:['’](?P<short>m|ve|ll|d))?|(?P<my>My))\b(?!\.|/)\s*")
_SHORT_FORMS = {"m": "is", "ve": "has", "ll": "will", "d": "would"}
_THIRD = {
    "am": "is", "have": "has", "do": "does", "go": "goes", "don't": "does not",
    "haven't": "has not",
}  # fmt: skip
_AS_THEY_ARE = word_set(
    """
    can could will would shall should may might must was did had can't couldn't won't wouldn't
    shouldn't wasn't didn't hadn't cannot never
    """
)
# "Put", "let", "cut" may be past; so they stay.
_UNCHANGED = {base for base, forms in IRREGULAR_FORMS.items() if base in forms}
_ADVERBS = word_set("also always never often really still usually just currently now")
_REST = re.compile(r"\b(?:my|me|myself|mine)\b")
_OWN = {"my": "their", "me": "them", "myself": "themself", "mine": "theirs"}


@dataclass(frozen=True, slots=True)
class Wording:
    """A candidate after the check, None when it was rejected, and what was wrong as it came."""

    candidate: Candidate | None
    problems: tuple[str, ...] = ()
    secret_masked: bool = False


def check_wording(candidate: Candidate, *, said_at: datetime) -> Wording:
    """Hold a candidate to the constraints: standalone, third person, at most two sentences and 280
    characters, no question, no relative dates, no pronoun as subject, no secret.

    `said_at` is when the source was said; relative dates are resolved against it.
    """
    plain = " ".join(candidate.content.split())
    text = mask_secrets(text=plain)
    return _checked(candidate, text, said_at=said_at, secret=text != plain)


def _checked(candidate: Candidate, text: str, *, said_at: datetime, secret: bool) -> Wording:
    problems: list[str] = []
    if not any(char.isalnum() for char in text):
        return Wording(None, ("empty",), secret)
    if secret and _tells_only_of_a_secret(text):
        return Wording(None, ("nothing but a secret",), secret)
    text = _repaired(text, in_third_person(text), "first person", problems)
    stated = text
    sentences = _sentences(stated)
    text = _repaired(text, _without_questions(text, sentences), "a question", problems)
    if not text:
        return Wording(None, tuple(problems), secret)
    told = _OPENING_DATE.sub("", text)
    if _PERSONAL.match(told) or _PRONOUN.match(told):
        return Wording(None, (*problems, "a pronoun is its subject"), secret)
    lean: Lean = "past" if candidate.memory_type == MemoryType.EPISODIC else "future"
    # A date that only lacks its year is no fault; which year is meant, its words alone know.
    dated = write_dates(text, anchor=said_at, lean=lean, completes_years=False)
    if any(each.has_year and each.expression.relative for each in dated.dates):
        problems.append("relative date")
    text = dated.text
    shorter = _shortened(text, sentences if text == stated else _sentences(text), problems)
    if shorter is None:
        return Wording(None, (*problems, f"no clause ends within {MAX_CHARS} characters"), secret)
    if shorter == candidate.content and not problems:
        return Wording(candidate, (), secret)
    return Wording(replace(candidate, content=shorter), tuple(problems), secret)


def departures(*, text: str, memory_type: MemoryType, said_at: datetime) -> tuple[str, ...]:
    """Where a text worded on purpose departs from the constraints; identity memories never do.

    Its secrets are masked already. Of a text that is far too long only the beginning is looked at.
    """
    if memory_type == MemoryType.IDENTITY:
        return ()
    stated = Candidate(
        content=text, memory_type=memory_type, importance=1, confidence=1.0, message_ids=()
    )
    plain = " ".join(text[:_LOOKED_AT].split())
    return _checked(stated, plain, said_at=said_at, secret=False).problems


def in_third_person(text: str) -> str:
    """A statement that opens with "I" or "My" as one about the user; any other one unchanged."""
    opening = text[: len(text) - len(_OPENING_DATE.sub("", text))]
    match = _FIRST_PERSON.match(text, len(opening))
    if match is None:
        return text
    rest = text[match.end() :]
    if match["my"]:
        subject = "User's "
    elif match["short"]:
        subject = f"User {_SHORT_FORMS[match['short'].lower()]} "
    else:
        words = rest.split(" ")
        place = next((at for at, word in enumerate(words) if word not in _ADVERBS), 0)
        words[place] = _third_person(words[place])
        subject, rest = "User ", " ".join(words)
    return opening + subject + _REST.sub(lambda own: _OWN[own[0]], rest)


def _third_person(verb: str) -> str:
    """The verb behind "I" as it stands behind a name: "live" is "lives", "lived" stays."""
    plain = verb.replace("’", "'")
    known = _THIRD.get(plain)
    is_past = plain in PAST_FORMS or (plain.endswith("ed") and not plain.endswith("eed"))
    if known or plain in _AS_THEY_ARE | _UNCHANGED or is_past or not plain.isalpha():
        return known or verb
    if plain[-1] == "y" and plain[-2:-1] not in "aeiou":
        return f"{plain[:-1]}ies"
    return plain + ("es" if plain.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _repaired(text: str, better: str, problem: str, problems: list[str]) -> str:
    if better != text:
        problems.append(problem)
    return better


def _tells_only_of_a_secret(text: str) -> bool:
    """Whether a masked text says no more than that a secret exists ("The door code is [masked]").

    A second clause that tells something else saves it.
    """
    if not _SECRET_STATED.search(text):
        return not _telling_words(text.replace(MASK, " "))
    return not any(
        MASK not in part
        and not _VERBS.isdisjoint(part.lower().split())
        and len(_telling_words(part)) > 1
        for part in _CLAUSE_JOINT.split(text)
    )


def _telling_words(text: str) -> list[str]:
    words = (word.strip(".,;:!?\"'()") for word in text.lower().split())
    return [word for word in words if word.isalnum() and word not in STOP_WORDS]


def _without_questions(text: str, sentences: Sequence[str]) -> str:
    """The text without what it asks; "" where that comes first, as the rest then answers it."""
    asked = [bool(_QUESTION.match(sentence)) for sentence in sentences]
    if not any(asked):
        return text
    if asked[0]:
        return ""
    return " ".join(each for each, asks in zip(sentences, asked, strict=True) if not asks)


def _shortened(text: str, sentences: Sequence[str], problems: list[str]) -> str | None:
    """At most two sentences and 280 characters; None where no clause ends early enough."""
    if len(sentences) > MAX_SENTENCES:
        problems.append("more than two sentences")
        sentences = sentences[:MAX_SENTENCES]
        text = " ".join(sentences)
    if len(text) <= MAX_CHARS:
        return text
    problems.append("too long")
    if len(sentences[0]) <= MAX_CHARS:
        return sentences[0]
    ends = [match.start() for match in _CLAUSE_END.finditer(sentences[0], 0, MAX_CHARS)]
    if not ends or ends[-1] < MAX_CHARS // 3:
        return None
    return sentences[0][: ends[-1]].rstrip(" ,;:") + "."


def _sentences(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]
