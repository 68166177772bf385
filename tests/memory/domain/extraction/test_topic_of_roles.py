"""Whom "she" and "he" mean beside somebody without a name: who is spoken of, not who speaks."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> str:
    """What both passes tell."""
    return " ".join(each.content for each in both_passes(*lines))


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        # Of whom somebody says something.
        (("user: The nurse phoned: Lotte has a rash.", "assistant: What helps?",
          "user: She gets a cream in the morning."), "Lotte gets a cream"),
        (("user: Our trainer thinks Viktor is ready.", "assistant: How tall?",
          "user: He's 1.92."), "Viktor is 1.92"),
        (("user: My dentist said that Milo grinds at night.", "assistant: How old?",
          "user: He's eleven."), "Milo is eleven"),
        (("user: Greta's mentor says she talks too fast.", "assistant: Where does she train?",
          "user: She trains in Kiel."), "Greta trains in Kiel"),
        # Whose caller it is.
        (("user: Clara's coach phoned, she skipped two runs.", "assistant: Why?",
          "user: She had a fever."), "Clara had a fever"),
        (("user: Oskar's landlord wants a deposit.", "assistant: Which flat?",
          "user: He rents two rooms in Ghent."), "Oskar rents two rooms"),
        (("user: Helga's boss asked for the keys.", "assistant: How far is it?",
          "user: Her boss lives in Hull."), "Helga's boss lives in Hull"),
        # Who is asked about.
        (("user: The plumber saw Martin yesterday.", "assistant: How old is Martin?",
          "user: He's forty."), "Martin is forty"),
        (("user: The trainer met Astrid in the hall.", "assistant: What does Astrid play?",
          "user: She plays the oboe."), "Astrid plays the oboe"),
    ],
)  # fmt: skip
def test_a_name_outranks_who_only_speaks_of_it(lines: tuple[str, ...], meant: str) -> None:
    assert meant in told(*lines)


@pytest.mark.parametrize(
    ("lines", "never"),
    [
        # Who speaks may go on speaking.
        (("user: My dentist says Milo grinds at night.", "user: He recommends a splint."),
         "Milo recommends"),
        (("user: Our trainer thinks Astrid is ready.", "assistant: What does she suggest?",
          "user: She swears by sprints."), "Astrid swears"),
        (("user: Clara's coach phoned. She lives in Bonn.",), "Clara lives"),
        # Who does something of their own is spoken of as well.
        (("user: Helga's boss resigned.", "user: She starts at a bank in May."), "Helga starts"),
        (("user: My boss Ilse met Astrid.", "user: She got the promotion."), "Astrid got"),
        (("user: The plumber saw Martin yesterday.", "user: He wears a blue cap."),
         "Martin wears"),
    ],
)  # fmt: skip
def test_in_doubt_the_name_is_not_meant(lines: tuple[str, ...], never: str) -> None:
    assert never not in told(*lines)
