"""The words of a statement themselves, where the labelled talk holds them often enough."""

from __future__ import annotations

from ..grammar import tokens_of
from .seen import Seen


def words(seen: Seen) -> set[str]:
    """A feature for each word that a person used."""
    if not seen.statement.is_persons:
        return set()
    return {f"word {token.lower}" for token in tokens_of(seen.clause) if token.is_word}
