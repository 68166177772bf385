"""What a user takes up of what the agent proposed: "yes, let's do that", "the second one"."""

from __future__ import annotations

import re

_ADOPTS = re.compile(
    r"^(?:(?:yes|yep|yeah|ok|okay|right|good|great|perfect|sure|fine|exactly|hm+|true)[\s,.!–—-]+){0,3}"
    r"(?:let['’]s\s(?:do|go\swith|take|try|have)\s(?:that|it|so|this)|(?:please\s)?do\s(?:that|so|it\sthat\sway)|"
    r"go\s(?:with|for)\s(?:that|it|this)|(?:we|i)['’]ll\s(?:do|take|go\swith)\s(?:that|it|so)|"
    r"that['’]s\s(?:the\splan|settled|decided|a\sdeal|how\swe['’]ll\sdo\sit)|make\sit\sso|"
    r"(?:i['’]ll\stake\s|let['’]s\s(?:do|take|go\swith|go\sfor)\s|we['’]ll\s(?:take|go\swith)\s)?(?:the|option|number)\s"
    r"(?P<which>first|second|third|former|latter|last|one|two|three|1|2|3|a|b|c)(?:\s(?:one|option|way|idea|of\sthe\stwo))?"
    r"(?:,?\splease)?)(?=[.!,;]|$)",
    re.IGNORECASE,
)
_PLACE = {
    "first": 0, "former": 0, "one": 0, "1": 0, "a": 0, "second": 1, "two": 1, "2": 1, "b": 1,
    "third": 2, "three": 2, "3": 2, "c": 2, "last": -1, "latter": -1,
}  # fmt: skip
_OPTIONS = re.compile(r"(?:,\s)?\bor\s(?:else\s)?|;\s|,\s(?=\w+\s)")
_OFFERED = re.compile(
    r"^(?:(?:then|so|alternatively|in\sthat\scase|ok|well|and)[\s,]+)*(?:(?:how|what)\sabout|(?:shall|should|could|can)\s(?:we|i|you)|"
    r"(?:i['’]d|i\swould|let\sme)\s(?:suggest|propose|recommend|say)|(?:we|you|i)\scould|why\snot|maybe|perhaps)?\s*",
    re.IGNORECASE,
)
_PROPOSES = re.compile(
    r"\?$|\b(?:could|suggest|propose|recommend|would|option|ways?|either|rather|then)\b",
    re.IGNORECASE,
)
_MAX_OPTION = 120


def adopted(*, said: str, offered: list[str]) -> str:
    """What the agent `offered`, sentence by sentence, that the words `said` take up, or ""."""
    match = _ADOPTS.match(said)
    proposals = [each for each in offered if _PROPOSES.search(each)]
    if match is None or not proposals:
        return ""
    which = (match.group("which") or "").lower()
    if not which:
        return _bare(proposals[-1])
    body = proposals[-1].rstrip("?. ").rpartition(": ")[2]
    options = [option.strip(" ,") for option in _OPTIONS.split(body) if option.strip(" ,")]
    place = _PLACE[which]
    return _bare(options[place]) if len(options) > 1 and place < len(options) else ""


def _bare(proposal: str) -> str:
    bare = _OFFERED.sub("", proposal.rstrip("?. ")).strip()
    return bare if len(bare) <= _MAX_OPTION else ""
