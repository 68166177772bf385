"""Pronouns that stand for somebody or something named before, and what their verbs become."""

from __future__ import annotations

import re

from .verbs import agree

PRONOUN_SUBJECT = re.compile(
    r"(?P<lead>^(?:and\s|but\s|so\s|also\s|(?:on|in|at|by|since|until)\s[^,]{2,40},\s)?|"
    r"(?:\s(?:when|because|that|since|if|while|and|but|so|before|after|until)\s))"
    r"(?P<pro>she|he|they|it|its|his|her|their)(?P<clitic>['’](?:s|re|ve|ll|d))?\b",
    re.IGNORECASE,
)
EXPLETIVE = re.compile(
    r"^\s?(?:(?:is|was|['’]s|will\sbe)\s(?:not\s|really\s|so\s|very\s|too\s|"
    r"always\s)?(?:important|worth|time|"
    r"hard|easy|nice|good|great|better|best|fine|ok|raining|true|possible|clear|about|like|all|"
    r"been|"
    r"fun|amazing|awesome|late|early|cold|hot|warm|wonderful|lovely|because|what|just)\b|"
    # "It is my brother who lives in Oslo" means the brother, and no thing named before.
    r"(?:is|was|['’]s)\s(?:[\w’'&-]+\s){1,5}who(?:se|m)?\b|seems|"
    r"takes|took|"
    r"turns\sout|looks|makes|helps|feels|depends|would|might|could)",
    re.IGNORECASE,
)
WHOM = re.compile(
    r"\bhim\b(?!['’])|\bher(?=\W*$|\s(?:on|at|in|for|from|until|by|to|and|because|since|next|this|tomorrow)\b)"
)


def agree_first(rest: str) -> str:
    """What follows a subject that was several and is one now: " want tea" gives " wants tea"."""
    match = re.match(
        r"(\s(?:(?:always|never|also|only|still|already|just|really)\s)?)([\w’']+)", rest
    )
    if match is None:
        return rest
    return match.group(1) + agree(word=match.group(2)) + rest[match.end() :]
