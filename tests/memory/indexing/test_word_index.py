"""The index of words: whose memories it answers for, and what it takes for a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.db import connection
from numpy.typing import NDArray

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Tier
from memory.models import Memory
from memory.selectors.search.signal_rows import Sought
from memory.selectors.search.signals import (
    find_candidates,
    frequent_terms,
    remember_frequent,
    worth_looking_up,
)
from memory.selectors.search.vectors import forget_graphs
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory
from teams.prepared import uuids
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast
from tests.support.embedders import random_tools
from tests.support.writing import draft, store, write

EVERYBODY = ("",)


@pytest.fixture
def random(tools: Tools) -> Tools:
    """Tools with random vectors, so that words alone say what is found."""
    return random_tools(tools)


def matches(
    team_id: UUID | None,
    *terms: str,
    owners: Sequence[str] = EVERYBODY,
    with_cold: bool = False,
    most: int = 100,
) -> dict[int, set[UUID]]:
    """Returns the memories that the database matches with each term, numbered from 1."""
    found: dict[int, set[UUID]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT term, memory_id FROM palimpsest_matches(%s, %s, %s, %s, %s, NULL, NULL)",
            [team_id, list(owners), with_cold, list(terms), most],
        )
        for term, memory_id in cursor.fetchall():
            found.setdefault(term, set()).add(memory_id)
    return found


def holding(viewer: Viewer, *terms: str, only: Sequence[UUID] | None = None) -> list[int]:
    """Returns the number of memories that hold each term, according to a question's candidates."""
    sought = Sought(terms, no_vector(), "random@32", only=None if only is None else uuids(only))
    return list(find_candidates(viewer=viewer, sought=sought).holding)


def found_by(viewer: Viewer, term: str, only: Sequence[UUID] | None = None) -> set[UUID]:
    """The candidates that hold the term."""
    sought = Sought([term], no_vector(), "random@32", only=None if only is None else uuids(only))
    rows = find_candidates(viewer=viewer, sought=sought).rows
    return {row.memory_id for row in rows if row.terms}


def no_vector() -> NDArray[np.float32]:
    return np.zeros(32, dtype=np.float32)


# -- whose it answers for --------------------------------------------------------------------


def test_a_team_outside_the_scope_is_answered_with_nothing(
    acme: Cast, globex: Cast, random: Tools
) -> None:
    store(globex, random, "The vault code is blue.")

    assert matches(globex.team.id, "vault") == {}
    assert matches(None, "vault") == {}
    with team_scope(team_ids=[globex.team.id], actor="test"):
        assert len(matches(globex.team.id, "vault")[1]) == 1
    with team_scope(team_ids=[], actor="test"):
        assert matches(globex.team.id, "vault") == {}


def test_a_scope_of_two_teams_is_answered_for_the_asked_one(
    acme: Cast, globex: Cast, random: Tools
) -> None:
    (here,) = store(acme, random, "The vault code is blue.")
    store(globex, random, "The vault code is red.")

    with team_scope(team_ids=[acme.team.id, globex.team.id], actor="test"):
        assert matches(acme.team.id, "vault") == {1: {here.pk}}


def test_it_answers_for_the_named_owners_only(acme: Cast, random: Tools) -> None:
    (sarahs,) = store(acme, random, "Sarah likes tea.", end_user_id=acme.sarah.pk)
    (dmitris,) = store(acme, random, "Dmitri likes tea.", end_user_id=acme.dmitri.pk)
    (nobodys,) = store(acme, random, "The office has tea.")

    team = acme.team.id
    assert matches(team, "tea", owners=[str(acme.sarah.pk)]) == {1: {sarahs.pk}}
    assert matches(team, "tea", owners=["nobody"]) == {1: {nobodys.pk}}
    assert matches(team, "tea", owners=[str(uuid4())]) == {}
    assert matches(team, "tea") == {1: {sarahs.pk, dmitris.pk, nobodys.pk}}


