"""Who somebody is, said in passing: "knowing Wendelin, our conductor"."""

from __future__ import annotations

import re

from .language.words import COMMON_OPENERS, KIN, PEOPLE_NOUNS

_NAME = r"[A-ZÀ-Þ][\w’'-]+(?:\s[A-ZÀ-Þ][\w’'-]+)?"
_KNOWN = "|".join(sorted(PEOPLE_NOUNS | KIN, key=len, reverse=True))
_ROLE = rf"(?:{_KNOWN}|[a-z]{{3,}}(?:er|or|ist|ian|ant|man|woman))"
_AFTER_NAME = re.compile(
    rf"(?P<name>{_NAME}),\s(?P<who>(?:my|our)\s(?:[a-z-]+\s){{0,2}}{_ROLE})\b(?=\s?(?:[,.;!?)]|$))"
)
# "Harrier, the inspection service we took over in spring"
_NAMED_LAST = re.compile(rf"(?P<name>{_NAME})$")
_WITH_RELATIVE = re.compile(
    r"(?:the|an?|our|my)\s(?:[\w-]+\s){1,5}(?:we|I|that|who|which|you|they)\s", re.IGNORECASE
)


def presented(*, text: str) -> list[str]:
    """The clauses that a sentence holds between commas: "Wendelin is our conductor"."""
    return [
        f"{match.group('name')} is {match.group('who')}"
        for match in _AFTER_NAME.finditer(text)
        if match.group("name").split()[0].lower() not in COMMON_OPENERS
    ]


def described(*, before: str, after: str) -> str:
    """What comes after a name as a clause about it, where it has no verb of its own, else ""."""
    name = _NAMED_LAST.search(before)
    if name is None or not _WITH_RELATIVE.match(after):
        return ""
    return f"{name.group('name')} is {after}"
