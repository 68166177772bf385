"""Actions on a memory's page beyond pin and delete: restore, correct, dispute."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.models import MemoryLog
from memory.admin.memory_page import history_of
from memory.models import Contradiction, Memory, MemoryRelation
from tests.factories import MemoryFactory
from tests.support.admin import decide, told, two
from tests.support.cast import Cast


def page_of(memory: Memory, path: str = "change") -> str:
    """The address of its page, or of one of the buttons on it."""
    page = reverse("admin:memory_memory_change", args=[memory.pk])
    return page.replace("change/", f"{path}/")


def newest(memory: Memory) -> tuple[str, str, str]:
    """The last change of it: what, by whom and why."""
    row = MemoryLog.objects.filter(memory_id=memory.pk).latest("seq")
    return row.event, row.actor, row.reason


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("active", {"pin", "correct", "is-wrong", "archive", "soft-delete"}),
        ("disputed", {"pin", "correct", "is-wrong", "archive", "soft-delete"}),
        ("superseded", {"soft-delete"}),
        ("soft_deleted", {"restore"}),
        ("archived", {"soft-delete", "restore"}),
    ],
)
def test_a_page_offers_what_its_memory_allows(
    status: str, expected: set[str], inside: Cast, reviewer_client: Client
) -> None:
    memory = MemoryFactory.create(team=inside.team, status=status)
    page = reviewer_client.get(page_of(memory)).content.decode()

    paths = ("pin", "unpin", "correct", "is-wrong", "archive", "soft-delete", "restore")
    assert {path for path in paths if page_of(memory, path) in page} == expected


def test_a_deleted_memory_is_restored_after_asking(inside: Cast, reviewer_client: Client) -> None:
    memory = MemoryFactory.create(team=inside.team, status="soft_deleted", tier="cold")

    asked = reviewer_client.get(page_of(memory, "restore"))
    memory.refresh_from_db()
    before = memory.status
    done = reviewer_client.post(
        page_of(memory, "restore"), {"confirmed": "yes", "reason": "a slip"}
    )

    memory.refresh_from_db()
    assert "Restore 1 memory?" in " ".join(asked.content.decode().split())
    assert before == "soft_deleted"
    assert memory.status == "active"
    assert told(done) == ["1 memory restored."]  # type: ignore[arg-type]
    assert newest(memory) == ("restored", "staff:rob", "a slip")


def test_restoring_an_older_version_says_that_it_is_one(
    inside: Cast, reviewer_client: Client
) -> None:
    stands = MemoryFactory.create(team=inside.team)
    memory = MemoryFactory.create(team=inside.team, status="archived", superseded_by=stands)

    done = reviewer_client.post(page_of(memory, "restore"), {"confirmed": "yes"})

    assert told(done) == [  # type: ignore[arg-type]
        "1 memory restored. It has a newer version, so it was restored as an older version."
    ]


def test_what_is_said_to_be_wrong_waits_to_be_settled(
    inside: Cast, reviewer_client: Client
) -> None:
    memory = MemoryFactory.create(team=inside.team)

    asked = reviewer_client.get(page_of(memory, "is-wrong"))
    done = reviewer_client.post(
        page_of(memory, "is-wrong"), {"confirmed": "yes", "reason": "she moved"}
    )

    memory.refresh_from_db()
    pair = Contradiction.objects.get()
    assert "until somebody settles it in the inbox" in asked.content.decode()
    assert told(done)[0].startswith("1 memory disputed. ")  # type: ignore[arg-type]
    assert memory.status == "disputed"
    assert (pair.memory_a_id, pair.memory_b_id) == (memory.pk, None)
    assert (pair.judge, pair.reason) == ("staff:rob", "she moved")
    settle = reverse("admin:memory_contradiction_change", args=[pair.pk])
    page = reviewer_client.get(page_of(memory)).content.decode()
    assert f'href="{settle}">settle' in page.partition("Source messages")[0]


def test_a_memory_is_corrected_after_its_text_was_shown(
    inside: Cast, reviewer_client: Client
) -> None:
    memory = MemoryFactory.create(team=inside.team, content="The office is in Oslo.")
    sent = {"content": "The office is in Bergen.", "reason": "read the lease"}

    form = reviewer_client.get(page_of(memory, "correct")).content.decode()
    preview = reviewer_client.post(page_of(memory, "correct"), sent).content.decode()
    memory.refresh_from_db()
    before = memory.status
    done = reviewer_client.post(page_of(memory, "correct"), {**sent, "confirmed": "yes"})

    memory.refresh_from_db()
    assert ">\nThe office is in Oslo.</textarea>" in form
    assert "Save correction" in " ".join(preview.split())
    assert before == "active"
    assert memory.superseded_by is not None
    assert done["Location"] == page_of(memory.superseded_by)
    assert told(done) == [  # type: ignore[arg-type]
        "Correction saved. It replaces “The office is in Oslo.”"
    ]
    assert memory.status == "superseded"
    after = memory.superseded_by
    assert after is not None
    assert (after.content, after.actor) == ("The office is in Bergen.", "staff:rob")
    assert newest(memory)[2] == "read the lease"


def test_a_corrected_text_stands_without_the_payload_of_before(
    inside: Cast, reviewer_client: Client
) -> None:
    payload = {"key": "office", "value": "Oslo"}
    memory = MemoryFactory.create(
        team=inside.team, content="office: Oslo", form="fact", payload=payload
    )
    sent = {"content": "The office is in Bergen.", "confirmed": "yes"}

    same = reviewer_client.post(page_of(memory, "correct"), {**sent, "content": "office: Oslo"})
    done = reviewer_client.post(page_of(memory, "correct"), sent)

    assert "The memory says exactly this." in same.content.decode()
    memory.refresh_from_db()
    after = memory.superseded_by
    assert after is not None
    assert (after.form, after.payload) == ("", {})
    assert (memory.form, memory.payload) == ("fact", payload)
    assert any("the fields of the fact stay" in each for each in told(done))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "words"),
    [("active", "The memory says exactly this."), ("soft_deleted", "cannot be corrected")],
)
def test_a_correction_that_cannot_be_made_keeps_what_was_typed(
    status: str, words: str, inside: Cast, reviewer_client: Client
) -> None:
    memory = MemoryFactory.create(team=inside.team, content="It is in Oslo.", status=status)
    sent = {"content": "It is in Oslo.", "reason": "Asked twice.", "confirmed": "yes"}

    answer = reviewer_client.post(page_of(memory, "correct"), sent)

    page = answer.content.decode()
    assert answer.status_code == 200
    assert words in page
    assert ">\nIt is in Oslo.</textarea>" in page
    assert 'value="Asked twice."' in page
    assert Memory.objects.count() == 1


@pytest.mark.parametrize("path", ["restore", "correct", "is-wrong"])
def test_a_viewer_may_do_none_of_it(path: str, inside: Cast, viewer_client: Client) -> None:
    status = "soft_deleted" if path == "restore" else "active"
    memory = MemoryFactory.create(team=inside.team, status=status)

    asked = viewer_client.get(page_of(memory, path))
    sent = viewer_client.post(
        page_of(memory, path), {"confirmed": "yes", "content": "It is otherwise."}
    )

    memory.refresh_from_db()
    assert (asked.status_code, sent.status_code) == (403, 403)
    assert memory.status == status
    assert page_of(memory, path) not in viewer_client.get(page_of(memory)).content.decode()


def test_the_history_names_other_memories_by_their_words(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = two(inside.team)
    decide(reviewer_client, pair, "b")

    page = reviewer_client.get(page_of(pair.memory_a)).content.decode()

    assert "replaced by “Office is in Bergen.”" in page
    assert "no longer in dispute with “Office is in Bergen.”" in page
    assert "rob (staff): settled: the later one was kept" in page


def test_the_history_says_what_a_memory_was_linked_to(
    inside: Cast, reviewer_client: Client
) -> None:
    memory = MemoryFactory.create(team=inside.team)
    other = MemoryFactory.create(team=inside.team, content="Ghent lies on the Leie.")
    MemoryRelation.objects.create(
        team=inside.team,
        from_memory=memory,
        to_memory=other,
        relation_type="related_to",
        strength=0.9,
    )
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    lines = history_of(memory)

    assert (lines[0].title, lines[0].changes) == (
        "Linked",
        ["related to “Ghent lies on the Leie.”"],
    )
    assert "related to “Ghent" in reviewer_client.get(page_of(memory)).content.decode()
