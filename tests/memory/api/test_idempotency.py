"""`Idempotency-Key`: a request sent again is carried out once and answered as before."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.test import override_settings
from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Memory, MemoryUsage
from teams.models import IdempotentRequest, Message, Project
from teams.services.keys import issue_key
from teams.tasks import prune_idempotent_requests
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients, make_cast
from tests.support.waiting import race

BERLIN = {"content": "Sarah lives in Berlin."}


def post(api: APIClient, path: str, body: object, *, key: str | None = "k-1") -> Any:
    """The response to a JSON body under a key."""
    headers = {} if key is None else {"Idempotency-Key": key}
    return api.post(f"/v1/{path}", body, format="json", headers=headers)


# -- the same request again ------------------------------------------------------------------


@pytest.mark.parametrize("check", [True, False])
def test_the_same_request_is_answered_the_same_and_stores_nothing(
    api: APIClient, check: bool
) -> None:
    first = post(api, "memories", {**BERLIN, "check": check})
    again = post(api, "memories", {**BERLIN, "check": check})

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again["Content-Type"] == first["Content-Type"]
    assert (first.has_header("Idempotent-Replay"), again["Idempotent-Replay"]) == (False, "true")
    assert Memory.objects.count() == 1


def test_messages_without_ids_of_their_own_are_stored_once(api: APIClient) -> None:
    talk = post(api, "conversations", {"agent": "kyra", "user": "sarah"}, key="talk").json()["id"]
    body = {"messages": [{"role": "user", "content": "Hello."}]}

    first, again = (post(api, f"conversations/{talk}/messages", body) for _ in range(2))

    assert again.json() == first.json()
    assert Message.objects.count() == 1


def test_feedback_is_counted_once(api: APIClient) -> None:
    memory = post(api, "memories", BERLIN, key=None).json()["id"]

    for _ in range(3):
        assert post(api, f"memories/{memory}/feedback", {"signal": "cited"}).status_code == 200

    assert MemoryUsage.objects.get(memory_id=memory).cited == 1


def test_a_large_answer_with_every_kind_of_text_comes_back_to_the_letter(api: APIClient) -> None:
    items = [
        {"content": f"№ {n}: “quotes”, \\ and \u2028 lines 🎉", "check": False} for n in range(40)
    ]

    first, again = (post(api, "memories", items) for _ in range(2))

    assert again.content == first.content
    assert len(again.json()) == 40


def test_without_a_key_nothing_is_kept(api: APIClient) -> None:
    post(api, "memories", BERLIN, key=None)

    assert not IdempotentRequest.objects.exists()


def test_other_methods_leave_the_header_unread(api: APIClient) -> None:
    memory = post(api, "memories", BERLIN, key=None).json()["id"]

    api.get(f"/v1/memories/{memory}", headers={"Idempotency-Key": "k-1"})
    api.delete(f"/v1/memories/{memory}", headers={"Idempotency-Key": "k-1"})

    assert not IdempotentRequest.objects.exists()


# -- another request -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("memories", {"content": "Sarah lives in Rome."}),
        ("memories?x=1", BERLIN),
        ("conversations", BERLIN),
    ],
)
def test_a_key_of_another_request_is_refused(
    api: APIClient, path: str, body: dict[str, str]
) -> None:
    post(api, "memories", BERLIN)

    response = post(api, path, body)

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["Idempotency-Key"]
    assert Memory.objects.count() == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "ключ", "a\tb"])
def test_what_is_no_key_is_refused(api: APIClient, key: str) -> None:
    response = api.generic(
        "POST",
        "/v1/memories",
        json.dumps(BERLIN),
        content_type="application/json",
        HTTP_IDEMPOTENCY_KEY=key,
    )

    assert response.status_code == 422
    assert list(response.json()["errors"]) == ["Idempotency-Key"]
    assert not Memory.objects.exists()


def test_keys_are_each_agents_own(acme: Cast, client_of: Clients) -> None:
    body = {**BERLIN, "memory_type": "agent_private"}
    kyra, luke, team = client_of(acme, acme.kyra), client_of(acme, acme.luke), client_of(acme)

    mine = post(kyra, "memories", body).json()
    his = post(luke, "memories", body)
    theirs = post(team, "memories", BERLIN)

    assert [each.has_header("Idempotent-Replay") for each in (his, theirs)] == [False, False]
    assert len({mine["id"], his.json()["id"], theirs.json()["id"]}) == 3


def test_a_key_is_of_the_person_that_a_header_names_and_of_the_projects_of_its_caller(
    api: APIClient, acme: Cast
) -> None:
    project = Project.objects.create(team=acme.team, slug="p1", name="P1")
    with team_scope(team_ids=[acme.team.id], actor="test"):
        bound = issue_key(team_id=acme.team.id, project_ids=[project.pk])
    of_project = APIClient()
    of_project.credentials(HTTP_AUTHORIZATION=f"Bearer {bound.token}")
    sent = {"query": "tea", "agent": "kyra"}

    def ask(client: APIClient, **headers: str) -> int:
        given = {"Idempotency-Key": "turn-1", **headers}
        answer = client.post("/v1/retrieve", sent, format="json", headers=given)
        return int(answer.status_code)

    assert ask(api, **{"X-Palimpsest-User": "sarah"}) == 200
    assert ask(api, **{"X-Palimpsest-User": "sarah"}) == 200
    assert ask(api, **{"X-Palimpsest-User": "dmitri"}) == 422
    assert ask(of_project, **{"X-Palimpsest-User": "sarah"}) == 422


def test_keys_are_each_teams_own(acme: Cast, globex: Cast, client_of: Clients) -> None:
    post(client_of(acme), "memories", BERLIN)

    answer = post(client_of(globex), "memories", BERLIN)

    assert answer.status_code == 201
    assert not answer.has_header("Idempotent-Replay")


def test_a_wrong_key_of_the_api_claims_nothing(acme: Cast) -> None:
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION="Bearer wrong")

    assert post(api, "memories", BERLIN).status_code == 401
    assert not IdempotentRequest.objects.exists()


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [{}, [], "text", {"content": ""}])
def test_a_refused_request_may_be_sent_again_under_its_key(api: APIClient, body: object) -> None:
    refused = post(api, "memories", body)
    sent = post(api, "memories", BERLIN)

    assert refused.status_code == 422
    assert sent.status_code == 201


def test_what_is_missing_now_may_be_there_next_time(api: APIClient) -> None:
    talk = str(uuid4())
    body = {**BERLIN, "conversation": talk}

    assert post(api, "memories", body).status_code == 404
    assert not IdempotentRequest.objects.exists()


def test_malformed_json_is_refused_as_without_a_key(api: APIClient) -> None:
    response = api.generic(
        "POST", "/v1/memories", "{", content_type="application/json", HTTP_IDEMPOTENCY_KEY="k"
    )

    assert response.status_code == 400
    assert not IdempotentRequest.objects.exists()


# -- several at once, and crashes --------------------------------------------------------------


class Town:
    """A committed team, a key of it and clients that several threads may use."""

    def __init__(self) -> None:
        self.cast: Cast = make_cast(f"town-{uuid4().hex}")
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            self.token = issue_key(team_id=self.cast.team.id, agent=None).token

    def post(self, body: object, *, key: str = "k-1") -> Any:
        """The response to new memories."""
        api = APIClient(raise_request_exception=False)
        api.credentials(HTTP_AUTHORIZATION=f"Bearer {self.token}")
        return post(api, "memories", body, key=key)

    def act(self, path: str, body: object, *, key: str | None) -> Any:
        """The response to something else."""
        api = APIClient(raise_request_exception=False)
        api.credentials(HTTP_AUTHORIZATION=f"Bearer {self.token}")
        return post(api, path, body, key=key)

    def memories(self) -> int:
        """Returns the number of memories."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            return Memory.objects.count()

    def rows(self) -> list[IdempotentRequest]:
        """Returns the stored requests."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            return list(IdempotentRequest.objects.all())

    def change(self, **fields: object) -> None:
        """Make the kept rows look as after a crash, or old."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            IdempotentRequest.objects.update(**fields)


