"""No word of a memory is missing from its sources, but for names, dates and the third person."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.extraction import read_conversation
from benchmarks.extraction_fit import labelled_files
from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.stop_words import word_set
from memory.domain.text.verb_forms import stem
from memory.domain.types import Candidate, SourceMessage
from memory.fallback.extraction.grammar import words_of
from memory.fallback.extraction.own_words import written_out
from memory.fallback.extractor import RulesExtractor

# What the third person, a request, a joined question or a written date may add.
ADDED = word_set(
    """
    is has will would does was the a an team family agent user name wants to not never always
    only stop asked answer gave and in on of week weekend around from now it 's ' about
    """
)


def added_words(candidate: Candidate, said: str, names: set[str]) -> set[str]:
    """The words of the memory that its sources do not hold and nothing allows."""
    known = {stem(word) for word in words_of(written_out(said))} | {stem(word) for word in names}
    known |= {stem(word) for word in words_of(said.replace("-", " "))}
    dates = {*MONTHS, *WEEKDAYS, "q1", "q2", "q3", "q4"}
    return {
        word
        for word in words_of(candidate.content)
        if stem(word) not in known
        and known.isdisjoint({stem(word.removesuffix("s")), stem(word.removesuffix("es"))})
        and word not in ADDED
        and word not in dates
        and not word[0].isdigit()
    }


@pytest.mark.parametrize("path", labelled_files(), ids=lambda path: path.stem)
def test_no_memory_holds_a_word_that_nobody_said(path: Path) -> None:
    strange: dict[str, set[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        messages, participants = read_conversation(item=json.loads(line))
        said = {message.id: message for message in messages}
        found = RulesExtractor().extract(messages=messages, context=[], participants=participants)
        for each in found:
            sources: list[SourceMessage] = [said[source] for source in each.message_ids]
            names = {*words_of(participants.user), *words_of(participants.agent)}
            names |= {word for message in messages for word in words_of(message.name)}
            # A person named for "he" or "she" stands in an earlier message.
            names |= {
                word.lower()
                for message in messages
                if message.position < max(source.position for source in sources)
                for word in re.findall(r"[A-Z]\w+", message.content)
            }
            missing = added_words(each, " ".join(each.content for each in sources), names)
            if missing:
                strange[each.content] = missing

    assert strange == {}
