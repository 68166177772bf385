"""Talk: spoken lines, quotes, their speakers, and summaries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from memory.domain.judgements import as_dispute
from memory.domain.prompt_guards import is_command, without_rendered_memory
from memory.domain.rendering import estimate_tokens, plain_line
from memory.domain.secrets import MASK, mask_secrets
from memory.domain.text.words import (
    UNSPACED,
    has_words,
    normalise_text,
    search_terms,
    speaker_of,
    split_sentences,
)
from memory.domain.types import Asker, Candidate, Judgement, MemoryType, Point, Role, Verdict

# System messages are the prompt itself, memory included; a tool's output is data for the agent, in
# bulk, that would drown what people said. Extraction takes from it what is worth keeping.
SPEAKING_ROLES = (Role.USER.value, Role.ASSISTANT.value)
# About 115 tokens: a line of a prompt, however long the message.
MOST_CHARS = 400
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n\s*")
# Letters of scripts that put no spaces between words count one by one.
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_])+")
_LETTERS = re.compile(r"[^\W_]+")
# Enough of a word to know it again with another ending.
_STEM_CHARS = 5
# A text is covered by those that have so much of its words.
_COVERED = 0.9


# The questions about one conversation find nearly the same messages.
@lru_cache(maxsize=512)
def searchable_text(content: str) -> str:
    """Returns the text of a message to search and show, without memory rendered into a prompt.

    Found again, injected memory would come back as if somebody had said it. Keys, passwords and
    card numbers are masked, as in memories. Empty when nothing else was said.
    """
    return mask_secrets(text=without_rendered_memory(text=content)).strip()


def says_the_same(one: str, other: str) -> bool:
    """Returns whether both have the same words: a question is not its own answer."""
    return normalise_text(one) == normalise_text(other)


@lru_cache(maxsize=2_048)
def spoken_words(text: str) -> frozenset[str]:
    """Returns the distinct words of a text, casefolded."""
    return frozenset(_WORD.findall(text.casefold()))


def is_covered(text: str, *, by: Iterable[str]) -> bool:
    """Returns whether other texts have all numbers and nearly all words of a text.

    Longer words count more. A text without words is covered by nothing.
    """
    words = spoken_words(text)
    missing = words - frozenset[str]().union(*map(spoken_words, by))
    if any(char.isdigit() for word in missing for char in word):
        return False
    total = sum(map(len, words))
    return bool(total) and sum(map(len, missing)) <= (1 - _COVERED) * total


def excerpt(text: str, *, words: Collection[str], limit: int = MOST_CHARS) -> str:
    """At most `limit` characters of a message on one line, from where most of `words` stand.

    Sentences that try to steer the memory or the agent are left out, as extraction does; what is
    cut away shows as "…". Empty when nothing is left.
    """
    sentences = list(_sentences(text))
    whole = " ".join(sentences)
    if len(whole) <= limit:
        return whole
    stems = {word[:_STEM_CHARS] for word in words}
    start, end = max(
        (_window(sentences, first, limit) for first in range(len(sentences))),
        key=lambda window: (_held(sentences[slice(*window)], stems), -window[0]),
    )
    body = " ".join(sentences[start:end])
    if len(body) > limit:
        body = _around(body, stems, limit)
    return f"{'… ' if start else ''}{body}{' …' if end < len(sentences) else ''}"


@lru_cache(maxsize=512)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(
        line
        for sentence in _SENTENCE_END.split(text)
        if (line := plain_line(sentence)) and not is_command(text=line)
    )


def _window(sentences: list[str], first: int, limit: int) -> tuple[int, int]:
    last, length = first + 1, len(sentences[first])
    while last < len(sentences) and length + 1 + len(sentences[last]) <= limit:
        length += 1 + len(sentences[last])
        last += 1
    return first, last


def _held(sentences: list[str], stems: Collection[str]) -> int:
    """Counts the letters of the words found: common words are short."""
    words = _LETTERS.findall(" ".join(sentences).casefold())
    found = {term[:_STEM_CHARS] for word in words for term in search_terms(word)}
    return sum(map(len, found & set(stems)))


def _around(sentence: str, stems: Collection[str], limit: int) -> str:
    places = [
        (-len(match[0]), match.start())
        for match in _WORD.finditer(sentence)
        if match[0].casefold()[:_STEM_CHARS] in stems
    ]
    start = max(0, min(places, default=(0, 0))[1] - limit // 4)
    if start:
        start = sentence.find(" ", start) + 1
    return f"{'… ' if start else ''}{sentence[start : start + limit].strip()} …"


# What tells of many messages at once, and is no statement that another one could contradict.
SUMMARY_TAG = "summary"
# Layer 7 of the prompt has about this much room (seed 000, the prompt builder).
SUMMARY_TOKENS = 200
# So many points are kept for the next summary: several times what fits into one.
MAX_POINTS = 64
_NOTHING = "Nothing worth keeping was said."
_HEAD = re.compile(r"\A\[\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\] ")
_SUMMARISING_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def retells(*, tags: Collection[str] | None, memory_type: str) -> bool:
    """Returns whether a memory retells others: a summary, an episode of talk or an insight."""
    return SUMMARY_TAG in (tags or ()) or memory_type == MemoryType.INSIGHT


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary, and the name of the rules or the model that wrote it."""

    text: str
    writer: str


