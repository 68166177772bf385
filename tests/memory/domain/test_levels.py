"""The four levels of a memory's text: shorter and shorter, and never another statement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.levels import INDEX_CHARS, ORDER, Levels, checked_levels, levels_of
from memory.domain.rendering import estimate_tokens

STORY = (
    "The team decided to use PostgreSQL as the primary database because of its strong support"
    " for JSON operations. Everybody knows it from earlier projects, and nobody wanted to run"
    " two databases. Redis stays the cache, and Kafka was not chosen because it costs too much."
)
texts = st.one_of(
    st.text(min_size=1, max_size=600).filter(str.strip),
    st.lists(st.sampled_from(STORY.split()), min_size=1, max_size=120).map(" ".join),
    st.text(alphabet="a", min_size=1, max_size=400),
)


@given(texts)
def test_a_shorter_level_is_never_longer_in_tokens(content: str) -> None:
    levels = levels_of(content)
    sizes = [estimate_tokens(levels.at(level, content)) for level in ORDER]
    assert sizes == sorted(sizes, reverse=True)
    assert len(levels.index_term) <= INDEX_CHARS


@given(texts)
def test_levels_hold_no_word_that_the_text_does_not(content: str) -> None:
    levels = levels_of(content)
    for level in ORDER[1:]:
        words = levels.at(level, content).replace("…", " ").split()
        assert all(word.strip(".,;:") in content for word in words)


def test_a_long_text_is_summed_up_by_its_first_sentences() -> None:
    levels = levels_of(STORY)
    assert levels.summary.startswith("The team decided to use PostgreSQL")
    assert levels.summary.endswith("…")
    assert "Kafka" not in levels.summary
    assert estimate_tokens(levels.compressed) < estimate_tokens(levels.summary)


def test_a_short_text_is_told_whole_down_to_its_index_term() -> None:
    text = "The user does not want to be called before 10."
    levels = levels_of(text)
    assert (levels.summary, levels.compressed) == (text, text)
    assert levels.index_term == text.rstrip(".")


def test_below_the_first_sentence_stands_its_beginning() -> None:
    levels = levels_of(STORY)
    for shorter in (levels.compressed.removesuffix(" …"), levels.index_term):
        assert STORY.startswith(shorter)


def test_of_two_short_sentences_the_compressed_text_is_the_first() -> None:
    levels = levels_of("Sarah does not eat nuts. She carries a pen.")
    assert levels.compressed == "Sarah does not eat nuts."
    assert levels.index_term == "Sarah does not eat nuts"


def test_an_episode_may_carry_its_own_shorter_texts() -> None:
    story = "The login broke. " * 40
    payload = {
        "title": "Login",
        "narrative": story,
        "summary": "The clock of the login was in the wrong time zone.",
        "compressed": "login: clock in UTC",
        "index": "login_clock",
    }

    levels = levels_of(f"Login: {story}", form="episode", payload=payload)

    assert levels.summary == payload["summary"]
    assert (levels.compressed, levels.index_term) == ("login: clock in UTC", "login_clock")


@pytest.mark.parametrize("form", ["decision", "failure", "convention", "workflow"])
def test_a_form_keeps_what_it_is_for(form: str) -> None:
    text = (
        "All money is stored as whole numbers of cents, because fractions lost a cent in two of"
        " every hundred invoices and nobody found out for a year."
    )

    assert levels_of(text, form=form).compressed == levels_of(text, form=form).summary


def test_a_payload_gives_the_shorter_levels() -> None:
    steps = {"trigger": "deploy", "steps": ["test", "build", "stage"]}
    levels = levels_of("deploy: test → build → stage", form="workflow", payload=steps)
    assert (levels.compressed, levels.index_term) == ("deploy: test→build→stage", "deploy")
    fact = {"key": "error_handling", "value": "Result over try-catch"}
    levels = levels_of(
        "error_handling: Result over try-catch (typescript)", form="fact", payload=fact
    )
    assert levels.compressed == "error_handling: Result over try-catch"


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        (Levels("PostgreSQL is the database.", "PostgreSQL database", "database"), "is"),
        (Levels("The team decided", "decided to use PostgreSQL as primary", "use"), "longer"),
        (Levels("The team decided", "", "use"), "empty"),
        (Levels("The team decided", "team decided", "team decided"), ""),
    ],
)
def test_a_model_may_only_leave_words_out(levels: Levels, problem: str) -> None:
    said = checked_levels(levels, content=STORY, payload={})
    assert problem in said if problem else said == ""
