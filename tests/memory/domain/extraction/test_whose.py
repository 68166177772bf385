"""Whose something is: a pronoun, "there", "that" or "it" after a question names the right one."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> str:
    """What both passes tell."""
    return " ".join(each.content for each in both_passes(*lines))


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (("user: Nuala called.", "assistant: And Mia?", "user: She plays the drums."),
         "Mia plays the drums."),
        (("user: My landlord said no.", "assistant: How about Julia?",
          "user: She's our accountant."), "Julia is Dana's accountant."),
        (("user: Petra rang.", "assistant: And the invoices?", "user: She keeps the books."),
         "Petra keeps the books."),
        (("user: The Haddad bakery gives us bread. The contact there is Samira.",),
         "The contact at the Haddad bakery is Samira."),
        (("user: The Haddad bakery closed.", "assistant: And the school?",
          "user: The contact there is Samira."), "The contact at the school is Samira."),
        (("user: I knit Shetland yarn.", "assistant: Your row gauge is off.",
          "user: It is: 34 rows over 10 cm."), "Dana's row gauge is 34 rows over 10 cm."),
        (("assistant: Shall I book the DJ?", "user: No, my best man Callum deals with that."),
         "Dana's best man Callum deals with the DJ."),
        (("user: My uncle keeps bees.", "assistant: Can he sell us honey?",
          "user: Can't, he's in Peru until May."), "Dana's uncle is in Peru until May 2026."),
        (("assistant: Who drives?", "user: Pieter, but only until Christmas. He has a bad hip.",),
         "Pieter has a bad hip."),
        (("assistant: Wasn't the worktop late?",
          "user: It was, but it came on Friday. It's oak, and oiled."),
         "The worktop is oak, and oiled."),
        # As it was.
        (("user: Nuala called.", "assistant: Who is Mia?", "user: She plays the drums."),
         "Mia plays the drums."),
    ],
)  # fmt: skip
def test_it_means_the_one_that_was_asked_for(lines: tuple[str, ...], meant: str) -> None:
    assert meant in told(*lines)


def test_somebody_who_surely_fits_is_meant_from_further_back() -> None:
    found = both_passes(
        "user: My daughter Leela moves up to year five on Monday.", "assistant: Ok.",
        "user: My brother Anil drives her.", "assistant: Fine.",
        "user: Swimming is on Wednesdays.", "assistant: Noted.",
        "user: Don't forget that her school bus leaves at 7:40.",
    )  # fmt: skip
    pinned = [each.content for each in found if each.is_pinned]
    assert pinned == ["Leela's school bus leaves at 7:40."]


@pytest.mark.parametrize(
    ("lines", "never"),
    [
        (("user: Swimming is on Wednesdays.", "assistant: Noted.",
          "user: Don't forget that her school bus leaves at 7:40."), "Swimming's"),
        (("user: Aerobics is on Mondays.", "assistant: Noted.", "user: Her knee is better."),
         "Aerobics's"),
        (("user: I bake rye bread.", "assistant: The forecast is bad.",
          "user: It is: 12 degrees and rain."), "bread is"),
        (("assistant: Did you catch them?", "user: One of the two. It's in the spare box now."),
         "The two is"),
        (("user: The Greek place is full.", "assistant: And then?",
          "user: Elif is vegan. Whoever cooks has to manage that."), "For the Greek place,"),
    ],
)  # fmt: skip
def test_nobody_and_nothing_else_is_meant(lines: tuple[str, ...], never: str) -> None:
    assert never not in told(*lines)
