"""Ways of doing something: rules of action, and steps in their order."""

from __future__ import annotations

import re

from ..language.syntax import has_verb, is_imperative
from ..language.words import ADVERBS, PREPOSITIONS, STOPWORDS

_PROCEDURE = re.compile(
    r"^(?:here['’]s\s|this\sis\s)?how\s(?:we|i|you|to|our)\b|^(?:i|we|you)\s(?:always\s)?[a-z]+\s(?:[\w-]+\s){0,3}like\s(?:this|so):\s|"
    r"^for\s[a-z][^,:]{2,40}[,:]\s(?=[a-z]+\s(?:the|a|an|it|all|your|our|[\w-]+_\w+|[A-Z]\w+)\s)|"
    r"^(?:the\s)?(?:way|trick|fix|"
    r"workaround|recipe|remedy|procedure|routine|steps?|"
    r"process)\s(?:to|for|is|when|if|we|i|that)\b|\b(?:first|start\sby)\b.{1,120}\b(?:then|next|"
    r"after\sthat|finally)\b"
    r"|^before\s(?:each\s|every\s|any\s|a\s|the\s)?[a-z-]+(?:\s[a-z-]+)?,?\s(?:i|we)\s(?:always\s|first\s)?"
    r"(?:run|check|test|verify|scan|weigh|rinse|print|proofread|back\sup|compare|measure|clean)\s"
    r"|^to\s[a-z]+\b[^,]{3,90},\s(?:first\s|always\s|you\s(?:have\sto|must|need\sto|should)\s|"
    r"just\s|we\s|i\s)?[a-z]+\b"
    r"|^(?:whenever|every\stime|each\stime|when|if|once|as\ssoon\sas|before|after|"
    r"in\scase)\s[^,:]{4,140}[,:]\s(?:then\s|please\s)?"
    r"(?:always|never|first|don['’]t|do\snot|just|you\s|(?:we|i)\s(?:always|first|never|have\sto|"
    r"must|need\sto|run|use|restart|"
    r"check|call|ask|send|wait|do|take|put|turn|switch|open|close|add|make|let|go)|[a-z]+\s(?:the|"
    r"it|a|an|all|them|that|its|on|off|"
    r"for|with|to|out|again|no|any|your|our|my|[\w-]+-[\w-]+|[A-Z])\b|[a-z]+\s(?:\w+\s)?(?:before|"
    r"first|and|then)\b)"
    r"|\b(?:check|run|restart|call|ask|use|do|open|try|clear|test|verify|"
    r"wait)\b[^,;]{2,80}\b(?:whenever|every\stime|each\stime|first\swhen|first\sif|"
    r"(?:before|after)\s(?:every|each|any)|before\s(?:you|"
    r"anything|we|doing))\b"
    r"|[:,]\s[a-z]+\s[^,]{2,60},\s[^,]{2,60},?\s(?:and\s)?(?:only\s)?then\s",
    re.IGNORECASE,
)
_CONDITION_HEAD = re.compile(
    r"^(?:whenever|every\stime|each\stime|when|if|once|as\ssoon\sas|before|after|in\scase|"
    r"to)\s[^,:]{3,140}[,:]\s(?:then\s)?",
    re.IGNORECASE,
)
_PROCEDURE_HEAD = re.compile(r"(?:how|whenever|every\stime|each\stime|to)\b", re.IGNORECASE)
_WHENEVER = re.compile(r"(?:whenever|every\stime|each\stime|any\stime)\b", re.IGNORECASE)
_FOR_ME = re.compile(r"\b(?:for|to|with)\sme\b", re.IGNORECASE)
_STEP = re.compile(r"[,;]\s(?:and\s)?(?:only\s)?(?:then\s)?|\sand\s(?:only\s)?then\s|\sand\s")
_VERB_OBJECT = re.compile(r"([a-z]{3,})\s(?:the|it|its|a|an|all|them|your|our|any)\s?\b")
_NO_VERB = STOPWORDS | PREPOSITIONS | ADVERBS
_ORDER = re.compile(
    r"\b(?:then|first|finally|afterwards|last|after\sthat|in\sthat\sorder)\b", re.IGNORECASE
)


def is_procedure(*, clause: str, past: bool) -> bool:
    """Whether a clause tells how something is done: a rule of action, or steps in their order."""
    rule = _CONDITION_HEAD.match(clause)
    if rule and (_WHENEVER.match(clause) or is_imperative(text=clause[rule.end() :])):
        return not _FOR_ME.search(clause)
    if past and not _PROCEDURE_HEAD.match(clause):
        return False
    if _PROCEDURE.search(clause):
        return has_verb(text=clause) or steps_in(text=clause) > 0
    return steps_in(text=clause) > (1 if _ORDER.search(clause) else 2)


def steps_in(*, text: str) -> int:
    """How many parts of a list begin with a bare verb ("pull the plug, wait, start it again")."""
    body = text.split(": ", 1)[-1]
    return sum(is_imperative(text=part) or _acts(part) for part in _STEP.split(body))


def _acts(part: str) -> bool:
    """Whether a part has the shape of a command with a verb that no list knows."""
    match = _VERB_OBJECT.match(part)
    word = match.group(1) if match else ""
    return bool(word) and word not in _NO_VERB and not word.endswith(("s", "ed", "ing"))
