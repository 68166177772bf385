"""What is meant in a sentence of which another part is not: one clause quotes, another tells."""

from __future__ import annotations

import re

from .clauses import opens_clause
from .language.words import words_of
from .meant.acts import Act, act_of

_JOINT = re.compile(
    r"(?:,\s(?P<word>and|but|so|while|though|because|otherwise)\s|\s(?P<but>but)\s(?=(?:i|we|my|he|she|they)\b)|(?P<mark>;\s|\s[–—-]\s)|(?P<comma>,\s))",
    re.IGNORECASE,
)
_LEANING = frozenset({"it", "that", "this", "they", "it's", "that's", "then", "those", "which"})
_UNMEANT = frozenset({Act.QUOTE, Act.GUESS, Act.HYPOTHETICAL, Act.SMALL_TALK})
_CONDITION = re.compile(
    r"\b(?:if|unless|suppose|imagine|assuming|what\sif|say|for\s(?:example|instance))\b",
    re.IGNORECASE,
)


def meant_clauses(*, text: str, act: Act) -> list[str]:
    """The clauses that state something in a sentence that as a whole (`act`) does not.

    What follows a supposition belongs to it, unless a "but" or a semicolon stands between; a guess
    or a wish without a condition ends at the comma before the next subject.
    """
    if act not in _UNMEANT:
        return []
    supposes = act is Act.QUOTE or bool(_CONDITION.search(text))
    kept: list[str] = []
    unmeant = False
    pieces = _pieces(text, by_commas=not supposes)
    for joint, piece in pieces:
        free = not unmeant or act is Act.QUOTE or joint in {"but", ";", ","}
        states = opens_clause(text=piece) and act_of(text=piece, chat=False) is Act.STATEMENT
        words = words_of(piece)
        enough = len(words) > 3 or (joint == "but" and len(words) > 1)
        if states and free and words[0] not in _LEANING and enough:
            kept.append(piece)
        unmeant = unmeant or not states
    return kept if len(pieces) > 1 else []


def _pieces(text: str, *, by_commas: bool) -> list[tuple[str, str]]:
    """The parts of a sentence, each with the joint before it: a conjunction, ";" or ","."""
    found: list[tuple[str, str]] = []
    start, joint = 0, ""
    for match in _JOINT.finditer(text):
        if match.group("comma") and not (by_commas and opens_clause(text=text[match.end() :])):
            continue
        found.append((joint, text[start : match.start()].strip(" ,;")))
        start = match.end()
        word = match.group("word") or match.group("but") or match.group("comma")
        joint = (word or ";").lower().strip()
    return [*found, (joint, text[start:].strip(" ,;"))]
