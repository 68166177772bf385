"""The words that put a slip right ("*Hannah", "oops meant 7am") or say that nothing was meant."""

from __future__ import annotations

import re

_HEAD = (
    r"(?:(?:oh|ah|no|ok|so|sorry|oops|whoops|woops|argh|ugh|gah|damn|dang|wait|lol|haha|hehe|hm+|"
    r"well|and|but|nope|nah|actually|my\s(?:bad|mistake))[\s,.!:–—-]+)*"
)
_SORRY = (
    r"(?:[\s,.!–—-]+(?:sorry|oops|whoops|lol|haha|of\scourse|obviously|typo|my\sbad|i\smean(?:t)?|"
    r"ofc))*[.!]*"
)
# "that was a typo, Rouen", "oops meant 7am", "correction 100mg", "no wait, the Plaza"
_CUED = re.compile(
    rf"{_HEAD}(?:(?:(?:that|it)(?:['’]s|\swas|\sis)\s|sorry\sfor\sthe\s|made\s)?(?:an?\s|the\s)?(?:typo|autocorrect|slip(?:\sof\sthe\s\w+)?|misspelling)(?:\sthere|\sabove|\sin\s\w+\s\w+)?|"
    r"(?:i\s)?(?:obviously\s|actually\s|of\scourse\s)?mean(?:t)?(?:\sto\s(?:say|write|type|put))?|correction|(?:wait,?\sno|no,?\swait)|"
    r"fat\sfingers?|edit|o+ps|w+hoops|(?:spelled|spelt)\s(?:it\s)?wrong|wrong\sword|i\smisspelled\s\w+|should\s(?:be|have\sbeen|say|read)|"
    r"(?:just\s)?(?:kidding|joking)|jk|j/k)"
    rf"(?:[\s,.:;!–—-]+(?:(?:it|that|this)(?:['’]s|\sis|\sshould\s(?:be|say|read))|they['’]re|should\sbe|i\smean(?:t)?|actually|really|only|just|make\s(?:it|that))\b)*[\s,.:;!–—-]+(?P<value>[^\s].*?){_SORRY}",
    re.IGNORECASE,
)
_THAT = (
    r"(?:that|it|this|those|what\si\s(?:just\s)?(?:said|wrote|told\syou|typed)|(?:that\s)?i\s(?:ever\s)?(?:said|mentioned|told\syou|wrote)(?:\s(?:that|it|this|anything|so))?|"
    r"(?:my|the|that|this)\s(?:last|previous|above)(?:\s(?:message|one|bit|part|sentence|comment|thing|line|statement))?|(?:that|this)\s(?:last\s)?(?:number|figure|detail|name|address|info|fact|message|bit|part|sentence|one|comment|line))"
)
# "Scratch that, it's May 6", "forget what I said, the tram": what is said instead follows.
_INSTEAD = re.compile(
    rf"{_HEAD}(?:please[\s,]+|just\s)*(?:(?:scratch|strike|forget|ignore|disregard|scrap|drop|undo|delete|cancel|never\s?mind)(?:\sabout)?\s{_THAT}(?:\splease)?"
    r"|i\stake\s(?:that|it)\sback)[\s,.:;!–—-]+(?:(?:it|that|he|she|they)(?:['’](?:s|re)|\s(?:is|are|was|should\sbe))\s|(?:i\smean(?:t)?|actually|make\s(?:it|that)|rather|no)[\s,]+)*"
    r"(?P<value>[^\s].*?)[.!]*",
    re.IGNORECASE,
)
_STARRED = re.compile(
    rf"\s*(?:\*+\s?(?P<a>[^*\s][^*]{{0,60}}?)\*?|(?P<b>[^*\s][^*]{{0,40}}?)\*){_SORRY}", re.I
)
_AFTER = re.compile(
    r"(?P<value>(?:the\s)?[\w.:@’'-]+(?:\s[\w.:@’'-]+){0,3}?)[\s,–—-]+(?:obviously|i\smeant?|of\scourse|ofc|sorry|typo|that\sis|my\sbad)(?:[\s,]+(?:lol|haha|sorry))*[.!]*",
    re.IGNORECASE,
)
ALONE = re.compile(
    rf"{_HEAD}(?:(?:that\swas\s)?(?:an?\s)?typo|oops|whoops|woops|correction|autocorrect|(?:that['’]s\s)?wrong\sword)[.!:]*",
    re.IGNORECASE,
)
_JEST = re.compile(
    r"(?:(?:oh|ah|no|nah|nope|ok|so|lol|haha+|hehe|ha|well|but|not\sreally|of\scourse\snot|obviously|just|only|i(?:['’]m|\swas|\sam)|ok\s(?:fine|no))[\s,.!–—-]+)*"
    r"(?:(?:j/?k|kidding|joking|messing(?:\s(?:with|around|about)(?:\s(?:you|u|ya|with\syou))?)?|(?:pulling|yanking)\s(?:your|ur)\s\w+|teasing(?:\syou)?|having\syou\son|"
    r"winding\syou\sup|got(?:cha|\syou)(?:\sthere|(?=[\s,.!]+april))|april\sfools?(?:\sday)?|psych|sike|(?:not|(?:i['’]m|i\swas)\snot|wasn['’]t)\s(?:being\s|really\s|actually\s)?(?:serious(?:ly)?|true|real)(?!\w)|"
    r"(?:that|it)(?:['’]s|\swas)\s(?:(?:just|only|obviously|totally)\s)?(?:a\s(?:joke|prank|fib)|made\sup|in\sjest)|(?:that|it)\swas\s(?:all\s)?a\slie|"
    r"(?:i\s)?(?:just\s|totally\s|completely\s)?(?:made\s(?:that|it|this)(?:\sall)?\sup|lied(?:\sabout\sthat)?)|none\sof\s(?:that|it|this)\s(?:is|was)\s(?:true|real))(?:[\s,.!–—-]+(?=\w)|(?!\w)))+"
    r"(?:[\s,.!–—-]+(?:lol|haha+|i\swish|you|there|of\scourse|sorry|obviously|again|about\sthat|:\)|😄|😂|😅|😉|🤣))*[\s.!)]*",
    re.IGNORECASE,
)
_UNSAID = re.compile(
    rf"{_HEAD}(?:(?:can|could|would|will)\syou\s)?(?:please[\s,]+|just\s)*(?:(?:delete|remove|erase|drop|forget|ignore|disregard|scratch|strike|scrap|undo|discard|unsend|retract)\s{_THAT}|"
    rf"(?:don['’]t|do\snot|never)\s(?:ever\s)?(?:save|store|remember|record|note|keep|log|memori[sz]e|write\s(?:down\s)?|put\sdown|hold\son\sto)\s{_THAT}(?:\sdown)?)"
    r"(?:[\s,]+(?:please|sorry|thanks|thank\syou|again|from\s(?:your\s)?(?:memory|notes|the\s\w+)|for\sme|ok|okay|lol|haha|anywhere|down|at\sall|in\s(?:your\s)?memory|right\saway|now|it\swas\sa\s\w+|it['’]s\s(?:not\strue|wrong|private|a\slie|embarrassing|confidential)|that\swas\sa\s\w+))*[?.!]*",
    re.IGNORECASE,
)
# What is only there to put something right, so that nothing of it can stand by itself.
_ONLY_RIGHTS = re.compile(
    rf"\s*(?:\*|{_HEAD}(?:(?:that\swas\s)?(?:an?\s)?typo|autocorrect|(?:i\s)?(?:obviously\s)?meant)\b)",
    re.IGNORECASE,
)
AGAIN = re.compile(r"(?:no|nope|wait|sorry)[\s,.!]+(?P<value>[$€£]?\d\S*?)[.!]*", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:(?:lol|haha+|nah|no|ok|wait|actually|hehe|just\skidding)[\s,.!–—-]+)+(?:i|we)\s?(?:['’]m|['’]re|am|are|do|did|have|was|can)?"
    r"\s?(?:not|n['’]t)[\s,.!]*(?:really|lol|haha+|actually|true)?[.!]*",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"\bhere(?:['’]s|\sis|\sare)\b|\bi(?:['’]ve|\shave)?\s(?:just\s|also\s|now\s)?(?:draft|creat|writ|wrote|book|schedul|generat|attach|upload|"
    r"set\sup|put|made|prepar|sent|order|added\s(?:it|that|this|the|a)\b)",
    re.IGNORECASE,
)
_REMOVES = re.compile(
    r"\b(?:delete|remove|erase|drop|undo|discard|scrap|unsend)\s(?:that|it|this|those)\b(?!\s(?:from\s(?:your\s)?(?:memory|notes)|i\b))",
    re.IGNORECASE,
)
_HALT = re.compile(
    rf"{_HEAD}(?:no|wait|oops|scratch\sthat|strike\sthat|i\smean)[.!…]*", re.IGNORECASE
)
_MAX_VALUE = 40


