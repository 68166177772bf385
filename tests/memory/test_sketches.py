"""Searches of large owners by a sketch find the same, at once after a change, for nobody else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from pytest_django import Settings

from memory.clients.tools import Tools
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.selectors import sketches
from memory.selectors.revisions import team_revision
from memory.selectors.search_statement import FREQUENT_FROM
from memory.selectors.signals import Found, Sought, find_candidates
from memory.selectors.sketches import (
    MOST_CHANGED,
    TeamSketch,
    forget_sketches,
    make_sketch,
    sketch_of,
)
from memory.selectors.vectors import forget_graphs
from memory.services.state import delete_memory
from teams.tenancy import team_scope
from tests.conftest import Cast, make_cast
from tests.memory.given_vectors import random_tools, store

MODEL = "random@32"


@pytest.fixture
def town(committed_db: None, settings: Settings) -> Iterator[Cast]:
    """A team of this test's own that is large from 20 memories on."""
    settings.SKETCH_FROM = 20
    settings.SKETCH_MOST_MEMORIES = 10_000
    forget_graphs()
    forget_sketches()
    yield make_cast(f"town-{uuid4().hex}")
    forget_graphs()
    forget_sketches()


@pytest.fixture
def random(tools: Tools) -> Tools:
    """Tools with random vectors of 32 dimensions."""
    return random_tools(tools)


def facts(count: int, *, about: str = "ferry") -> list[str]:
    """Texts with rare and frequent words in common."""
    return [
        f"The {about} to pier {n % 7} carries crate {n} and lamp {n % 30}." for n in range(count)
    ]


def found(
    cast: Cast, tools: Tools, question: str, *terms: str, viewer: Viewer | None = None
) -> Found:
    """The candidates of a question, as a reader's transaction has them."""
    sought = Sought(terms, tools.embedder.embed([question])[0], MODEL)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return find_candidates(
            viewer=viewer or Viewer(team_id=cast.team.id, actor="test"),
            sought=sought,
            revision=team_revision(team_id=cast.team.id),
        )


def ids(found: Found) -> set[UUID]:
    return {row.memory_id for row in found.rows}


def made(cast: Cast) -> TeamSketch:
    sketch = make_sketch(team_id=cast.team.id, embedding_model=MODEL)
    assert sketch is not None
    return sketch


def changed_since(cast: Cast) -> set[UUID] | None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        known = sketch_of(team_id=cast.team.id, embedding_model=MODEL)
    return None if known is None else set(known[1])


def without_scores(found: Found) -> list[tuple[object, ...]]:
    """What does not depend on how a vector was sent, in one order."""
    rows = sorted(found.rows, key=lambda row: row.memory_id)
    return [tuple(row._replace(cosine=None)) for row in rows]


def cosines(found: Found) -> dict[UUID, float]:
    return {row.memory_id: row.cosine or 0.0 for row in found.rows}


def test_a_sketch_finds_what_the_statement_finds(
    town: Cast, random: Tools, settings: Settings
) -> None:
    """Of 250 memories it takes 300 for near, so that nothing is left to chance."""
    store(town, random, *facts(150), end_user_id=town.sarah.pk)
    store(town, random, *facts(100, about="tram"))
    viewers = [
        Viewer(team_id=town.team.id, actor="test", agent_id=town.kyra.pk, end_user_id=user)
        for user in (None, town.sarah.pk)
    ]
    questions: Sequence[tuple[str, ...]] = [
        ("Which ferry carries lamp 3?", "ferry", "carries", "lamp", "3"),
        ("Where does the tram go?", "tram", "zebra"),
        ("What of the crates?", "crates", "pier", "the"),
    ]
    made(town)
    for viewer in viewers:
        for question, *terms in questions:
            settings.SKETCH_MOST_MEMORIES = 0
            usual = found(town, random, question, *terms, viewer=viewer)
            settings.SKETCH_MOST_MEMORIES = 10_000
            sketched = found(town, random, question, *terms, viewer=viewer)

            assert changed_since(town) == set()
            assert without_scores(sketched) == without_scores(usual)
            assert cosines(sketched) == pytest.approx(cosines(usual))
            assert replace(sketched, rows=[]) == replace(usual, rows=[])


