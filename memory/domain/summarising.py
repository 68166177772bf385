"""A running summary made without a model: the most important sentences, in their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from .tokens import estimate_tokens
from .types import Point, SourceMessage

# Layer 7 of the prompt has about this much room (seed 000, the prompt builder).
SUMMARY_TOKENS = 200
# What was summed up before may take at most this share of a summary.
EARLIER_SHARE = 0.5
_EARLIER = "Earlier: "
_NOTHING = "Nothing worth keeping was said."
_HEAD = re.compile(r"\A\[\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\] ")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class RulesSummariser:
    """The `Summariser` that needs no model."""

    name = "rules"

    def summarise(
        self, *, points: Sequence[Point], messages: Sequence[SourceMessage], previous: str
    ) -> str:
        """A summary of at most 200 tokens that continues `previous`; `messages` are not empty."""
        return summarise(
            points=points,
            previous=previous,
            since=min(message.created_at for message in messages),
            until=max(message.created_at for message in messages),
        )


def summarise(
    *,
    points: Sequence[Point],
    previous: str,
    since: datetime,
    until: datetime,
    max_tokens: int = SUMMARY_TOKENS,
) -> str:
    """A summary of at most `max_tokens` that continues `previous`.

    The most important points are chosen first and stand in the order they were said. Of the
    previous summary as many sentences stay as half of the room allows, the latest ones first.
    """
    head = _period(since, until)
    parts = [head]
    room = max_tokens - estimate_tokens(head)
    earlier = _earlier(previous, int(room * EARLIER_SHARE) if points else room)
    if earlier:
        parts.append(_EARLIER + earlier)
        room -= estimate_tokens(" " + parts[-1])
    chosen: set[int] = set()
    ranked = sorted(range(len(points)), key=lambda index: (-points[index].importance, index))
    for index in ranked:
        price = estimate_tokens(" " + points[index].text)
        if price <= room:
            chosen.add(index)
            room -= price
    parts.extend(points[index].text for index in sorted(chosen))
    if len(parts) == 1:
        parts.append(_NOTHING)
    return " ".join(parts)


def _period(since: datetime, until: datetime) -> str:
    first, last = f"{since:%Y-%m-%d}", f"{until:%Y-%m-%d}"
    return f"[{first}]" if first == last else f"[{first} to {last}]"


def _earlier(previous: str, room: int) -> str:
    """The latest whole sentences of the previous summary that fit, its own heading left out."""
    body = _HEAD.sub("", previous, count=1).removeprefix(_EARLIER).removeprefix(_NOTHING)
    kept: list[str] = []
    used = estimate_tokens(_EARLIER)
    for sentence in reversed(_SENTENCE_END.split(body.strip())):
        price = estimate_tokens(sentence + " ")
        if not sentence or used + price > room:
            break
        used += price
        kept.insert(0, sentence)
    return " ".join(kept)
