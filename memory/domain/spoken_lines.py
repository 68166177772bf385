"""Messages as the raw search reads and shows them: what somebody said, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from memory.domain.pair_selection import weighed_words
from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.normalise import normalise_text
from memory.domain.text.stop_words import STOP_WORDS, word_set

from .escaping import plain_line
from .prompt_guards import is_command, without_rendered_memory
from .secrets import mask_secrets
from .types import Role

# System messages are the prompt itself, memory included; a tool's output is data for the agent, in
# bulk, that would drown what people said. Extraction takes from it what is worth keeping.
SPEAKING_ROLES = (Role.USER.value, Role.ASSISTANT.value)
# About 115 tokens: a line of a prompt, however long the message.
MOST_CHARS = 400
# Memories that have so much of what a sentence says, rare words counting more, say it.
_SAID_SHARE = 0.5
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n\s*")
_WORD = re.compile(r"[^\W_]+")
# Enough of a word to know it again with another ending.
_STEM_CHARS = 5
# Memories write them as dates.
_DAYS = {name[:_STEM_CHARS] for name in (*WEEKDAYS, *MONTHS)}
# What people say only to answer politely. No word of it names a thing, a person or a time.
_COURTESIES = word_set(
    """
    absolutely agreed alright always amazing anything anytime aw awesome aww bye cheers cool
    correct course definitely else exactly excellent fantastic fine glad gladly good goodbye got
    gotcha great ha haha happy hear heard hearing hello help hey hi hm hmm indeed know let like
    likewise ll lol lot lots lovely m makes many mhm mind much nice noted oh ok okay okey one
    perfect point problem re really right s see sense share sharing sounds sure sweet t take thank
    thanks thx totally true understood ve wait welcome well wonderful worries wow yay yeah yep yes
    yup
    """
)


# The questions about one conversation find nearly the same messages.
@lru_cache(maxsize=512)
def searchable_text(content: str) -> str:
    """What of a message is searched and shown: without memory that was rendered into a prompt.

    Found again, injected memory would come back as if somebody had said it. Keys, passwords and
    card numbers are masked, as in memories. Empty when nothing else was said.
    """
    return mask_secrets(text=without_rendered_memory(text=content)).strip()


def says_the_same(one: str, other: str) -> bool:
    """Whether both are the same words: a message that is the question cannot answer it."""
    return normalise_text(one) == normalise_text(other)


def says_nothing(text: str) -> bool:
    """Whether a message is only courtesies ("Ok, thanks!"): quoted, it would tell nobody anything.

    A single other word, a number or a name makes it say something; so does a text without words,
    in which there may be another script's signs.
    """
    words = _WORD.findall(text.casefold())
    return bool(words) and all(word in STOP_WORDS or word in _COURTESIES for word in words)


def says_more(text: str, *, known: Iterable[str], words: Collection[str]) -> bool:
    """Whether a message tells something that the memories made of it, `known`, do not say.

    What counts is its sentences that hold any of `words`, what is sought, or all of them where none
    does. A sentence is said by the memories if they have its names and numbers, and most of what it
    says, rare words counting more; one that asks, or is polite, tells nothing.
    """
    told = [each for each in _sentences(text) if not (each.endswith("?") or says_nothing(each))]
    stems = {word[:_STEM_CHARS] for word in words}
    sought = [each for each in told if _held([each], stems)] or told
    said = weighed_words(" ".join(each for line in known for each in _sentences(line))).keys()
    return any(not _is_said(each, said) for each in sought)


def _is_said(sentence: str, said: Collection[str]) -> bool:
    weights = weighed_words(sentence)
    inner = _WORD.findall(sentence)[1:]
    names = {word.casefold()[:_STEM_CHARS] for word in inner if word[0].isupper()}
    exact = {word for word in weights if word in names - _DAYS or word[0].isdigit()}
    held = sum(weight for word, weight in weights.items() if word in said)
    return exact.issubset(said) and held >= _SAID_SHARE * sum(weights.values())


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
    """As many sentences from `first` on as fit, at least one."""
    last, length = first + 1, len(sentences[first])
    while last < len(sentences) and length + 1 + len(sentences[last]) <= limit:
        length += 1 + len(sentences[last])
        last += 1
    return first, last


def _held(sentences: list[str], stems: Collection[str]) -> int:
    found = {word[:_STEM_CHARS] for word in _WORD.findall(" ".join(sentences).casefold())}
    return len(found & set(stems))


def _around(sentence: str, stems: Collection[str], limit: int) -> str:
    """The part of a long sentence that begins a little before the first word sought."""
    places = [
        match.start()
        for match in _WORD.finditer(sentence)
        if match[0].casefold()[:_STEM_CHARS] in stems
    ]
    start = max(0, min(places, default=0) - limit // 4)
    if start:
        start = sentence.find(" ", start) + 1
    return f"{'… ' if start else ''}{sentence[start : start + limit].strip()} …"