class RulesSummariser:
    """The `Summariser` that needs no model."""

    name = "rules"

    def summarise(
        self,
        *,
        points: Sequence[Point],
        since: datetime,
        until: datetime,
        asker: Asker,
    ) -> WrittenSummary:
        return WrittenSummary(summarise(points=points, since=since, until=until), self.name)


def summarise(
    *,
    points: Sequence[Point],
    since: datetime,
    until: datetime,
    max_tokens: int = SUMMARY_TOKENS,
) -> str:
    """A summary of at most `max_tokens` of what matters most, then is latest, in their order."""
    head = period(since, until)
    kept = fitting(points, max_tokens=max_tokens - estimate_tokens(head))
    return " ".join([head, *([point.text for point in kept] or [_NOTHING])])


def fitting(points: Sequence[Point], *, max_tokens: int) -> list[Point]:
    """The points that matter most, then the latest, as far as they fit, in the given order."""
    room = max_tokens
    chosen: set[int] = set()
    for index in _ranked(points):
        price = estimate_tokens(" " + points[index].text)
        if price <= room:
            chosen.add(index)
            room -= price
    return [points[index] for index in sorted(chosen)]


def most_important(*, points: Sequence[Point], limit: int = MAX_POINTS) -> list[Point]:
    """At most `limit` of the points by importance, then the later ones, in the order of time."""
    kept = [points[index] for index in sorted(_ranked(points)[:limit])]
    return sorted(kept, key=lambda point: point.said_at)


def sentences_of(summary: str) -> list[str]:
    """The sentences of a summary, its heading left out."""
    body = _HEAD.sub("", summary, count=1).removeprefix(_NOTHING).strip()
    return [sentence for sentence in _SUMMARISING_SENTENCE_END.split(body) if sentence]


def _ranked(points: Sequence[Point]) -> list[int]:
    return sorted(
        range(len(points)),
        key=lambda index: (points[index].importance, points[index].said_at, index),
        reverse=True,
    )


def period(since: datetime, until: datetime) -> str:
    """The days that a summary covers, which open it."""
    first, last = f"{since:%Y-%m-%d}", f"{until:%Y-%m-%d}"
    return f"[{first}]" if first == last else f"[{first} to {last}]"


MAX_CHARS = 280
MAX_SENTENCES = 2
_LOOKED_AT = 10 * MAX_CHARS
# A text with a masked secret and fewer words beside it says no more than that the secret exists.
_FEWEST_WORDS_BESIDE_A_SECRET = 8
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Wording:
    """A candidate after the check, or None with the reason for its refusal."""

    candidate: Candidate | None
    refused: str = ""
    secret_masked: bool = False


def check_wording(candidate: Candidate) -> Wording:
    """Returns the candidate with its secrets masked, or the reason why it may not be stored.

    The form of a text is checked only where a model wrote it: a quotation stands as it was said.
    """
    text = mask_secrets(text=candidate.content)
    is_masked = text != candidate.content
    refused = "" if has_words(text) else "empty"
    if not refused and is_masked and _tells_only_of_a_secret(text):
        refused = "nothing but a secret"
    if not refused and not candidate.is_verbatim:
        refused = next(iter(_faults(text)), "")
    if refused:
        return Wording(None, refused, is_masked)
    return Wording(replace(candidate, content=text) if is_masked else candidate, "", is_masked)


