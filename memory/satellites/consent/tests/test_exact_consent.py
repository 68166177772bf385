"""A yes changes what its request names and nothing else, and everybody's change needs one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import OperationalEvent
from memory.domain.audience import Viewer
from memory.domain.types import Judgement, MemoryType, Statement, Verdict
from memory.models import Contradiction, Memory
from memory.satellites.consent.deciding import approve_request
from memory.satellites.consent.models import ConsentRequest
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import Notes, annotate_memory, archive_memory
from memory.writing.decisions.clearing import clear_memories
from memory.writing.decisions.disputes import resolve_contradiction
from memory.writing.decisions.moving import promote_memory
from memory.writing.drafts import Outcome
from memory.writing.stating import StatedMemory, remember
from teams.errors import ConflictError, ForbiddenError
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.consent import BERGEN, OSLO, profile, talk, waiting
from tests.support.judges import PairJudge
from tests.support.learning import Desk, desk
from tests.support.lifecycle import run
from tests.support.memories_api import post
from tests.support.memories_api import remember as stated

__all__ = ["desk"]

ENGLISH = "The whole team prefers answers in English."
FRENCH = "The whole team prefers answers in French."


class Always(PairJudge):
    """Judges every pair alike."""

    name = "always"

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict."""
        return Judgement(self.verdict, "as told")


def live() -> list[str]:
    return [row.content for row in Memory.objects.live().order_by("id")]


def tell_city(api: APIClient, content: str, **fields: object) -> str:
    given = {"memory_type": "user_profile", "subject": "user.profile.city", "user": "sarah"}
    return stated(api, content, **(given | fields))


def dispute(*sides: str) -> Contradiction:
    """An open contradiction of the memories of these ids."""
    rows = [Memory.objects.get(pk=each) for each in sides]
    for row in rows:
        row.status = "disputed"
        row.contradicts = [each.pk for each in rows if each.pk != row.pk]
        row.save(update_fields=["status", "contradicts"])
    return Contradiction.objects.create(
        team_id=rows[0].team_id,
        memory_a=rows[0],
        memory_b=rows[1] if len(rows) > 1 else None,
        strategy="semantic_opposition",
        verdict="dispute",
        judge="always",
    )


def approve(client: APIClient) -> Any:
    (request,) = waiting(client, user="sarah")
    answer = post(client, f"consent-requests/{request['id']}/approve")
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.fixture
def english(api: APIClient) -> str:
    """The text that the team confirmed."""
    return stated(api, ENGLISH, category="preferences", confirm=True)


class TestWhatIsReplaced:
    @pytest.mark.parametrize(
        ("said", "rest", "field"),
        [
            ("My name is Sarah and I live in Oslo.", "My name is Sarah", "preferred_name"),
            ("I live in Oslo. My dog is called Rex.", "My dog is called Rex.", ""),
            ("I live in Oslo and I have two kids.", "and I have two kids.", ""),
        ],
    )
    def test_is_what_says_the_city_and_the_rest_is_kept(
        self, api: APIClient, desk: Desk, said: str, rest: str, field: str
    ) -> None:
        old = tell_city(api, said, is_pinned=True)
        talk(desk.kyra, BERGEN)

        done = approve(desk.kyra)

        assert live() == [BERGEN, rest]
        kept = Memory.objects.live().get(content=rest)
        assert kept.subject == (f"user.profile.{field}" if field else "")
        assert kept.is_pinned == bool(field)
        assert str(Memory.objects.get(pk=old).superseded_by_id) == done["memory"]

    def test_is_wholly_what_says_no_more(self, api: APIClient, desk: Desk) -> None:
        tell_city(api, OSLO)
        talk(desk.kyra, BERGEN)

        approve(desk.kyra)

        assert live() == [BERGEN]

    def test_a_sentence_of_another_field_keeps_its_own(
        self, api: APIClient, desk: Desk, tools: Tools
    ) -> None:
        both = "My name is Sarah and I live in Oslo."
        tell_city(api, both, subject="user.profile.preferred_name")
        tell_city(api, OSLO)
        talk(desk.kyra, BERGEN)
        ConsentRequest.objects.update(present=Memory.objects.get(content=both))

        approve(desk.kyra)

        assert live() == [BERGEN, "My name is Sarah"]

    def test_nothing_else_gives_way_to_what_the_team_is_given(
        self, acme: Cast, api: APIClient, desk: Desk, tools: Tools
    ) -> None:
        given: dict[str, object] = {"subject": "answers.length"}
        other = stated(api, "Answers are to be long.", **given)
        given |= {"project": "apollo", "category": "preferences"}
        taste = stated(api, "Answers are to be short.", **given)
        request = post(desk.kyra, f"memories/{taste}/promote").json()["consent_request"]

        approve_request(
            viewer=Viewer(team_id=acme.team.pk, actor="staff:rob"),
            request_id=UUID(request),
            tools=replace(tools, judge=Always(Verdict.SUPERSEDE)),
            now=timezone.now(),
        )

        assert Memory.objects.get(pk=taste).scope == "team"
        assert Memory.objects.get(pk=other).status == "active"
        assert Contradiction.objects.count() == 0


