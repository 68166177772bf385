"""The list of memories: light, cheap, narrowed by age, use and category, searched by meaning."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags
from django_redis import get_redis_connection

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import Category, Memory, MemoryUsage
from memory.reading.usage import NOTED
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft
from memory.writing.write_path import write_memories
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import MemoryFactory
from tests.support.admin import SignIn, told
from tests.support.cast import Cast

LIST = reverse("admin:memory_memory_changelist")
NOW = timezone.now()


def found(client: Client, **query: str) -> list[str]:
    """The texts of the memories that the list shows, in its order."""
    answer = client.get(LIST, query)
    assert answer.status_code == 200
    return [line.memory.content for line in answer.context["cl"].lines]


def write(team: Team, tools: Tools, *texts: str) -> list[Memory]:
    """Memories written as the product writes them, so that retrieval finds them."""
    drafts = [
        MemoryDraft(
            team_id=team.id,
            content=text,
            memory_type=MemoryType.SEMANTIC,
            importance=5,
            extractor="test",
            created_at=NOW - timedelta(days=number),
        )
        for number, text in enumerate(texts)
    ]
    viewer = Viewer(team_id=team.id, actor="test")
    return [each.memory for each in write_memories(viewer=viewer, drafts=drafts, tools=tools)]


@pytest.fixture
def talk(cast: Cast, tools: Tools) -> Cast:
    """Three statements that a question tells apart."""
    write(
        cast.team,
        tools,
        "The printer on the second floor is out of toner.",
        "Sarah's cat is called Miso and eats tuna.",
        "The release of Lantern is planned for Friday.",
    )
    return cast


def test_a_page_of_fifty_long_memories_is_light_on_the_wire(
    inside: Cast, root_client: Client
) -> None:
    for number in range(60):
        MemoryFactory.create(
            team=inside.team,
            content=f"{number} {timezone.now().isoformat()} " + "word by word " * 60,
            end_user=inside.sarah,
            agent=inside.luke,
        )

    answer = root_client.get(LIST, headers={"accept-encoding": "gzip"})
    plain = root_client.get(LIST)

    assert len(answer.context["cl"].lines) == 50
    assert answer["Content-Encoding"] == "gzip"
    assert len(answer.content) <= 60_000
    # Not by compression alone: a row is a line, not a table of class names.
    assert len(plain.content) < 150_000


def test_the_list_asks_as_much_for_fifty_rows_as_for_ten(
    inside: Cast, reviewer_client: Client
) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            reviewer_client.get(LIST)
        return len(queries)

    def add(count: int) -> None:
        for _ in range(count):
            row = MemoryFactory.create(team=inside.team, end_user=inside.sarah, agent=inside.luke)
            MemoryUsage.objects.create(team=inside.team, memory=row, retrieved=3)

    add(10)
    reviewer_client.get(LIST)
    with_ten = asked()
    add(40)

    assert asked() == with_ten
    assert with_ten <= 20


def test_a_line_says_whose_it_is_how_old_and_how_much_used(
    inside: Cast, viewer_client: Client
) -> None:
    row = MemoryFactory.create(
        team=inside.team,
        end_user=inside.sarah,
        agent=inside.luke,
        memory_type="user_profile",
        status="soft_deleted",
        created_at=timezone.now() - timedelta(days=3, hours=1),
    )
    MemoryUsage.objects.create(
        team=inside.team,
        memory=row,
        retrieved=1200,
        last_accessed_at=timezone.now() - timedelta(hours=2, minutes=1),
    )

    (line,) = viewer_client.get(LIST).context["cl"].lines

    assert (strip_tags(line.whose), line.type, line.status) == (
        f"{inside.sarah}, luke (agent)",
        "user profile",
        "deleted",
    )
    assert (line.age, line.use, line.team) == ("3 days", "1,200 times, 2 hours ago", "")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"age": "day"}, {"new"}),
        ({"age": "old"}, {"old"}),
        ({"age": "nonsense"}, {"new", "old"}),
        ({"use": "never"}, {"new"}),
        ({"use": "often"}, {"old"}),
        ({"use": "unused"}, {"old"}),
        ({"use": "week"}, set()),
        ({"category": "billing"}, {"old"}),
        ({"category": "-"}, {"new"}),
        ({"form__exact": "fact"}, {"old"}),
        ({"form__exact": "poem"}, {"new", "old"}),
    ],
)
def test_age_use_category_and_form_narrow_the_list(
    query: dict[str, str], expected: set[str], inside: Cast, viewer_client: Client
) -> None:
    MemoryFactory.create(team=inside.team, content="new")
    old = MemoryFactory.create(
        team=inside.team,
        content="old",
        category="billing",
        form="fact",
        payload={"key": "old", "value": "1"},
        created_at=timezone.now() - timedelta(days=90),
    )
    MemoryUsage.objects.create(
        team=inside.team,
        memory=old,
        retrieved=12,
        last_accessed_at=timezone.now() - timedelta(days=60),
    )

    assert set(found(viewer_client, **query)) == expected


def test_the_category_filter_offers_the_teams_own(
    cast: Cast, others: Cast, viewer_client: Client
) -> None:
    for each, name in ((cast, "billing"), (others, "secret-plans")):
        with team_scope(team_ids=[each.team.id], actor="test"):
            Category.objects.create(team=each.team, name=name)

    page = viewer_client.get(LIST).content.decode()

    assert "billing" in page
    assert "secret-plans" not in page


def test_a_question_finds_what_answers_it_first(talk: Cast, viewer_client: Client) -> None:
    answer = viewer_client.get(LIST, {"q": "What is the name of Sarah's cat?"})

    lines = answer.context["cl"].lines
    assert lines[0].memory.content == "Sarah's cat is called Miso and eats tuna."
    assert answer.context["cl"].is_ranked
    assert "Best matches first." in answer.content.decode()


def test_a_search_keeps_to_the_filters_and_the_order_asked_for(
    talk: Cast, tools: Tools, reviewer_client: Client
) -> None:
    write(talk.team, tools, "Sarah's cat sleeps on the printer.")

    narrowed = found(reviewer_client, q="Sarah's cat", memory_type__exact="procedural")
    by_text = found(reviewer_client, q="Sarah's cat", o="1")

    assert narrowed == []
    assert by_text == sorted(by_text)
    assert "Sarah's cat sleeps on the printer." in by_text


def test_a_search_finds_nothing_of_another_team_and_counts_as_no_use(
    talk: Cast, others: Cast, tools: Tools, viewer_client: Client, sign_in: SignIn
) -> None:
    write(others.team, tools, "Sarah's cat of the other team is called Loki.")
    client = get_redis_connection("default")
    before = client.hlen(NOTED)

    mine = found(viewer_client, q="How is Sarah's cat called?")
    both = sign_in((talk.team, "viewer"), (others.team, "viewer"), name="both")
    of_both = found(both, q="How is Sarah's cat called?")

    assert not any("Loki" in text for text in mine)
    assert any("Loki" in text for text in of_both)
    assert any("Miso" in text for text in of_both)
    assert client.hlen(NOTED) == before


def test_deleted_memories_are_found_by_their_words(inside: Cast, viewer_client: Client) -> None:
    MemoryFactory.create(team=inside.team, content="Gone is the fax.", status="soft_deleted")

    assert found(viewer_client, q="fax", status__exact="soft_deleted") == ["Gone is the fax."]


@pytest.mark.parametrize(
    ("action", "status", "counted"),
    [
        ("archive_selected", "archived", "2 memories archived."),
        ("dispute_selected", "disputed", "2 memories disputed."),
    ],
)
def test_chosen_memories_are_changed_together_and_counted(
    action: str, status: str, counted: str, inside: Cast, reviewer_client: Client
) -> None:
    rows = MemoryFactory.create_batch(2, team=inside.team)
    sent = {"action": action, "_selected_action": [str(row.pk) for row in rows]}

    asked = reviewer_client.post(LIST, sent)
    done = reviewer_client.post(LIST, {**sent, "confirmed": "yes", "reason": "spring cleaning"})

    assert asked.status_code == 200
    assert told(done)[0].startswith(counted)  # type: ignore[arg-type]
    assert {row.status for row in Memory.objects.all()} == {status}


def test_archived_memories_are_restored_together(inside: Cast, reviewer_client: Client) -> None:
    rows = MemoryFactory.create_batch(2, team=inside.team, status="archived", tier="cold")
    live = MemoryFactory.create(team=inside.team)

    done = reviewer_client.post(
        LIST,
        {
            "action": "restore_selected",
            "_selected_action": [str(row.pk) for row in [*rows, live]],
            "confirmed": "yes",
        },
    )

    assert told(done) == ["3 memories restored."]  # type: ignore[arg-type]
    assert {row.status for row in Memory.objects.all()} == {"active"}
