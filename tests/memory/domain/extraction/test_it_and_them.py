"""What "it" means after an answer, and who "them" are that are paid: nothing told before."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> str:
    """What both passes tell."""
    return " ".join(each.content for each in both_passes(*lines))


@pytest.mark.parametrize(
    ("before", "asked", "answer", "meant"),
    [
        ("We bought a new X-ray unit last month.", "What practice software do you use?",
         "Dampsoft, we've had it since 2017.", "The team has had Dampsoft since 2017."),
        ("I lent my neighbour the ladder.", "What are you reading at the moment?",
         "Dune, I started it on Sunday.", "Dana started Dune on"),
        ("The printer broke.", "What accounting program does your firm use?",
         "Datev. We switched to it in 2018.", "switched to Datev in 2018."),
        ("I painted the fence.", "What medication are you on?",
         "Ramipril, I've taken it since 2020.", "Dana has taken Ramipril since 2020."),
        ("The heating in the surgery is broken.", "What booking system do you use?",
         "Doctolib. It has been down since Friday.", "Doctolib has been down since"),
        ("We have a new oven.", "What do you bake most?", "Rye bread, I bake it every Sunday.",
         "Dana bakes Rye bread every Sunday."),
        ("I bought a calendar.", "And for notes?", "Obsidian, mostly. I sync it with Syncthing.",
         "Dana syncs Obsidian with Syncthing."),
        ("The van is old.", "And which till system do you have in the shop?",
         "Lightspeed. My brother installed it in 2020.",
         "Dana's brother installed Lightspeed in 2020."),
        # What the answer tells of by its noun.
        ("We have a hall.", "Which car do you drive?", "A Skoda, I bought it used in 2019.",
         "Dana bought the Skoda used in 2019."),
        ("We have a hall.", "Where do you keep the van?", "In the yard. It has a flat tyre.",
         "The van has a flat tyre."),
    ],
)  # fmt: skip
def test_it_is_what_was_answered(before: str, asked: str, answer: str, meant: str) -> None:
    assert meant in told(f"user: {before}", f"assistant: {asked}", f"user: {answer}")


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (("user: Our cat has a torn ear.", "assistant: Do you have insurance?",
          "user: With Petplan. It pays 80 percent."), "Petplan pays 80 percent."),
        (("user: I adopted a dog. Her name is Pepper.", "assistant: What breed?",
          "user: A whippet mix."), "The dog is a whippet mix."),
    ],
)  # fmt: skip
def test_it_is_neither_an_older_thing_nor_a_name(lines: tuple[str, ...], meant: str) -> None:
    assert meant in told(*lines)


def test_we_in_the_third_person_is_no_thing() -> None:
    found = told("user: We have a garden in Lindau. My father built it in 1980.")
    assert "Dana's father built the garden in 1980." in found


@pytest.mark.parametrize(
    ("said", "never"),
    [
        ("We get our vegetables from a farm near Ulm. We pay them 400 a month.", "Ulm, the team"),
        ("We store the boxes in the church. We pay them 50 euros a month.", "pays the team"),
        ("I buy the apples at the market. I owe them 30 euros.", "owes the apples"),
        ("The tables come from a rental. We paid them 600 in advance.", "paid the tables"),
        ("I grow the seedlings for two shops. I invoice them every month.", "invoices the seed"),
        ("Our windows get washed twice a year. We tip them 20 euros.", "tips the team's windows"),
        ("The invoices are from Krüger. They charge 80 euros an hour.", "invoices charge"),
        ("Our windows are cleaned by a firm from Trier. They want 200 euros.", "windows want"),
        ("The shoes are too small. They sent them from Porto.", "shoes sent"),
    ],
)
def test_no_thing_is_paid_or_charges(said: str, never: str) -> None:
    assert never not in told(f"user: {said}")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("We have two cleaners in the office. We pay them 400 a month.", "pays the cleaners 400"),
        ("We work with Holtmann Logistics. We pay them 400 a month.",
         "The team pays Holtmann Logistics 400 a month."),
        ("My neighbours look after the cat. I pay them 50 euros a week.",
         "Dana pays Dana's neighbours 50 euros a week."),
        ("The council raised the fees. We owe them 300 euros.", "owes the council 300 euros."),
        ("Our auditors come in May. We pay them 9,000 euros a year.",
         "pays the team's auditors 9,000 euros"),
    ],
)  # fmt: skip
def test_people_and_their_bodies_are_paid(said: str, meant: str) -> None:
    assert meant in told(f"user: {said}")


def test_who_answers_a_question_for_somebody_are_they() -> None:
    found = told(
        "user: Luca and Samira work behind the bar.",
        "assistant: Who delivers the drinks?",
        "user: Voss Brewery, twice a week. They want cash.",
    )
    assert "Voss Brewery wants cash." in found
    assert "Samira want" not in found


@pytest.mark.parametrize(
    ("before", "asked", "answer", "meant"),
    [
        ("The boiler is dripping again.", "Since when?", "Since Tuesday. Ralf checked it at noon.",
         "Ralf checked the boiler"),
        ("The freezer is loud.", "And for how long?", "A month or so. Petra bought it in 2016.",
         "Petra bought the freezer in 2016"),
        ("I sold my canoe.", "To whom?", "To Walter. He collects it on Sunday.",
         "collects the canoe on Sunday"),
        ("The fence is rotten.", "Until when?", "Until June. My uncle repairs it then.",
         "uncle repairs the fence"),
    ],
)  # fmt: skip
def test_a_question_for_a_time_or_somebody_leaves_it_what_it_was(
    before: str, asked: str, answer: str, meant: str
) -> None:
    assert meant in told(f"user: {before}", f"assistant: {asked}", f"user: {answer}")


@pytest.mark.parametrize(
    ("lines", "never"),
    [
        (("We adopted two hamsters.", "Pia has long teeth. She needs them cut every month."),
         "the hamsters cut"),
        (("We bought three shelves.", "Jan hurt his feet. He has to rest them."), "the shelves"),
        (("I own four kayaks.", "My aunt keeps geese. She feeds them at six."), "the kayaks"),
        (("I own four kayaks.", "Ruth has new gloves. She wears them every day."), "the kayaks"),
    ],
)  # fmt: skip
def test_them_reaches_past_no_other_things(lines: tuple[str, str], never: str) -> None:
    assert never not in told(f"user: {lines[0]}", "assistant: And?", f"user: {lines[1]}")


def test_what_has_no_s_can_be_several() -> None:
    found = told("user: I feed the geese at six. Tom shuts them in at night.")
    assert "Tom shuts the geese in at night." in found


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Anjali Rao is bringing the piano. She'll put it beside the window.",
         "Anjali Rao will put the piano beside the window."),
        ("Mr Okoro has the ladder. He'll drop it behind the shed.",
         "Mr Okoro will drop the ladder behind the shed."),
        ("I bought a tent. I put it in the cellar.", "Dana puts the tent in the cellar."),
    ],
)  # fmt: skip
def test_whose_name_has_two_words_is_nothing_that_it_could_be(said: str, meant: str) -> None:
    assert meant in told(f"user: {said}")


@pytest.mark.parametrize(
    "said",
    [
        "He'll put it behind the chimney, that's far enough.",
        "He'll seal it behind the oven.",
    ],
)
def test_what_nobody_named_is_not_put_anywhere(said: str) -> None:
    found = told("user: Mr Okoro is a roofer.", "assistant: Noted.", f"user: {said}")
    assert "Mr Okoro is a roofer." in found
    assert " it " not in found
