"""Words of an answer that take up what the other side has just said: "it is: 34", "that"."""

from __future__ import annotations

import re
from uuid import UUID

from .inquiries import thing_offered
from .mentions import Mention

# "My best man deals with that"
_DEALS_WITH_THAT = re.compile(
    r"\b(?:(?:deals?|dealing|dealt)\swith|(?:takes?|taking)\scare\sof|look(?:s|ing)?\safter|"
    r"(?:sees?|seeing)\sto|handl(?:es?|ing)|arrang(?:es?|ing)|organi[sz](?:es?|ing))\s"
    r"(?P<that>that|it)(?=\W*$)",
    re.IGNORECASE,
)
# "It is: 34 rows over 10 cm": so is what the other side has just spoken of.
_IT_IS = re.compile(r"it\s(?P<be>is|was):\s(?=.*\d)", re.IGNORECASE)
_YOURS_IS = re.compile(
    r"(?:[\w’']+[,:.]\s)?(?:(?:then|so|maybe|perhaps|probably)\s)?your\s"
    r"(?P<noun>[a-z-]+(?:\s[a-z-]+)?)\s(?:is|was|may\sbe|might\sbe|must\sbe|looks|seems)\b",
    re.IGNORECASE,
)


class Echoes:
    """What the other side said last of a thing of the user's, and what it offered to see to."""

    def __init__(self) -> None:
        self._yours: Mention | None = None
        self._offered: Mention | None = None

    def heard(self, *, text: str, source: UUID, turn: int, owner: str) -> None:
        """Learn of what of the `owner`'s the other side speaks ("Your row gauge is off")."""
        yours = _YOURS_IS.match(text)
        if yours:
            self._yours = Mention(f"{owner}'s {yours['noun']}", source, turn)

    def asked(self, *, question: str, source: UUID, turn: int, owner: str) -> None:
        """Learn what the other side offers to see to ("Shall I book the DJ?")."""
        offered = thing_offered(question=question, owner=owner)
        if offered:
            self._offered = Mention(offered, source, turn)

    def resolve(self, *, text: str, turn: int) -> tuple[str, list[UUID]]:
        """The answer with what it takes up written out, and the messages that say it."""
        so, yours = _IT_IS.match(text), self._yours
        if so and yours and turn - yours.turn == 1:
            return f"{yours.name} {so['be']} {text[so.end() :]}", [yours.source]
        dealt, offered = _DEALS_WITH_THAT.search(text), self._offered
        if dealt and offered and turn - offered.turn == 1:
            told = text[: dealt.start("that")] + offered.name + text[dealt.end() :]
            return told, [offered.source]
        return text, []


def takes_up(*, text: str) -> bool:
    """Whether an "it is:" only takes up what was said, and means nothing named before."""
    return bool(_IT_IS.match(text))
