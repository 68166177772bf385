"""Which lines say the same, and which only sound alike."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.duplicates import plain_words, said_saying, saying
from memory.domain.rendering import Opposite, SaidLine
from memory.domain.types import MemoryType
from tests.support.prompt_lines import FEB_9, line


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sarah prefers TypeScript.", "sarah prefers TypeScript"),
        ("The team uses PostgreSQL.", "Team uses the PostgreSQL!"),
        ("A lift is in Block A.", "The lift is in Block A."),
        ("The block has a lift.", "Block has the lift."),
        ("They use TypeScript.", "They use Typescript."),
        ("Sarah really likes  black coffee.", "Sarah likes black coffee."),
        ("The deadline is on March 15.", "Deadline is March 15."),
        ("The deadline is on March 15.", "The deadline is the 15th of March."),
        ("The deadline is on Friday.", "Deadline is Friday."),
        ("On 2026-03-15 they sign.", "On 15 March 2026, they sign."),
        ("Mar. 3 is a holiday.", "March the third is a holiday."),
        ("Nina has 2 cats.", "Nina has two cats."),
        ("Twenty-one people came.", "21 people came."),
        ("The rent is $1,200.", "Rent is 1200 dollars."),
        ("It grew by 5 %.", "It grew by 5%."),
        ("It grew by five percent.", "It grew by 5%."),
        ("Standup is at 3 pm.", "The standup is at 15:00."),
        ("Standup is at 10 am.", "The standup is at 10:00."),
        ("Lunch is at noon.", "Lunch is at 12:00."),
        ("The gates close at midnight.", "The gates close at 12 am."),
        ("The parcel weighs 5kg.", "The parcel weighs 5 kg."),
        ("The disk has 16GB.", "The disk has 16 GB."),
        ("The second try failed.", "The 2nd try failed."),
        ("Sarah doesn't eat meat.", "Sarah does not eat meat."),
        ("We cannot deploy on Fridays.", "We can’t deploy on Fridays."),
    ],
)
def test_the_same_words_say_the_same(one: str, other: str) -> None:
    assert saying(line(one)) == saying(line(other))
    assert plain_words(one) == plain_words(other)


WORDS = st.sampled_from(
    [
        *("Shouldn't", "should not", "students're", "Students are", "'students'", "students'"),
        *("classes", "class", "PREFERENCE", "(preferences)", "prefer-", "preferences's", "ﬁnishes"),
        *("seventeen", "17", "Thursdays", "Thursday", "million", "1,000,000", "percent", "%"),
        *("the", "Very", "finishe", "straße", "STRASSES", "strasse", "twenty-seventh", "27th"),
        *("foobars.bazquxe", "well-mannered", "cannot", "can not", "midnight", "0:00", "noon"),
        *("dollars", "$5", "5 dollars", "5mins", "5 mins", "March", "Mar.", "also", "can't"),
        *("A", "a", "That", "just", "MB", "Mb", "IT", "it", "TypeScript", "Typescript", "owe"),
    ]
)


@given(st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3))
def test_what_says_the_same_is_alike(one: list[str], other: list[str]) -> None:
    first, second = line(" ".join([*one, "so"])), line(" ".join([*other, "so"]))
    if saying(first) == saying(second):
        assert plain_words(first.content) == plain_words(second.content)


def test_other_words_tell_lines_apart_at_once() -> None:
    assert plain_words("Nina prefers espresso.") != plain_words("Nina prefers cappuccino.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Block A has no lift.", "The block has no lift."),
        ("The lab tests Sample A.", "The lab tests the Sample."),
        ("On Monday Team A deploys.", "On Monday the Team deploys."),
        ("Nina takes vitamin A.", "Nina takes vitamin."),
        ("Nina takes vitamin a.", "Nina takes vitamin."),
        ("Nina likes The Very.", "Nina likes The."),
        ("Edwards owes Robert forty crowns.", "Edward owes Roberts forty crowns."),
        ("Adam Williams trains Peters.", "Adams William trains Peters."),
        ("Edwards trains player after player.", "Edward trains players after player."),
        ("The admins can reboot the server.", "The admin can reboot the servers."),
        ("The coach trains the players in a hall.", "The coach train the players in halls."),
        ("Nina eats just lentils.", "Nina eats lentils."),
        ("Nina simply walked.", "Nina walked."),
        ("Files may have 5 MB.", "Files may have 5 Mb."),
        ("The link moves 5 GB a second.", "The link moves 5 Gb a second."),
        ("The plant makes 5 mW.", "The plant makes 5 MW."),
        ("The offer is for US customers.", "The offer is for us customers."),
        ("IT is slow to answer.", "It is slow to answer."),
        ("The bank uses SWIFT.", "The bank uses Swift."),
        ("The port is 5432.", "The port is 5433."),
        ("The deploy goes to Paris.", "The deploy goes to Berlin."),
        ("Sarah eats meat.", "Sarah eats no meat."),
        ("She can't come.", "She can come."),
        ("Turn the heater on.", "Turn the heater off."),
        ("Today Sarah called Dmitri.", "Today Dmitri called Sarah."),
        ("She speaks Polish.", "She speaks polish."),
        ("The test passed.", "The test failed."),
        ("Sarah lives in Berlin.", "Sarah's brother lives in Berlin."),
        ("The build uses C.", "The build uses C++."),
        ("Sarah was a manager.", "Sarah is a manager."),
        ("The class is full.", "The clas is full."),
        ("The deadline is March 15.", "The deadline is May 15."),
        ("The deadline is March 15.", "The deadline is March 15, 2027."),
        ("Nina works on Friday.", "Nina works on Fridays."),
        ("Nina has a cat.", "Nina has cats."),
        ("The door code is 042.", "The door code is 42."),
        ("It runs on Python 3.1.", "It runs on Python 3.10."),
        ("Standup is at 9:00.", "Standup is at 9 pm."),
        ("Standup is at 10:00.", "Standup is at 10 pm."),
        ("Lunch is at noon.", "Lunch is at midnight."),
        ("The parcel weighs 5kg.", "The parcel weighs 5g."),
        ("The parcel weighs 5kg.", "The parcel weighs 15 kg."),
        ("The phone has 5G.", "The phone has 5 g."),
        ("The rope is 3m long.", "The rope is 3mm long."),
        ("Call +49 30 1234.", "Call 49 30 1234."),
        ("The race is on the first of May.", "The race is on the first of June."),
        ("The trip is in May.", "The trip is in mid-May."),
        ("The sale ends on 3/4/2026.", "The sale ends on 4/3/2026."),
    ],
)
def test_whatever_differs_is_shown(one: str, other: str) -> None:
    assert saying(line(one)) != saying(line(other))


def test_a_statement_is_the_same_whatever_it_is_filed_as() -> None:
    text = "Sarah likes tea."
    kinds = ("AGENT_PRIVATE", "SHARED", "USER_PROFILE", "INSIGHT")
    preference = line(text, category="preferences")

    assert {saying(line(text, MemoryType[kind])) for kind in kinds} == {saying(line(text))}
    assert saying(preference) == saying(line(text))


@pytest.mark.parametrize("kind", [MemoryType.IDENTITY, MemoryType.PROCEDURAL, MemoryType.EPISODIC])
def test_what_an_agent_is_does_or_saw_is_another_statement(kind: MemoryType) -> None:
    assert saying(line("Uses Redis.", kind)) != saying(line("Uses Redis."))


def test_what_is_past_is_not_what_stands() -> None:
    text = "Sarah lives in Berlin."
    lines = [line(text, status=status) for status in ("active", "superseded", "archived")]

    assert len({saying(each) for each in lines}) == 3


def test_a_message_says_what_a_memory_in_the_same_words_says() -> None:
    said = SaidLine("the deadline is on March 15", "Sarah", FEB_9)
    again = SaidLine("Deadline is March 15.", "Omar", FEB_9.replace(day=20))
    known = line("The deadline is the 15th of March.")

    assert said_saying(said) == said_saying(again) == saying(known)
    assert plain_words(said.text) == plain_words(again.text) == plain_words(known.content)
    disputed = line(known.content, status="disputed")
    assert said_saying(said) != saying(disputed)


@pytest.mark.parametrize(
    ("text", "speakers", "days"),
    [
        ("Tea is in the kitchen.", 1, 1),
        ("I prefer tea.", 2, 1),
        ("I'm from Basel.", 2, 1),
        ("It is done.", 2, 2),
        ("The review is tomorrow.", 2, 2),
        ("The review is on Friday.", 2, 2),
    ],
)
def test_who_says_it_and_when_counts_where_the_words_hang_on_that(
    text: str, speakers: int, days: int
) -> None:
    by_speaker = {said_saying(SaidLine(text, name, FEB_9)) for name in ("Sarah", "Omar")}
    by_day = {said_saying(SaidLine(text, "Sarah", FEB_9.replace(day=day))) for day in (9, 10)}

    assert (len(by_speaker), len(by_day)) == (speakers, days)
    if speakers > 1:
        assert saying(line(text)) not in by_speaker


def test_kinds_days_and_disputes_tell_lines_apart() -> None:
    text = "Sarah went running."
    event = line(text, MemoryType.EPISODIC, happened_at=FEB_9)

    assert saying(event) != saying(line(text))
    assert saying(event) != saying(
        line(text, MemoryType.EPISODIC, happened_at=FEB_9.replace(day=10))
    )
    assert saying(event) == saying(
        line(text, MemoryType.EPISODIC, happened_at=FEB_9.replace(hour=1))
    )
    assert saying(line(text)) != saying(line(text, opposites=(Opposite("No.", FEB_9),)))


@given(st.text(max_size=30), st.integers(0, 9), st.integers(0, 9))
def test_another_number_is_always_another_statement(text: str, one: int, other: int) -> None:
    same = saying(line(f"{text} {one}")) == saying(line(f"{text} {other}"))

    assert same == (one == other)


SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
ENDINGS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}


class Meaning(NamedTuple):
    """What a statement says."""

    who: str
    is_denied: bool
    number: int
    month: int
    day: int
    year: str
    hour: int


MEANINGS = st.builds(
    Meaning,
    who=st.sampled_from(["Nina", "Omar"]),
    is_denied=st.booleans(),
    number=st.integers(0, 9) | st.integers(0, 3_000_000),
    month=st.integers(1, 9),
    day=st.integers(1, 28),
    year=st.sampled_from(["", "2025", "2026"]),
    hour=st.integers(13, 22),
)


def written(meaning: Meaning, data: st.DataObject) -> str:
    """One of the ways to write it."""
    count, month, day = meaning.number, MONTHS[meaning.month - 1], meaning.day
    place = f"{day}{ENDINGS.get(day, 'th')}"
    ways = [
        [meaning.who],
        ["doesn't", "does not"] if meaning.is_denied else ["does"],
        ["need"],
        [str(count), f"{count:,}", *SMALL[count : count + 1]],
        ["seats on", "seats"],
        [f"{month} {day}", f"{month} {place}", f"{day} {month}", f"the {place} of {month}"],
        [meaning.year],
        ["at"],
        [f"{meaning.hour}:00", f"{meaning.hour - 12} pm", f"{meaning.hour - 12}:00 PM"],
    ]
    return " ".join(data.draw(st.sampled_from(each)) for each in ways)


@given(MEANINGS, st.data())
def test_one_thing_is_the_same_however_it_is_written(meaning: Meaning, data: st.DataObject) -> None:
    assert saying(line(written(meaning, data))) == saying(line(written(meaning, data)))


@given(MEANINGS, MEANINGS, st.sampled_from(Meaning._fields), st.data())
def test_another_name_negation_number_day_or_time_is_another_statement(
    one: Meaning, other: Meaning, field: str, data: st.DataObject
) -> None:
    changed = one._replace(**{field: getattr(other, field)})

    same = saying(line(written(one, data))) == saying(line(written(changed, data)))
    assert same == (one == changed)


@given(MEANINGS, st.sampled_from(["Omar", "not", "17", "March", "16th", "Lena"]), st.data())
def test_a_word_more_is_another_statement(meaning: Meaning, more: str, data: st.DataObject) -> None:
    words = written(meaning, data).split()
    at = data.draw(st.integers(0, len(words)))
    longer = " ".join([*words[:at], more, *words[at:]])

    assert saying(line(" ".join(words))) != saying(line(longer))
