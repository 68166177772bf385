"""What is meant in a sentence of which another part is not: one clause quotes, another tells."""

from __future__ import annotations

import re

from .acts import Act, act_of
from .clauses import opens_clause
from .words import words_of

_JOINT = re.compile(
    r"(?:,\s(?P<word>and|but|so|while|though)\s|(?P<mark>;\s|\s[–—-]\s))", re.IGNORECASE
)
_LEANING = frozenset({"it", "that", "this", "they", "it's", "that's", "then", "those"})
_UNMEANT = frozenset({Act.QUOTE, Act.GUESS, Act.HYPOTHETICAL, Act.SMALL_TALK})


def meant_clauses(*, text: str, act: Act) -> list[str]:
    """The clauses that state something in a sentence that as a whole (`act`) does not.

    What follows a supposition belongs to it, unless a "but" or a semicolon stands between.
    """
    if act not in _UNMEANT:
        return []
    kept: list[str] = []
    start, joint, unmeant = 0, "", False
    for match in [*_JOINT.finditer(text), None]:
        piece = text[start : match.start() if match else len(text)].strip(" ,;")
        free = not unmeant or act is Act.QUOTE or joint in {"but", ";"}
        states = opens_clause(text=piece) and act_of(text=piece, chat=False) is Act.STATEMENT
        if states and free and words_of(piece)[0] not in _LEANING and len(words_of(piece)) > 3:
            kept.append(piece)
        unmeant = unmeant or not states
        if match:
            start, joint = match.end(), (match.group("word") or ";").lower()
    return kept if len(kept) < len(text) and start else []
