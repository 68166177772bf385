"""What an explicit change replaces, and what of it only adds."""

from __future__ import annotations

import pytest

from memory.domain.judging.pairs.change_words import tells_change
from memory.domain.judging.relatedness import Change, names_change
from memory.domain.types import Statement, Verdict

from .test_rules_judge import EARLIER, LATER, judge


def named(existing: str, new: str) -> Change:
    return names_change(existing=Statement(existing, EARLIER, ""), new=Statement(new, LATER, ""))


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Sarah prefers TypeScript.", "Sarah now prefers JavaScript."),
        ("User prefers dark mode.", "User now prefers light mode."),
        ("The office has moved to Munich.", "The office has moved back to Berlin."),
        ("Erik lives in Munich.", "Erik moved back to Berlin."),
        ("The team uses Jira.", "The team now uses Linear."),
        ("The team uses Jira.", "The team uses Linear instead."),
        ("The team uses Jira.", "From now on the team uses Linear."),
        ("The build runs on Jenkins.", "The build now runs on Buildkite."),
        ("Ada is in Paris.", "Ada is now in Rome."),
    ],
)
def test_a_new_value_of_the_same_aspect_supersedes_whatever_its_kind(
    existing: str, new: str
) -> None:
    assert judge(existing, new).verdict is Verdict.SUPERSEDE
    assert named(existing, new) is Change.OF_ASPECT


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team uses Jira.", "The team now also uses Linear."),
        ("The team uses Jira.", "The team now uses Linear as well."),
        ("Sarah likes coffee.", "Sarah now likes tea."),
        ("Sarah speaks French.", "Sarah now speaks Dutch."),
        ("Sarah prefers TypeScript.", "Tom now prefers JavaScript."),
        ("User drinks coffee.", "User now works in Bonn."),
    ],
)
def test_what_is_added_or_belongs_to_another_changes_nothing(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.COEXIST
    assert named(existing, new) is Change.NONE


def test_without_a_word_of_change_two_preferences_are_a_dispute() -> None:
    verdict = judge("Sarah prefers TypeScript.", "Sarah prefers JavaScript.").verdict

    assert verdict is Verdict.DISPUTE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team's carrier is DHL.", "The team's carrier is now UPS, the team dropped DHL."),
        ("The team uses Jira.", "The team uses Linear instead of Jira."),
        ("The team uses Jira.", "The team no longer uses Jira."),
        ("Tom lives in Rome.", "Tom no longer lives in Rome."),
    ],
)
def test_an_ending_that_names_the_old_value_is_about_it(existing: str, new: str) -> None:
    assert named(existing, new) is Change.ENDED
    assert judge(existing, new).verdict is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("User drinks milk.", "User gave up oat milk."),
        ("The team is seven people.", "The team switched to Danish for its meetings."),
        ("User prefers tea to coffee.", "User switched from oat milk to almond milk in coffee."),
        ("User is single.", "User relocated to Antwerp last month."),
        ("User's father moved to Spain.", "User's parents relocated to Bremen last year."),
        ("The team uses Jira.", "The team did not drop Jira."),
    ],
)
def test_a_change_of_something_else_names_no_change(existing: str, new: str) -> None:
    assert named(existing, new) is Change.NONE


def test_only_words_of_change_tell_a_change() -> None:
    assert tells_change("The team switched to Linear.")
    assert tells_change("The team dropped DHL.")
    assert not tells_change("The team uses Linear.")
    assert not tells_change("The team has not moved to Linear.")


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team switched from Jira to Linear.", "The team switched from Linear to Shortcut."),
        ("The team switched to Linear.", "The team switched from Linear to Shortcut."),
        ("The user moved to Paris.", "The user moved from Paris to Rome."),
        ("Ann changed from Orion to Lyra.", "Ann changed from Lyra to Vega."),
    ],
)
def test_a_change_may_go_on_from_where_the_last_one_led(existing: str, new: str) -> None:
    assert judge(existing, new).verdict is Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("The team switched from Jira to Linear.", "The sales team switched from Linear to Asana."),
        ("The team switched from Jira to Linear.", "The team switched from Slack to Teams."),
        ("The team switched from Jira to Linear.", "The team may switch from Linear to Asana."),
    ],
)
def test_a_change_of_somebody_or_something_else_goes_on_from_nothing(
    existing: str, new: str
) -> None:
    assert judge(existing, new).verdict is not Verdict.SUPERSEDE


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Tom is the user's brother.", "The user has a brother named Tom."),
        ("The user starts work at eight.", "The user joined the company in 2018."),
    ],
)
def test_nothing_is_retired_without_a_word_of_change_on_a_bare_likelihood(
    existing: str, new: str
) -> None:
    assert judge(existing, new).verdict is not Verdict.SUPERSEDE
