"""Irony: what is said in jest, where the words say the opposite of what is meant."""

from __future__ import annotations

import re

from ..clauses import opens_clause
from ..language.tense import is_past

_CHEER = (
    r"(?:great|sure|brilliant|wonderful|fantastic|lovely|perfect|marvell?ous|terrific|super|amazing|"
    r"charming|splendid|awesome|fabulous|delightful|yay|hooray|bravo|congratulations|"
    r"how\s(?:nice|lovely|wonderful|convenient)|just\s(?:great|what|perfect)|oh\s(?:joy|good|great|sure)|"
    r"oh,?\syes|yeah|yes)"
)
_WOE = (
    r"(?:late|again|broken?|broke|breaks?|crash\w*|down|fail\w*|cancel\w*|delay\w*|lost|los(?:e|es|ing)|wait\w*|"
    r"queue\w*|alarm|meetings?|paperwork|forms?|taxes|bugs?|error\w*|outage|leak\w*|flood\w*|rain\w*|"
    r"traffic|stuck|hold|overtime|deadlines?|reboot\w*|update[sd]?|password|cold|sick|flu|emergency|"
    r"hours|3\sa\.?m|at\sthree\sin\sthe\smorning|nobody|nothing|goes\soff|went\soff|ruin\w*|"
    r"destroy\w*|burn\w*|rude|ignored?|charged?|expired?|fine|bill)"
)
# "Oh great, another meeting", "Wonderful, the printer is down again."
_CHEERED_WOE = re.compile(
    rf"^(?:oh|ah|well|and|wow)?[\s,]*{_CHEER}\b[\s,.!:…–—-]+(?:[\w’']+\s){{0,6}}?(?:another|{_WOE})\b",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"^(?:oh|ah|yeah|yes|sure|right|well)?[\s,]*(?:yeah\sright|oh\ssure|sure,\sbecause|as\sif\b|oh\syes,?\sbecause|because\s(?:what|who)"
    r"|of\scourse,?\sbecause|because\sthat['’]s\s(?:exactly|just|totally)|like\s(?:that['’]s|i|we)\s(?:ever|gonna)|"
    r"thanks\sfor\snothing)"
    r"|\b(?:just|exactly|precisely)\swhat\s(?:i|we)\s(?:\w+\s)?(?:needed|wanted|ordered|hoped|dreamt|dreamed)"
    r"|\bwhat\s(?:i|we)\s(?:really|always)\s(?:needed|wanted)\s(?:was|is)\b"
    r"|[.,!]\s(?:not|said\s(?:no\sone|nobody)\sever)[.!]*$|\b(?:doesn['’]t|don['’]t|isn['’]t)\s(?:everybody|everyone|"
    r"it\sobvious)\W*$|\bbest\s[\w\s]{2,30}\sever\b|/s\W*$|\bthe\s(?:queen|king|pope|president)\sof\s"
    r"|\bi\s(?:just\s|absolutely\s|simply\s|so\s)?(?:love|adore|enjoy)\s(?:it\swhen|how|that|waiting|being\s(?:woken|"
    r"ignored|charged|put\son))\b.*\b"
    + _WOE
    + r"\b|^because\s(?:i\sjust\slove|who\sdoesn['’]t|my|our)\b|\bnothing\ssays\s.{2,30}\slike\b|"
    r"\bpigs\s(?:can|might|will)\sfly\b|\b(?:world\s)?champion\sof\s|\bhow\s(?:thoughtful|kind|considerate|generous|convenient)\W*$|"
    r"\bwhat\sa\s(?:treat|surprise|joy|delight|shock)\W*$|\bsends\sits\slove\b|\bfor\sme\W*$(?<=love\sthat\sfor\sme.)|"
    r"\b(?:chose|picked|decided)\s(?:my|our|this|today|the\smiddle)\b.*\bto\s(?:die|crash|break|fail|quit|stop)|"
    r"\bas\salways,\sdear\b|^clearly\sthe\sbest\b|\ba\snew\srecord\b|\bi\slive\sfor\b|\bobviously\W*$|^obviously\si\b|^what\scould\spossibly\b|"
    r"\bwho\s(?:am\si|are\swe)\skidding\b|\bmy\sfavou?rite\sthing\sin\sthe\s(?:world|universe)\b",
    re.IGNORECASE,
)

_LAUGHED = re.compile(
    r"^(?:ha|haha+|hahaha\w*|lol|hehe+)\b|\b(?:ha|haha+|hahaha\w*|lol|hehe+)[\s.!]*$|[😂🤣😄😆😅]\W*$",
    re.IGNORECASE,
)
# What is said with a laugh and is no more than play: "one more win and the league will call".
_PLAYED = re.compile(
    r"\bone\smore\s[^,.;]{3,60}?,?\sand\s.{2,60}?(?:\bwill\b|['’]ll\b|\bgoing\sto\b)"
    r"|\bat\s(?:this|the)\s(?:rate|pace|speed)\b(?=[^.;]*?(?:\b(?:will|won['’]t|might|gonna|soon)\b|['’]ll\b|\bgoing\sto\b))"
    r"|(?:\b(?:will|won['’]t|might|gonna)\b|['’]ll\b|\bgoing\sto\b)[^,;]*\bat\s(?:this|the)\s(?:rate|pace|speed)\b"
    r"|\b(?:she|he|it|they)(?:['’]s|['’]re|\s(?:is|are|was|were))\s(?:\w+\s){0,2}?(?!(?:old|young|tall|short|small|bigg|heavi|earli|lat|long|rath|oth)er\b)(?:\w+er|more\s\w+)\sthan\s(?:me|us|all\sof\sus)"
    r"(?=[\s,.!]*(?:ha|haha\w*|lol|hehe+)?\W*$)|\bin\sall\sbut\s(?:name|title)\b"
    r"|\b(?:cats?|dogs?|pupp(?:y|ies)|kittens?|toddlers?|bab(?:y|ies)|parrots?|hamsters?|goldfish|rabbits?|pets?)\s(?:\w+\s)?"
    r"(?:(?:(?:will\s|would\s)?(?:be\s)?(?:runs?|rules?|owns?|manages?|running|ruling|managing)\s(?:the|this|our|my)\s(?:whole\s|entire\s)?"
    r"(?:house\w*|home|place|flat|family|company|firm|office|show|world|business|kitchen|team|department))|is\sthe\s(?:boss|ceo|king|queen|manager))\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[,;]\s|\s[–—]\s|[.!]\s")
_JOINS = re.compile(r"^(?:and|but|so|because)\s", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


def is_laughed_at(*, text: str) -> bool:
    """Whether a sentence is no more than play, which the laugh before or behind it shows.

    A clause beside the play that tells what happened, or a figure, is no play.
    """
    played = _PLAYED.search(text) if _LAUGHED.search(text) else None
    if played is None:
        return False
    beside = (text[: played.start()].rpartition(",")[0], text[played.end() :].partition(",")[2])
    return not any(_tells(part) for side in beside for part in _PART.split(side))


def _tells(part: str) -> bool:
    told = _JOINS.sub("", part.strip(" .!,"))
    return opens_clause(text=told) and (is_past(text=told) or bool(_DIGIT.search(told)))


def is_ironic(*, text: str) -> bool:
    """Whether a sentence is said in jest: cheer over a nuisance, or words that mark it."""
    return bool(_CHEERED_WOE.search(text) or _MARKED.search(text))
