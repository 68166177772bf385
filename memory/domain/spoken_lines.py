"""Messages as the raw search reads and shows them: what somebody said, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from memory.domain.text.normalise import normalise_text

from .escaping import plain_line
from .prompt_guards import is_command, without_rendered_memory
from .secrets import mask_secrets
from .types import Role

# System messages are the prompt itself, memory included; a tool's output is data for the agent, in
# bulk, that would drown what people said. Extraction takes from it what is worth keeping.
SPEAKING_ROLES = (Role.USER.value, Role.ASSISTANT.value)
# About 115 tokens: a line of a prompt, however long the message.
MOST_CHARS = 400
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n\s*")
# Letters of scripts that put no spaces between words count one by one.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+")
# Enough of a word to know it again with another ending.
_STEM_CHARS = 5
# A text is covered by those that have so much of its words.
_COVERED = 0.9


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
    """As many sentences from `first` on as fit, at least one."""
    last, length = first + 1, len(sentences[first])
    while last < len(sentences) and length + 1 + len(sentences[last]) <= limit:
        length += 1 + len(sentences[last])
        last += 1
    return first, last


def _held(sentences: list[str], stems: Collection[str]) -> int:
    """How many letters of the words sought are there: what is common is short."""
    found = {word[:_STEM_CHARS] for word in _WORD.findall(" ".join(sentences).casefold())}
    return sum(map(len, found & set(stems)))


def _around(sentence: str, stems: Collection[str], limit: int) -> str:
    """The part of a long sentence that begins a little before the longest word sought."""
    places = [
        (-len(match[0]), match.start())
        for match in _WORD.finditer(sentence)
        if match[0].casefold()[:_STEM_CHARS] in stems
    ]
    start = max(0, min(places, default=(0, 0))[1] - limit // 4)
    if start:
        start = sentence.find(" ", start) + 1
    return f"{'… ' if start else ''}{sentence[start : start + limit].strip()} …"
