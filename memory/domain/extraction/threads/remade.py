"""What is named and given another value: "make the freeze the 22nd", "scratch Rome: it's Pisa"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..language.words import MONTHS, NUMBER_WORDS, WEEKDAYS, words_of
from .right_spots import put_right
from .splices import stems

_LEAD = (
    r"(?:(?:oh|no|ok|okay|so|then|and|hmm*|wait|sorry|actually|please|let['’]s|ah|but)[\s,.!–—-]+)*"
)
_MAKE = re.compile(
    rf"{_LEAD}make\s(?:the\s|our\s|my\s)?(?P<noun>[a-z-]+)\s(?P<value>(?:(?:on|at|for)\s)?(?:the\s)?[\w:.]+(?:\s[\w:]+){{0,2}}?)"
    r"(?:,?\s(?:instead|then|please|now))*[.!]*",
    re.IGNORECASE,
)
_SCRATCH = re.compile(
    rf"{_LEAD}(?:scratch|strike|drop|forget|scrap)\s(?:the\s)?(?P<old>(?!that\b|it\b|this\b|what\b)[\w-]+)(?:,\s[^:;]{{2,60}}?)?\s?[:;,–—-]\s?"
    r"(?:it['’]s|it\sis|that['’]s|make\sit|I\smean(?:t)?)\s(?P<value>[^,;:.!?]{2,40})[.!]*",
    re.IGNORECASE,
)
_ITEM = r"[A-ZÀ-Þ][\w-]+"
_JOINT = r"(?:,\sand\s|,\s|\sand\s|\sor\s)"
_WHEN = {*MONTHS, *WEEKDAYS, *NUMBER_WORDS, "noon", "midnight"}


@dataclass(frozen=True, slots=True)
class Remade:
    """A value for what a noun names, or for `old`, which no longer holds."""

    value: str
    noun: str = ""
    old: str = ""

    def told_in(self, *, text: str) -> str:
        """The text with the value in it; "" where it does not speak of what is named."""
        if self.noun:
            named = self.noun.rstrip("s") in stems(text)
            return put_right(text=text, value=self.value, is_sure=False) if named else ""
        old = re.escape(self.old)
        listed = rf"(?:{_ITEM}{_JOINT})*\b{old}\b(?:{_JOINT}{_ITEM})*"
        pattern = listed if " and " in self.value else rf"\b{old}\b"
        spot = re.search(pattern, text)
        return text[: spot.start()] + self.value + text[spot.end() :] if spot else ""


def remade(*, text: str) -> Remade | None:
    """What a sentence gives another value, or None where it does nothing of the kind."""
    scratched = _SCRATCH.fullmatch(text)
    if scratched:
        return Remade(scratched["value"].strip(" .!"), old=scratched["old"])
    made = _MAKE.fullmatch(text)
    if made is None or made["noun"].lower() in {"it", "that", "this", "sure", "a", "me", "us"}:
        return None
    when = any(char.isdigit() for char in made["value"]) or _WHEN & {*words_of(made["value"])}
    return Remade(made["value"].strip(" .!"), noun=made["noun"].lower()) if when else None
