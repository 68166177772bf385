"""A model's memory may contain only the numbers, dates, names and words of its messages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.grounding import Grounds, Spoken, ungrounded

TUESDAY = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)


def why_not(text: str, *said: str, earlier: str = "") -> str:
    sources = [Spoken(each, TUESDAY) for each in said]
    window = [Spoken(earlier, TUESDAY), *sources]
    grounds = Grounds(sources=sources, window=window, names=["Sarah Lee", "kyra"])
    return ungrounded(text, grounds=grounds)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Sarah Lee pays 1500 crowns for the mural.", "I paid 1,500 crowns for that mural"),
        ("Sarah has three goats.", "we keep 3 goats now"),
        ("Sarah has 3 goats.", "three goat kids, that is all we keep"),
        ("The shop opens at 15:00.", "our shop opens at 3 pm"),
        ("The permit ends on Friday, March 13, 2026.", "my permit ends on friday"),
        ("The loan costs 9000 crowns.", "a loan of 9k crowns, what it costs"),
        ("Sarah's phone number is +420777123456.", "my phone number: +420 777 123 456"),
        ("Sarah is allergic to peanuts.", "peanuts make my throat close, allergic"),
        ("Sarah prefers the German edition.", "get me the one from Germany, the edition I read"),
        ("サラは東京に住んでいる。", "東京に住んでいるサラです"),
        ("Sára bydlí v domě u řeky.", "Bydlím teď v domě kousek od řeky u lesa."),
        (
            "Sarah hat drei Ziegen und eine Katze im Garten.",
            "Im Garten habe ich 3 Ziegen, eine Katze, einen Hund und viele Hühner. Der Hund und die"
            " Katze mögen die Hühner. Die Ziegen stehen meist im Stall, im Sommer auf der Wiese am"
            " Bach, dort wo auch der Nachbar seine Pferde hat, die der Hund so gerne jagt.",
        ),
    ],
)
def test_a_paraphrase_of_what_was_said_may_be_kept(text: str, said: str) -> None:
    assert why_not(text, said) == ""


@pytest.mark.parametrize(
    ("text", "said", "why"),
    [
        ("Sarah pays 1600 crowns for the mural.", "I paid 1,500 crowns for that mural", "number"),
        ("Sarah has four goats.", "we keep 3 goats now", "number"),
        ("The permit ends on Friday, March 20, 2026.", "my permit ends on friday", "number"),
        ("Sarah rents it to Markus Holt.", "I rent it to a friend of mine", "name"),
        ("The garage is Markus'.", "I rent the garage from a friend", "name"),
        ("Sarah's phone number is +420777123457.", "call me: +420 777 123 456", "number"),
        ("Sarah collects antique clocks.", "I had soup for lunch today", "words"),
        ("サラは大阪で医者をしている。", "東京に住んでいます", "words"),
        ("Sára bydlí v domě 12 u řeky.", "Bydlím teď v domě 14 kousek od řeky u lesa.", "number"),
    ],
)
def test_what_nobody_said_may_not(text: str, said: str, why: str) -> None:
    assert why in why_not(text, said)


def test_words_are_one_by_their_beginning_and_half_of_the_longer_ones_suffice() -> None:
    said = "the kiln in the new studio holds forty bowls"

    assert why_not("The kilns of the studio are holding forty plates.", said) == ""
    assert "words" in why_not("The oven of a studio stores forty plates.", said)


def test_an_earlier_message_lends_names_and_no_numbers() -> None:
    said, earlier = "He starts as our baker on Monday.", "Tomas Brandt is 34."

    assert why_not("Tomas Brandt starts as the baker.", said, earlier=earlier) == ""
    assert "number" in why_not("Tomas Brandt, 34, starts as the baker.", said, earlier=earlier)
