"""Finds the memories of a prompt that an answer used, by words that it can have from them alone.

It is conservative both ways. A word speaks for a memory if the answer has it, no other memory of
the prompt and nothing else that the model read does; short words, which are mostly those of
grammar, speak once and not by themselves. An unused memory
counts as ignored only if it ranked above a used one (Joachims, KDD 2002: what is skipped above a
click is worth less; of what stands below it, nothing is known) and the answer shares no word with
it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.words import split_sentences

# A name counts twice, and all short words once: a name and a word are the least that speaks for a
# memory, or three words.
_ENOUGH = 3
# Of the words that only the memory has, the answer has at least this share.
_SHARE = 1 / 4
# What has fewer words could hardly be recognised.
_FEWEST = 2
_SHORTEST, _LONG = 3, 5
# Figures of one digit number the lines of a list.
_SHORTEST_FIGURE = 2
_WORD = re.compile(r"[^\W_]+")
_NO_NAMES = frozenset({*MONTHS, *WEEKDAYS})


class Word(NamedTuple):
    """A word in lower case; `is_name` says that it has a capital inside a sentence."""

    text: str
    is_name: bool

    @property
    def key(self) -> str:
        """Equal for the forms of a word: its beginning."""
        if not self.text.isalpha():
            return self.text
        return self.text[: _LONG if len(self.text) >= _LONG else _SHORTEST]

    @property
    def is_short(self) -> bool:
        """Returns whether the word says little by itself."""
        return self.text.isalpha() and not self.is_name and len(self.text) < _LONG


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
    """Returns which of the `told` memories, best first, the answer used, by the words of each.

    `elsewhere` is whatever else the model read. Only memories `chosen` for the question can be
    ignored; the others are told whatever is asked.
    """
    answered = _words(answer)
    texts = {key: text.lower() for key, text in told}
    # Of most memories the answer says nothing, which a glance at their letters tells.
    words = {
        key: _words(text)
        for key, text in told
        if any(_stands_in(word, texts[key]) for word in answered.values() if not word.is_short)
    }
    shared = {key: own.keys() & answered.keys() for key, own in words.items()}
    read = "\n".join(elsewhere).lower()

    def is_cited(key: UUID) -> bool:
        others = [text for other, text in texts.items() if other != key]
        alone = {
            same: word
            for same, word in words[key].items()
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
    return word.key in text


def _words(text: str) -> dict[str, Word]:
    """The words that say what a text is about, by their keys; a name stays one."""
    found: dict[str, Word] = {}
    for sentence in split_sentences(text):
        for place, match in enumerate(_WORD.finditer(sentence)):
            word = Word(match[0].lower(), place > 0 and match[0][0].isupper())
            shortest = _SHORTEST_FIGURE if word.text[0].isdigit() else _SHORTEST
            if len(word.text) >= shortest:
                known = found.setdefault(word.key, word)
                if word.is_name and not known.is_name:
                    found[word.key] = word
    return found


def _speaks(alone: Mapping[str, Word], shared: Collection[str]) -> bool:
    both = [word for key, word in alone.items() if key in shared]
    weight = sum(2 if _is_name(word) else 1 for word in both if not word.is_short)
    weight += any(word.is_short for word in both)
    return weight >= _ENOUGH and len(both) >= _SHARE * len(alone)


def _is_name(word: Word) -> bool:
    return word.is_name and word.text not in _NO_NAMES