def test_a_change_is_in_the_very_next_answer(town: Cast, random: Tools) -> None:
    stored = store(town, random, *facts(60))
    made(town)
    (new,) = store(town, random, "The walrus is new.")
    delete_memory(viewer=Viewer(team_id=town.team.id, actor="test"), memory_id=stored[7].pk)

    seen = found(town, random, "Where is the walrus?", "walrus", "ferry")

    assert changed_since(town) == {new.pk, stored[7].pk}
    assert [row.terms for row in seen.rows if row.memory_id == new.pk] == [1]
    assert stored[7].pk not in ids(seen)


def test_a_change_counts_for_frequent_words_beside_one_that_nobody_knows(
    town: Cast, random: Tools
) -> None:
    store(town, random, *facts(FREQUENT_FROM + 10))
    made(town)
    (new,) = store(town, random, "The ferry waits for the walrus.")

    seen = found(town, random, "Which ferry is zyxxy?", "ferry", "zyxxy")

    assert [row.terms for row in seen.rows if row.memory_id == new.pk] == [1]


def test_what_a_transaction_wrote_itself_is_found_in_it(town: Cast, random: Tools) -> None:
    store(town, random, *facts(60))
    made(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        (new,) = store(town, random, "The walrus is new.")
        seen = found(town, random, "Where is the walrus?", "walrus")

    assert new.pk in ids(seen)


def test_nobody_finds_by_it_what_others_keep_to_themselves(town: Cast, random: Tools) -> None:
    store(town, random, *facts(40))
    alone = {"agent_id": town.luke.pk, "memory_type": MemoryType.AGENT_PRIVATE}
    (secret,) = store(town, random, "The walrus code is nine.", **alone)
    (dmitris,) = store(town, random, "Dmitri owns a walrus.", end_user_id=town.dmitri.pk)
    made(town)
    (later,) = store(town, random, "The second walrus code is ten.", **alone)
    for agent, user, wanted in (
        (town.kyra, None, {dmitris.pk}),
        (town.kyra, town.sarah, set()),
        (town.luke, None, {secret.pk, later.pk, dmitris.pk}),
        (town.luke, town.dmitri, {secret.pk, later.pk, dmitris.pk}),
    ):
        viewer = Viewer(
            team_id=town.team.id,
            actor="test",
            agent_id=agent.pk,
            end_user_id=user.pk if user else None,
        )
        seen = found(town, random, "walrus", "walrus", viewer=viewer)
        assert ids(seen) & {secret.pk, later.pk, dmitris.pk} == wanted
        # Nor does its number tell.
        assert seen.holding == (len(wanted),)


def test_a_team_that_changed_much_goes_without(town: Cast, random: Tools) -> None:
    store(town, random, *facts(30))
    made(town)
    store(town, random, *facts(MOST_CHANGED, about="tram"))
    assert len(changed_since(town) or ()) == MOST_CHANGED

    (new,) = store(town, random, "The walrus is new.")

    assert changed_since(town) is None
    assert new.pk in ids(found(town, random, "Where is the walrus?", "walrus"))


def test_each_model_has_its_own(town: Cast, random: Tools) -> None:
    store(town, random, *facts(30))
    made(town)

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert sketch_of(team_id=town.team.id, embedding_model="another@32") is None


def test_a_team_without_memories_or_with_too_many_has_none(
    town: Cast, random: Tools, settings: Settings
) -> None:
    assert make_sketch(team_id=town.team.id, embedding_model=MODEL) is None
    store(town, random, *facts(30))
    settings.SKETCH_MOST_MEMORIES = 29

    assert make_sketch(team_id=town.team.id, embedding_model=MODEL) is None


def test_a_process_keeps_the_latest_that_it_has_room_for(
    town: Cast, random: Tools, settings: Settings
) -> None:
    other = make_cast(f"other-{uuid4().hex}")
    for cast in (town, other):
        store(cast, random, *facts(30))
    settings.SKETCH_MOST_MEMORIES = 50
    made(town)
    assert changed_since(town) == set()
    made(other)

    assert changed_since(town) is None
    assert changed_since(other) == set()


def test_words_are_those_of_the_index(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert sketches.words_of(["crates", "the", "pier", "crates"]) == [
            ("crate",),
            (),
            ("pier",),
            ("crate",),
        ]
