"""Searches of large owners by a sketch find the same, at once after a change, for nobody else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from memory.clients.tools import Tools
from memory.domain.types import MemoryType, Tier
from memory.domain.viewer import Viewer
from memory.models import Memory, SearchEntry
from memory.selectors.revisions import team_revision
from memory.selectors.searching.lexemes import words_of
from memory.selectors.searching.search_statement import FREQUENT_FROM
from memory.selectors.searching.signal_rows import Found, Sought
from memory.selectors.searching.signals import find_candidates
from memory.selectors.searching.sketches import (
    MOST_CHANGED,
    forget_sketches,
    make_sketch,
    sketch_of,
)
from memory.selectors.searching.team_sketches import TeamSketch
from memory.selectors.searching.vectors import forget_graphs
from memory.services.deciding.state import delete_memory
from teams.prepared import uuids
from teams.tenancy import team_scope
from tests.conftest import Cast, make_cast
from tests.memory.given_vectors import random_tools, store

MODEL = "random@32"


@pytest.fixture
def town(committed_db: None, settings: Settings) -> Iterator[Cast]:
    """A team of this test's own that is large from 20 memories on."""
    settings.SKETCH_FROM = 20
    settings.READ_WHOLE_UP_TO = 0
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
    cast: Cast,
    tools: Tools,
    question: str,
    *terms: str,
    viewer: Viewer | None = None,
    only: Sequence[UUID] | None = None,
) -> Found:
    """The candidates of a question, as a reader's transaction has them."""
    given = None if only is None else uuids(only)
    sought = Sought(terms, tools.embedder.embed([question])[0], MODEL, only=given)
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


def has_sketch(cast: Cast) -> bool:
    return sketch_of(team_id=cast.team.id, embedding_model=MODEL) is not None


def cosines(found: Found) -> dict[UUID, float]:
    return {row.memory_id: row.cosine or 0.0 for row in found.rows}


def agree(sketched: Found, usual: Found) -> None:
    """Both found what says most about the question, and say the same of it."""
    by_id = {row.memory_id: row for row in usual.rows}
    for row in sketched.rows:
        known = by_id.get(row.memory_id)
        assert known is None or row._replace(cosine=None) == known._replace(cosine=None)
    shared = by_id.keys() & ids(sketched)
    assert {pk: cosines(sketched)[pk] for pk in shared} == pytest.approx(
        {pk: cosines(usual)[pk] for pk in shared}
    )
    nearest = sorted(by_id, key=cosines(usual).__getitem__)[-50:]
    assert {*nearest} <= ids(sketched)
    highest = max(row.terms.bit_count() for row in usual.rows)
    best = {row.memory_id for row in usual.rows if row.terms.bit_count() == highest}
    assert best <= ids(sketched) or len(best) > 50
    assert replace(sketched, rows=[]) == replace(usual, rows=[])


def test_a_sketch_finds_what_the_statement_finds(
    town: Cast, random: Tools, settings: Settings
) -> None:
    store(town, random, *facts(150), end_user_id=town.sarah.pk)
    store(town, random, *facts(100, about="tram"))
    store(town, random, *facts(40, about="bus"), importance=9)
    store(town, random, *facts(3, about="car"), is_pinned=True, end_user_id=town.sarah.pk)
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

            agree(sketched, usual)


def test_a_change_is_in_the_very_next_answer(town: Cast, random: Tools) -> None:
    stored = store(town, random, *facts(60))
    made(town)
    (new,) = store(town, random, "The walrus is new.")
    delete_memory(viewer=Viewer(team_id=town.team.id, actor="test"), memory_id=stored[7].pk)

    seen = found(town, random, "Where is the walrus?", "walrus", "ferry")

    assert has_sketch(town)
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
    (*_, last) = store(town, random, *facts(MOST_CHANGED, about="tram"))
    assert last.pk in ids(found(town, random, last.content))
    assert has_sketch(town)

    (new,) = store(town, random, "The walrus is new.")

    assert new.pk in ids(found(town, random, "Where is the walrus?", "walrus"))
    assert not has_sketch(town)


def test_each_model_has_its_own(town: Cast, random: Tools) -> None:
    store(town, random, *facts(30))
    made(town)

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
    assert has_sketch(town)
    made(other)

    assert not has_sketch(town)
    assert has_sketch(other)