class TestUndoing:
    def test_a_yes_gives_back_all_that_it_changed(self, api: APIClient, desk: Desk) -> None:
        both = "My name is Sarah and I live in Oslo."
        old = tell_city(api, both, is_pinned=True)
        talk(desk.kyra, BERGEN)
        done = approve(desk.kyra)

        undone = post(desk.kyra, f"consent-requests/{done['id']}/undo", note="too early").json()

        assert (undone["status"], undone["memory"], undone["present"]) == ("waiting", None, both)
        assert live() == [both]
        row = Memory.objects.get(pk=old)
        assert (row.status, row.is_pinned, row.superseded_by_id) == ("active", True, None)
        assert OperationalEvent.objects.filter(node="consent", op="undo").count() == 1
        assert live() == [both]
        approve(desk.kyra)
        assert live() == [BERGEN, "My name is Sarah"]

    def test_a_no_waits_again_for_a_week(self, desk: Desk) -> None:
        talk(desk.kyra, OSLO)
        talk(desk.kyra, BERGEN)
        (request,) = waiting(desk.kyra, user="sarah")
        path = f"consent-requests/{request['id']}"
        post(desk.kyra, f"{path}/reject")

        assert post(desk.kyra, f"{path}/undo").status_code == 200

        assert [each["id"] for each in waiting(desk.kyra, user="sarah")] == [request["id"]]
        left = ConsentRequest.objects.get().expires_at - timezone.now()
        assert left > timedelta(days=6)
        assert post(desk.kyra, f"{path}/undo").status_code == 409

    def test_what_changed_since_is_in_the_way(self, desk: Desk) -> None:
        talk(desk.kyra, OSLO)
        talk(desk.kyra, BERGEN)
        done = approve(desk.kyra)
        desk.kyra.delete(f"/v1/memories/{done['memory']}")

        answer = post(desk.kyra, f"consent-requests/{done['id']}/undo")

        assert answer.status_code == 409
        assert "soft deleted" in answer.json()["detail"]

    def test_what_was_given_to_the_team_goes_back(self, api: APIClient, desk: Desk) -> None:
        taste = stated(api, "Answers are to be short.", project="apollo", category="preferences")
        request = post(desk.kyra, f"memories/{taste}/promote").json()["consent_request"]
        before = Memory.objects.get(pk=taste)
        assert post(api, f"consent-requests/{request}/approve").status_code == 200
        assert Memory.objects.get(pk=taste).scope == "team"

        assert post(desk.kyra, f"consent-requests/{request}/undo").status_code == 403
        assert post(api, f"consent-requests/{request}/undo").status_code == 200

        after = Memory.objects.get(pk=taste)
        assert (after.scope, after.project_id, after.dedupe_key) == (
            "project",
            before.project_id,
            before.dedupe_key,
        )
        assert ConsentRequest.objects.get().state == "waiting"


