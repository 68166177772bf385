"""Whether a text can name a time at all, told in a fraction of what reading its times takes."""

from __future__ import annotations

import re

from . import time_patterns

# Words of the forms that name no time without another word of theirs, or a figure.
_IDLE = """
a about after an and around at back before beginning between boxing break by coming couple cw during
earlier early eight eighteen eleven end eve far few fifteen first five following for four fourteen
fourth from good h half in kw last late later lead mid middle nd new next nine nineteen of on
one other over past previous q rd s same second seven seventeen several since six sixteen so
st start ten term th that the third thirteen this three through till time to turn twelve twenty two
until very within
"""
IDLE = frozenset(_IDLE.split())
_FIGURE = re.compile(r"\d")
_WORD = re.compile(r"[a-z]+")
# Names of groups, and what a backslash stands before.
_NO_WORDS = re.compile(r"\(\?P[<=]\w+[>)]|\\.")


def _stems(text: str) -> set[str]:
    """The words but for what they end on: forms take one more s, or one less."""
    return {word.rstrip("s") for word in _WORD.findall(text.casefold())}


_TIMELY = frozenset(
    word
    for pattern in vars(time_patterns).values()
    if isinstance(pattern, re.Pattern)
    for word in _stems(_NO_WORDS.sub(" ", pattern.pattern))
) - frozenset(word.rstrip("s") for word in IDLE)


def may_name_time(text: str) -> bool:
    """False only where no form of a time is in the text."""
    return bool(_FIGURE.search(text)) or not _TIMELY.isdisjoint(_stems(text))