@pytest.fixture
def town(committed_db: None) -> Town:
    """A team that several connections may write to."""
    return Town()


UNCHECKED = {**BERLIN, "check": False}


def test_of_the_same_request_many_times_at_once_one_is_carried_out(town: Town) -> None:
    answers = race(6, lambda number: town.post(UNCHECKED))

    assert town.memories() == 1
    codes = [each.status_code for each in answers]
    assert set(codes) <= {201, 409}
    assert len({each.content for each in answers if each.status_code == 201}) == 1
    ran = [a for a in answers if a.status_code == 201 and not a.has_header("Idempotent-Replay")]
    assert len(ran) == 1


def test_a_request_under_way_is_not_begun_again(town: Town) -> None:
    town.post(UNCHECKED)
    later = timezone.now() + timedelta(minutes=1)
    town.change(status=None, body="", claim=uuid4(), lease_until=later, committed_at=None)

    response = town.post(UNCHECKED)

    assert response.status_code == 409
    assert "being carried out" in response.json()["detail"]
    assert response["Retry-After"] == "1"
    assert town.memories() == 1


def test_after_a_crash_between_commit_and_answer_nothing_is_doubled(town: Town) -> None:
    town.post(UNCHECKED)
    (kept,) = town.rows()
    gone = timezone.now() - timedelta(seconds=1)
    town.change(status=None, body="", claim=uuid4(), lease_until=gone)

    response = town.post(UNCHECKED)

    assert kept.committed_at is not None
    assert response.status_code == 409
    assert "answer was lost" in response.json()["detail"]
    assert town.memories() == 1


