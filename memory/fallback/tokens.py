"""Splits English text into tokens that remember where they stand in the text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from memory.domain.text.verb_forms import stem

MAX_CHARS: Final = 32_000

# No alternative begins where another can go on, so that matching is one pass over the text.
_TOKEN = re.compile(
    r"https?://\S+"
    r"|\d{4}-\d\d-\d\d(?!\d)"
    r"|\d{1,2}:\d\d(?!\d)"
    r"|\d+(?:st|nd|rd|th)\b"
    r"|\d+(?:,\d{3})*(?:\.\d+)?"
    r"|[^\W\d_](?:[\w'’.@&]*\w)?(?:\+\+|#)?"
    r"|\S"
)
_SENTENCE_ENDS = frozenset(".!?:;…")
_CLITICS = ("'s", "'re", "'ve", "'ll", "'d", "'m")
_BEFORE_NOT = {"ca": "can", "wo": "will", "sha": "shall", "ai": "be"}


class Token(NamedTuple):
    """A word, number or mark with its place.

    `start` and `end` are character offsets in the text. `lower` is the lower-case form with
    straight apostrophes; of contractions both parts are tokens ("can't" is "can" and "not"), and so
    are the parts of a hyphenated word, without the hyphen.
    `is_first` says that a sentence begins with it, so that its capital means nothing.
    """

    text: str
    start: int
    end: int
    lower: str
    stem: str
    is_word: bool
    is_number: bool
    is_capital: bool
    is_first: bool

    @property
    def is_name(self) -> bool:
        """Whether its letters say that it is a name: a capital inside a sentence, or "iOS"."""
        if not self.is_word or self.lower == "i":
            return False
        inner = self.text[1:]
        return (self.is_capital and not self.is_first) or inner != inner.lower()


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of the first MAX_CHARS characters, in order; time grows linearly with them."""
    tokens: list[Token] = []
    is_first = True
    line_end = -1
    for match in _TOKEN.finditer(text[:MAX_CHARS]):
        start, found = match.start(), match.group()
        if line_end < start:
            is_first = is_first or line_end >= 0
            line_end = text.find("\n", start)
            line_end = len(text) if line_end < 0 else line_end
        if found[0].isalpha():
            for part, lower, offset in _parts(found):
                begin = start + offset
                tokens.append(_token(part, begin, lower, is_word=True, is_first=is_first))
                is_first = False
        elif found != "-" or not _joins(text, start):
            tokens.append(_token(found, start, found, is_word=False, is_first=is_first))
            is_first = found in _SENTENCE_ENDS or (is_first and not found[0].isdigit())
    return tuple(tokens)


def _joins(text: str, place: int) -> bool:
    """Whether the hyphen at `place` joins two words, which are read as two ("open-source")."""
    return 0 < place < len(text) - 1 and text[place - 1].isalnum() and text[place + 1].isalnum()


def _token(text: str, start: int, lower: str, *, is_word: bool, is_first: bool) -> Token:
    stemmed = stem(lower) if is_word else lower
    is_number = text[0].isdigit()
    is_capital = text[0].isupper()
    end = start + len(text)
    return Token(text, start, end, lower, stemmed, is_word, is_number, is_capital, is_first)


def _parts(word: str) -> list[tuple[str, str, int]]:
    """The text, lower form and offset of a word and of the clitic behind it."""
    lower = word.lower().replace("’", "'")
    if lower == "cannot":
        return [(word[:3], "can", 0), (word[3:], "not", 3)]
    if len(lower) != len(word) or "'" not in lower:
        return [(word, lower, 0)]
    if lower.endswith("n't") and len(lower) > 3:
        cut = len(word) - 3
        return [
            (word[:cut], _BEFORE_NOT.get(lower[:cut], lower[:cut]), 0),
            (word[cut:], "not", cut),
        ]
    for clitic in _CLITICS:
        if lower.endswith(clitic) and len(lower) > len(clitic):
            cut = len(word) - len(clitic)
            return [(word[:cut], lower[:cut], 0), (word[cut:], clitic, cut)]
    return [(word, lower, 0)]
