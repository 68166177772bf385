"""Forms of verbs: what can be a past tense or a past participle."""

from __future__ import annotations

from .tables import table_lines, words
from .tokens import IRREGULAR

PASTS = frozenset(form for line in table_lines("pasts") for form in line.split())
_NOT_PAST = words(
    "is are am was were be has have had do does did data men women people feet teeth wives lives "
    "read 's 're 'm 've mail mails email emails hrs mins secs hr min sec us good better best "
    "these those children less need media feed speed indeed proceed exceed succeed seed weed "
    "breed red bed shed hundred"
)


def is_past_form(word: str) -> bool:
    """Whether a folded word can be a past tense or a past participle."""
    if word in PASTS or word == "left":
        return True
    if word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST:
        return True
    base = IRREGULAR.get(word, word)
    return base != word and word not in _NOT_PAST and not word.endswith(("s", "ing"))