def test_after_a_crash_before_anything_was_written_the_request_is_carried_out(town: Town) -> None:
    town.post(UNCHECKED)
    gone = timezone.now() - timedelta(seconds=1)
    town.change(status=None, body="", claim=uuid4(), lease_until=gone, committed_at=None)

    response = town.post(UNCHECKED)

    assert response.status_code == 201
    assert town.memories() == 2
    (kept,) = town.rows()
    assert (kept.status, kept.claim) == (201, None)
    assert kept.committed_at is not None


def test_a_run_that_lost_its_claim_cannot_commit(town: Town) -> None:
    taken: list[str] = []

    def take_over(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        """Another run takes the request over while this one writes its memory."""
        if "memory_searchentry" in sql and not taken:
            taken.append(sql)
            race(1, lambda number: town.change(claim=uuid4()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(take_over):
        response = town.post(UNCHECKED)

    assert taken
    assert response.status_code == 409
    assert town.memories() == 0


def test_a_defect_of_ours_before_anything_was_written_lets_it_be_sent_again(town: Town) -> None:
    def fail(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "memory_searchentry" in sql:
            raise LookupError
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fail):
        failed = town.post(UNCHECKED)
    again = town.post(UNCHECKED)

    assert (failed.status_code, again.status_code) == (500, 201)
    assert town.memories() == 1


def broken_off_at(statement: str) -> Any:
    """A database that breaks off where it is to run this, after it has locked the memory."""

    def run(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if statement in sql:
            raise OperationalError("the connection is lost")
        return execute(sql, params, many, context)

    return connection.execute_wrapper(run)


PARIS = {"corrected_content": "Sarah lives in Paris."}


def test_a_correction_that_the_database_refused_runs_again(town: Town) -> None:
    memory = town.post(UNCHECKED).json()["id"]
    path = f"memories/{memory}/correct"

    with broken_off_at("INSERT INTO memory_memory"):
        refused = town.act(path, PARIS, key="k-2")
    again = town.act(path, PARIS, key="k-2")

    assert (refused.status_code, again.status_code) == (503, 201), again.content
    assert again.json()["content"] == PARIS["corrected_content"]


def test_a_promotion_that_the_database_refused_runs_again(town: Town) -> None:
    memory = town.post({**UNCHECKED, "project": "billing"}).json()["id"]
    path = f"memories/{memory}/promote"

    with broken_off_at("memory_searchentry"):
        refused = town.act(path, {}, key="k-2")
    again = town.act(path, {}, key="k-2")

    assert (refused.status_code, again.status_code) == (503, 200), again.content
    assert again.json()["scope"] == "team"


def test_a_correction_of_what_is_no_longer_current_runs_again(town: Town) -> None:
    memory = town.post(UNCHECKED).json()["id"]
    path = f"memories/{memory}"
    town.act(f"{path}/feedback", {"signal": "cited"}, key=None)
    same = town.act(f"{path}/correct", {"corrected_content": BERLIN["content"]}, key="k-2")
    api = APIClient()
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {town.token}")
    api.delete(f"/v1/{path}")

    gone = town.act(f"{path}/correct", PARIS, key="k-2")
    town.act(f"{path}/restore", {}, key=None)
    again = town.act(f"{path}/correct", PARIS, key="k-2")

    assert [same.status_code, gone.status_code, again.status_code] == [422, 409, 201]


# -- how long --------------------------------------------------------------------------------


@override_settings(IDEMPOTENCY_HOURS=24)
def test_an_answer_is_kept_for_a_day(town: Town) -> None:
    town.post(UNCHECKED)
    town.change(made_at=timezone.now() - timedelta(hours=23, minutes=59))
    prune_idempotent_requests()
    replayed = town.post(UNCHECKED)
    town.change(made_at=timezone.now() - timedelta(hours=24, seconds=1))

    anew = town.post(UNCHECKED)

    assert replayed.has_header("Idempotent-Replay")
    assert not anew.has_header("Idempotent-Replay")
    assert town.memories() == 2


def test_old_answers_are_removed_in_every_team(town: Town) -> None:
    other = Town()
    for each in (town, other):
        each.post(UNCHECKED, key="old")
        each.change(made_at=timezone.now() - timedelta(days=2))
        each.post(UNCHECKED, key="new")

    prune_idempotent_requests()

    assert [[kept.key for kept in each.rows()] for each in (town, other)] == [["new"]] * 2


# -- the schema ------------------------------------------------------------------------------


def test_every_post_describes_the_header(api: APIClient) -> None:
    schema = api.get("/v1/schema", headers={"Accept": "application/json"}).json()

    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            names = [each["name"] for each in operation.get("parameters", [])]
            assert ("Idempotency-Key" in names) is (method == "post"), (path, method)
            if method == "post":
                assert {"409", "422"} <= set(operation["responses"])
