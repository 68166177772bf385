"""A merge in the admin waits for a model without holding a transaction, and still does its work."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings

from memory.domain.audience import Viewer
from memory.models import Contradiction, Memory
from memory.understanding.tools import default_tools
from memory.writing.write_path import write_memories
from routing.models import SpendEntry, SpendReservation
from teams.middleware import StaffScopeMiddleware, outside_staff_scope
from teams.models import Membership, Team
from teams.tenancy import team_scope
from tests.factories import StaffUserFactory
from tests.support.admin import join, press
from tests.support.cast import Cast, make_cast
from tests.support.clean_database import conninfo_of
from tests.support.model_judging import says
from tests.support.openai_server import Behaviour, FakeOpenAI, RecordedRequest
from tests.support.writing import draft

SUBJECT = "office.place"


class WatchingModel(FakeOpenAI):
    """An endpoint that looks, at every request, whether the test's thread waits in a transaction.

    Threads that other tests left behind have connections of their own, which do not count.
    """

    def __init__(self) -> None:
        super().__init__()
        self._watched = connections.all()
        self.waiting: list[str] = []

    def take(self, request: RecordedRequest) -> Behaviour:
        """Look first, then answer as scripted."""
        opened = [each.connection for each in self._watched if each.connection is not None]
        with psycopg.connect(conninfo_of("default")) as own:
            rows = own.execute(
                "SELECT query FROM pg_stat_activity"
                " WHERE state = 'idle in transaction' AND pid = ANY(%s)",
                [[each.info.backend_pid for each in opened]],
            ).fetchall()
        self.waiting += [str(query) for (query,) in rows]
        return super().take(request)


@pytest.fixture
def model() -> Iterator[WatchingModel]:
    """A judge behind the protocol, chosen by the settings."""
    with WatchingModel() as running:
        default_tools.cache_clear()
        with override_settings(
            OPENAI_BASE_URL=running.base_url, OPENAI_API_KEY="key", JUDGE_MODEL="judge"
        ):
            yield running
        default_tools.cache_clear()


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team whose rows several connections see."""
    return make_cast(f"town-{uuid4().hex}")


def test_a_merge_asks_its_model_outside_any_transaction(town: Cast, model: WatchingModel) -> None:
    user = StaffUserFactory.create(username=f"rob-{uuid4().hex}")
    join(user, town.team, "reviewer")
    client = Client()
    client.force_login(user)
    verdict = says("dispute", older="Oslo", newer="Bergen")
    other = says("coexist")
    model.will(verdict, other, other)
    viewer = Viewer(team_id=town.team.id, actor="test")
    texts = ("Office is in Oslo.", "Office is in Bergen.", "Office has a garden.")
    for text in texts:
        write_memories(
            viewer=viewer, drafts=[draft(town, text, subject=SUBJECT)], tools=default_tools()
        )
    with team_scope(team_ids=[town.team.id], actor="test"):
        pair = Contradiction.objects.get()
    asked_before = len(model.chats)
    model.will(other)

    page = f"/admin/inbox/contradiction/{pair.pk}/"
    sent = {"content": "Office moved from Oslo to Bergen."}
    response = press(client, page, "merge", **sent)

    assert response.status_code == 302
    assert len(model.chats) > asked_before
    assert model.waiting == []
    with team_scope(team_ids=[town.team.id], actor="test"):
        # What was held for each call was committed before it and settled after it.
        assert SpendEntry.objects.filter(tier="judge").count() == len(model.chats)
        assert not SpendReservation.objects.exists()
        assert Contradiction.objects.get().resolution == "merged"
        assert Memory.objects.live().filter(content=sent["content"]).exists()


def request_of(team: Team) -> HttpRequest:
    """A page of a login of the team."""
    request = RequestFactory().get("/admin/")
    request.session = SessionStore()
    request.user = StaffUserFactory.create(username=f"ann-{uuid4().hex}")
    join(request.user, team, "viewer")
    return request


def test_the_scope_is_left_and_entered_again(town: Cast) -> None:
    seen: list[tuple[bool, int]] = []

    def look() -> None:
        seen.append((connection.in_atomic_block, Membership.objects.count()))

    def page(request: HttpRequest) -> HttpResponse:
        look()
        with outside_staff_scope(request):
            look()
        look()
        return HttpResponse()

    StaffScopeMiddleware(page)(request_of(town.team))

    assert seen == [(True, 1), (False, 0), (True, 1)]
    assert not connection.in_atomic_block


def test_a_failure_outside_is_raised_where_the_scope_holds_again(town: Cast) -> None:
    def page(request: HttpRequest) -> HttpResponse:
        with pytest.raises(LookupError), outside_staff_scope(request):
            raise LookupError
        assert Membership.objects.count() == 1
        return HttpResponse(status=500)

    response = StaffScopeMiddleware(page)(request_of(town.team))

    assert response.status_code == 500
    assert not connection.in_atomic_block