def test_deleted_ones_are_not_found_and_past_ones_only_on_demand(
    acme: Cast, viewer: Viewer, random: Tools
) -> None:
    gone, cold, old, here = store(acme, random, *(f"Tea of day {number}." for number in range(4)))
    delete_memory(viewer=viewer, memory_id=gone.pk)
    Memory.objects.filter(pk=cold.pk).update(tier=Tier.COLD.value)
    write(acme, random, draft(acme, "Coffee now.", replaces=(old.pk,)))

    assert matches(acme.team.id, "tea") == {1: {here.pk}}
    assert matches(acme.team.id, "tea", with_cold=True) == {1: {here.pk, cold.pk, old.pk}}


# -- what a word is --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The user-friendly form.", "user-friendly"),
        ("The user-friendly form.", "friendly"),
        ("The colour of O'Brien's door.", "o'brien"),
        ("The dog barks.", "barking"),
        ("See docs.example.com for more.", "docs.example.com"),
        ("Version 3.5 is out.", "3.5"),
        ("Der Zug fährt früh.", "früh"),
        ("東京 は 大きい", "東京"),
        ("The crab 🦀 is red.", "crab"),
    ],
)
def test_a_word_is_found_in_each_of_its_forms(
    acme: Cast, random: Tools, text: str, term: str
) -> None:
    (memory,) = store(acme, random, text)

    assert matches(acme.team.id, term) == {1: {memory.pk}}


def test_a_term_of_several_words_must_be_held_whole(acme: Cast, random: Tools) -> None:
    (both, _) = store(acme, random, "The red door.", "The red car.")

    assert matches(acme.team.id, "red door") == {1: {both.pk}}


@pytest.mark.parametrize("term", ["the", "", " ", "?!", "'; DROP TABLE x; --", "\\", "%", "a & !b"])
def test_what_is_no_word_finds_nothing_and_hurts_nobody(
    acme: Cast, random: Tools, term: str
) -> None:
    (memory,) = store(acme, random, "The crab is red.")

    assert matches(acme.team.id, term, "crab") == {2: {memory.pk}}


def test_a_very_long_word_is_stored_and_found_by_the_others(acme: Cast, random: Tools) -> None:
    (memory,) = store(acme, random, f"The crab {'x' * 2_000} is red {'y' * 3_000}.")

    assert matches(acme.team.id, "crab", "x" * 2_000) == {1: {memory.pk}, 2: {memory.pk}}


def test_a_memory_without_words_is_stored(acme: Cast, random: Tools) -> None:
    store(acme, random, "And so it is.", "🦀🦀🦀")

    assert matches(acme.team.id, "and", "🦀") == {}


# -- frequent words --------------------------------------------------------------------------


@pytest.fixture
def teas(acme: Cast, random: Tools) -> list[Memory]:
    """So many memories of Kyra's in a project that the word they share is frequent."""
    project = factories.ProjectFactory.create(team=acme.team)
    texts = (f"The tea of day {number}." for number in range(1_050))
    return store(acme, random, *texts, agent_id=acme.kyra.pk, project_id=project.pk)


def test_a_frequent_word_counts_as_held_by_all(
    acme: Cast, viewer: Viewer, random: Tools, teas: list[Memory]
) -> None:
    store(acme, random, "The rare crab.")

    assert holding(viewer, "tea", "crab", "unheard") == [1_051, 1, 0]


def test_what_is_frequent_among_others_is_found_for_an_agent(
    acme: Cast, random: Tools, teas: list[Memory]
) -> None:
    private = MemoryType.AGENT_PRIVATE
    (own,) = store(acme, random, "Luke's tea.", memory_type=private, agent_id=acme.luke.pk)
    (shared,) = store(acme, random, "Our tea.", memory_type=MemoryType.SHARED)
    luke = Viewer(team_id=acme.team.id, actor="test", agent_id=acme.luke.pk)

    assert found_by(luke, "tea") == {own.pk, shared.pk}
    assert holding(luke, "tea") == [2]


