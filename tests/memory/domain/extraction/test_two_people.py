"""Whom "she" and "he" mean where two people were named: the one that fits, or nobody."""

from __future__ import annotations

import pytest

from memory.domain.wording import check_wording

from .conversation import TUESDAY, both_passes


def _kept(*lines: str) -> str:
    """What both passes tell and the writing constraints let through."""
    checked = [
        check_wording(each, said_at=TUESDAY).candidate
        for each in both_passes(*(f"user: {line}" for line in lines))
    ]
    return " ".join(each.content for each in checked if each is not None)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        # The subject, not the last name.
        (("Anna works with Thomas on the parser.", "She lives in Graz."), "Anna lives"),
        (("Petra works for Uwe.", "She moved to Vienna."), "Petra moved"),
        (("Oliver shares a desk with Laura.", "He comes from Hull."), "Oliver comes"),
        (("Priya manages Greta.", "Greta lives in Delft.", "She cycles to work."), "Greta cycles"),
        (("Jane teaches with Edith.", "She plays the cello."), "Jane plays"),
        # Who is only met in passing, or is what the subject is.
        (("Carla is a judge.", "She lives in Bonn."), "Carla lives"),
        (("My mother is a retired teacher.", "She broke her hip."), "mother broke"),
        (("My dad had his check-up. The doctor told him to walk more.", "He lives in Hull."),
         "dad lives"),
        (("I talked to Anna today.", "She got the job at the clinic."), "Anna got the job"),
        # The one of two clauses who is known to fit.
        (("Jonas does the backend and Aylin the design.", "He works part time."), "Jonas works"),
        # Never who is known to be the other.
        (("Thomas met Anna at the fair.", "He lives in Graz."), "Thomas lives"),
        (("Maria hired Peter last week.", "She likes sailing."), "Maria likes"),
        (("My boss Henrik promoted Claudia.", "She now leads the team."), "Claudia now leads"),
        (("My son Kai studies with Emma.", "She is nine."), "Emma is nine"),
        (("Mr. Okafor teaches my daughter maths.", "He is from Lagos."), "Okafor is from"),
        (("Robert visited Diana in Oslo.", "Her daughter studies law."), "Diana's daughter"),
        (("My brother's wife Ellen is a pilot.", "She flies for KLM."), "Ellen flies"),
        (("My manager is called Fiona.", "Her deputy is Graham.", "She is away until Monday."),
         "Fiona is away"),
        (("Petra says her manager Uwe is leaving in March.", "Petra got promoted.",
          "She moved to Vienna for it.", "Her husband is a baker."), "Petra's husband is a baker"),
    ],
)  # fmt: skip
def test_the_pronoun_goes_to_whom_it_fits(lines: tuple[str, ...], told: str) -> None:
    assert told in _kept(*lines)


@pytest.mark.parametrize(
    ("lines", "never"),
    [
        (("Emma and Sophie run the bakery.", "She is allergic to gluten."), "gluten"),
        (("Jack beat Ryan at chess on Sunday.", "He trains every day."), "trains"),
        (("Robert met Simon.", "His flat is in Hull."), "Hull"),
        (("My mother and my aunt live in Bonn.", "He is retired."), "retired"),
        (("My boss Ilse met Anna.", "She got the job."), "got the job"),
        (("My boss met Anna.", "She got the job."), "got the job"),
        (("My landlord argued with the plumber.", "He wants 300 euros."), "300"),
        (("My mother visited my aunt on Sunday.", "She broke her hip."), "hip"),
        (("Carla rents a studio from Birgit.", "Her flat is in Bonn."), "Bonn"),
        (("My brother Marc introduced me to Felix.", "He is getting divorced."), "divorced"),
        (("My daughter fought with the neighbour's girl.", "She has a scar."), "scar"),
        (("Our trainer and the physiotherapist disagree.", "He says I should rest."), "rest"),
        (("The nurse called my aunt.", "She has to take pills twice a day."), "pills"),
        (("My cousin got engaged to a pilot.", "She is from Malta."), "Malta"),
        (("Rosa handed the project over to Mina.", "She will be away until July."), "July"),
        (("My sister met Clara.", "She is opening a shop in Bonn."), "Bonn"),
        (("My son Paul has a new teacher.", "He is in third grade."), "grade"),
    ],
)
def test_in_doubt_nothing_is_kept(lines: tuple[str, ...], never: str) -> None:
    assert never not in _kept(*lines)


def test_two_facts_of_one_sentence_stay_joined_where_two_people_fit() -> None:
    told = _kept("My boss Ilse met Anna and she leads the sales team now.")
    assert told.endswith("Dana's boss Ilse met Anna and she leads the sales team now.")


def test_whom_the_agent_asks_about_may_be_meant_as_well() -> None:
    found = both_passes(
        "user: Malin wrote the runbook last year.",
        "assistant: Is the CEO informed?",
        "user: Not yet. I tell her on Monday.",
    )
    assert not any("tells Malin" in each.content for each in found)
