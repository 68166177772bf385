"""A sensitive field of a person changes only with a yes, and until then nobody is told of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import OperationalEvent
from memory.domain.types import Candidate, Judgement, MemoryType, Statement, Verdict
from memory.models import Job, Memory
from memory.satellites.consent.deciding import expire_requests
from memory.satellites.consent.models import ConsentRequest
from memory.understanding.tools import Tools
from memory.writing.waiting import extract_now
from teams.models import Conversation, EndUser, Team
from tests.support.cast import Cast, Clients
from tests.support.consent import BERGEN, OSLO, learn, person, profile, talk, waiting
from tests.support.erasure import erase
from tests.support.extraction import viewer_of
from tests.support.judges import PairJudge
from tests.support.learning import Desk, Filing, desk, tell, told
from tests.support.memories_api import post

__all__ = ["desk"]


def decide(desk: Desk, verb: str, **body: object) -> dict[str, object]:
    (request,) = waiting(desk.kyra, user="sarah")
    answer = post(desk.kyra, f"consent-requests/{request['id']}/{verb}", **body)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def live() -> list[str]:
    return [row.content for row in Memory.objects.live().order_by("id")]


def test_a_first_value_that_the_person_tells_is_known_at_once(desk: Desk) -> None:
    talk(desk.kyra, OSLO, "My name is Dana.")

    assert profile(desk.kyra)["city"] == OSLO
    assert any("Dana" in value for value in profile(desk.kyra).values())
    assert waiting(desk.kyra, user="sarah") == []


def test_a_change_waits_and_what_is_told_stays_as_it_was(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    made = talk(desk.kyra, BERGEN)

    (request,) = waiting(desk.kyra, user="sarah")

    assert (request["kind"], request["field"], request["status"]) == (
        "profile_field",
        "city",
        "waiting",
    )
    assert request["present"] == OSLO
    assert "Bergen" in request["proposed"]
    assert request["proposed_by"] == "task:extract"
    assert len(request["source_message_ids"]) == request["signals"] == 1
    assert person(desk.kyra)["pending"] == [request]
    assert live() == [OSLO]
    assert not any("Bergen" in each for each in told(desk.kyra, "Where is home?", agent="kyra"))
    job = post(desk.kyra, f"conversations/{made}/extract", wait=True).json()
    assert job["created"] == 0


def test_a_yes_replaces_the_present_value_and_keeps_its_history(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)

    done = decide(desk, "approve", note="she told me so")

    assert (done["status"], done["decided_by"], done["note"]) == (
        "approved",
        "agent:kyra",
        "she told me so",
    )
    new = Memory.objects.get(pk=str(done["memory"]))
    old = Memory.objects.get(pk=str(done["present_memory"]))
    assert "Bergen" in new.content
    assert (old.status, old.superseded_by_id, new.supersedes_id) == (
        "superseded",
        new.pk,
        old.pk,
    )
    assert [str(each) for each in new.source_message_ids] == done["source_message_ids"]
    assert live() == [new.content]
    assert profile(desk.kyra) == {"city": new.content}


def test_a_no_is_kept_and_the_same_messages_do_not_ask_again(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    made = talk(desk.kyra, BERGEN)
    done = decide(desk, "reject", note="a holiday")
    read = Job.objects.filter(conversation_id=made)
    read.update(state="queued", done_position=0, reported_at=None, result={})
    learn(made)
    assert read.get().result["held_for_consent"] == 1

    assert (done["status"], done["note"]) == ("rejected", "a holiday")
    assert waiting(desk.kyra, user="sarah") == []
    assert live() == [OSLO]

    talk(desk.kyra, BERGEN)
    assert len(waiting(desk.kyra, user="sarah")) == 1


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_decision_is_made_once(desk: Desk, verb: str) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    done = decide(desk, "reject")

    again = post(desk.kyra, f"consent-requests/{done['id']}/{verb}")

    assert again.status_code == 409
    assert "already rejected" in again.json()["detail"]


def test_who_proposed_a_change_cannot_approve_it(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    stated = {
        "content": "User lives in Bergen.",
        "memory_type": "user_profile",
        "subject": "user.profile.city",
        "user": "sarah",
    }

    held = post(desk.kyra, "memories", **stated)

    assert held.status_code == 202
    answer = held.json()
    assert (answer["outcome"], answer["content"]) == ("held", OSLO)
    path = f"consent-requests/{answer['consent_request']}/approve"
    assert post(desk.kyra, path).status_code == 403
    talk(desk.luke, "Hello there.", agent="luke")
    assert post(desk.luke, path).status_code == 200
    assert profile(desk.kyra) == {"city": "User lives in Bergen."}


def test_a_correction_of_a_profile_waits_and_a_rewording_does_not(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    city = Memory.objects.get()

    reworded = post(
        desk.kyra, f"memories/{city.pk}/correct", corrected_content="The user lives in Oslo."
    )
    corrected = post(
        desk.kyra,
        f"memories/{reworded.json()['id']}/correct",
        corrected_content="The user lives in Rome.",
    )

    assert (reworded.status_code, corrected.status_code) == (201, 202)
    assert live() == ["The user lives in Oslo."]
    assert [each["proposed"] for each in waiting(desk.kyra, user="sarah")] == [
        "The user lives in Rome."
    ]


def test_a_second_telling_is_another_signal_of_the_same_request(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    talk(desk.luke, f"Yes, {BERGEN}", agent="luke")

    (request,) = waiting(desk.kyra, user="sarah")

    assert request["signals"] == 2
    assert len(request["source_message_ids"]) == 2


ASKED = "> You said you live in Bergen now. Shall I note that?"


def test_an_answer_that_states_the_value_again_is_a_yes(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    talk(desk.kyra, ASKED, f"Yes, {BERGEN}")

    assert waiting(desk.kyra, user="sarah") == []
    (done,) = waiting(desk.kyra, user="sarah", status="approved")
    assert str(done["decided_by"]).startswith("talk:")
    assert "Bergen" in profile(desk.kyra)["city"]


def test_what_proposed_a_change_agrees_to_nothing(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, "> Where do you live?", BERGEN)

    assert len(waiting(desk.kyra, user="sarah")) == 1


@pytest.mark.parametrize("answer", ["Yes, please.", "No, please don't.", "Maybe."])
def test_an_answer_without_the_value_leaves_the_request_waiting(desk: Desk, answer: str) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    talk(desk.kyra, ASKED, answer)

    assert len(waiting(desk.kyra, user="sarah")) == 1


def test_another_persons_yes_is_none(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    talk(desk.kyra, ASKED, f"Yes, {BERGEN}", user="dmitri")

    assert len(waiting(desk.kyra, user="sarah")) == 1
    assert profile(desk.kyra) == {"city": OSLO}


def test_what_was_told_in_confidence_waits_no_longer(desk: Desk) -> None:
    tell(desk.luke, "Hello there.", agent="luke")
    talk(desk.kyra, OSLO)
    made = talk(desk.kyra, BERGEN)
    assert waiting(desk.luke, user="sarah")

    silence = [{"role": "user", "content": "Please keep that between us."}]
    post(desk.kyra, f"conversations/{made}/messages", messages=silence)
    learn(made)

    of_luke, of_kyra = (
        client.get("/v1/consent-requests?status=all&user=sarah").json()["results"]
        for client in (desk.luke, desk.kyra)
    )
    assert of_luke == []
    assert [(each["status"], each["note"]) for each in of_kyra] == [
        ("rejected", "told in confidence")
    ]
    undone = post(desk.kyra, f"consent-requests/{of_kyra[0]['id']}/undo")
    assert undone.status_code == 409
    assert "keep this between them" in undone.json()["detail"]
    assert live() == [OSLO]


def test_requests_expire_after_a_week_and_are_logged(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    now = timezone.now()

    assert expire_requests(now=now + timedelta(days=6)) == 0
    assert expire_requests(now=now + timedelta(days=7, minutes=1)) == 1

    assert waiting(desk.kyra, user="sarah") == []
    (expired,) = waiting(desk.kyra, user="sarah", status="expired")
    assert expired["decided_by"] == "task:consent"
    assert OperationalEvent.objects.filter(node="consent", op="expire").count() == 1
    assert live() == [OSLO]


def test_a_team_chooses_its_fields(desk: Desk) -> None:
    Team.objects.filter(pk=desk.cast.team.pk).update(sensitive_fields=["birthday"])
    talk(desk.kyra, OSLO)
    talk(desk.kyra, "I moved to Bergen.")

    assert waiting(desk.kyra, user="sarah") == []
    assert any("Bergen" in each for each in live())
    assert person(desk.kyra)["sensitive_fields"] == ["birthday"]


def test_requests_are_seen_by_those_who_know_the_person(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    (request,) = waiting(desk.kyra, user="sarah")
    path = f"consent-requests/{request['id']}/approve"

    assert waiting(desk.stranger, user="sarah") == []
    assert waiting(desk.kyra) == []
    assert waiting(desk.kyra, user="dmitri") == []
    assert post(desk.stranger, path).status_code == 404
    assert desk.stranger.get("/v1/users/sarah").status_code == 404
    assert desk.stranger.get("/v1/users/nobody").status_code == 404


def concluded(**changes: Any) -> Candidate:  # Any: fields of a candidate
    """Returns a model's conclusion about a person."""
    return replace(
        Candidate(
            content="User lives in Oslo.",
            memory_type=MemoryType.USER_PROFILE,
            importance=6,
            confidence=0.5,
            message_ids=(),
            subject="user.profile.city",
            sensitive_field="city",
        ),
        **changes,
    )


