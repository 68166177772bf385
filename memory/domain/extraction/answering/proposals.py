"""What the agent proposes for an open request, and the user's "Take it"."""

from __future__ import annotations

import re

from ..language.leads import strip_lead
from ..requests import RequestFrame
from ..threads.dialogue import Unit

_PROPOSED = re.compile(
    r"^(?:\w+[.,!]\s)?(?:i\s(?:found|have|can\soffer|see)|there(?:['’]s|\sis)|the\s(?:next|first)|"
    r"(?:how|what)\sabout|would|shall\si\stake)\b.*(?:\d|day\b)"
    r"|\d.*\s(?:is|are|would\sbe)\s(?:still\s)?(?:free|available|possible|open)\b",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"^(?:(?:yes|yep|ok|okay|great|perfect|sure|fine|good)[\s,.!]*)*(?:(?:please\s)?(?:take|book|"
    r"choose|go\swith|reserve)\s(?:it|that|this|those|them)(?:\sone)?|(?:that|it)(?:\s(?:works|suits|"
    r"fits|sounds)|['’]s\s(?:perfect|fine|good|great))[\w\s]{0,20}|perfect|deal|i['’]ll\stake\s"
    r"(?:it|that)|yes|ok|sounds\sgood)(?:,?\splease|,?\sthanks)?[.!]*$",
    re.IGNORECASE,
)


class Proposals:
    """The last proposal of the agent, as long as the user has said nothing since."""

    def __init__(self, *, frame: RequestFrame) -> None:
        self._frame = frame
        self._proposal: Unit | None = None

    def hear(self, *, unit: Unit) -> None:
        """Take in a sentence of the agent."""
        self._proposal = unit if _PROPOSED.search(unit.text) else self._proposal

    def accepts(self, *, unit: Unit) -> bool:
        """Take what the agent just proposed for an open request ("Take it") as its details."""
        offer, self._proposal = self._proposal, None
        if offer is None or offer.turn != unit.turn - 1 or not self._frame.takes(unit=unit):
            return False
        if not _ACCEPTS.match(unit.text):
            return False
        found = re.sub(r"(?i)^(?:i\s(?:found|have|can\soffer|see)|there(?:['’]s|\sis))\s", "",
                       strip_lead(text=offer.text))  # fmt: skip
        self._frame.details.append((found, offer.message_id))
        return True