def meant_value(*, text: str) -> str:
    """The value that a sentence puts in the place of what was just said, or ""."""
    found = _STARRED.fullmatch(text)
    value = (found.group("a") or found.group("b")) if found else ""
    if not value:
        after = _AFTER.fullmatch(text)
        cued = _CUED.fullmatch(text)
        value = cued.group("value") if cued else after.group("value") if after else ""
    value = value.strip(" .,!*\"'")
    return value if 0 < len(value) <= _MAX_VALUE and not takes_back(text=value) else ""


def said_instead(*, text: str) -> str:
    """The value that stands behind words that take back what was just said, or ""."""
    found = _INSTEAD.fullmatch(text)
    value = found.group("value").strip(" .,!\"'") if found else ""
    return value if 0 < len(value) <= _MAX_VALUE else ""


def only_rights(*, text: str) -> bool:
    """Whether a sentence is nothing without what it puts right."""
    return bool(_ONLY_RIGHTS.match(text))


def takes_back(*, text: str) -> bool:
    """Whether a sentence only takes back what was just said ("Just kidding.", "No, wait.")."""
    return bool(_JEST.fullmatch(text) or _UNSAID.fullmatch(text) or _HALT.fullmatch(text))


def denied(*, text: str) -> bool:
    """Whether a sentence laughs off what its speaker has just claimed ("lol no I'm not")."""
    return bool(_DENIED.fullmatch(text))


def in_jest(*, text: str) -> bool:
    """Whether a sentence says that what was just said was not meant ("lol jk")."""
    return bool(_JEST.fullmatch(text))


def unsaid(*, text: str, reply: str) -> bool:
    """Whether a sentence asks that what was just said be forgotten ("delete that please").

    `reply` is what the agent said in between: where it made something, "delete that" means this.
    """
    if not _UNSAID.fullmatch(text):
        return False
    return not (_MADE.search(reply) and _REMOVES.search(text))
