"""Role-play: what is said in a play is true in the play alone, until it ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

_PLAY = (
    r"(?:role-?\s?play\w*|mock\s(?:interview|trial|exam|negotiation|debate|call)"
    r"|improv\b|make-believe|text\sadventure|dungeons|d&d)"
)
_BEGINS = re.compile(
    rf"^(?:[\w’']+[,!]?\s){{0,3}}?(?:let['’]?s|(?:can|could|would|will)\syou|can\swe|could\swe|shall\swe|(?:i['’]d\slike|i\swant|wanna|want)\sto|please|now|we)\s"
    rf"(?:[\w-]+\s){{0,4}}?(?:{_PLAY}|act\sout|pretend\s(?:to\sbe|we|that\swe|you)|play\s(?:a|another|the|some)\s(?:[\w-]+\s){{0,2}}?(?:scene|game(?!\sof)))"
    rf"|^(?:(?:ok|okay|so|now|please|time\sfor\sa)[\s,]+){{0,2}}(?:(?:start|begin|do|run)\s(?:an?|the|our)\s)?(?:new\s)?{_PLAY}"
    r"|\b(?:(?:let['’]?s|help\sme|i\s(?:want|need)\sto|we)\s)practi[sc]e\s(?:an?|the|my|some)\s(?:[\w-]+\s){0,2}(?:dialogue|conversation|interview|call|talk|scene)\b"
    r"|\byou(?:['’]re|\sare|\splay|['’]ll\sbe|\swill\sbe|\sbe)\s(?:an?|the|my|(?-i:[A-Z]))(?!\w*\s(?:best|only|favou?rite|assistant|friend|star|angel|genius|legend|gem|hero|lifesaver|saint|champ)\b)"
    r"[^.?!]{2,60}?(?:,|\sand|;)\s(?:and\s)?(?:i['’]?m|i\sam|i['’]ll\sbe|i\swill\sbe|i\splay|i\sbe)\s(?:an?\b|the\b|your\b|(?-i:[A-Z]))"
    r"|\b(?:i['’]ll|i\swill|let\sme)\s(?:be|play)\s(?:an?\s|the\s|your\s|(?-i:[A-Z]))[^.?!]{2,40}?(?:,|\sand|;)\s(?:and\s)?you(?:['’]re|['’]ll|\sare|\swill|\sbe|\splay)\b"
    r"|^(?:(?:please|ok|now|so|can\syou|could\syou)[\s,]+){0,2}(?:pretend|imagine|act\sas\s(?:if|though))\s(?:(?:that\s)?you(?:['’]re|\sare|\swere)|to\sbe)\smy\b"
    r"|\bin\s(?:this|our)\s(?:game|scenario|campaign|adventure|play|scene),?\s(?:i|my|we|you)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\b(?:end|stop|quit|finish|leave|pause|exit|drop|done\swith|enough)\b[^.?!]{0,20}\b(?:role-?\s?play\w*|games?|play(?:ing)?|acting|"
    r"scene|character|pretending|interview|practice|adventure)\b"
    r"|\b(?:role-?play|game|scene|interview|practice)(?:['’]s|\sis)?\s(?:over|done|finished)\b|\bgame\sover\b"
    r"|\bback\sto\s(?:reality|real\slife|normal|business)\b|^the\send\b|^scene[.!]*$"
    r"|\b(?:that\swas|thanks\sfor\sthe|thank\syou\sfor\sthe)\s(?:\w+\s)?(?:fun|role-?\s?play|practice|game|scene|interview)\b",
    re.IGNORECASE,
)
_IN_TRUTH = re.compile(
    r"\b(?:out\sof\scharacter|ooc|in\sreal\slife|irl|for\sreal|in\sreality|the\sreal\sme|seriously\snow)\b",
    re.IGNORECASE,
)
# Nobody plays on after such a break without saying so.
_PAUSE = timedelta(hours=6)


class Plays:
    """Follows the user's messages of one conversation and tells what is said outside a play."""

    def __init__(self) -> None:
        self._is_on = False
        self._heard_at: datetime | None = None

    def own(self, *, sentences: Sequence[str], at: datetime) -> list[str]:
        """The sentences of one message that are no part of a play."""
        if self._is_on and self._heard_at and at - self._heard_at > _PAUSE:
            self._is_on = False
        self._heard_at = at
        own: list[str] = []
        for sentence in sentences:
            if not self._is_on:
                self._is_on = bool(_BEGINS.search(sentence))
                if not self._is_on:
                    own.append(sentence)
            elif _IN_TRUTH.search(sentence):
                self._is_on = False
                own.append(sentence)
            elif _ENDS.search(sentence):
                self._is_on = False
        return own
