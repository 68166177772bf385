"""Which memories of a prompt an answer used, by words that it can have from them alone.

It is conservative both ways. A word speaks for a memory if the answer has it, no other memory of
the prompt and nothing else that the model read does, and it is no stop word. An unused memory
counts as ignored only if it ranked above a used one (Joachims, KDD 2002: what is skipped above a
click is worth less; of what stands below it, nothing is known) and the answer shares no word with
it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from .text.calendar import MONTHS, WEEKDAYS
from .text.said_words import Word, words_in
from .text.stop_words import STOP_WORDS

# A name counts twice: a name and a word are the least that speaks for a memory, or three words.
_ENOUGH = 3
# Of the words that only the memory has, the answer has at least this share.
_SHARE = 1 / 3
# What has fewer words could hardly be recognised.
_FEWEST = 2
_SHORTEST = 3
_NO_NAMES = frozenset({*MONTHS, *WEEKDAYS})


@dataclass(frozen=True, slots=True)
class Citations:
    """The memories that an answer used, and those that it had reason to use and did not."""

    cited: frozenset[UUID] = frozenset()
    ignored: frozenset[UUID] = frozenset()


def citations_of(
    *,
    answer: str,
    told: Sequence[tuple[UUID, str]],
    elsewhere: Sequence[str],
    chosen: Collection[UUID],
) -> Citations:
    """What the answer used of the memories that were `told`, best first, by the words of each.

    `elsewhere` is whatever else the model read. Only memories `chosen` for the question can be
    ignored; the others are told whatever is asked.
    """
    answered = _words(answer)
    texts = {key: text.lower() for key, text in told}
    # Of most memories the answer says nothing, which a glance at their letters tells.
    words = {
        key: _words(text)
        for key, text in told
        if any(_stands_in(word, texts[key]) for word in answered.values())
    }
    shared = {key: own.keys() & answered.keys() for key, own in words.items()}
    read = "\n".join(elsewhere).lower()

    def is_cited(key: UUID) -> bool:
        others = [text for other, text in texts.items() if other != key]
        alone = {
            stem: word
            for stem, word in words[key].items()
            if not any(_stands_in(word, text) for text in (read, *others))
        }
        return _speaks(alone, shared[key])

    cited = frozenset(key for key, both in shared.items() if both and is_cited(key))
    last = max((place for place, key in enumerate(texts) if key in cited), default=0)
    return Citations(
        cited,
        frozenset(
            key
            for key, text in told[:last]
            if key in chosen and key not in words and len(_words(text)) >= _FEWEST
        ),
    )


def _stands_in(word: Word, text: str) -> bool:
    """Whether the word, or its stem, is in a lower-case text, be it as a part of another word."""
    return word.text in text or word.key in text


def _words(text: str) -> dict[str, Word]:
    """The words that say what a text is about, by their stems; a name stays one."""
    found: dict[str, Word] = {}
    for word in words_in(text):
        if word.kind == "sign" or word.text in STOP_WORDS:
            continue
        # Figures of one digit number the lines of a list.
        if len(word.text) >= (2 if word.kind == "number" else _SHORTEST):
            known = found.setdefault(word.key, word)
            if word.is_name and not known.is_name:
                found[word.key] = word
    return found


def _speaks(alone: Mapping[str, Word], shared: Collection[str]) -> bool:
    both = [word for key, word in alone.items() if key in shared]
    weight = sum(2 if _is_name(word) else 1 for word in both)
    return weight >= _ENOUGH and len(both) >= _SHARE * len(alone)


def _is_name(word: Word) -> bool:
    return word.is_name and word.text not in _NO_NAMES
