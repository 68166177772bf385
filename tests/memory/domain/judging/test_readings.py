"""What is found on a statement stays with its reading and goes with it."""

from __future__ import annotations

import sys

from memory.domain.judging.pairs.change import is_past_event
from memory.domain.judging.pairs.change_words import change_word
from memory.domain.judging.pairs.endings import endings_of
from memory.domain.judging.pairs.subjects import subject_names
from memory.domain.judging.pairs.tellings import tells_event
from memory.domain.judging.reading.frames import Reading, kept_by_reading, read

# Readings of texts as long as this one are not kept.
LONG = "Sarah switched the billing service from Jira to Linear in March. " * 10


def test_a_finding_is_made_once_for_each_reading() -> None:
    asked: list[Reading] = []

    @kept_by_reading
    def length(reading: Reading) -> int:
        asked.append(reading)
        return len(reading.tokens)

    one, other = read(LONG), read(LONG + "Really.")

    assert length(one) == length(one) < length(other)
    assert [each is one for each in asked] == [True, False]


def test_findings_hold_on_to_no_reading() -> None:
    """Else each function would keep thousands of them that nobody else needs."""
    reading = read(LONG)
    before = sys.getrefcount(reading)

    for find in (is_past_event, endings_of, change_word, subject_names, tells_event):
        find(reading)

    assert sys.getrefcount(reading) == before