def test_what_is_frequent_among_others_is_found_in_a_project(
    acme: Cast, random: Tools, teas: list[Memory]
) -> None:
    project = factories.ProjectFactory.create(team=acme.team)
    (of_project,) = store(acme, random, "Tea for the project.", project_id=project.pk)
    (for_all,) = store(acme, random, "Tea for all.")
    narrowed = Viewer(team_id=acme.team.id, actor="test", project_id=project.pk)

    assert found_by(narrowed, "tea") == {of_project.pk, for_all.pk}
    assert holding(narrowed, "tea") == [2]


def test_a_filter_finds_a_frequent_word_among_what_it_leaves(
    acme: Cast, viewer: Viewer, teas: list[Memory]
) -> None:
    only = [memory.pk for memory in teas[500:503]]

    assert found_by(viewer, "tea", only) == set(only)
    assert holding(viewer, "tea", "red-hot", "the", "o'brien", only=only) == [3, 0, 0, 0]


@pytest.mark.parametrize("term", ["o'brien", "red door", "docs.example.com", "3.5", "früh", "ran"])
def test_a_filter_and_the_index_agree_on_a_word(
    acme: Cast, viewer: Viewer, random: Tools, term: str
) -> None:
    memories = store(
        acme,
        random,
        "O'Brien's red door is red.",
        "See docs.example.com for version 3.5.",
        "Der Zug fährt früh, we run.",
        "A red car, a brown door.",
    )
    only = [memory.pk for memory in memories]

    assert (
        found_by(viewer, term, only)
        == found_by(viewer, term)
        == matches(acme.team.id, term).get(1, set())
    )


# -- words that say nothing ------------------------------------------------------------------


@pytest.fixture
def crowded(acme: Cast, random: Tools) -> Iterator[Viewer]:
    """A team in which more memories hold "cat" and "dog" than are worth looking up."""
    forget_graphs()
    frequent_terms.clear()
    store(acme, random, *(f"The cat met dog number {number}." for number in range(1_020)))
    store(acme, random, "The cat met a giraffe.", "A giraffe slept.")
    yield Viewer(team_id=acme.team.id, actor="test")
    forget_graphs()
    frequent_terms.clear()


def test_a_frequent_word_counts_as_held_by_all_however_often_it_is_asked(crowded: Viewer) -> None:
    asked = [holding(crowded, "cat", "giraffe") for _ in range(3)]

    assert asked == [[1_022, 2]] * 3


def test_a_word_known_as_frequent_is_left_out_until_it_is_all_there_is() -> None:
    frequent_terms.clear()
    remember_frequent(owner="acme", terms=["cat", "", "dog"])

    assert worth_looking_up(owner="acme", terms=["cat", "giraffe"]) == ["", "giraffe"]
    assert worth_looking_up(owner="acme", terms=["cat", "dog"]) == ["cat", "dog"]
    assert worth_looking_up(owner="globex", terms=["cat", "giraffe"]) == ["cat", "giraffe"]
    frequent_terms.clear()
    assert worth_looking_up(owner="acme", terms=["cat", "giraffe"]) == ["cat", "giraffe"]


def test_where_frequent_words_are_all_there_is_they_are_looked_up(crowded: Viewer) -> None:
    first = holding(crowded, "cat", "giraffe"), holding(crowded, "dog", "giraffe")
    assert [each[1] for each in first] == [2, 2]

    alone, both = found_by(crowded, "cat"), holding(crowded, "cat", "dog")

    assert alone
    assert all(1_000 <= count < 1_022 for count in both)
    # A word that nothing holds does not make them rare.
    assert holding(crowded, "cat", "okapi")[1] == 0
    assert found_by(crowded, "dog")