class TestNobodyPassesTheGate:
    def test_a_correction_of_what_the_team_prefers_waits(
        self, api: APIClient, desk: Desk, english: str
    ) -> None:
        held = post(desk.kyra, f"memories/{english}/correct", corrected_content=FRENCH)

        assert (held.status_code, held.json()["outcome"]) == (202, "held")
        assert live() == [ENGLISH]
        (request,) = waiting(desk.kyra)
        assert (request["kind"], request["present"]) == ("team_preference", ENGLISH)
        path = f"consent-requests/{request['id']}"
        assert post(desk.luke, f"{path}/approve").status_code == 403
        assert post(api, f"{path}/approve").status_code == 200
        assert live() == [FRENCH]
        assert post(api, f"{path}/undo").status_code == 200
        assert live() == [ENGLISH]

    def test_a_statement_that_would_replace_it_waits(
        self, acme: Cast, tools: Tools, english: str
    ) -> None:
        results = remember(
            viewer=Viewer(team_id=acme.team.pk, actor="agent:kyra", agent_id=acme.kyra.pk),
            stated=[StatedMemory(content=FRENCH)],
            tools=replace(tools, judge=Always(Verdict.SUPERSEDE)),
            now=timezone.now(),
        )

        assert [each.outcome for each in results] == [Outcome.HELD]
        assert live() == [ENGLISH]

    def test_an_agent_shares_no_preference_in_its_own_name(self, desk: Desk) -> None:
        given = {"category": "preferences", "memory_type": "shared", "agent": "kyra"}

        answer = post(desk.kyra, "memories", content=FRENCH, **given)

        assert answer.status_code == 422

    def test_an_agent_takes_it_from_nobody(self, desk: Desk, english: str) -> None:
        body = {"scope": "user", "user": "sarah"}

        answer = desk.kyra.patch(f"/v1/memories/{english}", body, format="json")

        assert answer.status_code == 422
        assert Memory.objects.get().scope == "team"

    def test_promoting_changes_no_preference_of_the_team(
        self, acme: Cast, tools: Tools, english: str
    ) -> None:
        (french,) = remember(
            viewer=Viewer(team_id=acme.team.pk, actor="key:1"),
            stated=[StatedMemory(content=FRENCH, project="apollo")],
            tools=replace(tools, judge=Always(Verdict.COEXIST)),
            now=timezone.now(),
        )

        with pytest.raises(ConflictError, match="needs a yes"):
            promote_memory(
                viewer=Viewer(team_id=acme.team.pk, actor="agent:kyra", agent_id=acme.kyra.pk),
                memory_id=french.memory.pk,
                is_confirmed=False,
                tools=replace(tools, judge=Always(Verdict.SUPERSEDE)),
                now=timezone.now(),
            )

        assert Memory.objects.get(pk=english).status == "active"

    def test_a_moved_or_restored_value_is_no_way_round(self, api: APIClient, desk: Desk) -> None:
        tell_city(api, "I live in Rome.", user="dmitri")
        rome = Memory.objects.get(content="I live in Rome.")
        old = tell_city(api, OSLO)
        assert desk.kyra.delete(f"/v1/memories/{old}").status_code == 200
        tell_city(api, BERGEN)
        note = stated(
            api,
            "I live in Graz.",
            agent="kyra",
            user="sarah",
            subject="user.profile.city",
            memory_type="agent_private",
        )

        restored = post(desk.kyra, f"memories/{old}/restore")
        moved = desk.kyra.patch(
            f"/v1/memories/{note}", {"memory_type": "user_profile"}, format="json"
        )
        taken = desk.kyra.patch(
            f"/v1/memories/{rome.pk}", {"scope": "user", "user": "sarah"}, format="json"
        )

        assert restored.status_code == 409 or restored.json()["status"] == "superseded"
        assert (moved.status_code, taken.status_code) == (409, 409)
        told = Memory.objects.live().filter(end_user__external_id="sarah")
        shared = told.exclude(memory_type="agent_private")
        assert [row.content for row in shared] == [BERGEN]
        assert profile(api, "dmitri") == {"city": "I live in Rome."}

    @pytest.mark.parametrize(
        ("winner", "resolution"), [(0, "b_wins"), (1, "a_wins"), (None, "b_wins")]
    )
    def test_an_agent_chooses_nothing_against_a_preference_of_the_team(
        self, api: APIClient, desk: Desk, english: str, winner: int | None, resolution: str
    ) -> None:
        french = stated(api, FRENCH, project="apollo", check=False)
        sides = [english, french] if winner == 0 else [french, english]
        row = dispute(*(sides if winner is not None else [english]))
        path = f"contradictions/{row.pk}/resolve"

        refused = post(desk.kyra, path, resolution=resolution)

        assert refused.status_code == 403
        assert "a preference of the team" in refused.json()["detail"]
        assert set(live()) == {ENGLISH, FRENCH}
        assert Contradiction.objects.get().resolved_at is None
        assert post(api, path, resolution=resolution).status_code == 200
        assert live() == [FRENCH]
        assert post(desk.kyra, f"contradictions/{row.pk}/undo").status_code == 403
        assert live() == [FRENCH]

    def test_an_agent_may_choose_for_a_preference_and_undo_its_choice(
        self, api: APIClient, desk: Desk, english: str
    ) -> None:
        row = dispute(english, stated(api, FRENCH, project="apollo", check=False))

        assert post(desk.kyra, f"contradictions/{row.pk}/resolve", resolution="a_wins").json()
        assert live() == [ENGLISH]
        assert post(desk.kyra, f"contradictions/{row.pk}/undo").status_code == 200

    def test_a_merge_with_the_words_of_one_side_asks_in_place_of_a_choice(
        self, api: APIClient, desk: Desk, english: str
    ) -> None:
        row = dispute(english, stated(api, FRENCH, project="apollo", check=False))

        answer = post(
            desk.kyra,
            f"contradictions/{row.pk}/resolve",
            resolution="merged",
            merged_content=FRENCH,
        )

        assert answer.json()["outcome"] == "held"
        assert set(live()) == {ENGLISH, FRENCH}
        (request,) = waiting(api)
        assert request["present"] == ENGLISH

    def test_an_agent_chooses_no_other_city_but_may_take_it_out(
        self, api: APIClient, desk: Desk
    ) -> None:
        oslo = tell_city(api, OSLO)
        row = dispute(oslo, stated(api, BERGEN, user="sarah", check=False))

        refused = post(desk.kyra, f"contradictions/{row.pk}/resolve", resolution="b_wins")

        assert refused.status_code == 403
        assert "the city of a person" in refused.json()["detail"]
        assert set(live()) == {OSLO, BERGEN}
        assert desk.kyra.delete(f"/v1/memories/{oslo}").status_code == 200
        assert live() == [BERGEN]

    def test_an_agent_deletes_no_preference_of_the_team_by_any_door(
        self, acme: Cast, api: APIClient, desk: Desk, english: str
    ) -> None:
        kyra = Viewer(team_id=acme.team.pk, actor="agent:kyra", agent_id=acme.kyra.pk)
        given: dict[str, Any] = {"viewer": kyra, "memory_id": UUID(english)}

        assert desk.kyra.delete(f"/v1/memories/{english}").status_code == 403
        with pytest.raises(ForbiddenError):
            annotate_memory(notes=Notes(sets_end=True, valid_to=timezone.now()), **given)
        with pytest.raises(ForbiddenError):
            archive_memory(**given)
        with pytest.raises(ForbiddenError):
            clear_memories(viewer=kyra, rows=Memory.objects.all(), reason="")
        assert live() == [ENGLISH]
        row = Memory.objects.get()
        assert (row.status, row.valid_to) == ("active", None)
        assert api.delete(f"/v1/memories/{english}").status_code == 200
        assert live() == []

    def test_a_merge_waits_and_its_contradiction_stays_open(
        self, acme: Cast, api: APIClient, tools: Tools, english: str
    ) -> None:
        post(api, f"memories/{english}/feedback", signal="wrong")
        viewer = Viewer(team_id=acme.team.pk, actor="agent:kyra", agent_id=acme.kyra.pk)

        settled = resolve_contradiction(
            viewer=viewer,
            contradiction_id=Contradiction.objects.get().pk,
            resolution="merged",
            merged_content=FRENCH,
            tools=tools,
            now=timezone.now(),
        )

        assert settled.merged is not None
        assert settled.merged.outcome is Outcome.HELD
        assert Contradiction.objects.get().resolved_at is None
        assert live() == [ENGLISH]
        (request,) = waiting(api)
        assert post(api, f"consent-requests/{request['id']}/approve").status_code == 200
        assert live() == [FRENCH]
        assert Contradiction.objects.get().resolved_at is not None

    @pytest.mark.parametrize(
        ("content", "fields"),
        [
            (FRENCH, {}),
            (
                BERGEN,
                {
                    "user": "sarah",
                    "memory_type": MemoryType.USER_PROFILE,
                    "subject": "user.profile.city",
                },
            ),
        ],
    )
    def test_an_import_waits(
        self,
        acme: Cast,
        api: APIClient,
        tools: Tools,
        english: str,
        content: str,
        fields: dict[str, Any],
    ) -> None:
        tell_city(api, OSLO)

        (result,) = remember(
            viewer=Viewer(team_id=acme.team.pk, actor="key:1"),
            stated=[StatedMemory(content=content, **fields)],
            tools=replace(tools, judge=Always(Verdict.SUPERSEDE)),
            now=timezone.now(),
            is_import=True,
        )

        assert result.outcome is Outcome.HELD
        assert live() == [ENGLISH, OSLO]

    @pytest.mark.parametrize("verdict", [Verdict.SUPERSEDE, Verdict.DUPLICATE])
    def test_a_consolidation_replaces_none(
        self, acme: Cast, api: APIClient, tools: Tools, english: str, verdict: Verdict
    ) -> None:
        stated(api, f"{ENGLISH[:-1]}, always.", check=False)

        run(
            acme,
            replace(tools, judge=Always(verdict)),
            now=timezone.now() + timedelta(hours=1),
        )

        with team_scope(team_ids=[acme.team.pk], actor="test"):
            assert Memory.objects.get(pk=english).status == "active"


