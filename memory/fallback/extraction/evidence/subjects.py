"""Who or what a statement is about: the speaker, others, a thing, or what is asked for."""

from __future__ import annotations

import re

from ..grammar import DETERMINERS, has_verb
from .seen import Seen

_SUBJECTS = (
    ("I", re.compile(r"(?:i|i'm|i've|i'll|i'd)\b")),
    ("my", re.compile(r"my\b")),
    ("we", re.compile(r"(?:we|we're|we've|we'll|we'd|our)\b")),
    ("it", re.compile(r"(?:it|it's|that|that's|this|these|those|they|they're|there|there's)\b")),
    ("he or she", re.compile(r"(?:he|she|he's|she's|his|her)\b")),
    ("you", re.compile(r"(?:you|you're|your)\b")),
)
_LASTING = re.compile(
    r"\b(?:always|never|from now on|every|whenever|in future|instead|only|don't|all|any)\b"
)
_OWN = re.compile(r"\b(?:me|my|i)\b")


def subject_of(seen: Seen) -> str:
    """The class of what the clause begins with."""
    if seen.request is not None:
        return "request"
    for name, pattern in _SUBJECTS:
        if pattern.match(seen.low):
            return name
    if seen.words and seen.words[0] in DETERMINERS:
        return "the thing"
    return "named thing" if has_verb(seen.clause) else "none"


def subjects(seen: Seen) -> set[str]:
    """Features of the subject, also together with tense and cues."""
    if not seen.statement.is_persons:
        return set()
    subject = subject_of(seen)
    found = {f"about {subject}", f"about {subject} {seen.tense}"}
    found |= {f"about {subject} with {cue}" for cue in seen.cues}
    if seen.is_dated:
        found.add(f"about {subject} dated")
    if subject == "it":
        found.add("points " + ("back" if seen.statement.leans else "to a name"))
    request = seen.request
    if request is not None:
        found.add("request " + ("lasting" if _LASTING.search(seen.low) else "once"))
        found.add("request " + ("for oneself" if _OWN.search(seen.low) else "for things"))
        if request.manner:
            found.add("request " + request.manner)
    return found
