"""The fallback's memories say what their messages say, but for names, dates and grammar."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.extraction import read_conversation
from benchmarks.extraction_fit import LABELLED
from memory.domain.grounding import Grounds, Spoken, ungrounded
from memory.domain.types import Candidate, Participants, SourceMessage
from memory.fallback.extractor import RulesExtractor

# Never heard in any of the talk.
STRANGE_NAME, STRANGE_NUMBER = "Quorfzek", "918273"


def grounds_of(
    candidate: Candidate, messages: list[SourceMessage], participants: Participants
) -> Grounds:
    places = [n for n, each in enumerate(messages) if each.id in candidate.message_ids]
    near = sorted({place for n in places for place in (n - 1, n) if place >= 0})
    spoken = [Spoken(each.content, each.created_at) for each in messages]
    return Grounds(
        sources=[spoken[place] for place in near],
        window=spoken[: max(places) + 1],
        names=[participants.user, participants.agent, *(each.name for each in messages)],
    )


@pytest.mark.parametrize("path", sorted(LABELLED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_no_memory_says_what_no_message_says(path: Path) -> None:
    strange: dict[str, str] = {}
    unnoticed: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        messages, participants = read_conversation(item=json.loads(line))
        found = RulesExtractor().extract(messages=messages, context=[], participants=participants)
        for each in found:
            grounds = grounds_of(each, messages, participants)
            if why := ungrounded(each.content, grounds=grounds, is_exact=True):
                strange[each.content] = why
            words = each.content.rstrip(".")
            changed = [f"{words} and {STRANGE_NAME}.", f"{words} and {STRANGE_NUMBER}."]
            changed.append(re.sub(r"[a-z]{6,}(?!.*[a-z]{6,})", "quorfzek", each.content))
            unnoticed += [
                text
                for text in changed
                if text != each.content and not ungrounded(text, grounds=grounds, is_exact=True)
            ]

    assert strange == {}
    assert unnoticed == []
