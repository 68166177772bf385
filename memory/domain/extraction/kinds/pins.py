"""The words with which a user asks that something be kept ("remember this", "don't forget")."""

from __future__ import annotations

import re
from dataclasses import replace

from ..language.words import content_words
from .labels import Label

_REMEMBER = re.compile(
    r"^(?:(?:please|and|also|so|but|oh|just|now|then|do|one\sthing\sto)[\s,]+){0,3}"
    r"(?:remember|don['’]t\s(?:ever\s)?forget|do\snot\sforget|never\sforget|keep\sin\smind|"
    r"bear\sin\smind|make\ssure\s(?:you|to)\s(?:remember|don['’]t\sforget)|memori[sz]e|"
    r"(?:store|save)\s(?=this|that)|for\sfuture\sreference|mark\smy\swords|"
    r"note\sfor\s(?:the\sfuture|ever)|i\s(?:want|need)\syou\sto\sremember|"
    r"you\s(?:must|should)\s(?:always\s)?remember|important\sto\sremember)"
    r"(?:\s(?:this|that|for\s(?:me|the\sfuture|later|next\stime)|please|about\s(?=\w+:))){0,4}"
    r"\s?[:,–—-]?\s*(?:that\s)?",
    re.IGNORECASE,
)
# "Can you remember that my badge is blue?" asks for it too; "can you remember that day?" does not.
_ASKED_POLITELY = re.compile(
    r"^(?:(?:please|and|also|so|but|oh|hey)[\s,]+){0,2}(?:can|could|would|will)\s(?:you|u)\s"
    r"(?:(?:please|kindly|also)\s){0,2}(?:remember|keep\sin\smind|memori[sz]e|make\sa\snote|"
    r"note(?:\sdown)?)(?:\splease)?[:,]?\sthat\s(?=(?:i|we|my|our|the|he|she|they|it)(?:['’]\w+)?\s)",
    re.IGNORECASE,
)
# "Remember to call Bob" is an errand; "remember to always use tabs" is a rule that holds on.
_ERRAND = re.compile(r"to\s(?!(?:always|never|only)\b)", re.IGNORECASE)
_REMEMBER_TAIL = re.compile(
    r"(?:,|\s[–—-]|;)\s(?:so\s)?(?:please\s)?(?:remember|don['’]t\sforget|keep\sin\smind|"
    r"never\sforget|bear\sin\smind|keep\s(?:that|this|it)\sin\smind"
    r"(?:\s(?:for|when|with)\b[^.!]{0,40})?)(?:\s(?:that|this|it))?(?:\splease)?[.!]*$",
    re.IGNORECASE,
)
# "Remember that one" speaks of what was said, "remember this" of what comes.
_POINTS_BACK = re.compile(
    r"\b(?:remember|forget|mind|memori[sz]e|note)\s(?:that|it|those)(?:\sone)?(?=\s?[,.!]|\splease|$)",
    re.IGNORECASE,
)


def split_pin(*, text: str) -> tuple[bool, str]:
    """Whether a sentence asks to be kept, and what is left without the asking.

    Nothing is left of "Remember that!", which speaks of its neighbour.
    """
    polite = _ASKED_POLITELY.match(text)
    if polite:
        return True, text[polite.end() :].rstrip("?!. ") + "."
    match = _REMEMBER.match(text)
    told = match is not None and match.group().rstrip().endswith(":")
    if match and not text.endswith("?") and (told or not _ERRAND.match(text[match.end() :])):
        rest = text[match.end() :].strip()
        rest = rest if told else rest.removeprefix("to ")
        return True, rest if len(content_words(rest)) >= 2 else ""
    tail = _REMEMBER_TAIL.search(text)
    return (True, text[: tail.start()]) if tail else (False, text)


def points_back(*, text: str) -> bool:
    """Whether "remember that one" speaks of what was said before, and not of what comes."""
    return bool(_POINTS_BACK.search(text)) and not text.rstrip().endswith(":")


def pinned_label(label: Label) -> Label:
    """The label of what the user asked to remember: importance 10, pinned (seed 000)."""
    return replace(label, importance=10, pinned=True, confidence=0.95)
