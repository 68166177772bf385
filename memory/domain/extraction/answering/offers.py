"""What the agent offers to do or to note, and how its words are said by the user."""

from __future__ import annotations

import re

from ..language.leads import strip_lead

_FLIP = {
    "you": "I", "your": "my", "yours": "mine", "i": "you", "my": "your", "me": "you",
    "are you": "am I", "were you": "was I", "our": "our", "yourself": "myself",
}  # fmt: skip
_PERSON = re.compile(r"\b(are you|were you|yourself|yours|your|you|my|me|I)\b", re.IGNORECASE)
TELL_ME = re.compile(
    r"^(?:(?:could|can|would|will)\syou\s(?:please\s|just\s)?(?:tell|give|send|remind)\sme|"
    r"may\si\s(?:have|ask(?:\sfor)?|know)|"
    r"could\si\s(?:have|get))\s(?P<np>(?:your|the)\s[^,?]{3,50})$",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"^(?:shall|should|may|can|could|do\syou\swant\sme|would\syou\slike\sme|want\sme)\b",
    re.IGNORECASE,
)


def flipped(*, text: str) -> str:
    """What is asked of "you", in the answerer's voice: "do you paint" is "do I paint"."""
    return _PERSON.sub(lambda match: _FLIP.get(match.group().lower(), match.group()), text)


def is_offer(*, question: str) -> bool:
    """Whether the assistant only asks for leave to do something ("Shall I open a ticket?")."""
    bare = strip_lead(text=question)
    if TELL_ME.match(bare.rstrip("?! ")):
        return False
    return bool(_OFFER.match(bare)) and bool(re.search(r"\b(?:i|we|me)\b", bare, re.IGNORECASE))


_OFFERS_TO_NOTE = re.compile(
    r"(?:^|[.,]\s)(?:(?:shall|should|may|can|could)\si|(?:do\syou\swant|would\syou\slike)\sme\sto)\s(?:just\s|also\s)?"
    r"(?:note|remember|save|record|store|write\sdown|jot\sdown|keep\sin\smind|make\sa\snote)(?:\sdown)?\s"
    r"that\s(?P<what>[^?]{6,})\?$",
    re.IGNORECASE,
)


def noted(*, question: str) -> str:
    """What the agent offers to note, "Shall I note that you paint?", in the user's voice, or ""."""
    offer = _OFFERS_TO_NOTE.search(question)
    return flipped(text=offer.group("what").strip()) if offer else ""
