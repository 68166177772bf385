"""Text handed over to be worked on is nobody's statement."""

from __future__ import annotations

import pytest

from memory.domain.extraction.meant.payload import without_payload

from .conversation import both_passes


@pytest.mark.parametrize(
    "said",
    [
        'Please summarise this mail: "Our boiler is loud. It is a Wolf 12, moved in May."',
        "Can you proofread the following note: We moved to Lund in May. Bo owns the kiln.",
        "> We ship the kiln on Friday.\n> Bo lives in Lund.",
        'translate these lines: "I live in Lund. My boat is called Petrel."',
    ],
)
def test_what_is_handed_over_gives_nothing(said: str) -> None:
    assert both_passes(f"user: {said}", "assistant: Here it is.") == []


def test_what_follows_a_long_quotation_is_the_speakers_own_again() -> None:
    found = both_passes('user: They wrote "We close in May. All is sold" to us. I live in Lund.')
    assert [each.content for each in found] == ["Dana lives in Lund."]


def test_an_inch_mark_or_a_lonely_quotation_mark_swallows_nothing() -> None:
    said = ['The screen has 24" now.', "Bo owns it.", "Ines pays."]
    assert without_payload(sentences=said) == said