class Concluding(Filing):
    """Makes the given candidate of the last message of a person."""

    def __init__(self, candidate: Candidate) -> None:
        super().__init__(candidate.memory_type)
        self.candidate = candidate

    def extract(self, **given: Any) -> list[Candidate]:  # Any: as in the port
        """The candidate, told by the last message."""
        found = super().extract(**given)
        return [replace(self.candidate, message_ids=found[-1].message_ids)] if found else []


class Superseding(PairJudge):
    """Judges that the later of two statements takes the place of the earlier one."""

    name = "superseding"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Always the same."""
        return Judgement(Verdict.SUPERSEDE, "the later one counts")


def conclude(desk: Desk, tools: Tools, candidate: Candidate, *said: str) -> UUID:
    conversation = Conversation.objects.get(pk=tell(desk.kyra, *said))
    extract_now(
        viewer=viewer_of(conversation),
        conversation_id=conversation.pk,
        tools=replace(tools, extractor=Concluding(candidate)),
    )
    return conversation.pk


def test_a_first_value_that_a_model_concluded_waits(desk: Desk, tools: Tools) -> None:
    conclude(desk, tools, concluded(), "Oslo was rainy again on my way home.")

    assert live() == []
    (request,) = waiting(desk.kyra, user="sarah")
    assert (request["present"], request["needs_person"]) == (None, True)


def test_a_value_filed_elsewhere_is_found_by_its_field(desk: Desk, tools: Tools) -> None:
    told_as = {"memory_type": MemoryType.SEMANTIC, "subject": "fact.home", "confidence": 0.9}
    conclude(desk, tools, concluded(**told_as), "I live in Oslo.")

    assert profile(desk.kyra) == {"city": "User lives in Oslo."}

    conclude(
        desk, tools, concluded(content="User lives in Bergen.", **told_as), "I live in Bergen."
    )
    assert [each["field"] for each in waiting(desk.kyra, user="sarah")] == ["city"]


def test_a_benign_field_applies_by_itself_once_two_conversations_say_it(
    desk: Desk, tools: Tools
) -> None:
    tone = concluded(
        content="User prefers a dry tone.", subject="user.profile.tone", sensitive_field=""
    )
    conclude(desk, tools, tone, "A dry tone, please.")

    (request,) = waiting(desk.kyra, user="sarah")
    assert (request["field"], request["needs_person"]) == ("tone", False)
    assert live() == []

    conclude(desk, tools, tone, "I said a dry tone.")
    assert waiting(desk.kyra, user="sarah") == []
    assert profile(desk.kyra) == {"tone": "User prefers a dry tone."}


def test_what_all_are_said_to_prefer_waits_for_a_yes(desk: Desk, tools: Tools) -> None:
    EndUser.objects.filter(pk=desk.cast.sarah.pk).update(role="member")
    said = "The whole team prefers short answers."
    candidate = concluded(
        content=said,
        memory_type=MemoryType.SEMANTIC,
        subject="team.preference.answers",
        sensitive_field="",
        category="preferences",
        audience="team",
    )
    conclude(desk, tools, candidate, said)

    (request,) = waiting(desk.kyra, user="sarah")
    assert (request["kind"], request["user"]) == ("team_preference", "sarah")
    assert Memory.objects.get().end_user_id == desk.cast.sarah.pk

    assert decide(desk, "approve")["status"] == "approved"
    assert (Memory.objects.get().end_user_id, Memory.objects.get().scope) == (None, "team")


def test_what_somebody_gives_to_the_team_no_longer_waits(
    desk: Desk, tools: Tools, api: APIClient
) -> None:
    EndUser.objects.filter(pk=desk.cast.sarah.pk).update(role="member")
    said = "The whole team prefers short answers."
    candidate = concluded(
        content=said,
        memory_type=MemoryType.SEMANTIC,
        subject="team.preference.answers",
        sensitive_field="",
        category="preferences",
        audience="team",
    )
    conclude(desk, tools, candidate, said)
    memory = Memory.objects.get()

    path, body = f"/v1/memories/{memory.pk}", {"scope": "team"}
    assert desk.kyra.patch(path, body, format="json").status_code == 422
    assert api.patch(path, {**body, "confirm": True}, format="json").status_code == 200

    assert ConsentRequest.objects.get().state == "approved"


def test_what_is_filed_elsewhere_and_would_replace_the_field_waits(
    desk: Desk, tools: Tools
) -> None:
    conclude(desk, tools, concluded(confidence=1.0), "I live in Oslo.")
    moved = "User moved from Oslo to Bergen."
    event = concluded(
        content=moved, memory_type=MemoryType.EPISODIC, subject="event.moved", sensitive_field=""
    )
    conclude(desk, replace(tools, judge=Superseding()), event, moved)

    assert live() == ["User lives in Oslo."]
    assert decide(desk, "approve")["status"] == "approved"
    assert profile(desk.kyra) == {"city": moved}


def test_an_erasure_removes_the_requests_of_the_person(desk: Desk) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    talk(desk.kyra, OSLO, user="dmitri")
    talk(desk.kyra, BERGEN, user="dmitri")

    erase(desk.cast, "sarah")

    (left,) = ConsentRequest.objects.all()
    assert left.end_user_id == desk.cast.dmitri.pk


def test_an_erasure_removes_the_requests_about_memories_that_rest_on_the_person_alone(
    desk: Desk, api: APIClient
) -> None:
    said = tell(desk.kyra, "We all prefer tabs.")
    [message] = desk.kyra.get(f"/v1/conversations/{said}/messages").json()["results"]
    body = {
        "content": "All prefer tabs.",
        "category": "preferences",
        "project": "lantern",
        "message_ids": [message["id"]],
    }
    stated = api.post("/v1/memories", body, format="json").json()
    post(desk.kyra, f"memories/{stated['id']}/promote")
    assert ConsentRequest.objects.get().end_user is None

    erase(desk.cast, "sarah")

    assert not ConsentRequest.objects.exists()


def test_a_person_is_given_their_requests_with_all_else(
    desk: Desk, client_of: Clients, acme: Cast
) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)

    answer: Any = client_of(acme).get("/v1/audit/export", {"user": "sarah"})

    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    (request,) = [each for each in lines if each["kind"] == "consent_request"]
    assert "Bergen" in request["content"]
    assert "value_key" not in request


def test_an_undone_yes_in_talk_is_not_given_again_by_the_next_message(
    desk: Desk, api: APIClient
) -> None:
    talk(desk.kyra, OSLO)
    talk(desk.kyra, BERGEN)
    made = talk(desk.kyra, ASKED, f"Yes, {BERGEN}")
    request = ConsentRequest.objects.get()
    assert (request.state, request.decided_by[:5]) == ("approved", "talk:")

    assert post(api, f"consent-requests/{request.pk}/undo").status_code == 200
    more = [{"role": "user", "content": "What time is it?"}]
    post(desk.kyra, f"conversations/{made}/messages", messages=more)
    learn(made)

    assert ConsentRequest.objects.get().state == "waiting"
    assert live() == [OSLO]