def test_words_are_those_of_the_index(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert words_of(["crates", "the", "pier", "crates"]) == [
            ("crate",),
            (),
            ("pier",),
            ("crate",),
        ]


def test_a_vector_that_comes_later_is_near_though_the_log_does_not_tell(
    town: Cast, random: Tools
) -> None:
    """As while the model is changed: some memories get their new vector after the sketch."""
    stored = store(town, random, *facts(400))
    late = [stored[7].pk, stored[300].pk]
    with team_scope(team_ids=[town.team.id], actor="test"):
        SearchEntry.objects.filter(memory_id__in=late).update(embedding_model="older@32")
    lacking = made(town).lacking
    assert sorted(lacking.tolist()) == sorted(pk.bytes.rstrip(b"\0") for pk in late)
    with team_scope(team_ids=[town.team.id], actor="test"):
        SearchEntry.objects.filter(memory_id__in=late).update(embedding_model=MODEL)

    seen = found(town, random, stored[300].content)

    assert cosines(seen)[stored[300].pk] == pytest.approx(1.0, abs=0.01)


def test_where_most_have_no_vector_yet_there_is_no_sketch(town: Cast, random: Tools) -> None:
    stored = store(town, random, *facts(MOST_CHANGED + 31))
    with team_scope(team_ids=[town.team.id], actor="test"):
        late = [each.pk for each in stored[30:]]
        SearchEntry.objects.filter(memory_id__in=late).update(embedding_model="older@32")

    assert make_sketch(team_id=town.team.id, embedding_model=MODEL) is None


def test_a_sketch_read_in_pieces_has_every_memory_once_in_order(town: Cast, random: Tools) -> None:
    stored = store(town, random, *facts(1_300), end_user_id=town.sarah.pk)
    stored += store(town, random, *facts(30), end_user_id=town.dmitri.pk)
    known = made(town)
    sketch = known.sketch

    assert sketch.ids.tolist() == sorted(each.pk.bytes.rstrip(b"\0") for each in stored)
    users = [known.audiences[number].end_user_id for number in sketch.audiences.tolist()]
    owners = {each.pk.bytes.rstrip(b"\0"): each.end_user_id for each in stored}
    assert users == [owners[each] for each in sketch.ids.tolist()]


def test_larger_vectors_take_more_of_the_room(town: Cast, tools: Tools, settings: Settings) -> None:
    huge = random_tools(tools, dimensions=1_536)
    store(town, huge, *facts(30))
    settings.SKETCH_MOST_MEMORIES = 60

    assert make_sketch(team_id=town.team.id, embedding_model=huge.embedder.name) is None
    settings.SKETCH_MOST_MEMORIES = 120
    assert make_sketch(team_id=town.team.id, embedding_model=huge.embedder.name) is not None


def test_the_one_that_nobody_asks_is_given_up_first(
    town: Cast, random: Tools, settings: Settings
) -> None:
    second, third = (make_cast(f"other-{uuid4().hex}") for _ in range(2))
    for cast in (town, second, third):
        store(cast, random, *facts(30))
    settings.SKETCH_MOST_MEMORIES = 80
    made(town)
    made(second)
    assert has_sketch(town)

    made(third)

    assert not has_sketch(second)
    assert has_sketch(town)


def test_a_large_owner_is_counted_by_its_sketch(town: Cast, random: Tools) -> None:
    store(town, random, *facts(40), end_user_id=town.sarah.pk)
    store(town, random, *facts(30), end_user_id=town.dmitri.pk)
    made(town)
    viewer = Viewer(team_id=town.team.id, actor="test", end_user_id=town.sarah.pk)
    found(town, random, "ferry", "ferry", viewer=viewer)
    forget_graphs()

    with CaptureQueriesContext(connection) as queries:
        seen = found(town, random, "ferry", "ferry", viewer=viewer)

    assert seen.total == 40
    assert not [each for each in queries if "count(*) FROM (" in each["sql"]]


def test_among_given_memories_it_finds_what_the_statement_finds(
    town: Cast, random: Tools, settings: Settings
) -> None:
    stored = store(town, random, *facts(300))
    stored += store(town, random, *facts(5, about="icy tram"))
    with team_scope(team_ids=[town.team.id], actor="test"):
        Memory.objects.filter(pk=stored[300].pk).update(tier=Tier.COLD.value)
    made(town)
    stored += store(town, random, "The ferry waits for the walrus.", "The walrus is late.")
    given = [each.pk for each in stored if each.pk.int % 2 or each in (stored[300], stored[-1])]
    for question, *terms in (
        ("Which ferry carries lamp 3?", "ferry", "carries", "lamp", "3"),
        ("Where does the icy tram go?", "icy", "tram", "zebra"),
        ("Is the walrus late?", "walrus", "late"),
    ):
        settings.SKETCH_MOST_MEMORIES = 0
        usual = found(town, random, question, *terms, only=given)
        settings.SKETCH_MOST_MEMORIES = 10_000
        sketched = found(town, random, question, *terms, only=given)
        near = sorted(cosines(usual), key=cosines(usual).__getitem__)[-20:]

        terms_of = {row.memory_id: row.terms for row in usual.rows}
        highest = max(terms_of.values())
        assert ids(sketched) <= set(given)
        assert {pk for pk, held in terms_of.items() if held == highest} <= ids(sketched)
        for row in sketched.rows:
            assert row.terms == terms_of.get(row.memory_id, row.terms)
        assert {*near} <= ids(sketched)
        assert replace(sketched, rows=[]) == replace(usual, rows=[])


def test_where_too_many_given_memories_are_new_to_it_the_statement_looks_at_each(
    town: Cast, random: Tools
) -> None:
    store(town, random, *facts(30))
    made(town)
    cold = store(town, random, *facts(MOST_CHANGED + 1, about="tram"))
    given = [each.pk for each in cold]

    seen = found(town, random, cold[7].content, only=given)

    assert cosines(seen)[cold[7].pk] == pytest.approx(1.0, abs=0.01)


def test_what_an_agent_may_not_read_takes_no_place_of_what_it_may(
    town: Cast, random: Tools, settings: Settings
) -> None:
    """Be it pinned, important, the latest, near or full of the question's words."""
    texts = facts(1_100, about="vault")
    secret = store(town, random, *texts[:1_050], category="secret", is_pinned=True)
    secret += store(town, random, *texts[1_050:], category="secret", importance=10)
    pinned = store(town, random, *facts(20), category="open", is_pinned=True)
    told = store(town, random, *facts(30, about="tram"), category="open", importance=9)
    told += store(town, random, *facts(20, about="bus"), importance=8)
    secret += store(town, random, *facts(130, about="safe"), category="secret", importance=10)
    made(town)
    (later,) = store(town, random, "The ferry waits for the walrus.", category="open")
    secret += store(town, random, "The vault waits for the walrus.", category="secret")
    viewer = Viewer(team_id=town.team.id, actor="test", allowed_categories=("open",))

    sketched = found(town, random, secret[0].content, "ferry", "vault", "walrus", viewer=viewer)

    assert has_sketch(town)
    assert {each.pk for each in [*pinned, *told[:30], later]} <= ids(sketched)
    assert not ids(sketched) & {each.pk for each in secret}
    # Nor does a number tell of it.
    assert (sketched.total, sketched.holding) == (70, (21, 0, 1))
    settings.SKETCH_MOST_MEMORIES = 0
    usual = found(town, random, secret[0].content, "ferry", "vault", "walrus", viewer=viewer)
    assert ids(usual) == ids(sketched)


def test_an_agent_that_may_read_nothing_of_it_leaves_the_sketch_to_others(
    town: Cast, random: Tools
) -> None:
    store(town, random, *facts(30), category="secret")
    made(town)
    viewer = Viewer(team_id=town.team.id, actor="test", allowed_categories=("open",))

    assert found(town, random, "Which ferry?", "ferry", viewer=viewer).rows == []
    assert has_sketch(town)


def test_a_category_that_a_memory_gets_later_counts_at_once(town: Cast, random: Tools) -> None:
    moved, kept = store(town, random, *facts(2), category="open")
    store(town, random, *facts(30, about="vault"), category="secret")
    made(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        Memory.objects.filter(pk=moved.pk).update(category="secret")
    viewer = Viewer(team_id=town.team.id, actor="test", allowed_categories=("open",))

    seen = ids(found(town, random, "Which ferry?", "ferry", viewer=viewer))

    assert kept.pk in seen
    assert moved.pk not in seen
