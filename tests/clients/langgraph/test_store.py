"""The store against BaseStore's documented contract: the cases that LangGraph's own stores pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from palimpsest_client import BadRequest, Forbidden, Palimpsest, Unauthorized
from palimpsest_client.langgraph import PalimpsestStore
from palimpsest_client.models import ErasureToConfirm

from memory.models import Memory
from memory.satellites.langgraph.models import StoreItem
from memory.satellites.langgraph.store_items import delete_expired
from teams.tenancy import team_scope
from tests.clients.conftest import Place
from tests.clients.langgraph.conftest import Either

DOCS: dict[str, dict[str, Any]] = {
    "a": {"kind": "report", "status": "open", "score": 7, "author": {"name": "Kim", "team": 1}},
    "b": {"kind": "report", "status": "done", "score": 12.5},
    "c": {"kind": "note", "status": "open", "score": 100, "tags": ["x", "y"]},
    "d": {"kind": "note", "score": "7"},
}


def keys(found: Sequence[Item]) -> list[str]:
    return [each.key for each in found]


def shift(place: Place, minutes: float) -> None:
    """Let the items be so much older."""
    with team_scope(team_ids=[place.cast.team.id], actor="test"):
        StoreItem.objects.update(expires_at=F("expires_at") - timedelta(minutes=minutes))


def told(place: Place) -> list[str]:
    """The live memories of the team that came from items."""
    with team_scope(team_ids=[place.cast.team.id], actor="test"):
        return sorted(
            Memory.objects.live().filter(extractor="store").values_list("content", flat=True)
        )


def test_an_item_is_kept_replaced_and_deleted(store: Either) -> None:
    value = {
        "text": "Sarah drinks her tea black.",
        "n": [1, None, True, 2.5],
        "ü": {"deep": "\U0001f642"},
    }
    store.put(("users", "sarah"), "tea", value)

    first = store.get(("users", "sarah"), "tea")
    store.put(("users", "sarah"), "tea", {"text": "Sarah drinks coffee."})
    second = store.get(("users", "sarah"), "tea")
    store.delete(("users", "sarah"), "tea")

    assert (first.namespace, first.key, first.value) == (("users", "sarah"), "tea", value)
    assert first.created_at == second.created_at
    assert first.updated_at < second.updated_at
    assert second.value == {"text": "Sarah drinks coffee."}
    assert store.get(("users", "sarah"), "tea") is None
    assert store.get(("nowhere",), "tea") is None
    store.delete(("nowhere",), "tea")


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x"), ("a", 1)], ids=str)
def test_a_namespace_that_is_none_is_refused(store: Either, namespace: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"a": 1})


def test_a_batch_reads_before_it_writes_and_answers_in_order(store: Either) -> None:
    store.put(("test", "foo"), "key1", {"data": "value1"})
    store.put(("test", "bar"), "key2", {"data": "value2"})

    results = store.batch(
        [
            GetOp(("test", "foo"), "key1"),
            PutOp(("test", "bar"), "key2", {"data": "new"}),
            SearchOp(("test",), {"data": "value1"}, 10, 0),
            ListNamespacesOp((), None, 10, 0),
            GetOp(("test",), "key3"),
            PutOp(("test", "foo"), "key1", None),
            PutOp(("test", "new"), "key", {"n": 1}),
            PutOp(("test", "new"), "key", {"n": 2}),
            GetOp(("test", "bar"), "key2"),
        ]
    )

    assert results[0].value == {"data": "value1"}
    assert keys(results[2]) == ["key1"]
    assert results[3] == [("test", "bar"), ("test", "foo")]
    assert [results[at] for at in (1, 4, 5, 6, 7)] == [None] * 5
    assert results[8].value == {"data": "value2"}
    after = store.search(("test",))
    assert {each.key: each.value for each in after} == {"key2": {"data": "new"}, "key": {"n": 2}}
    assert store.batch([]) == []


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"kind": "report"}, "ab"),
        ({"kind": "report", "status": "open"}, "a"),
        ({"score": {"$gt": 7}}, "bc"),
        ({"score": {"$gte": 7, "$lt": 100}}, "ab"),
        ({"score": {"$lte": "7"}}, "d"),
        ({"score": {"$eq": 7}}, "a"),
        ({"status": {"$ne": "open"}}, "bd"),
        ({"tags": ["x", "y"]}, "c"),
        ({"tags": ["x"]}, ""),
        ({"author": {"name": "Kim"}}, "a"),
        ({"missing": None}, ""),
    ],
    ids=str,
)
def test_filters_compare_members_of_values(
    place: Place, wanted: Mapping[str, Any], found: str
) -> None:
    with PalimpsestStore(place.url, place.key()) as store:
        store.batch([PutOp(("docs",), key, value, index=False) for key, value in DOCS.items()])

        assert sorted(keys(store.search(("docs",), filter=dict(wanted)))) == list(found)


def test_an_unknown_comparison_is_refused(store: Either) -> None:
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("docs",), filter={"a": {"$regex": "x"}})


def test_a_search_is_of_a_namespace_and_those_below_the_latest_first(store: Either) -> None:
    for number, namespace in enumerate([("foo",), ("foo", "x"), ("foobar",), ("fo_",)]):
        store.put(namespace, f"k{number}", {"n": number}, index=False)

    assert keys(store.search(("foo",))) == ["k1", "k0"]
    assert keys(store.search(())) == ["k3", "k2", "k1", "k0"]
    assert keys(store.search((), limit=2, offset=1)) == ["k2", "k1"]
    assert keys(store.search(("foo", "x"))) == ["k1"]
    assert store.search(("nothing",)) == []


def test_namespaces_are_listed_by_their_ends_and_cut(store: Either) -> None:
    made = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "x", "c"), ("z",)]
    store.batch([PutOp(each, "k", {}, index=False) for each in made])

    assert store.list_namespaces() == sorted(made)
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [
        ("a", "b", "c"),
        ("a", "b", "d"),
    ]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(suffix=("d", "*"), limit=1, offset=1) == [("a", "b", "d", "i")]
    ends = (MatchCondition("prefix", ("a",)), MatchCondition("suffix", ("i",)))
    assert store.batch([ListNamespacesOp(match_conditions=ends)]) == [[("a", "b", "d", "i")]]


def test_a_question_finds_what_says_most_about_it(store: Either) -> None:
    store.put(("docs",), "tea", {"text": "Sarah drinks her tea without milk.", "kind": "drink"})
    store.put(
        ("docs",), "boat", {"text": "The red boat lies in the northern harbour.", "kind": "thing"}
    )
    store.put(("docs",), "hidden", {"text": "Tea, tea and nothing but tea."}, index=False)
    store.put(("docs",), "partly", {"title": "A boat", "text": "Milk in the tea?"}, index=["title"])

    found = store.search(("docs",), query="Does Sarah take milk in her tea?")
    filtered = store.search(("docs",), query="tea", filter={"kind": "thing"})
    later = store.search(("docs",), query="tea with milk", limit=1, offset=1)

    assert found[0].key == "tea"
    assert sorted(keys(found)) == ["boat", "partly", "tea"]
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert keys(filtered) == ["boat"]
    assert len(later) == 1
    assert later[0].key != "tea"


def test_a_search_and_a_list_may_have_more_than_one_answer_holds(
    place: Place, store: Either
) -> None:
    with team_scope(team_ids=[place.cast.team.id], actor="test"):
        StoreItem.objects.bulk_create(
            StoreItem(team_id=place.cast.team.id, path=f"a.{number:04}", key="k", value={})
            for number in range(2_002)
        )

    found = store.search(("a",), limit=2_001)

    assert len({each.namespace for each in found}) == len(found) == 2_001
    assert store.list_namespaces(limit=9_000) == [("a", f"{n:04}") for n in range(2_002)]


def test_a_blank_question_is_none_and_a_long_one_is_cut(store: Either) -> None:
    store.put(("docs",), "tea", {"text": "Sarah drinks her tea without milk."})
    store.put(("docs",), "hidden", {"text": "Tea."}, index=False)

    assert keys(store.search(("docs",), query=" \n")) == ["hidden", "tea"]
    assert keys(store.search(("docs",), query="Who drinks tea? " * 600)) == ["tea"]


def test_words_of_an_item_are_a_memory_in_versions(place: Place, store: Either) -> None:
    where = ("users", "sarah")
    with Palimpsest(place.url, place.key()) as client:
        store.put(where, "tea", {"text": "Sarah drinks her tea without milk."}, index=["text"])
        (before,) = client.memories.list(user="sarah")
        found = client.retrieve_full(agent="kyra", user="sarah", query="milk in the tea?")
        store.put(where, "tea", {"text": "Sarah drinks her tea with milk."}, index=["text"])
        store.put(where, "tea", {"text": "Sarah drinks her tea with milk.", "n": 1}, index=["text"])
        (after,) = client.memories.list(user="sarah")
        history = client.memories.get(before.id)
        store.delete(where, "tea")

        assert before.content == "Sarah drinks her tea without milk."
        assert before.id in {each.id for each in found.memories}
        assert after.content == "Sarah drinks her tea with milk."
        assert (history.status, history.superseded_by) == ("superseded", after.id)
        assert client.memories.get(after.id).status == "soft_deleted"


def test_equal_words_under_two_keys_are_told_apart(place: Place, store: Either) -> None:
    for key in ("one", "two"):
        store.put(("notes",), key, {"text": "The oven is mended."})

    store.delete(("notes",), "one")

    assert told(place) == ["text: The oven is mended."]
    assert keys(store.search(("notes",), query="oven")) == ["two"]


def test_values_are_kept_as_they_are_and_secrets_masked_in_words(
    place: Place, store: Either
) -> None:
    value = {"note": "The key is sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z7A0b3C6d9E"}
    store.put(("notes",), "secret", value)

    assert store.get(("notes",), "secret").value == value
    assert len(told(place)) == 1
    assert "sk-proj" not in told(place)[0]


def test_an_item_ends_and_reading_it_begins_its_time_anew(place: Place, store: Either) -> None:
    store.put(("tmp",), "read", {"text": "Read in between."}, ttl=10)
    store.put(("tmp",), "left", {"text": "Left alone."}, ttl=10)
    store.put(("tmp",), "ever", {"text": "No end."})
    shift(place, 6)
    assert store.get(("tmp",), "read").value == {"text": "Read in between."}
    assert store.get(("tmp",), "left", refresh_ttl=False) is not None
    shift(place, 6)

    assert store.get(("tmp",), "left") is None
    assert sorted(keys(store.search(("tmp",), refresh_ttl=False))) == ["ever", "read"]
    assert keys(store.search(("tmp",), filter={"text": "Read in between."})) == ["read"]
    shift(place, 6)
    assert sorted(keys(store.search(("tmp",), refresh_ttl=False))) == ["ever", "read"]
    shift(place, 6)
    deleted = delete_expired(team_id=place.cast.team.id, now=timezone.now(), most=10)

    assert deleted == 2
    assert told(place) == ["text: No end."]
    assert store.list_namespaces() == [("tmp",)]


def test_times_to_live_are_configured_as_langgraph_has_it(place: Place) -> None:
    config = {"default_ttl": 10, "refresh_on_read": False}
    with PalimpsestStore(place.url, place.key(), ttl=config) as store:  # type: ignore[arg-type]
        store.put(("tmp",), "usual", {}, index=False)
        store.put(("tmp",), "ever", {}, index=False, ttl=None)
        shift(place, 6)
        store.get(("tmp",), "usual")
        shift(place, 6)

        assert keys(store.search(("tmp",))) == ["ever"]


def test_an_agents_namespace_is_its_own(place: Place) -> None:
    with (
        PalimpsestStore(place.url, place.key(place.cast.kyra)) as kyra,
        PalimpsestStore(place.url, place.key(place.cast.luke)) as luke,
    ):
        kyra.put(("agents", "kyra", "notes"), "k", {"text": "Mine alone."})
        kyra.put(("shared",), "k", {"text": "Known to all agents."})

        assert luke.get(("agents", "kyra", "notes"), "k") is None
        assert keys(luke.search(())) == ["k"]
        assert luke.list_namespaces() == [("shared",)]
        assert luke.search((), query="Mine alone")[0].namespace == ("shared",)
        assert len(kyra.search(())) == 2
        with pytest.raises(Forbidden):
            luke.put(("agents", "kyra", "notes"), "k", {"text": "Not yours."})
        assert kyra.get(("agents", "kyra", "notes"), "k") is not None


def test_whose_an_item_is_may_be_told_of_any_namespace(place: Place) -> None:
    def user_of(namespace: tuple[str, ...]) -> str | None:
        return namespace[1] if namespace[0] == "memories" else None

    with (
        PalimpsestStore(place.url, place.key(), user_of=user_of) as store,
        Palimpsest(place.url, place.key()) as client,
    ):
        store.put(("memories", "dmitri"), "k", {"text": "Dmitri sails."})
        plan = client.users.erase("dmitri")
        assert isinstance(plan, ErasureToConfirm)
        client.users.erase("dmitri", confirmation=plan.confirmation)

        assert plan.would_erase.items == 1
        assert store.get(("memories", "dmitri"), "k") is None


def test_refusals_change_nothing(place: Place) -> None:
    with PalimpsestStore(place.url, place.key(), retries=0) as store:
        with pytest.raises(BadRequest):
            store.batch([PutOp(("a",), "k", {"n": 1}), PutOp(("a",), "k2", {"text": "\x00"})])
        with pytest.raises(BadRequest):
            store.put(("a",), "k", {"n": float("nan")})

        assert store.search(()) == []
    with PalimpsestStore(place.url, place.key(is_read_only=True), retries=0) as store:
        assert store.search(()) == []
        with pytest.raises(Forbidden):
            store.put(("a",), "k", {"n": 1})
    with PalimpsestStore(place.url, "pal_wrong", retries=0) as store, pytest.raises(Unauthorized):
        store.get(("a",), "k")