def departures(*, text: str, memory_type: MemoryType) -> tuple[str, ...]:
    """Returns the constraints that a text worded on purpose breaks; none for identity memories.

    Of a text that is far too long only the beginning is checked.
    """
    if memory_type == MemoryType.IDENTITY:
        return ()
    return _faults(text[:_LOOKED_AT]) if has_words(text) else ("empty",)


def _faults(text: str) -> tuple[str, ...]:
    found = []
    if len(text) > MAX_CHARS:
        found.append("too long")
    if len(split_sentences(text)) > MAX_SENTENCES:
        found.append("more than two sentences")
    if text.rstrip(" !！").endswith(_QUESTION_MARKS):
        found.append("a question")
    return tuple(found)


def _tells_only_of_a_secret(text: str) -> bool:
    beside = [word for word in text.replace(MASK, " ").split() if has_words(word)]
    return len(beside) < _FEWEST_WORDS_BESIDE_A_SECRET


def people_of(
    content: str, *, speakers: Iterable[str] = (), user: Sequence[str] = ()
) -> tuple[str, ...]:
    """The names of those whom the text is by or about.

    `speakers` said it, `user` are the names of the person whose memory it is, the first of them
    what they are called. What nobody says is about the user; so may be what has a label, for
    "Allergy: nuts" is written as "Grace: I eat nuts" is.
    """
    said_by = tuple(name for name in speakers if name)
    label = speaker_of(content)
    if said_by:
        return (label, *said_by) if label else said_by
    return (label, *user[:1]) if label else tuple(user[:1])


def other_speakers(names: Iterable[str], *, user: Sequence[str]) -> tuple[str, ...]:
    """Of the people who speak by `names`, those who are not the user, in order and each once.

    `user` are the user's own names. A single name tells nobody apart: it may be one more of the
    user's.
    """
    spoken: dict[str, str] = {}
    for name in names:
        if name.strip():
            spoken.setdefault(name.strip().casefold(), name.strip())
    own = {name.casefold() for name in user}
    if len(spoken) < 2:
        return ()
    return tuple(name for folded, name in spoken.items() if folded not in own)


# Thai is the first of the scripts that put no spaces between words.
_QUOTES_UNSPACED = "\u0e00"


def held_to_quotes(
    judgement: Judgement, *, existing: str, new: str, older_value: str, newer_value: str
) -> Judgement:
    """Returns a supersession as a dispute unless its quoted values stand in the two statements.

    The values are what cannot hold of both: not the same, and neither the whole of its statement.
    """
    if judgement.verdict is not Verdict.SUPERSEDE:
        return judgement
    older, newer = normalise_text(older_value), normalise_text(newer_value)
    if older != newer and _is_part(older, existing) and _is_part(newer, new):
        return judgement
    return as_dispute(judgement, because="it quotes no two values that the statements hold")


def _is_part(quote: str, text: str) -> bool:
    """Returns whether a text contains a normalised quote and more than that."""
    return quote != normalise_text(text) and _holds(text, quote)


def _holds(text: str, quote: str) -> bool:
    """Returns whether a text contains a normalised quote as whole words; False without any."""
    if not any(char.isalnum() for char in quote):
        return False
    said = normalise_text(text)
    return any(
        _is_edge(said[at - 1 : at], quote[0])
        and _is_edge(said[at + len(quote) : at + len(quote) + 1], quote[-1])
        for at in _places(said, quote)
    )


def _places(text: str, quote: str) -> Iterator[int]:
    at = text.find(quote)
    while at >= 0:
        yield at
        at = text.find(quote, at + 1)


def _is_edge(outside: str, inside: str) -> bool:
    return not (_is_of_word(outside) and _is_of_word(inside))


def _is_of_word(char: str) -> bool:
    is_mark = bool(char) and unicodedata.category(char).startswith("M")
    return (char.isalnum() or is_mark) and char < _QUOTES_UNSPACED
