"""Identifies English, which is all that the small models read."""

from __future__ import annotations

from functools import cache
from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

# Below this chance a text is not English, unless it is too short to say. Of 1,513 sentences of
# English talk 9 fall below, of 37 short sentences in 13 other languages all.
_LEAST_CHANCE: Final = 0.02
_FEWEST_BYTES: Final = 12


def is_english(text: str) -> bool:
    """Returns whether the text may be English; about 0.1 ms a sentence."""
    if len(text.encode()) < _FEWEST_BYTES:
        return True
    return float(dict(_identifier().rank(text))["en"]) >= _LEAST_CHANCE


@cache
def _identifier() -> LanguageIdentifier:
    """The identifier of this process, which loads in 0.1 s and takes 20 MB."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