class TestCoreIdentity:
    @pytest.mark.parametrize(
        ("field", "earlier", "later"),
        [
            ("employer", "I work at Acme.", "My new job is at Globex."),
            ("role", "I'm a nurse.", "I'm now head of design."),
            ("preferred_name", "My name is Kim.", "Everybody calls me Robin these days."),
            ("city", OSLO, "My home is by the harbour in Bergen."),
        ],
    )
    def test_a_later_value_replaces_or_waits_whatever_its_words(
        self, api: APIClient, desk: Desk, field: str, earlier: str, later: str
    ) -> None:
        subject = f"user.profile.{field}"
        tell_city(api, earlier, subject=subject, is_pinned=True)

        held = post(
            api,
            "memories",
            content=later,
            memory_type="user_profile",
            subject=subject,
            user="sarah",
            is_pinned=True,
        )

        assert len(live()) == 1
        if held.status_code == 202:
            assert live() == [earlier]
            path = f"consent-requests/{held.json()['consent_request']}/approve"
            talk(desk.kyra, "Hello there.")
            assert post(desk.kyra, path).status_code == 200
        assert live() == [later]
        assert Memory.objects.live().get().is_pinned

    def test_a_change_that_a_judge_finds_needs_no_yes_where_the_field_needs_none(
        self, acme: Cast, api: APIClient, tools: Tools
    ) -> None:
        subject = "user.profile.employer"
        tell_city(api, "I work at Acme.", subject=subject, is_pinned=True)

        (result,) = remember(
            viewer=Viewer(team_id=acme.team.pk, actor="key:1"),
            stated=[
                StatedMemory(
                    content="I now work at Globex.",
                    memory_type=MemoryType.USER_PROFILE,
                    subject=subject,
                    user="sarah",
                )
            ],
            tools=replace(tools, judge=Always(Verdict.SUPERSEDE)),
            now=timezone.now(),
        )

        assert result.outcome is Outcome.VERSIONED
        assert live() == ["I now work at Globex."]
        assert Memory.objects.live().get().is_pinned

    def test_of_a_field_one_memory_is_pinned(self, acme: Cast, api: APIClient) -> None:
        first = tell_city(api, OSLO, is_pinned=True)
        second = tell_city(api, BERGEN, user="dmitri", is_pinned=True)
        Memory.objects.filter(pk=second).update(
            end_user=acme.sarah, content=BERGEN, is_pinned=False
        )

        assert post(api, f"memories/{second}/pin", pinned=True).status_code == 200

        pins = dict(Memory.objects.values_list("pk", "is_pinned"))
        assert pins == {UUID(first): False, UUID(second): True}
