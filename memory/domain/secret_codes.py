"""Secrets that are several words or figures: pass and seed phrases, lists of backup codes, what
opens a lock."""

from __future__ import annotations

import re

from .account_numbers import MASK

_MAY_NAME_ONE = re.compile(
    r"phrase|mnemonic|\swords|code|key|combination|combo|\bpin\b|unlock|wallet", re.IGNORECASE
)
_PHRASE = re.compile(
    r"(\b(?:passphrase|(?:seed|recovery|secret|backup|wallet|mnemonic)\s(?:phrase|words)|mnemonic)"
    r"(?:\s(?:for|of|to)\s(?:\S{1,30}\s?){1,3}?)?(?:\s(?:is|are):?\s|\s?[:=]\s{0,3}|\s[-–—]\s))"
    r"((?:[a-z]{2,12}[ ,\n]{1,2}){2,24}[a-z]{2,12})",
    re.IGNORECASE,
)
_ONE_CODE = r"(?:(?=[A-Z-]{0,24}\d)[A-Z0-9]{2,20}(?:-[A-Z0-9]{2,20}){0,7}|[A-Z]{4,6}-[A-Z]{4,6}\b)"
_CODES = re.compile(
    r"\b(?:backup|recovery|2fa|mfa|scratch|emergency|one[\s-]time|verification)[\s-]"
    r"(?:(?:backup|login|recovery)\s)?(?:codes?|keys?)\b(?:\s(?:for|of|to)\s(?:\S{1,30}\s?){1,3}?)?"
    r"(?:\s(?:is|are):?\s|\s?[:=]\s{0,3}|\s-\s|\s)"
    rf"(?P<list>(?:(?:\d{{1,2}}[.)]\s|[-*]\s)?{_ONE_CODE}(?:[\s,;/|]{{1,3}}(?:and\s)?|(?![\w-]))){{1,24}})",
    re.IGNORECASE,
)
# What opens a lock: "the alarm code is 2580", "passcode for the door 7731#", "PIN 48 21".
_LOCK = r"(?:alarm|safe|vault|lock|lock-?box|padlock|locker|key\s?(?:box|safe))"
_OPENS = re.compile(
    rf"(\b(?:{_LOCK}(?:['’]s)?\s(?:code|combination|combo)"
    rf"|(?:code|combination|combo)\s(?:to|for|of|on)\s(?:the|my|our|his|her|their)\s(?:[\w-]+\s)?{_LOCK}"
    r"|(?:unlock|passcode|pin)(?:[\s-]?(?:code|number))?(?:\s(?:to|for|of|on)(?:\s[\w’'-]+){1,4}?)?"
    r"|(?:phone|tablet|laptop|computer|screen|ipad|iphone)\sunlocks\swith)"
    r"(?:['’]s|\s(?:is|was)(?:\snow)?|\sto)?[\s:=-]{1,3})"
    r"[*#]?\d{1,8}(?:[ .-]\d{1,4}){0,6}[*#]?"
    r"(?![\w%€$£-]|[.,:]\d|\s(?:of|char|digit|figure|letter|attempt|time|tries))",
    re.IGNORECASE,
)
_PIN = re.compile(r"pin|passcode|unlock", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{3,200}")
# What a passphrase does not begin with, and where it ends.
_NO_PHRASE = frozenset(
    {"a", "and", "at", "but", "by", "for", "from", "in", "is", "it", "my", "never", "not", "of"}
    | {"on", "or", "our", "please", "so", "the", "to", "which"}
)


def mask_codes(*, text: str) -> str:
    """The text without pass and seed phrases, backup codes and the codes of locks."""
    if not _MAY_NAME_ONE.search(text):
        return text
    text = _PHRASE.sub(_without_phrase, text)
    text = _CODES.sub(_without_codes, text)
    return _OPENS.sub(_without_figures, text)


def _without_phrase(match: re.Match[str]) -> str:
    words = re.split(r"([ ,\n]{1,2})", match[2])
    end = next((at for at, word in enumerate(words) if word.lower() in _NO_PHRASE), len(words))
    if end < 5:  # Three words with what is between them.
        return match[0]
    return match[1] + MASK + "".join(words[end - 1 :] if end < len(words) else [])


def _without_figures(match: re.Match[str]) -> str:
    figures = sum(char.isdigit() for char in match[0][len(match[1]) :])
    least = 4 if _PIN.match(match[0]) else 3
    return match[1] + MASK if least <= figures <= 12 else match[0]


def _without_codes(match: re.Match[str]) -> str:
    at = match.start("list") - match.start()
    return match[0][:at] + _CODE.sub(MASK, match["list"])
