"""What a user asks for: lasting wishes as preferences, one-time requests as a frame for details."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from uuid import UUID

from ..types import MemoryType
from .appositions import described
from .clauses import opens_clause
from .days.dates import resolve_dates
from .drafts import Draft, merged_sources, sentence
from .kinds.labels import Label
from .language.rewrite import third_person_text
from .language.syntax import has_verb
from .language.verbs import BASES
from .language.words import content_words
from .threads.dialogue import Unit

_POLITE = re.compile(
    r"^(?:(?:in\s(?:the\s)?future|from\snow\son|going\sforward|next\stime),?\s)?"
    r"(?:(?:and|so|also|but|then|oh)\s)?(?:please[,\s]+)?(?:(?:can|could|would|will)\syou\s"
    r"(?:please\s|maybe\s|also\s|kindly\s)?|(?:i['’]d\slike|i\swould\slike|i\sneed|"
    r"i\swant|i\shave)\s(?:you\s)?to\s"
    r"(?:please\s)?|please\s)?(?:help\sme\s(?:to\s)?)?",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[,\s]+(?:please|thanks|thank\syou)$", re.IGNORECASE)
_THEN_DO = re.compile(
    r",\s(?=(?:text|call|phone|e-?mail|message|write|use|send|give|ask|show|tell)\b)", re.IGNORECASE
)
_THEN_NOT = re.compile(
    r"(?:,\s(?:and\s)?|\sand\s|(?<=\btext)\s|(?<=mail)\s)(?:don['’]t|do\snot)\s(?=[a-z])",
    re.IGNORECASE,
)
_GATHERS = re.compile(
    r"\b(?:book|order|reserve|arrange|organi[sz]e|schedule|plan|set\sup|buy|cancel|return|rent|"
    r"hire|"
    r"remind|prepare|register|sign\s\w+\sup|move|reschedule|change|renew|apply|send|ship|get)\b",
    re.IGNORECASE,
)
_SO_VERB = re.compile(
    r",\sso\s(?:please\s)?(?!remind)(?P<neg>don['’]t\s|do\snot\s|never\s|always\s)?"
    r"(?P<verb>[a-z]+)\s",
    re.IGNORECASE,
)
_SO_REMIND = re.compile(r",\s(?:so|and)\s(?:please\s)?remind\sme\b", re.IGNORECASE)
_LETS = re.compile(r"\blet['’]s\s(?P<not>not\s)?", re.IGNORECASE)
_REMIND_BEFORE = re.compile(
    r"^(?:(?:can|could|will|would)\syou\s)?(?:please\s)?remind\sme\s"
    r"(?:of\s(?:it|that)\s|about\s(?:it|that)\s)?(?P<when>[\w\s]{2,30}\s(?:before|ahead|earlier|"
    r"in\sadvance|prior)|the\s(?:day|evening|week|night|morning)\sbefore)\W*$",
    re.IGNORECASE,
)
_NO_PLEASE = re.compile(
    r"^(?:no\s(?P<what>[\w\s-]{3,60}?)[,\s]*please|(?:and\s)?please,?\sno\s(?P<then>[\w\s-]{3,60}?)|no\s(?P<mine>[\w\s-]{3,40}?)\sfor\sme(?:[\s,]+please)?)\W*$",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"(?:please\s)?(?:don['’]t|do\snot)(?:\W*$|\s(?!ever\b|always\b))", re.IGNORECASE
)
_REASON = re.compile(
    r"(?:,|\s[–—-]|;)\s(?:because\s|since\s|as\s|cause\s|cos\s)?(?!(?:so|and|then|or|but|please|if|"
    r"when|you|which|who|that)\b)|\s(?:because|since)\s",
    re.IGNORECASE,
)
_ANYTHING = frozenset({"anything", "everything", "something", "anybody", "anyone"})
_IDENTIFIED = re.compile(r"\b[A-Za-z]*[#-]?\d[\w-]*\b")
_MAX_REQUEST = 140
_FRAME_TURNS = 6


def as_wish(*, text: str) -> str:
    """A lasting request in the first person: "please answer me in German" becomes a wish of "I"."""
    nothing = _NO_PLEASE.match(text)
    if nothing:
        named = next(each for each in nothing.groups() if each)
        return f"I ask for no {named}"
    bare = _CLOSING.sub("", _POLITE.sub("", text).strip(" ?!."))
    bare = _THEN_NOT.sub(" and not to ", _THEN_DO.sub(" and ", bare, count=1), count=1)
    negative = re.match(r"(?:don['’]t|do\snot)\s(?:ever\s)?", bare, re.IGNORECASE)
    if negative:
        return f"I ask the agent not to {bare[negative.end() :]}"
    adverb = re.match(r"(always|never|only)\s", bare, re.IGNORECASE)
    if adverb:
        return f"I ask the agent {adverb.group(1).lower()} to {bare[adverb.end() :]}"
    return f"I ask the agent to {bare[:1].lower()}{bare[1:]}"


def is_idle_wish(*, text: str) -> bool:
    """Whether a "don't" names nothing that could be left undone ("don't ask", "don't be")."""
    negative = _IDLE.match(text)
    if negative is None:
        return False
    rest = text[negative.end() :]
    return len(set(content_words(rest)) - _ANYTHING) < 2 or not content_words(
        rest.partition(", ")[0]
    )


def asks_for_none(*, text: str) -> bool:
    """Whether a fragment wishes something away ("No emojis please")."""
    return bool(_NO_PLEASE.match(text))


def wishes_told(*, clause: str) -> str:
    """A clause with "let's", ", so send me" and ", so remind me" told instead of asked."""
    told = _LETS.sub(lambda match: f"we decided {match.group('not') or ''}to ", clause)
    told = _SO_VERB.sub(_so_wish, told)
    return _SO_REMIND.sub(", and I want a reminder", told)


def _so_wish(match: re.Match[str]) -> str:
    if match.group("verb").lower() not in BASES:
        return match.group()
    negative = (match.group("neg") or "").strip().lower()
    to = {"": "to", "always": "always to", "never": "never to"}.get(negative, "not to")
    return f", so I ask the agent {to} {match.group('verb')} "


def split_reason(*, text: str) -> tuple[str, str]:
    """A one-time request and the fact behind it ("Put Helene in cc, she is the new COO").

    The second part is empty where the request gives no reason of its own.
    """
    for match in _REASON.finditer(text):
        reason = text[match.end() :]
        apposed = described(before=text[: match.start()], after=reason)
        if apposed:
            return text[: match.start()], apposed
        if opens_clause(text=reason) and has_verb(text=reason) and len(content_words(reason)) > 1:
            return text[: match.start()], reason
    return text, ""


def reminder_before(*, text: str) -> str:
    """ "two days before" out of "Remind me two days before", or ""."""
    match = _REMIND_BEFORE.match(text)
    return match.group("when") if match else ""


@dataclass(slots=True)
class RequestFrame:
    """An open one-time request ("book a table …") and the details that later answers give."""

    request: Draft | None = None
    details: list[tuple[str, UUID]] = field(default_factory=list)

    def opened(self, *, unit: Unit, text: str) -> None:
        """Begin a frame when the request is one that gathers details."""
        bare = _POLITE.sub("", text).strip(" ?!.")
        if not unit.own or not _GATHERS.search(bare) or len(bare) > _MAX_REQUEST:
            return
        asked = f"I asked to {bare[:1].lower()}{bare[1:]}"
        label = Label(MemoryType.EPISODIC, 5, "event", "request", confidence=0.7)
        third = third_person_text(text=asked, voice=unit.voice)
        self.request = Draft(third, label, unit.sources, unit.turn, unit.at, unit.voice.name)

    def takes(self, *, unit: Unit) -> bool:
        """Whether a fragment at this turn still belongs to the open request."""
        return self.request is not None and unit.turn - self.request.turn <= _FRAME_TURNS

    def closed(self) -> Draft | None:
        """The request with its details, once; None where it names neither details nor a date."""
        request, details = self.request, self.details
        self.request, self.details = None, []
        if request is None:
            return None
        text = request.text
        if details:
            text += ": " + "; ".join(detail.rstrip(". ") for detail, _ in details)
        resolved = resolve_dates(text=text, today=request.at.date(), past=False)
        if not details and not resolved.dates and not _IDENTIFIED.search(text):
            return None
        sources = merged_sources(request.sources, [source for _, source in details])
        return replace(request, text=sentence(resolved.text), sources=sources, dates=resolved.dates)
