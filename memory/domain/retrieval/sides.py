"""Words that name a side of a time or an event, unless they say what somebody does or is."""

from __future__ import annotations

import re

from ..extraction.language.verbs import PAST
from ..text import STOP_WORDS

_BE = r"(?:\b(?:am|is|are|was|were|be|been|being)|(?<=\w)['’](?:s|m|re))"
_ADVERB = r"(?:\s+(?:all|always|far|just|not|often|still|way|\w+ly))?"
_SOMEBODY = r"\s+(?:i|you|he|she|it|we|they|(?-i:[A-Z])[\w'’-]*)"
# "Whom is she following?", "who is still ahead of the others?", "what have you been up to?"
_STATE = re.compile(rf"{_BE}(?:{_SOMEBODY}(?:\s+and{_SOMEBODY})?)?{_ADVERB}\s+$", re.IGNORECASE)
# "What did the children get up to?"
_DOING = re.compile(r"\b(?:get|gets|getting|got|gotten)\s+$", re.IGNORECASE)
# "What is the new choir up to?"
_WHAT_IS = re.compile(
    rf"\bwhat(?:\s+else)?(?:\s+(?=\w))?{_BE}\s+(?P<who>(?:[\w'’-]+\s+){{1,5}})$", re.IGNORECASE
)
_DETERMINERS = frozenset(
    {"the", "a", "an", "my", "your", "his", "her", "its", "our", "their", "and"}
)


def is_state(before: str) -> bool:
    """Whether "following" or "ahead of" behind these words says what somebody does or is."""
    return _STATE.search(before) is not None


def is_doing(before: str) -> bool:
    """Whether "up to" behind these words asks what somebody does and is no "until"."""
    if _STATE.search(before) or _DOING.search(before):
        return True
    match = _WHAT_IS.search(before)
    return match is not None and not any(map(_tells, match["who"].casefold().split()))


def _tells(word: str) -> bool:
    """Whether a word says more than who it is: "what was sold up to March", "what is on"."""
    return (
        word in PAST
        or word.endswith(("ed", "ing"))
        or (word in STOP_WORDS and word not in _DETERMINERS)
    )
