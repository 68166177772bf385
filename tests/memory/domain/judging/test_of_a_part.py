"""News of a part or belonging of a thing leaves what is told of the thing itself as it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.domain.judging import RulesJudge
from memory.domain.types import Judgement, Statement, Verdict

BEFORE, AFTER = datetime(2026, 8, 3, tzinfo=UTC), datetime(2026, 9, 8, tzinfo=UTC)


def judged(existing: str, new: str) -> Judgement:
    return RulesJudge().judge(existing=Statement(existing, BEFORE), new=Statement(new, AFTER))


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        # Whatever somebody does with the whole, and whatever is done to the part.
        ("Selma owns the vineyard.", "Selma replaced the vineyard's pump."),
        ("Selma owns the vineyard.", "Selma replaced the pump of the vineyard."),
        ("Jonah practises on the piano every day.", "Jonah changed the piano's lid."),
        ("Signe restores the tram.", "The tram's bell was replaced last week."),
        ("Oskar insured the tractor.", "Oskar switched the tractor's radio off."),
        ("Kemal bought the printer in May.", "Kemal replaced the printer's cartridge."),
        ("Bertil runs a hostel in Malmo.", "Bertil replaced the hostel's boiler."),
        ("Hamid tested the barcode scanner.", "Hamid replaced the barcode scanner's battery."),
        ("Nele runs the brewery.", "Nele replaced the brewery's accountant."),
        ("Wanda steers the ferry.", "Wanda no longer paints the ferry's hull."),
        ("Amir drives the school bus.", "Amir now cleans the school bus's windows."),
        ("User sleeps in the campervan.", "User sold the campervan's awning."),
        # In other words for the same.
        ("Yara cleaned the coach.", "Yara replaced a window in the coach."),
        ("Yara sleeps in the caravan.", "Yara replaced the caravan tyres."),
        ("Gil breeds the huskies.", "Gil changed the huskies' food."),
        ("Ruben lives in the loft.", "Ruben put new curtains in the loft."),
        # Another thing is told beside the whole, known to be no such part.
        ("My daughter Tove plays the cello.", "Tove replaced the cello's strings."),
        ("We store the kayaks in the boathouse.", "We replaced the boathouse's door."),
        ("We keep the hens in the walled garden.", "We changed the garden's gate latch."),
        ("Wanda is the owner of the ferry.", "Wanda replaced the ferry's engine."),
        # The whole is the subject: where it is, whose it is, what it is.
        ("The tractor belongs to Oskar.", "Oskar replaced the tractor's exhaust."),
        ("The warehouse is in Leith.", "Kofi no longer feeds the warehouse's cat."),
        ("The lighthouse stands on Farn Island.", "Rhea renewed the lighthouse's roof."),
        ("The museum is next to the river.", "The museum's guided tour was cancelled."),
        ("Bella is a Labrador.", "Bertil replaced Bella's collar."),
        ("The cabin was built in 1931.", "Max replaced the cabin's roof."),
        # Software and teams.
        ("Priya maintains the billing service.",
         "Priya changed the billing service's timeout to 30 seconds."),
        ("Marek reviews the parser.", "Marek dropped the parser's legacy flag."),
        ("Ines belongs to the choir.", "Ines changed the choir's logo."),
        ("Ravi owns the restaurant.", "Ravi changed the restaurant's opening hours."),
        # Of somebody: what they have, and who is theirs.
        ("Hedda nurses Otto.", "Hedda changed Otto's bandage."),
        ("Hedda lives with Otto.", "Hedda no longer walks Otto's dog."),
        ("Lena is Tom's aunt.", "Lena sold Tom's bicycle."),
        ("Lena drives Tom to school.", "Lena no longer drives Tom's sister to school."),
        ("Pia rides the mare.", "Pia sold the mare's foal."),
    ],
)  # fmt: skip
def test_news_of_a_part_leaves_the_whole(existing: str, new: str) -> None:
    assert judged(existing, new).verdict is Verdict.COEXIST


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        # The part, or its value, is what the earlier one tells.
        ("The vineyard has an electric pump.", "Selma replaced the vineyard's pump."),
        ("Tove's cello has gut strings.", "Tove replaced the cello's strings by steel ones."),
        ("The hostel's boiler is from 1990.", "Bertil replaced the hostel's boiler."),
        ("Kofi feeds the warehouse's cat.", "Kofi no longer feeds the warehouse's cat."),
        ("The scheduler retries 3 times.", "Zoe changed the scheduler's retry limit to 5."),
        ("The bakery is called Crumbs.", "Abel changed the bakery's name to Kneads."),
        ("The van is red.", "Ivo changed the van's colour to blue."),
        ("We use Redis in the app.", "We replaced the app's cache with Valkey."),
        ("The billing service runs on Postgres.",
         "We replaced the billing service's database with MySQL."),
        ("Max heats the cabin with wood.", "Max replaced the cabin's stove with a heat pump."),
        # The hold that somebody has of the whole.
        ("Kofi rents the warehouse.", "Kofi cancelled the warehouse's lease."),
        ("Kofi manages the warehouse.", "Kofi gave up the warehouse's management."),
        ("Abel owns the bakery.", "Abel is no longer the bakery's owner."),
        ("Kofi owns the warehouse.", "Kofi sold his share of the warehouse."),
        # The whole itself is spoken of.
        ("Selma owns the vineyard.", "Selma sold the vineyard and kept its press."),
        ("The van is broken.", "Ivo replaced the van's battery and it runs again."),
        ("Cleo works at the museum.", "Cleo switched to the museum's competitor."),
        ("Ann works at Acme's Lyon office.", "Ann left Acme's Lyon office."),
        ("Kari works for Nord.", "Kari left Nord's Oslo office."),
        ("Ann is Tom's wife.", "Tom divorced Ann."),
        ("Bo hosts the podcast.", "Bo stopped the podcast's production."),
    ],
)  # fmt: skip
def test_news_of_what_was_told_still_ends_it(existing: str, new: str) -> None:
    assert judged(existing, new).verdict is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Amir cleans the bus.", "Amir no longer cleans the bus's windows."),
        ("Juno teaches Piet chess.", "Juno stopped watering Piet's plants."),
        ("The server is in the basement.", "We moved the server's rack to the attic."),
        ("Ann works in the hotel.", "Ann no longer works in the hotel's kitchen."),
    ],
)
def test_where_the_part_may_be_what_was_told_it_retires_nothing(existing: str, new: str) -> None:
    assert judged(existing, new).verdict is Verdict.DISPUTE
