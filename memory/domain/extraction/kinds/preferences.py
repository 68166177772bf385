"""Likes, dislikes and standing wishes, strong and mild."""

from __future__ import annotations

import re

from ...types import MemoryType
from .labels import Label

_STRONG = re.compile(
    r"\bi\s(?:really\s|absolutely\s|simply\s|just\s|strongly\s|much\s|do\s|still\s|"
    r"also\s)*(?:always|never|prefer|hate|love|adore|"
    r"insist|detest|loathe|despise|refuse|dislike|can['’]?t\sstand|cannot\sstand|can['’]t\sbear|"
    r"only\s(?:ever\s)?(?:use|want|eat|drink|fly|work|buy|"
    r"read|take|travel|accept))\b|\bone\sthing\si\s(?:hate|love|can['’]t)\b|\bmy\s(?:absolute\s|"
    r"all-time\s)?favou?rite\b"
    r"|\bi(?:['’]d|\swould)\s(?:much\s|far\s)?(?:rather|prefer|sooner)\b|\b(?:don['’]t|do\snot|never|"
    r"please\salways|always|stop)\s"
    r"(?:ever\s|please\s)?(?:\w+\s){0,2}(?:phone|call|send|give|use|write|email|e-mail|text|ask|"
    r"show|schedule|book|suggest|put|add|"
    r"start|answer|reply|address|wake|disturb|ping|message|contact|assume|include|skip|explain|"
    r"remind|plan|propose)\w*\b"
    r"|\b(?:i\s)?(?:don['’]t|do\snot)\swant\b|\bis\s(?:best|the\sbest\sway\sto\sreach)\b|"
    r"\b(?:drives|driving)\sme\s(?:mad|crazy|nuts)\b"
    r"|\bmy\spet\speeve\b|\bmy\s[\w\s]{0,30}preferences?\b|\bi(?:['’]m|\sam)\s(?:not\sa\sfan|"
    r"allergic\sto\s(?:meetings))|\bi\swant\s(?:all|every|my|no|only|you\sto\salways)\b",
    re.IGNORECASE,
)
_MILD = re.compile(
    r"\b(?:i|we)\s(?:(?:kind\sof|kinda|sort\sof|rather|quite|really|also|slightly|do|mostly|"
    r"usually|generally|tend\sto|actually)\s)*"
    r"(?:like|enjoy|prefer|love|dislike|find|fancy|tend)\b|\bi\s(?:don['’]t|do\snot)\s(?:really\s|"
    r"much\s)?(?:like|mind|enjoy|care\sfor)\b"
    r"|\bi(?:['’]m|\sam)\s(?:quite\s|rather\s|a\sbit\s|really\s|not\s)?(?:fond\sof|partial\sto|"
    r"keen\son|into|a\s(?:big\s|huge\s)?fan)\b"
    r"|\bi\sthink\s|\bin\smy\sopinion\b|\bimho\b|\b(?:nicer|better|prettier|"
    r"more\scomfortable)\sthan\b|\bi\swouldn['’]t\smind\b"
    r"|\b(?:is|are)\s(?:\w+\s)?(?:disgusting|delicious|horrible|gross|yummy|tasty|my\sthing|"
    r"not\smy\sthing|ugly|gorgeous)\b|\bi\seat\b|\bi\s(?:usually|often|normally|sometimes)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:kind\sof|kinda|sort\sof|a\s(?:little|bit)|slightly|(?<![’'d]d\s)(?<!would\s)rather|"
    r"mildly|somewhat|if\sanything|not\sthat\sit\smatters|no\sstrong)\b(?!\snot)",
    re.IGNORECASE,
)


def preference_label(*, clause: str, request: bool) -> Label | None:
    """How a preference is filed: strong 8, mild 4 (seed 000), a "we always" as convention 6."""
    if _STRONG.search(clause) or request:
        if _HEDGE.search(clause) and not request:
            return Label(MemoryType.SEMANTIC, 4, "preferences", "preference", confidence=0.75)
        if re.search(r"\bwe\s(?:always|never)\b", clause, re.IGNORECASE):
            return Label(MemoryType.SEMANTIC, 6, "convention", "convention", confidence=0.8)
        return Label(MemoryType.SEMANTIC, 8, "preferences", "preference", confidence=0.85)
    if _MILD.search(clause):
        return Label(MemoryType.SEMANTIC, 4, "preferences", "preference", confidence=0.75)
    return None
