"""The admin's first page: what waits, charts of the last days, and what happened."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from audit.models import OperationalEvent
from audit.services.erasure import erase_purged, erase_user
from memory.models import Contradiction, Job
from routing.models import RoutingDecision, SpendEntry
from teams.models import Team
from teams.tenancy import team_scope
from tests.factories import ConversationFactory, JobFactory, MemoryFactory
from tests.support.admin import SignIn, decide, dispute, two, undo
from tests.support.cast import Cast

HOME = reverse("admin:index")


def chart(page: Any, title: str) -> Any:
    """The chart of that title on a page of a client."""
    (found,) = [each for each in page.context["charts"] if each.title == title]
    return found


def totals(page: Any, title: str) -> dict[str, str]:
    """Returns the sum of each series of a chart."""
    return {line.name: line.total for line in chart(page, title).lines}


def told(page: Any) -> list[str]:
    """The lines of the feed."""
    return [f"{line.who} {line.did} {line.what}".strip() for line, _ in page.context["feed"]]


def finished(team: Team, conversation: Any, *, position: int = 1, **values: Any) -> Job:
    """A job that is over."""
    done: dict[str, Any] = {"state": "done", "finished_at": timezone.now(), **values}
    return JobFactory.create(
        team=team,
        conversation=conversation,
        from_position=position,
        to_position=position,
        **done,
    )


def test_what_waits_is_counted_with_its_age_and_leads_to_its_list(
    inside: Cast, viewer_client: Client
) -> None:
    pair, newer = two(inside.team), two(inside.team)
    long_ago = timezone.now() - timedelta(days=3, hours=1)
    Contradiction.objects.filter(pk=pair.pk).update(detected_at=long_ago)
    talk = ConversationFactory.create(team=inside.team, agent=inside.kyra, end_user=inside.sarah)
    finished(inside.team, talk, state="failed")
    JobFactory.create(team=inside.team, conversation=talk, from_position=2, to_position=2)

    waiting = {work.title: work for work in viewer_client.get(HOME).context["waiting"]}

    assert {title: work.count for title, work in waiting.items()} == {
        "Contradictions": 2,
        "Consent requests": 0,
        "Team facts": 0,
        "Unconfirmed memories": 0,
        "Failed jobs": 1,
        "Skipped messages": 0,
        "Jobs in progress": 1,
    }
    assert waiting["Contradictions"].age == "3\xa0days"
    for work in waiting.values():
        context = viewer_client.get(work.url).context
        listed = context["cl"].result_count if "cl" in context else len(context["queue"].ids)
        assert listed == work.count
    assert newer.resolved_at is None


def test_nothing_that_waits_has_no_age(cast: Cast, viewer_client: Client) -> None:
    page = viewer_client.get(HOME)

    assert {(work.count, work.age) for work in page.context["waiting"]} == {(0, "")}
    assert "nothing waiting" in page.content.decode()


def test_memories_are_drawn_by_type_and_day_and_lead_to_their_list(
    inside: Cast, viewer_client: Client
) -> None:
    now = timezone.now()
    for days in (0, 0, 2):
        MemoryFactory.create(team=inside.team, created_at=now - timedelta(days=days))
    MemoryFactory.create(team=inside.team, memory_type="episodic")
    MemoryFactory.create(team=inside.team, created_at=now - timedelta(days=40))

    page = viewer_client.get(HOME)
    drawn = chart(page, "Memories stored, by type")
    lines = {line.name: line for line in drawn.lines}

    assert {name: line.total for name, line in lines.items()} == {"semantic": "3", "episodic": "1"}
    assert list(lines["semantic"].values)[-3:] == [1.0, 0.0, 2.0]
    assert len(drawn.days) == 30
    assert drawn.days[-1] == str(timezone.localdate())
    assert viewer_client.get(drawn.url).context["cl"].result_count == 4
    assert viewer_client.get(lines["semantic"].url).context["cl"].result_count == 3
    assert 'data-type="bar"' in page.content.decode()


def test_what_talk_yields_is_memories_by_messages(inside: Cast, viewer_client: Client) -> None:
    talk = ConversationFactory.create(team=inside.team, agent=inside.kyra, end_user=inside.sarah)
    finished(inside.team, talk, result={"created": 3, "versioned": 1, "messages_read": 20})
    finished(inside.team, talk, position=2, result={"created": 1, "messages_read": 5})
    finished(inside.team, talk, position=3, state="failed")

    drawn = chart(viewer_client.get(HOME), "Memories learned per 100 messages")
    (line,) = drawn.lines

    assert line.total == "5 from 25 messages"
    assert line.values[-1] == 20.0
    assert set(line.values[:-1]) == {None}
    assert viewer_client.get(drawn.url).context["cl"].result_count == 2


def test_disputes_are_drawn_as_they_come_and_go(inside: Cast, viewer_client: Client) -> None:
    two(inside.team)
    settled = two(inside.team)
    by_the_judge = two(inside.team)
    done = {"resolution": "a_wins", "resolved_at": timezone.now()}
    Contradiction.objects.filter(pk=settled.pk).update(**done, resolved_by="staff:ann")
    Contradiction.objects.filter(pk=by_the_judge.pk).update(
        **done, verdict="supersede", resolved_by="judge:rules"
    )

    page = viewer_client.get(HOME)

    assert totals(page, "Disputes found and settled") == {"found": "2", "settled": "1"}
    for line in chart(page, "Disputes found and settled").lines:
        assert viewer_client.get(line.url).context["cl"].result_count == int(line.total)


def test_spend_stands_by_tier_against_the_months_budget(
    inside: Cast, viewer_client: Client
) -> None:
    now = timezone.now()
    Team.objects.filter(pk=inside.team.pk).update(monthly_budget_usd=Decimal(8))
    for tier, usd in (("fast", "0.25"), ("fast", "0.75"), ("extraction", "1")):
        SpendEntry.objects.create(
            team=inside.team,
            agent=inside.kyra,
            reservation_id=uuid4(),
            model="m",
            tier=tier,
            input_tokens=1,
            output_tokens=1,
            cost_usd=Decimal(usd),
            day=now.date(),
            at=now,
        )

    page = viewer_client.get(HOME)
    spend = chart(page, "Spend in USD, by tier")
    fast = viewer_client.get(next(line.url for line in spend.lines if line.name == "fast"))

    assert totals(page, "Spend in USD, by tier") == {"fast": "1.00", "extraction": "1.00"}
    assert "This month: 2.00 of 8.00 USD" in page.content.decode()
    assert fast.context["cl"].result_count == 2


def test_retrievals_and_fallbacks_lead_an_admin_to_their_events(
    inside: Cast, admin_client: Client, viewer_client: Client
) -> None:
    for op in ("search", "search", "chat", "create", "stand_in"):
        OperationalEvent.objects.create(team=inside.team, node="x", op=op, status="ok")
    for attempts in ([], [{"model": "x", "provider": "y", "failure": "timeout"}]):
        RoutingDecision.objects.create(
            team=inside.team,
            agent=inside.kyra,
            query_hash="x",
            scores={},
            score=1,
            scorer="heuristics",
            tier="fast",
            model="m",
            provider="p",
            reason="r",
            estimated_usd=0,
            attempts=attempts,
        )

    page, seen_by_viewer = admin_client.get(HOME), viewer_client.get(HOME)

    assert totals(page, "Retrievals") == {"searches": "2", "chats": "1"}
    assert totals(page, "Model fallbacks") == {
        "extraction by the built-in model": "1",
        "chat by another model": "1",
    }
    for title in ("Retrievals", "Model fallbacks"):
        for line in chart(page, title).lines:
            assert admin_client.get(line.url).context["cl"].result_count == int(line.total)
    assert totals(seen_by_viewer, "Retrievals") == {"searches": "2", "chats": "1"}
    assert {line.url for line in chart(seen_by_viewer, "Retrievals").lines} == {""}


def test_the_feed_tells_what_people_did_and_groups_what_agents_learned(
    inside: Cast, viewer_client: Client
) -> None:
    memory = MemoryFactory.create(team=inside.team, content="Tomasz eats no meat.")
    others = [MemoryFactory.create(team=inside.team) for _ in range(3)]
    talk = ConversationFactory.create(team=inside.team, agent=inside.kyra, end_user=inside.sarah)
    for position in (1, 2):
        finished(inside.team, talk, position=position, result={"created": 5, "versioned": 1})
    finished(inside.team, talk, position=3, result={"created": 0})
    with team_scope(team_ids=[inside.team.id], actor="staff:rob"):
        memory.status = "soft_deleted"
        memory.save(update_fields=["status"])
        for other in others:
            other.is_pinned = True
            other.save(update_fields=["is_pinned"])
    with team_scope(team_ids=[inside.team.id], actor="task:index_messages"):
        others[0].importance = 9
        others[0].save(update_fields=["importance"])

    page = viewer_client.get(HOME)
    lines = told(page)
    (learned,) = [line for line, _ in page.context["feed"] if line.did == "learned"]

    assert viewer_client.get(learned.url).context["cl"].result_count == 3
    assert "rob (staff) deleted “Tomasz eats no meat.”" in lines
    assert "rob (staff) pinned 3 memories" in lines
    assert "kyra learned 12 memories from conversations" in lines
    assert not [line for line in lines if "indexing" in line or "Fact number" in line]


def test_the_feed_tells_of_disputes_agents_and_failures(
    inside: Cast, viewer_client: Client
) -> None:
    pair = two(inside.team)
    talk = ConversationFactory.create(
        team=inside.team, agent=inside.kyra, end_user=inside.sarah, thread_id="t1"
    )
    finished(inside.team, talk, state="failed", error="TimeoutError")
    Contradiction.objects.filter(pk=pair.pk).update(
        resolution="b_wins", resolved_by="staff:ann", resolved_at=timezone.now()
    )
    with team_scope(team_ids=[inside.team.id], actor="staff:ann"):
        inside.kyra.tagline = "New"
        inside.kyra.save()

    page = viewer_client.get(HOME)
    lines = told(page)

    assert "The judge found a conflict in “Office is in Oslo.”" in lines
    assert "ann (staff) settled “Office is in Oslo.”" in lines
    assert "Extraction failed for the conversation t1" in lines
    assert "ann (staff) changed the agent kyra" in lines
    assert "the later one was kept" in page.content.decode()


def test_the_feed_and_the_log_tell_what_became_of_a_report(
    inside: Cast, reviewer_client: Client
) -> None:
    pair = dispute(inside.team)
    decide(reviewer_client, pair, "wrong")
    home = reviewer_client.get(HOME).content.decode()
    undo(reviewer_client, pair)

    memory = reverse("admin:memory_memory_change", args=[pair.memory_a_id])
    history = reviewer_client.get(memory).content.decode()

    assert "(it was deleted)" in home
    assert "settled: it was deleted" in history
    assert "decision undone: it was deleted" in history


def test_the_feed_has_erasures_and_links_those_of_people(
    inside: Cast, viewer_client: Client
) -> None:
    erase_user(team_id=inside.team.pk, external_id="sarah", actor="staff:ann", reason="asked")
    purged = MemoryFactory.create(team=inside.team, status="purged")
    Team.objects.filter(pk=inside.team.pk).update(lifecycle_settings={"purge_erases": True})
    erase_purged(team_id=inside.team.pk, memory_ids=[purged.pk], actor="task:consolidate")

    page = viewer_client.get(HOME)

    assert "ann (staff) erased all data of a person" in told(page)
    assert [line for line in told(page) if line.endswith("erased purged memories")]
    sarah = reverse("admin:teams_enduser_change", args=[inside.sarah.pk])
    assert f'href="{sarah}"' in page.content.decode()
    assert 'href=""' not in page.content.decode()


def test_nothing_of_another_team_is_on_the_page(
    cast: Cast, others: Cast, viewer_client: Client, sign_in: SignIn
) -> None:
    with team_scope(team_ids=[others.team.id], actor="staff:spy"):
        two(others.team)
        memory = MemoryFactory.create(team=others.team, content="Globex buys Initech.")
        memory.is_pinned = True
        memory.save(update_fields=["is_pinned"])

    page = viewer_client.get(HOME)
    both = sign_in((cast.team, "viewer"), (others.team, "viewer"), name="bo").get(HOME)

    assert {work.count for work in page.context["waiting"]} == {0}
    assert all(drawn.is_empty for drawn in page.context["charts"])
    assert "Globex" not in page.content.decode()
    assert "spy" not in page.content.decode()
    assert totals(both, "Memories stored, by type") == {"semantic": "3"}
    assert "Globex buys Initech." in both.content.decode()


def test_a_second_look_counts_the_days_that_are_over_only_once(
    inside: Cast, viewer_client: Client
) -> None:
    MemoryFactory.create(team=inside.team)

    with CaptureQueriesContext(connection) as first:
        viewer_client.get(HOME)
    with CaptureQueriesContext(connection) as second:
        page = viewer_client.get(HOME)

    assert totals(page, "Memories stored, by type") == {"semantic": "1"}
    assert len(first) - len(second) == 16
    assert len(second) <= 35


@pytest.mark.usefixtures("cast")
def test_a_login_without_a_team_is_told_so(sign_in: SignIn) -> None:
    page = sign_in(name="lone").get(HOME)

    assert "You are not a member of a team yet." in page.content.decode()
    assert "charts" not in page.context
