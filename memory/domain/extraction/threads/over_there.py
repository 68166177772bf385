"""The place or the body that a "there" beside a noun means: "the contact there is Samira"."""

from __future__ import annotations

import re
from uuid import UUID

from ..language.words import word_set
from .company import ORGANISATIONS
from .mentions import Mention

_BODIES = ORGANISATIONS | word_set(
    """
    school office warehouse depot factory kindergarten nursery surgery practice theatre theater
    library archive association church mosque gym pool registry plant lab laboratory market
    station harbour embassy ministry shelter café cafe pharmacy workshop branch
    """
)
_BODY = re.compile(
    r"\b(?:[Tt]he|[Oo]ur|[Mm]y|[Yy]our|[A-ZÀ-Þ][\w-]*['’]s|[Tt]he\steam['’]s)\s(?:[A-ZÀ-Þ][\w-]+\s){0,2}(?:[a-z][a-z’'-]+\s)?(?:"
    + "|".join(sorted(_BODIES, key=len, reverse=True))
    + r")\b(?!['’-])"
)
_IN_PLACE = re.compile(
    r"\b(?P<prep>in|at|to|near)\s(?P<place>[A-ZÀ-Þ][\w-]+(?:\s[A-ZÀ-Þ][\w-]+)*)(?!['’])"
)
_THERE = re.compile(
    r"(?P<head>(?:(?:and|but|so|also)\s)?(?:the|my|our|their)\s(?:[\w-]+\s){0,2}?[\w-]+)(?<!\sover)(?<!\sout)(?<!\sup)(?<!\sdown)(?<!\sin)(?<!\sright)\sthere"
    r"(?=(?:['’]s)?\s(?:is|are|was|were|has|have|will|wants?|costs?|starts?|opens?|closes?|[a-z]+ed)\b|['’]s\s)",
    re.IGNORECASE,
)
_REACH = 2


class OverThere:
    """The place or body that was named last, for a "there" that stands beside a noun."""

    def __init__(self) -> None:
        self._last: Mention | None = None

    def observe(self, *, text: str, source: UUID, turn: int) -> None:
        """Learn the place or body that a sentence in the third person names last."""
        found = _placed(text)
        if found:
            self._last = Mention(found, source, turn)

    def resolve(
        self, *, text: str, turn: int, question: str = "", asked: UUID | None = None
    ) -> tuple[str, list[UUID]]:
        """The sentence with its place written out, and the messages that name it.

        What the message itself names comes first, then what the `question` before it does; two
        turns back is the most.
        """
        match = _THERE.match(text)
        if match is None:
            return text, []
        named = "" if self._last and self._last.turn == turn else _placed(question)
        if named and asked:
            return _written(text, match, named), [asked]
        if self._last is None or turn - self._last.turn > _REACH:
            return text, []
        return _written(text, match, self._last.name), [self._last.source]


def _placed(text: str) -> str:
    """ "at the Haddad bakery", "in Ghent": what a text names last, or ""."""
    found = [(each.start(), f"at {_lowered(each.group())}") for each in _BODY.finditer(text)]
    for each in _IN_PLACE.finditer(text):
        prep = "in" if each["prep"] == "to" else each["prep"]
        found.append((each.start(), f"{prep} {each['place']}"))
    return max(found)[1] if found else ""


def _lowered(name: str) -> str:
    opens = name.split()[0].lower()
    name = f"my {name[5:]}" if opens == "your" else name
    return name[:1].lower() + name[1:] if opens in {"the", "our", "my"} else name


def _written(text: str, match: re.Match[str], place: str) -> str:
    return f"{match['head']} {place}{text[match.end() :]}"
