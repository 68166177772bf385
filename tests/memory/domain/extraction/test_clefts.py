"""Clefts ("It is my brother who lives in Oslo") are told plainly, or not at all."""

from __future__ import annotations

import pytest

from memory.domain.extraction.language.clefts import plain_sentence

from .conversation import both_passes


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("It is my brother who lives in Oslo.", "My brother lives in Oslo."),
        ("It was Sven who wrote it.", "Sven wrote it."),
        ("It's our client Acme that pays for it.", "Our client Acme pays for it."),
        ("It is Anna and Tom who run the shop.", "Anna and Tom run the shop."),
        ("No, it is hazelnuts I am allergic to.", "No, I am allergic to hazelnuts."),
        ("It is not peanuts but hazelnuts I am allergic to.",
         "I am allergic to hazelnuts, not peanuts."),
        ("It's my sister that I live with.", "I live with my sister."),
        ("It was in Bergen that I met my wife.", "I met my wife in Bergen."),
        ("It was Lisbon where I grew up.", "I grew up in Lisbon."),
        ("It was 2019 when we moved.", "We moved in 2019."),
    ],
)  # fmt: skip
def test_a_cleft_is_told_plainly(said: str, plain: str) -> None:
    assert plain_sentence(text=said) == plain


@pytest.mark.parametrize(
    "said",
    [
        "It is important that we deploy on Friday.",
        "It is my hope that we win.",
        "It was the first time that I ran a marathon.",
        "It is the tool that we use for tracking.",
        "It is not my brother who lives in Oslo.",
        "It's clear I need help.",
        "It is because I am tired.",
        "Is it my brother who lives in Oslo?",
    ],
)
def test_what_is_no_cleft_stays(said: str) -> None:
    assert plain_sentence(text=said) == said


@pytest.mark.parametrize(
    ("before", "said", "never"),
    [
        ("Lisbon is lovely.", "It is my brother who lives in Oslo.", "Lisbon is Dana"),
        ("The demo is on Friday.", "It is a nurse who wants it.", "demo is a nurse"),
        ("The report is late.", "It was Sven who wrote it.", "report was Sven"),
    ],
)
def test_it_means_nothing_named_before(before: str, said: str, never: str) -> None:
    found = both_passes(f"user: {before}", f"user: {said}")
    assert not any(never.lower() in each.content.lower() for each in found)
