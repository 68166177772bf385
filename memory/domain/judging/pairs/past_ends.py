"""What is told to have ended: "worked there until 2023"."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.tables import words
from ..reading.tokens import stem
from ..reading.verbs import PASTS, is_past_form

_GRANTING = frozenset(
    stem(verb)
    for verb in words(
        "give grant allow extend prolong renew postpone defer delay book reserve rent lease hire "
        "suspend ban block close adjourn pause"
    )
)
_BEFORE_NOUNS = words("a an the another this that its new second")


def ended_then(reading: Reading) -> str:
    """ "worked at X until 2023": the word of a past tense with an end, or ""."""
    lowers = [token.lower for token in reading.tokens]
    if lowers[:1] == ["before"] and (
        {"was", "were", "had"} & set(lowers) or is_past_form(reading.verb)
    ):
        return reading.tokens[0].text
    for i, token in enumerate(reading.tokens):
        last = token.lower == "before" and i + 1 >= len(reading.tokens) - 1
        noun = token.lower == "till" and reading.tokens[i - 1].lower in _BEFORE_NOUNS
        if (token.lower in {"until", "till"} and i != 1 and not noun) or last:
            verb = reading.tokens[min(reading.head, len(reading.tokens) - 1)].lower
            if token.lower != "before" and _lasts_on(reading, i):
                continue
            if verb.endswith("ed") or verb in PASTS or verb in {"was", "were", "had"}:
                return token.lower
    return ""


def _lasts_on(reading: Reading, until: int) -> bool:
    """ "Gave them until 15 June": what was granted lasts till then, unless that is long ago."""
    after = reading.tokens[until + 1].lower if until + 1 < len(reading.tokens) else ""
    ago = after == "last" or (len(after) == 4 and after.isdecimal())
    return reading.tokens[reading.verb_at].stem in _GRANTING and not ago
